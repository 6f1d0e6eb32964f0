//! The hub, or Claude Code, goes away while a change waits for the user. Claude Code connects again to the next hub, but
//! does not ask again: no agent would write the accepted text then, and the user must see that.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::{ClaudeSession, ClaudeVersion, edit, with_each_version};
use crate::support::world::{alive, signal};
use crate::support::{World, eventually};

const BEFORE: &str = "one\ntwo\nthree\n";
const AFTER: &str = "one\n2\nthree\n";

with_each_version! {
    after_a_crash_of_the_hub_an_accept_says_that_no_agent_waits
    after_a_stop_of_the_hub_an_accept_says_that_no_agent_waits
    the_hub_writes_a_change_without_an_agent_if_the_user_says_so
    an_agent_that_was_killed_is_noticed_within_a_second
}

fn after_a_crash_of_the_hub_an_accept_says_that_no_agent_waits(version: ClaudeVersion) {
    has_no_agent_after(version, World::kill_hub);
}

fn after_a_stop_of_the_hub_an_accept_says_that_no_agent_waits(version: ClaudeVersion) {
    has_no_agent_after(version, |world| {
        world.run(&["hub", "stop", "--force"]).ok();
    });
}

fn has_no_agent_after(version: ClaudeVersion, end_hub: impl FnOnce(&World)) {
    let mut session = ClaudeSession::with(version, BEFORE.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = session.review();
    end_hub(&session.world);
    is_back(&session, &review);
    accept_is_refused(&session, &review);

    // Claude Code still asks in its terminal, and that answer counts.
    session.claude.answers("1");
    let told = session.claude.model.result(1);
    assert!(!told.is_error && told.text.contains("has been updated"), "{told:?}");
    assert_eq!(session.world.read_text("a.txt"), AFTER);
    eventually("it is not pending any longer", || session.world.reviews().is_empty().then_some(()));
}

fn the_hub_writes_a_change_without_an_agent_if_the_user_says_so(version: ClaudeVersion) {
    let session = ClaudeSession::with(version, BEFORE.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = session.review();
    session.world.kill_hub();
    is_back(&session, &review);

    session.world.run(&["accept", &review, "--write"]).ok();
    assert_eq!(session.world.read_text("a.txt"), AFTER);
    assert_eq!(session.newest_entry()["onDisk"], true);
    session.world.run(&["undo", &review]).ok();
    assert_eq!(session.world.read_text("a.txt"), BEFORE);
}

fn an_agent_that_was_killed_is_noticed_within_a_second(version: ClaudeVersion) {
    let session = ClaudeSession::with(version, BEFORE.as_bytes(), |path| edit(path, "two\n", "2\n"));
    let review = session.review();
    let pid = session.claude.tty.pid();
    signal(pid, Signal::KILL);
    eventually("Claude Code is dead", || (!alive(pid)).then_some(()));

    let since = Instant::now();
    eventually("no agent waits", || has_no_agent(&session, &review).then_some(()));
    let took = since.elapsed();
    // A second, and a command on a busy machine.
    assert!(took < Duration::from_millis(2500), "noticed only after {took:?}");
    assert!(!session.claude.is_connected(&session.world));
    accept_is_refused(&session, &review);
}

/// Waits until there is a hub again, and Claude Code is connected to it if this version connects again.
#[track_caller]
fn is_back(session: &ClaudeSession, review: &str) {
    eventually("the window is back", || {
        let status = session.world.run(&["status", "--json"]);
        let attached = status.code == 0 && status.json()["windows"][0]["attached"] == true;
        attached.then_some(())
    });
    if session.claude.version != ClaudeVersion::V1_0_128 {
        session.claude.tty.sees_that("connected again", |_| session.claude.is_connected(&session.world));
    }
    eventually("no agent waits", || has_no_agent(session, review).then_some(()));
}

/// Whether the list of reviews says that the agent does not wait for this one.
fn has_no_agent(session: &ClaudeSession, review: &str) -> bool {
    let reviews = session.world.reviews();
    let found: Option<&Value> = reviews.iter().find(|listed| listed["review"] == review);
    found.is_some_and(|listed| listed["phase"] == "pending" && listed["ownerGone"] == true)
}

/// No agent would write it: the review stays pending, and the file stays as it is.
#[track_caller]
fn accept_is_refused(session: &ClaudeSession, review: &str) {
    let said = session.world.run(&["accept", review]);
    assert!(said.code == 5 && said.stderr.contains("--write"), "{said:?}");
    assert_eq!(session.world.read_text("a.txt"), BEFORE);
    assert_eq!(session.world.one_pending(), review);
}
