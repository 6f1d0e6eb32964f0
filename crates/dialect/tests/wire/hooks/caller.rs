//! The caller is who the input proves, whatever variables were inherited.

use linkspan_dialect::hooks::{HookAgent, HookCall};
use serde_json::{Value, json};

use super::capture::captures;

fn caller(stdin: &Value, env: &[(&str, &str)]) -> HookAgent {
    let env =
        |wanted: &str| env.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned());
    HookCall::parse(stdin.to_string().as_bytes(), &env).unwrap().agent
}

/// As if each agent had been started in a terminal of every other one.
const EVERYTHING: &[(&str, &str)] = &[
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_SESSION_ID", "other"),
    ("CLAUDE_PROJECT_DIR", "/w"),
    ("COPILOT_CLI", "1"),
    ("COPILOT_HOOK_DIR", "/h"),
    ("GEMINI_SESSION_ID", "other"),
    ("GEMINI_PROJECT_DIR", "/w"),
    ("QWEN_PROJECT_DIR", "/w"),
    ("QWEN_CODE_SESSION_ID", "other"),
    ("CODEX_HOME", "/c"),
];

#[test]
fn every_captured_input_proves_its_agent_without_or_against_the_variables() {
    for capture in captures() {
        for env in [&[][..], EVERYTHING] {
            assert_eq!(caller(&capture.stdin, env), capture.agent(), "{} {}", capture.file, capture.event);
        }
    }
}

#[test]
fn agents_with_their_files_elsewhere_are_known_by_their_other_members() {
    for capture in captures() {
        let mut stdin = capture.stdin.clone();
        let Some(path) = stdin.get_mut("transcript_path") else { continue };
        *path = "/elsewhere/s.jsonl".into();
        let agent = capture.agent();
        // Claude and Codex start a session with the same members.
        if capture.event == "SessionStart" && matches!(agent, HookAgent::Claude | HookAgent::Codex) {
            continue;
        }
        assert_eq!(caller(&stdin, &[]), agent, "{} {}", capture.file, capture.event);
    }
}

#[test]
fn a_variable_that_names_the_session_is_believed_and_others_decide_last() {
    let stdin = json!({"session_id": "s", "cwd": "/w", "hook_event_name": "Stop"});
    assert_eq!(caller(&stdin, &[]), HookAgent::Claude);
    assert_eq!(caller(&stdin, &[("GEMINI_SESSION_ID", "s"), ("QWEN_PROJECT_DIR", "/w")]), HookAgent::Gemini);
    let qwen = [("CLAUDE_PROJECT_DIR", "/w"), ("GEMINI_PROJECT_DIR", "/w"), ("QWEN_PROJECT_DIR", "/w")];
    assert_eq!(caller(&stdin, &qwen), HookAgent::Qwen);
    assert_eq!(caller(&stdin, &[("COPILOT_CLI", "1"), ("CLAUDE_PROJECT_DIR", "/w")]), HookAgent::Copilot);
}
