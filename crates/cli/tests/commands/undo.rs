//! `linkspan history` and `linkspan undo`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use linkspan_editor_api as api;
use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::world::{alive, signal};
use crate::support::*;

const OLD: &str = "one\ntwo\nthree\n";
const NEW: &str = "one\n2\nthree\n";

/// A change of this file to this text, accepted; Claude Code then writes it itself.
#[track_caller]
fn accepted(world: &World, port: u16, dialect: WsDialect, path: &str, text: &str) {
    let mut agent = match dialect {
        WsDialect::Claude => Agent::claude(world, port),
        WsDialect::Nexus3 => Agent::nexus3(world, port),
    };
    let call = agent.propose(path, text, "the tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    let answer = agent.texts(call);
    if dialect == WsDialect::Claude {
        let text = &answer[1];
        // What Claude Code does to a new file.
        let new = !std::path::Path::new(path).exists();
        fs::write(path, if new { text.strip_suffix('\n').unwrap_or(text) } else { text }).unwrap();
    }
}

fn entries(world: &World) -> Vec<Value> {
    world.json(&["history"])["entries"].as_array().unwrap().clone()
}

/// The undo is refused with this code and this text, and the file stays.
#[track_caller]
fn refused(world: &World, args: &[&str], code: i32, words: &str) {
    let ran = world.run(args);
    assert_eq!(ran.code, code, "{ran:?}");
    assert!(ran.stderr.contains(words), "{ran:?}");
}

#[test]
fn a_change_is_taken_back_put_in_again_and_taken_back_whoever_wrote_it() {
    for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
        let world = World::new();
        let serve = world.serve();
        let path = world.file("a.txt", OLD);
        accepted(&world, serve.port, dialect, &path, NEW);
        assert_eq!(world.read_text("a.txt"), NEW);
        let entry = &entries(&world)[0];
        assert_eq!((&entry["undoable"], &entry["undone"]), (&Value::Bool(true), &Value::Bool(false)));
        assert_eq!((&entry["added"], &entry["path"]), (&Value::from(1), &Value::from(path.as_str())));
        let undone = world.json(&["undo", "--last"]);
        assert_eq!(world.read_text("a.txt"), OLD, "{dialect:?}");
        assert_eq!(undone["removedFile"], false);
        refused(&world, &["undo", undone["change"].as_str().unwrap()], 5, "is already undone");
        refused(&world, &["undo", "--last"], 4, "there is nothing to undo");
        let redone = world.json(&["undo", undone["redo"].as_str().unwrap()]);
        assert_eq!(world.read_text("a.txt"), NEW, "an undo undone is a redo");
        world.run(&["undo", undone["review"].as_str().unwrap()]).ok();
        assert_eq!(world.read_text("a.txt"), OLD);
        let names: Vec<Value> = entries(&world).iter().map(|entry| entry["undoes"].clone()).collect();
        assert_eq!(names[1], redone["change"]);
        assert_eq!((names.len(), &names[0], &names[2]), (4, &undone["change"], &undone["change"]));
        let listed = world.run(&["history"]).ok().stdout;
        assert!(listed.contains("undo of r1") && listed.contains("a.txt"), "{listed}");
        assert!(!listed.contains("\nc1 "), "the change has one name, no matter who wrote it: {listed}");
    }
}

#[test]
fn bytes_come_back_exactly_with_the_mode_of_the_file() {
    let utf16: Vec<u8> = "\u{feff}eins\r\nzwei\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let files: [(&str, &[u8], &str); 4] = [
        ("crlf.txt", b"one\r\ntwo\r\nno newline", "one\r\n2\r\nno newline"),
        ("bom.txt", b"\xef\xbb\xbfone\ntwo\n", "one\n2\n"),
        ("utf16.txt", &utf16, "eins\r\n2\r\n"),
        ("mixed.txt", b"one\r\ntwo\nthree\r\n", "one\r\n2\nthree\r\n"),
    ];
    for (name, old, new) in files {
        let world = World::new();
        let serve = world.serve();
        let path = world.file(name, old);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        accepted(&world, serve.port, WsDialect::Nexus3, &path, new);
        let changed = world.read(name);
        assert_ne!(changed, old, "{name}");
        let redo = world.json(&["undo", "--last"])["redo"].as_str().unwrap().to_owned();
        assert_eq!(world.read(name), old, "{name}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
        world.run(&["undo", &redo]).ok();
        assert_eq!(world.read(name), changed, "{name}");
    }
}

#[test]
fn a_new_file_is_removed_and_comes_back_and_one_that_is_open_is_not() {
    for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.path_str("new.txt");
        accepted(&world, editor.port(), dialect, &path, NEW);
        editor.open(&path, NEW, false);
        refused(&world, &["undo", "--last"], 5, "close it in Test Editor first");
        editor.state().documents.clear();
        let undone = world.json(&["undo", "--last"]);
        assert_eq!((undone["removedFile"].as_bool(), world.path("new.txt").exists()), (Some(true), false));
        world.run(&["undo", undone["redo"].as_str().unwrap()]).ok();
        assert_eq!(world.read_text("new.txt"), NEW);
        world.run(&["undo", "--last"]).ok();
        world.file("new.txt", "mine\n");
        let redo = entries(&world)[0]["change"].as_str().unwrap().to_owned();
        refused(&world, &["undo", &redo], 5, "exists again");
        assert_eq!(world.read_text("new.txt"), "mine\n");
    }
}

#[test]
fn a_file_that_is_not_what_the_change_made_it_is_left_alone() {
    let world = World::new();
    let serve = world.serve();
    let path = world.file("a.txt", OLD);
    accepted(&world, serve.port, WsDialect::Nexus3, &path, NEW);
    world.file("a.txt", "one\n2\nthree\nmine\n");
    refused(&world, &["undo", "--last"], 5, "someone changed it since");
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\nmine\n");
    fs::remove_file(&path).unwrap();
    refused(&world, &["undo", "--last"], 5, "no longer exists");
    fs::write(&path, b"\xff\xfe\x00").unwrap();
    assert_eq!(world.run(&["undo", "--last"]).code, 5);
    assert_eq!(world.read("a.txt"), b"\xff\xfe\x00");
    let json = world.run(&["undo", "--last", "--json"]);
    assert_eq!((json.code, &json.json()["error"]["code"]), (5, &Value::from("refused")));
}

#[test]
fn what_was_accepted_in_part_is_taken_back_to_what_was_there_before() {
    let world = World::new();
    let serve = world.serve();
    let old: String = (0..30).map(|line| format!("{line}\n")).collect();
    let path = world.file("a.txt", &old);
    let mut agent = Agent::nexus3(&world, serve.port);
    let call =
        agent.propose(&path, &old.replace("\n3\n", "\nthree\n").replace("\n20\n", "\ntwenty\n"), "tab");
    let review = world.one_pending();
    world.run(&["accept", &review, "--hunk", "1"]).ok();
    agent.texts(call);
    assert_eq!(world.read_text("a.txt"), old.replace("\n3\n", "\nthree\n"));
    let listed = world.run(&["history", "a.txt"]).ok().stdout;
    assert!(listed.contains("accepted in part"), "{listed}");
    world.run(&["undo", "--last"]).ok();
    assert_eq!(world.read_text("a.txt"), old);
}

#[test]
fn unsaved_text_is_not_touched_and_an_open_document_is_changed_by_its_editor() {
    let world = World::new();
    let editor = Editor::attach(&world);
    let path = world.file("a.txt", OLD);
    accepted(&world, editor.port(), WsDialect::Nexus3, &path, NEW);
    editor.open(&path, "typing\n", true);
    refused(&world, &["undo", "--last"], 5, "unsaved text in Test Editor");
    assert_eq!((world.read_text("a.txt").as_str(), editor.document(&path).text.as_str()), (NEW, "typing\n"));
    editor.open(&path, NEW, false);
    world.run(&["undo", "--last"]).ok();
    let document = editor.document(&path);
    assert_eq!(
        (document.text.as_str(), document.dirty, world.read_text("a.txt").as_str()),
        (OLD, false, OLD)
    );
    assert_eq!(editor.state().applied.len(), 1, "through the editor, so that the user can undo it there");
}

#[test]
fn what_was_denied_or_left_the_workspace_meanwhile_stays_as_it_is() {
    let world = World::new();
    let serve = world.serve();
    let path = world.file("a.txt", OLD);
    accepted(&world, serve.port, WsDialect::Nexus3, &path, NEW);
    serve.interrupt();
    world.file(".linkspan.toml", "deny = [\"a.txt\"]\n");
    let serve = world.serve();
    refused(&world, &["undo", "c1"], 5, "deny");
    refused(&world, &["undo", "--last"], 4, "nothing to undo");
    serve.interrupt();
    refused(&world, &["undo", "c1"], 5, "deny");
    refused(&world, &["undo", "--last"], 4, "nothing to undo");
    assert_eq!(world.read_text("a.txt"), NEW);
    fs::remove_file(world.path(".linkspan.toml")).unwrap();
    let outside = world.folder("outside");
    fs::rename(&path, outside.join("a.txt")).unwrap();
    std::os::unix::fs::symlink(outside.join("a.txt"), &path).unwrap();
    refused(&world, &["undo", "--last"], 5, "outside the workspace");
    assert_eq!(fs::read_to_string(outside.join("a.txt")).unwrap(), NEW);
}

#[test]
fn a_closed_window_and_a_hub_that_was_not_running_are_no_hindrance() {
    let world = World::new();
    let serve = world.serve();
    let path = world.file("a.txt", OLD);
    accepted(&world, serve.port, WsDialect::Claude, &path, NEW);
    serve.interrupt();
    world.run(&["hub", "stop", "--force"]).ok();
    world.run(&["undo", "--last"]).ok();
    assert_eq!(world.read_text("a.txt"), OLD);
}

#[test]
fn the_last_is_the_last_of_this_workspace() {
    let world = World::new();
    let other = world.folder("other");
    let serve = world.serve_folders(&[&other]);
    let path = other.join("a.txt");
    fs::write(&path, OLD).unwrap();
    accepted(&world, serve.port, WsDialect::Nexus3, path.to_str().unwrap(), NEW);
    refused(&world, &["undo", "--last"], 4, "the newest elsewhere is r1");
    assert_eq!(fs::read_to_string(&path).unwrap(), NEW);
    world.run(&["undo", "c1"]).ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), OLD);
}

#[test]
fn what_cannot_be_undone_says_why() {
    let world = World::new();
    let serve = world.serve();
    let path = world.file("a\u{1b}[2J.txt", OLD);
    assert!(world.run(&["history"]).ok().stdout.contains("nothing has been decided yet"));
    refused(&world, &["undo", "--last"], 4, "nothing to undo");
    refused(&world, &["undo", "c1"], 4, "there is no change c1");
    refused(&world, &["undo"], 2, "--last");
    refused(&world, &["undo", "a.txt"], 2, "linkspan history");
    refused(&world, &["undo", "c1", "--last"], 2, "--last");
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&path, NEW, "the tab");
    let review = world.one_pending();
    refused(&world, &["undo", &review], 4, "no change of r1");
    world.run(&["reject", &review, "--comment", "no\u{1b}"]).ok();
    refused(&world, &["undo", &review], 4, "was rejected");
    let listed = world.run(&["history"]).ok().stdout;
    assert!(listed.contains("rejected") && !listed.contains('\u{1b}'), "{listed:?}");
    assert_eq!(world.run(&["history", "nowhere.txt"]).ok().stdout.lines().count(), 1);
}

#[test]
fn a_hub_killed_around_an_undo_leaves_all_of_the_old_or_all_of_the_new_and_knows_which() {
    for wait_ms in [0, 1, 2, 4, 8, 16] {
        let mut world = World::new();
        world.may_leave_files();
        // Large enough that the kill happens during the write.
        let rest = OLD.repeat(50_000);
        let (old, new) = (format!("old\n{rest}"), format!("new\n{rest}"));
        let serve = world.serve();
        let path = world.file("a.txt", &old);
        accepted(&world, serve.port, WsDialect::Nexus3, &path, &new);
        serve.interrupt();
        let hub = world.hub_pid().unwrap();
        let mut undo = world.command(&["undo", "c1"]).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait_ms * 4));
        signal(hub, Signal::KILL);
        eventually("the hub is dead", || (!alive(hub)).then_some(()));
        undo.wait().unwrap();
        let now = world.read_text("a.txt");
        assert!(now == old || now == new, "torn: {} bytes", now.len());
        let undone = eventually("the journal says which", || {
            let entries = entries(&world);
            let begun = Connection::open(world.journal())
                .unwrap()
                .query_row("SELECT count(*) FROM writes WHERE state = 'begun'", [], |row| {
                    row.get::<_, i64>(0)
                })
                .unwrap();
            (begun == 0).then(|| entries.last().unwrap()["undone"].as_bool().unwrap())
        });
        assert_eq!(undone, now == old, "killed after {wait_ms}");
        if !undone {
            world.run(&["undo", "c1"]).ok();
        }
        assert_eq!(world.read_text("a.txt"), old);
    }
}

#[test]
fn an_undo_begun_in_an_earlier_life_is_settled_by_the_file() {
    for (holds, undone) in [(OLD, true), (NEW, false)] {
        let world = World::new();
        let serve = world.serve();
        let path = world.file("a.txt", OLD);
        accepted(&world, serve.port, WsDialect::Nexus3, &path, NEW);
        serve.interrupt();
        world.run(&["undo", "c1"]).ok();
        world.run(&["hub", "stop", "--force"]).ok();
        Connection::open(world.journal())
            .unwrap()
            .execute_batch("UPDATE writes SET state = 'begun' WHERE undoes IS NOT NULL")
            .unwrap();
        world.file("a.txt", holds);
        eventually("the journal knows", || {
            let entries = entries(&world);
            (entries.len() == 1 + usize::from(undone)).then(|| {
                assert_eq!(entries.last().unwrap()["undone"], undone);
            })
        });
        assert_eq!(world.read_text("a.txt"), holds, "nothing is written after the client has gone");
    }
}

#[test]
fn of_undos_at_once_exactly_one_undoes() {
    let world = World::new();
    let serve = world.serve();
    let path = world.file("a.txt", OLD);
    accepted(&world, serve.port, WsDialect::Nexus3, &path, NEW);
    let undos: Vec<_> = (0..4)
        .map(|_| world.command(&["undo", "c1"]).stderr(std::process::Stdio::null()).spawn().unwrap())
        .collect();
    let codes: Vec<i32> = undos.into_iter().map(|undo| world::finish(undo).code).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 5].contains(code)), "{codes:?}");
    assert_eq!((world.read_text("a.txt").as_str(), entries(&world).len()), (OLD, 2));
}

#[test]
fn an_editor_that_saves_something_else_is_told_on() {
    let world = World::new();
    let editor = EditorBuilder::new(&world)
        .capabilities(api::Capabilities { documents: true, edits: true, ..api::Capabilities::default() })
        .attach();
    let path = world.file("a.txt", "\u{feff}one\ntwo\n");
    accepted(&world, editor.port(), WsDialect::Nexus3, &path, "one\n2\n");
    // This editor forgets the mark when it saves.
    editor.open(&path, "one\n2\n", false);
    refused(&world, &["undo", "--last"], 5, "did not save");
    assert_eq!(entries(&world)[0]["undone"], false);
}

#[test]
fn on_a_terminal_it_is_asked_first() {
    let world = World::new();
    let serve = world.serve();
    let path = world.file("a.txt", OLD);
    accepted(&world, serve.port, WsDialect::Nexus3, &path, NEW);
    let undo = || Tty::run(&world, 100, 24, &["undo"], &[]);
    let mut tty = undo();
    tty.sees("undo r1 of nexus3-client (+1 −1) in a.txt? [y/N]");
    tty.types("n\r");
    assert_eq!(tty.ends(), 1);
    assert_eq!(world.read_text("a.txt"), NEW);
    let mut tty = undo();
    tty.sees("[y/N]");
    tty.types("y\r");
    assert_eq!(tty.ends(), 0);
    tty.sees("undid r1");
    assert_eq!(world.read_text("a.txt"), OLD);
}
