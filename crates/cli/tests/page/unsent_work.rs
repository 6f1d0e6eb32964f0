//! Text and comments that the user has not sent yet: they are neither lost nor put over the changes of others, and a
//! decision is about the text that was shown.

use serde_json::json;

use crate::support::review_page::*;
use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const TWO_HUNKS: &str = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
const NEWER: &str = "one\n2\n3\n4\n5\n6\n7\n8\nneuf\n";
const KEEP: &str = "article [data-action='keep-text']";
const SHOW_PROPOSAL: &str = "article [data-action='show-proposal']";
const BRING_BACK: &str = "article [data-action='restore-edit']";
const LEFT: &str = "article input[data-hunk]:not(:checked)";

/// Writes at the end of the proposed text.
#[track_caller]
fn write(page: &Page, text: &str) {
    page.click(PROPOSED);
    page.press("Control+End");
    page.types(text);
    page.says(PROPOSED, text.trim());
}

/// The user edits one of two reviews, and looks at the other while the agent changes the first.
struct Away {
    _agent_of_other: Agent,
    agent: Agent,
    call: i64,
    page: Page,
    review: String,
    _editor: Editor,
    _browser: Browser,
}

fn away() -> (World, Away) {
    let browser = Browser::start();
    let world = World::new();
    let (path, other) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    let mut agent_of_other = Agent::claude(&world, editor.port());
    agent_of_other.propose(&other, "two\n", "tab");
    let other = editor.shown(&other).review;
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    page.click("article [data-action='edit']");
    write(&page, "mine\n");
    open(&page, &other);
    editor.edit(&shown, "three\n");
    open(&page, &shown.review);
    let review = shown.review;
    let away = Away {
        _agent_of_other: agent_of_other,
        agent,
        call,
        page,
        review,
        _editor: editor,
        _browser: browser,
    };
    (world, away)
}

#[test]
fn a_text_on_an_older_proposal_does_not_silently_take_the_newer_ones_place() {
    let (_world, mut away) = away();
    away.page.sees(SHOW_PROPOSAL);
    away.page.says(PROPOSED, "mine");
    away.page.evaluate(&format!("document.querySelector(\"{ACCEPT}\").click()"));
    away.page.press("a");
    away.page.click(KEEP);
    look();
    away.page.sees(&row_in(&away.review, "pending"));
    away.page.click(ACCEPT);
    assert_eq!(away.agent.texts(away.call), ["FILE_SAVED", "two\nmine\n"], "the user's own text");
}

#[test]
fn a_text_that_was_set_aside_is_offered_whenever_its_review_is_open() {
    let (_world, mut away) = away();
    let page = &away.page;
    page.click(SHOW_PROPOSAL);
    page.says(PROPOSED, "three");
    page.sees(BRING_BACK);
    let other = rows(page).into_iter().find(|id| *id != away.review).unwrap();
    open(page, &other);
    page.sees_no(&format!("{}:not([hidden])", BRING_BACK));
    open(page, &away.review);
    page.says(PROPOSED, "three");
    page.click(BRING_BACK);
    page.says(PROPOSED, "mine");
    look();
    page.click(ACCEPT);
    assert_eq!(away.agent.texts(away.call), ["FILE_SAVED", "two\nmine\n"]);
}

#[test]
fn text_that_is_typed_while_the_page_asks_which_text_to_keep_is_kept_too() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    page.click("article [data-action='edit']");
    write(&page, "mine\n");
    editor.edit(&shown, "three\n");
    page.sees(KEEP);
    write(&page, "and more\n");
    page.click(KEEP);
    page.says(PROPOSED, "and more");
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\nmine\nand more\n"]);
}

#[test]
fn a_hunk_left_out_after_the_set_was_asked_about_is_not_taken_with_it() {
    let browser = Browser::start();
    let world = World::new();
    let paths = ["a.txt", "b.txt"].map(|name| world.file(name, BASE));
    let _serve = world.serve();
    let mut agent = OwnAgent::join(&world, "s3t");
    let [first, second] = paths.map(|path| {
        agent.call("proposeChange", json!({ "path": path, "newText": TWO_HUNKS, "set": "both" }))
    });
    let reviews = world.pending(2);
    let page = visit(&world, &browser);
    open(&page, &reviews[0]);
    page.click("nav [data-set] [data-action='accept-set']");
    page.says("[data-action='confirm-set']", "2 files");
    look();
    page.click("role=checkbox[name='Include hunk 1 of 2']");
    page.click("[data-action='confirm-set']");
    page.says("[data-action='confirm-set']", "1 file");
    assert_eq!(world.pending(2), reviews, "asked again");
    page.until("document.querySelector(\"[data-action='confirm-set']\").ariaDisabled !== 'true'");
    look();
    page.click("[data-action='confirm-set']");
    assert_eq!(agent.told(second)["outcome"], "accepted");
    assert!(agent.waits(first), "the user has not finished");
    assert_eq!(page.count(LEFT), 1);
    page.click(ACCEPT);
    assert_eq!(agent.told(first)["outcome"], "accepted");
    assert_eq!(world.read_text("a.txt"), TWO_HUNKS.replace("one", "1"));
    assert_eq!(world.read_text("b.txt"), TWO_HUNKS);
}

#[test]
fn nothing_can_be_chosen_while_a_decision_is_on_its_way() {
    let fixture = ReviewFixture::about(Agent::nexus3, BASE, TWO_HUNKS);
    let ReviewFixture { world, _others, mut agent, call, review, page } = fixture;
    hold(&page, "reviews/decide");
    page.click(ACCEPT);
    holds_one(&page);
    page.sees(&row_in(&review, "settling"));
    page.evaluate("document.querySelector('article input[data-hunk]')?.click()");
    look();
    assert_eq!(page.count(LEFT), 0, "what is shown is what was decided");
    page.evaluate("document.activeElement.blur()");
    for key in ["x", "c", "e"] {
        page.press(key);
        look();
        assert_eq!(page.count(LEFT), 0, "after {key}");
    }
    assert_eq!(page.count("article [data-field='comment']"), 0);
    assert_eq!(page.count("article [data-action='discard-edit']:not([hidden])"), 0, "no editing");
    release(&page);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    page.sees(&row_in(&review, "accepted"));
    assert_eq!(page.count(LEFT), 0);
    assert_eq!(world.read_text("a.txt"), TWO_HUNKS);
}

#[test]
fn a_decision_that_was_not_taken_leaves_the_choice_to_be_made_again() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, TWO_HUNKS, "tab");
    let shown = editor.shown(&path);
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    page.click("role=checkbox[name='Include hunk 1 of 2']");
    hold(&page, "reviews/decide");
    page.click(ACCEPT);
    holds_one(&page);
    editor.edit(&shown, NEWER);
    release(&page);
    page.says("article [data-notice]", "Your decision was not submitted");
    page.says(PROPOSED, "neuf");
    assert_eq!(page.count(LEFT), 1, "the hunk that stayed the same stays left out");
    page.click("role=checkbox[name='Include hunk 1 of 2']");
    assert_eq!(page.count(LEFT), 0, "it can be chosen again");
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", NEWER]);
}

#[test]
fn an_edit_that_is_undone_while_the_page_asks_can_still_be_brought_back() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    page.click("article [data-action='edit']");
    write(&page, "mine");
    editor.edit(&shown, "three\n");
    page.sees(KEEP);
    page.click(PROPOSED);
    page.press("Control+z");
    page.until(&format!("!document.querySelector(\"{PROPOSED}\").textContent.includes('mine')"));
    look();
    page.press("Control+y");
    page.says(PROPOSED, "mine");
    page.click(KEEP);
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\nmine"]);
}

#[test]
fn every_text_that_was_set_aside_is_kept() {
    let fixture = ReviewFixture::about(Agent::claude, "one\n", "two\n");
    let ReviewFixture { world: _world, _others, mut agent, call, review: _review, page } = fixture;
    for text in ["first\n", "second\n"] {
        page.click("article [data-action='edit']");
        write(&page, text);
        page.click("article [data-action='discard-edit']");
        page.until(&format!(
            "!document.querySelector(\"{PROPOSED}\").textContent.includes('{}')",
            text.trim()
        ));
    }
    for text in ["second", "first"] {
        page.click(BRING_BACK);
        page.says(PROPOSED, text);
        page.click("article [data-action='discard-edit']");
        page.click("article [data-action='forget-edit']");
    }
    page.click("article [data-action='edit']");
    write(&page, "third\n");
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\nthird\n"]);
}

#[test]
fn a_rejection_names_the_lines_of_the_proposal_also_after_the_user_began_to_edit() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\n", "one\ntwo\nthree\n");
    let ReviewFixture { world: _world, _others, mut agent, call, review: _review, page } = fixture;
    page.click("article [data-action='edit']");
    page.click(PROPOSED);
    page.press("Control+Home");
    page.types("mine\nand more\n");
    page.click(&format!("{PROPOSED} .cm-line:has-text('two')"));
    page.click("article [data-action='comment']");
    page.fill("article [data-field='comment']", "why two?");
    page.click("article [data-action='save-comment']");
    page.click(REJECT);
    assert_eq!(agent.texts(call), ["DIFF_REJECTED", "line 2: why two?"]);
}
