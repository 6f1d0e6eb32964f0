//! The hub, or Claude Code, goes away while a change waits for the user. Claude Code connects again to the next hub, but
//! does not ask again: nobody would write what is accepted then, and the user must be told.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::{ClaudeVersion, Desk, edit, with_each_version};
use crate::support::world::{alive, signal};
use crate::support::{World, eventually};

const BEFORE: &str = "one\ntwo\nthree\n";
const AFTER: &str = "one\n2\nthree\n";

with_each_version! {
    after_a_crash_of_the_hub_an_accept_says_that_nobody_waits
    after_a_stop_of_the_hub_an_accept_says_that_nobody_waits
    what_nobody_waits_for_is_written_by_the_hub_if_the_user_says_so
    an_agent_that_was_killed_is_noticed_within_a_second
}

fn after_a_crash_of_the_hub_an_accept_says_that_nobody_waits(version: ClaudeVersion) {
    nobody_waits_after(version, World::kill_hub);
}

fn after_a_stop_of_the_hub_an_accept_says_that_nobody_waits(version: ClaudeVersion) {
    nobody_waits_after(version, |world| {
        world.run(&["hub", "stop", "--force"]).ok();
    });
}

fn nobody_waits_after(version: ClaudeVersion, end_hub: impl FnOnce(&World)) {
    let mut desk = Desk::with(version, BEFORE.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = desk.review();
    end_hub(&desk.world);
    is_back(&desk, &review);
    accept_is_refused(&desk, &review);

    // Claude Code still asks in its terminal, and that answer counts.
    desk.claude.answers("1");
    let told = desk.claude.model.result(1);
    assert!(!told.is_error && told.text.contains("has been updated"), "{told:?}");
    assert_eq!(desk.world.read_text("a.txt"), AFTER);
    eventually("it is not pending any longer", || desk.world.reviews().is_empty().then_some(()));
}

fn what_nobody_waits_for_is_written_by_the_hub_if_the_user_says_so(version: ClaudeVersion) {
    let desk = Desk::with(version, BEFORE.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = desk.review();
    desk.world.kill_hub();
    is_back(&desk, &review);

    desk.world.run(&["accept", &review, "--write"]).ok();
    assert_eq!(desk.world.read_text("a.txt"), AFTER);
    assert_eq!(desk.newest_entry()["onDisk"], true);
    desk.world.run(&["undo", &review]).ok();
    assert_eq!(desk.world.read_text("a.txt"), BEFORE);
}

fn an_agent_that_was_killed_is_noticed_within_a_second(version: ClaudeVersion) {
    let desk = Desk::with(version, BEFORE.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = desk.review();
    let pid = desk.claude.tty.pid();
    signal(pid, Signal::KILL);
    eventually("Claude Code is dead", || (!alive(pid)).then_some(()));

    let since = Instant::now();
    eventually("nobody waits", || nobody_waits(&desk, &review).then_some(()));
    let took = since.elapsed();
    // A second, and a command on a busy machine.
    assert!(took < Duration::from_millis(2500), "noticed only after {took:?}");
    assert!(!desk.claude.is_connected(&desk.world));
    accept_is_refused(&desk, &review);
}

/// Waits until there is a hub again, and Claude Code is connected to it if this version connects again.
#[track_caller]
fn is_back(desk: &Desk, review: &str) {
    eventually("the window is back", || {
        let status = desk.world.run(&["status", "--json"]);
        let attached = status.code == 0 && status.json()["windows"][0]["attached"] == true;
        attached.then_some(())
    });
    if desk.claude.version != ClaudeVersion::V1_0_128 {
        desk.claude.tty.sees_that("connected again", |_| desk.claude.is_connected(&desk.world));
    }
    eventually("nobody waits", || nobody_waits(desk, review).then_some(()));
}

/// Whether the list of reviews says that the agent does not wait for this one.
fn nobody_waits(desk: &Desk, review: &str) -> bool {
    let reviews = desk.world.reviews();
    let found: Option<&Value> = reviews.iter().find(|listed| listed["review"] == review);
    found.is_some_and(|listed| listed["phase"] == "pending" && listed["ownerGone"] == true)
}

/// Nobody would carry it out: the review stays pending, and the file stays as it is.
#[track_caller]
fn accept_is_refused(desk: &Desk, review: &str) {
    let said = desk.world.run(&["accept", review]);
    assert!(said.code == 5 && said.stderr.contains("--write"), "{said:?}");
    assert_eq!(desk.world.read_text("a.txt"), BEFORE);
    assert_eq!(desk.world.one_pending(), review);
}
