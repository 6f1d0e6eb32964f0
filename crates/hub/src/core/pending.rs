//! Everything that waits for an answer from outside: which ticket it waits under, what happens next, and until when.
//!
//! Continuations are plain data. An answer, a deadline or the end of a connection takes one out of the map, so each
//! is resumed exactly once; what resuming means is decided by the parts of the core, not here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_dialect::{AllowedBy, CallId, Request};
use linkspan_editor_api::{Attach, PermissionKind, RequestId, RpcError, decode};
use linkspan_review::{AgentId, Decision, Digest, ReviewId, Revision, SharedText, SurfaceId, WindowId};
use linkspan_workspace::Cancel;
use serde_json::value::RawValue;

use crate::core::contract::{BegunUndo, ConnectionId, FileState, TerminalId, Ticket};
use crate::core::principal::AgentPrincipal;
use crate::core::timers::TimerId;
use crate::token::Token;

/// How long a write that is late is waited for before its file is read again.
pub(super) const LATE_WRITE_MS: u64 = 10_000;

/// How long a late answer about a write is waited for. After that, the result is reported as unknown.
pub(super) const LATE_MS: u64 = 120_000;

/// A write whose answer may be late.
#[derive(Debug, Clone, Copy)]
pub(super) struct LateWrite {
    until_ms: u64,
    /// When the write was requested, or its file was last looked at.
    looked_ms: u64,
}

impl LateWrite {
    pub(super) fn new(now_ms: u64) -> LateWrite {
        LateWrite { until_ms: now_ms + LATE_MS, looked_ms: now_ms }
    }

    /// Its deadline has passed: whether the file is to be looked at, and the answer waited for a little longer. Time by
    /// which the clock jumped does not count: the machine may have slept, and then nobody could write or answer.
    pub(super) fn waits_longer(&mut self, now_ms: u64) -> bool {
        let has_jumped = now_ms > self.looked_ms + 2 * LATE_WRITE_MS;
        self.looked_ms = now_ms;
        now_ms < self.until_ms || has_jumped
    }
}

/// What to do when the answer is there.
#[derive(Debug)]
pub(super) enum Continuation {
    /// An editor answers a request.
    Editor(EditorRequest),
    /// The edge made a window ready, or read the rules of its folders.
    WindowPrepared(WindowPurpose),
    /// The disk said what a file holds.
    FileRead { purpose: ReadPurpose, path: PathBuf },
    /// A job of an agent is done.
    Job(PendingJob),
    /// The remembered permissions were changed.
    ClientsChanged(ClientsPurpose),
}

/// A request that an editor has not answered.
#[derive(Debug)]
pub(super) struct EditorRequest {
    pub(super) connection: ConnectionId,
    /// The id of the request on that connection.
    pub(super) id: i64,
    pub(super) then: AfterAnswer,
}

/// What to do with the answer of an editor.
#[derive(Debug)]
pub(super) enum AfterAnswer {
    /// It answers a call of an agent.
    Call(ToolCall),
    /// It is the live text of a file that was read from disk.
    LiveText {
        purpose: ReadPurpose,
        disk: FileState,
    },
    /// The editor was asked to write an accepted change.
    EditsApplied {
        review: ReviewId,
        save: bool,
        late: LateWrite,
    },
    /// The editor was asked to put back what a file held.
    EditsRestored(Ticket),
    Heartbeat,
    /// The selection, and then the open files, for agents that follow the user.
    ContextSelection(WindowId),
    ContextDocuments(WindowId),
    /// The diagnostics of a file, for agents that do not ask.
    ChangedDiagnostics(WindowId),
    /// The same for Codex's terminal program, which asks once.
    IdeSelection(IdeQuestion),
    IdeDocuments(IdeQuestion, Option<Box<linkspan_editor_api::Selection>>),
    /// Symbols of this window, for a message that the user writes.
    ChatSymbols {
        reader: ConnectionId,
        request: RequestId,
        window: WindowId,
    },
    /// Nothing depends on it: a review was shown or hidden.
    Ignore,
}

/// A question of Codex's terminal program that waits for an editor.
#[derive(Debug)]
pub(super) struct IdeQuestion {
    pub(super) question: u64,
    pub(super) root: PathBuf,
    pub(super) window: WindowId,
    pub(super) editor: ConnectionId,
}

/// Why an editor gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    TimedOut,
    Gone,
    /// The answer does not have the form that was asked for.
    Misunderstood(RpcError),
    Error(RpcError),
}

impl NoAnswer {
    pub(super) fn message(&self) -> String {
        match self {
            NoAnswer::TimedOut => "the editor did not answer in time; check whether it hangs".to_owned(),
            NoAnswer::Gone => "the editor is not connected".to_owned(),
            NoAnswer::Misunderstood(error) => format!(
                "the editor's answer was not understood ({}): its Linkspan integration may have a different version",
                error.message
            ),
            NoAnswer::Error(error) => error.message.clone(),
        }
    }
}

/// An answer of the wrong form is reported as an error of the editor.
pub(super) fn read_answer<T: serde::de::DeserializeOwned>(
    answer: Result<&RawValue, NoAnswer>,
) -> Result<T, NoAnswer> {
    answer.and_then(|raw| decode(raw).map_err(NoAnswer::Misunderstood))
}

/// A call of an agent that waits for its answer.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) agent: AgentId,
    pub(super) call: CallId,
    pub(super) request: Request,
}

/// Why the edge was asked to make a window ready.
#[derive(Debug)]
pub(super) enum WindowPurpose {
    Attach {
        connection: ConnectionId,
        request: RequestId,
        attach: Box<Attach>,
        window: WindowId,
        /// The port and token that the window had before.
        before: Option<(u16, Token)>,
    },
    Folders {
        window: WindowId,
        folders: Vec<PathBuf>,
    },
    /// The rules of a window that is not open.
    ClosedPolicy {
        window: WindowId,
        asked_by: Ticket,
    },
}

/// Why a file is read.
#[derive(Debug)]
pub(super) enum ReadPurpose {
    /// Only to find out whether agents may name the path.
    Path(ToolCall),
    /// For the agent to read.
    Text(ToolCall),
    /// The other file that a proposal is compared with. It is read first.
    CompareWith(ToolCall),
    /// `again`: the first read may have been older than our own write. `left`: the text of the other file.
    Proposal {
        tool: ToolCall,
        again: bool,
        left: Option<SharedText>,
    },
    Decision {
        decider: Decider,
        review: ReviewId,
        seen: (Revision, Option<Digest>),
        decision: Decision,
    },
    /// It is not known whether an accepted change was written: what does the file hold? If not the result, the
    /// write begins again, or failed for the reason given.
    Write {
        review: ReviewId,
        /// It was to be saved as well.
        save: bool,
        failed: Option<String>,
        /// It may have been written, by an editor that has not said so or by an earlier hub, and changed since.
        maybe_written: bool,
        /// How long an editor that hangs is asked again.
        late: LateWrite,
    },
    /// The write of an accepted change is late: is it done?
    LateWrite {
        review: ReviewId,
        save: bool,
    },
    /// The hub is about to take over the write of this accepted change from its agent.
    WriteHere {
        review: ReviewId,
        late: LateWrite,
    },
    /// One of the files of a call that names its changes by place.
    Edit {
        agent: AgentId,
        editing: Ticket,
        part: usize,
    },
    /// Whether the agent wrote this accepted change.
    AgentWrite(ReviewId),
    /// Whether the file is what an undo needs it to be.
    Undo(UndoRead),
}

impl ReadPurpose {
    /// The disk or an editor has not answered in time: whether it is asked again. The user has decided, and only the editor knows the
    /// text that the decision is about.
    pub(super) fn asks_again(&mut self, now_ms: u64) -> bool {
        match self {
            ReadPurpose::Write { late, .. } | ReadPurpose::WriteHere { late, .. } => {
                late.waits_longer(now_ms)
            }
            _ => false,
        }
    }
}

/// Who decides a review.
#[derive(Debug)]
pub(super) enum Decider {
    /// The user, on this connection; the answer goes to this request.
    Surface { connection: ConnectionId, request: RequestId },
    /// No one now: the user allowed it before.
    Preapproved(Preapproval),
}

/// How the user allowed a change before it was proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preapproval {
    /// With a permission in this hub.
    ByGrant,
    /// Elsewhere, as its agent says, which writes it.
    Elsewhere(AllowedBy),
}

impl Preapproval {
    const ALL: [Preapproval; 4] = [
        Preapproval::ByGrant,
        Preapproval::Elsewhere(AllowedBy::Yolo),
        Preapproval::Elsewhere(AllowedBy::Sandboxed),
        Preapproval::Elsewhere(AllowedBy::Terminal),
    ];

    /// The review state machine knows deciders by number. No connection reaches these.
    fn surface(self) -> SurfaceId {
        let place = Preapproval::ALL.iter().position(|other| *other == self).unwrap_or_default();
        SurfaceId(u64::MAX - place as u64)
    }

    pub(super) fn of(surface: SurfaceId) -> Option<Preapproval> {
        Preapproval::ALL.into_iter().find(|preapproval| preapproval.surface() == surface)
    }

    /// For people, after "in".
    pub(super) fn place(self) -> &'static str {
        match self {
            Preapproval::ByGrant => "what was allowed before",
            Preapproval::Elsewhere(by) => by.place(),
        }
    }
}

impl Decider {
    pub(super) fn surface(&self) -> SurfaceId {
        match self {
            Decider::Surface { connection, .. } => SurfaceId(connection.0),
            Decider::Preapproved(by) => by.surface(),
        }
    }
}

/// Why a file is read for an undo.
#[derive(Debug)]
pub(super) enum UndoRead {
    /// Is it what the change made it?
    Begin(Ticket),
    /// Is it what it was before the change, now that someone has written it?
    Check(Ticket),
    /// Was that undo done?
    Doubt(BegunUndo),
    /// It does not seem so: may it be done by an editor that has the file unsaved?
    Unsaved(UnsavedUndo),
}

/// An undo whose file is as it was before.
#[derive(Debug)]
pub(super) struct UnsavedUndo {
    pub(super) undo: BegunUndo,
    /// Those that contain the file and were not asked yet; the last is next.
    pub(super) windows: Vec<WindowId>,
}

/// Something that runs for an agent, on a thread of the edge.
#[derive(Debug)]
pub(super) struct PendingJob {
    pub(super) agent: AgentId,
    pub(super) call: CallId,
    pub(super) window: WindowId,
    /// Where it runs, and the name by which the agent knows that terminal.
    pub(super) terminal: Option<(TerminalId, String)>,
    pub(super) cancel: Cancel,
}

/// Why the remembered permissions are changed.
#[derive(Debug)]
pub(super) enum ClientsPurpose {
    /// The user answered a prompt with "always".
    Answer {
        who: AgentPrincipal,
        deed: PermissionKind,
    },
    Allow {
        connection: ConnectionId,
        request: RequestId,
        dialects: Vec<String>,
    },
    /// With the number of permissions for sessions that were revoked.
    Revoke {
        connection: ConnectionId,
        request: RequestId,
        revoked: usize,
    },
}

#[derive(Debug)]
struct Waiting {
    continuation: Continuation,
    timer: Option<TimerId>,
}

#[derive(Debug, Default)]
pub(super) struct Pending(BTreeMap<Ticket, Waiting>);

impl Pending {
    pub(super) fn insert(&mut self, ticket: Ticket, continuation: Continuation, timer: Option<TimerId>) {
        self.0.insert(ticket, Waiting { continuation, timer });
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<(Continuation, Option<TimerId>)> {
        let Waiting { continuation, timer } = self.0.remove(&ticket)?;
        Some((continuation, timer))
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Continuation> {
        self.0.get(&ticket).map(|waiting| &waiting.continuation)
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Continuation> {
        self.0.get_mut(&ticket).map(|waiting| &mut waiting.continuation)
    }

    /// Replaces the deadline; the old one has passed.
    pub(super) fn set_timer(&mut self, ticket: Ticket, timer: TimerId) {
        if let Some(waiting) = self.0.get_mut(&ticket) {
            waiting.timer = Some(timer);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Ticket, &Continuation)> {
        self.0.iter().map(|(ticket, waiting)| (*ticket, &waiting.continuation))
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Continuation> {
        self.0.values_mut().map(|waiting| &mut waiting.continuation)
    }

    pub(super) fn count(&self, is_meant: impl Fn(&Continuation) -> bool) -> usize {
        self.0.values().filter(|waiting| is_meant(&waiting.continuation)).count()
    }
}
