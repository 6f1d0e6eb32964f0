//! Two pages at once, and events elsewhere while one is open: the first decision wins, and news never changes the user's
//! position, focus or draft.

use serde_json::json;

use crate::support::review_page::*;
use crate::support::*;

#[test]
fn of_two_pages_the_first_decision_wins_and_the_other_says_so() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let (first, second) = (visit(&world, &browser), visit(&world, &browser));
    open(&first, &review);
    open(&second, &review);
    first.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    let said = second.says(OUTCOME, "ccepted");
    assert!(said.contains("browser page"), "where: {said}");
    second.sees(&row_in(&review, "accepted"));
    second.press("r");
    second.evaluate(&format!("document.querySelector(\"{REJECT}\")?.click()"));
    agent.is_served();
    assert_eq!(agent.next_frame(std::time::Duration::from_millis(50)), None, "one answer, not two");
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn a_decision_that_crosses_another_is_told_of_it() {
    let fixture = ReviewFixture::about(Agent::nexus3, "one\n", "two\n");
    let ReviewFixture { world, _others, mut agent, call, review, page } = fixture;
    // The user clicked before the page received the other decision: it was busy until then.
    page.evaluate(&format!(
        "setTimeout(() => {{
            const until = performance.now() + 1500;
            while (performance.now() < until);
            document.querySelector(\"{ACCEPT}\").click();
        }}); 0"
    ));
    let decided = world.command(&["reject", &review, "--comment", "first"]).output().unwrap();
    assert!(decided.status.success());
    assert_eq!(agent.texts(call)[0], "DIFF_REJECTED");
    page.says(OUTCOME, "ejected");
    page.sees(&row_in(&review, "rejected"));
    assert_eq!(world.read_text("a.txt"), "one\n");
}

#[test]
fn a_new_review_announces_itself_and_takes_nothing_away() {
    let browser = Browser::start();
    let world = World::new();
    let first = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&first, "two\n", "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    page.until("document.title === '(1) Linkspan'");
    open(&page, &review);
    page.fill(REASON, "half a sentence");
    let place = "(() => { const at = document.querySelector(\"article [data-action='accept']\").getBoundingClientRect();
                  return [at.x, at.y, document.activeElement.dataset.field].join() })()";
    let before = page.evaluate(place);
    let row_before =
        page.evaluate(&format!("document.querySelector(\"{}\").getBoundingClientRect().y", row(&review)));
    let second = world.file("src/b.txt", "one\n");
    agent.propose(&second, "two\n", "tab 2");
    let reviews = world.pending(2);
    page.sees(&row(&reviews[1]));
    page.until("document.title === '(2) Linkspan'");
    let said = page.says("[role='status']", "src/b.txt");
    assert!(said.contains("claude-code"), "{said}");
    assert_eq!(rows(&page), reviews, "at the end");
    page.sees(&article(&review));
    assert_eq!(page.evaluate(place), before, "neither the focus nor what is under the pointer");
    let row_after =
        page.evaluate(&format!("document.querySelector(\"{}\").getBoundingClientRect().y", row(&review)));
    assert_eq!(row_after, row_before);
    page.types(" more");
    assert_eq!(page.evaluate(&format!("document.querySelector(\"{REASON}\").value")), "half a sentence more");
}

#[test]
fn a_newer_revision_is_shown_with_a_message_and_keeps_the_work_of_the_user() {
    let browser = Browser::start();
    let world = World::new();
    let base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let path = world.file("a.txt", base);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "tab");
    let shown = editor.shown(&path);
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    page.click("role=checkbox[name='Include hunk 1 of 2']");
    page.fill(REASON, "still thinking");
    let edited = editor.edit(&shown, "one\n2\n3\n4\n5\n6\n7\n8\nneuf\n");
    page.sees(&format!("{}[data-revision='{}']", article(&shown.review), edited.revision));
    page.sees("article [data-notice]");
    page.says(PROPOSED, "neuf");
    assert_eq!(page.evaluate(&format!("document.querySelector(\"{REASON}\").value")), "still thinking");
    assert_eq!(
        page.count("article input[data-hunk]:checked"),
        1,
        "the hunk that stayed the same stays left out"
    );
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "1\n2\n3\n4\n5\n6\n7\n8\nneuf\n"]);
}

#[test]
fn text_of_the_user_is_not_lost_to_a_newer_proposal() {
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
    page.click(PROPOSED);
    page.press("Control+End");
    page.types("mine\n");
    editor.edit(&shown, "three\n");
    page.sees("article [data-notice]");
    page.says(PROPOSED, "mine");
    page.click("role=button[name='Keep my text']");
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\nmine\n"]);
}

#[test]
fn a_change_that_its_agent_takes_back_can_be_decided_no_more() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    open(&page, &review);
    agent.call("closeTab", json!({ "tabName": "tab" }));
    page.sees(&row_in(&review, "withdrawn"));
    page.sees(OUTCOME);
    page.press("a");
    look();
    page.sees(&row_in(&review, "withdrawn"));
    assert_eq!(world.read_text("a.txt"), "one\n");
}
