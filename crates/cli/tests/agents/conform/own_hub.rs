//! Our own hub conforms in every dialect, with and without decisions.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use super::{conform, with_result};
use crate::support::*;

pub(super) const DIALECTS: [&str; 5] = ["claude", "nexus3", "gemini", "clio", "ppxai"];

/// How the kit is told of the window: its discovery file, or its port.
pub(super) fn target(world: &World, port: u16, dialect: &str) -> String {
    let home = world.home();
    let path: PathBuf = match dialect {
        "claude" => home.join(format!(".claude/ide/{port}.lock")),
        "nexus3" => home.join(format!(".nexus3/ide/{port}.lock")),
        "clio" => home.join(".clio/ide/bridge.json"),
        "gemini" => world
            .gemini_files()
            .into_iter()
            .find(|file| file.to_string_lossy().ends_with(&format!("-{port}.json")))
            .unwrap(),
        _ => return port.to_string(),
    };
    path.to_str().unwrap().to_owned()
}

/// The report about a headless window; every point is decided.
pub(super) fn report(dialect: &str) -> Value {
    let world = World::new();
    let serve = world.serve();
    let decide = format!("'{}' $LINKSPAN_CONFORM_DECISION latest", paths::linkspan().display());
    let server = target(&world, serve.port, dialect);
    let (report, code) =
        conform(&world, &[&server, "--dialect", dialect, "--decide", &decide, "--timeout", "30"]);
    assert_eq!((code, &report["conforms"]), (0, &Value::Bool(true)), "{report:#}");
    assert_eq!(fs::read_dir(world.workspace()).unwrap().count(), 0, "the sample was removed");
    // A caller of ppxai can withdraw nothing, and may ask again for some minutes.
    if dialect != "ppxai" {
        eventually("nothing is left to decide", || world.reviews().is_empty().then_some(()));
    }
    report
}

/// Everything passes; only ppxai's token is optional.
fn everything_passes(dialect: &str) {
    let report = report(dialect);
    let skipped: &[&str] = if dialect == "ppxai" { &["no-token", "wrong-token"] } else { &[] };
    for weight in ["required", "recommended"] {
        assert_eq!(with_result(&report, "fail", weight), [""; 0], "{report:#}");
    }
    assert_eq!(with_result(&report, "skipped", "required"), skipped, "{report:#}");
}

#[test]
fn a_window_conforms_to_claude_codes_protocol() {
    everything_passes("claude");
}

#[test]
fn a_window_conforms_to_nexus3s_protocol() {
    everything_passes("nexus3");
}

#[test]
fn a_window_conforms_to_geminis_protocol() {
    everything_passes("gemini");
}

#[test]
fn a_window_conforms_to_clios_protocol() {
    everything_passes("clio");
}

#[test]
fn a_window_conforms_to_ppxais_protocol() {
    everything_passes("ppxai");
}

#[test]
fn a_window_with_an_editor_and_without_a_decision_conforms_too() {
    let world = World::new();
    let path = world.file("open.py", "one\n");
    let editor = Editor::attach(&world);
    editor.open(&path, "one\ntwo\n", true);
    for dialect in DIALECTS {
        let server = target(&world, editor.port(), dialect);
        let junit = world.root().join(format!("{dialect}.xml"));
        let more = ["--dialect", dialect, "--timeout", "30", "--junit", junit.to_str().unwrap()];
        let (report, code) = conform(&world, &[&[server.as_str()][..], &more].concat());
        assert_eq!(code, 0, "{report:#}");
        let skipped = with_result(&report, "skipped", "required");
        assert!(skipped.ends_with(&["accept", "reject"]), "nobody decides: {skipped:?}");
        let xml = fs::read_to_string(junit).unwrap();
        assert!(xml.contains("failures=\"0\"") && xml.contains("<testcase classname=\""), "{xml}");
    }
    assert_eq!(world.read_text("open.py"), "one\n");
}

#[test]
fn an_interrupted_check_removes_its_sample() {
    let world = World::new();
    let serve = world.serve();
    let server = target(&world, serve.port, "claude");
    let mut running = world.command(&["conform", "server", &server]).stdout(Stdio::null()).spawn().unwrap();
    let files = || fs::read_dir(world.workspace()).unwrap().count();
    eventually("a change of the sample is pending", || {
        (files() == 1 && !world.reviews().is_empty()).then_some(())
    });
    world::signal(running.id(), Signal::INT);
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(files(), 0);
}

#[test]
fn the_text_is_a_table_and_a_wrong_name_is_explained() {
    let world = World::new();
    let serve = world.serve();
    let lock = target(&world, serve.port, "clio");
    let ran = world.run(&["conform", "server", &lock, "--timeout", "30"]).ok();
    assert!(ran.stdout.contains("\nConnection\n  pass     web-page "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("skipped: it conforms\n"), "{}", ran.stdout);
    for (args, says) in [
        (&["no-such.lock"][..], "discovery file"),
        (&[&serve.port.to_string()], "--dialect"),
        (&["1", "--dialect", "claude"], "nothing listens"),
        (&["http://example.com:1"], "cannot read"),
    ] {
        let ran = world.run(&[&["conform", "server"], args].concat());
        assert!(ran.code > 1 && ran.stderr.contains(says), "{args:?}: {ran:?}");
    }
}
