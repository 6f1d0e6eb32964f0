//! What was proposed and what became of it: each change has to be shown, and its agent told of the decision, once
//! and with the right text; and the file has to hold what was decided.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::agent::Dialect;

pub(crate) struct Change {
    pub(crate) agent: usize,
    pub(crate) dialect: Dialect,
    pub(crate) call: u64,
    pub(crate) before: String,
    pub(crate) proposed: String,
    pub(crate) asked: Instant,
    pub(crate) shown: Option<Instant>,
    pub(crate) decided: Option<(Instant, bool)>,
    told: Option<Instant>,
}

#[derive(Default)]
pub(crate) struct Ledger {
    changes: BTreeMap<PathBuf, Change>,
    by_call: BTreeMap<(usize, u64), PathBuf>,
    pub(crate) broken: Vec<String>,
    pub(crate) told: usize,
}

impl Ledger {
    /// A file is made, and a change of it noted as asked for now.
    pub(crate) fn asked(
        &mut self,
        path: &Path,
        agent: usize,
        dialect: Dialect,
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
            told: None,
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

    /// Gives whether it is the first time.
    pub(crate) fn shown(&mut self, path: &Path, at: Instant) -> bool {
        let Some(change) = self.changes.get_mut(path) else {
            self.broken.push(format!("{} was shown, and nobody proposed it", path.display()));
            return false;
        };
        let first = change.shown.is_none();
        change.shown.get_or_insert(at);
        first
    }

    /// The first word stands; whoever is asked again after a crash says the same.
    pub(crate) fn decided(&mut self, path: &Path, accept: bool) {
        if let Some(change) = self.changes.get_mut(path) {
            change.decided.get_or_insert((Instant::now(), accept));
        }
    }

    pub(crate) fn told(&mut self, agent: usize, call: u64, texts: &[String], at: Instant) {
        let Some(path) = self.by_call.get(&(agent, call)).cloned() else { return };
        let Some(change) = self.changes.get_mut(&path) else { return };
        let name = path.display();
        if change.told.is_some() {
            self.broken.push(format!("agent {agent} was told twice of {name}"));
            return;
        }
        change.told = Some(at);
        self.told += 1;
        let first = texts.first().map_or("", String::as_str);
        match change.decided {
            None => {
                self.broken.push(format!("agent {agent} was told `{first}` of {name} before anyone decided"))
            }
            Some((_, accepted)) => {
                let expected = if accepted { "FILE_SAVED" } else { "DIFF_REJECTED" };
                if first != expected {
                    self.broken.push(format!("agent {agent} was told `{first}` of {name}, not `{expected}`"));
                }
                let whole = change.dialect == Dialect::Claude && accepted;
                if whole && texts.get(1) != Some(&change.proposed) {
                    self.broken
                        .push(format!("agent {agent} was told another text of {name} than was accepted"));
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

    /// From the proposal to the screen, of each.
    pub(crate) fn until_shown(&self) -> Vec<Duration> {
        self.changes.values().filter_map(|change| Some(change.shown? - change.asked)).collect()
    }

    /// From the decision to the agent, of each.
    pub(crate) fn until_told(&self, dialect: Dialect) -> Vec<Duration> {
        let of = self.changes.values().filter(|change| change.dialect == dialect);
        of.filter_map(|change| Some(change.told? - change.decided?.0)).collect()
    }

    /// Whether everyone was told, and each file holds what it has to: the editor side writes only for some.
    pub(crate) fn settle(&mut self) {
        for (path, change) in &self.changes {
            if change.told.is_none() {
                let was = match (change.shown, change.decided) {
                    (None, _) => "never shown",
                    (_, None) => "shown, never decided",
                    _ => "decided, and its agent never told",
                };
                self.broken.push(format!("{} was {was} (agent {})", path.display(), change.agent));
            }
            let accepted = change.decided.is_some_and(|(_, accepted)| accepted);
            let written = accepted && change.dialect == Dialect::Nexus3;
            let expected = if written { &change.proposed } else { &change.before };
            if fs::read_to_string(path).ok().as_ref() != Some(expected) {
                let what = if written { "the accepted text" } else { "what it held before" };
                self.broken.push(format!("{} does not hold {what}", path.display()));
            }
        }
    }
}
