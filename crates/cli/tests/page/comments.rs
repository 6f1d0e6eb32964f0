//! Comments stay with the line they are about, line ends stay whole, a key decides only about the hunk in view, and many
//! reviews at once are announced once.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::support::review_page::*;
use crate::support::*;

const NINE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

const STATUS: &str = "[role='status']#status";

/// Writes a comment on the first line of the next change.
#[track_caller]
fn comment(page: &Page, words: &str) {
    page.press("n");
    page.press("c");
    page.until("document.activeElement.dataset.field === 'comment'");
    page.types(words);
}

fn lines(numbers: std::ops::RangeInclusive<usize>) -> String {
    numbers.map(|n| format!("line {n}\n")).collect()
}

#[test]
fn a_comment_goes_with_its_line_through_a_newer_revision() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", NINE);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::nexus3(&world, editor.port());
    let proposed = NINE.replace('9', "nine");
    let call = agent.propose(&path, &proposed, "tab");
    let shown = editor.shown(&path);
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    comment(&page, "why nine?");
    page.click("article [data-action='save-comment']");
    page.sees("article [data-comment='9']");
    let edited = editor.edit(&shown, &format!("a\nb\n{proposed}"));
    page.sees(&format!("{}[data-revision='{}']", article(&shown.review), edited.revision));
    page.says("article [data-comment='11']", "why nine?");
    look();
    page.click(REJECT);
    let told = agent.texts(call).join("\n");
    assert!(told.contains("line 11: why nine?"), "{told}");
}

#[test]
fn a_comment_whose_line_is_gone_says_so() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", NINE);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::nexus3(&world, editor.port());
    agent.propose(&path, &NINE.replace("5\n", "five\nand a half\n"), "tab");
    let shown = editor.shown(&path);
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    comment(&page, "why five?");
    page.click("article [data-action='save-comment']");
    let edited = editor.edit(&shown, &NINE.replace("5\n", ""));
    page.sees(&format!("{}[data-revision='{}']", article(&shown.review), edited.revision));
    page.says("article [data-comment]", "no longer exists");
}

#[test]
fn a_comment_goes_back_with_its_line_when_the_edited_text_is_set_aside() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", NINE);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    agent.propose(&path, &NINE.replace('9', "nine"), "tab");
    let page = visit(&world, &browser);
    open(&page, &world.one_pending());
    comment(&page, "why nine?");
    page.click("article [data-action='save-comment']");
    page.click("article [data-action='edit']");
    page.press("Control+Home");
    page.types("a\nb\n");
    page.sees("article [data-comment='11']");
    page.click("article [data-action='discard-edit']");
    page.says("article [data-comment='9']", "why nine?");
}

#[test]
fn a_line_made_at_the_end_of_a_windows_line_among_others_tears_no_line_end() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\r\ntwo\nthree\r\n", "one\r\ntwo\ndrei\r\n");
    let ReviewFixture { world, _others, mut agent, call, review: _review, page } = fixture;
    page.click("article [data-action='edit']");
    page.click(PROPOSED);
    for key in
        ["Control+Home", "End", "Enter", "x", "Enter", "z", "Home", "Backspace", "End", "ArrowRight", "y"]
    {
        page.press(key);
    }
    for key in ["ArrowDown", "End", "Enter", "w"] {
        page.press(key);
    }
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\r\nxz\r\nytwo\ndrei\r\nw\r\n");
}

#[test]
fn a_key_leaves_out_the_hunk_that_is_seen_and_not_one_far_away() {
    let browser = Browser::start();
    let world = World::new();
    let base = lines(1..=20);
    let path = world.file("a.txt", &base);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let with = |inserted: &str| {
        let text = base.replacen("line 1\n", "first\n", 1).replace("line 20\n", "last\n");
        text.replace("line 10\n", &format!("line 10\n{inserted}"))
    };
    let call = agent.propose(&path, &with(&"new\n".repeat(200)), "tab");
    let page = visit(&world, &browser);
    open(&page, &world.one_pending());
    page.press("n");
    page.says(STATUS, "Change 1 of 3");
    page.wheel(".ls-diff", 2000);
    page.until("document.querySelector('.ls-diff').scrollTop > 1500");
    page.press("x");
    page.says(STATUS, "Hunk 2 excluded; 2 of 3 included");
    page.waits("what was left out is on the screen", |page| {
        let seen =
            "(() => { const bar = document.querySelector('[data-chunk=\"1\"]')?.getBoundingClientRect();
            const frame = document.querySelector('.ls-diff').getBoundingClientRect();
            return bar !== undefined && bar.top >= frame.top && bar.bottom <= frame.bottom })()";
        (page.evaluate(seen) == true).then_some(())
    });
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), with(""));
}

#[test]
fn a_key_leaves_nothing_out_while_no_hunk_is_seen() {
    let browser = Browser::start();
    let world = World::new();
    let base = lines(1..=600);
    let path = world.file("a.txt", &base);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let proposed = base.replacen("line 1\n", "first\n", 1).replace("line 600\n", "last\n");
    let call = agent.propose(&path, &proposed, "tab");
    let page = visit(&world, &browser);
    open(&page, &world.one_pending());
    page.press("n");
    page.click("article [data-action='expand']");
    page.wheel(".ls-diff", 5000);
    page.until("document.querySelector('.ls-diff').scrollTop > 4000");
    page.press("x");
    page.says(STATUS, "Change 1 of 2");
    page.until("document.querySelector('.ls-diff').scrollTop < 100");
    assert_eq!(page.count("article .ls-leftOut"), 0, "shown, and not decided");
    page.press("x");
    page.says(STATUS, "Hunk 1 excluded");
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), proposed.replace("first\n", "line 1\n"));
}

#[test]
fn a_comment_is_not_lost_to_the_key_that_leaves_its_box() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\n", "two\n");
    let ReviewFixture { world: _world, _others, mut agent, call, review: _review, page } = fixture;
    comment(&page, "long thought about");
    page.press("Escape");
    page.says("article [data-comment='1']", "long thought about");
    page.sees_no("article [data-field='comment']");
    page.click("article [data-action='edit-comment']");
    page.click("article [data-action='cancel-comment']");
    page.says("article [data-comment='1']", "long thought about");
    page.click(REJECT);
    let told = agent.texts(call).join("\n");
    assert!(told.contains("line 1: long thought about"), "{told}");
}

#[test]
fn a_search_finds_what_is_folded_by_key_and_by_touch() {
    let browser = Browser::start();
    let world = World::new();
    let base = lines(1..=100);
    let path = world.file("a.txt", &base);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    agent.propose(&path, &base.replacen("line 1\n", "first\n", 1), "tab");
    let review = world.one_pending();
    let phone = json!({ "viewport": { "width": 390, "height": 844 }, "hasTouch": true, "isMobile": true });
    for (options, touch) in [(json!({}), false), (phone, true)] {
        let page = browser.context(&options).page();
        follow(&page, &link(&world));
        open(&page, &review);
        assert!(!page.text(PROPOSED).contains("line 77"), "folded");
        if touch {
            page.click("article [data-action='find']");
        } else {
            page.press("/");
        }
        page.until("document.activeElement.dataset.field === 'find'");
        page.types("line 77");
        page.press("Enter");
        page.says(PROPOSED, "line 77");
        page.sees(".cm-searchMatch-selected");
        page.press("Escape");
        page.sees_no("[data-field='find']");
    }
}

#[test]
fn forty_reviews_at_once_are_told_in_few_words_and_all_of_them() {
    let browser = Browser::start();
    let world = World::new();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let page = visit(&world, &browser);
    page.evaluate(&format!(
        "window.heard = []; new MutationObserver(() => heard.push(document.querySelector(\"{STATUS}\").textContent))
            .observe(document.querySelector(\"{STATUS}\"), {{ childList: true, characterData: true, subtree: true }}); 0"
    ));
    for n in 0..40 {
        let path = world.file(&format!("{n}.txt"), "one\n");
        agent.propose(&path, "two\n", &format!("tab {n}"));
    }
    page.until("document.title === '(40) Linkspan'");
    let heard = page.waits("all are told", |page| {
        let heard = page.evaluate("heard").as_array().unwrap().clone();
        let told = |text: &serde_json::Value| match text.as_str().unwrap().split_once(" new review") {
            Some((number, _)) => number.parse::<usize>().unwrap(),
            None => usize::from(text.as_str().unwrap().starts_with("New review")),
        };
        (heard.iter().map(told).sum::<usize>() == 40).then_some(heard)
    });
    sleep(Duration::from_millis(700));
    assert_eq!(page.evaluate("heard.length"), heard.len(), "and not again");
    assert!(heard.len() <= 8, "{heard:?}");
}
