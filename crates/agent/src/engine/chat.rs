//! One turn as a stream of events in ppxai's form: `data: {"type", "data", "metadata"?}`. Owns the turn from its prompt
//! to its end, even if the client leaves before; then the turn is cancelled.

use std::time::Duration;

use hyper::body::Bytes;
use linkspan_client::confirm::TerminalAnswer;
use serde_json::{Value, json};
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio::time::timeout;

use crate::conversation::{Answer, TurnEnd, TurnEvent};
use crate::host::{AgentId, HostCommand, HostHandle, Occurred, ReviewPlace};
use crate::message::{CallArguments, ToolResult};

/// How many events wait for a client that reads slowly.
const QUEUE: usize = 256;
/// A client that takes nothing for this long is gone.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long nothing may happen in a turn that is being cancelled.
const CANCELLING: Duration = Duration::from_secs(60);
/// What a client shows of a result.
const LONGEST_RESULT: usize = 2000;
const NOBODY: &str = "nobody can be asked over HTTP: connect an editor, or start the engine in another mode";

/// Starts a turn; its events come out of the receiver. `turn` is held until the turn is over.
pub(super) fn start(
    host: HostHandle,
    agent: AgentId,
    model: String,
    text: String,
    turn: OwnedMutexGuard<()>,
) -> mpsc::Receiver<Bytes> {
    let (frames, receiver) = mpsc::channel(QUEUE);
    let mut events = host.subscribe();
    host.send(HostCommand::Prompt { agent, text });
    tokio::spawn(async move {
        let _turn = turn;
        let mut chat = ChatStream { model, text: String::new(), failed: false };
        let mut frames = Some(frames);
        // A turn that was resumed may run already, and its end is not that of this prompt.
        let mut is_prompted = false;
        loop {
            let event = match &frames {
                Some(client) => tokio::select! {
                    event = events.recv() => event,
                    () = client.closed() => {
                        frames = None;
                        host.send(HostCommand::Cancel { agent });
                        continue;
                    }
                },
                // The turn is being cancelled; the next one should not start before.
                None => match timeout(CANCELLING, events.recv()).await {
                    Ok(event) => event,
                    Err(_) => return,
                },
            };
            let Some(event) = event else { return };
            if event.agent != Some(agent) {
                continue;
            }
            is_prompted |= event.what == Occurred::Shown(TurnEvent::Prompted);
            let is_end = matches!(event.what, Occurred::Shown(TurnEvent::Ended { .. }));
            if is_end && !is_prompted {
                if frames.is_none() {
                    // That turn was cancelled instead of this one.
                    host.send(HostCommand::Cancel { agent });
                }
                continue;
            }
            let ended = is_end || event.what == Occurred::Closed;
            for frame in chat.frames(event.what) {
                let Some(client) = &frames else { break };
                if !matches!(timeout(PATIENCE, client.send(frame)).await, Ok(Ok(()))) {
                    frames = None;
                    if !ended {
                        host.send(HostCommand::Cancel { agent });
                    }
                }
            }
            if ended {
                return;
            }
        }
    });
    receiver
}

/// Answers the questions of all agents, for as long as the host lives: the protocol has none.
pub(super) async fn decline(host: HostHandle) {
    let mut events = host.subscribe();
    while let Some(event) = events.recv().await {
        match (event.agent, event.what) {
            (Some(agent), Occurred::Ask { question, .. }) => {
                let answer = Answer::NotAsked { why: NOBODY.to_owned() };
                host.send(HostCommand::Answer { agent, question, answer });
            }
            (_, Occurred::AskChange(asked)) => {
                // Not a rejection: an editor may still decide.
                let answer = TerminalAnswer::Unavailable { why: NOBODY.to_owned() };
                host.send(HostCommand::AnswerChange { change: asked.change, answer });
            }
            _ => {}
        }
    }
}

struct ChatStream {
    model: String,
    /// All pieces so far.
    text: String,
    failed: bool,
}

impl ChatStream {
    fn frames(&mut self, what: Occurred) -> Vec<Bytes> {
        match what {
            Occurred::Shown(shown) => self.shown(shown),
            Occurred::ContextInjected(text) => vec![frame("context_injected", &json!(text), None)],
            Occurred::Reviewing { place: ReviewPlace::Editor | ReviewPlace::Both, .. } => {
                vec![frame("info", &json!("A change waits for your decision in the editor."), None)]
            }
            Occurred::Ask { .. } => vec![frame("info", &json!(NOBODY), None)],
            Occurred::Closed if !self.failed => {
                vec![frame("error", &json!("the conversation was closed"), None)]
            }
            _ => Vec::new(),
        }
    }

    fn shown(&mut self, shown: TurnEvent) -> Vec<Bytes> {
        vec![match shown {
            TurnEvent::Prompted => return Vec::new(),
            TurnEvent::Started => frame("stream_start", &json!({ "model": self.model }), None),
            TurnEvent::Text(text) => {
                self.text.push_str(&text);
                frame("stream_chunk", &json!(text), None)
            }
            TurnEvent::Thought(text) => frame("info", &json!(text), Some(&json!({ "kind": "thought" }))),
            TurnEvent::Call(call) => {
                let arguments = match call.arguments {
                    CallArguments::Json(arguments) => arguments,
                    CallArguments::Broken(text) => Value::String(text),
                };
                let data = json!({ "tool": call.name, "arguments": arguments });
                frame("tool_call", &data, Some(&json!({ "id": call.id })))
            }
            TurnEvent::Result(ToolResult { call_id, name, text, is_error, .. }) => {
                let metadata = json!({ "id": call_id });
                let text = cut(text);
                if is_error {
                    frame("tool_error", &json!({ "tool": name, "error": text }), Some(&metadata))
                } else {
                    frame("tool_result", &json!({ "tool": name, "result": text }), Some(&metadata))
                }
            }
            TurnEvent::Info(text) => frame("info", &json!(text), None),
            TurnEvent::Error(text) => {
                self.failed = true;
                frame("error", &json!(text), None)
            }
            TurnEvent::Ended { end, .. } => return self.ended(end),
        }]
    }

    fn ended(&mut self, end: TurnEnd) -> Vec<Bytes> {
        let text = std::mem::take(&mut self.text);
        let why = match end {
            // An error ends the stream.
            TurnEnd::Failed if self.failed => return Vec::new(),
            TurnEnd::Failed => return vec![frame("error", &json!("the turn failed"), None)],
            TurnEnd::Done => None,
            TurnEnd::Cancelled => Some("The turn was cancelled."),
            TurnEnd::Length => Some("The answer was cut at the model's limit."),
            TurnEnd::Refused => Some("The model refused to answer."),
            TurnEnd::Rounds => Some("The limit of rounds was reached; send a message to continue."),
        };
        let info = why.map(|why| frame("info", &json!(why), None));
        info.into_iter().chain([frame("stream_end", &json!(text), Some(&json!({ "end": end })))]).collect()
    }
}

fn frame(kind: &str, data: &Value, metadata: Option<&Value>) -> Bytes {
    let event = match metadata {
        Some(metadata) => json!({ "type": kind, "data": data, "metadata": metadata }),
        None => json!({ "type": kind, "data": data }),
    };
    Bytes::from(format!("data: {event}\n\n"))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST_RESULT) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}
