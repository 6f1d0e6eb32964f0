//! Lock files, and ports in variables of terminals, as candidates: their contents, whether their editor answers, and
//! which files of ours are stale.

use std::path::{Path, PathBuf};

use linkspan_editor_api::WindowStatus;
use linkspan_editor_api::wire_names::env::{CLIO_IDE_PORT, GEMINI_PORT, GEMINI_TOKEN};

use super::candidate::{Candidate, CandidateVerdict, FoundBy, Secret, Wire};
use super::listening_ports;
use super::liveness::ask_all;
use super::lock_dir::{self, LockDir, LockEntry, LockKind};
use super::lock_file::{self, LockFile};
use super::reason::Reason;
use super::surroundings::Surroundings;
use super::working_dir::WorkingDir;
use super::{LookedIn, LookupResult};
use crate::dial::is_closed;

/// Up to this many are contacted without checking the listening ports first.
const FEW: usize = 16;

/// The lock files of all directories.
#[derive(Debug, Default)]
pub(super) struct LockCandidates {
    candidates: Vec<LockCandidate>,
    directories: Vec<LockDir>,
    looked_in: Vec<LookedIn>,
}

/// A lock file, or a port from a variable.
#[derive(Debug)]
struct LockCandidate {
    candidate: Candidate,
    /// The file, and which of the directories it is in.
    file: Option<(LockEntry, usize)>,
    /// Written by a hub of ours that shares our ports.
    ours: bool,
    on_windows: bool,
    /// Nothing speaks against it yet.
    worth_asking: bool,
}

impl LockCandidates {
    /// Reads the lock files; contacts no editor.
    pub(super) fn read(
        surroundings: &Surroundings,
        working_dir: &mut WorkingDir<'_>,
        windows: &[WindowStatus],
    ) -> LockCandidates {
        let mut candidates = LockCandidates::default();
        for (kind, place) in lock_dir::places(surroundings) {
            let opened = LockDir::open(&place, kind, surroundings.uid);
            let read = opened.and_then(|directory| Ok((directory.read()?, directory)));
            let found = match read {
                Ok((entries, directory)) => {
                    let count = entries.len();
                    let index = candidates.directories.len();
                    candidates.candidates.extend(entries.into_iter().map(|entry| {
                        let path = place.join(&entry.name);
                        LockCandidate::of(entry, kind, path, index, surroundings, working_dir, windows)
                    }));
                    candidates.directories.push(directory);
                    LookupResult::LockFiles { count }
                }
                Err(seen) => seen,
            };
            candidates.looked_in.push(LookedIn { place, found });
        }
        candidates.read_variables(surroundings, working_dir, windows);
        candidates
    }

    /// A terminal names its own window. Clio's single file for all windows may name another, and Gemini's may be gone.
    fn read_variables(
        &mut self,
        surroundings: &Surroundings,
        working_dir: &mut WorkingDir<'_>,
        windows: &[WindowStatus],
    ) {
        let token = || surroundings.variable(GEMINI_TOKEN).map(Secret::new);
        let named = [
            (CLIO_IDE_PORT, surroundings.port(CLIO_IDE_PORT).map(|port| Wire::Clio { port })),
            (GEMINI_PORT, surroundings.port(GEMINI_PORT).map(|port| Wire::Gemini { port, token: token() })),
        ];
        for (variable, wire) in named {
            let Some(wire) = wire else { continue };
            let known = self.candidates.iter().any(|candidate| {
                (candidate.candidate.wire.port(), candidate.candidate.wire.dialect())
                    == (wire.port(), wire.dialect())
            });
            if !known && !windows.iter().any(|window| window.port == wire.port()) {
                self.candidates.push(LockCandidate::named(variable, wire, working_dir));
            }
        }
    }

    /// Contacts the editors that fit, and those of our own lock files.
    pub(super) fn ask(&mut self) {
        let mut asked: Vec<&mut LockCandidate> =
            self.candidates.iter_mut().filter(|candidate| candidate.worth_asking).collect();
        if asked.len() > FEW
            && let Some(open) = listening_ports::ports()
        {
            // Ports that Windows listens on are not in the list.
            let closed = |candidate: &mut &mut LockCandidate| {
                !candidate.on_windows && !open.contains(&candidate.candidate.wire.port())
            };
            for candidate in asked.extract_if(.., closed) {
                candidate.candidate.verdict = CandidateVerdict::Not(Reason::NothingListens);
            }
        }
        // If there is not enough time for all, the best ones are asked.
        asked.sort_by_key(|candidate| (candidate.candidate.matched.is_none(), candidate.candidate.matched));
        let wires: Vec<&Wire> = asked.iter().map(|candidate| &candidate.candidate.wire).collect();
        let answers = ask_all(&wires);
        for (candidate, answer) in asked.into_iter().zip(answers) {
            candidate.candidate.verdict = match answer {
                Err(Reason::NothingListens | Reason::NoAnswer) if candidate.on_windows => {
                    CandidateVerdict::Not(Reason::OnWindows)
                }
                Err(reason) => CandidateVerdict::Not(reason),
                Ok(()) if candidate.candidate.matched.is_none() => {
                    CandidateVerdict::Not(Reason::OtherWorkspace)
                }
                Ok(()) => CandidateVerdict::Usable,
            };
        }
    }

    /// Removes files that a hub of ours left behind. Returns their paths; they are no longer candidates.
    pub(super) fn remove_stale(&mut self) -> Vec<PathBuf> {
        let directories = &self.directories;
        let stale = |candidate: &mut LockCandidate| {
            candidate.ours
                && candidate.candidate.verdict == CandidateVerdict::Not(Reason::NothingListens)
                // A hub listens before it writes the file: while nothing listens, the file is an old one.
                && is_closed(candidate.candidate.wire.port())
                && candidate.file.as_ref().is_some_and(|(entry, directory)| {
                    directories.get(*directory).is_some_and(|directory| directory.remove(entry))
                })
        };
        let removed = self.candidates.extract_if(.., stale);
        removed.filter_map(|candidate| candidate.path().map(Path::to_owned)).collect()
    }

    pub(super) fn into_parts(self) -> (Vec<Candidate>, Vec<LookedIn>) {
        (self.candidates.into_iter().map(|candidate| candidate.candidate).collect(), self.looked_in)
    }
}

impl LockCandidate {
    fn of(
        mut entry: LockEntry,
        kind: LockKind,
        path: PathBuf,
        directory: usize,
        surroundings: &Surroundings,
        working_dir: &mut WorkingDir<'_>,
        windows: &[WindowStatus],
    ) -> LockCandidate {
        let contents = std::mem::replace(&mut entry.contents, Ok(Vec::new()));
        let parsed = contents.and_then(|bytes| lock_file::parse(&bytes).map_err(Reason::Malformed));
        let no_port = || Reason::Malformed("it has no port".to_owned());
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
        let matched = working_dir.matches(None, port, &folders);
        let ours = working_dir.shares_ports_with(lock.port_space.as_deref());
        let of_window = windows.iter().find(|window| window.port == port);
        let against = unreadable
            .or_else(|| of_window.map(|window| Reason::SameAs { window: window.window.clone() }))
            .or(lock.other_transport.map(Reason::UnknownTransport))
            .or((matched.is_none() && !ours).then_some(Reason::OtherWorkspace));
        let token = lock.token;
        let wire = match kind {
            LockKind::Claude => Wire::Claude { port, token },
            LockKind::Nexus3 => Wire::Nexus3 { port, token },
            LockKind::Gemini | LockKind::Qwen => Wire::Gemini { port, token },
            LockKind::Clio => Wire::Clio { port },
        };
        let worth_asking = against.is_none();
        let candidate = Candidate {
            editor: lock.editor,
            wire,
            folders,
            pid: lock.pid,
            found: FoundBy::LockFile(path),
            matched,
            verdict: CandidateVerdict::Not(against.unwrap_or(Reason::NotAsked)),
        };
        let file = Some((entry, directory));
        LockCandidate { candidate, file, ours, on_windows: lock.running_in_windows, worth_asking }
    }

    fn named(variable: &'static str, wire: Wire, working_dir: &mut WorkingDir<'_>) -> LockCandidate {
        let matched = working_dir.matches(None, wire.port(), &[]);
        let candidate = Candidate {
            editor: LockFile::unknown().editor,
            wire,
            folders: Vec::new(),
            pid: None,
            found: FoundBy::Variable(variable),
            matched,
            verdict: CandidateVerdict::Not(Reason::NotAsked),
        };
        LockCandidate { candidate, file: None, ours: false, on_windows: false, worth_asking: true }
    }

    fn path(&self) -> Option<&Path> {
        match &self.candidate.found {
            FoundBy::LockFile(path) => Some(path),
            FoundBy::Hub | FoundBy::Variable(_) | FoundBy::Given => None,
        }
    }
}

/// The name of a folder on this system; a folder that is not on it keeps its name and fits nothing.
fn local_name(folder: &str, surroundings: &Surroundings) -> PathBuf {
    let translated = surroundings.wsl.as_ref().and_then(|wsl| wsl.here(folder));
    translated.unwrap_or_else(|| folder.into())
}
