//! Every captured answer that Linkspan can give comes out the same.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_dialect::hooks::{FileChangeKind, HookAnswer, HookCall, HookEvent, RewrittenFile};
use serde_json::Value;

use super::capture::{Capture, captures};
use super::printed;

/// Answers that were tried and that Linkspan never gives.
const NEVER_GIVEN: &[(&str, &str, &str)] = &[
    ("claude-2.1.325-ask", "PreToolUse", "the decision is made or the hook passes"),
    ("claude-2.1.325-upd-nodecision", "PreToolUse", "a rewritten text is one that was accepted"),
    ("claude-2.1.325-upd-noop", "PreToolUse", "an edit that changes nothing is an error"),
    ("claude-2.1.325-bash-upd", "PreToolUse", "commands are not rewritten"),
    ("claude-2.1.325-post-block", "PostToolUse", "a context does the same without the command line"),
    ("codex-0.166.0-allow", "PreToolUse", "an error to Codex"),
    ("codex-0.166.0-prompt-ctx", "PreToolUse", "an error to Codex"),
    ("codex-0.166.0-ask", "PreToolUse", "an error to Codex"),
    ("copilot-1.0.102-claude-form-deny", "preToolUse", "Copilot ignores it"),
    ("copilot-1.0.102-perm-upd", "permissionRequest", "Copilot ignores the input"),
    ("gemini-0.61.0-claude-form-deny", "BeforeTool", "Gemini ignores it"),
    ("qwen-0.24.4-ask", "PreToolUse", "the decision is made or the hook passes"),
    ("qwen-0.24.4-allow-upd-once", "PreToolUse", "Qwen ignores the input"),
    ("qwen-0.24.4-allow-upd-post", "PreToolUse", "Qwen ignores the input"),
];

/// The text of every edited file before.
const CURRENT: &str = "one\ntwo\nthree\n";

fn member<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let specific = &value["hookSpecificOutput"];
    let objects = [value, specific, &specific["decision"]];
    objects.into_iter().find_map(|object| names.iter().find_map(|name| object.get(name)))
}

/// The decision behind a captured answer.
fn decision(call: &HookCall, stdout: &Value) -> HookAnswer {
    if stdout.is_null() {
        return HookAnswer::Pass;
    }
    let text = |names: &[&str]| member(stdout, names).and_then(Value::as_str).map(str::to_owned);
    let context = text(&["additionalContext"]);
    match text(&["permissionDecision", "behavior"]).or_else(|| text(&["decision"])).as_deref() {
        None => HookAnswer::Context { text: context.unwrap() },
        Some("deny") => {
            HookAnswer::Deny { reason: text(&["permissionDecisionReason", "message", "reason"]).unwrap() }
        }
        Some("allow") => match member(stdout, &["updatedInput", "modifiedArgs", "tool_input"]) {
            None => HookAnswer::Allow { context },
            Some(_) => {
                let (HookEvent::Edit(edit) | HookEvent::EditPermission(edit)) = &call.event else {
                    panic!("{call:?}")
                };
                let file = match &edit.files[0].kind {
                    FileChangeKind::Write { .. } => {
                        RewrittenFile { current: None, text: Some("other\ntext\n".into()) }
                    }
                    _ => RewrittenFile {
                        current: Some(CURRENT.into()),
                        text: Some(CURRENT.replace("two", "Zwei")),
                    },
                };
                HookAnswer::Rewrite { files: vec![file], context: context.unwrap_or_default() }
            }
        },
        other => panic!("{other:?}"),
    }
}

/// Which members an answer has.
fn form(capture: &Capture, stdout: &Value) -> String {
    fn names(value: &Value, found: &mut BTreeSet<String>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            if ["updatedInput", "modifiedArgs", "tool_input"].contains(&&**name) {
                found.insert(name.clone());
                continue;
            }
            match value {
                Value::String(said) if said == "allow" || said == "deny" => {
                    found.insert(format!("{name}={said}"));
                }
                Value::Object(_) => names(value, found),
                _ if name != "hookEventName" => {
                    found.insert(name.clone());
                }
                _ => {}
            }
        }
    }
    let mut found = BTreeSet::new();
    names(stdout, &mut found);
    let found = if found.is_empty() { "nothing".to_owned() } else { Vec::from_iter(found).join(" ") };
    format!("{} {}: {found}", capture.agent().id(), capture.event)
}

#[test]
fn every_answer_that_can_be_given_is_given_as_captured() {
    let mut forms: BTreeMap<String, usize> = BTreeMap::new();
    let mut never_given = BTreeSet::new();
    for capture in captures() {
        let Some(stdout) = capture.stdout.as_ref() else { continue };
        let known =
            NEVER_GIVEN.iter().find(|(file, event, _)| *file == capture.file && *event == capture.event);
        let call = capture.call();
        if let Some((file, event, _)) = known {
            never_given.insert((*file, *event));
            continue;
        }
        let answer = decision(&call, stdout);
        assert_eq!(printed(&call, &answer), *stdout, "{} {}", capture.file, capture.event);
        *forms.entry(form(&capture, stdout)).or_default() += 1;
    }
    assert_eq!(never_given.len(), NEVER_GIVEN.len(), "an exception that is not needed");
    let forms: Vec<&str> =
        forms.keys().map(String::as_str).filter(|form| !form.ends_with("nothing")).collect();
    assert_eq!(forms, EXPECTED_FORMS);
}

/// Every form of answer to every event that says something.
const EXPECTED_FORMS: &[&str] = &[
    "claude PermissionRequest: behavior=allow",
    "claude PermissionRequest: behavior=allow updatedInput",
    "claude PermissionRequest: behavior=deny message",
    "claude PostToolUse: additionalContext",
    "claude PreToolUse: additionalContext permissionDecision=allow updatedInput",
    "claude PreToolUse: permissionDecision=allow",
    "claude PreToolUse: permissionDecision=allow updatedInput",
    "claude PreToolUse: permissionDecision=deny permissionDecisionReason",
    "claude SessionStart: additionalContext",
    "claude UserPromptSubmit: additionalContext",
    "codex PermissionRequest: behavior=allow",
    "codex PostToolUse: additionalContext",
    "codex PreToolUse: additionalContext permissionDecision=allow updatedInput",
    "codex PreToolUse: permissionDecision=allow updatedInput",
    "codex PreToolUse: permissionDecision=deny permissionDecisionReason",
    "codex SessionStart: additionalContext",
    "codex UserPromptSubmit: additionalContext",
    "copilot PreToolUse: permissionDecision=allow updatedInput",
    "copilot PreToolUse: permissionDecision=deny permissionDecisionReason",
    "copilot permissionRequest: behavior=allow",
    "copilot permissionRequest: behavior=deny message",
    "copilot postToolUse: additionalContext",
    "copilot preToolUse: modifiedArgs permissionDecision=allow",
    "copilot preToolUse: permissionDecision=allow",
    "copilot preToolUse: permissionDecision=deny permissionDecisionReason",
    "copilot sessionStart: additionalContext",
    "copilot userPromptSubmitted: additionalContext",
    "gemini AfterTool: additionalContext",
    "gemini BeforeAgent: additionalContext",
    "gemini BeforeTool: decision=allow",
    "gemini BeforeTool: decision=allow tool_input",
    "gemini BeforeTool: decision=deny reason",
    "gemini SessionStart: additionalContext",
    "qwen PermissionRequest: behavior=allow updatedInput",
    "qwen PermissionRequest: behavior=deny message",
    "qwen PostToolUse: additionalContext",
    "qwen PreToolUse: permissionDecision=allow",
    "qwen PreToolUse: permissionDecision=deny permissionDecisionReason",
    "qwen SessionStart: additionalContext",
    "qwen UserPromptSubmit: additionalContext",
];

#[test]
fn a_pass_prints_nothing_for_every_event() {
    for capture in captures() {
        assert_eq!(printed(&capture.call(), &HookAnswer::Pass), Value::Null);
    }
}
