//! A conversation from the records of its session, and how an interrupted turn continues. Must cope with records in any
//! order: the file may have been damaged.

use std::collections::HashMap;
use std::time::Duration;

use crate::message::{ChatMessage, ModelCall, ToolResult};
use crate::permissions::{PermissionMode, ToolKind};

use super::turn::TurnPhase;
use super::{AgentConversation, ConversationAction, Record, Settings, TurnEvent};

/// What the records say about the end of the last turn.
#[derive(Debug, Default)]
struct Interrupted {
    /// The calls of the last message, if it has any.
    calls: Vec<ModelCall>,
    results: Vec<ToolResult>,
    running: Vec<String>,
    /// By its call: the path and the text of a change that the user was asked about.
    proposed: HashMap<String, (String, String)>,
    ended: bool,
}

impl AgentConversation {
    /// The conversation that these records describe. Call [`AgentConversation::resume`] next.
    pub fn restore(settings: Settings, records: impl IntoIterator<Item = Record>) -> AgentConversation {
        let mut conversation = AgentConversation::new(settings);
        let mut last = Interrupted { ended: true, ..Interrupted::default() };
        for record in records {
            conversation.replay(record, &mut last);
        }
        if !last.calls.is_empty() && last.ended {
            conversation.close_calls(&mut last);
        }
        if !last.calls.is_empty() {
            conversation.reopen(last);
        } else if !last.ended {
            conversation.phase = TurnPhase::Context;
        }
        conversation
    }

    /// Continues a turn that was interrupted; nothing if there is none.
    pub fn resume(&mut self, now: Duration) -> Vec<ConversationAction> {
        self.now = now;
        match self.phase {
            TurnPhase::Context => {
                self.show(TurnEvent::Started);
                self.next_round();
            }
            TurnPhase::Tools(_) => {
                self.show(TurnEvent::Started);
                self.advance();
            }
            _ => {}
        }
        // What `reopen` had to finish comes after the start.
        let mut actions = std::mem::take(&mut self.actions);
        if let Some(start) =
            actions.iter().position(|action| *action == ConversationAction::Show(TurnEvent::Started))
        {
            let started = actions.remove(start);
            actions.insert(0, started);
        }
        actions
    }

    fn replay(&mut self, record: Record, last: &mut Interrupted) {
        match record {
            Record::Message { message: ChatMessage::Tools { .. } } => {}
            Record::Message { message } => {
                self.close_calls(last);
                last.ended = false;
                if let ChatMessage::Assistant { calls, .. } = &message {
                    self.call_ids.extend(calls.iter().map(|call| call.id.clone()));
                    last.calls.clone_from(calls);
                    last.ended = calls.is_empty();
                }
                self.add(message);
            }
            Record::Running { call_id } => last.running.push(call_id),
            Record::Proposed { call_id, path, text } => {
                last.proposed.insert(call_id, (path, text));
            }
            Record::Finished { result } => {
                let is_open = last.calls.iter().any(|call| call.id == result.call_id)
                    && !last.results.iter().any(|known| known.call_id == result.call_id);
                if is_open {
                    last.results.push(result);
                }
                if !last.calls.is_empty() && last.results.len() == last.calls.len() {
                    self.close_calls(last);
                }
            }
            Record::Compacted { summary, kept } => {
                self.close_calls(last);
                self.replace_by_summary(summary, kept);
                if matches!(self.messages.get(1), Some(ChatMessage::Tools { .. })) {
                    self.messages.remove(1);
                }
            }
            Record::Cleared => {
                *last = Interrupted { ended: true, ..Interrupted::default() };
                self.forget();
            }
            Record::Usage { usage } => {
                self.total.input = self.total.input.saturating_add(usage.input);
                self.total.output = self.total.output.saturating_add(usage.output);
            }
            Record::Mode { mode } => self.mode = mode,
            Record::Ended { .. } => last.ended = true,
        }
    }

    /// The results of the last calls as a message, in the model's order. A call without one was interrupted.
    fn close_calls(&mut self, last: &mut Interrupted) {
        let Interrupted { calls, mut results, .. } = std::mem::take(last);
        if calls.is_empty() {
            return;
        }
        let mut of_call = |call: ModelCall| {
            let found = results.iter().position(|result| result.call_id == call.id);
            found.map(|index| results.swap_remove(index)).unwrap_or_else(|| interrupted(&call))
        };
        let results = calls.into_iter().map(&mut of_call).collect();
        self.add(ChatMessage::Tools { results });
    }

    /// Calls that have no result yet: what is safe to run again is, and the rest is told to the model.
    fn reopen(&mut self, last: Interrupted) {
        self.phase = TurnPhase::Tools(self.batch(last.calls.clone()));
        self.proposed = last.proposed;
        for (index, call) in last.calls.iter().enumerate() {
            let known = last.results.iter().find(|result| result.call_id == call.id);
            if let Some(result) = known {
                self.set_done(index, result.clone());
            } else if last.running.contains(&call.id) && !self.may_run_again(call) {
                let result = interrupted(call);
                self.set_done(index, result.clone());
                self.save(Record::Finished { result: result.clone() });
                self.show(TurnEvent::Result(result));
            }
        }
    }

    /// A change is asked about again, and the hub gives the same answer. One that was not reviewed may be made already:
    /// the same lines would be added once more.
    fn may_run_again(&self, call: &ModelCall) -> bool {
        match self.tools.kind(&call.name) {
            Some(ToolKind::Read | ToolKind::Network) => true,
            Some(ToolKind::Change) => {
                self.mode == PermissionMode::Trusted || self.proposed.contains_key(&call.id)
            }
            _ => false,
        }
    }
}

fn interrupted(call: &ModelCall) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: "interrupted: the agent was stopped while it ran. It may have taken effect: check before you repeat it."
            .to_owned(),
        is_error: true,
        cancelled: false,
    }
}
