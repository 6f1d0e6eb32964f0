//! What the captured events mean, and the answers that no capture has.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_dialect::hooks::{FileResult, HookAgent, HookAnswer, HookCall, HookEvent, RewrittenFile};
use serde_json::{Value, json};

use super::capture::captures;
use super::{parse, printed};

fn word(event: &HookEvent) -> String {
    match event {
        HookEvent::Edit(edit) if edit.rewrites => "edit".into(),
        HookEvent::Edit(_) => "edit, yes or no".into(),
        HookEvent::EditPermission(edit) if edit.rewrites => "edit permission".into(),
        HookEvent::EditPermission(_) => "edit permission, yes or no".into(),
        HookEvent::EditDone { .. } => "edit done".into(),
        HookEvent::Command { .. } => "command".into(),
        HookEvent::Waiting { .. } => "waiting".into(),
        other => format!("{other:?}"),
    }
}

#[test]
fn every_captured_event_has_its_meaning() {
    let mut meanings: BTreeMap<String, String> = BTreeMap::new();
    for capture in captures() {
        let call = capture.call();
        assert_eq!(call.agent, capture.agent(), "{} {}", capture.file, capture.event);
        assert_eq!(call.session, "<uuid>");
        assert_eq!(call.cwd, PathBuf::from("/w"));
        let tool =
            ["tool_name", "toolName"].iter().find_map(|name| capture.stdin[name].as_str()).unwrap_or("");
        let mode = if call.automatic { "(automatic)" } else { "" };
        let kind = capture.stdin["notification_type"].as_str().unwrap_or_default();
        let mut words = vec![call.agent.id(), &capture.event, tool, mode, kind];
        words.retain(|word| !word.is_empty());
        let name = words.join(" ");
        let before = meanings.insert(name.clone(), word(&call.event));
        assert!(before.is_none_or(|before| before == word(&call.event)), "{name}");
    }
    let meanings: Vec<String> = meanings.iter().map(|(name, meaning)| format!("{name}: {meaning}")).collect();
    assert_eq!(meanings, EXPECTED_MEANINGS);
}

const EXPECTED_MEANINGS: &[&str] = &[
    "claude Notification permission_prompt: waiting",
    "claude PermissionRequest Bash: command",
    "claude PermissionRequest Edit: edit permission",
    "claude PostToolUse Bash: Other",
    "claude PostToolUse Edit: edit done",
    "claude PostToolUse Write: edit done",
    "claude PreToolUse Bash: command",
    "claude PreToolUse Edit: edit",
    "claude PreToolUse Write: edit",
    "claude SessionStart: SessionStart",
    "claude UserPromptSubmit: Prompt",
    "codex PermissionRequest apply_patch: edit permission, yes or no",
    "codex PostToolUse apply_patch: edit done",
    "codex PreToolUse apply_patch: edit",
    "codex SessionStart: SessionStart",
    "codex UserPromptSubmit: Prompt",
    "copilot PreToolUse Edit: edit",
    "copilot notification permission_prompt: waiting",
    "copilot permissionRequest edit: edit permission, yes or no",
    "copilot postToolUse edit: edit done",
    "copilot preToolUse edit: edit",
    "copilot sessionStart: SessionStart",
    "copilot userPromptSubmitted: Prompt",
    "gemini AfterTool replace: edit done",
    "gemini BeforeAgent: Prompt",
    "gemini BeforeTool replace: edit",
    "gemini Notification ToolPermission: waiting",
    "gemini SessionStart: SessionStart",
    "qwen Notification (automatic) auth_success: Other",
    "qwen Notification idle_prompt: waiting",
    "qwen Notification permission_prompt: waiting",
    "qwen PermissionRequest edit: edit",
    "qwen PostToolUse edit: edit done",
    "qwen PostToolUse edit (automatic): edit done",
    "qwen PreToolUse edit: edit permission, yes or no",
    "qwen PreToolUse edit (automatic): edit, yes or no",
    "qwen SessionStart: SessionStart",
    "qwen SessionStart (automatic): SessionStart",
    "qwen UserPromptSubmit: Prompt",
    "qwen UserPromptSubmit (automatic): Prompt",
];

#[test]
fn every_captured_edit_leads_to_the_text_that_was_written() {
    let current = "one\ntwo\nthree\n";
    for capture in captures() {
        let (HookEvent::Edit(edit) | HookEvent::EditPermission(edit)) = capture.call().event else {
            continue;
        };
        let [file] = &edit.files[..] else { panic!("{edit:?}") };
        let is_new = file.path.ends_with("new.txt");
        let current = if is_new { None } else { Some(current) };
        match file.result(current) {
            Ok(FileResult { text: Some(text), moved_to: None }) => {
                let expected =
                    ["one\nTWO\nthree\n", "one\nZwei\nthree\n", "one\ntwo\nTHREE\n", "brand\nnew\n"];
                assert!(expected.contains(&&*text), "{}: {text:?}", capture.file);
            }
            // The second edit of these came after the hub had written the file.
            other => assert!(capture.file.contains("hub"), "{}: {other:?}", capture.file),
        }
    }
}

fn claude(tool: &str, input: Value) -> HookCall {
    parse(&json!({
        "session_id": "s", "cwd": "/w", "transcript_path": "/home/u/.claude/projects/-w/s.jsonl",
        "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": tool, "tool_input": input,
    }))
}

fn only_result(call: &HookCall, current: Option<&str>) -> Result<Option<String>, String> {
    let HookEvent::Edit(edit) = &call.event else { panic!("{:?}", call.event) };
    edit.files[0].result(current).map(|result| result.text).map_err(|error| error.to_string())
}

#[test]
fn several_edits_of_one_call_are_made_in_order() {
    let edits = json!([{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c", "replace_all": true}]);
    let call = claude("MultiEdit", json!({"file_path": "/w/f", "edits": edits}));
    assert_eq!(only_result(&call, Some("a b\n")), Ok(Some("c c\n".into())));
    let files = vec![RewrittenFile { current: Some("a b\n".into()), text: Some("x\n".into()) }];
    let output = printed(&call, &HookAnswer::Rewrite { files, context: String::new() });
    assert_eq!(
        output["hookSpecificOutput"]["updatedInput"],
        json!({"file_path": "/w/f", "edits": [{"old_string": "a b", "new_string": "x", "replace_all": false}]})
    );
}

#[test]
fn an_edit_that_the_tool_would_refuse_is_an_error() {
    let edit = |old: &str| claude("Edit", json!({"file_path": "f", "old_string": old, "new_string": "n"}));
    assert_eq!(only_result(&edit("x"), Some("a\n")), Err("the text to replace is not in /w/f".into()));
    assert_eq!(only_result(&edit("a"), Some("a a\n")), Err("the text to replace is in /w/f 2 times".into()));
    assert_eq!(only_result(&edit("a"), None), Err("/w/f does not exist".into()));
    assert_eq!(only_result(&edit(""), Some("a\n")), Err("/w/f exists already".into()));
    assert_eq!(only_result(&edit("n"), Some("n\n")), Err("the edit changes nothing in /w/f".into()));
    assert_eq!(only_result(&edit(""), None), Ok(Some("n".into())));
}

#[test]
fn an_edit_is_found_in_a_file_with_crlf() {
    let call = claude("Edit", json!({"file_path": "/w/f", "old_string": "a\nb", "new_string": "x\ny"}));
    assert_eq!(only_result(&call, Some("a\r\nb\r\n")), Ok(Some("x\ny\n".into())));
}

#[test]
fn claude_takes_the_line_end_of_a_text_that_is_replaced_by_nothing() {
    let call = claude("Edit", json!({"file_path": "/w/f", "old_string": "b", "new_string": ""}));
    assert_eq!(only_result(&call, Some("a\nb\nc\n")), Ok(Some("a\nc\n".into())));
}

#[test]
fn gemini_keeps_the_final_newline_as_it_was() {
    let call = |new: &str| {
        parse(&json!({
            "session_id": "s", "cwd": "/w", "hook_event_name": "BeforeTool", "tool_name": "replace",
            "tool_input": {"file_path": "/w/f", "old_string": "b\n", "new_string": new},
        }))
    };
    assert_eq!(only_result(&call("x"), Some("a\nb\n")), Ok(Some("a\nx\n".into())));
    let bare = RewrittenFile { current: Some("a\nb\n".into()), text: Some("a".into()) };
    assert!(!call("x").can_rewrite(&[bare]));
}

fn codex(patch: &str) -> HookCall {
    parse(&json!({
        "session_id": "s", "turn_id": "t", "cwd": "/w", "hook_event_name": "PreToolUse",
        "permission_mode": "bypassPermissions", "tool_name": "apply_patch", "tool_input": {"command": patch},
    }))
}

#[test]
fn a_patch_of_several_files_drops_the_file_that_was_not_accepted() {
    let call = codex(
        "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Delete File: b\n*** Add File: c\n+new\n*** Delete File: d\n*** End Patch",
    );
    let HookEvent::Edit(edit) = &call.event else { panic!() };
    let paths: Vec<_> = edit.files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/w/a", "/w/b", "/w/c", "/w/d"]);
    let file = |current: Option<&str>, text: Option<&str>| RewrittenFile {
        current: current.map(Into::into),
        text: text.map(Into::into),
    };
    let files = vec![
        file(Some("1\n"), Some("3\n")),
        file(Some("b\n"), None),
        file(None, Some("newer\n")),
        file(Some("d\n"), Some("")),
    ];
    assert!(call.can_rewrite(&files));
    let output = printed(&call, &HookAnswer::Rewrite { files, context: "words".into() });
    assert_eq!(
        output["hookSpecificOutput"],
        json!({
            "hookEventName": "PreToolUse", "permissionDecision": "allow", "additionalContext": "words",
            "updatedInput": {"command": "*** Begin Patch\n*** Update File: a\n@@\n-1\n+3\n*** Add File: c\n+newer\n\
                                         *** Delete File: d\n*** End Patch\n"},
        })
    );
}

#[test]
fn codex_hears_a_context_without_a_decision_and_a_text_that_it_cannot_write_is_denied() {
    let call = codex("*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch");
    assert!(!call.automatic);
    assert_eq!(printed(&call, &HookAnswer::Allow { context: None }), Value::Null);
    let words = HookAnswer::Allow { context: Some("good".into()) };
    assert_eq!(
        printed(&call, &words),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "good"}})
    );
    let files = vec![RewrittenFile { current: Some("1".into()), text: Some("2".into()) }];
    assert!(!call.can_rewrite(&files));
    let output = printed(&call, &HookAnswer::Rewrite { files, context: "words".into() });
    assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny");
    let reason = output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with("Nothing was written:") && reason.ends_with("\n\nwords"), "{reason}");
}

#[test]
fn an_empty_reason_is_never_printed() {
    let call = codex("*** Begin Patch\n*** Delete File: a\n*** End Patch");
    let output = printed(&call, &HookAnswer::Deny { reason: " \n".into() });
    assert_eq!(output["hookSpecificOutput"]["permissionDecisionReason"], "The user rejected this.");
}

fn opencode(members: Value) -> HookCall {
    let mut stdin = json!({"agent": "opencode", "sessionID": "ses_1", "cwd": "/w"});
    stdin.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    parse(&stdin)
}

#[test]
fn opencode_is_answered_in_the_form_of_our_plugin() {
    let args = json!({"filePath": "a", "oldString": "1", "newString": "2"});
    let call = opencode(json!({"event": "tool.execute.before", "callID": "c", "tool": "edit", "args": args}));
    assert_eq!((call.agent, &*call.session), (HookAgent::Opencode, "ses_1"));
    assert_eq!(only_result(&call, Some("1\n")), Ok(Some("2\n".into())));
    assert_eq!(printed(&call, &HookAnswer::Allow { context: None }), Value::Null);
    assert_eq!(printed(&call, &HookAnswer::Deny { reason: "no".into() }), json!({"error": "no"}));
    let files = vec![RewrittenFile { current: Some("1\n".into()), text: Some("3\n".into()) }];
    assert_eq!(
        printed(&call, &HookAnswer::Rewrite { files, context: "words".into() }),
        json!({"args": {"filePath": "a", "oldString": "1", "newString": "3"}, "append": "words"})
    );
    let after = opencode(
        json!({"event": "tool.execute.after", "tool": "write", "args": {"filePath": "a", "content": ""}}),
    );
    assert_eq!(after.event, HookEvent::EditDone { files: vec!["/w/a".into()] });
    assert_eq!(printed(&after, &HookAnswer::Context { text: "t".into() }), json!({"append": "t"}));
    let patch = json!({"patchText": "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch"});
    let patch = opencode(json!({"event": "tool.execute.before", "tool": "apply_patch", "args": patch}));
    assert_eq!(only_result(&patch, Some("1\n")), Ok(Some("2\n".into())));
    let diff = "@@ -1 +1 @@\n-1\n+2\n";
    let metadata = json!({"filepath": "/w/a", "diff": diff});
    let asked = opencode(json!({"event": "permission.asked", "permission": "edit", "metadata": metadata}));
    let HookEvent::EditPermission(edit) = &asked.event else { panic!("{asked:?}") };
    assert_eq!(edit.files[0].result(Some("1\n")).unwrap().text.unwrap(), "2\n");
    assert_eq!(printed(&asked, &HookAnswer::Allow { context: None }), json!({"permission": "once"}));
    assert_eq!(printed(&asked, &HookAnswer::Deny { reason: "no".into() }), json!({"permission": "reject"}));
}

#[test]
fn copilot_hears_a_context_with_the_answer_in_both_forms() {
    let allow = HookAnswer::Allow { context: Some("words".into()) };
    let camel = parse(&json!({
        "sessionId": "s", "cwd": "/w", "toolName": "create", "toolArgs": {"path": "/w/n", "file_text": "x"},
    }));
    assert!(camel.tells_context_now());
    assert_eq!(printed(&camel, &allow), json!({"permissionDecision": "allow", "additionalContext": "words"}));
    let text = json!({"path": "/w/n", "file_text": "x"}).to_string();
    let as_text = parse(&json!({"sessionId": "s", "cwd": "/w", "toolName": "create", "toolArgs": text}));
    assert_eq!(as_text.event, camel.event);
}

#[test]
fn commands_are_asked_about_whole() {
    let call = claude("Bash", json!({"command": "a &&\n b", "description": "x"}));
    assert_eq!(call.event, HookEvent::Command { command: "a &&\n b".into() });
    let files = vec![RewrittenFile { current: None, text: None }];
    let output = printed(&call, &HookAnswer::Rewrite { files, context: String::new() });
    assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny");
}
