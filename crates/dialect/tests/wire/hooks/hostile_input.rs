//! Whatever comes on stdin, there is a call or an error that says what is wrong.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use linkspan_dialect::hooks::{HookAnswer, HookCall, HookError, HookEvent, MAX_INPUT, RewrittenFile};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::capture::{Capture, captures};
use super::{no_env, parse};

fn error(stdin: &[u8]) -> String {
    HookCall::parse(stdin, &no_env).unwrap_err().to_string()
}

/// Everything that can be done with a call.
fn exercise(stdin: &[u8]) {
    let Ok(call) = HookCall::parse(stdin, &no_env) else { return };
    let files = match &call.event {
        HookEvent::Edit(edit) | HookEvent::EditPermission(edit) => {
            for current in [None, Some(""), Some("one\ntwo\nthree\n")] {
                for file in &edit.files {
                    let _ = file.result(current);
                }
            }
            edit.files.len()
        }
        _ => 1,
    };
    let file = RewrittenFile { current: Some("a\n".into()), text: Some("b\n".into()) };
    for answer in [
        HookAnswer::Pass,
        HookAnswer::Allow { context: Some("c".into()) },
        HookAnswer::Rewrite { files: vec![file; files], context: "c".into() },
        HookAnswer::Deny { reason: "r".into() },
        HookAnswer::Context { text: "t".into() },
    ] {
        let output = call.encode(&answer);
        assert_eq!(output.code, 0);
        assert!(
            output.stdout.is_empty() || serde_json::from_str::<Value>(&output.stdout).unwrap().is_object()
        );
    }
}

#[test]
fn errors_say_what_is_wrong() {
    assert!(error(b"").starts_with("the hook's input is not JSON: EOF"));
    assert!(error(b"{\"a\":").starts_with("the hook's input is not JSON"));
    assert_eq!(error(b"[]"), "the hook's input is JSON but not an object");
    assert_eq!(
        error(b"{}"),
        "the hook's input has no member that names its event, so the agent that runs it is not known"
    );
    let with = |members: Value| {
        let mut stdin =
            json!({"session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Edit"});
        stdin.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        error(stdin.to_string().as_bytes())
    };
    assert_eq!(with(json!({"cwd": "w"})), "the folder `w` in the hook's input is not an absolute path");
    assert_eq!(with(json!({"cwd": null})), "`cwd` is missing in the hook's input");
    assert_eq!(with(json!({"session_id": 1})), "`session_id` in the hook's input is not a text");
    assert_eq!(with(json!({"tool_input": 1})), "`tool_input` in the hook's input is not an object");
    assert_eq!(with(json!({"tool_input": {}})), "`old_string` is missing in the hook's input");
    assert_eq!(
        with(json!({"tool_input": {"old_string": "a", "new_string": "b", "replace_all": 1}})),
        "`replace_all` in the hook's input is not true or false"
    );
    let patch = json!({"turn_id": "t", "tool_name": "apply_patch", "tool_input": {"command": "x"}});
    assert_eq!(with(patch), "the patch of the edit cannot be read: its first line is not `*** Begin Patch`");
    let twice = "*** Begin Patch\n*** Delete File: a\n*** Delete File: ./a\n*** End Patch";
    let patch = json!({"turn_id": "t", "tool_name": "apply_patch", "tool_input": {"command": twice}});
    assert_eq!(with(patch), "the patch of the edit cannot be read: it changes /w/./a twice");
}

#[test]
fn more_than_the_limit_is_refused_and_ten_megabytes_are_read() {
    let huge = vec![b' '; MAX_INPUT + 1];
    assert!(matches!(HookCall::parse(&huge, &no_env), Err(HookError::TooLarge { .. })));
    let stdin = format!(
        r#"{{"cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Write",
            "tool_input":{{"file_path":"/w/f","content":"{}"}}}}"#,
        "x".repeat(10 << 20)
    );
    let call = HookCall::parse(stdin.as_bytes(), &no_env).unwrap();
    let HookEvent::Edit(edit) = &call.event else { panic!() };
    assert_eq!(edit.files[0].result(None).unwrap().text.unwrap().len(), 10 << 20);
}

#[test]
fn nesting_without_end_is_an_error() {
    let deep = format!("{{\"hook_event_name\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(error(deep.as_bytes()).contains("recursion limit"));
}

#[test]
fn unknown_tools_and_events_of_a_newer_version_are_other() {
    for (event, tool) in
        [("PreToolUse", "EditMany"), ("BeforeEverything", "Edit"), ("PreToolUse", "NotebookEdit")]
    {
        let stdin = json!({
            "session_id": "s", "cwd": "/w", "hook_event_name": event, "tool_name": tool, "tool_input": {"a": [1]},
            "something_new": {"b": 2},
        });
        assert_eq!(parse(&stdin).event, HookEvent::Other, "{event} {tool}");
    }
}

#[test]
fn a_replacement_that_would_fill_the_memory_is_an_error() {
    let stdin = json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": "/w/f", "old_string": "a", "new_string": "b".repeat(1 << 20), "replace_all": true},
    });
    let HookEvent::Edit(edit) = parse(&stdin).event else { panic!() };
    let error = edit.files[0].result(Some(&"a".repeat(1 << 20))).unwrap_err();
    assert_eq!(error.to_string(), "the edit of /w/f would make a text of more than 134217728 bytes");
}

#[test]
fn a_captured_input_with_any_member_broken_is_still_answered() {
    let wrong =
        [json!(null), json!(1), json!(""), json!([]), json!({}), json!("\u{0}../../x"), json!(["a", 1])];
    let mut tried = BTreeSet::new();
    for capture in captures() {
        let tool = capture.stdin["tool_name"].as_str().unwrap_or_default().to_owned();
        if !tried.insert((capture.agent(), capture.event.clone(), tool)) {
            continue;
        }
        let names: Vec<String> = capture.stdin.as_object().unwrap().keys().cloned().collect();
        for name in names {
            for value in &wrong {
                let mut stdin = capture.stdin.clone();
                stdin[&name] = value.clone();
                exercise(stdin.to_string().as_bytes());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_answered(stdin in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&stdin);
    }

    #[test]
    fn a_cut_input_is_an_error(at in any::<prop::sample::Index>(), which in any::<prop::sample::Index>()) {
        static CAPTURES: LazyLock<Vec<Capture>> = LazyLock::new(captures);
        let text = CAPTURES[which.index(CAPTURES.len())].stdin.to_string();
        let cut = &text.as_bytes()[..at.index(text.len())];
        prop_assert!(HookCall::parse(cut, &no_env).is_err());
    }
}
