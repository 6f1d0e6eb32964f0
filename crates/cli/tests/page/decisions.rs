//! Decisions in the page: what the agent receives, and what the file holds.

use std::process::Stdio;

use serde_json::json;

use crate::support::review_page::*;
use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";
const TWO_OF_THREE: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

#[test]
fn an_accepted_change_is_the_agents_to_write() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("src/a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let link = link(&world);
    let page = browser.page();
    follow(&page, &link);
    let shown = page.text(&row(&review));
    assert!(
        ["a.txt", "src"].iter().all(|part| shown.contains(part)) && shown.contains("claude-code"),
        "{shown}"
    );
    assert_eq!(page.evaluate("location.hash"), "", "the secret does not stay in the address");
    open(&page, &review);
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\n"]);
    page.sees(&row_in(&review, "accepted"));
    page.says(OUTCOME, "ccepted");
    assert_eq!(world.read_text("src/a.txt"), "one\n", "one writer: the agent");
    is_well(&page, origin(&link));
}

#[test]
fn an_accepted_change_is_in_the_file_before_an_agent_that_does_not_write_hears_of_it() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\n", "two\n");
    let ReviewFixture { world, _others, mut agent, call, review: _review, page } = fixture;
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn a_rejection_carries_its_reason() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\n", "two\n");
    let ReviewFixture { world, _others, mut agent, call, review, page } = fixture;
    page.fill(REASON, "two is too many");
    page.click(REJECT);
    let told = agent.texts(call);
    assert_eq!(told[0], "DIFF_REJECTED");
    assert!(told[1].contains("two is too many"), "{told:?}");
    page.sees(&row_in(&review, "rejected"));
    page.says(OUTCOME, "ejected");
    assert_eq!(world.read_text("a.txt"), "one\n");
}

#[test]
fn two_hunks_of_three() {
    let fixture = ReviewFixture::about(Agent::nexus3, BASE, THREE_HUNKS);
    let ReviewFixture { world, _others, mut agent, call, review: _review, page } = fixture;
    let boxes = "article input[type=checkbox][data-hunk]";
    assert_eq!(page.count(boxes), 3);
    assert_eq!(page.count(&format!("{boxes}:checked")), 3, "accepted by default");
    page.click("role=checkbox[name='Include hunk 2 of 3']");
    assert_eq!(page.count(&format!("{boxes}:checked")), 2);
    page.click(ACCEPT);
    let told = agent.texts(call);
    assert_eq!(told[0], "FILE_SAVED");
    assert!(told[1].contains("\n-six\n+6\n"), "the omitted hunks follow: {told:?}");
    assert_eq!(world.read_text("a.txt"), TWO_OF_THREE);
}

#[test]
fn no_hunk_at_all_is_no_accept() {
    let fixture = ReviewFixture::about(Agent::nexus3, BASE, THREE_HUNKS);
    let ReviewFixture { world, _others, mut agent, call, review, page } = fixture;
    for hunk in 1..=3 {
        page.click(&format!("role=checkbox[name='Include hunk {hunk} of 3']"));
    }
    page.evaluate(&format!("document.querySelector(\"{ACCEPT}\").click()"));
    page.press("a");
    look();
    assert_eq!(world.one_pending(), review);
    page.click(REJECT);
    assert_eq!(agent.texts(call), ["DIFF_REJECTED"]);
    assert_eq!(world.read_text("a.txt"), BASE);
}

#[test]
fn a_text_of_the_users_own() {
    let fixture = ReviewFixture::about(Agent::claude, BASE, THREE_HUNKS);
    let ReviewFixture { world: _world, _others, mut agent, call, review: _review, page } = fixture;
    page.click("role=checkbox[name='Include hunk 2 of 3']");
    page.click("article [data-action='edit']");
    page.click(PROPOSED);
    page.press("Control+End");
    page.types("thirteen\nfourteen");
    page.click(ACCEPT);
    let mine = format!("{TWO_OF_THREE}thirteen\nfourteen");
    assert_eq!(agent.texts(call), ["FILE_SAVED", &mine], "what was left out, and what was typed");
    page.says(OUTCOME, "ccepted");
}

#[test]
fn edits_that_are_discarded_leave_the_proposal() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\n", "two\n");
    let ReviewFixture { world, _others, mut agent, call, review: _review, page } = fixture;
    page.click("article [data-action='edit']");
    page.click(PROPOSED);
    page.press("Control+End");
    page.types("not this");
    page.says(PROPOSED, "not this");
    page.click("article [data-action='discard-edit']");
    page.waits("the edit is gone", |page| (!page.text(PROPOSED).contains("not this")).then_some(()));
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn a_comment_on_a_line_goes_along_with_a_no() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\n", "one\ntwo\nthree\n");
    let ReviewFixture { world, _others, mut agent, call, review, page } = fixture;
    page.click(&format!("{PROPOSED} .cm-line:has-text('two')"));
    page.click("article [data-action='comment']");
    page.fill("article [data-field='comment']", "why two?");
    page.click("article [data-action='save-comment']");
    page.says("article [data-comment]", "why two?");
    page.click(REJECT);
    assert_eq!(agent.texts(call), ["DIFF_REJECTED", "line 2: why two?"]);
    page.sees(&row_in(&review, "rejected"));
    page.says("article [data-comment]", "why two?");
    let changing = "article :is([data-action='edit-comment'], [data-action='remove-comment'])";
    assert_eq!(page.count(changing), 0, "what was told is told");
    assert_eq!(world.read_text("a.txt"), "one\n");
}

#[test]
fn a_new_file_is_made_with_its_folders() {
    let browser = Browser::start();
    let world = World::new();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&world.path_str("src/deep/new.rs"), "fn main() {}\n", "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    assert!(page.text(&row(&review)).to_lowercase().contains("new file"));
    open(&page, &review);
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("src/deep/new.rs"), "fn main() {}\n");
}

/// Two files of one set, decided with the button of its header; returns the content of the files.
fn decide_set(action: &str) -> [String; 3] {
    let browser = Browser::start();
    let world = World::new();
    let paths = ["a.txt", "b.txt"].map(|name| world.file(name, "one\n"));
    let alone = world.file("alone.txt", "one\n");
    let serve = world.serve();
    let mut agent = OwnAgent::join(&world, "s3t");
    let calls = paths
        .clone()
        .map(|path| agent.call("proposeChange", json!({ "path": path, "newText": "two\n", "set": "both" })));
    world.pending(2);
    let other = agent.propose(&alone, "two\n");
    let reviews = world.pending(3);
    let page = visit(&world, &browser);
    assert_eq!(page.count("nav [data-set]"), 1, "one header for the two");
    look();
    page.click(&format!("nav [data-set] [data-action='{action}']"));
    page.sees("[data-action='confirm-set']");
    look();
    assert_eq!(world.pending(3), reviews, "asked first");
    page.click("[data-action='confirm-set']");
    let outcome = if action == "accept-set" { "accepted" } else { "rejected" };
    for (call, review) in calls.into_iter().zip(&reviews) {
        assert_eq!(agent.told(call)["outcome"], outcome);
        page.sees(&row_in(review, outcome));
    }
    assert_eq!(world.one_pending(), reviews[2], "not of the set");
    page.sees(&row_in(&reviews[2], "pending"));
    assert!(agent.waits(other));
    drop((agent, serve));
    ["a.txt", "b.txt", "alone.txt"].map(|name| world.read_text(name))
}

#[test]
fn a_whole_set_is_accepted_and_nothing_else() {
    let held = decide_set("accept-set");
    assert_eq!(held, ["two\n", "two\n", "one\n"]);
}

#[test]
fn a_whole_set_is_rejected() {
    let held = decide_set("reject-set");
    assert_eq!(held, ["one\n", "one\n", "one\n"]);
}

#[test]
fn a_click_right_after_something_came_up_under_the_pointer_decides_nothing() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    // In the page itself, because a click of the driver takes longer than the guarded time.
    page.evaluate(&format!(
        "new Promise(done => {{
            let cameAt;
            const press = () => {{
                document.querySelector(\"{ACCEPT}\")?.click();
                if (document.querySelector(\"{PROPOSED}\")) cameAt ??= performance.now();
                if (performance.now() - cameAt > 200) done(); else requestAnimationFrame(press);
            }};
            document.querySelector(\"{}\").click();
            press();
        }})",
        row(&review)
    ));
    page.sees(PROPOSED);
    look();
    assert_eq!(world.one_pending(), review);
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn what_a_command_decides_shows_at_once_and_nothing_moves() {
    let browser = Browser::start();
    let world = World::new();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    for (at, name) in ["a.txt", "b.txt", "c.txt"].iter().enumerate() {
        let path = world.file(name, "one\n");
        agent.propose(&path, "two\n", name);
        world.pending(at + 1);
    }
    let reviews = world.pending(3);
    let page = visit(&world, &browser);
    open(&page, &reviews[1]);
    let accept = world.command(&["accept", &reviews[1]]).stdout(Stdio::null()).spawn().unwrap();
    world::finish(accept).ok();
    page.sees(&row_in(&reviews[1], "accepted"));
    page.says(OUTCOME, "ccepted");
    assert_eq!(rows(&page), reviews, "a decided one stays where it is");
    page.sees(&article(&reviews[1]));
    page.click("[data-action='clear-decided']");
    page.waits("the decided one is gone", |page| {
        (rows(page) == [reviews[0].clone(), reviews[2].clone()]).then_some(())
    });
    assert_eq!(world.read_text("b.txt"), "two\n");
}
