//! A tool call in one line for people: its name and what tells it from another call of the tool.

use linkspan_client::visible;
use serde_json::Value;

use crate::message::{CallArguments, ModelCall};

/// No line shows more of an argument.
const LONGEST: usize = 100;
/// The arguments that say most, best first.
const TELLING: [&str; 10] =
    ["command", "path", "file_path", "file", "pattern", "query", "url", "expression", "message", "task"];

/// Such as `edit_file src/main.rs`.
pub(crate) fn call_line(call: &ModelCall) -> String {
    let name = visible::name(&call.name);
    let CallArguments::Json(arguments) = &call.arguments else {
        return format!("{name} (its arguments are not valid JSON)");
    };
    match telling(arguments) {
        Some(text) => format!("{name} {}", shortened(&visible::name(&text))),
        None => name,
    }
}

fn telling(arguments: &Value) -> Option<String> {
    let arguments = arguments.as_object()?;
    let named = TELLING.iter().find_map(|name| arguments.get(*name));
    let first = named.or_else(|| arguments.values().find(|value| value.is_string()))?;
    match first {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        other => Some(other.to_string()),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(arguments: CallArguments) -> String {
        call_line(&ModelCall { id: "1".into(), name: "tool".into(), arguments, opaque: None })
    }

    #[test]
    fn a_call_is_told_by_its_most_telling_argument() {
        assert_eq!(line(CallArguments::Json(json!({ "content": "x", "path": "a.rs" }))), "tool a.rs");
        assert_eq!(line(CallArguments::Json(json!({ "command": ["ls", "-l"] }))), "tool ls -l");
        assert_eq!(line(CallArguments::Json(json!({ "other": "x" }))), "tool x");
        assert_eq!(line(CallArguments::Json(json!({}))), "tool");
        assert_eq!(line(CallArguments::Json(json!([1]))), "tool");
        assert_eq!(line(CallArguments::Broken("{".into())), "tool (its arguments are not valid JSON)");
    }

    #[test]
    fn a_call_cannot_control_the_terminal_or_fill_it() {
        let told = line(CallArguments::Json(json!({ "command": format!("\u{1b}[2J\n{}", "x".repeat(500)) })));
        assert!(told.starts_with("tool \\u{1b}[2J\\n"), "{told}");
        assert!(told.chars().count() <= LONGEST + 6, "{told}");
    }
}
