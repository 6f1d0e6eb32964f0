//! Calls of an editor's own tools, and their results as text for a model. Waits for the user where the tool does.

use std::path::Path;
use std::time::{Duration, Instant};

use linkspan_client::CallError;
use linkspan_client::connection::{Connection, ToolResult};
use linkspan_client::ppxai;
use serde_json::{Map, Value, json};

use crate::tools::ToolContext;
use crate::tools::answer::{Answer, ToolFailure};
use crate::tools::arguments::ToolArguments;

/// As in the seed.
const DEADLINE: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(50);

/// A tool of a bridge, by its name there.
pub(super) fn run(connection: &Connection, tool: &str, arguments: &Value, context: &ToolContext) -> Answer {
    // `null` is left out: a bridge may not take it for that.
    let given = arguments.as_object().cloned().unwrap_or_default();
    let arguments: Map<String, Value> = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let result = call(connection, tool, &Value::Object(arguments), ppxai::asks_a_person(tool), context)?;
    told(tool, &result)
}

/// A tool of the hub's own protocol: absolute paths, and lines from 0.
pub(super) fn on_hub(
    connection: &Connection,
    tool: &str,
    arguments: &ToolArguments<'_>,
    context: &ToolContext,
) -> Answer {
    told(tool, &call(connection, tool, &for_hub(connection, arguments, context)?, false, context)?)
}

/// The same for a tool that proposes changes: the user decides, and the hub says in its own words what happened to each
/// file.
pub(super) fn change_on_hub(
    connection: &Connection,
    tool: &str,
    arguments: &ToolArguments<'_>,
    context: &ToolContext,
) -> Answer {
    let result = call(connection, tool, &for_hub(connection, arguments, context)?, true, context)?;
    let text = result.texts().collect::<Vec<_>>().join("\n");
    if result.is_error || !has_accepted(result.structured.as_ref()) {
        return Err(ToolFailure::Error(text));
    }
    Ok(text)
}

/// Whether the user accepted the change of at least one file.
fn has_accepted(result: Option<&Value>) -> bool {
    let Some(result) = result else { return false };
    let accepted = |file: &Value| file.get("outcome").and_then(Value::as_str) == Some("accepted");
    accepted(result)
        || result.get("files").and_then(Value::as_array).is_some_and(|all| all.iter().any(accepted))
}

fn for_hub(
    connection: &Connection,
    arguments: &ToolArguments<'_>,
    context: &ToolContext,
) -> Result<Value, ToolFailure> {
    let mut converted = json!({});
    if let Some(path) = arguments.text("path") {
        converted["path"] = json!(in_folder(connection, path, context));
    }
    if let Some(line) = arguments.count("line") {
        let line = line.checked_sub(1).ok_or("lines count from 1")?;
        converted["line"] = json!(line);
        converted["character"] = json!(arguments.count("column").unwrap_or(0));
    }
    if let Some(name) = arguments.text("new_name") {
        converted["newName"] = json!(name);
    }
    Ok(converted)
}

/// Relative paths start in the agent's folder, or else in the first folder of the editor.
pub(super) fn in_folder(connection: &Connection, path: &str, context: &ToolContext) -> String {
    let here = context.cwd.join(path);
    let there = connection.candidate().folders.first().map(|folder| folder.join(path));
    let chosen = match there {
        Some(there) if !here.exists() && there.exists() => there,
        _ => here,
    };
    chosen.canonicalize().as_deref().unwrap_or(Path::new(&chosen)).display().to_string()
}

fn call(
    connection: &Connection,
    tool: &str,
    arguments: &Value,
    waits_for_user: bool,
    context: &ToolContext,
) -> Result<ToolResult, ToolFailure> {
    let failed = |error: CallError| ToolFailure::Error(error.to_string());
    let pending = connection.start(tool, arguments).map_err(failed)?;
    let until = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = pending.wait_timeout(TICK) {
            return answer.map_err(failed);
        }
        if context.cancelled.is_cancelled() {
            pending.cancel();
            return Err(ToolFailure::cancelled());
        }
        if !waits_for_user && Instant::now() > until {
            pending.cancel();
            return Err(format!("the editor did not answer `{tool}` within {} s", DEADLINE.as_secs()).into());
        }
    }
}

fn told(tool: &str, result: &ToolResult) -> Answer {
    let texts = || result.texts().collect::<Vec<_>>().join("\n");
    let value = result.structured.clone().or_else(|| serde_json::from_str(&texts()).ok());
    let text = value.as_ref().map_or_else(texts, shown);
    let refused =
        value.as_ref().and_then(|value| value.get("accepted")).and_then(Value::as_bool) == Some(false);
    if refused {
        return Err(ToolFailure::Error(format!("The user rejected the change, or it was not made.\n{text}")));
    }
    if result.is_error {
        return Err(ToolFailure::Error(if text.is_empty() {
            format!("`{tool}` failed without a reason")
        } else {
            text
        }));
    }
    Ok(if text.is_empty() { "Done.".to_owned() } else { text })
}

/// A long text in an object is shown as it is, and the rest as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            let mut rest = map.clone();
            let long = ["content", "text", "output", "diff"].iter().find_map(|key| match rest.remove(*key) {
                Some(Value::String(text)) => Some(text),
                Some(other) => {
                    rest.insert((*key).to_owned(), other);
                    None
                }
                None => None,
            });
            match (long, rest.is_empty()) {
                (Some(text), true) => text,
                (Some(text), false) => format!("{}\n{text}", Value::Object(rest)),
                (None, _) => serde_json::to_string_pretty(value).unwrap_or_default(),
            }
        }
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(structured: Value) -> ToolResult {
        ToolResult { structured: Some(structured), ..ToolResult::default() }
    }

    #[test]
    fn a_text_is_shown_as_it_is() {
        let file = json!({ "content": "a\nb\n", "language": "text" });
        assert_eq!(told("t", &result(file)).unwrap(), "{\"language\":\"text\"}\na\nb\n");
        assert_eq!(told("t", &result(json!({ "diff": "-a\n" }))).unwrap(), "-a\n");
        assert_eq!(told("t", &result(json!(["a"]))).unwrap(), "[\n  \"a\"\n]");
        assert_eq!(told("t", &result(json!({ "text": 1 }))).unwrap(), "{\n  \"text\": 1\n}");
        assert_eq!(told("t", &ToolResult::default()).unwrap(), "Done.");
    }

    #[test]
    fn a_rejection_is_a_failure_with_its_words() {
        let refused = json!({ "applied": false, "accepted": false, "reason": "no", "comments": [] });
        let Err(ToolFailure::Error(text)) = told("t", &result(refused)) else { panic!() };
        assert!(text.contains("rejected") && text.contains("\"reason\": \"no\""), "{text}");
        let failed =
            ToolResult { is_error: true, content: vec![json!({ "text": "why" })], ..ToolResult::default() };
        assert_eq!(told("t", &failed), Err(ToolFailure::Error("why".into())));
    }
}
