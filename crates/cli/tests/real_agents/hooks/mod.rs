//! `linkspan hook` with real agents: the user's decision in the editor, the bytes on disk, and every word that the model
//! received about its edit. This file has the steps of such a test; each agent has a file with what it makes of them.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod qwen;
mod words;

use std::collections::BTreeSet;

use linkspan_editor_api as api;
use serde_json::Value;

use crate::support::model::{ModelText, Role};
use crate::support::real_agent::EditorProtocol;
use crate::support::{Editor, RealAgent, Turn, World, eventually};

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
/// Two hunks.
const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n8\nnine\n";
const FIRST_HUNK: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
/// The user's own text for the second hunk.
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\nEIGHT\nnine\n";

const REASON: &str = "Use the existing helper.\nIt is in numbers.txt.\nDo not write digits.";

/// How an agent is started, and how its model changes a file.
struct AgentSetup {
    /// Its name for `linkspan hook install`.
    id: &'static str,
    start: fn(&World, EditorProtocol, Vec<Turn>) -> RealAgent,
    /// The calls that change the file at this path from `BEFORE` to `PROPOSED`; the last one is the change.
    calls: fn(&str) -> Vec<Turn>,
    /// The question in its terminal, and the key for yes.
    question: (&'static str, &'static str),
}

/// An agent with a hook and an editor. The agent leaves before the editor does.
struct HookSession {
    agent: RealAgent,
    editor: Editor,
    world: World,
    path: String,
    /// The number of the call that changes the file.
    change: usize,
}

impl HookSession {
    /// The agent proposes its change of `a.txt`, only by its hook.
    #[track_caller]
    fn new(setup: &AgentSetup) -> HookSession {
        HookSession::with(setup, EditorProtocol::Off)
    }

    #[track_caller]
    fn with(setup: &AgentSetup, protocol: EditorProtocol) -> HookSession {
        HookSession::prepared(setup, protocol, |_| ())
    }

    /// With a step between the installation of the hook and the start of the agent.
    #[track_caller]
    fn prepared(setup: &AgentSetup, protocol: EditorProtocol, prepare: impl FnOnce(&World)) -> HookSession {
        let world = World::new();
        let path = world.file("a.txt", BEFORE);
        let editor = Editor::attach(&world);
        world.run(&["hook", "install", setup.id, "--yes"]).ok();
        prepare(&world);
        let calls = (setup.calls)(&path);
        let change = calls.len() - 1;
        let mut agent = (setup.start)(&world, protocol, calls);
        if protocol == EditorProtocol::On {
            agent.is_connected(&world);
        }
        agent.prompt("please change it");
        HookSession { agent, editor, world, path, change }
    }

    /// Waits until the editor shows the change.
    #[track_caller]
    fn shown(&self) -> api::ReviewShow {
        let shown = self.editor.shown(&self.path);
        assert_eq!((shown.base.as_str(), shown.proposed.as_str()), (BEFORE, PROPOSED));
        assert_eq!(shown.hunks.len(), 2);
        shown
    }

    #[track_caller]
    fn decides(&mut self, shown: &api::ReviewShow, verdict: api::Verdict, comments: &[(u32, &str)]) {
        let comments =
            comments.iter().map(|(line, text)| api::ReviewComment { line: *line, text: (*text).to_owned() });
        let decision = api::Decision { verdict, comments: comments.collect(), write_here: false };
        let decided = api::ReviewDecided {
            review: shown.review.clone(),
            revision: shown.revision,
            digest: Some(shown.digest.clone()),
            decision,
        };
        assert_eq!(self.editor.request(&decided).unwrap(), api::ReviewDecidedResult::Taken);
    }

    #[track_caller]
    fn takes_the_first_hunk(&mut self, shown: &api::ReviewShow) {
        let hunks = vec![shown.hunks[0].id.clone()];
        self.decides(shown, api::Verdict::AcceptHunks { hunks }, &[]);
    }

    #[track_caller]
    fn accepts_with_a_comment(&mut self, shown: &api::ReviewShow) {
        self.decides(shown, api::Verdict::Accept, &[(2, "Good.\nThe next ones, too.")]);
    }

    /// The user's own text for the second hunk.
    #[track_caller]
    fn accepts_an_edited_text(&mut self, shown: &api::ReviewShow) {
        self.decides(shown, api::Verdict::AcceptEdited { text: EDITED.to_owned() }, &[]);
    }

    /// With a reason of three lines and two comments.
    #[track_caller]
    fn rejects(&mut self, shown: &api::ReviewShow) {
        let comments = [(2, "Two is a word here."), (8, "Eight, too.\nSee line 2.")];
        self.decides(shown, api::Verdict::Reject { reason: Some(REASON.to_owned()) }, &comments);
    }

    /// Everything that the model received about the change, in order.
    #[track_caller]
    fn told(&self) -> Vec<ModelText> {
        self.agent.model.told_about(self.change)
    }

    /// The file holds this, the history says so, and the user saw no other review.
    #[track_caller]
    fn is_written(&self, text: &str, taken: &str) {
        assert_eq!(self.world.read_text("a.txt"), text);
        let entry = eventually("it is on disk", || {
            let entry = self.only_entry();
            (entry["onDisk"] == true).then_some(entry)
        });
        assert_eq!((&entry["ended"]["kind"], &entry["ended"]["taken"]), (&"accepted".into(), &taken.into()));
        self.was_asked_once();
    }

    /// The file is as before, the history says how that review ended, and the user saw no other one.
    #[track_caller]
    fn is_unwritten(&self, ended: &str) {
        assert_eq!(self.world.read_text("a.txt"), BEFORE);
        eventually("the review has ended", || (self.only_entry()["ended"]["kind"] == ended).then_some(()));
        self.was_asked_once();
    }

    /// The user accepted, and the agent did not write: the file is as before, and the history says so.
    #[track_caller]
    fn is_accepted_and_not_on_disk(&self) {
        assert_eq!(self.world.read_text("a.txt"), BEFORE);
        let entry = self.only_entry();
        assert_eq!(
            (&entry["ended"]["kind"], &entry["onDisk"]),
            (&"accepted".into(), &false.into()),
            "{entry}"
        );
    }

    #[track_caller]
    fn only_entry(&self) -> Value {
        let history = self.world.json(&["history"]);
        let entries = history["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 1, "{history}");
        entries[0].clone()
    }

    #[track_caller]
    fn was_asked_once(&self) {
        let state = self.editor.state();
        let reviews: BTreeSet<&str> = state.shown.iter().map(|shown| shown.review.as_str()).collect();
        assert_eq!(reviews.len(), 1, "{reviews:?}");
        drop(state);
        assert!(self.world.reviews().is_empty());
    }

    /// Waits until the editor no longer shows the review, which the agent took back.
    #[track_caller]
    fn is_withdrawn(&self, shown: &api::ReviewShow) {
        self.editor.hidden(&shown.review);
        self.is_unwritten("withdrawn");
    }

    /// Kills the hub while the agent waits; returns the review as the next hub shows it.
    #[track_caller]
    fn survives_a_killed_hub(&self) -> api::ReviewShow {
        let shown = self.shown();
        let before = self.editor.state().shown.len();
        self.world.kill_hub();
        let again = self.editor.until("shown again", |state| state.shown.get(before).cloned());
        assert_eq!((&again.review, &again.proposed), (&shown.review, &shown.proposed));
        // The hook is back as well: nobody else would write the file.
        eventually("the agent waits again", || {
            let reviews = self.world.reviews();
            reviews.first().is_some_and(|review| review["ownerGone"] != true).then_some(())
        });
        again
    }
}

/// The hub has no window for the folder: the agent asks in its terminal as ever, and the user says yes there. Returns the
/// path of the file, and everything that the model received about the change.
#[track_caller]
fn is_decided_in_the_terminal(setup: &AgentSetup) -> (String, Vec<ModelText>) {
    let world = World::new();
    let path = world.file("a.txt", BEFORE);
    let elsewhere = world.folder("elsewhere");
    let serve = world.serve_folders(&[&elsewhere]);
    world.run(&["hook", "install", setup.id, "--yes"]).ok();
    let calls = (setup.calls)(&path);
    let change = calls.len() - 1;
    let mut agent = (setup.start)(&world, EditorProtocol::Off, calls);
    agent.prompt("please change it");
    let (question, yes) = setup.question;
    agent.answers(question, yes);
    let told = agent.model.told_about(change);
    assert_eq!(world.read_text("a.txt"), PROPOSED);
    assert_eq!(world.json(&["history"])["entries"], serde_json::json!([]));
    drop((agent, serve));
    (path, told)
}

fn tool(text: impl Into<String>) -> ModelText {
    ModelText::new(Role::Tool, text)
}
