//! Lock files, and ports that terminals name, on their way to a verdict: what they say, whether their editor answers,
//! and which files of ours are left over.

use std::path::{Path, PathBuf};

use linkspan_editor_api::WindowStatus;

use super::candidate::{Candidate, Found, Secret, Verdict, Wire};
use super::hello::ask_all;
use super::here::Here;
use super::listening;
use super::lock_dir::{self, Entry, Kind, LockDir};
use super::lock_file::{self, LockFile};
use super::reason::Reason;
use super::surroundings::{CLIO_IDE_PORT, GEMINI_PORT, GEMINI_TOKEN, Surroundings};
use super::{LookedIn, Seen};
use crate::dial::is_closed;

/// So many are called without looking first whether anybody listens.
const FEW: usize = 16;

/// The lock files of all directories.
#[derive(Debug, Default)]
pub(super) struct Leads {
    leads: Vec<Lead>,
    directories: Vec<LockDir>,
    looked_in: Vec<LookedIn>,
}

/// A lock file, or a port that was named.
#[derive(Debug)]
struct Lead {
    candidate: Candidate,
    /// The file, and which of the directories it is in.
    file: Option<(Entry, usize)>,
    /// Written by a hub of ours that sees the ports that we see.
    ours: bool,
    on_windows: bool,
    /// No reason against it has been found yet.
    worth_asking: bool,
}

impl Leads {
    /// Reads what there is; asks nobody.
    pub(super) fn read(surroundings: &Surroundings, here: &mut Here<'_>, windows: &[WindowStatus]) -> Leads {
        let mut leads = Leads::default();
        for (kind, place) in lock_dir::places(surroundings) {
            let opened = LockDir::open(&place, kind, surroundings.uid);
            let read = opened.and_then(|directory| Ok((directory.read()?, directory)));
            let found = match read {
                Ok((entries, directory)) => {
                    let count = entries.len();
                    let index = leads.directories.len();
                    leads.leads.extend(entries.into_iter().map(|entry| {
                        let path = place.join(&entry.name);
                        Lead::of(entry, kind, path, index, surroundings, here, windows)
                    }));
                    leads.directories.push(directory);
                    Seen::LockFiles { count }
                }
                Err(seen) => seen,
            };
            leads.looked_in.push(LookedIn { place, found });
        }
        leads.read_variables(surroundings, here, windows);
        leads
    }

    /// A terminal names its own window, which Clio's one file for all windows need not do, and Gemini's may be gone.
    fn read_variables(&mut self, surroundings: &Surroundings, here: &mut Here<'_>, windows: &[WindowStatus]) {
        let token = || surroundings.variable(GEMINI_TOKEN).map(Secret::new);
        let named = [
            (CLIO_IDE_PORT, surroundings.port(CLIO_IDE_PORT).map(|port| Wire::Clio { port })),
            (GEMINI_PORT, surroundings.port(GEMINI_PORT).map(|port| Wire::Gemini { port, token: token() })),
        ];
        for (variable, wire) in named {
            let Some(wire) = wire else { continue };
            let known = self.leads.iter().any(|lead| {
                (lead.candidate.wire.port(), lead.candidate.wire.dialect()) == (wire.port(), wire.dialect())
            });
            if !known && !windows.iter().any(|window| window.port == wire.port()) {
                self.leads.push(Lead::named(variable, wire, here));
            }
        }
    }

    /// Asks the editors that fit, and whether anybody is behind files of ours.
    pub(super) fn ask(&mut self) {
        let mut asked: Vec<&mut Lead> = self.leads.iter_mut().filter(|lead| lead.worth_asking).collect();
        if asked.len() > FEW
            && let Some(open) = listening::ports()
        {
            // What Windows listens on is not in the list.
            let closed =
                |lead: &mut &mut Lead| !lead.on_windows && !open.contains(&lead.candidate.wire.port());
            for lead in asked.extract_if(.., closed) {
                lead.candidate.verdict = Verdict::Not(Reason::NothingListens);
            }
        }
        // If there is no time for all of them, then for the best.
        asked.sort_by_key(|lead| (lead.candidate.matched.is_none(), lead.candidate.matched));
        let wires: Vec<&Wire> = asked.iter().map(|lead| &lead.candidate.wire).collect();
        let answers = ask_all(&wires);
        for (lead, answer) in asked.into_iter().zip(answers) {
            lead.candidate.verdict = match answer {
                Err(Reason::NothingListens | Reason::NoAnswer) if lead.on_windows => {
                    Verdict::Not(Reason::OnWindows)
                }
                Err(reason) => Verdict::Not(reason),
                Ok(()) if lead.candidate.matched.is_none() => Verdict::Not(Reason::OtherWorkspace),
                Ok(()) => Verdict::Usable,
            };
        }
    }

    /// Removes files that a hub of ours left behind. Gives what was removed, which is no candidate any more.
    pub(super) fn remove_stale(&mut self) -> Vec<PathBuf> {
        let directories = &self.directories;
        let stale = |lead: &mut Lead| {
            lead.ours
                && lead.candidate.verdict == Verdict::Not(Reason::NothingListens)
                // A hub listens before it writes: while nobody does, what is there is the old file.
                && is_closed(lead.candidate.wire.port())
                && lead.file.as_ref().is_some_and(|(entry, directory)| {
                    directories.get(*directory).is_some_and(|directory| directory.remove(entry))
                })
        };
        let removed = self.leads.extract_if(.., stale);
        removed.filter_map(|lead| lead.path().map(Path::to_owned)).collect()
    }

    pub(super) fn into_parts(self) -> (Vec<Candidate>, Vec<LookedIn>) {
        (self.leads.into_iter().map(|lead| lead.candidate).collect(), self.looked_in)
    }
}

impl Lead {
    fn of(
        mut entry: Entry,
        kind: Kind,
        path: PathBuf,
        directory: usize,
        surroundings: &Surroundings,
        here: &mut Here<'_>,
        windows: &[WindowStatus],
    ) -> Lead {
        let contents = std::mem::replace(&mut entry.contents, Ok(Vec::new()));
        let parsed = contents.and_then(|bytes| lock_file::parse(&bytes).map_err(Reason::Malformed));
        let no_port = || Reason::Malformed("it names no port".to_owned());
        let parsed = parsed.and_then(|lock| match entry.port.or(lock.port) {
            Some(_) => Ok(lock),
            None => Err(no_port()),
        });
        let (lock, unreadable) = match parsed {
            Ok(lock) => (lock, None),
            Err(reason) => (LockFile::unknown(), Some(reason)),
        };
        let port = entry.port.or(lock.port).unwrap_or_default();
        let folders: Vec<PathBuf> =
            lock.folders.iter().map(|folder| local_name(folder, surroundings)).collect();
        let matched = here.matches(None, port, &folders);
        let ours = here.shares_ports_with(lock.port_space.as_deref());
        let of_window = windows.iter().find(|window| window.port == port);
        let against = unreadable
            .or_else(|| of_window.map(|window| Reason::SameAs { window: window.window.clone() }))
            .or(lock.other_transport.map(Reason::UnknownTransport))
            .or((matched.is_none() && !ours).then_some(Reason::OtherWorkspace));
        let token = lock.token;
        let wire = match kind {
            Kind::Claude => Wire::Claude { port, token },
            Kind::Nexus3 => Wire::Nexus3 { port, token },
            Kind::Gemini | Kind::Qwen => Wire::Gemini { port, token },
            Kind::Clio => Wire::Clio { port },
        };
        let worth_asking = against.is_none();
        let candidate = Candidate {
            editor: lock.editor,
            wire,
            folders,
            pid: lock.pid,
            found: Found::LockFile(path),
            matched,
            verdict: Verdict::Not(against.unwrap_or(Reason::NotAsked)),
        };
        let file = Some((entry, directory));
        Lead { candidate, file, ours, on_windows: lock.running_in_windows, worth_asking }
    }

    fn named(variable: &'static str, wire: Wire, here: &mut Here<'_>) -> Lead {
        let matched = here.matches(None, wire.port(), &[]);
        let candidate = Candidate {
            editor: LockFile::unknown().editor,
            wire,
            folders: Vec::new(),
            pid: None,
            found: Found::Variable(variable),
            matched,
            verdict: Verdict::Not(Reason::NotAsked),
        };
        Lead { candidate, file: None, ours: false, on_windows: false, worth_asking: true }
    }

    fn path(&self) -> Option<&Path> {
        match &self.candidate.found {
            Found::LockFile(path) => Some(path),
            Found::Hub | Found::Variable(_) | Found::Given => None,
        }
    }
}

/// What a folder is called in here; one that is not in here keeps its name and fits nothing.
fn local_name(folder: &str, surroundings: &Surroundings) -> PathBuf {
    let translated = surroundings.wsl.as_ref().and_then(|wsl| wsl.here(folder));
    translated.unwrap_or_else(|| folder.into())
}
