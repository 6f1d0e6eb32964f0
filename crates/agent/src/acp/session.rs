//! One session of an ACP client: what the host's events of its agent become for the client, and the request that waits for
//! the end of the turn.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::rpc::{INTERNAL_ERROR, error, notification, response};
use super::update;
use crate::conversation::{TurnEnd, TurnEvent};
use crate::host::{AgentId, AgentSummary, Occurred};
use crate::message::ModelCall;
use crate::permissions::PermissionMode;

/// How much of a running tool's output a client sees, and how much must be new.
const MOST_OUTPUT: usize = 8 * 1024;
const WORTH_SENDING: usize = 1024;

pub(super) struct Session {
    pub(super) agent: AgentId,
    pub(super) cwd: PathBuf,
    pub(super) mode: PermissionMode,
    /// The request that waits for the end of the turn.
    pub(super) prompt: Option<Value>,
    /// Its words are in the turn: before, a turn that was resumed may end, which is not its end.
    pub(super) is_prompted: bool,
    /// The client cancelled it before that.
    pub(super) cancels_prompt: bool,
    pub(super) last_error: Option<String>,
    /// Calls whose change the client shows.
    with_diff: HashSet<String>,
    /// Of calls that run.
    outputs: HashMap<String, RunningOutput>,
}

/// The end of what a running tool printed.
#[derive(Default)]
struct RunningOutput {
    end: String,
    /// Bytes that the client has not seen.
    unsent: usize,
}

impl Session {
    pub(super) fn new(status: &AgentSummary) -> Session {
        Session {
            agent: status.agent,
            cwd: status.cwd.clone(),
            mode: status.mode,
            prompt: None,
            is_prompted: false,
            cancels_prompt: false,
            last_error: None,
            with_diff: HashSet::new(),
            outputs: HashMap::new(),
        }
    }

    pub(super) fn event(&mut self, name: &str, what: Occurred) -> Vec<Value> {
        let update = match what {
            Occurred::Shown(TurnEvent::Text(text)) => update::chunk("agent_message_chunk", &text),
            Occurred::Shown(TurnEvent::Thought(text) | TurnEvent::Info(text)) => {
                update::chunk("agent_thought_chunk", &text)
            }
            Occurred::Shown(TurnEvent::Call(call)) => {
                let plan = update::plan(&call);
                let shown = self.call(&call);
                return std::iter::once(shown)
                    .chain(plan)
                    .map(|update| session_update(name, &update))
                    .collect();
            }
            Occurred::Output { call_id, text } => match self.output(&call_id, &text) {
                Some(end) => update::output(&call_id, &end),
                None => return Vec::new(),
            },
            Occurred::Shown(TurnEvent::Result(result)) => {
                self.outputs.remove(&result.call_id);
                let keeps = self.with_diff.remove(&result.call_id) && !result.is_error;
                update::tool_result(&result, keeps)
            }
            Occurred::Shown(TurnEvent::Prompted) => {
                self.is_prompted = true;
                return Vec::new();
            }
            Occurred::Shown(TurnEvent::Error(text)) => {
                self.last_error = Some(text);
                return Vec::new();
            }
            Occurred::Shown(TurnEvent::Ended { end, usage, .. }) => {
                let Some(id) = self.prompt.take_if(|_| self.is_prompted) else { return Vec::new() };
                let reason = match end {
                    TurnEnd::Done => "end_turn",
                    TurnEnd::Cancelled => "cancelled",
                    TurnEnd::Length => "max_tokens",
                    TurnEnd::Rounds => "max_turn_requests",
                    TurnEnd::Refused => "refusal",
                    TurnEnd::Failed => {
                        let why = self.last_error.take();
                        return vec![error(&id, INTERNAL_ERROR, why.as_deref().unwrap_or("the turn failed"))];
                    }
                };
                let total = usage.input.saturating_add(usage.output);
                let usage =
                    json!({ "inputTokens": usage.input, "outputTokens": usage.output, "totalTokens": total });
                return vec![response(&id, &json!({ "stopReason": reason, "usage": usage }))];
            }
            Occurred::Closed => {
                let why = "the session was closed";
                return self.prompt.take().map(|id| error(&id, INTERNAL_ERROR, why)).into_iter().collect();
            }
            Occurred::Reviewing { call_id, .. } => {
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "in_progress" })
            }
            _ => return Vec::new(),
        };
        vec![session_update(name, &update)]
    }

    /// What the client should see now: the first output, then whenever much of it is new, because each update has to hold
    /// all of it.
    fn output(&mut self, call_id: &str, text: &str) -> Option<String> {
        let is_first = !self.outputs.contains_key(call_id);
        let output = self.outputs.entry(call_id.to_owned()).or_default();
        output.end.push_str(text);
        output.unsent += text.len();
        let over = output.end.len().saturating_sub(MOST_OUTPUT);
        let start = (over..output.end.len()).find(|at| output.end.is_char_boundary(*at)).unwrap_or(over);
        output.end.drain(..start);
        if !is_first && output.unsent < WORTH_SENDING {
            return None;
        }
        output.unsent = 0;
        Some(output.end.clone())
    }

    fn call(&mut self, call: &ModelCall) -> Value {
        let diff = update::diff_of(call, &self.cwd, self.mode);
        if diff.is_some() {
            self.with_diff.insert(call.id.clone());
        }
        update::tool_call(call, &self.cwd, diff)
    }
}

pub(super) fn session_update(session: &str, update: &Value) -> Value {
    notification("session/update", &json!({ "sessionId": session, "update": update }))
}
