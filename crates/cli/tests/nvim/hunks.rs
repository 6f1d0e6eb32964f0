//! Part of a change: two hunks of three, by marks and by taking lines back as in any diff of Neovim.

use serde_json::json;

use crate::scenarios;
use crate::support::*;

scenarios! {
    two_hunks_of_three_by_marks
    accepting_includes_hunks_without_a_mark
    a_hunk_taken_back_with_do_is_not_accepted
    two_hunks_of_three_in_the_inline_style
    an_agent_can_ask_for_the_inline_style
}

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";
const FIRST_AND_THIRD: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

/// With an agent that writes the file itself and with one that does not.
#[track_caller]
fn check(version: NeovimVersion, config: &str, choose: impl Fn(&Neovim<'_>)) {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let neovim = Neovim::builder(&world, version).config(config).start();
    let mut claude = neovim.claude();
    let call = claude.propose(&path, THREE_HUNKS, "tab");
    neovim.looks_at_review();
    choose(&neovim);
    assert_eq!(claude.texts(call), ["FILE_SAVED", FIRST_AND_THIRD]);
    neovim.sees_no_review();
    assert_eq!(world.read_text("a.txt"), BASE, "one writer: the agent");

    let mut nexus3 = neovim.nexus3();
    let call = nexus3.propose(&path, THREE_HUNKS, "tab");
    neovim.looks_at_review();
    choose(&neovim);
    let received = nexus3.texts(call);
    assert_eq!(received[0], "FILE_SAVED");
    assert!(received[1].contains("\n-six\n+6\n"), "the hunk that was left out follows: {received:?}");
    assert_eq!(world.read_text("a.txt"), FIRST_AND_THIRD);
    neovim.sees_no_review();
}

fn sees_mark(neovim: &Neovim<'_>, label: &str) {
    let code = format!(
        "for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {{ details = true }})) do
            if mark[4].virt_text and mark[4].virt_text[1][1] == {label:?} then return true end
        end"
    );
    neovim.sees(label, &code);
}

fn two_hunks_of_three_by_marks(version: NeovimVersion) {
    check(version, "", |neovim| {
        neovim.presses("gg+");
        sees_mark(neovim, "hunk 1 of 3: accepted");
        neovim.presses("6G-");
        sees_mark(neovim, "hunk 2 of 3: left out");
        // Two changes of mind.
        neovim.presses("--");
        sees_mark(neovim, "hunk 2 of 3: left out");
        neovim.presses("G+");
    });
}

fn accepting_includes_hunks_without_a_mark(version: NeovimVersion) {
    check(version, "", |neovim| {
        neovim.presses("gg]c-");
        sees_mark(neovim, "hunk 2 of 3: left out");
        neovim.presses("ga");
    });
}

fn a_hunk_taken_back_with_do_is_not_accepted(version: NeovimVersion) {
    check(version, "", |neovim| {
        neovim.presses("6Gdo");
        neovim.sees("the old line", "return vim.api.nvim_buf_get_lines(0, 5, 6, true)[1] == '6'");
        neovim.presses("ga");
    });
}

fn two_hunks_of_three_in_the_inline_style(version: NeovimVersion) {
    check(version, "require('linkspan').setup({ style = 'inline' })", |neovim| {
        assert_eq!(neovim.lua("return #vim.api.nvim_tabpage_list_wins(0)"), 1);
        let removed = neovim.lua(
            "return vim.iter(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })):map(function(mark)
                return mark[4].virt_lines and mark[4].virt_lines[1][1][1]
            end):totable()",
        );
        assert_eq!(removed, json!(["- 1", "- 6", "- 12"]));
        neovim.presses("6G-");
        sees_mark(neovim, "hunk 2 of 3: left out");
        neovim.presses("ga");
    });
}

fn an_agent_can_ask_for_the_inline_style(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let neovim = Neovim::builder(&world, version).start();
    let mut clio = Agent::open(neovim.port(), &[]).unwrap();
    clio.send_json(&json!({ "type": "connect" }));
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "connected");
    let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 3 } });
    let edits = json!([{ "range": range, "oldText": "two", "newText": "2" }]);
    clio.send_json(&json!({ "type": "proposeDiff", "file": path, "edits": edits }));
    neovim.looks_at_review();
    assert_eq!(neovim.lua("return #vim.api.nvim_tabpage_list_wins(0)"), 1);
    neovim.presses("ga");
    assert_eq!(clio.next_frame(DEADLINE).unwrap()["type"], "diffAccepted");
    neovim.sees_no_review();
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\n");
}
