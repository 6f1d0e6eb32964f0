//! `linkspan watch`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api as api;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::world::{finish, signal};
use crate::support::*;

const OLD: &str = "one\ntwo\n";
const NEW: &str = "one\n2\n";

/// A running `linkspan watch` and its lines.
struct Watch {
    child: Child,
    lines: Receiver<String>,
    notices: Receiver<String>,
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

impl Watch {
    fn start(world: &World, args: &[&str]) -> Watch {
        let args: Vec<&str> = ["watch"].iter().chain(args).copied().collect();
        let mut child = world.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines, notices) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Watch { child, lines, notices }
    }

    #[track_caller]
    fn next(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("no line in time")
    }

    /// The next event of this kind; others are skipped.
    #[track_caller]
    fn event(&self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event: Value = serde_json::from_str(&self.next()).unwrap();
            if fits(&event["what"]) {
                return event["what"].clone();
            }
        }
    }

    #[track_caller]
    fn change(&self) -> String {
        self.event(|what| what["kind"] == "review")["change"]["kind"].as_str().unwrap().to_owned()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        signal(self.child.id(), Signal::INT);
        let _ = self.child.wait();
    }
}

/// A watcher that has subscribed: it has seen an agent join.
fn ready(world: &World, port: u16, args: &[&str]) -> (Watch, Agent) {
    let watch = Watch::start(world, args);
    let until = Instant::now() + DEADLINE;
    loop {
        let agent = Agent::nexus3(world, port);
        if watch.lines.recv_timeout(Duration::from_millis(300)).is_ok() {
            // It may have seen earlier agents, too, which have left.
            while watch.lines.recv_timeout(Duration::from_millis(100)).is_ok() {}
            return (watch, agent);
        }
        assert!(Instant::now() < until, "the watcher hears nothing");
    }
}

#[test]
fn a_watcher_hears_the_whole_life_of_a_review_in_order() {
    let world = World::new();
    let mut editor = Editor::attach(&world);
    let path = world.file("a.txt", OLD);
    let (watch, mut agent) = ready(&world, editor.port(), &["--json"]);
    let call = agent.propose(&path, NEW, "the tab");
    let shown = editor.shown(&path);
    editor.send(&api::ReviewShown { review: shown.review.clone(), revision: shown.revision });
    let shown = editor.edit(&shown, "one\nzwei\n");
    editor.accept(&shown);
    agent.texts(call);
    let changes: Vec<String> = (0..6).map(|_| watch.change()).collect();
    assert_eq!(changes, ["proposed", "shown", "edited", "decided", "written", "delivered"]);
    world.run(&["undo", "--last"]).ok();
    let undone = watch.event(|what| what["kind"] == "undone");
    assert_eq!((&undone["change"], &undone["path"]), (&json!("c1"), &json!(path)));
    agent.goodbye();
    watch.event(|what| what["kind"] == "agentLeft");
    editor.detach();
    watch.event(|what| what["kind"] == "closed");
}

#[test]
fn a_watcher_hears_what_the_person_does_and_nothing_of_what_is_denied() {
    let world = World::new();
    let editor = Editor::attach(&world);
    let (path, secret) = (world.file("a.txt", OLD), world.file(".env", "KEY=1\n"));
    let port = editor.port().to_string();
    let (watch, _agent) = ready(&world, editor.port(), &["--window", &port]);
    let at = |line, character| api::Position { line, character };
    let select = |path: &str| api::SelectionChanged {
        selection: api::Selection {
            path: path.into(),
            text: "two".into(),
            range: api::Range { start: at(1, 0), end: at(1, 3) },
            is_empty: false,
            reversed: false,
        },
    };
    editor.send(&select(&secret));
    editor.send(&select(&path));
    editor.send(&api::Mentioned { path: secret, lines: None });
    editor.send(&api::Mentioned { path: path.clone(), lines: Some(api::LineRange { first: 0, last: 1 }) });
    assert_eq!(watch.next(), format!("w1  selected {path}:2:1-2:3 \"two\""));
    assert_eq!(watch.next(), format!("w1  mentioned {path}:1-2"));
}

#[test]
fn a_watcher_stays_over_a_restart_of_the_hub_and_says_so() {
    let world = World::new();
    let editor = Editor::attach(&world);
    let path = world.file("a.txt", OLD);
    let (watch, agent) = ready(&world, editor.port(), &["--json"]);
    drop(agent);
    world.kill_hub();
    let said = |words: &str| {
        let notice = watch.notices.recv_timeout(DEADLINE).unwrap();
        assert!(notice.contains(words), "{notice}");
    };
    said("lost the connection to the hub");
    said("connected to the hub again");
    eventually("the window is back", || {
        let status = world.status();
        (status["windows"][0]["attached"] == true).then_some(())
    });
    let mut agent = Agent::claude(&world, editor.port());
    agent.propose(&path, NEW, "the tab");
    assert_eq!(watch.change(), "proposed");
}

#[test]
fn watching_starts_no_hub_unless_told_and_ends_when_nobody_reads() {
    let world = World::new();
    let alone = world.run(&["watch"]);
    assert_eq!((alone.code, world.socket().exists()), (3, false), "{alone:?}");
    let serve = world.serve();
    assert_eq!(world.run(&["watch", "--window", "w77"]).code, 5);
    let mut child = world.command(&["watch", "--start"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let until = Instant::now() + DEADLINE;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it keeps running without a reader");
        drop(Agent::claude(&world, serve.port));
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(finish(child).code, 0);
}

#[test]
fn a_watcher_that_does_not_read_slows_nobody_down_and_is_let_go() {
    let world = World::new();
    let editor = Editor::attach(&world);
    let path = world.file("a.txt", OLD);
    let (watch, mut agent) = ready(&world, editor.port(), &["--json"]);
    signal(watch.child.id(), Signal::STOP);
    let place = api::Position { line: 0, character: 0 };
    let selection = api::Selection {
        path: path.clone(),
        text: "x".repeat(256 * 1024),
        range: api::Range { start: place, end: place },
        is_empty: false,
        reversed: false,
    };
    let before = world.status()["residentBytes"].as_u64().unwrap();
    for _ in 0..200 {
        editor.send(&api::SelectionChanged { selection: selection.clone() });
    }
    let since = Instant::now();
    agent.propose(&path, NEW, "the tab");
    editor.shown(&path);
    assert!(since.elapsed() < Duration::from_secs(5), "the hub is held up");
    let grown = world.status()["residentBytes"].as_u64().unwrap().saturating_sub(before);
    assert!(grown < 40 * 1024 * 1024, "{grown} bytes are kept for someone who does not read");
    assert!(world.log().contains("a watcher that does not read"), "{}", world.log());
    signal(watch.child.id(), Signal::CONT);
    let notice = watch.notices.recv_timeout(DEADLINE).unwrap();
    assert!(notice.contains("lost the connection to the hub"), "{notice}");
    let late: usize = watch.lines.try_iter().map(|line| line.len()).sum();
    assert!(late < 1024 * 1024, "{late} bytes were still sent to a watcher that is let go");
}
