//! The events of one turn, as chat events. Kinds that are unknown are ignored.

use linkspan_editor_api::ChatToolState;
use serde_json::Value;

use crate::chat::{ChatEvent, ChatTool};

/// Calls that have no result yet. Older ones are forgotten.
const OPEN: usize = 64;

/// What is shown of the arguments of a call.
const LONGEST_TITLE: usize = 200;

/// One turn.
#[derive(Debug, Default)]
pub(super) struct EngineTurn {
    has_text: bool,
    calls: u64,
    /// The original names no ids: a result belongs to the oldest call of its tool.
    open: Vec<(String, ChatTool)>,
    /// Why the turn failed, in the engine's words.
    pub(super) error: Option<String>,
}

impl EngineTurn {
    /// None for what nobody is shown.
    pub(super) fn event(&mut self, event: &Value) -> Option<ChatEvent> {
        let data = event.get("data").unwrap_or(&Value::Null);
        match event.get("type")?.as_str()? {
            "stream_chunk" => {
                self.has_text = true;
                words(data).map(ChatEvent::Text)
            }
            // The whole text, which came in pieces before.
            "stream_end" if !self.has_text => words(data).map(ChatEvent::Text),
            "tool_call" => {
                let tool = data.get("tool")?.as_str()?.to_owned();
                self.calls += 1;
                let arguments = data.get("arguments").map(Value::to_string).unwrap_or_default();
                let title: String = format!("{tool} {arguments}").chars().take(LONGEST_TITLE).collect();
                let call = ChatTool {
                    id: format!("call-{}", self.calls),
                    title,
                    kind: None,
                    state: ChatToolState::Running,
                    output: String::new(),
                    paths: Vec::new(),
                };
                if self.open.len() >= OPEN {
                    self.open.remove(0);
                }
                self.open.push((tool, call.clone()));
                Some(ChatEvent::Tool(call))
            }
            "tool_result" => self.ended(data, "result", ChatToolState::Done),
            "tool_error" => self.ended(data, "error", ChatToolState::Failed),
            "context_injected" => {
                self.calls += 1;
                Some(ChatEvent::Tool(ChatTool {
                    id: format!("call-{}", self.calls),
                    title: "Context from the editor".to_owned(),
                    kind: None,
                    state: ChatToolState::Done,
                    output: words(data)?,
                    paths: Vec::new(),
                }))
            }
            "info" => words(data).map(|text| ChatEvent::Thought(format!("{text}\n"))),
            "error" => {
                self.error = words(data).or_else(|| Some("it reports an error".to_owned()));
                None
            }
            _ => None,
        }
    }

    fn ended(&mut self, data: &Value, member: &str, state: ChatToolState) -> Option<ChatEvent> {
        let tool = data.get("tool")?.as_str()?;
        let at = self.open.iter().position(|(of, _)| of == tool)?;
        let (_, call) = self.open.remove(at);
        let output = data.get(member).and_then(words).unwrap_or_default();
        Some(ChatEvent::Tool(ChatTool { state, output, ..call }))
    }
}

/// A text, or another value as JSON.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        other => Some(other.to_string()),
    }
}
