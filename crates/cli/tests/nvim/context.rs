//! What agents learn about this Neovim: the selection, mentions, open files, diagnostics, and what language servers know.

use serde_json::{Value, json};

use crate::scenarios;
use crate::support::agent::texts;
use crate::support::*;

scenarios! {
    the_selection_arrives
    whole_lines_and_wide_characters_are_selected_as_others_count_them
    a_selection_is_kept_while_the_user_is_in_a_terminal
    a_mention_arrives
    open_files_are_listed_opened_and_closed
    diagnostics_before_and_after_a_fix
    language_servers_answer
}

const SERVER: &str = include_str!("server.lua");

fn selected(agent: &mut Agent, text: &str) -> Value {
    let found = agent.find(DEADLINE, |message| {
        message["method"] == "selection_changed" && message["params"]["text"] == text
    });
    found.unwrap_or_else(|| panic!("never selected: {text}"))["params"].clone()
}

fn the_selection_arrives(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut claude = neovim.claude();
    neovim.presses("2Gviw");
    let params = selected(&mut claude, "two");
    assert_eq!(params["filePath"], path);
    assert_eq!(params["selection"]["start"], json!({ "line": 1, "character": 0 }));
    assert_eq!(params["selection"]["end"], json!({ "line": 1, "character": 3 }));
    let current: Value =
        serde_json::from_str(&texts(&claude.call("getCurrentSelection", json!({})))[0]).unwrap();
    assert_eq!((&current["text"], &current["filePath"]), (&json!("two"), &json!(path)));
}

fn whole_lines_and_wide_characters_are_selected_as_others_count_them(version: NeovimVersion) {
    let world = World::new();
    world.file("a.txt", "é😀 two\nthree\nfour\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut claude = neovim.claude();
    neovim.presses("/two<CR>ve");
    let params = selected(&mut claude, "two");
    assert_eq!(params["selection"]["start"], json!({ "line": 0, "character": 4 }));
    assert_eq!(params["selection"]["end"], json!({ "line": 0, "character": 7 }));
    // From below to above, by lines.
    neovim.presses("<Esc>3GVk");
    let params = selected(&mut claude, "three\nfour");
    assert_eq!(params["selection"]["start"], json!({ "line": 1, "character": 0 }));
    assert_eq!(params["selection"]["end"], json!({ "line": 2, "character": 4 }));
}

fn a_selection_is_kept_while_the_user_is_in_a_terminal(version: NeovimVersion) {
    let world = World::new();
    world.file("a.txt", "one\ntwo\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut claude = neovim.claude();
    neovim.presses("2GV");
    selected(&mut claude, "two");
    neovim.runs("new | terminal");
    neovim.sees("a terminal", "return vim.bo.buftype == 'terminal'");
    let current: Value =
        serde_json::from_str(&texts(&claude.call("getLatestSelection", json!({})))[0]).unwrap();
    assert_eq!(current["text"], "two");
    let environment = neovim.lua("return { vim.env.CLAUDE_CODE_SSE_PORT, vim.env.LINKSPAN_WINDOW }");
    let window = world.status()["windows"][0]["window"].clone();
    assert_eq!(
        environment,
        json!([neovim.port().to_string(), window]),
        "agents started here find this Neovim"
    );
}

fn a_mention_arrives(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let other = world.file("other file.txt", "one\n");
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut claude = neovim.claude();
    neovim.presses("2GVj:Linkspan send<CR>");
    let mention = claude.notification("at_mentioned");
    assert_eq!(mention["params"], json!({ "filePath": path, "lineStart": 1, "lineEnd": 2 }));
    neovim.runs(r"Linkspan send other\ file.txt");
    let mention = claude.notification("at_mentioned");
    assert_eq!(mention["params"]["filePath"], json!(other));
    // In netrw, the file under the cursor.
    neovim.runs("Explore");
    neovim.sees("netrw", "return vim.bo.filetype == 'netrw'");
    neovim.presses("/a.txt<CR>:Linkspan send<CR>");
    let mention = claude.notification("at_mentioned");
    assert_eq!(mention["params"]["filePath"], json!(path));
    neovim.runs("Linkspan send missing.txt");
    neovim.says("missing.txt is not a file");
}

fn open_files_are_listed_opened_and_closed(version: NeovimVersion) {
    let world = World::new();
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\ntwo\nthree\n"));
    let neovim = Neovim::builder(&world, version).file("a.txt").start();
    let mut claude = neovim.claude();
    let arguments = json!({ "filePath": b, "startText": "two", "preview": false, "makeFrontmost": true });
    claude.call("openFile", arguments);
    neovim.sees("b.txt, at its line", "return vim.fn.expand('%:t') == 'b.txt' and vim.fn.line('.') == 2");
    let open = texts(&claude.call("getOpenEditors", json!({}))).remove(0);
    assert!(open.contains(&a) && open.contains(&b), "{open}");
    neovim.presses("ix<Esc>");
    neovim.sees("a change", "return vim.bo.modified");
    let dirty = texts(&claude.call("checkDocumentDirty", json!({ "filePath": b }))).remove(0);
    assert!(dirty.contains(r#""isDirty":true"#), "{dirty}");
    texts(&claude.call("saveDocument", json!({ "filePath": b })));
    assert_eq!(world.read_text("b.txt"), "one\nxtwo\nthree\n");
}

fn diagnostics_before_and_after_a_fix(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.judged", "é bad\n");
    let neovim = Neovim::builder(&world, version).config(SERVER).file("a.judged").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let before = agent.ask("getDiagnostics", json!({ "path": path }));
    let found = &before["files"][0];
    assert_eq!((&found["path"], &found["settled"]), (&json!(path), &json!(true)), "{before}");
    assert_eq!(
        found["diagnostics"],
        json!([{
            "message": "bad is not good",
            "severity": "error",
            "range": { "start": { "line": 0, "character": 2 }, "end": { "line": 0, "character": 5 } },
            "source": "judge",
            "code": "E7",
        }])
    );
    let call = agent.call("proposeChange", json!({ "path": path, "newText": "é good\n" }));
    neovim.looks_at_review();
    neovim.presses("ga");
    assert_eq!(agent.told(call)["outcome"], "accepted");
    let after = agent.ask("getDiagnostics", json!({ "path": path }));
    assert_eq!(after["files"][0]["diagnostics"], json!([]), "{after}");
}

fn language_servers_answer(version: NeovimVersion) {
    let world = World::new();
    let path = world.file("a.judged", "é name name\n");
    let _neovim = Neovim::builder(&world, version).config(SERVER).file("a.judged").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let at = json!({ "path": path, "line": 0, "character": 3 });
    let place = |from: u32, to: u32| {
        let range =
            json!({ "start": { "line": 0, "character": from }, "end": { "line": 0, "character": to } });
        json!({ "path": path, "range": range })
    };
    assert_eq!(agent.ask("getHover", at.clone())["contents"], json!(["column 4"]), "the server counts bytes");
    assert_eq!(agent.ask("getDefinition", at.clone())["locations"], json!([place(2, 6)]));
    assert_eq!(agent.ask("findReferences", at)["locations"], json!([place(2, 6), place(7, 11)]));
    let symbols = agent.ask("getSymbols", json!({ "path": path }));
    assert_eq!(
        symbols["symbols"],
        json!([{ "name": "name", "symbolKind": "function", "location": place(2, 6) }])
    );
}
