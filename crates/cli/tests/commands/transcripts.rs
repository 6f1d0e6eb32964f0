//! Snapshots of the output of commands, as text and with `--json`, in prepared worlds; errors too. To accept new texts:
//! `INSTA_UPDATE=always cargo nextest run -p linkspan transcripts::`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use insta::{Settings, assert_snapshot};
use linkspan_editor_api as api;
use serde_json::json;

use crate::support::editor::all_capabilities;
use crate::support::*;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
/// Two hunks differ.
const NEW: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n";

#[track_caller]
fn check(name: &str, transcript: Transcript<'_>) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("snapshots/output");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, transcript.finish()));
}

/// An editor with three documents: one with an error, one with a selection, one unsaved.
fn editor(world: &World) -> Editor {
    let capabilities = api::Capabilities { terminal: true, questions: true, ..all_capabilities() };
    let editor = EditorBuilder::new(world).capabilities(capabilities).attach();
    let range = |from: (u32, u32), to: (u32, u32)| {
        let at = |(line, character)| api::Position { line, character };
        api::Range { start: at(from), end: at(to) }
    };
    let main = world.file("src/main.rs", "fn main() {\n    run(1);\n}\n");
    let lib = world.file("src/lib.rs", "pub fn run() {}\n");
    let notes = world.file("notes.txt", "a note\n");
    editor.open(&main, "fn main() {\n    run(1);\n}\n", false);
    editor.open(&lib, "pub fn run() {}\n", false);
    editor.open(&notes, "a note, and more\n", true);
    {
        let mut state = editor.state();
        state.active = Some(main.clone());
        state.selection = Some(api::Selection {
            path: main.clone(),
            text: "run(1)".into(),
            range: range((1, 4), (1, 10)),
            is_empty: false,
            reversed: false,
        });
        state.documents.get_mut(&main).unwrap().diagnostics = vec![
            api::Diagnostic {
                message: "this function takes 0 arguments but 1 argument was supplied".into(),
                severity: api::Severity::Error,
                range: range((1, 4), (1, 7)),
                source: Some("rustc".into()),
                code: Some("E0061".into()),
            },
            api::Diagnostic {
                message: "unused result".into(),
                severity: api::Severity::Warning,
                range: range((1, 4), (1, 10)),
                source: Some("clippy".into()),
                code: None,
            },
        ];
    }
    editor
}

#[test]
fn the_hub() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    transcript.both(&["status"]);
    transcript.both(&["hub", "stop"]);
    transcript.both(&["hub", "log"]);
    assert!(!world.socket().exists(), "none of them starts a hub");
    transcript.run(&["hub", "start"]);
    transcript.json(&["hub", "start"]);
    transcript.both(&["status"]);
    transcript.both(&["hub", "log", "-n", "1"]);
    transcript.run(&["hub", "stop"]);
    check("hub", transcript);
}

#[test]
fn reviews() {
    // The status names the well-known port only in the one window on this machine that has it.
    let world = World::with_config("ppxai_port = 0\n");
    let path = world.file("src/limits.txt", OLD);
    let serve = world.serve();
    let mut claude = Agent::claude(&world, serve.port);
    let mut nexus = Agent::nexus3(&world, serve.port);
    let mut transcript = Transcript::new(&world);
    transcript.both(&["reviews"]);
    let changed = claude.propose(&path, NEW, "limits.txt");
    world.pending(1);
    let created = nexus.propose(&world.path_str("new.txt"), "a new file\n", "new.txt");
    let ids = world.pending(2);
    let (first, second) = (ids[0].as_str(), ids[1].as_str());
    transcript.both(&["status"]);
    transcript.both(&["reviews"]);
    transcript.both(&["show", first]);
    transcript.run(&["show", second]);
    transcript.run(&["hub", "stop"]);
    transcript.run(&["accept", first, "--hunk", "3"]);
    transcript.run(&["accept", first, "--hunk", "1"]);
    transcript.json(&["reject", second, "--comment", "not needed"]);
    claude.answer(changed);
    nexus.answer(created);
    let is_empty = || world.json(&["reviews", "--all"])["reviews"].as_array()?.is_empty().then_some(());
    eventually("both outcomes are delivered", is_empty);
    transcript.both(&["accept", second]);
    transcript.both(&["reviews", "--all"]);
    check("reviews", transcript);
    drop((claude, nexus, serve));
}

#[test]
fn history_and_undo() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut nexus = Agent::nexus3(&world, serve.port);
    let mut transcript = Transcript::new(&world);
    transcript.both(&["history"]);
    let call = nexus.propose(&path, NEW, "a.txt");
    let accepted = world.one_pending();
    transcript.run(&["accept", &accepted]);
    nexus.answer(call);
    let call = nexus.propose(&world.path_str("b.txt"), "b\n", "b.txt");
    let rejected = world.one_pending();
    transcript.run(&["reject", &rejected, "--comment", "no second file"]);
    nexus.answer(call);
    transcript.both(&["history"]);
    transcript.run(&["undo", &accepted]);
    transcript.both(&["undo", &accepted]);
    transcript.both(&["undo", &rejected]);
    transcript.run(&["history"]);
    check("history", transcript);
    drop((nexus, serve));
}

#[test]
fn questions_to_the_editor() {
    let world = World::new();
    let editor = editor(&world);
    let mut transcript = Transcript::new(&world);
    transcript.both(&["folders"]);
    transcript.both(&["editors"]);
    transcript.both(&["selection"]);
    transcript.both(&["diagnostics"]);
    transcript.both(&["diagnostics", "src/lib.rs"]);
    transcript.both(&["context"]);
    transcript.both(&["open", "src/main.rs:2:5"]);
    transcript.both(&["open", "none.rs"]);
    transcript.both(&["dirty", "notes.txt"]);
    transcript.both(&["dirty", "src/lib.rs"]);
    transcript.both(&["save", "notes.txt"]);
    transcript.both(&["close", "--all-diffs"]);
    transcript.run(&["tools"]);
    transcript.both(&["call", "getWorkspaceFolders"]);
    transcript.both(&["call", "noSuchTool"]);
    check("editor", transcript);
    drop(editor);
}

#[test]
fn questions_without_an_editor() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    transcript.both(&["folders"]);
    transcript.both(&["ide"]);
    transcript.both(&["ide", "connect", "Emacs"]);
    transcript.both(&["diff", "a.txt", "--new", "b.txt"]);
    check("no-editor", transcript);
}

#[test]
fn the_choice_of_an_editor() {
    let world = World::new();
    let editor = editor(&world);
    let mut transcript = Transcript::new(&world);
    transcript.both(&["ide"]);
    transcript.both(&["ide", "disconnect"]);
    transcript.both(&["ide", "status"]);
    transcript.both(&["folders"]);
    transcript.both(&["ide", "connect", "Emacs"]);
    transcript.both(&["ide", "connect", "Test Editor"]);
    transcript.both(&["ide", "status"]);
    transcript.both(&["ide", "connect"]);
    transcript.both(&["ide", "history"]);
    transcript.both(&["ide", "undo"]);
    check("ide", transcript);
    drop(editor);
}

#[test]
fn permissions() {
    let world = World::new();
    let editor = editor(&world);
    let mut agent = OwnAgent::join(&world, "snapshot");
    let mut transcript = Transcript::new(&world);
    transcript.both(&["asks"]);
    transcript.both(&["clients"]);
    let ask = |agent: &mut OwnAgent, command: &str| {
        let call = agent.call("runInTerminal", json!({ "command": command }));
        let id = eventually("it is asked", || {
            let asks = world.json(&["asks"])["asks"].clone();
            Some(asks[0]["ask"].as_str()?.to_owned())
        });
        (call, id)
    };
    let (call, id) = ask(&mut agent, "cargo test --workspace");
    transcript.both(&["asks"]);
    transcript.run(&["allow", &id]);
    transcript.both(&["allow", &id]);
    agent.answer(call);
    let (call, id) = ask(&mut agent, "rm -r target");
    transcript.json(&["deny", &id]);
    agent.answer(call);
    let (call, id) = ask(&mut agent, "make");
    transcript.json(&["allow", &id, "--always"]);
    agent.answer(call);
    transcript.both(&["clients"]);
    transcript.both(&["clients", "revoke", "tester"]);
    transcript.both(&["clients", "revoke", "nobody"]);
    transcript.run(&["clients", "allow", "tester", "command"]);
    transcript.run(&["clients", "allow", "tester", "everything"]);
    transcript.both(&["clients"]);
    check("permissions", transcript);
    drop((agent, editor));
}

#[test]
fn the_configuration() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    transcript.both(&["config", "path"]);
    transcript.both(&["config", "show"]);
    transcript.both(&["config", "check"]);
    world.config("idle_exit_seconds = 60\nno_such_key = 1\n[limits]\nfile_mib = \"large\"\n");
    transcript.both(&["config", "check"]);
    transcript.both(&["config", "show"]);
    check("config", transcript);
}

#[test]
fn a_diff() {
    let world = World::new();
    world.file("a.txt", OLD);
    world.file("b.txt", NEW);
    let serve = world.serve();
    let mut transcript = Transcript::new(&world);
    let mut decided = |args: &[&str], verb: &[&str]| {
        let mut command = world.command(args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let review = world.one_pending();
        world.run(&[&[verb[0], review.as_str()], &verb[1..]].concat()).ok();
        let ran = world::finish(child);
        let title = format!("$ linkspan {}  # {}, exit code {}", args.join(" "), verb.join(" "), ran.code);
        transcript.note(&title, &format!("{}{}", ran.stdout, ran.stderr));
    };
    decided(&["diff", "a.txt", "--new", "b.txt"], &["reject", "--comment", "not like this"]);
    decided(&["diff", "a.txt", "--new", "b.txt", "--json"], &["reject"]);
    decided(&["diff", "a.txt", "--new", "b.txt"], &["accept", "--hunk", "1"]);
    decided(&["diff", "a.txt", "--new", "b.txt", "--json"], &["accept"]);
    transcript.both(&["diff", "a.txt", "--new", "none.txt"]);
    check("diff", transcript);
    drop(serve);
}

#[test]
fn a_window_without_an_editor() {
    let world = World::with_config("ppxai_port = 0\n");
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&path, NEW, "a.txt");
    let review = world.one_pending();
    eventually("it is printed", || serve.output().contains(&review).then_some(()));
    world.run(&["reject", &review]).ok();
    eventually("the end of it is printed", || serve.output().contains("reject").then_some(()));
    agent.propose(&path, "other\n", "a.txt");
    let review = world.one_pending();
    eventually("the second is printed", || serve.output().contains(&review).then_some(()));
    let printed = serve.output().len();
    drop(agent);
    eventually("it is printed that the agent is gone", || (serve.output().len() > printed).then_some(()));
    let mut transcript = Transcript::new(&world);
    transcript.note("$ linkspan serve  # until interrupted", &serve.interrupt_and_read());
    transcript.both(&["serve", "/no/such/folder"]);
    check("serve", transcript);
}

#[test]
fn errors_of_usage() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    let wrong: [&[&str]; 10] = [
        &["no-such-command"],
        &["reveiws"],
        &["show"],
        &["show", "main.rs"],
        &["accept", "r1", "--hunk", "0"],
        &["reject", "r1", "--comment", "x", "--at", "a.txt"],
        &["hub", "fly"],
        &["completions", "cmd"],
        &["man", "hub", "fly"],
        &["replay", "none.jsonl"],
    ];
    for args in wrong {
        transcript.both(args);
    }
    assert!(!world.socket().exists(), "none of them starts a hub");
    check("usage-errors", transcript);
}

#[test]
fn reviews_that_do_not_exist() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    for verb in ["show", "accept", "reject"] {
        for name in ["r99", "99", "latest"] {
            transcript.both(&[verb, name]);
        }
    }
    check("unknown-reviews", transcript);
}

#[test]
fn the_link_to_the_page() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    transcript.both(&["page"]);
    transcript.both(&["page", "--revoke"]);
    check("page", transcript);
}

#[test]
fn the_demonstration() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    let text = world.run(&["try", "--auto"]).ok().stdout;
    transcript.note("$ linkspan try --auto", &by_review(&text));
    check("try", transcript);
}

/// The agents of the demonstration report in any order: the lines about each review, in the order of their ids.
fn by_review(text: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for line in text.lines() {
        let continues = line.starts_with("       ") && blocks.last().is_some_and(|block| is_review(block));
        match blocks.last_mut() {
            Some(block) if continues => block.push_str(&format!("\n{line}")),
            _ => blocks.push(line.to_owned()),
        }
    }
    blocks.chunk_by_mut(|a, b| is_review(a) && is_review(b)).for_each(<[String]>::sort);
    blocks.join("\n") + "\n"
}

fn is_review(block: &str) -> bool {
    block.strip_prefix("   r").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[test]
fn the_doctor() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    let findings = |transcript: &mut Transcript<'_>| {
        let text = world.run(&["doctor"]);
        transcript.note(&format!("$ linkspan doctor  # exit code {}", text.code), &text.stdout);
    };
    findings(&mut transcript);
    let editor = editor(&world);
    findings(&mut transcript);
    world.config("no_such_key = 1\n");
    findings(&mut transcript);
    check("doctor", transcript);
    drop(editor);
}

#[test]
fn a_watcher() {
    let mut text = String::new();
    let world = World::new();
    for line in watched(&world, &["watch"]) {
        text += &(line + "\n");
    }
    let mut transcript = Transcript::new(&world);
    transcript.note("$ linkspan watch", &text);
    check("watch", transcript);
}

#[test]
fn a_watcher_of_json() {
    let world = World::new();
    let mut transcript = Transcript::new(&world);
    for line in watched(&world, &["watch", "--json"]) {
        transcript.message("$ linkspan watch --json", &serde_json::from_str(&line).unwrap());
    }
    check("watch-json", transcript);
}

/// The lines about one accepted change that a watcher prints.
fn watched(world: &World, args: &[&str]) -> Vec<String> {
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut watch = world.command(args).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(watch.stdout.take().unwrap());
    let (sender, lines) = channel();
    thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    // The command takes a while to subscribe, and prints nothing then: agents come and go until one is seen.
    eventually("the watcher has subscribed", || {
        Agent::claude(world, serve.port).goodbye();
        lines.recv_timeout(Duration::from_millis(200)).ok()
    });
    let mut agent = Agent::nexus3(world, serve.port);
    let call = agent.propose(&path, NEW, "a.txt");
    world.run(&["accept", &world.one_pending()]).ok();
    agent.answer(call);
    // The hub counts an answer as delivered when the agent's connection has confirmed it: the agent stays until then.
    let mut printed = Vec::new();
    while printed.last().is_none_or(|line: &String| !line.contains("delivered")) {
        printed.extend(Some(lines.recv_timeout(DEADLINE).unwrap()).filter(|line| line.contains("r1")));
    }
    drop(agent);
    watch.kill().unwrap();
    watch.wait().unwrap();
    drop(serve);
    printed
}
