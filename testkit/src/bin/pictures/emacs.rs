//! Pictures of Emacs with `linkspan.el`: a review as a diff, and a question for permission.

use linkspan_testkit::{Emacs, OwnAgent, World};
use serde_json::json;

use crate::terminal::{ansi, write_screen};
use crate::{LIMITER, LIMITER_AFTER};

const COLUMNS: u16 = 110;
const ROWS: u16 = 34;

pub(crate) fn make() {
    diff();
    question();
}

fn write(emacs: &mut Emacs<'_>, world: &World, name: &str) {
    let shown = emacs.tty().with_screen(ansi);
    write_screen(name, shown.replace(world.workspace().to_str().unwrap(), "/home/ada/project"));
}

fn start(world: &World) -> Emacs<'_> {
    world.file("src/limiter.rs", LIMITER);
    let config = "(menu-bar-mode -1) (load-theme 'wombat t)";
    Emacs::builder(world).size(COLUMNS, ROWS).config(config).file("src/limiter.rs").start()
}

fn diff() {
    let world = World::new();
    let mut emacs = start(&world);
    let mut claude = emacs.claude();
    claude.propose(&world.path_str("src/limiter.rs"), LIMITER_AFTER, "limiter.rs");
    emacs.looks_at_review();
    emacs.presses("y");
    emacs.goes_to("+            self.seen.pop_front");
    emacs.types("cdoes this drop the newest?\r");
    emacs.tty().sees("» does this drop the newest?");
    emacs.lisp("(progn (message nil) t)");
    emacs.tty().sees_no("Comment on line");
    write(&mut emacs, &world, "emacs-diff.svg");
}

fn question() {
    let world = World::new();
    let mut emacs = start(&world);
    let mut agent = OwnAgent::join(&world, "picture");
    agent.call("runInTerminal", json!({ "command": "cargo test --package gateway -- limiter" }));
    emacs.sees("a question", "(and linkspan--questions t)");
    emacs.runs("linkspan-answer");
    emacs.tty().sees("cargo test --package gateway");
    emacs.lisp("(progn (message nil) t)");
    write(&mut emacs, &world, "emacs-question.svg");
}
