//! Claude Code, asked in `PreToolUse`: the answer rewrites its edit and tells its model the rest.

use std::fs;

use serde_json::{Value, json};

use super::{AgentSetup, EDITED, FIRST_HUNK, HookSession, PROPOSED, is_decided_in_the_terminal, tool, words};
use crate::support::model::{ModelText, Role};
use crate::support::real_agent::EditorProtocol;
use crate::support::{ClaudeVersion, RealAgent, Turn};

/// What the terminal shows while the hook waits.
const WAITS: &str = "Waiting for your decision in the editor (or: linkspan review)";

fn setup(version: ClaudeVersion) -> AgentSetup {
    AgentSetup {
        id: "claude",
        start: match version {
            ClaudeVersion::Newest => {
                |world, protocol, script| RealAgent::claude(world, ClaudeVersion::Newest, protocol, script)
            }
            _ => {
                |world, protocol, script| RealAgent::claude(world, ClaudeVersion::V2_1_112, protocol, script)
            }
        },
        calls,
        question: ("Do you want to make this edit", "1"),
    }
}

fn calls(path: &str) -> Vec<Turn> {
    let change = json!({ "file_path": path, "old_string": super::BEFORE, "new_string": PROPOSED });
    vec![Turn::calls("Read", json!({ "file_path": path })), Turn::calls("Edit", change)]
}

macro_rules! with_both_versions {
    ($($name:ident)*) => {
        $(mod $name {
            use crate::support::ClaudeVersion;

            #[test]
            fn newest() {
                super::$name(ClaudeVersion::Newest);
            }

            #[test]
            fn v2_1_112() {
                super::$name(ClaudeVersion::V2_1_112);
            }
        })*
    };
}

with_both_versions! {
    an_accepted_edit_is_written
    a_comment_on_an_accepted_edit_reaches_the_model
    one_hunk_of_two_is_written_and_the_model_is_told_which
    an_edited_text_is_written_and_the_model_is_told
    a_rejection_reaches_the_model_with_its_reason_and_comments
    a_cancelled_edit_is_withdrawn
    a_killed_hub_asks_again
    without_a_window_the_terminal_asks_as_ever
    with_the_editor_protocol_the_user_is_asked_once
    hooks_of_others_in_the_same_file_run_too
}

fn an_accepted_edit_is_written(version: ClaudeVersion) {
    let mut session = HookSession::new(&setup(version));
    let shown = session.shown();
    session.editor.accept(&shown);
    assert_eq!(session.told(), [updated(version, &session.path)]);
    session.is_written(PROPOSED, "all");
}

fn a_comment_on_an_accepted_edit_reaches_the_model(version: ClaudeVersion) {
    let mut session = HookSession::new(&setup(version));
    let shown = session.shown();
    session.accepts_with_a_comment(&shown);
    assert_eq!(
        session.told(),
        [updated(version, &session.path), context(version, words::commented(&session.path))]
    );
    session.is_written(PROPOSED, "all");
}

fn one_hunk_of_two_is_written_and_the_model_is_told_which(version: ClaudeVersion) {
    let mut session = HookSession::new(&setup(version));
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    assert_eq!(
        session.told(),
        [updated(version, &session.path), context(version, words::first_hunk(&session.path))]
    );
    session.is_written(FIRST_HUNK, "some");
}

fn an_edited_text_is_written_and_the_model_is_told(version: ClaudeVersion) {
    let mut session = HookSession::new(&setup(version));
    let shown = session.shown();
    session.accepts_an_edited_text(&shown);
    assert_eq!(
        session.told(),
        [updated(version, &session.path), context(version, words::edited(&session.path))]
    );
    session.is_written(EDITED, "edited");
}

fn a_rejection_reaches_the_model_with_its_reason_and_comments(version: ClaudeVersion) {
    let mut session = HookSession::new(&setup(version));
    let shown = session.shown();
    session.rejects(&shown);
    let words = words::rejected(&session.path);
    let told = session.told();
    if version == ClaudeVersion::Newest {
        assert_eq!(told, [tool(format!("PreToolUse:Edit hook error: {words}"))]);
    } else {
        // The older one says it twice, with the text that its terminal would show while it waits.
        let again = format!("PreToolUse:Edit hook blocking error from command: \"{WAITS}\": {words}");
        assert_eq!(told, [tool(words), reminder(&again)]);
    }
    session.is_unwritten("rejected");
}

fn a_cancelled_edit_is_withdrawn(version: ClaudeVersion) {
    let mut session = HookSession::new(&setup(version));
    let shown = session.shown();
    session.agent.tty.types("\u{1b}");
    session.is_withdrawn(&shown);
}

fn a_killed_hub_asks_again(version: ClaudeVersion) {
    let mut session = HookSession::new(&setup(version));
    let shown = session.survives_a_killed_hub();
    session.takes_the_first_hunk(&shown);
    assert_eq!(
        session.told(),
        [updated(version, &session.path), context(version, words::first_hunk(&session.path))]
    );
    session.is_written(FIRST_HUNK, "some");
}

fn without_a_window_the_terminal_asks_as_ever(version: ClaudeVersion) {
    let (path, told) = is_decided_in_the_terminal(&setup(version));
    assert_eq!(told, [updated(version, &path)]);
}

fn with_the_editor_protocol_the_user_is_asked_once(version: ClaudeVersion) {
    let mut session = HookSession::with(&setup(version), EditorProtocol::On);
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    assert_eq!(
        session.told(),
        [updated(version, &session.path), context(version, words::first_hunk(&session.path))]
    );
    session.is_written(FIRST_HUNK, "some");
}

/// Somebody else's hook writes a file of its own, and moves ours to another place.
fn hooks_of_others_in_the_same_file_run_too(version: ClaudeVersion) {
    let mut session = HookSession::prepared(&setup(version), EditorProtocol::Off, |world| {
        let path = world.home().join(".claude/settings.json");
        let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let seen = world.path("seen").display().to_string();
        let other = json!({ "type": "command", "command": format!("cat > {seen}") });
        let groups = settings["hooks"]["PreToolUse"].as_array_mut().unwrap();
        groups.insert(0, json!({ "matcher": "Edit", "hooks": [other] }));
        settings["model"] = json!("opus");
        fs::write(&path, settings.to_string()).unwrap();
    });
    let shown = session.shown();
    session.takes_the_first_hunk(&shown);
    assert_eq!(
        session.told(),
        [updated(version, &session.path), context(version, words::first_hunk(&session.path))]
    );
    session.is_written(FIRST_HUNK, "some");
    assert!(session.world.read_text("seen").contains(r#""tool_name":"Edit""#));
}

fn updated(version: ClaudeVersion, path: &str) -> ModelText {
    let rest = match version == ClaudeVersion::Newest {
        true => " (file state is current in your context — no need to Read it back)",
        false => "",
    };
    tool(format!("The file {path} has been updated successfully.{rest}"))
}

fn context(version: ClaudeVersion, words: String) -> ModelText {
    let context = format!("PreToolUse:Edit hook additional context: {words}");
    match version == ClaudeVersion::Newest {
        true => ModelText::new(Role::System, context),
        false => reminder(&context),
    }
}

fn reminder(text: &str) -> ModelText {
    ModelText::new(Role::User, format!("<system-reminder>\n{text}\n</system-reminder>"))
}
