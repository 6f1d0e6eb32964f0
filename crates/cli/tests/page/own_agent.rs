//! Our own agent, `linkspan-agent`, in a terminal, and the page: what is decided in the page is in the file, and the
//! model is told exactly that.

use crate::support::review_page::*;
use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const TWO_HUNKS: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";
const FIRST_HUNK: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const QUESTION: &str = "Accept? [y]es";

/// The next change of the agent, open in the page.
#[track_caller]
fn opens_next(world: &World, page: &Page) -> String {
    let review = world.one_pending();
    open(page, &review);
    review
}

#[test]
fn what_is_decided_in_the_page_is_in_the_file_and_told_to_the_model() {
    let browser = Browser::start();
    let world = World::new();
    for name in ["all.txt", "part.txt", "mine.txt", "no.txt"] {
        world.file(name, BASE);
    }
    let serve = world.serve();
    let names = ["all.txt", "part.txt", "mine.txt", "no.txt"];
    let turns = names.map(|name| agent_terminal::writes(name, TWO_HUNKS)).into_iter();
    let model = Model::start(turns.chain([Turn::says("That is all.")]));
    let page = visit(&world, &browser);
    let mut tty = agent_terminal::start(&world, &model, &[]);
    tty.types("please\r");

    let review = opens_next(&world, &page);
    assert!(page.text(&row(&review)).contains("all.txt"));
    page.click(ACCEPT);
    let told = model.result(0);
    assert_eq!(told.text, "The user accepted the change. Changed all.txt: 2 lines added, 2 removed.");
    assert_eq!(world.read_text("all.txt"), TWO_HUNKS);

    opens_next(&world, &page);
    page.click("role=checkbox[name='Include hunk 2 of 2']");
    page.click(ACCEPT);
    let told = model.result(1).text;
    assert!(
        told.starts_with("The user accepted 1 of 2 parts of the change and rejected the rest."),
        "{told}"
    );
    assert!(told.contains("\n-twelve\n+12\n") && told.contains("\n12\t12\n"), "{told}");
    assert_eq!(world.read_text("part.txt"), FIRST_HUNK);

    opens_next(&world, &page);
    page.click("article [data-action='edit']");
    page.click(PROPOSED);
    page.press("Control+End");
    page.types("thirteen\n");
    page.click(ACCEPT);
    let told = model.result(2).text;
    assert!(told.starts_with("The user accepted the change with edits of their own."), "{told}");
    assert!(told.contains("\n+thirteen\n"), "{told}");
    assert_eq!(world.read_text("mine.txt"), format!("{TWO_HUNKS}thirteen\n"));

    opens_next(&world, &page);
    page.click(&format!("{PROPOSED} .cm-line:has-text('twelve')"));
    page.click("article [data-action='comment']");
    page.fill("article [data-field='comment']", "why in words?");
    page.click("article [data-action='save-comment']");
    page.says("article [data-comment]", "why in words?");
    page.fill(REASON, "keep the numbers");
    page.click(REJECT);
    let told = model.result(3);
    assert_eq!(
        told.text,
        "The user rejected the change; no.txt is unchanged.\nTheir reason: keep the numbers\n\
         Their comments on lines of your proposal:\n  line 12: why in words?"
    );
    assert_eq!(world.read_text("no.txt"), BASE);

    tty.sees("That is all.");
    assert_eq!(world.pending(0), Vec::<String>::new());
    agent_terminal::quit(tty);
    drop(serve);
}

#[test]
fn the_first_answer_counts_in_the_page_and_in_the_terminal() {
    let browser = Browser::start();
    let world = World::new();
    world.file("page.txt", "one\n");
    world.file("terminal.txt", "one\n");
    let serve = world.serve();
    let model = Model::start([
        agent_terminal::writes("page.txt", "two\n"),
        Turn::says("The first."),
        agent_terminal::writes("terminal.txt", "two\n"),
        Turn::says("The second."),
    ]);
    let page = visit(&world, &browser);
    let mut tty = agent_terminal::start(&world, &model, &[]);
    tty.types("please\r");
    let review = opens_next(&world, &page);
    tty.sees(QUESTION);
    page.click(ACCEPT);
    tty.sees("The first.");
    tty.sees_no(QUESTION);
    page.sees(&row_in(&review, "accepted"));
    assert_eq!(world.read_text("page.txt"), "two\n");

    tty.types("and more\r");
    let review = opens_next(&world, &page);
    tty.sees(QUESTION);
    tty.looks_and_types("y");
    tty.sees("The second.");
    // The hub records what the terminal decided like any other decision.
    page.sees(&row_in(&review, "accepted"));
    page.says(OUTCOME, "ccepted");
    assert_eq!(world.read_text("terminal.txt"), "two\n");
    for (number, name) in ["page.txt", "terminal.txt"].iter().enumerate() {
        let told = model.result(number).text;
        assert_eq!(told, format!("The user accepted the change. Changed {name}: 1 line added, 1 removed."));
    }
    agent_terminal::quit(tty);
    drop(serve);
}

#[test]
fn a_hub_that_is_killed_while_the_question_is_open_is_answered_when_it_is_back() {
    let browser = Browser::start();
    let mut world = World::new();
    world.may_leave_files();
    world.file("a.txt", BASE);
    let serve = world.serve();
    let model = Model::start([agent_terminal::writes("a.txt", TWO_HUNKS), Turn::says("That is all.")]);
    let page = visit(&world, &browser);
    let mut tty = agent_terminal::start(&world, &model, &[]);
    tty.types("please\r");
    let review = opens_next(&world, &page);
    tty.sees(QUESTION);
    watch_connection(&page);
    world.kill_hub();
    reconnects(&page);
    assert_eq!(world.one_pending(), review, "it is another review");
    tty.sees(QUESTION);
    open(&page, &review);
    page.click("role=checkbox[name='Include hunk 2 of 2']");
    page.click(ACCEPT);
    let told = model.result(0).text;
    assert!(told.starts_with("The user accepted 1 of 2 parts of the change"), "{told}");
    assert_eq!(world.read_text("a.txt"), FIRST_HUNK);
    tty.sees("That is all.");
    tty.sees_no(QUESTION);
    agent_terminal::quit(tty);
    drop(serve);
}

#[test]
fn an_agent_that_was_killed_and_is_continued_gets_the_answer_of_the_page_once() {
    let browser = Browser::start();
    let world = World::new();
    world.file("a.txt", "one\n");
    let serve = world.serve();
    let model = Model::start([agent_terminal::writes("a.txt", "two\n"), Turn::says("That is all.")]);
    let page = visit(&world, &browser);
    let mut tty = agent_terminal::start(&world, &model, &[]);
    tty.types("please\r");
    let review = opens_next(&world, &page);
    tty.sees(QUESTION);
    drop(tty);

    let tty = agent_terminal::start(&world, &model, &["--continue"]);
    tty.sees(QUESTION);
    assert_eq!(world.one_pending(), review, "it is another review");
    open(&page, &review);
    page.click(ACCEPT);
    tty.sees("That is all.");
    page.sees(&row_in(&review, "accepted"));
    assert_eq!(world.read_text("a.txt"), "two\n");
    let told = model.results();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].text.contains("The user accepted the change."), "{told:?}");
    assert_eq!(world.pending(0), Vec::<String>::new());
    agent_terminal::quit(tty);
    drop(serve);
}
