//! Where one trial happens: a world with a person's editor in it, the files that the agent wants to change, and what
//! the person thinks of it.

use std::collections::BTreeMap;
use std::fs;

use linkspan_testkit::proposer::{Told, Wanted};
use linkspan_testkit::proxy::Proxy;
use linkspan_testkit::{Document, Editor, EditorBuilder, World};

use super::case::{Buffer, Case, Fault, Kind, Who};

const OLD: &str = "one\ntwo\nthree\n";
const NEW: &str = "one\n2\nthree\n";
const UNSAVED: &str = "what nobody has saved\n";

/// One file, from what it held to what everybody was told.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) wanted: Wanted,
    /// What the disk held at first.
    disk: Option<String>,
    /// What the editor held at first.
    buffer: Option<Document>,
    pub(super) accepts: bool,
    /// She has said what she thinks, and it may have arrived.
    pub(super) said: bool,
    /// She was told that it counts.
    pub(super) counted: bool,
    pub(super) told: Option<Told>,
    /// Over a connection that no fault has met: the hub knows that it arrived.
    pub(super) told_afresh: bool,
}

impl Subject {
    fn new(world: &World, name: &str, disk: Option<&str>, unsaved: &str, accepts: bool) -> Subject {
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
        let wanted = Wanted { path: world.path_str(name), before: live, after: format!("{NEW}{unsaved}") };
        let disk = disk.map(str::to_owned);
        Subject { wanted, disk, buffer, accepts, said: false, counted: false, told: None, told_afresh: false }
    }

    /// What the disk must hold in the end.
    fn disk_in_the_end(&self, agent_writes: bool) -> Option<&str> {
        let stays_unsaved = self.buffer.as_ref().is_some_and(|buffer| buffer.dirty) && !agent_writes;
        if self.accepts && !stays_unsaved { Some(&self.wanted.after) } else { self.disk.as_deref() }
    }

    /// Whether it is the editor that changes it, because it is open there.
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
            now == self.disk || (self.accepts && self.said),
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
pub(super) struct Stage {
    pub(super) subjects: Vec<Subject>,
    pub(super) editor: Editor,
    /// How often each file was changed in editors that are gone.
    applied_before: BTreeMap<String, usize>,
    pub(super) proxy: Option<Proxy>,
    pub(super) world: World,
}

impl Stage {
    pub(super) fn new(case: &Case) -> Stage {
        // Who stands still is found by its heartbeat; nobody waits long for a machine.
        let heartbeat = if case.fault == Fault::Stop { "heartbeat_seconds = 1\n" } else { "" };
        let world = World::with_config(&format!("[limits]\ncall_seconds = 2\n{heartbeat}"));
        let unsaved = if case.buffer == Buffer::Unsaved { UNSAVED } else { "" };
        let accepts = case.is_accepted();
        let mut subjects = Vec::new();
        if case.kind != Kind::New {
            subjects.push(Subject::new(&world, "a.txt", Some(OLD), unsaved, accepts));
        }
        if case.kind != Kind::Change {
            subjects.push(Subject::new(&world, "new.txt", None, "", accepts));
        }
        let cuts = case.fault == Fault::Cut && matches!(case.who, Who::Hub | Who::Shim);
        let proxy = cuts.then(|| {
            world.run(&["hub", "start"]).ok();
            Proxy::to(&world)
        });
        let open = subjects
            .iter()
            .filter_map(|subject| subject.buffer.clone().map(|buffer| (subject.wanted.path.clone(), buffer)));
        let editor = attach(&world, open.collect(), proxy.as_ref());
        Stage { subjects, editor, applied_before: BTreeMap::new(), proxy, world }
    }

    pub(super) fn wanted(&self) -> Vec<Wanted> {
        self.subjects.iter().map(|subject| subject.wanted.clone()).collect()
    }

    /// What the agent has heard nothing of yet.
    pub(super) fn untold(&self) -> Vec<Wanted> {
        let untold = self.subjects.iter().filter(|subject| subject.told.is_none());
        untold.map(|subject| subject.wanted.clone()).collect()
    }

    /// The editor is started anew, with what was open in it, unsaved text included.
    pub(super) fn restart_editor(&mut self) {
        let (documents, applied) = {
            let desk = self.editor.desk();
            let applied: Vec<String> = desk.applied.iter().map(|apply| apply.path.clone()).collect();
            (desk.documents.clone(), applied)
        };
        for path in applied {
            *self.applied_before.entry(path).or_default() += 1;
        }
        self.editor = attach(&self.world, documents, self.proxy.as_ref());
    }

    /// How often editors were asked to change that file.
    pub(super) fn applied(&self, path: &str) -> usize {
        let now = self.editor.desk().applied.iter().filter(|apply| apply.path == path).count();
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
