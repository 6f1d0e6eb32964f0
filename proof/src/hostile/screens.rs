//! Names, labels, texts and messages that would move the cursor, set a title, hide text or reverse it, on every
//! screen that shows them.

use linkspan_editor_api as api;
use linkspan_testkit::agent::{Who, diff};
use linkspan_testkit::{Agent, EditorBuilder, Tty, WsDialect, eventually};

use super::fixture::AttackFixture;
use super::{Attack, AttackResult, BY_AGENTS};

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack {
        name: "terminal escapes and bidi",
        endpoints: "claude, and what commands print on a terminal",
        run: screens,
        ..BY_AGENTS
    }]
}

/// Sequences that a terminal acts on, and that no program here prints by itself.
const DOES_SOMETHING: [&str; 14] = [
    "\u{1b}]0;pwned",
    "\u{1b}[8m",
    "\u{1b}[2K",
    "\u{1b}P",
    "\u{1b}c",
    "\u{9b}2J",
    "\u{9d}0;",
    "\u{7}",
    "\u{8}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}",
];

/// How the first of them is displayed.
const PWNED: &str = r"\u{1b}]0;pwned";

fn nasty(word: &str) -> String {
    format!("{word}{}!", DOES_SOMETHING.concat())
}

/// None of these sequences is in the command's output.
#[track_caller]
fn is_harmless(said: &[u8], what: &str) {
    let text = String::from_utf8_lossy(said);
    for piece in DOES_SOMETHING {
        assert!(!text.contains(piece), "{what} prints {piece:?}: {text:?}");
    }
}

/// Runs a command to its end on a terminal: it prints `must_show`, and no sequence that the terminal acts on.
#[track_caller]
fn prints(fixture: &AttackFixture, args: &[&str], must_show: &str) {
    let mut tty = Tty::run(&fixture.world, 200, 50, args, &[]);
    tty.ends();
    let said = tty.raw();
    is_harmless(&said, &args.join(" "));
    let text = String::from_utf8_lossy(&said);
    assert!(text.contains(must_show), "{args:?} does not show {must_show}: {text}");
}

fn screens(fixture: &mut AttackFixture) -> AttackResult {
    let name: &'static str = Box::leak(nasty("agent").into_boxed_str());
    let who = Who { name, version: name, protocol: "2025-11-25" };
    let watching = Tty::run(&fixture.world, 160, 50, &["watch"], &[]);
    let window = EditorBuilder::new(&fixture.world).name(&nasty("editor")).attach();
    let port = window.port();
    let mut agent = Agent::introduced(&fixture.world, port, WsDialect::Nexus3, who);
    let file = nasty("file").replace('\0', "");
    let text = nasty("text\n");
    let path = fixture.world.file(&file, &text);
    let call = agent.send_call("openDiff", diff(&path, &format!("{text}{text}"), &nasty("label")));
    let review = fixture.world.one_pending();
    window.open(&path, &text, true);
    window.state().documents.get_mut(&path).unwrap().diagnostics = vec![api::Diagnostic {
        message: nasty("message"),
        severity: api::Severity::Error,
        range: api::Range::default(),
        source: Some(nasty("source")),
        code: Some(nasty("code")),
    }];
    window.state().selection = Some(api::Selection {
        path: path.clone(),
        text: nasty("selected"),
        range: api::Range::default(),
        is_empty: false,
        reversed: false,
    });
    let id = window.attached.window.clone();
    let here = ["--window", id.as_str()];
    let seen = |word: &str| format!("{word}{PWNED}");
    // Control characters in an agent's name are removed when it connects.
    let stripped = || "agent]0;pwned".to_owned();
    let of_the_window = |command: &[&'static str]| [command, &here].concat();
    let commands = [
        (vec!["status"], seen("editor")),
        (vec!["status"], stripped()),
        (vec!["reviews"], seen("file")),
        (vec!["show", &review], seen("")),
        (vec!["hub", "log"], "listens on".into()),
        (vec!["clients"], stripped()),
        (vec!["asks"], "no agent is asking".into()),
        (vec!["doctor"], seen("editor")),
        (of_the_window(&["diagnostics"]), seen("message")),
        (of_the_window(&["editors"]), seen("file")),
        (of_the_window(&["selection"]), seen("selected")),
        (of_the_window(&["folders"]), fixture.world.workspace().display().to_string()),
        (of_the_window(&["context"]), seen("message")),
        (of_the_window(&["call", "getDiagnostics", "{}"]), r"message\u001b]0;pwned".into()),
    ];
    for (args, must_show) in &commands {
        prints(fixture, args, must_show);
        let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let said = fixture.world.run(&json).stdout;
        let controls = said.chars().filter(|character| character.is_control() && *character != '\n');
        assert_eq!((controls.count(), said.is_empty()), (0, false), "{json:?}: {said:?}");
    }
    let reviewing = Tty::review(&fixture.world, 160, 50, &[]);
    reviewing.sees(&seen(""));
    is_harmless(&reviewing.raw(), "review");
    drop(reviewing);
    let reason = nasty("reason").replace('\0', "");
    prints(fixture, &["reject", &review, "--comment", &reason], &seen("file"));
    agent.answer(call);
    prints(fixture, &["history"], &seen("reason"));
    prints(fixture, &["hub", "log"], "joined");
    eventually("the watcher is notified", || {
        String::from_utf8_lossy(&watching.raw()).contains(&seen("file")).then_some(())
    });
    is_harmless(&watching.raw(), "watch");
    agent.goodbye();
    window.detach();
    std::fs::remove_file(&path).unwrap();
    AttackResult::new(2 * commands.len() + 5, "made visible everywhere; JSON has no raw control character")
}
