//! Two Claude Codes change different lines of one file. The second refuses by itself to write, although its change was
//! accepted: it has not read what the first one wrote.

use super::{Claude, ClaudeVersion, edit, read, with_each_version};
use crate::support::{World, eventually};

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

with_each_version! {
    what_the_second_agent_does_not_write_is_not_on_disk
}

fn what_the_second_agent_does_not_write_is_not_on_disk(version: ClaudeVersion) {
    let world = World::new();
    let path = world.file("a.txt", BEFORE);
    let serve = world.serve();
    let mut first = Claude::start(&world, version, [read(&path), edit(&path, "two\n", "2\n")]);
    let mut second = Claude::start(&world, version, [read(&path), edit(&path, "eight\n", "8\n")]);
    first.prompt("please change it");
    let of_first = world.one_pending();
    second.prompt("please change it");
    let of_second = world.pending(2).remove(1);

    world.run(&["accept", &of_first]).ok();
    assert!(!first.model.result(1).is_error);
    let after = BEFORE.replace("two", "2");
    assert_eq!(world.read_text("a.txt"), after);

    let said = world.run(&["accept", &of_second]).ok();
    let told = second.model.result(1);
    let refused = told.text.contains("has changed since") || told.text.contains("unexpectedly modified");
    assert!(told.is_error && refused, "{told:?}");
    assert_eq!(world.read_text("a.txt"), after);

    assert!(said.stdout.contains("not on disk"), "a plain accepted: {said:?}");
    eventually("the history says it, too", || {
        let listed = world.run(&["history"]).ok().stdout;
        let line = listed.lines().find(|line| line.starts_with(&format!("{of_second} "))).unwrap().to_owned();
        line.contains("accepted, not on disk, in a terminal").then_some(())
    });
    drop((first, second, serve));
}
