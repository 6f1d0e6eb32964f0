//! The integrated terminal: an agent started there finds this window, and one that may runs commands there.

use serde_json::json;

use crate::on_both;
use crate::person::*;
use crate::support::*;

on_both! {
    an_agent_in_the_terminal_is_in_this_window
    a_command_runs_in_the_terminal_once_she_allows_it
}

fn an_agent_in_the_terminal_is_in_this_window(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    desk.workbench.open_terminal();
    let environment = desk.workbench.in_terminal(&desk.world, "env");
    let value = |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let window = desk.world.status()["windows"][0]["window"].as_str().unwrap().to_owned();
    let port = desk.port.to_string();
    assert_eq!(value("LINKSPAN_WINDOW"), Some(window.as_str()), "{environment}");
    assert_eq!(value("CLAUDE_CODE_SSE_PORT"), Some(port.as_str()), "{environment}");
    let program = desk.workbench.in_terminal(&desk.world, "command -v linkspan");
    assert!(program.contains("/linkspan.linkspan-"), "the one that came with the extension: {program}");
    let used = desk.workbench.in_terminal(&desk.world, "linkspan ide status");
    assert!(used.contains(&window), "{used}");
}

fn a_command_runs_in_the_terminal_once_she_allows_it(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let mut agent = OwnAgent::join(&desk.world, "k3y");
    let ran = desk.world.path("ran.txt");
    let arguments = json!({ "command": "echo said | tee ran.txt; false", "waitMs": 20_000 });
    let denied = agent.call("runInTerminal", arguments.clone());
    desk.workbench.click_notification("to run this command", "Deny");
    assert_eq!(agent.told(denied)["error"]["kind"], "denied");
    assert!(!ran.exists());

    let allowed = agent.call("runInTerminal", arguments);
    desk.workbench.click_notification("to run this command", "Allow once");
    desk.workbench.page.waits("it has run", |_| ran.exists().then_some(()));
    let told = agent.told(allowed);
    assert_eq!((&told["exitCode"], &told["timedOut"]), (&json!(1), &json!(false)), "{told}");
    assert_eq!(told["output"].as_str().unwrap().trim(), "said", "{told}");
    assert_eq!(desk.world.read_text("ran.txt"), "said\n");
}
