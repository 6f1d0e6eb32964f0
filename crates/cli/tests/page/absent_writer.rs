//! The agent should write the accepted text, and does not: it left before the decision, or it received it and did
//! nothing. The page says so, and offers to let the hub write the file.

use crate::support::review_page::*;
use crate::support::*;

const NOTICE: &str = "article [data-notice]";
const META: &str = "article .meta";

/// Text of the accept button, and its tooltip.
fn accept_button(page: &Page) -> (String, String) {
    let title = page.evaluate(&format!("document.querySelector(\"{ACCEPT}\").title"));
    (page.text(ACCEPT), title.as_str().unwrap().to_owned())
}

#[test]
fn the_page_says_that_the_agent_left_and_writes_its_change() {
    let fixture = ReviewFixture::about(Agent::claude, "one\n", "two\n");
    let ReviewFixture { world, _others, agent, call: _call, review, page } = fixture;
    assert_eq!(accept_button(&page), ("Accept".into(), "Accept (a)".into()));
    agent.drop_socket();
    page.says(ACCEPT, "Write file");
    let (_, title) = accept_button(&page);
    assert_eq!(title, "claude-code no longer waits, so Linkspan will write the file. (a)");
    page.says(META, "agent gone");
    page.says(&row(&review), "agent gone");
    look();
    page.click(ACCEPT);
    page.says(OUTCOME, "Accepted here.");
    page.sees(&row_in(&review, "accepted"));
    assert_eq!(world.read("a.txt"), b"two\n");
    page.click("[data-action='history']");
    let entry = page.says("[data-entry]", "a.txt");
    assert!(entry.contains("Accepted in") && !entry.contains("not on disk"), "{entry}");
}

#[test]
fn an_agent_that_is_back_writes_itself() {
    let fixture = ReviewFixture::about(Agent::claude, "one\n", "two\n");
    let ReviewFixture { world, _others, agent, call: _call, review, page } = fixture;
    agent.drop_socket();
    page.says(ACCEPT, "Write file");
    let mut agent = Agent::claude(&world, _others.0.port);
    let call = agent.propose(&world.path_str("a.txt"), "two\n", "tab");
    page.waits("it is the agent's again", |page| (accept_button(page).0 == "Accept").then_some(()));
    // The list is drawn after the review.
    page.waits("its row says so too", |page| {
        (!page.text(&row(&review)).contains("agent gone")).then_some(())
    });
    look();
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\n"]);
    assert_eq!(world.read("a.txt"), b"one\n", "one writer: the agent");
}

/// The page learns that the agent left only by the answer to its decision.
#[test]
fn a_plain_accept_is_never_said_to_be_accepted_when_nothing_was_written() {
    let fixture = ReviewFixture::about(Agent::claude, "one\n", "two\n");
    let ReviewFixture { world, _others, agent, call: _call, review, page } = fixture;
    hold(&page, "reviews/decide");
    page.click(ACCEPT);
    holds_one(&page);
    agent.drop_socket();
    eventually("the hub knows", || (world.reviews()[0]["ownerGone"] == true).then_some(()));
    release(&page);
    page.says(NOTICE, "Not submitted: claude-code no longer waits for the answer");
    page.sees(&row_in(&review, "pending"));
    page.says(ACCEPT, "Write file");
    assert!(!page.text("body").contains("ccepted"), "{}", page.text("body"));
    assert_eq!(world.read("a.txt"), b"one\n");
    look();
    page.click(ACCEPT);
    page.says(OUTCOME, "Accepted here.");
    assert_eq!(world.read("a.txt"), b"two\n");
}

#[test]
fn what_the_agent_does_not_write_is_said_to_be_not_on_disk() {
    let fixture = ReviewFixture::about(Agent::claude, "one\n", "two\n");
    let ReviewFixture { world, _others, mut agent, call, review, page } = fixture;
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\n"]);
    page.says(OUTCOME, "Accepted here, not on disk yet: claude-code was told to write it.");
    page.says(
        "[data-toast][role='alert']",
        "a.txt is accepted, but not on disk: claude-code has not written it.",
    );
    page.says(OUTCOME, "Accepted here, not on disk: claude-code has not written it.");
    page.says(&row(&review), "not on disk");
    page.click("[data-action='history']");
    page.says("[data-entry]", "not on disk");
    world.file("a.txt", "two\n");
    page.click("[data-action='reviews']");
    page.click("[data-action='history']");
    page.waits("the history knows that it is there", |page| {
        (!page.text("[data-entry]").contains("not on disk")).then_some(())
    });
    page.click("[data-action='reviews']");
    page.says(OUTCOME, "Accepted here.");
}
