//! The page survives a restart of the hub: it reconnects by itself with everything that the user had, and says so when
//! it is not allowed to.

use crate::support::review_page::*;
use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";

#[test]
fn a_killed_hub_comes_back_under_an_open_page_and_nothing_is_lost() {
    let browser = Browser::start();
    let mut world = World::new();
    world.may_leave_files();
    let path = world.file("a.txt", BASE);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    agent.propose(&path, THREE_HUNKS, "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    open(&page, &review);
    page.click("role=checkbox[name='Include hunk 2 of 3']");
    page.fill(REASON, "not yet");
    page.click(&format!("{PROPOSED} .cm-line:has-text('twelve')"));
    page.click("article [data-action='comment']");
    page.fill("article [data-field='comment']", "a dozen");
    page.click("article [data-action='save-comment']");
    let dead = world.hub_pid();
    watch_connection(&page);
    world.kill_hub();
    reconnects(&page);
    assert_ne!(world.hub_pid(), dead);
    page.sees(&article(&review));
    assert_eq!(page.count("article input[data-hunk]:checked"), 2, "the omitted hunk");
    assert_eq!(page.evaluate(&format!("document.querySelector(\"{REASON}\").value")), "not yet");
    page.says("article [data-comment]", "a dozen");
    look();
    page.click(ACCEPT);
    page.sees(&row_in(&review, "accepted"));
    let expected = THREE_HUNKS.replace("six", "6");
    eventually("the accepted hunks are in the file", || (world.read_text("a.txt") == expected).then_some(()));
    drop(agent);
}

#[test]
fn a_hub_that_is_killed_before_it_gives_a_newer_revision_gives_it_when_it_is_back() {
    let browser = Browser::start();
    let mut world = World::new();
    world.may_leave_files();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::nexus3(&world, editor.port());
    agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    let page = visit(&world, &browser);
    open(&page, &shown.review);
    hold(&page, "reviews/get");
    editor.edit(&shown, "three\n");
    holds_one(&page);
    page.evaluate("held = null; 0");
    world.kill_hub();
    page.says(PROPOSED, "three");
    page.sees("body[data-connection='connected']");
    page.sees("article [data-notice]");
    drop(agent);
}

#[test]
fn a_decision_on_a_socket_that_is_just_closing_arrives_on_the_next() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    hold(&page, "nothing");
    open(&page, &review);
    page.evaluate(&format!("lastSocket.close(); document.querySelector(\"{ACCEPT}\").click()"));
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    page.sees(&row_in(&review, "accepted"));
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn a_page_that_is_loaded_again_needs_no_new_link() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    page.sees(&row(&review));
    page.reload();
    page.sees("body[data-connection='connected']");
    page.sees(&row(&review));
}

#[test]
fn a_link_is_good_once() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("secret-name.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&path, "two\n", "tab");
    world.one_pending();
    let link = link(&world);
    let first = browser.page();
    follow(&first, &link);
    let second = browser.page();
    assert_eq!(second.goto(&link), Ok(200));
    second.sees("body[data-connection='noaccess']");
    let said = second.text("body");
    assert!(said.contains("linkspan page"), "what to do: {said}");
    assert!(!said.contains("secret-name"), "{said}");
    assert_eq!(second.evaluate("location.hash"), "");
    first.reload();
    first.sees("body[data-connection='connected']");
}

#[test]
fn access_that_is_taken_back_ends_every_page_at_once() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    open(&page, &review);
    assert_eq!(ask(&world, "page/revoke")["sessions"], 1);
    page.sees("body[data-connection='ended']");
    assert!(page.text("body").contains("linkspan page"), "what to do");
    page.evaluate(&format!("document.querySelector(\"{ACCEPT}\")?.click()"));
    look();
    assert_eq!(world.one_pending(), review);
    page.reload();
    page.sees("body[data-connection='noaccess'], body[data-connection='ended']");
    assert_eq!(world.read_text("a.txt"), "one\n");
}

#[test]
fn a_hub_that_is_stopped_ends_the_access_to_it() {
    let browser = Browser::start();
    let world = World::new();
    let serve = world.serve();
    let page = visit(&world, &browser);
    drop(serve);
    world.run(&["hub", "stop", "--force"]).ok();
    page.sees("body[data-connection='lost'], body[data-connection='ended']");
}
