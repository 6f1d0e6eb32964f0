//! What `session/update` says, as events. Kinds that are unknown are ignored.

use linkspan_editor_api::{ChatMode, ChatPlanStep, ChatToolState, ChatUsage};
use serde_json::Value;

use super::frames::{list, name, text};
use super::{content, tool_calls};
use crate::chat::ChatEvent;

/// More than anyone chooses from.
const MOST_MODES: usize = 64;

/// None for what nobody is shown.
pub(super) fn event(update: &Value, tools: &mut tool_calls::ToolCalls) -> Option<ChatEvent> {
    let said = || content::shown(update.get("content").unwrap_or(&Value::Null));
    match text(update, "sessionUpdate")? {
        "agent_message_chunk" => Some(ChatEvent::Text(said())).filter(|_| !said().is_empty()),
        "agent_thought_chunk" => Some(ChatEvent::Thought(said())).filter(|_| !said().is_empty()),
        "tool_call" | "tool_call_update" => {
            let (id, call) = tools.merge(update)?;
            Some(ChatEvent::Tool(tool_calls::shown(id, call)))
        }
        "plan" => Some(ChatEvent::Plan(list(update, "entries").filter_map(step).collect())),
        "usage_update" => Some(ChatEvent::Usage(usage(update))),
        "current_mode_update" => name(update, "currentModeId").map(|mode| ChatEvent::Mode(mode.to_owned())),
        "config_option_update" => mode_option(update).and_then(|(mode, _)| mode).map(ChatEvent::Mode),
        "notice" => {
            let text = text(update, "message").or(text(update, "text"))?.to_owned();
            Some(ChatEvent::Notice { text, is_error: false })
        }
        _ => None,
    }
}

fn step(entry: &Value) -> Option<ChatPlanStep> {
    let state = match text(entry, "status") {
        Some("in_progress") => ChatToolState::Running,
        Some("completed") => ChatToolState::Done,
        _ => ChatToolState::Pending,
    };
    Some(ChatPlanStep { text: text(entry, "content")?.to_owned(), state })
}

fn usage(update: &Value) -> ChatUsage {
    let number = |name: &str| update.get(name).and_then(Value::as_u64);
    let cost = update.get("cost").and_then(|cost| {
        let amount = cost.get("amount")?.as_f64()?;
        Some(format!("{amount:.2} {}", name(cost, "currency").unwrap_or_default()).trim_end().to_owned())
    });
    ChatUsage { used: number("used"), size: number("size"), cost }
}

/// The mode and the modes in the result of `session/new` or `session/load`.
pub(super) fn modes(result: &Value) -> (Option<String>, Vec<ChatMode>) {
    let Some(modes) = result.get("modes").filter(|modes| modes.is_object()) else {
        return mode_option(result).unwrap_or_default();
    };
    let all = list(modes, "availableModes").filter_map(|mode| named(mode, "id")).take(MOST_MODES).collect();
    (name(modes, "currentModeId").map(str::to_owned), all)
}

/// The same where modes are an option like others.
fn mode_option(result: &Value) -> Option<(Option<String>, Vec<ChatMode>)> {
    let option = list(result, "configOptions").find(|option| text(option, "category") == Some("mode"))?;
    let all = list(option, "options").filter_map(|mode| named(mode, "value")).take(MOST_MODES).collect();
    Some((name(option, "currentValue").map(str::to_owned), all))
}

fn named(mode: &Value, id: &str) -> Option<ChatMode> {
    let id = name(mode, id)?;
    Some(ChatMode { id: id.to_owned(), name: name(mode, "name").unwrap_or(id).to_owned() })
}
