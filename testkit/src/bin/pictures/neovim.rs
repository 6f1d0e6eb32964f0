//! Pictures of Neovim with the plugin: a review as a diff, one in the inline style, and a question for permission.

use linkspan_testkit::{Neovim, NeovimVersion, OwnAgent, World};
use serde_json::json;

use crate::terminal::{ansi, write_screen};
use crate::{LIMITER, LIMITER_AFTER};

const COLUMNS: u16 = 120;
const ROWS: u16 = 34;

pub(crate) fn make() {
    diff();
    inline();
    question();
}

fn write(neovim: &mut Neovim<'_>, world: &World, name: &str) {
    let shown = neovim.tty().with_screen(ansi);
    write_screen(name, shown.replace(world.workspace().to_str().unwrap(), "/home/ada/project"));
}

fn start<'a>(world: &'a World, config: &str) -> Neovim<'a> {
    world.file("src/limiter.rs", LIMITER);
    let config = format!("vim.o.statusline = [[ %f%=%{{v:lua.require'linkspan'.status()}} ]]\n{config}");
    let neovim = Neovim::builder(world, NeovimVersion::Newest)
        .config(&config)
        .in_terminal(COLUMNS, ROWS)
        .file("src/limiter.rs")
        .start();
    neovim.sees("the file", "return vim.fn.expand('%:t') == 'limiter.rs'");
    neovim
}

fn diff() {
    let world = World::new();
    let mut neovim = start(&world, "");
    let mut claude = neovim.claude();
    claude.propose(&world.path_str("src/limiter.rs"), LIMITER_AFTER, "limiter.rs");
    neovim.looks_at_review();
    neovim.presses("+/pop_front<CR>:nohlsearch<CR>");
    neovim.presses("gCdoes this drop the newest?<CR>");
    neovim.tty().sees("» does this drop the newest?");
    neovim.presses(":<BS>");
    neovim.tty().sees_no("Comment on line");
    write(&mut neovim, &world, "neovim-diff.svg");
}

fn inline() {
    let world = World::new();
    let mut neovim = start(&world, "require('linkspan').setup({ style = 'inline' })");
    let mut claude = neovim.claude();
    claude.propose(&world.path_str("src/limiter.rs"), LIMITER_AFTER, "limiter.rs");
    neovim.looks_at_review();
    neovim.tty().sees("hunk 1 of");
    neovim.presses(":<BS>");
    write(&mut neovim, &world, "neovim-inline.svg");
}

fn question() {
    let world = World::new();
    let mut neovim = start(&world, "");
    let mut agent = OwnAgent::join(&world, "picture");
    agent.call("runInTerminal", json!({ "command": "cargo test --package gateway -- limiter" }));
    neovim.tty().sees("1  Allow once");
    neovim.presses(":<BS>");
    write(&mut neovim, &world, "neovim-question.svg");
}
