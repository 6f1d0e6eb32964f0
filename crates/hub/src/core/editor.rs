//! Connections on the hub's own socket, and requests to editors: each has a deadline and is resumed exactly
//! once, by the answer, the deadline or the end of the connection.

use std::collections::BTreeMap;

use linkspan_editor_api as api;
use linkspan_editor_api::Notification as _;
use linkspan_editor_api::{
    DiagnosticsChanged, FoldersChanged, Mentioned, Message, Ping, Request, RequestId, RpcError,
    SelectionChanged, decode, errors,
};
use linkspan_review as review;
use linkspan_review::{AgentId, ReviewId, SurfaceId, WindowId};
use serde_json::value::RawValue;

use super::Core;
use super::base::BaseWanted;
use super::event::{Action, LocalId, Ticket};
use super::page;
use super::timers::{Due, TimerId};
use super::tools::ToolCall;
use super::writing::LOOK_AGAIN_MS;
use crate::files::FileState;

#[derive(Debug, Default)]
pub(super) struct Local {
    /// What it said it is, for the log and for "decided by".
    pub(super) role: String,
    pub(super) window: Option<WindowId>,
    pub(super) attaching: bool,
    /// A browser's: there is less that it may ask.
    pub(super) is_page: bool,
    /// The agent that it became: from then on every frame is the agent's.
    pub(super) agent: Option<AgentId>,
    asked: BTreeMap<i64, Asked>,
    next_id: i64,
    /// Decisions it waits to hear about, oldest first.
    pub(super) deciding: Vec<(ReviewId, RequestId)>,
}

impl Local {
    /// Called so whatever it says it is.
    pub(super) fn page() -> Local {
        Local { role: "the browser page".to_owned(), is_page: true, ..Local::default() }
    }

    pub(super) fn open_requests(&self) -> usize {
        self.asked.len()
    }
}

#[derive(Debug)]
struct Asked {
    resume: Resume,
    timer: TimerId,
}

/// What to do with an editor's answer.
#[derive(Debug)]
pub(super) enum Resume {
    Tool(ToolCall),
    /// The live text of a file that was read from disk.
    Base {
        wanted: BaseWanted,
        disk: FileState,
    },
    /// The editor was asked to write an accepted change.
    Applied {
        review: ReviewId,
        save: bool,
        /// Until then a late answer is waited for.
        until_ms: u64,
    },
    /// The editor was asked to put back what a file held.
    Restored(Ticket),
    Heartbeat,
    /// What is selected, and then which files are open, for agents that are told.
    ContextSelection(WindowId),
    Context(WindowId),
    /// Nothing hangs on it: a review shown or hidden.
    Ignore,
}

/// Why an editor gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    TimedOut,
    Gone,
    /// It answered something else than was asked.
    Misunderstood(RpcError),
    Error(RpcError),
}

impl NoAnswer {
    pub(super) fn message(&self) -> String {
        match self {
            NoAnswer::TimedOut => "the editor did not answer in time; look whether it hangs".to_owned(),
            NoAnswer::Gone => "the editor is not connected".to_owned(),
            NoAnswer::Misunderstood(error) => format!(
                "the editor's answer was not understood ({}): its Linkspan integration may be of another version",
                error.message
            ),
            NoAnswer::Error(error) => error.message.clone(),
        }
    }
}

impl Core {
    /// Sends a request to an editor; `resume` is carried out exactly once.
    pub(super) fn ask<R: Request>(&mut self, local: LocalId, params: &R, resume: Resume) {
        self.ask_and_wait(local, params, resume, 0);
    }

    /// The same with so much more time, for what the editor itself was asked to wait for.
    pub(super) fn ask_and_wait<R: Request>(
        &mut self,
        local: LocalId,
        params: &R,
        resume: Resume,
        wait_ms: u32,
    ) {
        if let Some(id) = self.await_answer(local, resume, wait_ms) {
            self.act(Action::SendLocal { local, body: Message::request_bytes(&id, params, 0) });
        }
    }

    /// Whoever calls this sends the request of that id.
    pub(super) fn await_answer(&mut self, local: LocalId, resume: Resume, wait_ms: u32) -> Option<RequestId> {
        let when = self.now_ms + self.config.limits.call_seconds * 1000 + u64::from(wait_ms);
        let Some(connection) = self.locals.get_mut(&local) else {
            self.resume(resume, Err(NoAnswer::Gone));
            return None;
        };
        connection.next_id += 1;
        let id = connection.next_id;
        let timer = self.timers.add(when, Due::Call { local, id });
        connection.asked.insert(id, Asked { resume, timer });
        Some(RequestId::Number(id))
    }

    pub(super) fn ping_editor(&mut self, local: LocalId) {
        self.ask(local, &Ping {}, Resume::Heartbeat);
    }

    pub(super) fn send(&mut self, local: LocalId, message: &Message) {
        self.act(Action::SendLocal { local, body: message.to_bytes() });
    }

    pub(super) fn local_message(&mut self, local: LocalId, body: &[u8]) {
        // Sent before the peer saw that we had hung up, or behind its own goodbye.
        let Some(connection) = self.locals.get(&local) else { return };
        let (agent, is_page) = (connection.agent, connection.is_page);
        self.local_heard(local);
        if let Some(agent) = agent {
            return self.joined_frame(agent, body);
        }
        match Message::parse(body) {
            Ok(Message::Request { id, method, .. }) if is_page && !page::may_ask(&method) => {
                let error = RpcError::new(errors::METHOD_NOT_FOUND, format!("no `{method}` for the page"));
                self.send(local, &Message::error(Some(id), error));
            }
            Ok(Message::Notification { .. }) if is_page => {}
            Ok(Message::Request { id, method, params }) => {
                if let Err(error) = self.local_request(local, &id, &method, &params) {
                    self.send(local, &Message::error(Some(id), error));
                }
            }
            Ok(Message::Notification { method, params }) => {
                if let Err(error) = self.local_notification(local, &method, &params) {
                    tracing::warn!("{method} from an editor: {error}");
                }
            }
            Ok(Message::Response { id, result }) => self.editor_answered(local, id, result),
            Err(error) => self.send(local, &error.to_message()),
        }
    }

    fn local_request(
        &mut self,
        local: LocalId,
        id: &RequestId,
        method: &str,
        params: &RawValue,
    ) -> Result<(), RpcError> {
        match method {
            api::Attach::METHOD => self.attach(local, id.clone(), decode(params)?),
            api::AgentJoin::METHOD => self.join(local, id.clone(), decode(params)?)?,
            api::ReviewDecided::METHOD => {
                let decided: api::ReviewDecided = decode(params)?;
                self.attached(local)?;
                let seen = (Some(decided.revision), decided.digest);
                self.decide(local, id.clone(), &decided.review, seen, decided.decision)?;
            }
            api::ReviewEdited::METHOD => {
                let edited = decode(params)?;
                self.attached(local)?;
                self.edited(local, id.clone(), edited)?;
            }
            api::UserAnswered::METHOD => {
                let result = self.person_answered(local, &decode(params)?)?;
                self.send(local, &Message::response(id.clone(), &result));
            }
            api::ReviewsDecide::METHOD => {
                let decide: api::ReviewsDecide = decode(params)?;
                let seen = (decide.revision, decide.digest);
                self.decide(local, id.clone(), &decide.review, seen, decide.decision)?;
            }
            Ping::METHOD => self.send(local, &Message::response(id.clone(), &())),
            _ => self.control_request(local, id, method, params)?,
        }
        Ok(())
    }

    fn local_notification(
        &mut self,
        local: LocalId,
        method: &str,
        params: &RawValue,
    ) -> Result<(), RpcError> {
        let window = self.attached(local)?;
        match method {
            api::Detach::METHOD => {
                if let Some(local) = self.locals.get_mut(&local) {
                    local.window = None;
                }
                self.detached(window);
            }
            FoldersChanged::METHOD => {
                let changed: FoldersChanged = decode(params)?;
                self.folders_changed(window, changed.folders);
            }
            SelectionChanged::METHOD => {
                let changed: SelectionChanged = decode(params)?;
                self.selection_changed(window, changed.selection);
            }
            Mentioned::METHOD => self.mentioned(window, decode(params)?),
            DiagnosticsChanged::METHOD => {
                let changed: DiagnosticsChanged = decode(params)?;
                self.diagnostics_changed(window, changed.files);
            }
            api::ReviewShown::METHOD => self.review_shown(&decode(params)?)?,
            api::FocusChanged::METHOD => {
                let changed: api::FocusChanged = decode(params)?;
                if changed.focused {
                    self.focus(window);
                }
            }
            api::DocumentsChanged::METHOD => self.context_changed(window),
            // Known, and nothing follows from it: a closed tab is not a decision.
            api::ReviewClosed::METHOD => {}
            _ => {
                return Err(RpcError::new(
                    errors::METHOD_NOT_FOUND,
                    format!("unknown notification `{method}`"),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn attached(&self, local: LocalId) -> Result<WindowId, RpcError> {
        self.locals
            .get(&local)
            .and_then(|local| local.window)
            .ok_or_else(|| RpcError::new(errors::NOT_ATTACHED, "send `attach` first"))
    }

    fn editor_answered(
        &mut self,
        local: LocalId,
        id: Option<RequestId>,
        result: Result<Box<RawValue>, RpcError>,
    ) {
        let Some(RequestId::Number(id)) = id else { return };
        // An answer to a request that timed out, or was never asked, is nobody's; but it says that it is over.
        let Some(asked) = self.locals.get_mut(&local).and_then(|local| local.asked.remove(&id)) else {
            return self.answered_late(local, id);
        };
        self.timers.cancel(asked.timer);
        self.resume(asked.resume, result.map_err(NoAnswer::Error));
    }

    pub(super) fn call_timed_out(&mut self, local: LocalId, id: i64) {
        if self.applies_late(local, id) {
            return;
        }
        let Some(asked) = self.locals.get_mut(&local).and_then(|local| local.asked.remove(&id)) else {
            return;
        };
        let dead = matches!(asked.resume, Resume::Heartbeat);
        self.resume(asked.resume, Err(NoAnswer::TimedOut));
        if dead {
            // The socket may look alive for ever; the editor behind it does not answer.
            self.act(Action::CloseLocal { local });
            self.local_closed(local);
        }
    }

    /// Whether this asks for a write that may yet happen: then its answer is waited for, and the file looked at.
    fn applies_late(&mut self, local: LocalId, id: i64) -> bool {
        let asked = self.locals.get_mut(&local).and_then(|local| local.asked.get_mut(&id));
        let Some(Asked { resume: Resume::Applied { review, save, until_ms }, timer }) = asked else {
            return false;
        };
        let (review, save) = (*review, *save);
        if self.now_ms >= *until_ms {
            return false;
        }
        *timer = self.timers.add(self.now_ms + LOOK_AGAIN_MS, Due::Call { local, id });
        self.look_whether_written(review, save);
        true
    }

    pub(super) fn local_closed(&mut self, local: LocalId) {
        let Some(connection) = self.locals.remove(&local) else { return };
        self.watchers.remove(&local);
        // First, so that whoever gets no answer finds an editor that is away, and not one without the document.
        if let Some(window) = connection.window {
            self.window_away(window);
        }
        for asked in connection.asked.into_values() {
            self.timers.cancel(asked.timer);
            self.resume(asked.resume, Err(NoAnswer::Gone));
        }
        if let Some(agent) = connection.agent {
            self.agent_closed(agent, false);
        }
        self.apply(review::Event::SurfaceGone { surface: SurfaceId(local.0) });
        self.local_heard(local);
    }

    fn resume(&mut self, resume: Resume, answer: Result<Box<RawValue>, NoAnswer>) {
        match resume {
            Resume::Tool(call) => self.tool_answered(call, answer),
            Resume::Base { wanted, disk } => self.live_text(wanted, disk, read_answer(answer)),
            Resume::Applied { review, save, .. } => self.edits_applied(review, save, read_answer(answer)),
            Resume::Restored(ticket) => self.edits_restored(ticket, read_answer(answer)),
            Resume::ContextSelection(window) => self.context_selected(window, read_answer(answer)),
            Resume::Context(window) => self.context_listed(window, read_answer(answer)),
            Resume::Heartbeat | Resume::Ignore => {}
        }
    }
}

/// An answer of the wrong shape is an error of the editor, told as such.
pub(super) fn read_answer<T: serde::de::DeserializeOwned>(
    answer: Result<Box<RawValue>, NoAnswer>,
) -> Result<T, NoAnswer> {
    answer.and_then(|raw| decode(&raw).map_err(NoAnswer::Misunderstood))
}
