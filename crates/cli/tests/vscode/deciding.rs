//! One change, one decision: what is clicked, what the file holds, what the agent hears.

use crate::on_both;
use crate::person::*;
use crate::support::*;

on_both! { accepting_by_click_tells_the_agent }

fn accepting_by_click_tells_the_agent(version: Version) {
    let Some(desk) =
        Desk::with(version, &serde_json::json!({}), |world| drop(world.file("a.txt", "one\ntwo\n")))
    else {
        return;
    };
    let mut agent = Agent::claude(&desk.world, desk.port);
    let call = agent.propose(&desk.world.path_str("a.txt"), "one\n2\n", "tab");
    desk.workbench.keep_picture("x.png");
    desk.workbench.look_at("a.txt ←");
    desk.workbench.click_title("a.txt ←", "Accept Change");
    assert_eq!(agent.texts(call), ["FILE_SAVED", "one\n2\n"]);
    desk.workbench.sees_no_tab("a.txt ←");
}
