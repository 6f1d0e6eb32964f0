//! Any input of a hook is answered or refused with a reason, and a rewritten edit makes the accepted text.
//!
//! The input: what the agent writes to stdin, NUL, the current text of its file, NUL, the accepted text.

use linkspan_dialect::hooks::{
    DecidedFile, FileVerdict, HookAnswer, HookCall, HookEvent, RewrittenFile, model_text,
};
use serde_json::Value;

use crate::texts;

pub(crate) fn run(data: &[u8]) {
    let Some([stdin, current, wanted]) = texts(data) else { return };
    let Some(call) = parse(stdin) else { return };
    let changes = match &call.event {
        HookEvent::Edit(edit) | HookEvent::EditPermission(edit) => {
            assert!(!edit.files.is_empty());
            edit.files.as_slice()
        }
        _ => &[],
    };
    for change in changes {
        assert!(change.path.is_absolute());
        let Ok(result) = change.result(Some(current)) else { continue };
        let verdict = FileVerdict::Accepted { text: Some(wanted.to_owned()), hunks: Vec::new() };
        let decided = DecidedFile {
            path: change.path.clone(),
            current: Some(current.to_owned()),
            proposed: result.text,
            verdict,
            comments: Vec::new(),
            moved: wanted.len().is_multiple_of(2),
            person_diff: None,
        };
        let _ = model_text(&[decided]);
    }
    let file = RewrittenFile { current: Some(current.to_owned()), text: Some(wanted.to_owned()) };
    let rewrite = HookAnswer::Rewrite { files: vec![file; changes.len()], context: "words".to_owned() };
    for answer in [
        HookAnswer::Pass,
        HookAnswer::Allow { context: Some("words".to_owned()) },
        HookAnswer::Deny { reason: String::new() },
        HookAnswer::Context { text: "words".to_owned() },
    ] {
        printed(&call, &answer);
    }
    let answer = printed(&call, &rewrite);
    if changes.len() == 1
        && let Some(input) = answer.as_ref().and_then(rewritten_input)
    {
        let call = parse(&with_input(stdin, input)).expect("our own input is read");
        let (HookEvent::Edit(edit) | HookEvent::EditPermission(edit)) = call.event else {
            panic!("a rewritten edit is an edit")
        };
        // A move can be a deletion and a new file.
        let file = edit.files.last().expect("an edit has a file");
        let result = file.result(Some(current)).expect("our own edit can be made");
        assert_eq!(result.text.unwrap_or_default(), wanted);
    }
}

fn parse(stdin: &str) -> Option<HookCall> {
    match HookCall::parse(stdin.as_bytes(), &|_| None) {
        Ok(call) => Some(call),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// The answer, if there is one.
fn printed(call: &HookCall, answer: &HookAnswer) -> Option<Value> {
    let output = call.encode(answer);
    assert_eq!(output.code, 0);
    let printed = (!output.stdout.is_empty())
        .then(|| serde_json::from_str(&output.stdout).expect("the answer is JSON"));
    assert!(printed.as_ref().is_none_or(Value::is_object));
    printed
}

fn rewritten_input(answer: &Value) -> Option<&Value> {
    let places = [
        "/hookSpecificOutput/updatedInput",
        "/hookSpecificOutput/decision/updatedInput",
        "/hookSpecificOutput/tool_input",
        "/modifiedArgs",
        "/args",
    ];
    places.iter().find_map(|place| answer.pointer(place))
}

/// The call as the agent would make it with that input.
fn with_input(stdin: &str, input: &Value) -> String {
    let mut stdin: Value =
        serde_json::from_str(stdin.trim_start_matches('\u{feff}')).expect("it was read before");
    let agent = stdin["agent"].as_str().unwrap_or_default().to_owned();
    let member = ["toolArgs", "toolInput", "tool_input"].into_iter().find(|name| stdin.get(name).is_some());
    let member = if agent == "opencode" { "args" } else { member.expect("it had an input") };
    stdin[member] = input.clone();
    stdin.to_string()
}
