//! A connection to one editor, in any protocol: our hub's own, or that of Claude Code, NEXUS3, Gemini, Clio or ppxai.
//! Owns typed calls, deadlines and events; `wire` has one file per protocol, and only `gateway` and `transport` know
//! sockets.
//!
//! Every call is answered within ten seconds, or fails; only the user may take longer.

mod answer;
mod calls;
mod elsewhere;
mod error;
mod events;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gateway;
mod open_file;
mod pending_call;
mod session;
mod tabs;
mod tool_list;
mod transport;
mod types;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use linkspan_editor_api::{AgentLeave, Notification, Places};
use serde_json::{Value, json};

use crate::discover::{Candidate, Wire};
use session::{DEADLINE, WireSession};
use tabs::Tabs;
use wire::{WireCall, Withdrawal, foreign_answer};

#[cfg(feature = "fuzzing")]
pub(crate) use gateway::fuzzing as gateway_fuzzing;

pub use error::{CallError, OpenError};
pub(crate) use events::Subscribers;
pub use linkspan_editor_api::{AcceptedPart, ReviewComment as Comment, Severity};
pub use pending_call::{PendingCall, PendingChange, PendingPermission};
pub use types::{
    AgentInfo, AllowedBy, Change, ChangeOutcome, ChangeWriter, DecidedHunk, DiffOutcome, EditorDiagnostic,
    EditorEvent, EditorInfo, EditorSelection, OpenAt, OpenPrecision, PermissionAnswer, ToolInfo, ToolResult,
};

const PING_DEADLINE: Duration = Duration::from_secs(1);
/// How long an editor has to close tabs.
const CLOSE_DEADLINE: Duration = Duration::from_secs(1);
/// How long a change that needs no review waits for its record.
const RECORD_DEADLINE: Duration = Duration::from_secs(2);
/// How long the goodbye, and everything sent before it, has to go out.
const GOODBYE_DEADLINE: Duration = Duration::from_secs(2);

/// A connection to an editor. Clones share the connection; when the last one and every pending call is dropped, it
/// closes without a goodbye.
#[derive(Debug, Clone)]
pub struct Connection {
    inner: Arc<ConnectionShared>,
}

#[derive(Debug)]
struct ConnectionShared {
    candidate: Candidate,
    /// The name of the agent, as the user knows it.
    agent: String,
    /// This process ends with its question.
    is_hook: bool,
    places: Places,
    session: WireSession,
    tabs: Tabs,
}

impl Drop for ConnectionShared {
    fn drop(&mut self) {
        self.session.link.close();
    }
}

impl Connection {
    /// Connects to an editor that was found, as this agent.
    pub fn open(candidate: &Candidate, agent: &AgentInfo, places: &Places) -> Result<Connection, OpenError> {
        let session = WireSession::open(candidate, agent, places)?;
        let inner = ConnectionShared {
            candidate: candidate.clone(),
            agent: agent.name.clone(),
            is_hook: agent.hook.is_some(),
            places: places.clone(),
            session,
            tabs: Tabs::default(),
        };
        Ok(Connection { inner: Arc::new(inner) })
    }

    /// The editor, as it was found.
    pub fn candidate(&self) -> &Candidate {
        &self.inner.candidate
    }

    /// Whether the editor's side answers right now.
    pub fn is_connected(&self) -> bool {
        self.inner.session.answers_within(PING_DEADLINE)
    }

    /// Whether this is our hub, which shows any number of changes and recognises one that is proposed again.
    pub fn is_hub(&self) -> bool {
        self.inner.session.dialect.is_hub()
    }

    /// Whether the connection is known to be closed, without asking.
    pub fn is_closed(&self) -> bool {
        self.inner.session.calls.is_closed()
    }

    pub(crate) fn is_same(&self, other: &Connection) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Events of the editor from now on. Each call is a separate subscription; it ends after
    /// [`EditorEvent::Closed`].
    pub fn events(&self) -> Receiver<EditorEvent> {
        let WireSession { events, calls, .. } = &self.inner.session;
        let subscription = events.subscribe();
        if calls.is_closed() {
            events.close();
        }
        subscription
    }

    /// Shows a change and waits for the decision, without limit.
    pub fn open_diff(&self, change: &Change) -> Result<ChangeOutcome, CallError> {
        self.propose(change)?.wait()
    }

    /// Shows a change without waiting for the decision.
    pub fn propose(&self, change: &Change) -> Result<PendingChange, CallError> {
        let tab = match self.is_hub() {
            true => String::new(),
            false => self.inner.tabs.open(&self.inner.agent, &change.label),
        };
        let WireCall { tool, arguments } = self.inner.session.dialect.propose(change, &tab)?;
        let call = self.start(tool, &arguments)?;
        Ok(PendingChange { call, change: Arc::new(change.clone()), tab })
    }

    /// Tells our hub about a change that the caller is about to write itself, because the user allowed it elsewhere:
    /// it is then in the history, and can be undone. Other editors do not support it. After an error the change can be
    /// written all the same.
    pub fn record(&self, change: &Change, allowed_by: AllowedBy) -> Result<(), CallError> {
        let WireCall { tool, arguments } = self.inner.session.dialect.record(change, allowed_by)?;
        let call = self.start(tool, &arguments)?;
        match call.wait_timeout(RECORD_DEADLINE) {
            Some(answer) => answer::succeeded(answer?).map(drop),
            None => {
                call.cancel();
                Err(CallError::Timeout { tool: tool.to_owned(), seconds: RECORD_DEADLINE.as_secs() })
            }
        }
    }

    /// Errors and warnings of one file, or of all. With `wait`, the hub gives language servers this long to
    /// finish; foreign servers answer at once.
    pub fn diagnostics(
        &self,
        path: Option<&Path>,
        wait: Option<Duration>,
    ) -> Result<Vec<EditorDiagnostic>, CallError> {
        let dialect = self.inner.session.dialect;
        let ask = dialect.diagnostics(path, wait)?;
        let answer = self.ask(&ask, wait.unwrap_or_default())?;
        let mut found = dialect.read_diagnostics(&answer)?;
        found.iter_mut().for_each(|found| self.place(&mut found.file_path));
        Ok(found)
    }

    /// The selection in the active editor.
    pub fn current_selection(&self) -> Result<Option<EditorSelection>, CallError> {
        self.selection("getCurrentSelection")
    }

    /// The last selection, active or not.
    pub fn latest_selection(&self) -> Result<Option<EditorSelection>, CallError> {
        self.selection("getLatestSelection")
    }

    /// The open tabs.
    pub fn open_editors(&self) -> Result<Vec<EditorInfo>, CallError> {
        let mut editors = self.inner.session.dialect.read_editors(&self.ask_for("getOpenEditors")?)?;
        editors.iter_mut().for_each(|editor| self.place(&mut editor.file_path));
        Ok(editors)
    }

    /// The folders of the editor's workspace.
    pub fn workspace_folders(&self) -> Result<Vec<PathBuf>, CallError> {
        let asked = self.ask_for("getWorkspaceFolders");
        match (asked, self.inner.candidate.folders.as_slice()) {
            // Its lock file names them too.
            (Err(CallError::Unsupported { .. }), folders @ [_, ..]) => Ok(folders.to_vec()),
            (asked, _) => self.inner.session.dialect.read_folders(&asked?),
        }
    }

    /// Whether a file has unsaved changes; one that is not open has none.
    pub fn is_dirty(&self, path: &Path) -> Result<bool, CallError> {
        let dialect = self.inner.session.dialect;
        dialect.read_dirty(&self.ask(&dialect.dirty(path)?, Duration::ZERO)?)
    }

    /// Saves an open file.
    pub fn save(&self, path: &Path) -> Result<(), CallError> {
        self.do_it(&self.inner.session.dialect.save(path)?).map(drop)
    }

    /// Closes the tab of a change, which withdraws it. On foreign wires, a label that no change of this connection
    /// has is used as the full name of a tab.
    pub fn close_tab(&self, label: &str) -> Result<(), CallError> {
        let dialect = self.inner.session.dialect;
        let tabs = self.inner.tabs.close(label);
        if tabs.is_empty() {
            return self.do_it(&dialect.close_tab(label)).map(drop);
        }
        let mut asks = tabs.iter().flat_map(|tab| dialect.close_diff(tab));
        asks.try_for_each(|ask| self.do_it(&ask).map(drop))
    }

    /// Closes the tab of a change that is no longer pending, once. The result does not matter.
    pub(super) fn close_diff(&self, tab: &str) {
        if !self.is_hub() && self.inner.tabs.forget(tab) {
            self.close_diffs(&[tab.to_owned()]);
        }
    }

    fn close_diffs(&self, tabs: &[String]) {
        let withdrawals = tabs.iter().map(|tab| self.inner.session.dialect.withdraw(tab));
        let asks = withdrawals.flat_map(|withdrawal| match withdrawal {
            Withdrawal::Calls(asks) => asks,
            Withdrawal::Cancel => Vec::new(),
        });
        let started: Vec<_> = asks.filter_map(|ask| self.start(ask.tool, &ask.arguments).ok()).collect();
        let until = Instant::now() + CLOSE_DEADLINE;
        for call in started {
            call.waiting.wait_at_most(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Closes the tabs of all changes of this agent. Some servers then never answer pending calls.
    pub fn close_all_diffs(&self) -> Result<(), CallError> {
        self.ask_for("closeAllDiffTabs").map(|_| ())
    }

    /// Asks the user whether the agent may run this command, and waits for the answer, without limit. Nothing is run.
    /// Only the hub supports it.
    pub fn request_permission(&self, command: &str) -> Result<PermissionAnswer, CallError> {
        self.asking_permission(command)?.wait()
    }

    /// The same as [`Connection::request_permission`] without waiting, for a caller that may have to withdraw the
    /// question.
    pub fn asking_permission(&self, command: &str) -> Result<PendingPermission, CallError> {
        let WireCall { tool, arguments } = self.inner.session.dialect.permission(command)?;
        Ok(PendingPermission { call: self.start(tool, &arguments)? })
    }

    /// Calls any tool and returns its answer unchanged. Use [`start`](Self::start) for a tool that waits for the user.
    pub fn call(&self, tool: &str, arguments: &Value) -> Result<ToolResult, CallError> {
        self.start(tool, arguments)?.wait_for_machine(Duration::ZERO)
    }

    /// Calls any tool without waiting for its answer.
    pub fn start(&self, tool: &str, arguments: &Value) -> Result<PendingCall, CallError> {
        #[derive(serde::Serialize)]
        struct Params<'a> {
            name: &'a str,
            arguments: &'a Value,
        }
        let waiting = self.inner.session.request("tools/call", &Params { name: tool, arguments });
        let waiting = waiting.map_err(|error| match error {
            CallError::TooLarge { bytes, limit, .. } => {
                CallError::TooLarge { tool: tool.to_owned(), bytes, limit }
            }
            other => other,
        })?;
        Ok(PendingCall { connection: self.clone(), tool: tool.to_owned(), waiting })
    }

    /// Closes with a goodbye: pending calls are withdrawn, and the connection closes for all clones.
    pub fn close(self) {
        let session = &self.inner.session;
        // A click on a tab that stays open would decide a change that is no longer pending.
        self.close_diffs(&self.inner.tabs.take_all());
        if self.is_hub() {
            // Everything that the hub sent is answered before this: it knows that the outcome arrived.
            if self.inner.is_hook {
                session.answers_within(PING_DEADLINE);
            }
            session.notify(AgentLeave::METHOD, &AgentLeave {});
        } else if gateway::is_needed(&self.inner.candidate.wire)
            && let Ok(goodbye) = session.request(gateway::LEAVE, &json!({}))
        {
            goodbye.wait_until_deadline(GOODBYE_DEADLINE);
        }
        let end = session.calls.ask();
        session.link.close();
        end.wait_at_most(GOODBYE_DEADLINE);
    }

    fn selection(&self, tool: &'static str) -> Result<Option<EditorSelection>, CallError> {
        let answer = self.ask_for(tool)?;
        let mut selection = self.inner.session.dialect.selection(&foreign_answer::value(&answer))?;
        if let Some(selection) = &mut selection {
            self.place(&mut selection.file_path);
        }
        Ok(selection)
    }

    /// ppxai's bridges name files relative to their workspace; with several folders, the name of the folder comes
    /// first.
    fn place(&self, path: &mut PathBuf) {
        let Candidate { wire, folders, .. } = &self.inner.candidate;
        if !matches!(wire, Wire::Ppxai { .. }) {
            return;
        }
        let named = |folder: &PathBuf| Some(folder.join(path.strip_prefix(folder.file_name()?).ok()?));
        let placed = match folders.as_slice() {
            [] => None,
            [folder] => Some(folder.join(&*path)),
            several => several.iter().find_map(named),
        };
        if let Some(placed) = placed {
            *path = placed;
        }
    }

    fn ask_for(&self, tool: &'static str) -> Result<ToolResult, CallError> {
        self.ask(&self.inner.session.dialect.plain(tool)?, Duration::ZERO)
    }

    fn ask(&self, ask: &WireCall, extra: Duration) -> Result<ToolResult, CallError> {
        answer::succeeded(self.start(ask.tool, &ask.arguments)?.wait_for_machine(extra)?)
    }

    /// For tools that only report success.
    fn do_it(&self, ask: &WireCall) -> Result<ToolResult, CallError> {
        let answer = self.ask(ask, Duration::ZERO)?;
        match foreign_answer::complaint(&foreign_answer::value(&answer)) {
            Some(message) => Err(CallError::Tool { message, kind: None }),
            None => Ok(answer),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
