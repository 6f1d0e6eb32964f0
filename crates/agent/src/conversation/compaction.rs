//! Compaction: the model writes a summary of the older messages, which replaces them. Owns when it happens, which
//! messages stay, and what the model is asked.

use std::fmt::Write as _;

use crate::message::{CallArguments, ChatMessage};
use crate::models::ModelRequest;

use super::turn::{RequestPurpose, Stream, TurnPhase, TurnState};
use super::{AgentConversation, Fill, Record, TurnEnd, TurnEvent};

/// Of the context, in percent, from which the conversation is compacted by itself.
const NEARLY_FULL: u64 = 85;
/// The size of the model's context if it is not known.
const USUAL_WINDOW: u64 = 128_000;
/// The most bytes of one message in the text that the model summarises.
const LONGEST_MESSAGE: usize = 4_000;

const TASK: &str = "You summarise a conversation between a user and a coding agent, so that the agent can continue from \
your summary alone. Keep: what the user wants and every instruction still in force; decisions and their reasons; files \
read or changed, by path, with what matters in them; commands and their results; what is done, what is open, and the next \
step. Write plain text without a preamble.";

impl AgentConversation {
    pub(super) fn compact(&mut self) {
        if self.is_busy() {
            self.compact_wanted = true;
            return;
        }
        self.compact_wanted = false;
        if self.messages.is_empty() {
            self.show(TurnEvent::Info("There is nothing to compact yet.".to_owned()));
            return;
        }
        self.turn = TurnState::only_compaction();
        self.show(TurnEvent::Started);
        self.begin_summary();
    }

    pub(super) fn is_nearly_full(&self) -> bool {
        let Some(window) = self.limits.context_window else { return false };
        let full = self.fill.tokens() > window.saturating_mul(NEARLY_FULL) / 100;
        // A summary of a summary helps nobody.
        full && self.messages.len() > 2
    }

    pub(super) fn begin_summary(&mut self) {
        let window = self.limits.context_window.unwrap_or(USUAL_WINDOW);
        let budget = usize::try_from(window.saturating_mul(3) / 5).unwrap_or(usize::MAX);
        let kept = kept(&self.messages, budget);
        if kept == self.messages.len() {
            return self.summary_failed("its last message alone is too long for the model.");
        }
        self.show(TurnEvent::Info("The conversation is compacted: the model writes a summary.".to_owned()));
        self.request(RequestPurpose::Summary { kept });
    }

    fn summary_failed(&mut self, why: &str) {
        self.show(TurnEvent::Error(format!(
            "The conversation was not compacted: {why} To start over, use /clear."
        )));
        self.end_turn(TurnEnd::Failed);
    }

    pub(super) fn summary_is_complete(&mut self, stream: Stream, kept: usize) {
        let summary = stream.into_text();
        if summary.trim().is_empty() {
            return self.summary_failed("the model wrote no summary.");
        }
        let before = self.messages.len();
        self.save(Record::Compacted { summary: summary.clone(), kept });
        self.replace_by_summary(summary, kept);
        let after = self.messages.len();
        self.show(TurnEvent::Info(format!("Compacted: {before} messages became {after}.")));
        if self.turn.only_compaction {
            return self.end_turn(TurnEnd::Done);
        }
        self.next_round();
    }

    pub(super) fn replace_by_summary(&mut self, text: String, kept: usize) {
        let tail = self.messages.split_off(self.messages.len().saturating_sub(kept));
        self.messages = vec![ChatMessage::Summary { text }];
        self.messages.extend(tail);
        let bytes = self.messages.iter().map(size).sum::<usize>();
        self.fill = Fill { counted: 0, bytes_since: bytes as u64 };
        self.phase = TurnPhase::Idle;
    }
}

/// How many of the last messages stay: as many as fit, at least a last prompt, and no results without their calls.
fn kept(messages: &[ChatMessage], budget: usize) -> usize {
    let mut bytes = 0usize;
    let mut kept = 0;
    for (index, message) in messages.iter().rev().enumerate() {
        bytes = bytes.saturating_add(size(message));
        // A quarter of the budget, so that there is room to continue.
        if bytes > budget / 4 {
            break;
        }
        if !matches!(message, ChatMessage::Tools { .. }) && index + 1 < messages.len() {
            kept = index + 1;
        }
    }
    if kept == 0 && matches!(messages.last(), Some(ChatMessage::User { .. })) { 1 } else { kept }
}

/// About how many bytes it has.
pub(super) fn size(message: &ChatMessage) -> usize {
    match message {
        ChatMessage::User { text, attachments } => {
            text.len() + attachments.iter().map(String::len).sum::<usize>()
        }
        ChatMessage::Assistant { text, calls } => {
            let of_call = |arguments: &CallArguments| match arguments {
                CallArguments::Json(value) => value.to_string().len(),
                CallArguments::Broken(text) => text.len(),
            };
            text.len() + calls.iter().map(|call| call.name.len() + of_call(&call.arguments)).sum::<usize>()
        }
        ChatMessage::Tools { results } => results.iter().map(|result| result.text.len()).sum(),
        ChatMessage::Summary { text } => text.len(),
    }
}

/// The request for a summary: one text, because some models reject calls in messages if they are given no tools.
pub(super) fn request(messages: &[ChatMessage], window: Option<u64>) -> ModelRequest {
    let budget = usize::try_from(window.unwrap_or(USUAL_WINDOW).saturating_mul(2)).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut bytes = 0usize;
    for message in messages.iter().rev() {
        let text = transcript(message);
        bytes = bytes.saturating_add(text.len());
        if bytes > budget && !parts.is_empty() {
            parts.push("[earlier messages are left out]\n".to_owned());
            break;
        }
        parts.push(text);
    }
    parts.reverse();
    let text = format!("The conversation so far:\n\n{}\nWrite the summary now.", parts.concat());
    let prompt = ChatMessage::User { text, attachments: Vec::new() };
    ModelRequest { system: TASK.to_owned(), messages: vec![prompt], tools: Vec::new() }
}

fn transcript(message: &ChatMessage) -> String {
    let mut text = String::new();
    match message {
        ChatMessage::User { text: said, attachments } => {
            let _ = writeln!(text, "USER: {}", shortened(said));
            for attachment in attachments {
                let _ = writeln!(text, "ATTACHED: {}", shortened(attachment));
            }
        }
        ChatMessage::Assistant { text: said, calls } => {
            let _ = writeln!(text, "AGENT: {}", shortened(said));
            for call in calls {
                let arguments = match &call.arguments {
                    CallArguments::Json(value) => value.to_string(),
                    CallArguments::Broken(text) => text.clone(),
                };
                let _ = writeln!(text, "CALL {}: {}", call.name, shortened(&arguments));
            }
        }
        ChatMessage::Tools { results } => {
            for result in results {
                let _ = writeln!(text, "RESULT of {}: {}", result.name, shortened(&result.text));
            }
        }
        ChatMessage::Summary { text: said } => {
            let _ = writeln!(text, "SUMMARY OF WHAT CAME BEFORE: {said}");
        }
    }
    text
}

/// Its start and its end.
fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_MESSAGE {
        return text.to_owned();
    }
    let half = LONGEST_MESSAGE / 2;
    let start = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    format!("{start}\n[…]\n{end}")
}
