//! Names, labels, texts and messages that would move the cursor, set a title, hide themselves or turn around, on every
//! screen that shows them.

use linkspan_editor_api as api;
use linkspan_testkit::agent::{Who, diff};
use linkspan_testkit::{Agent, Dialect, EditorBuilder, Tty, eventually};

use super::stage::Stage;
use super::{Attack, OF_AGENTS, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack {
        name: "terminal escapes and bidi",
        doors: "claude, and what commands print on a terminal",
        run: screens,
        ..OF_AGENTS
    }]
}

/// What no program here prints of its own: to a terminal, each of these does something.
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

/// How the first of them is shown to a person.
const PWNED: &str = r"\u{1b}]0;pwned";

fn nasty(word: &str) -> String {
    format!("{word}{}!", DOES_SOMETHING.concat())
}

/// All of the command's output that could not be shown as it is.
#[track_caller]
fn is_harmless(said: &[u8], what: &str) {
    let text = String::from_utf8_lossy(said);
    for piece in DOES_SOMETHING {
        assert!(!text.contains(piece), "{what} prints {piece:?}: {text:?}");
    }
}

/// Runs a command to its end on a terminal: this is there to see, and nothing has happened to the terminal.
#[track_caller]
fn prints(stage: &Stage, args: &[&str], must_show: &str) {
    let mut tty = Tty::run(&stage.world, 200, 50, args, &[]);
    tty.ends();
    let said = tty.raw();
    is_harmless(&said, &args.join(" "));
    let text = String::from_utf8_lossy(&said);
    assert!(text.contains(must_show), "{args:?} does not show {must_show}: {text}");
}

fn screens(stage: &mut Stage) -> Seen {
    let name: &'static str = Box::leak(nasty("agent").into_boxed_str());
    let who = Who { name, version: name, protocol: "2025-11-25" };
    let watching = Tty::run(&stage.world, 160, 50, &["watch"], &[]);
    let window = EditorBuilder::new(&stage.world).name(&nasty("editor")).attach();
    let port = window.port();
    let mut agent = Agent::introduced(&stage.world, port, Dialect::Nexus3, who);
    let file = nasty("file").replace('\0', "");
    let text = nasty("text\n");
    let path = stage.world.file(&file, &text);
    let call = agent.send_call("openDiff", diff(&path, &format!("{text}{text}"), &nasty("label")));
    let review = stage.world.one_pending();
    window.open(&path, &text, true);
    window.desk().documents.get_mut(&path).unwrap().diagnostics = vec![api::Diagnostic {
        message: nasty("message"),
        severity: api::Severity::Error,
        range: api::Range::default(),
        source: Some(nasty("source")),
        code: Some(nasty("code")),
    }];
    window.desk().selection = Some(api::Selection {
        path: path.clone(),
        text: nasty("selected"),
        range: api::Range::default(),
        is_empty: false,
        reversed: false,
    });
    let id = window.attached.window.clone();
    let here = ["--window", id.as_str()];
    let seen = |word: &str| format!("{word}{PWNED}");
    // Of what an agent calls itself, controls are left out on the way in.
    let stripped = || "agent]0;pwned".to_owned();
    let of_the_window = |command: &[&'static str]| [command, &here].concat();
    let commands = [
        (vec!["status"], seen("editor")),
        (vec!["status"], stripped()),
        (vec!["reviews"], seen("file")),
        (vec!["show", &review], seen("")),
        (vec!["hub", "log"], "listens on".into()),
        (vec!["clients"], stripped()),
        (vec!["asks"], "no agent asks".into()),
        (vec!["doctor"], seen("editor")),
        (of_the_window(&["diagnostics"]), seen("message")),
        (of_the_window(&["editors"]), seen("file")),
        (of_the_window(&["selection"]), seen("selected")),
        (of_the_window(&["folders"]), stage.world.workspace().display().to_string()),
        (of_the_window(&["context"]), seen("message")),
        (of_the_window(&["call", "getDiagnostics", "{}"]), r"message\u001b]0;pwned".into()),
    ];
    for (args, must_show) in &commands {
        prints(stage, args, must_show);
        let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let said = stage.world.run(&json).stdout;
        let controls = said.chars().filter(|character| character.is_control() && *character != '\n');
        assert_eq!((controls.count(), said.is_empty()), (0, false), "{json:?}: {said:?}");
    }
    let reviewing = Tty::review(&stage.world, 160, 50, &[]);
    reviewing.sees(&seen(""));
    is_harmless(&reviewing.raw(), "review");
    drop(reviewing);
    let reason = nasty("reason").replace('\0', "");
    prints(stage, &["reject", &review, "--comment", &reason], &seen("file"));
    agent.answer(call);
    prints(stage, &["history"], &seen("reason"));
    prints(stage, &["hub", "log"], "joined");
    eventually("the watcher has heard of it", || {
        String::from_utf8_lossy(&watching.raw()).contains(&seen("file")).then_some(())
    });
    is_harmless(&watching.raw(), "watch");
    agent.goodbye();
    window.detach();
    std::fs::remove_file(&path).unwrap();
    Seen::new(2 * commands.len() + 5, "made visible everywhere; JSON has no raw control character")
}
