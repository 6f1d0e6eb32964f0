//! The window of VS Code with both extensions, an agent of each, and what its page says about when a diff is there.
//! Fails by a panic where the testkit does: without a window there is nothing to measure.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use linkspan_testkit::agent::diff;
use linkspan_testkit::{Agent, DEADLINE, EditorWindow, Version, VsCodeSession, World, eventually, workbench};
use serde_json::json;

/// The folder with both extensions, installed; `xtask/src/bench.rs` names it.
const EXTENSIONS: &str = "LINKSPAN_BENCH_EXTENSIONS";

/// For what VS Code does after a tab was closed.
const REST: Duration = Duration::from_millis(700);

/// When both sides of a diff are there and what differs is marked, with this text in the proposed side.
const SHOWN: &str = "(marker) => new Promise((resolve) => {
  const holds = (side, part) => [...document.querySelectorAll(`.editor.${side}`)].find((each) => each.textContent.includes(part));
  const look = () => {
    const proposed = holds('modified', marker);
    if (proposed?.querySelector('.line-insert, .char-insert') && holds('original', 'line')) {
      observer.disconnect();
      resolve(Date.now());
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  look();
})";

/// Clicks the button in the title bar; returns when.
const CLICK: &str = "(label) => {
  const button = document.querySelector(`.editor-actions a.action-label[aria-label^='${label}']`);
  const at = Date.now();
  button?.click();
  return button ? at : null;
}";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extension {
    Linkspan,
    Claude,
}

impl Extension {
    /// For names of files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Extension::Linkspan => "ours",
            Extension::Claude => "theirs",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Extension::Linkspan => "Linkspan",
            Extension::Claude => "Claude Code 1.0.108",
        }
    }

    fn accept(self) -> &'static str {
        match self {
            Extension::Linkspan => "Accept",
            Extension::Claude => "Claude Code: Accept",
        }
    }
}

/// Milliseconds.
pub(super) struct Sample {
    pub(super) shown: f64,
    pub(super) answered: f64,
}

pub(super) fn start() -> Result<VsCodeSession> {
    let extensions = std::env::var_os(EXTENSIONS).map(PathBuf::from);
    let extensions =
        extensions.with_context(|| format!("{EXTENSIONS} is not set: run `cargo xtask bench`"))?;
    // VS Code writes into it, so each run has its own.
    let world = World::new();
    Ok(VsCodeSession::with_extensions(Version::Newest, world, extensions))
}

pub(super) struct Window<'a> {
    window: EditorWindow<'a>,
    ours: Agent,
    theirs: Agent,
    proposed: usize,
}

impl Window<'_> {
    pub(super) fn open(session: &VsCodeSession) -> Window<'_> {
        let window = session.open();
        let ours = window.claude();
        let port = other_port(window.world, window.port);
        let theirs = Agent::claude(window.world, port);
        Window { window, ours, theirs, proposed: 0 }
    }

    /// Proposes a change of the file, which is made if it does not exist, and accepts it; the agent then writes it.
    pub(super) fn review(&mut self, contender: Extension, file: &str, lines: usize) -> Result<Sample> {
        self.proposed += 1;
        let Window { window, ours, theirs, proposed } = self;
        let EditorWindow { workbench, world, .. } = window;
        let path = world.path_str(file);
        if !world.path(file).exists() {
            world.file(file, text(lines));
        }
        let marker = format!("marker{proposed}");
        let proposal = world.read_text(file).lines().enumerate().fold(String::new(), |all, (at, line)| {
            if at == 2 || at + 1 == lines { all + &marker + "\n" } else { all + line + "\n" }
        });
        let agent = match contender {
            Extension::Linkspan => ours,
            Extension::Claude => theirs,
        };
        let page = &workbench.page;
        let tab = format!("{file} {marker}");
        let call = agent.new_id();
        let params = json!({ "name": "openDiff", "arguments": diff(&path, &proposal, &tab) });
        let frame =
            json!({ "jsonrpc": "2.0", "id": call, "method": "tools/call", "params": params }).to_string();
        page.evaluate(&format!("void (window.linkspanShown = ({SHOWN})({}))", json!(marker)));
        let sent = now();
        agent.send_text(frame);
        let shown = page.evaluate("window.linkspanShown").as_f64().context("no time")? - sent;
        // On a busy machine the title follows later than the diff.
        page.sees(&format!(".editor-actions a.action-label[aria-label^='{}']", contender.accept()));
        sleep(workbench::LOOK);
        let clicked = page.evaluate(&format!("({CLICK})({})", json!(contender.accept())));
        let clicked = clicked.as_f64().with_context(|| format!("no button {:?}", contender.accept()))?;
        let answer = agent.answer(call);
        let answered = now() - clicked;
        ensure!(answer["result"]["content"][0]["text"] == "FILE_SAVED", "not accepted: {answer}");
        // As Claude Code does.
        world.file(file, &proposal);
        let close = agent.send_call("close_tab", json!({ "tab_name": tab }));
        ensure!(agent.answer_within(close, DEADLINE).is_some(), "the tab is not closed");
        page.sees_no(".editor.modified");
        sleep(REST);
        Ok(Sample { shown, answered })
    }
}

/// The port of the other extension.
fn other_port(world: &World, ours: u16) -> u16 {
    eventually("the other extension has a discovery file", || {
        let files = std::fs::read_dir(world.home().join(".claude/ide")).ok()?.flatten();
        let ports = files.filter_map(|file| file.path().file_stem()?.to_str()?.parse().ok());
        ports.into_iter().find(|port| *port != ours)
    })
}

fn text(lines: usize) -> String {
    (1..=lines).map(|line| format!("// line {line:06} with about fifty characters in it\n")).collect()
}

/// As the page's `Date.now()`.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1000.0
}
