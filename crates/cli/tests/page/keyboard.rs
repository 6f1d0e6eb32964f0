//! The page without a mouse: by its own keys, and by Tab alone.

use crate::support::review_page::*;
use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";

/// Three changes, shown in a page.
fn fixture(browser: &Browser) -> (World, Serve, Agent, [i64; 3], Vec<String>, Page) {
    let world = World::new();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let mut reviews = vec![];
    let calls = ["a.txt", "b.txt", "c.txt"].map(|name| {
        let path = world.file(name, BASE);
        let call = agent.propose(&path, THREE_HUNKS, name);
        reviews = world.pending(reviews.len() + 1);
        call
    });
    let page = visit(&world, browser);
    page.sees(&row(&reviews[2]));
    (world, serve, agent, calls, reviews, page)
}

/// Presses Tab until the focus is there, as a user without a mouse does.
#[track_caller]
fn tab_to(page: &Page, selector: &str) {
    for _ in 0..80 {
        if page.evaluate(&format!("document.activeElement.matches(\"{selector}\")")) == true {
            return;
        }
        page.press("Tab");
    }
    panic!("Tab never comes to {selector}");
}

#[test]
fn everything_by_the_pages_own_keys() {
    let browser = Browser::start();
    let (world, _serve, mut agent, [first, second, third], reviews, page) = fixture(&browser);

    page.press("j");
    page.sees(&format!("{} {PROPOSED}", article(&reviews[0])));
    look();
    // To the second change, leave it out, accept the rest.
    page.says("[data-diff]", "six");
    while !page.text("[role='status']").contains("2 of 3") {
        page.press("n");
        page.waits("the change is announced", |page| {
            page.text("[role='status']").contains(" of 3").then_some(())
        });
    }
    page.press("x");
    page.waits("one is left out", |page| (page.count("article input[data-hunk]:checked") == 2).then_some(()));
    page.press("a");
    assert_eq!(agent.texts(first)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), THREE_HUNKS.replace("six", "6"));

    page.press("j");
    page.sees(&format!("{} {PROPOSED}", article(&reviews[1])));
    look();
    page.press("n");
    page.press("c");
    page.sees("article [data-field='comment']");
    page.types("a word on it");
    tab_to(&page, "[data-action='save-comment']");
    page.press("Enter");
    page.says("article [data-comment]", "a word on it");
    page.press("Escape");
    page.press("r");
    page.until("document.activeElement.dataset.field === 'reason'");
    page.types("nope, j k a x e are only letters here");
    page.press("Control+Enter");
    let told = agent.texts(second);
    assert_eq!(told[0], "DIFF_REJECTED");
    let told = told.join("\n");
    assert!(told.contains("only letters") && told.contains("line 1: a word on it"), "{told}");
    assert_eq!(world.read_text("b.txt"), BASE);

    page.press("Escape");
    page.press("j");
    page.sees(&format!("{} {PROPOSED}", article(&reviews[2])));
    look();
    page.press("e");
    page.until("document.activeElement.matches(\".cm-content[aria-label='Proposed text']\")");
    page.press("Control+End");
    page.types("ajx");
    page.press("Escape");
    look();
    page.press("a");
    assert_eq!(agent.texts(third)[0], "FILE_SAVED");
    assert_eq!(world.read_text("c.txt"), format!("{THREE_HUNKS}ajx"));

    page.press("h");
    page.sees("[data-entry]");
}

#[test]
fn everything_by_tab_alone_with_the_focus_seen_on_the_way() {
    let browser = Browser::start();
    let (world, _serve, mut agent, [first, second, _], reviews, page) = fixture(&browser);
    tab_to(&page, &row(&reviews[0]));
    let outline = "(() => { const s = getComputedStyle(document.activeElement);
        return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== 'none' })()";
    assert_eq!(page.evaluate(outline), true, "the focus is seen on a row");
    page.press("Enter");
    page.sees(&format!("{} {PROPOSED}", article(&reviews[0])));
    look();
    tab_to(&page, "[data-action='accept']");
    assert_eq!(page.evaluate(outline), true, "the focus is seen on a button");
    page.press("Enter");
    assert_eq!(agent.texts(first)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), THREE_HUNKS);
    tab_to(&page, "[data-action='next-review']");
    look();
    page.press("Enter");
    page.sees(&format!("{} {PROPOSED}", article(&reviews[1])));
    look();
    tab_to(&page, "article input[type=checkbox][data-hunk]");
    page.press("Space");
    page.waits("one is left out", |page| (page.count("article input[data-hunk]:checked") == 2).then_some(()));
    tab_to(&page, "[data-action='accept']");
    page.press("Enter");
    assert_eq!(agent.texts(second)[0], "FILE_SAVED");
    assert_eq!(world.read_text("b.txt"), THREE_HUNKS.replacen("one", "1", 1));
}

#[test]
fn a_key_held_down_decides_no_more_than_what_was_looked_at() {
    let browser = Browser::start();
    let (world, _serve, mut agent, [first, ..], reviews, page) = fixture(&browser);
    page.press("j");
    page.sees(&format!("{} {PROPOSED}", article(&reviews[0])));
    look();
    for key in ["a", "j", "a", "j", "a"] {
        page.press(key);
    }
    assert_eq!(agent.texts(first)[0], "FILE_SAVED");
    look();
    assert_eq!(world.pending(2), reviews[1..]);
    assert_eq!(world.read_text("b.txt"), BASE);
}
