//! opencode: our plugin in its process runs `linkspan hook` for each event. This form is our own; the plugin and this
//! file keep to it.
//!
//! stdin is one object. `agent` is always `"opencode"`, `cwd` is the folder of the session, absolute:
//! `{"agent":"opencode","event":EVENT,"sessionID":"ses_…","callID":"call_…","cwd":"/w","tool":"edit","args":{…}}`.
//!
//! | `event` | further members | stands for |
//! |---|---|---|
//! | `tool.execute.before` | `callID`, `tool`, `args` | decide about the tool call |
//! | `tool.execute.after` | `callID`, `tool`, `args` | the tool has run |
//! | `permission.asked` | `permission`, `metadata` `{filepath, diff}`, `callID` | opencode would ask in its terminal |
//! | `chat.message` | | a new prompt |
//! | `session.created`, `session.deleted`, `session.idle` | | the session began, ended, has nothing to do |
//!
//! stdout is empty, which changes nothing, or one object with any of these members:
//!
//! | member | the plugin |
//! |---|---|
//! | `error` (text) | throws `new Error(error)`: the tool does not run, the model reads the text |
//! | `args` (object) | copies each member into `output.args` with `Object.assign` |
//! | `append` (text) | `tool.execute.after`: adds the text to `output.output`; `chat.message`: adds a text part |
//! | `permission` (`"once"` or `"reject"`) | answers the permission with it |
//!
//! After `tool.execute.before`, `append` is for later: the plugin keeps it by `callID` and adds it to `output.output`
//! in `tool.execute.after`. The exit status is 0; after any other, and after no or broken output, the plugin does
//! nothing.

use serde_json::{Map, Value, json};

use super::answer::ToolAnswer;
use super::change::ReplaceRule;
use super::event_kind::EventKind;
use super::git_diff::LastLine;
use super::tool::{HookTool, ReplaceTool};

pub(super) fn event_kind(name: &str) -> EventKind {
    match name {
        "tool.execute.before" => EventKind::BeforeTool,
        "tool.execute.after" => EventKind::AfterTool,
        "permission.asked" => EventKind::Permission,
        "chat.message" => EventKind::Prompt,
        "session.created" => EventKind::SessionStart,
        "session.deleted" => EventKind::SessionEnd,
        "session.idle" => EventKind::Stop,
        _ => EventKind::Other,
    }
}

/// `permission.asked` names the permission instead of the tool, and its metadata is the input.
pub(super) fn tool(name: &str, kind: EventKind) -> HookTool {
    match (name, kind) {
        ("edit", EventKind::Permission) => {
            HookTool::Diff { path: "filepath", diff: "diff", last_line: LastLine::Marked }
        }
        ("edit", _) => HookTool::Replace(ReplaceTool {
            path: "filePath",
            old: "oldString",
            new: "newString",
            all: "replaceAll",
            rule: ReplaceRule::EmptyIsWhole,
        }),
        ("write", EventKind::BeforeTool | EventKind::AfterTool) => {
            HookTool::Write { path: "filePath", content: "content" }
        }
        // With some models opencode offers this instead of the two above, in Codex's format.
        ("apply_patch", _) => HookTool::Patch { patch: "patchText" },
        ("bash", _) => HookTool::Shell { command: "command" },
        _ => HookTool::Other,
    }
}

pub(super) fn encode(kind: EventKind, answer: ToolAnswer<'_>) -> Option<Value> {
    let mut output = Map::new();
    match (kind, answer) {
        (EventKind::Permission, ToolAnswer::Allow { .. }) => {
            output.insert("permission".to_owned(), "once".into());
        }
        (EventKind::Permission, ToolAnswer::Deny { .. }) => {
            output.insert("permission".to_owned(), "reject".into());
        }
        (_, ToolAnswer::Allow { input, context }) => {
            if let Some(input) = input {
                output.insert("args".to_owned(), Value::Object(input));
            }
            if let Some(context) = context {
                output.insert("append".to_owned(), context.into());
            }
        }
        (_, ToolAnswer::Deny { reason }) => {
            output.insert("error".to_owned(), reason.into());
        }
    }
    (!output.is_empty()).then_some(Value::Object(output))
}

pub(super) fn context(text: &str) -> Value {
    json!({ "append": text })
}
