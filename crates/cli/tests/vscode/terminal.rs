//! The integrated terminal: an agent started there finds this window, and one with permission runs commands there.

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    an_agent_in_the_terminal_finds_this_window
    a_command_runs_in_the_terminal_with_permission
};
pub(crate) const SETTINGS: Scenarios = scenarios! { InOwnWindows:
    a_key_starts_the_agent_in_a_terminal_beside
};

fn an_agent_in_the_terminal_finds_this_window(window: &EditorWindow<'_>) {
    window.workbench.open_terminal();
    let environment = window.workbench.in_terminal(window.world, "env");
    let value = |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let id = window.world.status()["windows"][0]["window"].as_str().unwrap().to_owned();
    let port = window.port.to_string();
    assert_eq!(value("LINKSPAN_WINDOW"), Some(id.as_str()), "{environment}");
    assert_eq!(value("CLAUDE_CODE_SSE_PORT"), Some(port.as_str()), "{environment}");
    let program = window.workbench.in_terminal(window.world, "command -v linkspan");
    assert!(program.contains("/linkspan.linkspan-"), "the one inside the extension: {program}");
    let used = window.workbench.in_terminal(window.world, "linkspan ide status");
    assert!(used.contains(&id), "{used}");
}

fn a_command_runs_in_the_terminal_with_permission(window: &EditorWindow<'_>) {
    let mut agent = OwnAgent::join(window.world, "k3y");
    let ran = window.world.path("ran.txt");
    let arguments = json!({ "command": "echo said | tee ran.txt; false", "waitMs": 20_000 });
    let denied = agent.call("runInTerminal", arguments.clone());
    let asked = window.world.json(&["clients"])["asks"].as_array().map_or(0, Vec::len);
    assert_eq!(asked, 1, "one question");
    window.workbench.open_reviews();
    window.workbench.sees_badge("1");
    window.workbench.sees_row("to run this command");
    window.workbench.sees_status("Linkspan: 1");
    window.workbench.page.sees(".notification-list-item a.monaco-button:has-text('to run commands here')");
    window.workbench.click_notification("to run this command", "Deny");
    window.workbench.sees_badge("");
    assert_eq!(agent.told(denied)["error"]["kind"], "denied");
    assert!(!ran.exists());

    let allowed = agent.call("runInTerminal", arguments);
    window.workbench.click_notification("to run this command", "Allow once");
    window.workbench.page.waits("it has run", |_| ran.exists().then_some(()));
    let result = agent.told(allowed);
    assert_eq!((&result["exitCode"], &result["timedOut"]), (&json!(1), &json!(false)), "{result}");
    assert_eq!(result["output"].as_str().unwrap().trim(), "said", "{result}");
    assert_eq!(window.world.read_text("ran.txt"), "said\n");
    let name = window
        .workbench
        .page
        .texts(".part.panel .single-terminal-tab, .part.panel .terminal-tabs-entry")
        .join(" ");
    assert!(name.contains("tester"), "named after the agent: {name}");
}

fn a_key_starts_the_agent_in_a_terminal_beside(session: &VsCodeSession) {
    let window = session.open_with(&json!({ "linkspan.agent": "env > started.txt" }));
    window.world.file("mine.txt", "mine\n");
    window.workbench.open_file("mine.txt");
    window.workbench.press("Control+K");
    window.workbench.press("a");
    let environment = window.workbench.page.waits("the agent has started", |_| {
        let path = window.world.path("started.txt");
        std::fs::read_to_string(path).ok().filter(|environment| environment.contains("CLAUDE_CODE_SSE_PORT="))
    });
    assert!(environment.contains(&format!("CLAUDE_CODE_SSE_PORT={}", window.port)), "{environment}");
    let groups = window.workbench.page.texts(".editor-group-container .tab.active");
    assert_eq!(groups.len(), 2, "beside the file: {groups:?}");
}
