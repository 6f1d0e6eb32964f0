//! Pictures of the browser page: in a light and a dark scheme, and on a phone.

use linkspan_testkit::review_page::{PROPOSED, follow, link, open, row};
use linkspan_testkit::{Agent, Browser, OwnAgent, World, WsDialect, agent};
use serde_json::{Value, json};

use crate::{LIMITER, LIMITER_AFTER, write};

pub(crate) fn make() {
    let wide = json!({ "width": 1440, "height": 810 });
    take("page-light.png", &json!({ "colorScheme": "light", "viewport": wide }), true);
    take("page-dark.png", &json!({ "colorScheme": "dark", "viewport": wide }), true);
    let screen = json!({ "width": 390, "height": 780 });
    let phone = json!({
        "colorScheme": "light", "viewport": screen, "hasTouch": true, "isMobile": true, "deviceScaleFactor": 1.5,
    });
    take("page-phone.png", &phone, false);
}

fn take(name: &str, options: &Value, with_comment: bool) {
    let browser = Browser::start();
    let world = World::new();
    let serve = world.serve();
    let mut claude = Agent::claude(&world, serve.port);
    let mut nexus = Agent::introduced(&world, serve.port, WsDialect::Nexus3, agent::NEXUS3_ITSELF);
    let mut own = OwnAgent::join(&world, "picture");
    let path = world.file("src/limiter.rs", LIMITER);
    claude.propose(&path, LIMITER_AFTER, "limiter.rs");
    let first = world.one_pending();
    let path = world.file("README.md", "# Gateway\n\nLimits requests.\n");
    nexus.propose(&path, "# Gateway\n\nLimits requests per second.\n", "README.md");
    world.pending(2);
    for (at, name) in ["src/main.rs", "tests/limiter.rs", "Cargo.toml"].iter().enumerate() {
        let path = world.file(name, "one\ntwo\nthree\n");
        own.call("proposeChange", json!({ "path": path, "newText": "one\n2\n3\n4\n", "set": "limits" }));
        world.pending(3 + at);
    }
    let page = browser.context(options).page();
    follow(&page, &link(&world));
    page.sees(&row(&first));
    open(&page, &first);
    if with_comment {
        page.click(&format!("{PROPOSED} .cm-line:has-text('pop_front')"));
        page.click("article [data-action='comment']");
        page.fill("article [data-field='comment']", "Does this drop the newest?");
        page.click("article [data-action='save-comment']");
        page.sees("article [data-comment]");
    }
    write(name, |path| page.picture(path));
}
