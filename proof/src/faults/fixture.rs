//! The setting of one trial: a world with the user's editor, the files that the agent wants to change, and what the
//! user will decide.

use std::collections::BTreeMap;
use std::fs;

use linkspan_testkit::proposer::{ProposalOutcome, ProposedChange};
use linkspan_testkit::proxy::Proxy;
use linkspan_testkit::{Document, Editor, EditorBuilder, World};

use super::case::{Buffer, Case, ChangeKind, Fault, Party};

const OLD: &str = "one\ntwo\nthree\n";
const NEW: &str = "one\n2\nthree\n";
const UNSAVED: &str = "not saved by anyone\n";

/// One file, from its first content to the outcome that its agent received.
#[derive(Debug)]
pub(super) struct ReviewedFile {
    pub(super) wanted: ProposedChange,
    /// What was on disk at first.
    disk: Option<String>,
    /// What was in the editor at first.
    buffer: Option<Document>,
    pub(super) accepts: bool,
    /// The decision was sent, and may have arrived.
    pub(super) decision_sent: bool,
    /// The hub confirmed that the decision counts.
    pub(super) confirmed: bool,
    pub(super) outcome: Option<ProposalOutcome>,
    /// On a connection that no fault has hit: the hub knows that it arrived.
    pub(super) on_new_connection: bool,
}

impl ReviewedFile {
    fn new(world: &World, name: &str, disk: Option<&str>, unsaved: &str, accepts: bool) -> ReviewedFile {
        let live = disk.map(|disk| format!("{disk}{unsaved}"));
        let buffer = live.clone().map(|text| Document {
            text,
            dirty: !unsaved.is_empty(),
            version: 1,
            diagnostics: Vec::new(),
        });
        if let Some(disk) = disk {
            world.file(name, disk);
        }
        let wanted =
            ProposedChange { path: world.path_str(name), before: live, after: format!("{NEW}{unsaved}") };
        let disk = disk.map(str::to_owned);
        ReviewedFile {
            wanted,
            disk,
            buffer,
            accepts,
            decision_sent: false,
            confirmed: false,
            outcome: None,
            on_new_connection: false,
        }
    }

    /// What must be on disk in the end.
    fn disk_in_the_end(&self, agent_writes: bool) -> Option<&str> {
        let stays_unsaved = self.buffer.as_ref().is_some_and(|buffer| buffer.dirty) && !agent_writes;
        if self.accepts && !stays_unsaved { Some(&self.wanted.after) } else { self.disk.as_deref() }
    }

    /// Whether the editor writes it, because it is open there.
    pub(super) fn is_open(&self) -> bool {
        self.buffer.is_some()
    }

    /// All of the old or all of the new.
    #[track_caller]
    pub(super) fn is_whole(&self) {
        let now = self.now();
        let whole = now == self.disk || now.as_ref() == Some(&self.wanted.after);
        assert!(whole, "{} is neither old nor new: {now:?}", self.wanted.path);
        assert!(
            now == self.disk || (self.accepts && self.decision_sent),
            "{} was written without a decision: {now:?}",
            self.wanted.path
        );
    }

    #[track_caller]
    pub(super) fn is_as_decided(&self, editor: &Editor, agent_writes: bool) {
        let path = &self.wanted.path;
        let wanted = self.disk_in_the_end(agent_writes);
        assert_eq!(self.now().as_deref(), wanted, "{path} on the disk, in the end");
        let Some(before) = &self.buffer else { return };
        let changed = self.accepts && !agent_writes;
        let text = if changed { &self.wanted.after } else { &before.text };
        let now = editor.document(path);
        assert_eq!((&now.text, now.dirty), (text, before.dirty), "{path} in the editor, in the end");
    }

    fn now(&self) -> Option<String> {
        fs::read_to_string(&self.wanted.path).ok()
    }
}

/// Dropped from top to bottom: an editor without a hub would start one.
pub(super) struct FaultFixture {
    pub(super) files: Vec<ReviewedFile>,
    pub(super) editor: Editor,
    /// How often each file was changed in editors that are gone.
    applied_before: BTreeMap<String, usize>,
    pub(super) proxy: Option<Proxy>,
    pub(super) world: World,
}

impl FaultFixture {
    pub(super) fn new(case: &Case) -> FaultFixture {
        // A stopped process is detected by its heartbeat; no machine is waited for long.
        let heartbeat = if case.fault == Fault::Stop { "heartbeat_seconds = 1\n" } else { "" };
        let world = World::with_config(&format!("[limits]\ncall_seconds = 2\n{heartbeat}"));
        let unsaved = if case.buffer == Buffer::Unsaved { UNSAVED } else { "" };
        let accepts = case.is_accepted();
        let mut files = Vec::new();
        if case.kind != ChangeKind::New {
            files.push(ReviewedFile::new(&world, "a.txt", Some(OLD), unsaved, accepts));
        }
        if case.kind != ChangeKind::Change {
            files.push(ReviewedFile::new(&world, "new.txt", None, "", accepts));
        }
        let cuts = case.fault == Fault::Cut && matches!(case.party, Party::Hub | Party::Shim);
        let proxy = cuts.then(|| {
            world.run(&["hub", "start"]).ok();
            Proxy::to(&world)
        });
        let open = files
            .iter()
            .filter_map(|file| file.buffer.clone().map(|buffer| (file.wanted.path.clone(), buffer)));
        let editor = attach(&world, open.collect(), proxy.as_ref());
        FaultFixture { files, editor, applied_before: BTreeMap::new(), proxy, world }
    }

    pub(super) fn wanted(&self) -> Vec<ProposedChange> {
        self.files.iter().map(|file| file.wanted.clone()).collect()
    }

    /// Files whose outcome the agent has not received yet.
    pub(super) fn open_changes(&self) -> Vec<ProposedChange> {
        let open_changes = self.files.iter().filter(|file| file.outcome.is_none());
        open_changes.map(|file| file.wanted.clone()).collect()
    }

    /// Restarts the editor, with everything that was open in it, including unsaved text.
    pub(super) fn restart_editor(&mut self) {
        let (documents, applied) = {
            let state = self.editor.state();
            let applied: Vec<String> = state.applied.iter().map(|apply| apply.path.clone()).collect();
            (state.documents.clone(), applied)
        };
        for path in applied {
            *self.applied_before.entry(path).or_default() += 1;
        }
        self.editor = attach(&self.world, documents, self.proxy.as_ref());
    }

    /// How often editors were asked to change that file.
    pub(super) fn applied(&self, path: &str) -> usize {
        let now = self.editor.state().applied.iter().filter(|apply| apply.path == path).count();
        now + self.applied_before.get(path).copied().unwrap_or_default()
    }
}

fn attach(world: &World, open: BTreeMap<String, Document>, proxy: Option<&Proxy>) -> Editor {
    let builder = EditorBuilder::new(world).documents(open);
    match proxy {
        Some(proxy) => builder.runtime(proxy.runtime.clone()).attach(),
        None => builder.attach(),
    }
}
