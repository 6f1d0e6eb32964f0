//! A rewritten input, given to the agent's own tool, makes exactly the accepted text.

use linkspan_dialect::hooks::{HookAnswer, HookEvent, RewrittenFile};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{parse, printed};

/// One agent with a tool that edits: its event, the name of the input in the event, and where the answer has it.
struct Editor {
    event: fn(&str, &str) -> Value,
    input: &'static str,
    answer: &'static str,
    /// Whether the tool can make that text at all.
    can: fn(&str, &str) -> bool,
}

fn claude_edit(old: &str, new: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": "Edit",
        "tool_input": {"file_path": "/w/f", "old_string": old, "new_string": new, "replace_all": true},
    })
}

fn copilot_edit(old: &str, new: &str) -> Value {
    json!({
        "sessionId": "s", "cwd": "/w", "toolName": "edit",
        "toolArgs": {"path": "/w/f", "old_str": old, "new_str": new},
    })
}

fn gemini_replace(old: &str, new: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "BeforeTool", "tool_name": "replace",
        "tool_input": {"file_path": "/w/f", "old_string": old, "new_string": new, "allow_multiple": true},
    })
}

fn qwen_edit(old: &str, new: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "PermissionRequest", "timestamp": "t",
        "transcript_path": "/t", "permission_mode": "default", "tool_name": "edit",
        "tool_input": {"file_path": "/w/f", "old_string": old, "new_string": new},
    })
}

fn opencode_edit(old: &str, new: &str) -> Value {
    json!({
        "agent": "opencode", "event": "tool.execute.before", "sessionID": "s", "cwd": "/w", "tool": "edit",
        "args": {"filePath": "/w/f", "oldString": old, "newString": new},
    })
}

fn codex_patch(_: &str, _: &str) -> Value {
    json!({
        "session_id": "s", "turn_id": "t", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "apply_patch",
        "tool_input": {"command": "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End Patch\n"},
    })
}

fn claude_write(_: &str, new: &str) -> Value {
    json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": "Write", "tool_input": {"file_path": "/w/f", "content": new},
    })
}

const EDITORS: [Editor; 7] = [
    Editor {
        event: claude_edit,
        input: "/tool_input",
        answer: "/hookSpecificOutput/updatedInput",
        can: |_, _| true,
    },
    Editor { event: copilot_edit, input: "/toolArgs", answer: "/modifiedArgs", can: |_, _| true },
    Editor {
        event: gemini_replace,
        input: "/tool_input",
        answer: "/hookSpecificOutput/tool_input",
        can: |current, wanted| current.is_empty() || current.ends_with('\n') == wanted.ends_with('\n'),
    },
    Editor {
        event: qwen_edit,
        input: "/tool_input",
        answer: "/hookSpecificOutput/decision/updatedInput",
        can: |_, _| true,
    },
    Editor { event: opencode_edit, input: "/args", answer: "/args", can: |_, _| true },
    Editor {
        event: codex_patch,
        input: "/tool_input",
        answer: "/hookSpecificOutput/updatedInput",
        can: |_, wanted| wanted.is_empty() || wanted.ends_with('\n'),
    },
    Editor {
        event: claude_write,
        input: "/tool_input",
        answer: "/hookSpecificOutput/updatedInput",
        can: |_, _| true,
    },
];

/// The text that the agent's tool makes from our answer; `None` if the answer is a denial.
fn written(editor: &Editor, current: &str, wanted: &str) -> Option<String> {
    let mut stdin = (editor.event)(current, "proposed");
    let call = parse(&stdin);
    let file = RewrittenFile { current: Some(current.into()), text: Some(wanted.into()) };
    let can = call.can_rewrite(std::slice::from_ref(&file));
    let answer = printed(&call, &HookAnswer::Rewrite { files: vec![file], context: "words".into() });
    let input = answer.pointer(editor.answer);
    assert_eq!(input.is_some(), can, "{answer}");
    *stdin.pointer_mut(editor.input).unwrap() = input?.clone();
    let (HookEvent::Edit(edit) | HookEvent::EditPermission(edit)) = parse(&stdin).event else { panic!() };
    Some(edit.files[0].result(Some(current)).unwrap().text.unwrap())
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["", "a", "b", "ab", " a", "$&", "\u{e4}\u{1f600}"]);
    (prop::collection::vec(line, 0..16), any::<bool>()).prop_map(|(lines, newline)| {
        let mut text = lines.join("\n");
        if newline && !lines.is_empty() {
            text.push('\n');
        }
        text
    })
}

proptest! {
    #[test]
    fn the_accepted_text_is_what_the_tool_writes(current in text(), wanted in text()) {
        prop_assume!(current != wanted);
        for editor in &EDITORS {
            let expected = (editor.can)(&current, &wanted).then_some(&wanted);
            let written = written(editor, &current, &wanted);
            prop_assert_eq!(written.as_ref(), expected, "{}", editor.answer);
        }
    }

    #[test]
    fn a_file_with_crlf_gets_the_same_edit(current in text(), wanted in text()) {
        prop_assume!(current != wanted);
        for editor in &EDITORS {
            let expected = (editor.can)(&current, &wanted).then_some(&wanted);
            let crlf = current.replace('\n', "\r\n");
            let written = written(editor, &crlf, &linkspan_review::adopt_endings(&crlf, wanted.as_str()).0);
            // A tool that keeps the endings of the file is given LF.
            let written = written.map(|written| written.replace("\r\n", "\n"));
            prop_assert_eq!(written.as_ref(), expected, "{}", editor.answer);
        }
    }
}

#[test]
fn nothing_to_change_is_never_said_as_an_edit() {
    for editor in EDITORS.iter().filter(|editor| (editor.event)("", "") != claude_write("", "")) {
        assert_eq!(written(editor, "a\n", "a\n"), None);
    }
}
