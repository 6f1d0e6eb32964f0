//! One editor, whatever it speaks: our hub's own socket, or the protocol of Claude Code, NEXUS3, Gemini, Clio or ppxai.
//! Typed calls for what editors do, and any tool by its name.
//!
//! Every call is answered within ten seconds, or fails; only a person may take longer.

mod answer;
mod calls;
mod error;
mod events;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gateway;
mod opening;
mod pending;
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
use session::{DEADLINE, Session};
use tabs::Tabs;
use wire::{Ask, Withdrawal, shapes};

#[cfg(feature = "fuzzing")]
pub(crate) use gateway::fuzzing as gateway_fuzzing;

pub use error::{CallError, OpenError};
pub(crate) use events::Subscribers;
pub use linkspan_editor_api::{ReviewComment as Comment, Severity, Taken};
pub use pending::{PendingCall, PendingChange};
pub use types::{
    AgentInfo, Change, ChangeWriter, Decided, DecidedHunk, Diagnostic, DiffOutcome, EditorEvent, EditorInfo,
    Landed, OpenAt, Selection, Tool, ToolResult,
};

const PING_DEADLINE: Duration = Duration::from_secs(1);
/// For an editor to close tabs.
const CLOSE_DEADLINE: Duration = Duration::from_secs(1);
/// For the goodbye, and what was sent before it, to go out.
const GOODBYE_DEADLINE: Duration = Duration::from_secs(2);

/// A connection to an editor. Clones are the same connection; when the last one and everything that waits on it
/// is dropped, it ends without a goodbye.
#[derive(Debug, Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    candidate: Candidate,
    /// The name of the agent, as the person knows it.
    agent: String,
    session: Session,
    tabs: Tabs,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.session.link.close();
    }
}

impl Connection {
    /// Connects to an editor that was found, as this agent.
    pub fn open(candidate: &Candidate, agent: &AgentInfo, places: &Places) -> Result<Connection, OpenError> {
        let session = Session::open(candidate, agent, places)?;
        let inner =
            Inner { candidate: candidate.clone(), agent: agent.name.clone(), session, tabs: Tabs::default() };
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

    /// Whether this is our hub, which shows any number of changes and knows one that is asked for again.
    pub fn is_hub(&self) -> bool {
        self.inner.session.dialect.is_hub()
    }

    /// Whether the connection is known to be over, without asking.
    pub(crate) fn is_closed(&self) -> bool {
        self.inner.session.calls.is_closed()
    }

    pub(crate) fn is_same(&self, other: &Connection) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// What happens in the editor from now on. Each call is a subscription of its own; it ends after
    /// [`EditorEvent::Closed`].
    pub fn events(&self) -> Receiver<EditorEvent> {
        let Session { events, calls, .. } = &self.inner.session;
        let subscription = events.subscribe();
        if calls.is_closed() {
            events.tell(&EditorEvent::Closed);
            events.end();
        }
        subscription
    }

    /// Shows a change and waits for the person, without limit.
    pub fn open_diff(&self, change: &Change) -> Result<Decided, CallError> {
        self.propose(change)?.wait()
    }

    /// Shows a change, and leaves the waiting for later.
    pub fn propose(&self, change: &Change) -> Result<PendingChange, CallError> {
        let tab = match self.is_hub() {
            true => String::new(),
            false => self.inner.tabs.open(&self.inner.agent, &change.label),
        };
        let Ask { tool, arguments } = self.inner.session.dialect.propose(change, &tab)?;
        let call = self.start(tool, &arguments)?;
        Ok(PendingChange { call, change: Arc::new(change.clone()), tab })
    }

    /// Errors and warnings of one file, or of all. With `wait`, the hub gives language servers so long to come
    /// to rest; foreign servers answer at once.
    pub fn diagnostics(
        &self,
        path: Option<&Path>,
        wait: Option<Duration>,
    ) -> Result<Vec<Diagnostic>, CallError> {
        let dialect = self.inner.session.dialect;
        let ask = dialect.diagnostics(path, wait)?;
        let answer = self.ask(&ask, wait.unwrap_or_default())?;
        let mut found = dialect.read_diagnostics(&answer)?;
        found.iter_mut().for_each(|found| self.place(&mut found.file_path));
        Ok(found)
    }

    /// The selection in the active editor.
    pub fn current_selection(&self) -> Result<Option<Selection>, CallError> {
        self.selection("getCurrentSelection")
    }

    /// The selection made last, active or not.
    pub fn latest_selection(&self) -> Result<Option<Selection>, CallError> {
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
            // Its lock file says it all the same.
            (Err(CallError::Unsupported { .. }), folders @ [_, ..]) => Ok(folders.to_vec()),
            (asked, _) => self.inner.session.dialect.read_folders(&asked?),
        }
    }

    /// Whether a file has changes that are not saved; one that is not open has none.
    pub fn is_dirty(&self, path: &Path) -> Result<bool, CallError> {
        let dialect = self.inner.session.dialect;
        dialect.read_dirty(&self.ask(&dialect.dirty(path)?, Duration::ZERO)?)
    }

    /// Saves an open file.
    pub fn save(&self, path: &Path) -> Result<(), CallError> {
        self.do_it(&self.inner.session.dialect.save(path)?).map(drop)
    }

    /// Closes the tab of a change, which withdraws it. On foreign wires a label that no change of this connection
    /// has is taken for the full name of a tab.
    pub fn close_tab(&self, label: &str) -> Result<(), CallError> {
        let dialect = self.inner.session.dialect;
        let tabs = self.inner.tabs.close(label);
        if tabs.is_empty() {
            return self.do_it(&dialect.close_tab(label)).map(drop);
        }
        let mut asks = tabs.iter().flat_map(|tab| dialect.close_diff(tab));
        asks.try_for_each(|ask| self.do_it(&ask).map(drop))
    }

    /// Closes the tab of a change that nobody waits for any more, once. Whether that worked changes nothing for us.
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

    /// Closes the tabs of all changes of this agent. Some servers then leave those who wait without an answer.
    pub fn close_all_diffs(&self) -> Result<(), CallError> {
        self.ask_for("closeAllDiffTabs").map(|_| ())
    }

    /// Calls any tool, and gives its answer as it came. A tool that waits for a person is better [started](Self::start).
    pub fn call(&self, tool: &str, arguments: &Value) -> Result<ToolResult, CallError> {
        self.start(tool, arguments)?.wait_for_machine(Duration::ZERO)
    }

    /// Calls any tool, and leaves the waiting for later.
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

    /// Says goodbye: what waits is withdrawn, and the connection ends for all clones.
    pub fn close(self) {
        let session = &self.inner.session;
        // A click on a tab that stays would decide something that nobody asks for any more.
        self.close_diffs(&self.inner.tabs.take_all());
        if self.is_hub() {
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

    fn selection(&self, tool: &'static str) -> Result<Option<Selection>, CallError> {
        let answer = self.ask_for(tool)?;
        let mut selection = self.inner.session.dialect.selection(&shapes::value(&answer))?;
        if let Some(selection) = &mut selection {
            self.place(&mut selection.file_path);
        }
        Ok(selection)
    }

    /// ppxai's bridges name files from their workspace; where that has several folders, with the folder's name before.
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

    fn ask(&self, ask: &Ask, extra: Duration) -> Result<ToolResult, CallError> {
        answer::succeeded(self.start(ask.tool, &ask.arguments)?.wait_for_machine(extra)?)
    }

    /// For tools whose answer is only whether it worked.
    fn do_it(&self, ask: &Ask) -> Result<ToolResult, CallError> {
        let answer = self.ask(ask, Duration::ZERO)?;
        match shapes::complaint(&shapes::value(&answer)) {
            Some(message) => Err(CallError::Tool { message, kind: None }),
            None => Ok(answer),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
