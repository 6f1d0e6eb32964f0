//! Which agent runs the hook. Variables of an agent are inherited by everything started inside it, other agents too, so
//! the input itself decides wherever it can.

use std::path::{Component, Path};

use serde_json::{Map, Value};

use super::agent::HookAgent;
use super::error::HookError;
use super::{claude, copilot, gemini};

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn caller(input: &Map<String, Value>, env: Env<'_>) -> Result<HookAgent, HookError> {
    let event = text(input, "hook_event_name");
    by_form(input, event)
        .or_else(|| by_transcript(input))
        .or_else(|| by_session(input, env))
        .or_else(|| by_members(input, event))
        .or_else(|| by_variables(env))
        .or_else(|| event.map(|_| HookAgent::Claude))
        .ok_or(HookError::UnknownCaller)
}

fn text<'a>(input: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
    input.get(member).and_then(Value::as_str)
}

/// Members and names that only one agent has.
fn by_form(input: &Map<String, Value>, event: Option<&str>) -> Option<HookAgent> {
    if text(input, "agent") == Some(HookAgent::Opencode.id()) {
        return Some(HookAgent::Opencode);
    }
    if copilot::is_own_form(input) {
        return Some(HookAgent::Copilot);
    }
    if event.is_some_and(gemini::is_own_event) {
        return Some(HookAgent::Gemini);
    }
    let tool_input = input.get("tool_input").and_then(Value::as_object);
    let has = |member| tool_input.is_some_and(|input| input.contains_key(member));
    if has("path") && (has("old_str") || has("file_text")) {
        return Some(HookAgent::Copilot);
    }
    let is_patch = text(input, "tool_name") == Some("apply_patch") && has("command");
    (input.contains_key("turn_id") || is_patch).then_some(HookAgent::Codex)
}

/// Agents keep their transcripts in their own folders.
fn by_transcript(input: &Map<String, Value>) -> Option<HookAgent> {
    let path = Path::new(text(input, "transcript_path")?);
    let name = path.file_name()?.to_str()?;
    let folders = path.components().filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let by_folder = |folder: &str| match folder {
        ".claude" => Some(HookAgent::Claude),
        ".codex" => Some(HookAgent::Codex),
        ".copilot" => Some(HookAgent::Copilot),
        ".gemini" => Some(HookAgent::Gemini),
        ".qwen" => Some(HookAgent::Qwen),
        _ => None,
    };
    // The innermost counts: a home can be inside another agent's folder.
    let found = folders.filter_map(by_folder).next_back();
    found.or_else(|| name.starts_with("rollout-").then_some(HookAgent::Codex))
}

/// A variable that names this very session was set by its agent.
fn by_session(input: &Map<String, Value>, env: Env<'_>) -> Option<HookAgent> {
    let session = text(input, "session_id").filter(|session| !session.is_empty())?;
    let is_ours = |name: &str| env(name).is_some_and(|value| value == session);
    [
        ("QWEN_CODE_SESSION_ID", HookAgent::Qwen),
        ("GEMINI_SESSION_ID", HookAgent::Gemini),
        ("CLAUDE_CODE_SESSION_ID", HookAgent::Claude),
    ]
    .into_iter()
    .find_map(|(name, agent)| is_ours(name).then_some(agent))
}

/// What the versions seen so far send besides the event.
fn by_members(input: &Map<String, Value>, event: Option<&str>) -> Option<HookAgent> {
    let has = |member| input.contains_key(member);
    event.filter(|event| claude::event_kind(event) != super::event_kind::EventKind::Other)?;
    match (has("timestamp"), has("transcript_path"), has("permission_mode")) {
        (true, false, _) => Some(HookAgent::Copilot),
        (true, true, true) => Some(HookAgent::Qwen),
        (true, true, false) => Some(HookAgent::Gemini),
        (false, ..) if has("prompt_id") || has("effort") => Some(HookAgent::Claude),
        (false, ..) => None,
    }
}

/// Qwen also sets Gemini's and Claude's variables, Gemini and Copilot also Claude's.
fn by_variables(env: Env<'_>) -> Option<HookAgent> {
    [
        ("COPILOT_HOOK_DIR", HookAgent::Copilot),
        ("COPILOT_CLI", HookAgent::Copilot),
        ("QWEN_PROJECT_DIR", HookAgent::Qwen),
        ("QWEN_CODE_SESSION_ID", HookAgent::Qwen),
        ("GEMINI_PROJECT_DIR", HookAgent::Gemini),
        ("GEMINI_SESSION_ID", HookAgent::Gemini),
        ("CLAUDECODE", HookAgent::Claude),
    ]
    .into_iter()
    .find_map(|(name, agent)| env(name).map(|_| agent))
}
