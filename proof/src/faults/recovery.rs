//! Hubs, agents and journals that disappear and come back: a decision counts only for its own change and is delivered
//! once, and nothing is reported that did not happen.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use linkspan_testkit::gemini::Gemini;
use linkspan_testkit::world::finish;
use linkspan_testkit::{Agent, Editor, World, eventually, ppxai};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use serde_json::{Value, json};

use super::machine::{Outcome, Run};
use crate::trials::Skipped;

pub(super) const ALL: &[(&str, Run)] = &[
    ("single/ids-after-a-damaged-journal", ids_after_a_damaged_journal),
    ("single/ids-after-a-removed-journal", ids_after_a_removed_journal),
    ("single/second-runtime-directory", second_runtime_directory),
    ("single/agent-back-without-its-question", back_without_its_question),
    ("single/hub-stopped-by-force-with-waiting-agents", stopped_by_force),
    ("single/last-event-id-after-a-killed-hub", last_event_id),
    ("single/edit-asked-again-after-a-merge", asked_again_after_a_merge),
    ("single/mark-attributes-and-hard-links-stay", bytes_around_the_text),
];

const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";
const NEW: &str = "one\n2\nthree\nfour\nfive\n";

/// Waits until the window is attached to the current hub.
fn is_back(world: &World, port: u16) {
    eventually("the window is back", || {
        let ran = world.run(&["status", "--json"]);
        let status = (ran.code == 0).then(|| ran.json())?;
        let mut windows = status["windows"].as_array()?.iter();
        windows.any(|window| window["port"] == port && window["attached"] == true).then_some(())
    });
}

fn ids_after_a_damaged_journal() -> Outcome {
    no_id_is_reused(|world| fs::write(world.journal(), vec![0xA5; 20_000]).unwrap())
}

fn ids_after_a_removed_journal() -> Outcome {
    no_id_is_reused(|world| fs::remove_file(world.journal()).unwrap())
}

/// An old "accept r1" never counts for another change.
fn no_id_is_reused(lose: impl Fn(&World)) -> Outcome {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    agent.propose(&path, NEW, "tab");
    let old = world.one_pending();
    drop((agent, serve));
    world.run(&["hub", "stop", "--force"]).ok();
    let log = world.state().join("journal.db-wal");
    eventually("the hub has closed its journal", || (!log.exists()).then_some(()));
    lose(&world);
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&path, "unseen\n", "tab");
    let new = eventually("another change is pending", || {
        let reviews = world.reviews();
        let review = reviews.iter().find(|review| review["dialect"] == "claude")?;
        Some(review["review"].as_str()?.to_owned())
    });
    assert_ne!(new, old, "an id is reused");
    assert_ne!(world.run(&["accept", &old]).code, 0, "an old decision counts");
    assert_eq!(world.reviews().iter().filter(|review| review["review"] == new.as_str()).count(), 1);
    drop((agent, serve));
    Ok(())
}

/// One hub on one journal, whatever the runtime directory is.
fn second_runtime_directory() -> Outcome {
    let world = World::new();
    let serve = world.serve();
    let first = world.hub_pid().expect("a hub");
    let locks = world.discovery_files();
    let elsewhere = |args: &[&str]| {
        let mut command = world.command(args);
        command.env("XDG_RUNTIME_DIR", world.folder("r2"));
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        finish(command.spawn().unwrap())
    };
    elsewhere(&["hub", "start"]);
    let status = elsewhere(&["status", "--json"]);
    if status.code == 0 {
        assert_eq!(status.json()["pid"], first, "there is a second hub");
    }
    let hubs = world.processes().into_iter().filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"run")
    });
    assert_eq!(hubs.collect::<Vec<_>>(), [first], "one hub on one journal");
    assert_eq!(world.discovery_files(), locks, "the files of the first are gone");
    drop(serve);
    Ok(())
}

/// As Claude Code does: the hub was killed, the agent is back, and does not repeat its request.
fn back_without_its_question() -> Outcome {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    agent.propose(&path, NEW, "tab");
    let review = world.one_pending();
    world.kill_hub();
    is_back(&world, editor.port());
    let agent = Agent::claude(&world, editor.port());
    let refused = world.run(&["accept", &review]);
    assert_ne!(refused.code, 0, "accepted, but no one writes it: {refused:?}");
    assert_eq!(world.read_text("a.txt"), OLD);
    let history = world.json(&["history"]);
    assert_eq!(history["entries"], json!([]), "it is said to be decided");
    world.run(&["accept", &review, "--write"]).ok();
    assert_eq!(world.read_text("a.txt"), NEW);
    assert_eq!(world.json(&["history"])["entries"][0]["onDisk"], true);
    drop((agent, editor));
    Ok(())
}

/// No outcome is sent, and the next hub resumes everything.
fn stopped_by_force() -> Outcome {
    let world = World::new();
    let paths = [world.file("a.txt", OLD), world.file("b.txt", OLD)];
    let mut editor = Editor::attach(&world);
    let port = editor.port();
    let mut claude = Agent::claude(&world, port);
    let call = claude.propose(&paths[0], NEW, "tab");
    let gemini = Gemini::ready(&world, port);
    let mut stream = gemini.listen(None);
    gemini.open_diff(&paths[1], NEW);
    paths.iter().for_each(|path| drop(editor.shown(path)));
    world.run(&["hub", "stop", "--force"]).ok();
    assert_eq!(stream.rest(), Vec::<Value>::new(), "a hub that is stopped sent something");
    assert_eq!(claude.answer_within(call, std::time::Duration::from_millis(300)), None);
    is_back(&world, port);
    let mut stream = gemini.listen(stream.last.as_deref());
    let mut claude = Agent::claude(&world, port);
    let call = claude.propose(&paths[0], NEW, "tab");
    // The window shows them before their agents are back, and until then an accept of them is refused.
    eventually("both agents wait again", || {
        world.reviews().iter().all(|review| review["ownerGone"] != true).then_some(())
    });
    for path in &paths {
        let again = editor.until("it is shown again", |state| {
            let mut shown = state.shown.iter().filter(|shown| shown.path == *path);
            shown.nth(1).cloned()
        });
        editor.accept(&again);
    }
    assert_eq!(claude.texts(call)[0], "FILE_SAVED");
    assert_eq!(stream.notification("ide/diffAccepted")["params"]["content"], NEW);
    drop((claude, editor));
    Ok(())
}

/// An outcome that an agent received from a hub that is killed is not sent to it again as the answer to its next
/// change.
fn last_event_id() -> Outcome {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let mut editor = Editor::attach(&world);
    let port = editor.port();
    let gemini = Gemini::ready(&world, port);
    let mut stream = gemini.listen_silently(None);
    gemini.open_diff(&path, NEW);
    let shown = editor.shown(&path);
    editor.accept(&shown);
    stream.notification("ide/diffAccepted");
    let last = stream.last.clone();
    world.kill_hub();
    stream.ended();
    is_back(&world, port);
    gemini.open_diff(&path, "another\n");
    let mut stream = gemini.listen(last.as_deref());
    assert_eq!(stream.rest(), Vec::<Value>::new(), "an old decision");
    drop((stream, editor));
    Ok(())
}

/// The base moves, the edit is accepted, its agent was away and repeats the request: the edit is applied once.
fn asked_again_after_a_merge() -> Outcome {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let place = json!({ "line": 1, "character": 0 });
    let edit = json!({ "range": { "start": place, "end": place }, "newText": "inserted\n" });
    let arguments = json!({ "path": path, "edits": [edit] });
    let body = json!({ "id": 1, "tool": "ide.apply_edit", "args": arguments }).to_string();
    let mut away = ppxai::Client::new(serve.port);
    away.write("POST /ide/execute", &body);
    let review = world.one_pending();
    drop(away);
    eventually("it is known to be gone", || (world.reviews()[0]["ownerGone"] == true).then_some(()));
    world.file("a.txt", OLD.replace("five", "5"));
    world.run(&["accept", &review]).ok();
    let merged = "one\ninserted\ntwo\nthree\nfour\n5\n";
    assert_eq!(world.read_text("a.txt"), merged);
    let answer = ppxai::Client::new(serve.port).call("ide.apply_edit", arguments);
    assert_eq!((&answer["success"], world.reviews().len()), (&json!(true), 0), "{answer}");
    assert_eq!(world.read_text("a.txt"), merged, "made twice");
    drop(serve);
    Ok(())
}

/// What a file has besides its text: a byte order mark, a mode, an attribute, another hard link.
fn bytes_around_the_text() -> Outcome {
    const NAME: &str = "user.linkspan";
    let world = World::new();
    let path = world.file("a.txt", format!("\u{feff}{OLD}"));
    let file = world.path("a.txt");
    setxattr(&file, NAME, b"mine", XattrFlags::empty())
        .map_err(|error| Skipped(format!("this file system keeps no attributes: {error}")))?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    fs::hard_link(&file, world.path("other.txt")).unwrap();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, NEW, "tab");
    let review = world.one_pending();
    let accepted = world.run(&["accept", &review]);
    if accepted.code == 0 {
        assert_eq!(agent.texts(call)[0], "FILE_SAVED");
        assert_eq!(world.read_text("a.txt"), format!("\u{feff}{NEW}"));
        assert_eq!(world.read("other.txt"), world.read("a.txt"), "the other name has the old text");
    }
    let now = fs::metadata(&file).unwrap();
    let mut kept = [0; 16];
    let length = getxattr(&file, NAME, &mut kept).expect("the attribute is gone");
    assert_eq!((&kept[..length], now.mode() & 0o777, now.nlink()), (&b"mine"[..], 0o640, 2));
    drop((agent, serve));
    Ok(())
}
