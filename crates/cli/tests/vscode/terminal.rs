//! The integrated terminal: an agent started there finds this window, and one that may runs commands there.

use crate::on_both;
use crate::person::*;
use crate::support::*;

on_both! { an_agent_in_the_terminal_is_in_this_window }

fn an_agent_in_the_terminal_is_in_this_window(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    desk.workbench.open_terminal();
    let environment = desk.workbench.in_terminal(&desk.world, "env");
    let value = |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let window = desk.world.status()["windows"][0]["window"].as_str().unwrap().to_owned();
    let port = desk.port.to_string();
    assert_eq!(value("LINKSPAN_WINDOW"), Some(window.as_str()), "{environment}");
    assert_eq!(value("CLAUDE_CODE_SSE_PORT"), Some(port.as_str()), "{environment}");
    let found = desk.workbench.in_terminal(&desk.world, "linkspan ide list");
    assert!(found.contains(&port), "{found}");
}
