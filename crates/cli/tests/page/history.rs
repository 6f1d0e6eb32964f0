//! History in the page: where each change was decided, and undo.

use crate::support::review_page::*;
use crate::support::*;

#[test]
fn what_was_accepted_in_the_page_is_taken_back_in_it() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\r\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\r\n", "tab");
    let page = visit(&world, &browser);
    open(&page, &world.one_pending());
    page.click(ACCEPT);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read("a.txt"), b"two\r\n");
    page.click("[data-action='history']");
    let entry = page.says("[data-entry]", "a.txt");
    assert!(entry.contains("nexus3") && entry.contains("browser page"), "who and where: {entry}");
    look();
    page.click("[data-entry] [data-action='undo']");
    eventually("the bytes from before", || (world.read("a.txt") == b"one\r\n").then_some(()));
    page.waits("both are in the history", |page| (page.count("[data-entry]") == 2).then_some(()));
    page.click("[data-action='reviews']");
    page.sees("nav[aria-label='Reviews']");
}

#[test]
fn what_can_not_be_taken_back_says_why_and_stays() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    let page = visit(&world, &browser);
    page.click("[data-action='history']");
    page.says("[data-entry]", "a.txt");
    world.file("a.txt", "two\nand more\n");
    look();
    page.click("[data-entry] [data-action='undo']");
    page.waits("it says why", |page| {
        let said = page.text("body").to_lowercase();
        (said.contains("changed") || said.contains("other") || said.contains("not ")).then_some(())
    });
    page.sees("[data-toast][role='alert'], [data-entry] [role='alert']");
    assert_eq!(world.read_text("a.txt"), "two\nand more\n");
}

#[test]
fn the_history_goes_on_while_it_is_looked_at() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let page = visit(&world, &browser);
    page.click("[data-action='history']");
    agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    world.run(&["reject", &review, "--comment", "no, thank you"]).ok();
    let entry = page.says("[data-entry]", "a.txt");
    assert!(entry.contains("no, thank you"), "{entry}");
}
