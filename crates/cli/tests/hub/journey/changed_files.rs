//! The user's unsaved text wins, and a file that changed during a review is never overwritten.

use std::fs;

use linkspan_editor_api as api;

use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const PROPOSED: &str = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn unsaved_text_is_what_a_change_is_about() {
    let world = World::new();
    let path = world.file("a.txt", "saved\n");
    let mut editor = Editor::attach(&world);
    editor.open(&path, "typed\n", true);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "typed\nproposed\n", "tab");
    let shown = editor.shown(&path);
    assert_eq!(shown.base, "typed\n");
    assert_eq!((shown.hunks.len(), shown.hunks[0].before_count), (1, 0), "{shown:?}");
    editor.accept(&shown);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "typed\nproposed\n"]);
}

#[test]
fn an_open_document_is_changed_by_its_editor_and_unsaved_text_stays_unsaved() {
    let world = World::new();
    let path = world.file("a.txt", "saved\n");
    let mut editor = Editor::attach(&world);
    editor.open(&path, "typed\n", true);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "typed\nproposed\n", "tab");
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    let document = editor.document(&path);
    assert_eq!((document.text.as_str(), document.dirty), ("typed\nproposed\n", true));
    assert_eq!(world.read_text("a.txt"), "saved\n", "what the person did not save, we do not save");
}

#[test]
fn an_open_saved_document_is_changed_and_saved_by_its_editor() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    editor.open(&path, "one\n", false);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    editor.accept(&shown);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    let document = editor.document(&path);
    assert_eq!((document.text.as_str(), document.dirty, document.version), ("two\n", false, 2));
}

#[test]
fn what_the_editor_made_of_it_on_saving_is_what_was_accepted() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    editor.open(&path, "one\n", false);
    editor.state().save_rule = Some(|text| text.replace("  ", " "));
    let mut agent = OwnAgent::join(&world, "k3y");
    let call = agent.propose(&path, "one  two\n");
    editor.accept(&editor.shown(&path));
    let told = agent.told(call);
    assert_eq!(world.read_text("a.txt"), "one two\n");
    assert_eq!((&told["text"], &told["taken"]), (&"one two\n".into(), &"edited".into()));
    assert!(told["personDiff"].as_str().unwrap().contains("+one two"), "{told}");
    world.run(&["undo", "--last"]).ok();
    assert_eq!(world.read_text("a.txt"), "one\n");
}

#[test]
fn a_file_with_mixed_line_endings_is_not_written_through_an_editor_that_makes_them_alike() {
    let world = World::new();
    let path = world.file("a.txt", "1\r\n2\n3\r\n");
    let mut editor = Editor::attach(&world);
    editor.state().uniform = true;
    editor.open(&path, "1\n2\n3\n", false);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "1\ntwo\n3\n", "tab");
    editor.accept(&editor.shown(&path));
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "1\r\ntwo\n3\r\n");
    editor.open(&path, "1\ntwo\n3\n", false);
    world.run(&["undo", "--last"]).ok();
    assert_eq!(world.read_text("a.txt"), "1\r\n2\n3\r\n");
    assert_eq!(editor.state().applied, []);
}

#[test]
fn line_endings_that_were_accepted_do_not_get_lost_in_the_editor() {
    let world = World::new();
    let path = world.file("a.txt", "1\n2\n");
    let mut editor = Editor::attach(&world);
    editor.state().uniform = true;
    editor.open(&path, "1\n2\n", false);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "1\r\n2\r\n", "tab");
    editor.accept(&editor.shown(&path));
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "1\r\n2\r\n");
}

#[test]
fn an_editor_that_fails_to_write_is_told_to_whoever_decided_and_to_the_agent() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    editor.open(&path, "one\n", false);
    editor.state().failing.insert("edits/apply".into(), "the document is read-only".into());
    let mut agent = OwnAgent::join(&world, "k3y");
    let call = agent.propose(&path, "two\n");
    let shown = editor.shown(&path);
    let decided = world.run(&["accept", &shown.review]);
    assert_ne!(decided.code, 0);
    assert!(decided.stderr.contains("the document is read-only"), "{decided:?}");
    let error = agent.told(call)["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.contains("accepted, but could not be written: the document is read-only"), "{error}");
    assert!(
        matches!(editor.hidden(&shown.review), api::HideReason::Failed { error } if error.contains("read-only"))
    );
    assert_eq!(world.read_text("a.txt"), "one\n");
}

#[test]
fn a_review_whose_folder_was_closed_waits_and_says_so() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    let change = |folders: Vec<String>| {
        editor.send(&api::FoldersChanged { folders: folders.clone() });
        eventually("the folders have changed", || {
            (world.status()["windows"][0]["folders"] == serde_json::json!(folders)).then_some(())
        });
    };
    change(Vec::new());
    let refused = world.run(&["accept", &shown.review]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("outside the workspace folders"), "{refused:?}");
    assert_eq!(world.read_text("a.txt"), "one\n");
    change(vec![world.workspace().to_str().unwrap().to_owned()]);
    editor.accept(&shown);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn text_typed_during_a_review_is_merged() {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let mut editor = Editor::attach(&world);
    editor.open(&path, BASE, false);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, PROPOSED, "tab");
    let shown = editor.shown(&path);
    editor.open(&path, &BASE.replace('8', "eight"), true);
    editor.accept(&shown);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(editor.document(&path).text, PROPOSED.replace('8', "eight"));
}

#[test]
fn a_change_on_disk_elsewhere_in_the_file_is_merged() {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let serve = world.serve();
    let merged = PROPOSED.replace('8', "eight");

    let mut claude = Agent::claude(&world, serve.port);
    let call = claude.propose(&path, PROPOSED, "tab");
    let review = world.one_pending();
    fs::write(&path, BASE.replace('8', "eight")).unwrap();
    world.run(&["accept", &review]).ok();
    assert_eq!(claude.texts(call), ["FILE_SAVED", &merged]);

    fs::write(&path, BASE).unwrap();
    let mut nexus3 = Agent::nexus3(&world, serve.port);
    let call = nexus3.propose(&path, PROPOSED, "tab");
    let review = world.one_pending();
    fs::write(&path, BASE.replace('8', "eight")).unwrap();
    world.run(&["accept", &review]).ok();
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), merged);
}

#[test]
fn a_change_on_disk_at_the_same_place_is_shown_and_asked_again() {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let editor = Editor::attach(&world);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, PROPOSED, "tab");
    let shown = editor.shown(&path);
    let theirs = BASE.replace('2', "zwei");
    fs::write(&path, &theirs).unwrap();
    let asked = world.run(&["accept", &shown.review, "--json"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    assert_eq!(asked.json()["result"]["kind"], "askAgain");
    assert_eq!(world.read_text("a.txt"), theirs, "never overwritten");
    let again = editor.shown_revision(&shown.review, shown.revision + 1);
    assert_eq!((again.base.as_str(), again.conflicts.len()), (theirs.as_str(), 1));
    assert_eq!(world.reviews()[0]["phase"], "conflict");
    let diff = world.run(&["show", &shown.review]).ok().stdout;
    assert!(diff.contains("zwei") && diff.contains("two"), "{diff}");
    // Now the user has seen it, and accepts it knowingly.
    world.run(&["accept", &shown.review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), PROPOSED);
}

#[test]
fn a_file_that_someone_else_made_meanwhile_is_asked_about() {
    let world = World::new();
    let serve = world.serve();
    let path = world.path_str("new.txt");
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "mine\n", "tab");
    let review = world.one_pending();
    fs::write(&path, "theirs\n").unwrap();
    assert_eq!(world.run(&["accept", &review]).code, 1);
    assert_eq!(world.read_text("new.txt"), "theirs\n");
    let shown = world.json(&["show", &review]);
    assert_eq!((&shown["shown"]["newFile"], &shown["shown"]["base"]), (&false.into(), &"theirs\n".into()));
    world.run(&["reject", &review]).ok();
    assert_eq!(agent.texts(call), ["DIFF_REJECTED"]);
    assert_eq!(world.read_text("new.txt"), "theirs\n");
}

#[test]
fn a_file_that_vanished_meanwhile_is_asked_about() {
    let world = World::new();
    let serve = world.serve();
    let path = world.file("a.txt", "one\n");
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    fs::remove_file(&path).unwrap();
    assert_eq!(world.run(&["accept", &review]).code, 1);
    assert!(!world.path("a.txt").exists());
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}

#[test]
fn a_decision_on_an_older_revision_is_refused() {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, PROPOSED, "tab");
    let shown = editor.shown(&path);
    fs::write(&path, BASE.replace('2', "zwei")).unwrap();
    assert_eq!(world.run(&["accept", &shown.review]).code, 1);
    let now = shown.revision + 1;
    for verdict in [api::Verdict::Accept, api::Verdict::Reject { reason: None }] {
        let stale = editor.decide(&shown, verdict);
        assert_eq!(stale, api::ReviewDecidedResult::Stale { revision: now });
    }
    let again = editor.shown_revision(&shown.review, now);
    editor.reject(&again);
    assert_eq!(agent.texts(call), ["DIFF_REJECTED", "tab"]);
}

#[test]
fn hunks_chosen_in_the_editor_are_the_ones_taken() {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "1\ntwo\n3\n4\n5\n6\n7\neight\n9\n", "tab");
    let shown = editor.shown(&path);
    let hunks = vec![shown.hunks[1].id.clone()];
    let none = editor.decide(&shown, api::Verdict::AcceptHunks { hunks: vec![] });
    assert!(matches!(none, api::ReviewDecidedResult::Refused { .. }), "{none:?}");
    assert_eq!(editor.decide(&shown, api::Verdict::AcceptHunks { hunks }), api::ReviewDecidedResult::Taken);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "1\n2\n3\n4\n5\n6\n7\neight\n9\n"]);
}

#[test]
fn unsaved_text_counts_when_the_editor_names_its_folder_by_a_symlink() {
    let world = World::new();
    world.file("a.txt", "saved\n");
    let named = world.root().join("by-another-name");
    std::os::unix::fs::symlink(world.workspace(), &named).unwrap();
    let mut editor = EditorBuilder::new(&world).folders(std::slice::from_ref(&named)).attach();
    let path = named.join("a.txt").to_str().unwrap().to_owned();
    editor.open(&path, "typed\n", true);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "typed\nproposed\n", "tab");
    let shown = editor.shown(&path);
    assert_eq!(shown.base, "typed\n");
    editor.accept(&shown);
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(editor.document(&path).text, "typed\nproposed\n");
    assert_eq!(world.read_text("a.txt"), "saved\n");
}

#[test]
fn unsaved_text_that_the_editor_does_not_let_us_change_is_not_passed_over() {
    let world = World::new();
    let path = world.file("a.txt", "saved\n");
    let capabilities = api::Capabilities { documents: true, reviews: true, ..api::Capabilities::default() };
    let mut editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    editor.open(&path, "typed\n", true);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "typed\nproposed\n", "tab");
    let shown = editor.shown(&path);
    let result = editor.decide(&shown, api::Verdict::Accept);
    assert!(
        matches!(&result, api::ReviewDecidedResult::Refused { message, .. } if message.contains("save")),
        "{result:?}"
    );
    assert_eq!(world.read_text("a.txt"), "saved\n");
    // The user saves it, and accepts again.
    editor.open(&path, "typed\n", false);
    world.file("a.txt", "typed\n");
    editor.accept(&editor.shown(&path));
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "typed\nproposed\n");
}

#[test]
fn an_editor_that_hangs_costs_a_deadline_and_not_the_change() {
    let world = World::with_config("[limits]\ncall_seconds = 1\n");
    let path = world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    let mut agent = Agent::nexus3(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    editor.state().silent = vec!["document/text".into(), "documents/list".into()];
    let answer = agent.call("getOpenEditors", serde_json::json!({}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("in time"), "{answer}");
    let other = agent.propose(&path, "three\n", "other tab");
    assert!(agent.answer(other).get("error").is_some());
    let refused = world.run(&["accept", &shown.review]);
    assert_eq!(refused.code, 5, "{refused:?}");
    assert_eq!(world.one_pending(), shown.review);
    editor.state().silent.clear();
    world.run(&["accept", &shown.review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
}
