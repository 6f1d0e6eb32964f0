//! The pictures of the page in the docs are taken here.

use serde_json::{Value, json};

use crate::person::*;
use crate::support::pictures::keep;
use crate::support::*;

const LIMITER: &str = include_str!("limiter_before.txt");
const LIMITER_AFTER: &str = include_str!("limiter_after.txt");

fn take(name: &str, options: &Value, with_list: bool) {
    let Some(browser) = Browser::start() else { return };
    let world = World::new();
    let serve = world.serve();
    let mut claude = Agent::claude(&world, serve.port);
    let mut nexus = Agent::introduced(&world, serve.port, Dialect::Nexus3, agent::NEXUS3_ITSELF);
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
    if with_list {
        open(&page, &first);
        page.click(&format!("{PROPOSED} .cm-line:has-text('pop_front')"));
        page.click("article [data-action='comment']");
        page.fill("article [data-field='comment']", "Does this drop the newest?");
        page.click("article [data-action='save-comment']");
        page.sees("article [data-comment]");
    } else {
        open(&page, &first);
    }
    keep(name, |path| page.picture(path));
}

#[test]
fn the_picture_of_the_page_in_the_light() {
    let options = json!({ "colorScheme": "light", "viewport": { "width": 1440, "height": 810 } });
    take("page-light.png", &options, true);
}

#[test]
fn the_picture_of_the_page_in_the_dark() {
    let options = json!({ "colorScheme": "dark", "viewport": { "width": 1440, "height": 810 } });
    take("page-dark.png", &options, true);
}

#[test]
fn the_picture_of_the_page_on_a_phone() {
    let screen = json!({ "width": 390, "height": 780 });
    let options = json!({
        "colorScheme": "light", "viewport": screen, "hasTouch": true, "isMobile": true, "deviceScaleFactor": 1.5,
    });
    take("page-phone.png", &options, false);
}
