//! Pictures of the newest VS Code: a diff, the list of reviews, and the inline style.

use linkspan_testkit::{Agent, EditorWindow, OwnAgent, Version, VsCodeSession};
use serde_json::{Value, json};

use crate::{LIMITER, LIMITER_AFTER, write};

pub(crate) fn make() {
    let mut session = VsCodeSession::start(Version::Newest);
    with_review(&mut session, &json!({}), |window| {
        window.workbench.look_at("limiter.rs ←");
        window.workbench.sees_lens("limiter.rs ←", "Accept Hunk");
        write("vscode-diff.png", |path| window.workbench.picture(path));
    });
    with_review(&mut session, &json!({}), |window| {
        let _others = propose_more(window);
        window.workbench.look_at("limiter.rs ←");
        window.workbench.open_reviews();
        window.workbench.expand_row("limiter.rs");
        window.workbench.sees_lens("limiter.rs ←", "Accept Hunk");
        write("vscode-reviews.png", |path| window.workbench.picture(path));
    });
    with_review(&mut session, &json!({ "linkspan.review.style": "inline" }), |window| {
        window.workbench.look_at("limiter.rs");
        window.workbench.sees_lens("limiter.rs", "Accept Hunk");
        write("vscode-inline.png", |path| window.workbench.picture(path));
    });
}

/// A window in which one change of a file is pending.
fn with_review(session: &mut VsCodeSession, settings: &Value, take: impl FnOnce(&EditorWindow<'_>)) {
    let window = session.open_with(settings);
    window.workbench.clear_notifications();
    let mut claude = window.claude();
    claude.propose(&window.world.file("src/limiter.rs", LIMITER), LIMITER_AFTER, "limiter.rs");
    window.world.pending(1);
    take(&window);
    drop((claude, window));
    session.reset();
}

/// Changes of other agents after it.
fn propose_more(window: &EditorWindow<'_>) -> (Agent, OwnAgent) {
    let world = window.world;
    let mut nexus3 = window.nexus3();
    let readme = world.file("README.md", "# Gateway\n\nLimits requests.\n");
    nexus3.propose(&readme, "# Gateway\n\nLimits requests per second.\n", "README.md");
    world.pending(2);
    let mut own = OwnAgent::join(world, "picture");
    for (at, name) in ["src/main.rs", "tests/limiter.rs", "Cargo.toml"].iter().enumerate() {
        let path = world.file(name, "one\ntwo\nthree\n");
        own.call("proposeChange", json!({ "path": path, "newText": "one\n2\n3\n4\n", "set": "limits" }));
        world.pending(3 + at);
    }
    (nexus3, own)
}
