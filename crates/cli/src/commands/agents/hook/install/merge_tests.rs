//! Tests of merging: files as people have them, and made-up ones with comments, commas and white space anywhere.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::HookOptions;
use super::agent_row::{AgentRow, HookRequest, SettingsForm};
use super::hook_command::HookCommand;
use super::inspection::{InstallState, inspect};
use super::json_text::JsonText;
use super::merge::{check_syntax, with_hooks, without_hooks};

const OWN: &str = "/usr/bin/linkspan";

fn row(id: &str) -> &'static AgentRow {
    AgentRow::all().iter().find(|row| row.agent.id() == id).unwrap()
}

fn request(program: &str, options: HookOptions) -> HookRequest {
    HookRequest { command: HookCommand::new(program, options), context: true }
}

fn plain() -> HookRequest {
    request(OWN, HookOptions::default())
}

#[track_caller]
fn install(id: &str, before: &str) -> String {
    with_hooks(row(id), Some(before), &plain()).unwrap()
}

fn meaning(text: &str) -> Value {
    JsonText::parse(text.trim_start_matches('\u{feff}')).unwrap().value()
}

#[test]
fn a_new_file_has_one_group_for_each_event() {
    let request = HookRequest { context: false, ..plain() };
    let text = with_hooks(row("gemini"), None, &request).unwrap();
    let expect = r#"{
  "hooks": {
    "BeforeTool": [
      {
        "matcher": "replace|write_file",
        "hooks": [
          {
            "type": "command",
            "name": "linkspan",
            "command": "/usr/bin/linkspan hook",
            "timeout": 86400000
          }
        ]
      }
    ],
    "AfterTool": [
      {
        "matcher": "replace|write_file",
        "hooks": [
          {
            "type": "command",
            "name": "linkspan",
            "command": "/usr/bin/linkspan hook",
            "timeout": 10000
          }
        ]
      }
    ],
    "Notification": [
      {
        "hooks": [
          {
            "type": "command",
            "name": "linkspan",
            "command": "/usr/bin/linkspan hook",
            "timeout": 10000
          }
        ]
      }
    ]
  }
}
"#;
    assert_eq!(text, expect);
    assert_eq!(without_hooks(row("gemini"), &text, None, OWN).unwrap(), None);
}

#[test]
fn copilots_file_is_ours_and_has_a_version() {
    let text = with_hooks(row("copilot"), None, &plain()).unwrap();
    let first = &meaning(&text)["hooks"]["preToolUse"][0];
    let expect = json!({
        "type": "command", "bash": "/usr/bin/linkspan hook", "matcher": "edit|create", "timeoutSec": 86400,
    });
    assert_eq!(first, &expect);
    assert_eq!(meaning(&text)["version"], 1);
    assert_eq!(without_hooks(row("copilot"), &text, None, OWN).unwrap(), None);
}

/// With tabs, comments, a trailing comma, and hooks of others.
const BUSY: &str = "// mine\n{\n\t\"model\": \"opus\", // the good one\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\n\t\t\t\t\
    \"matcher\": \"Bash\",\n\t\t\t\t\"hooks\": [{ \"type\": \"command\", \"command\": \"guard.sh\" }] // no rm\n\t\t\t},\n\t\t],\n\t\t\
    \"Stop\": []\n\t},\n\t/* the end */\n}\n";

#[test]
fn hooks_of_others_and_comments_stay_where_they_are() {
    let text = install("claude", BUSY);
    let is_gone = |line: &&str| !text.contains(line.trim_end_matches(','));
    assert_eq!(BUSY.lines().filter(is_gone).collect::<Vec<_>>(), ["\t\t\"Stop\": []"], "{text}");
    assert!(text.contains("// no rm\n\t\t\t},\n\t\t\t{\n\t\t\t\t\"matcher\": \"Edit|Write"), "{text}");
    assert_eq!(meaning(&text)["hooks"]["PreToolUse"][0], meaning(BUSY)["hooks"]["PreToolUse"][0]);
    assert_eq!(install("claude", &text), text, "a second time");
    assert_eq!(without_hooks(row("claude"), &text, Some(BUSY), OWN).unwrap().as_deref(), Some(BUSY));
}

#[test]
fn an_old_path_is_updated_in_place_and_unwanted_events_go() {
    let old =
        with_hooks(row("claude"), Some(BUSY), &request("/old/linkspan", HookOptions::default())).unwrap();
    let text = install("claude", &old);
    assert_eq!(text, old.replace("/old/linkspan", OWN));
    let options = HookOptions { commands: true, require: true, always: true };
    let request = HookRequest { context: false, ..request(OWN, options) };
    let text = with_hooks(row("claude"), Some(&old), &request).unwrap();
    let hooks = &meaning(&text)["hooks"];
    assert_eq!(hooks["PreToolUse"][1]["matcher"], "Edit|Write|MultiEdit|NotebookEdit|Bash");
    let hook = &hooks["PreToolUse"][1]["hooks"][0];
    assert_eq!(hook["command"], "/usr/bin/linkspan hook --require --always --commands");
    assert_eq!(hook["onFailure"], "block");
    assert!(hooks.get("SessionStart").is_none() && hooks.get("UserPromptSubmit").is_none(), "{text}");
    assert_eq!(install("claude", &text).matches("onFailure").count(), 0);
}

#[test]
fn ours_leaves_a_group_that_the_user_shares_with_it() {
    let before = r#"{"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [
        {"type": "command", "command": "fmt.sh"},
        {"type": "command", "command": "linkspan hook --always", "mine": 1}
    ]}]}}"#;
    let text = install("claude", before);
    let groups = &meaning(&text)["hooks"]["PreToolUse"];
    assert_eq!(
        groups[0],
        json!({ "matcher": "Edit", "hooks": [{ "type": "command", "command": "fmt.sh" }] })
    );
    assert_eq!(groups.as_array().unwrap().len(), 2);
    let text = without_hooks(row("claude"), &text, None, OWN).unwrap().unwrap();
    assert_eq!(meaning(&text)["hooks"], json!({ "PreToolUse": [groups[0]] }));
}

#[test]
fn what_the_user_added_to_our_hook_stays() {
    let mut text = install("qwen", "{}");
    text =
        text.replacen("\"name\": \"linkspan\",", "\"name\": \"linkspan\", // asks me\n \"mine\": true,", 1);
    assert_eq!(install("qwen", &text), text);
    let old = text.replace("86400000", "3600");
    assert_eq!(install("qwen", &old), text);
}

#[test]
fn a_byte_order_mark_and_line_endings_are_kept() {
    let before = "\u{feff}{\r\n    \"a\": 1\r\n}\r\n";
    let text = install("claude", before);
    assert!(
        text.starts_with("\u{feff}{\r\n    \"a\": 1,\r\n    \"hooks\": {\r\n        \"PreToolUse\""),
        "{text}"
    );
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    assert_eq!(without_hooks(row("claude"), &text, Some(before), OWN).unwrap().as_deref(), Some(before));
}

#[track_caller]
fn refused(text: &str, line: usize, column: usize, what: &str) {
    let error = with_hooks(row("claude"), Some(text), &plain()).unwrap_err();
    assert_eq!((error.line, error.column), (line, column), "{error:?}");
    assert!(error.what.contains(what), "{error:?}");
}

#[test]
fn a_file_that_cannot_be_read_is_refused_with_its_line_and_column() {
    refused("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9, "comma");
    refused("{\n  \"a\": [1\n", 2, 8, "Unterminated array");
    refused("[]", 1, 1, "object");
    refused("{ \"hooks\": [] }", 1, 12, "`hooks`");
    refused("{ \"hooks\": { \"PreToolUse\": {} } }", 1, 28, "`PreToolUse`");
    refused("{ \"hooks\": {}, \"hooks\": {} }", 1, 12, "twice");
    refused("{ \"hooks\": { \"Stop\": [], \"Stop\": [] } }", 1, 22, "twice");
    refused("{ 'a': 1 }", 1, 3, "ingle");
    refused(&"[".repeat(100_000), 1, 513, "depth");
}

#[test]
fn what_an_agent_cannot_read_is_said() {
    let refused =
        |id: &str, text: &str| check_syntax(row(id), text).err().map(|error| (error.line, error.column));
    for id in ["claude", "codex", "copilot"] {
        assert_eq!(refused(id, "{\n  // mine\n}"), Some((2, 3)), "{id}");
    }
    for id in ["gemini", "qwen"] {
        assert_eq!(refused(id, "{\n  // mine\n}"), None, "{id}");
        assert_eq!(refused(id, "{ \"a\": 1, }"), Some((1, 9)), "{id}");
    }
    let text = install("claude", "{ \"a\": 1 }").replacen('{', "{ // mine\n", 1);
    let found = inspect(row("claude"), Some(&text), OWN).unwrap();
    assert!(found.problems[0].contains("Claude Code ignores the whole file"), "{found:?}");
}

#[test]
fn the_traps_of_time_limits_are_seen() {
    let found = |id: &str, text: &str| inspect(row(id), Some(text), OWN).unwrap();
    let good = found("qwen", &install("qwen", "{}"));
    assert_eq!((good.state, good.problems), (InstallState::Installed, vec![]));
    let trap = found("qwen", &install("qwen", "{}").replace("86400000", "86400"));
    assert!(trap.problems[0].contains("after 86 s"), "{trap:?}");
    let none = found("copilot", &install("copilot", "{}").replacen("timeoutSec", "x", 1));
    assert!(
        none.problems[0].contains("preToolUse: Copilot CLI stops waiting for you after 30 s"),
        "{none:?}"
    );
    let off = found("claude", &install("claude", "{\"disableAllHooks\": true}"));
    assert!(off.problems[0].contains("`disableAllHooks` is true"), "{off:?}");
    let off = found("gemini", &install("gemini", "{\"hooksConfig\": {\"enabled\": false}}"));
    assert!(off.problems[0].contains("`hooksConfig.enabled` is false"), "{off:?}");
}

#[test]
fn a_hook_is_absent_partial_outdated_or_installed() {
    let state = |text: &str| inspect(row("codex"), Some(text), OWN).unwrap().state;
    assert_eq!(state("{}"), InstallState::Absent);
    let text = install("codex", "{}");
    assert_eq!(state(&text), InstallState::Installed);
    assert_eq!(state(&text.replace(OWN, "/old/linkspan")), InstallState::Outdated);
    assert_eq!(state(&text.replace("PermissionRequest", "Other")), InstallState::Partial);
    let without = with_hooks(row("codex"), None, &HookRequest { context: false, ..plain() }).unwrap();
    assert_eq!(state(&without), InstallState::Installed);
}

fn trivia() -> BoxedStrategy<String> {
    let all = [
        "",
        "",
        "",
        " ",
        " ",
        "\n",
        "\n  ",
        "\n    ",
        "\t",
        "\r\n",
        " /* \" { */ ",
        "/*\n*/",
        " // }, \"\n",
        "// x\r\n  ",
    ];
    prop::sample::select(all.map(String::from).to_vec()).boxed()
}

/// A JSON text in which any white space and comments stand around each token.
fn list_of(open: char, close: char, items: Vec<(String, String, String)>, end: (bool, String)) -> String {
    let mut text = open.to_string();
    let length = items.len();
    for (index, (before, item, after)) in items.into_iter().enumerate() {
        text += &format!("{before}{item}{after}");
        if index + 1 < length || end.0 {
            text.push(',');
        }
    }
    format!("{text}{}{close}", end.1)
}

fn array(item: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let items = prop::collection::vec((trivia(), item, trivia()), 0..3);
    (items, any::<bool>(), trivia())
        .prop_map(|(items, comma, end)| {
            let comma = comma && !items.is_empty();
            list_of('[', ']', items, (comma, end))
        })
        .boxed()
}

/// An object with some of these members.
fn object(members: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let member = |(name, value): (&'static str, BoxedStrategy<String>)| {
        let member = (trivia(), trivia(), value, trivia(), trivia()).prop_map(
            move |(before, colon, value, space, after)| {
                (before, format!("\"{name}\"{colon}:{space}{value}"), after)
            },
        );
        prop::option::of(member)
    };
    let members: Vec<_> = members.into_iter().map(member).collect();
    (members, any::<bool>(), trivia())
        .prop_map(|(members, comma, end)| {
            let members: Vec<_> = members.into_iter().flatten().collect();
            let comma = comma && !members.is_empty();
            list_of('{', '}', members, (comma, end))
        })
        .boxed()
}

fn foreign_hook() -> BoxedStrategy<String> {
    let command = prop_oneof![Just("\"guard.sh\"".to_owned()), Just("\"linkspan hook | tee x\"".to_owned())];
    object(vec![
        ("command", command.clone().boxed()),
        ("bash", command.boxed()),
        ("x", Just("1".to_owned()).boxed()),
    ])
}

fn settings() -> impl Strategy<Value = String> {
    let hook = foreign_hook();
    let group =
        object(vec![("matcher", Just("\"Edit\"".to_owned()).boxed()), ("hooks", array(hook.clone()))]);
    let list = array(prop_oneof![hook, group].boxed());
    let events =
        ["PreToolUse", "Stop", "BeforeTool", "preToolUse", "Other"].map(|event| (event, list.clone()));
    let hooks = object(events.to_vec());
    let any = prop_oneof![Just("1".to_owned()), Just("{}".to_owned()), Just("\"}, // \\\" /*\"".to_owned())];
    let root = object(vec![
        ("model", any.clone().boxed()),
        ("version", Just("1".to_owned()).boxed()),
        ("hooks", hooks),
        ("last", any.boxed()),
    ]);
    (trivia(), root, trivia()).prop_map(|(before, root, after)| format!("{before}{root}{after}"))
}

/// Each case edits a dozen texts, in a program that is not optimised.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / 4, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn removing_gives_back_every_byte(text in settings(), mark in any::<bool>()) {
        let text = if mark { format!("\u{feff}{text}") } else { text };
        for row in AgentRow::all().iter().filter(|row| row.form != SettingsForm::Plugin) {
            let installed = with_hooks(row, Some(&text), &plain()).unwrap();
            prop_assert_eq!(inspect(row, Some(&installed), OWN).unwrap().state, InstallState::Installed);
            prop_assert_eq!(&with_hooks(row, Some(&installed), &plain()).unwrap(), &installed);
            let (before, after) = (meaning(&text), meaning(&installed));
            for (name, value) in before.as_object().unwrap().iter().filter(|(name, _)| *name != "hooks") {
                prop_assert_eq!(&after[name], value);
            }
            let removed = without_hooks(row, &installed, Some(&text), OWN).unwrap();
            prop_assert_eq!(removed.as_deref(), Some(text.as_str()), "by way of {}", installed);
        }
    }

    #[test]
    fn no_text_is_damaged_when_a_hook_is_removed_without_its_backup(text in settings()) {
        for row in AgentRow::all().iter().filter(|row| row.form != SettingsForm::Plugin) {
            let installed = with_hooks(row, Some(&text), &plain()).unwrap();
            let removed = without_hooks(row, &installed, None, OWN).unwrap().unwrap_or("{}".into());
            let (before, after) = (meaning(&text), meaning(&removed));
            prop_assert_eq!(&after["model"], &before["model"]);
            prop_assert_eq!(&after["hooks"]["Other"], &before["hooks"]["Other"]);
        }
    }
}
