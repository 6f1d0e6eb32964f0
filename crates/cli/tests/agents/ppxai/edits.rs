//! Changes: the user decides each, and each is written once.

use linkspan_editor_api as api;
use serde_json::{Value, json};

use super::editor::selection;
use crate::support::editor::all_capabilities;
use crate::support::ppxai::{Client, error, result};
use crate::support::*;

fn edit(from: (u32, u32), to: (u32, u32), text: &str) -> Value {
    let place = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
    json!({ "range": { "start": place(from), "end": place(to) }, "newText": text })
}

fn fixture() -> (World, Editor, String) {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let capabilities = api::Capabilities { format: true, ..all_capabilities() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    (world, editor, path)
}

#[test]
fn an_edit_is_shown_and_once_accepted_is_in_the_file() {
    let (world, mut editor, path) = fixture();
    let args = json!({
        "path": "a.txt",
        "edits": [edit((1, 0), (1, 3), "TWO"), edit((0, 0), (0, 0), "zero\n")],
        "description": "Shout",
        "confirmed": true,
    });
    let waiting = Client::new(editor.port()).asking("ide.apply_edit", args);
    let shown = editor.shown(&path);
    assert_eq!((shown.label.as_str(), shown.proposed.as_str()), ("Shout", "zero\none\nTWO\nthree\n"));
    assert_eq!(world.read_text("a.txt"), "one\ntwo\nthree\n", "not confirmed yet");
    editor.accept(&shown);
    let told = result(waiting.join().unwrap());
    assert_eq!(
        (&told["applied"], &told["accepted"], &told["path"]),
        (&json!(true), &json!(true), &json!("a.txt"))
    );
    assert_eq!((&told["content"], &told["taken"]), (&json!("zero\none\nTWO\nthree\n"), &json!("all")));
    assert_eq!(world.read_text("a.txt"), "zero\none\nTWO\nthree\n");
}

/// ppxai's client raises an error only if `success` is false.
#[test]
fn a_rejection_fails_the_call_and_says_why() {
    let (world, mut editor, path) = fixture();
    editor.state().selection = Some(selection(&path, "two", (1, 0), (1, 3)));
    let edits = json!([edit((0, 0), (0, 3), "1")]);
    editor.state().scripted.insert("document/format".into(), json!({ "edits": edits }));
    for (tool, args) in [
        ("ide.apply_edit", json!({ "path": "a.txt", "content": "x\n" })),
        ("ide.insert_text", json!({ "path": "a.txt", "line": 1, "text": "x" })),
        ("ide.replace_selection", json!({ "text": "2" })),
        ("ide.format_document", json!({ "path": "a.txt" })),
        ("ide.show_diff", json!({ "path": "a.txt", "content": "x\n" })),
    ] {
        editor.state().shown.clear();
        let waiting = Client::new(editor.port()).asking(tool, args);
        let shown = editor.shown(&path);
        let decision = api::Decision {
            verdict: api::Verdict::Reject { reason: Some("not like this".into()) },
            comments: vec![api::ReviewComment { line: 1, text: "too short".into() }],
            write_here: false,
        };
        let decided =
            api::ReviewDecided { review: shown.review, revision: shown.revision, digest: None, decision };
        assert_eq!(editor.request(&decided), Ok(api::ReviewDecidedResult::Taken));
        let answer = waiting.join().unwrap();
        let (code, message) = error(&answer);
        assert_eq!((code.as_str(), &answer["success"]), ("REJECTED", &json!(false)), "{tool}");
        for said in ["a.txt", "not like this", "line 1: too short"] {
            assert!(message.contains(said), "{tool}: {message}");
        }
        let told = &answer["result"];
        assert_eq!((&told["applied"], &told["accepted"]), (&json!(false), &json!(false)), "{tool}");
        assert_eq!(told["reason"], "not like this", "{tool}");
    }
    assert_eq!(world.read_text("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn what_the_person_made_of_it_is_what_is_written_and_told() {
    let (world, mut editor, path) = fixture();
    let waiting = Client::new(editor.port())
        .asking("ide.apply_edit", json!({ "path": "a.txt", "content": "proposed\n" }));
    let shown = editor.shown(&path);
    let shown = editor.edit(&shown, "mine\n");
    editor.accept(&shown);
    let told = result(waiting.join().unwrap());
    assert_eq!((&told["content"], &told["taken"]), (&json!("mine\n"), &json!("edited")));
    assert_eq!(world.read_text("a.txt"), "mine\n");
}

#[test]
fn edits_that_do_not_fit_change_nothing_and_say_why() {
    let (world, editor, _) = fixture();
    let mut client = Client::new(editor.port());
    let stale = {
        let mut stale = edit((1, 0), (1, 3), "TWO");
        stale["oldText"] = json!("zwei");
        stale
    };
    for (args, code) in [
        (json!({ "path": "a.txt", "edits": [stale] }), "STALE_EDIT"),
        (json!({ "path": "a.txt", "edits": [edit((9, 0), (9, 0), "x")] }), "INVALID_ARGUMENT"),
        (json!({ "path": "a.txt", "edits": [edit((1, 2), (1, 1), "x")] }), "INVALID_ARGUMENT"),
        (
            json!({ "path": "a.txt", "edits": [edit((0, 0), (1, 1), "x"), edit((1, 0), (1, 2), "y")] }),
            "INVALID_ARGUMENT",
        ),
        (json!({ "path": "a.txt", "edits": [{ "range": {} }] }), "INVALID_ARGUMENT"),
        (
            json!({ "path": "a.txt", "edits": [edit((0, 0), (0, 0), "x")], "content": "y" }),
            "INVALID_ARGUMENT",
        ),
        (json!({ "path": "a.txt" }), "INVALID_ARGUMENT"),
        (json!({ "path": "a.txt", "edits": [] }), "INVALID_ARGUMENT"),
        (json!({ "files": [] }), "INVALID_ARGUMENT"),
        (
            json!({ "files": [{ "path": "a.txt", "content": "" }, { "path": "a.txt", "content": "" }] }),
            "INVALID_ARGUMENT",
        ),
        (
            json!({ "files": [{ "path": "a.txt", "content": "" }, { "path": "./a.txt", "content": "" }] }),
            "INVALID_ARGUMENT",
        ),
        (json!({ "path": "/etc/passwd", "content": "" }), "OUTSIDE_WORKSPACE"),
        (json!({ "path": ".env", "content": "" }), "DENIED"),
    ] {
        let (found, message) = client.error("ide.apply_edit", args.clone());
        assert_eq!(found, code, "{args}: {message}");
    }
    let many: Vec<Value> = (0..65).map(|n| json!({ "path": format!("{n}.txt"), "content": "" })).collect();
    assert_eq!(client.error("ide.apply_edit", json!({ "files": many })).0, "INVALID_ARGUMENT");
    assert!(editor.state().shown.is_empty());
    assert_eq!(world.read_text("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn a_set_of_files_is_answered_when_all_are_decided() {
    let (world, mut editor, path) = fixture();
    let args = json!({ "files": [
        { "path": "a.txt", "edits": [edit((0, 0), (0, 3), "ONE")] },
        { "path": "new/b.txt", "content": "fresh\n" },
    ] });
    let waiting = Client::new(editor.port()).asking("ide.apply_edit", args);
    let (a, b) = (editor.shown(&path), editor.shown(&world.path_str("new/b.txt")));
    assert!(a.set.is_some() && a.set == b.set);
    editor.accept(&a);
    editor.reject(&b);
    let answer = waiting.join().unwrap();
    let (code, message) = error(&answer);
    assert_eq!(code, "REJECTED");
    assert!(message.contains("new/b.txt") && message.contains("a.txt was written"), "{message}");
    let told = &answer["result"];
    assert_eq!((&told["applied"], &told["accepted"]), (&json!(false), &json!(false)));
    let files: Vec<_> =
        told["files"].as_array().unwrap().iter().map(|file| (&file["path"], &file["applied"])).collect();
    assert_eq!(files, [(&json!("a.txt"), &json!(true)), (&json!("new/b.txt"), &json!(false))]);
    assert_eq!(world.read_text("a.txt"), "ONE\ntwo\nthree\n");
    assert!(!world.path("new/b.txt").exists());
}

#[test]
fn text_is_inserted_where_it_is_said_or_where_the_cursor_is() {
    let (world, mut editor, path) = fixture();
    let args = json!({ "text": "1.5\n", "path": "a.txt", "line": 2 });
    let waiting = Client::new(editor.port()).asking("ide.insert_text", args);
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(result(waiting.join().unwrap())["content"], "one\n1.5\ntwo\nthree\n");
    editor.state().selection = Some(selection(&path, "", (3, 5), (3, 5)));
    editor.state().shown.clear();
    let waiting = Client::new(editor.port()).asking("ide.insert_text", json!({ "text": "!" }));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(result(waiting.join().unwrap())["applied"], true);
    assert_eq!(world.read_text("a.txt"), "one\n1.5\ntwo\nthree!\n");
    let mut client = Client::new(editor.port());
    assert_eq!(
        client.error("ide.insert_text", json!({ "text": "x", "path": "a.txt" })).0,
        "INVALID_ARGUMENT"
    );
}

#[test]
fn the_selection_is_replaced_if_it_still_is_what_was_selected() {
    let (world, mut editor, path) = fixture();
    editor.state().selection = Some(selection(&path, "two", (1, 0), (1, 3)));
    let waiting = Client::new(editor.port()).asking("ide.replace_selection", json!({ "text": "2" }));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(result(waiting.join().unwrap())["path"], "a.txt");
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\n");
    let mut client = Client::new(editor.port());
    assert_eq!(client.error("ide.replace_selection", json!({ "text": "2" })).0, "STALE_EDIT");
}

#[test]
fn what_a_formatter_would_change_is_proposed() {
    let (world, mut editor, path) = fixture();
    let edits = json!([edit((0, 0), (0, 3), "1")]);
    editor.state().scripted.insert("document/format".into(), json!({ "edits": edits }));
    let waiting = Client::new(editor.port()).asking("ide.format_document", json!({ "path": "a.txt" }));
    let shown = editor.shown(&path);
    assert_eq!((shown.label.as_str(), shown.proposed.as_str()), ("Format a.txt", "1\ntwo\nthree\n"));
    editor.accept(&shown);
    assert_eq!(result(waiting.join().unwrap())["applied"], true);
    assert_eq!(world.read_text("a.txt"), "1\ntwo\nthree\n");
    editor.state().selection = Some(selection(&path, "", (0, 0), (0, 0)));
    editor.state().scripted.insert("document/format".into(), json!({ "edits": [] }));
    let told = Client::new(editor.port()).result("ide.format_document", json!({}));
    assert_eq!((&told["applied"], &told["accepted"]), (&json!(false), &json!(true)));
    assert!(told["reason"].is_string(), "{told}");
    assert_eq!(
        Client::new(editor.port()).error("ide.format_document", json!({ "path": "b" })).0,
        "NOT_FOUND"
    );
}

#[test]
fn a_shown_diff_writes_nothing_and_permits_exactly_that_edit_once() {
    let (world, mut editor, path) = fixture();
    let waiting =
        Client::new(editor.port()).asking("ide.show_diff", json!({ "path": "a.txt", "content": "new\n" }));
    let shown = editor.shown(&path);
    editor.accept(&shown);
    let told = result(waiting.join().unwrap());
    assert_eq!(
        (&told["applied"], &told["accepted"], &told["content"]),
        (&json!(false), &json!(true), &json!("new\n"))
    );
    assert_eq!(world.read_text("a.txt"), "one\ntwo\nthree\n");
    let mut client = Client::new(editor.port());
    let told = client.result("ide.apply_edit", json!({ "path": "a.txt", "content": "new\n" }));
    assert_eq!(told["applied"], true, "it was accepted before");
    assert_eq!(world.read_text("a.txt"), "new\n");
    editor.state().shown.clear();
    let waiting = client.asking("ide.apply_edit", json!({ "path": "a.txt", "content": "newer\n" }));
    let shown = editor.shown(&path);
    editor.reject(&shown);
    assert_eq!(error(&waiting.join().unwrap()).0, "REJECTED");
}

#[test]
fn two_given_texts_are_compared_under_a_name() {
    let (world, mut editor, _) = fixture();
    let args = json!({ "path": "idea.txt", "original": "a\n", "modified": "b\n" });
    let waiting = Client::new(editor.port()).asking("ide.show_diff", args);
    let shown = editor.shown(&world.path_str("idea.txt"));
    editor.reject(&shown);
    assert_eq!(error(&waiting.join().unwrap()).0, "REJECTED");
    assert!(!world.path("idea.txt").exists());
    let mut client = Client::new(editor.port());
    let args = json!({ "path": "idea.txt", "original": "a\n" });
    assert_eq!(client.error("ide.show_diff", args).0, "INVALID_ARGUMENT");
}

#[test]
fn who_goes_away_while_a_person_thinks_gets_the_same_review_again() {
    let (world, mut editor, path) = fixture();
    let args = json!({ "path": "a.txt", "edits": [edit((0, 0), (0, 0), "zero\n")] });
    let body = json!({ "id": 1, "tool": "ide.apply_edit", "args": args }).to_string();
    let mut client = Client::new(editor.port());
    client.write("POST /ide/execute", &body);
    let first = editor.shown(&path);
    drop(client);
    eventually("the client is gone", || {
        world.status()["windows"][0]["agents"].as_array()?.is_empty().then_some(())
    });
    let waiting = Client::new(editor.port()).asking("ide.apply_edit", args.clone());
    eventually("it is back", || {
        (!world.status()["windows"][0]["agents"].as_array()?.is_empty()).then_some(())
    });
    assert_eq!(world.one_pending(), first.review);
    editor.accept(&first);
    assert_eq!(result(waiting.join().unwrap())["review"], first.review.as_str());
    assert_eq!(world.read_text("a.txt"), "zero\none\ntwo\nthree\n");
}

#[test]
fn an_edit_that_was_accepted_while_its_client_was_away_is_not_made_twice() {
    let (world, mut editor, path) = fixture();
    let args = json!({ "path": "a.txt", "edits": [edit((0, 0), (0, 0), "zero\n")] });
    let body = json!({ "id": 1, "tool": "ide.apply_edit", "args": args }).to_string();
    let mut client = Client::new(editor.port());
    client.write("POST /ide/execute", &body);
    let first = editor.shown(&path);
    drop(client);
    eventually("the client is gone", || {
        world.status()["windows"][0]["agents"].as_array()?.is_empty().then_some(())
    });
    editor.accept(&first);
    eventually("it is written", || (world.read_text("a.txt") == "zero\none\ntwo\nthree\n").then_some(()));
    let told = Client::new(editor.port()).result("ide.apply_edit", args);
    assert_eq!((&told["applied"], &told["review"]), (&json!(true), &json!(first.review)));
    assert_eq!(world.read_text("a.txt"), "zero\none\ntwo\nthree\n");
}

#[test]
fn a_file_that_is_not_text_is_not_edited() {
    let (world, editor, _) = fixture();
    world.file("image.png", [0x89, b'P', 0, 0xff]);
    let answer =
        Client::new(editor.port()).call("ide.apply_edit", json!({ "path": "image.png", "content": "" }));
    assert_eq!(error(&answer).0, "NOT_TEXT");
}
