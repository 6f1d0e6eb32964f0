//! The page with a screen reader, on a phone, in dark mode and in a narrow window.
use serde_json::json;

use crate::support::review_page::*;
use crate::support::*;

const BASE: &str = "fn main() {\n    let a = 1;\n    let b = 2;\n    println!(\"{a}\");\n}\n";
const PROPOSED_TEXT: &str = "fn main() {\n    let a = 10;\n    let b = 2;\n    println!(\"{a} {b}\");\n}\n";

/// The violations that axe finds in the page as it is now.
pub(crate) fn violations(page: &Page) -> String {
    let found = page.evaluate(
        "axe.run(document, {
            resultTypes: ['violations'],
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        }).then(result => result.violations.map(one => one.id + ': ' + one.help + '\\n' +
            one.nodes.map(node => '    ' + node.target + ' ' + node.failureSummary).join('\\n')).join('\\n'))",
    );
    found.as_str().unwrap().to_owned()
}

/// Checks each view of the page.
fn axe_finds_nothing(options: &serde_json::Value) {
    let browser = Browser::start();
    let modules = prerequisites::node_modules();
    let world = World::new();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let mut own = OwnAgent::join(&world, "axe");
    for name in ["src/main.rs", "src/other.rs"] {
        let path = world.file(name, BASE);
        own.call("proposeChange", json!({ "path": path, "newText": PROPOSED_TEXT, "set": "both" }));
    }
    world.pending(2);
    let path = world.file("third.rs", BASE);
    agent.propose(&path, PROPOSED_TEXT, "tab");
    let reviews = world.pending(3);
    let context = browser.context(options);
    context.with_script(&modules.join("node_modules/axe-core/axe.min.js"));
    let page = context.page();
    follow(&page, &link(&world));
    page.sees(&row(&reviews[0]));
    assert_eq!(violations(&page), "", "the list");
    open(&page, &reviews[2]);
    assert_eq!(violations(&page), "", "a review");
    page.click("article [data-action='edit']");
    page.click("article [data-action='comment']");
    page.fill("article [data-field='comment']", "text");
    assert_eq!(violations(&page), "", "a text and a comment being written");
    page.click("article [data-action='save-comment']");
    page.click("article [data-action='discard-edit']");
    page.click(REJECT);
    page.sees(&row_in(&reviews[2], "rejected"));
    assert_eq!(violations(&page), "", "a decided review");
    page.press("Escape");
    page.press("h");
    page.sees("[data-entry]");
    assert_eq!(violations(&page), "", "the history");
    page.press("?");
    page.sees("dialog, [role='dialog']");
    assert_eq!(violations(&page), "", "the help");
}

#[test]
fn axe_finds_nothing_wrong_in_the_light() {
    axe_finds_nothing(&json!({ "colorScheme": "light", "viewport": { "width": 1280, "height": 800 } }));
}

#[test]
fn axe_finds_nothing_wrong_in_the_dark() {
    axe_finds_nothing(&json!({ "colorScheme": "dark", "viewport": { "width": 1280, "height": 800 } }));
}

#[test]
fn axe_finds_nothing_wrong_without_access() {
    let browser = Browser::start();
    let modules = prerequisites::node_modules();
    let world = World::new();
    let _serve = world.serve();
    let link = link(&world);
    let context = browser.context(&json!({}));
    context.with_script(&modules.join("node_modules/axe-core/axe.min.js"));
    let page = context.page();
    assert_eq!(page.goto(origin(&link)), Ok(200));
    page.sees("body[data-connection='noaccess']");
    assert_eq!(violations(&page), "");
}

#[test]
fn a_phone_shows_the_list_and_the_review_one_after_the_other() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("src/main.rs", BASE);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, PROPOSED_TEXT, "tab");
    let review = world.one_pending();
    let phone = json!({ "viewport": { "width": 390, "height": 844 }, "hasTouch": true, "isMobile": true });
    let page = browser.context(&phone).page();
    follow(&page, &link(&world));
    let narrow = "document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(page.evaluate(narrow), true, "the list fits");
    open(&page, &review);
    page.sees("[data-diff][data-layout='unified']");
    assert_eq!(page.evaluate(narrow), true, "the review fits");
    let seen = |selector: &str| {
        page.evaluate(&format!("document.querySelector(\"{selector}\")?.checkVisibility() ?? false"))
    };
    assert_eq!(seen(&row(&review)), false, "one screen at a time");
    page.click("[data-action='back']");
    page.sees(&row(&review));
    page.click(&row(&review));
    page.sees(PROPOSED);
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("src/main.rs"), PROPOSED_TEXT);
}

#[test]
fn the_width_chooses_the_layout_and_the_person_overrules_it() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("src/main.rs", BASE);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    agent.propose(&path, PROPOSED_TEXT, "tab");
    let page = browser.context(&json!({ "viewport": { "width": 1600, "height": 900 } })).page();
    follow(&page, &link(&world));
    open(&page, &world.one_pending());
    page.sees("[data-diff][data-layout='split']");
    page.sees(".cm-content[aria-label='Base text']");
    page.click("role=checkbox[name='Include hunk 1 of 2']");
    page.click("article [data-action='layout']");
    page.sees("[data-diff][data-layout='unified']");
    assert_eq!(page.count("article input[data-hunk]:checked"), 1, "the choice stays");
    page.press("v");
    page.sees("[data-diff][data-layout='split']");
    page.resize(800, 900);
    page.reload();
    page.sees("body[data-connection='connected']");
    open(&page, &world.one_pending());
    page.sees("[data-diff]");
}

#[test]
fn the_theme_follows_the_system_until_the_person_chooses() {
    let browser = Browser::start();
    let world = World::new();
    let _serve = world.serve();
    let context = browser.context(&json!({ "colorScheme": "dark" }));
    let page = context.page();
    follow(&page, &link(&world));
    let bright = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).every(part => part > 127)";
    assert_eq!(page.evaluate(bright), false);
    for _ in 0..3 {
        page.click("[data-action='theme']");
        if page.evaluate(bright) == true {
            break;
        }
    }
    assert_eq!(page.evaluate(bright), true, "light was chosen");
    page.reload();
    page.sees("body[data-connection='connected']");
    assert_eq!(page.evaluate(bright), true, "and stays");
}
