//! Every proposed change and what happened to it: each must be shown once, its agent must get the decision once and with
//! the right text, and the file must contain what was decided.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::agent::BenchDialect;

pub(crate) struct Change {
    pub(crate) agent: usize,
    pub(crate) dialect: BenchDialect,
    pub(crate) call: u64,
    pub(crate) before: String,
    pub(crate) proposed: String,
    pub(crate) asked: Instant,
    pub(crate) shown: Option<Instant>,
    pub(crate) decided: Option<(Instant, bool)>,
    answered: Option<Instant>,
}

#[derive(Default)]
pub(crate) struct Ledger {
    changes: BTreeMap<PathBuf, Change>,
    by_call: BTreeMap<(usize, u64), PathBuf>,
    pub(crate) broken: Vec<String>,
    pub(crate) answered: usize,
}

impl Ledger {
    /// Records a change of a file as proposed now.
    pub(crate) fn asked(
        &mut self,
        path: &Path,
        agent: usize,
        dialect: BenchDialect,
        call: u64,
        texts: [String; 2],
    ) {
        let [before, proposed] = texts;
        let change = Change {
            agent,
            dialect,
            call,
            before,
            proposed,
            asked: Instant::now(),
            shown: None,
            decided: None,
            answered: None,
        };
        self.by_call.insert((agent, call), path.to_owned());
        self.changes.insert(path.to_owned(), change);
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Change> {
        self.changes.get(path)
    }

    pub(crate) fn of_call(&self, agent: usize, call: u64) -> Option<&Path> {
        self.by_call.get(&(agent, call)).map(PathBuf::as_path)
    }

    /// Returns whether this is the first time.
    pub(crate) fn shown(&mut self, path: &Path, at: Instant) -> bool {
        let Some(change) = self.changes.get_mut(path) else {
            self.broken.push(format!("{} was shown, but never proposed", path.display()));
            return false;
        };
        let first = change.shown.is_none();
        change.shown.get_or_insert(at);
        first
    }

    /// The first decision counts; after a crash the same review is decided the same way.
    pub(crate) fn decided(&mut self, path: &Path, accept: bool) {
        if let Some(change) = self.changes.get_mut(path) {
            change.decided.get_or_insert((Instant::now(), accept));
        }
    }

    pub(crate) fn answered(&mut self, agent: usize, call: u64, texts: &[String], at: Instant) {
        let Some(path) = self.by_call.get(&(agent, call)).cloned() else { return };
        let Some(change) = self.changes.get_mut(&path) else { return };
        let name = path.display();
        if change.answered.is_some() {
            self.broken.push(format!("agent {agent} got the outcome of {name} twice"));
            return;
        }
        change.answered = Some(at);
        self.answered += 1;
        let first = texts.first().map_or("", String::as_str);
        match change.decided {
            None => self.broken.push(format!("agent {agent} got `{first}` for {name} before a decision")),
            Some((_, accepted)) => {
                let expected = if accepted { "FILE_SAVED" } else { "DIFF_REJECTED" };
                if first != expected {
                    self.broken.push(format!("agent {agent} got `{first}` for {name}, not `{expected}`"));
                }
                let whole = change.dialect == BenchDialect::Claude && accepted;
                if whole && texts.get(1) != Some(&change.proposed) {
                    self.broken.push(format!("agent {agent} got another text for {name} than was accepted"));
                }
            }
        }
    }

    pub(crate) fn failed(&mut self, agent: usize, call: u64, why: &str) {
        self.broken.push(format!("call {call} of agent {agent} failed: {why}"));
    }

    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Times from proposal to display.
    pub(crate) fn until_shown(&self) -> Vec<Duration> {
        self.changes.values().filter_map(|change| Some(change.shown? - change.asked)).collect()
    }

    /// Times from decision to the agent's answer.
    pub(crate) fn until_answered(&self, dialect: BenchDialect) -> Vec<Duration> {
        let of = self.changes.values().filter(|change| change.dialect == dialect);
        of.filter_map(|change| Some(change.answered? - change.decided?.0)).collect()
    }

    /// Checks that every agent got its outcome, and that each file contains what it must: the hub writes only for some.
    pub(crate) fn settle(&mut self) {
        for (path, change) in &self.changes {
            if change.answered.is_none() {
                let was = match (change.shown, change.decided) {
                    (None, _) => "never shown",
                    (_, None) => "shown, never decided",
                    _ => "decided, but its agent got no outcome",
                };
                self.broken.push(format!("{} was {was} (agent {})", path.display(), change.agent));
            }
            let accepted = change.decided.is_some_and(|(_, accepted)| accepted);
            let written = accepted && change.dialect == BenchDialect::Nexus3;
            let expected = if written { &change.proposed } else { &change.before };
            if fs::read_to_string(path).ok().as_ref() != Some(expected) {
                let what = if written { "the accepted text" } else { "what it held before" };
                self.broken.push(format!("{} does not contain {what}", path.display()));
            }
        }
    }
}
