//! Large input: forty reviews, a hundred thousand lines, and more than a page should try to show.

use std::time::{Duration, Instant};

use crate::support::review_page::*;
use crate::support::*;

#[test]
fn forty_reviews_of_two_agents_are_each_answered_to_their_own_asker() {
    let browser = Browser::start();
    let world = World::new();
    let serve = world.serve();
    let mut agents = [Agent::nexus3(&world, serve.port), Agent::nexus3(&world, serve.port)];
    let mut calls = vec![];
    for n in 0..40 {
        let path = world.file(&format!("{n}/mod.rs"), format!("before {n}\n"));
        calls.push(agents[n % 2].propose(&path, &format!("after {n}\n"), &format!("tab {n}")));
    }
    let reviews = world.pending(40);
    let page = visit(&world, &browser);
    page.until("document.title === '(40) Linkspan'");
    assert_eq!(rows(&page), reviews, "in the order of arrival");
    let number_of = |review: &str| {
        let folder = page.text(&format!("{} .where bdi", row(review)));
        folder.parse::<usize>().unwrap_or_else(|_| panic!("{folder}"))
    };
    for at in [0, 7, 8, 39] {
        let n = number_of(&reviews[at]);
        open(&page, &reviews[at]);
        page.says(PROPOSED, &format!("after {n}"));
        let (verb, told, holds) = match at % 2 {
            0 => (ACCEPT, "FILE_SAVED", format!("after {n}\n")),
            _ => (REJECT, "DIFF_REJECTED", format!("before {n}\n")),
        };
        page.click(verb);
        assert_eq!(agents[n % 2].texts(calls[n])[0], told);
        assert_eq!(world.read_text(&format!("{n}/mod.rs")), holds);
    }
    page.until("document.title === '(36) Linkspan'");
    assert_eq!(rows(&page), reviews, "nothing moved");
    world.pending(36);
}

#[test]
fn a_hundred_thousand_lines_open_scroll_and_are_accepted_to_the_byte() {
    let browser = Browser::start();
    let world = World::new();
    let line = |n: usize| format!("line {n:06} of a file that is about five megabytes long\n");
    let before: String = (0..100_000).map(line).collect();
    let changed = |n: usize, kept: bool| match n {
        50_000 if !kept => "the middle\n".to_owned(),
        10 | 99_990 => format!("changed {n}\n"),
        _ => line(n),
    };
    let proposed: String = (0..100_000).map(|n| changed(n, false)).collect();
    let path = world.file("large.txt", &before);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, &proposed, "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    let started = Instant::now();
    open(&page, &review);
    let opened = started.elapsed();
    assert!(opened < Duration::from_secs(8), "opened after {opened:?}");
    assert!(page.count("*") < 5_000, "only what is near is in the page");
    page.says(PROPOSED, "changed 10");
    // The first is loaded, or none is yet.
    for _ in 0..3 {
        page.click("article [data-action='next-change']");
    }
    page.says(PROPOSED, "changed 99990");
    page.click("article [data-action='previous-change']");
    page.says(PROPOSED, "the middle");
    page.click("role=checkbox[name='Include hunk 2 of 3']");
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    let expected: String = (0..100_000).map(|n| changed(n, true)).collect();
    assert!(world.read("large.txt") == expected.as_bytes(), "byte for byte");
}

#[test]
fn what_is_too_large_to_show_is_named_and_not_fetched() {
    let browser = Browser::start();
    let world = World::new();
    let before = "x".repeat(63) + "\n";
    let before = before.repeat(9 * 1024 * 1024 / 64);
    let path = world.file("huge.txt", &before);
    let proposed = before.clone() + "one more\n";
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, &proposed, "tab");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    page.click(&row(&review));
    let said = page.says(&article(&review), &format!("linkspan show {review}"));
    assert!(said.contains('9'), "how large: {said}");
    assert_eq!(page.count(PROPOSED), 0);
    look();
    page.click(ACCEPT);
    page.sees("[data-action='accept-anyway']");
    look();
    assert_eq!(world.one_pending(), review, "asked first");
    page.click("[data-action='accept-anyway']");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert!(world.read("huge.txt") == proposed.as_bytes(), "byte for byte");
}

#[test]
fn hundreds_of_hunks_are_each_taken_or_left() {
    let browser = Browser::start();
    let world = World::new();
    let text = |changed: &dyn Fn(usize) -> bool| -> String {
        (0..3000)
            .map(|n| if n % 10 == 5 && changed(n) { format!("new {n}\n") } else { format!("{n}\n") })
            .collect()
    };
    let path = world.file("a.txt", text(&|_| false));
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, &text(&|_| true), "tab");
    let page = visit(&world, &browser);
    open(&page, &world.one_pending());
    page.click("role=checkbox[name='Include hunk 1 of 300']");
    page.click("role=checkbox[name='Include hunk 2 of 300']");
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), text(&|n| n > 15));
}
