//! The pictures of VS Code in the docs are taken here, in the newest.

use serde_json::{Value, json};

use crate::person::*;
use crate::support::pictures::keep;
use crate::support::*;

const LIMITER: &str = include_str!("../page/limiter_before.txt");
const LIMITER_AFTER: &str = include_str!("../page/limiter_after.txt");

/// A desk where one change of a file waits.
fn asked(settings: &Value) -> Option<(Desk, Agent)> {
    let desk = Desk::with(Version::Newest, settings)?;
    desk.workbench.run("Notifications: Clear All Notifications");
    let mut claude = desk.claude();
    claude.propose(&desk.world.file("src/limiter.rs", LIMITER), LIMITER_AFTER, "limiter.rs");
    desk.world.pending(1);
    Some((desk, claude))
}

/// Other agents' changes behind it.
fn more(desk: &Desk) -> (Agent, OwnAgent) {
    let mut nexus3 = desk.nexus3();
    let readme = desk.world.file("README.md", "# Gateway\n\nLimits requests.\n");
    nexus3.propose(&readme, "# Gateway\n\nLimits requests per second.\n", "README.md");
    desk.world.pending(2);
    let mut own = OwnAgent::join(&desk.world, "picture");
    for (at, name) in ["src/main.rs", "tests/limiter.rs", "Cargo.toml"].iter().enumerate() {
        let path = desk.world.file(name, "one\ntwo\nthree\n");
        own.call("proposeChange", json!({ "path": path, "newText": "one\n2\n3\n4\n", "set": "limits" }));
        desk.world.pending(3 + at);
    }
    (nexus3, own)
}

#[test]
fn the_picture_of_a_diff() {
    let Some((desk, _claude)) = asked(&json!({})) else { return };
    desk.workbench.look_at("limiter.rs ←");
    desk.workbench.sees_lens("limiter.rs ←", "Accept Hunk");
    keep("vscode-diff.png", |path| desk.workbench.picture(path));
}

#[test]
fn the_picture_of_the_reviews() {
    let Some((desk, _claude)) = asked(&json!({})) else { return };
    let _others = more(&desk);
    desk.workbench.look_at("limiter.rs ←");
    desk.workbench.open_reviews();
    desk.workbench.expand_row("limiter.rs");
    desk.workbench.sees_lens("limiter.rs ←", "Accept Hunk");
    keep("vscode-reviews.png", |path| desk.workbench.picture(path));
}

#[test]
fn the_picture_of_the_inline_style() {
    let Some((desk, _claude)) = asked(&json!({ "linkspan.review.style": "inline" })) else { return };
    desk.workbench.look_at("limiter.rs");
    desk.workbench.sees_lens("limiter.rs", "Accept Hunk");
    desk.workbench.page.sees(".review-widget");
    keep("vscode-inline.png", |path| desk.workbench.picture(path));
}
