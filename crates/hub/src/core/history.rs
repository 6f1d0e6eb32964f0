//! The past: what was done, without what `deny` covers, and which undos are in doubt. Nobody is told of the past
//! before what is in doubt was looked at.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use linkspan_dialect::Failure;
use linkspan_editor_api as api;
use linkspan_editor_api::{HistoryEntry, HistoryListResult, Message, RequestId, RpcError, errors};
use linkspan_review::{ChangeId, Digest, Text, WindowId};

use super::Core;
use super::base::{Base, BaseWanted};
use super::event::{Action, LocalId, Ticket};
use super::policy::Policy;
use super::timers::Due;
use super::undo::{COMING_BACK_MS, Undo, UndoRead};
use super::windows::Preparing;
use crate::journal::{BegunUndo, Filter, Found, Question};

const LISTED: u32 = 50;
const LISTED_MOST: u32 = 1000;
/// Connections that ask about the past at the same time.
const ASKING_MOST: usize = 64;

/// Questions about the past that are under way.
#[derive(Debug, Default)]
pub(super) struct History {
    lists: HashMap<Ticket, Listing>,
    pub(super) undos: HashMap<Ticket, Undo>,
    /// Undos that were begun, and of which it is not known whether they were done.
    pub(super) doubts: Vec<BegunUndo>,
    /// Those whose editor may yet come back.
    waiting: Vec<BegunUndo>,
    /// Those that the disk or an editor was given up on, and may yet do.
    pub(super) late: BTreeMap<Ticket, Late>,
    /// Those that turned out to be done while they were looked at.
    pub(super) done_meanwhile: BTreeSet<ChangeId>,
    /// How many of them are being looked at, and what is asked once they are.
    pub(super) looking: usize,
    held: Vec<(Ticket, Question)>,
    /// What windows that are closed keep from agents.
    pub(super) closed: BTreeMap<WindowId, Policy>,
}

#[derive(Debug)]
struct Listing {
    local: LocalId,
    request: RequestId,
    entries: Vec<HistoryEntry>,
    /// Closed windows whose rules are still being read.
    unread: usize,
}

/// An undo that may yet be done.
#[derive(Debug)]
pub(super) struct Late {
    pub(super) id: ChangeId,
    pub(super) path: PathBuf,
    /// The disk, if it is none.
    pub(super) editor: Option<Told>,
}

/// What an editor was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) window: WindowId,
    pub(super) local: LocalId,
    pub(super) request: i64,
}

impl History {
    /// How many questions and undos are under way, those that the disk was given up on among them.
    pub(super) fn held_back(&self) -> usize {
        self.lists.len()
            + self.undos.len()
            + self.late.len()
            + self.done_meanwhile.len()
            + self.held.len()
            + self.waiting.len()
    }
}

impl Core {
    pub(super) fn history_list(
        &mut self,
        local: LocalId,
        request: RequestId,
        list: api::HistoryList,
    ) -> Result<(), RpcError> {
        let window = list.window.as_deref().map(window_named).transpose()?;
        self.may_ask(local)?;
        let filter = Filter {
            limit: list.limit.unwrap_or(LISTED).min(LISTED_MOST) as usize,
            path: list.path.map(PathBuf::from),
            window,
            undoable: list.undoable,
        };
        let ticket = self.ticket();
        self.history.lists.insert(ticket, Listing { local, request, entries: Vec::new(), unread: 0 });
        self.ask_history(ticket, Question::List(filter));
        Ok(())
    }

    /// One question about the past for each connection, and not too many for all.
    pub(super) fn may_ask(&self, local: LocalId) -> Result<(), RpcError> {
        let lists = self.history.lists.values().map(|list| list.local);
        let asking: Vec<LocalId> = lists.chain(self.history.undos.values().map(Undo::asker)).collect();
        if asking.contains(&local) {
            let message = "this connection waits for an answer about the past already: one at a time";
            return Err(RpcError::new(errors::INVALID_REQUEST, message));
        }
        if asking.len() >= ASKING_MOST {
            let message = format!("{ASKING_MOST} others ask about the past right now; ask again in a moment");
            return Err(RpcError::new(errors::TIMEOUT, message));
        }
        Ok(())
    }

    /// Asks the journal, once it knows all that can be known.
    pub(super) fn ask_history(&mut self, ticket: Ticket, question: Question) {
        self.look_at_doubts();
        self.look_at_landings();
        if self.history.looking == 0 {
            self.act(Action::ReadHistory { ticket, question });
        } else {
            self.history.held.push((ticket, question));
        }
    }

    pub(super) fn history_read(&mut self, ticket: Ticket, result: Result<Found, String>) {
        let Some(list) = self.history.lists.get_mut(&ticket) else {
            return self.change_read(ticket, result);
        };
        match result {
            Ok(Found::List(entries)) => {
                let windows: BTreeSet<WindowId> =
                    entries.iter().filter_map(|entry| window_named(&entry.window).ok()).collect();
                list.entries = entries;
                let unread =
                    windows.into_iter().filter(|window| self.read_closed_policy(*window, ticket)).count();
                match self.history.lists.get_mut(&ticket) {
                    Some(list) if unread > 0 => list.unread = unread,
                    _ => self.list_ready(ticket),
                }
            }
            Ok(_) => self.not_listed(ticket, RpcError::new(errors::INTERNAL, "no list was read")),
            Err(error) => self.not_listed(ticket, unreadable(&error)),
        }
    }

    fn not_listed(&mut self, ticket: Ticket, error: RpcError) {
        if let Some(Listing { local, request, .. }) = self.history.lists.remove(&ticket) {
            self.send(local, &Message::error(Some(request), error));
        }
    }

    fn list_ready(&mut self, ticket: Ticket) {
        let Some(Listing { local, request, entries, .. }) = self.history.lists.remove(&ticket) else {
            return;
        };
        let open = |entry: &HistoryEntry| {
            window_named(&entry.window).is_ok_and(|window| !self.keeps_back(window, Path::new(&entry.path)))
        };
        let entries = entries.into_iter().filter(open).collect();
        self.send(local, &Message::response(request, &HistoryListResult { entries }));
    }

    /// Whether that window, open or closed, keeps the file from agents and watchers.
    pub(super) fn keeps_back(&self, window: WindowId, path: &Path) -> bool {
        match (self.windows.get(&window), self.history.closed.get(&window)) {
            (Some(window), _) => window.policy.denies(path),
            (None, Some(closed)) => closed.denies(path),
            (None, None) => {
                let (folders, globs) = (self.folders_of(window).0, self.config.deny_globs());
                Policy::new(folders, globs, &self.identity.own_places).denies(path)
            }
        }
    }

    /// Whether the rules of a closed window have to be read first: its workspace may have a file of its own.
    pub(super) fn read_closed_policy(&mut self, window: WindowId, asked_by: Ticket) -> bool {
        if self.windows.contains_key(&window) {
            return false;
        }
        let Some(old) = self.remembered.iter().find(|old| old.id == window) else { return false };
        let folders = old.folders.clone();
        let ticket = self.ticket();
        self.act(Action::PrepareWindow { ticket, folders, listen: None });
        self.preparing.insert(ticket, Preparing::Closed { window, asked_by });
        true
    }

    pub(super) fn closed_policy(&mut self, window: WindowId, policy: Policy, asked_by: Ticket) {
        self.history.closed.insert(window, policy);
        let Some(list) = self.history.lists.get_mut(&asked_by) else {
            return self.undo_may_begin(asked_by);
        };
        list.unread = list.unread.saturating_sub(1);
        if list.unread == 0 {
            self.list_ready(asked_by);
        }
    }

    /// An undo that an earlier life began is not carried on, because nobody waits for it; the file says whether it
    /// was done.
    pub(super) fn doubt_undos(&mut self, begun: Vec<BegunUndo>) {
        for undo in &begun {
            let (review, path) = (undo.review, undo.path.clone());
            let (folders, _) = self.folders_of(undo.window);
            self.act(Action::SweepBeside { review, folders, path });
        }
        self.history.doubts = begun;
        self.look_at_doubts();
    }

    /// An editor that was with the hub before may yet do what that one told it; once it is back, it has.
    fn look_at_doubts(&mut self) {
        for undo in std::mem::take(&mut self.history.doubts) {
            self.history.looking += 1;
            let path = undo.path.clone();
            if self.comes_back(&path) {
                if self.history.waiting.is_empty() {
                    self.timers.add(COMING_BACK_MS, Due::Doubts);
                }
                self.history.waiting.push(undo);
            } else {
                self.read_base(BaseWanted::Undo(UndoRead::Doubt(undo)), path);
            }
        }
    }

    pub(super) fn doubts_waited(&mut self) {
        for undo in std::mem::take(&mut self.history.waiting) {
            let path = undo.path.clone();
            self.read_base(BaseWanted::Undo(UndoRead::Doubt(undo)), path);
        }
    }

    /// Only what is seen in the file counts: the bytes of before or those of after. With any others, and where
    /// nothing could be read, it stays in doubt; also while the disk may yet do it.
    pub(super) fn doubt_read(&mut self, undo: BegunUndo, base: Result<Base, Failure>) {
        let now = base.as_ref().map(|base| base.text.as_ref());
        let late = self.history.late.values().any(|late| late.id == undo.id);
        if self.history.done_meanwhile.remove(&undo.id) {
            // The journal knows it.
        } else if now.as_ref().is_ok_and(|now| holds(*now, undo.after)) {
            self.history.late.retain(|_, late| late.id != undo.id);
            self.act(Action::EndUndo { undo: undo.id, done: true, mode: None });
        } else if !late && now.as_ref().is_ok_and(|now| holds(*now, undo.before)) {
            self.act(Action::EndUndo { undo: undo.id, done: false, mode: None });
        } else {
            self.history.doubts.push(undo);
        }
        self.looked_at_file();
    }

    /// One of the files that a question about the past waits for was looked at.
    pub(super) fn looked_at_file(&mut self) {
        self.history.looking = self.history.looking.saturating_sub(1);
        if self.history.looking == 0 {
            for (ticket, question) in std::mem::take(&mut self.history.held) {
                self.act(Action::ReadHistory { ticket, question });
            }
        }
    }
}

/// `None`: there is no file, and shall be none.
pub(super) fn holds(now: Option<&Text>, expected: Option<Digest>) -> bool {
    now.map(Text::digest) == expected
}

pub(super) fn unreadable(error: &str) -> RpcError {
    RpcError::new(
        errors::INTERNAL,
        format!("the journal cannot be read: {error}; look at `linkspan hub log`"),
    )
}

pub(super) fn window_named(name: &str) -> Result<WindowId, RpcError> {
    let number = name.strip_prefix('w').and_then(|number| number.parse().ok());
    number.map(WindowId).ok_or_else(|| {
        let message = format!("`{name}` is no window's id; `linkspan status` lists them");
        RpcError::new(errors::INVALID_PARAMS, message)
    })
}
