//! The start of the plugin, its command and its options.

use serde_json::json;

use crate::scenarios;
use crate::support::*;

scenarios! {
    loading_the_plugin_takes_no_time
    checkhealth_says_how_it_is_connected
    an_arriving_change_opens_by_itself_if_the_user_wants_that
    the_command_completes_what_it_knows
    nothing_happens_before_the_first_command_where_it_is_turned_off
}

fn loading_the_plugin_takes_no_time(version: NeovimVersion) {
    let world = World::new();
    // The fastest of several, because the machine has other things to do.
    let fastest = (0..5)
        .map(|_| {
            let times = world.path_str("times.txt");
            let neovim = Neovim::builder(&world, version).arg("--startuptime").arg(&times).start();
            neovim.runs("quitall!");
            let line = eventually("the times", || {
                let text = std::fs::read_to_string(&times).ok()?;
                text.lines().find(|line| line.contains("nvim/plugin/linkspan.lua")).map(str::to_owned)
            });
            std::fs::remove_file(&times).unwrap();
            // Clock, with what it loaded, by itself.
            line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
        })
        .fold(f64::INFINITY, f64::min);
    println!("{fastest} ms");
    assert!(fastest < 2.0, "{fastest} ms");
}

fn checkhealth_says_how_it_is_connected(version: NeovimVersion) {
    let world = World::new();
    let neovim = Neovim::builder(&world, version).start();
    neovim.runs("checkhealth linkspan");
    let connected = format!("connected: window w1, port {}", neovim.port());
    let text = neovim.sees(
        "the report",
        "local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')
        return text:find('0 changes to review', 1, true) and text",
    );
    let text = text.as_str().unwrap();
    assert!(text.contains(&connected) && !text.contains("ERROR") && !text.contains("WARNING"), "{text}");
    assert!(text.contains(&format!("agents find this Neovim in {}", world.workspace().display())), "{text}");
}

fn an_arriving_change_opens_by_itself_if_the_user_wants_that(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let config = "require('linkspan').setup({ open = 'tab', keys = { accept = '<CR>', comment = false } })";
    let neovim = Neovim::builder(&world, version).config(config).file("a.txt").start();
    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    neovim.sees("its tab page", "return vim.startswith(vim.api.nvim_buf_get_name(0), 'linkspan://')");
    assert_eq!(neovim.lua("return vim.fn.maparg('gC', 'n')"), "");
    neovim.presses("<CR>");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    neovim.sees_no_review();
    // Not while the user types.
    neovim.presses("itext");
    nexus3.propose(&path, "three\n", "tab");
    neovim.says("Look at it: :Linkspan review");
    assert_eq!(neovim.lua("return { vim.fn.mode(), vim.fn.expand('%:t') }"), json!(["i", "a.txt"]));
}

fn the_command_completes_what_it_knows(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut nexus3 = neovim.nexus3();
    nexus3.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    neovim.sees("a review", "return #require('linkspan.reviews').pending() == 1");
    let complete = |line: &str| neovim.lua(&format!("return vim.fn.getcompletion({line:?}, 'cmdline')"));
    assert_eq!(complete("Linkspan re"), json!(["reject", "restart", "review"]));
    assert_eq!(complete("Linkspan accept "), json!(["all", "set"]));
    assert_eq!(complete("Linkspan review "), json!([review]));
    assert_eq!(complete("Linkspan send a"), json!(["a.txt"]));
    neovim.runs("Linkspan nonsense");
    neovim.says("there is no `:Linkspan nonsense`");
}

fn nothing_happens_before_the_first_command_where_it_is_turned_off(version: NeovimVersion) {
    let world = World::new();
    let config = "require('linkspan').setup({ enabled = false })";
    let neovim = Neovim::builder(&world, version).config(config).not_attached().start();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(
        neovim.lua("return { require('linkspan').status(), package.loaded['linkspan.hub'] == nil }"),
        json!(["", true])
    );
    assert!(!world.socket().exists(), "no hub was started");
    neovim.runs("Linkspan status");
    neovim.is_attached();
}
