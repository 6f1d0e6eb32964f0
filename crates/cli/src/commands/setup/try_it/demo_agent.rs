//! The demo agent: it speaks the protocol of Claude Code, with the port and the token of the window's lock file, as any
//! agent does. Knows nothing about the hub behind it.

use std::path::Path;
use std::time::Duration;

use linkspan_client::connection::PendingChange;
use linkspan_client::discover::FoundBy;
use linkspan_client::{AgentInfo, CallError, Change, Connection, discover};
use serde_json::json;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::count;
use crate::cli::window;

const NAME: &str = "Linkspan demo";
/// Names the directory of the lock files, if it is not in the home directory.
const CONFIG_DIRECTORY: &str = linkspan_editor_api::wire_names::env::CLAUDE_CONFIG_DIR;

#[derive(Debug)]
pub(super) struct DemoAgent {
    connection: Connection,
}

impl DemoAgent {
    /// Finds the window by its lock file, as an agent started in the folder would.
    pub(super) fn connect(lock: &Path, folder: &Path) -> Result<DemoAgent, Failure> {
        let mut surroundings = window::surroundings(folder)?;
        // The hub may run with another value than this process.
        if let Some(directory) = lock.parent().and_then(Path::parent) {
            surroundings.variables.insert(CONFIG_DIRECTORY.to_owned(), directory.into());
        }
        let found = discover(&surroundings);
        let named = |found: &FoundBy| matches!(found, FoundBy::LockFile(path) if path == lock);
        let candidate =
            found.candidates.iter().find(|candidate| named(&candidate.found)).ok_or_else(|| {
                let message = format!("no agent can find the window: cannot read {}", lock.display());
                Failure::new(Exit::NoWindow, format!("{message}; `linkspan doctor` shows more"))
            })?;
        let agent = AgentInfo::new(NAME, env!("CARGO_PKG_VERSION"));
        Ok(DemoAgent { connection: Connection::open(candidate, &agent, &surroundings.places)? })
    }

    /// What an agent asks before it starts, and the answers.
    pub(super) fn context(&self) -> Vec<(&'static str, String)> {
        let connection = &self.connection;
        let folders = connection.workspace_folders().map(|folders| {
            let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
            folders.join(", ")
        });
        let editors = connection.open_editors().map(|editors| some(editors.len(), "file"));
        let selection = connection
            .current_selection()
            .map(|selection| selection.map_or_else(|| "nothing".to_owned(), |selection| selection.text));
        let diagnostics = connection.diagnostics(None, None).map(|found| some(found.len(), "message"));
        let text = |answer: Result<String, CallError>| answer.unwrap_or_else(|error| error.to_string());
        vec![
            ("folders", text(folders)),
            ("open in the editor", text(editors)),
            ("selected", text(selection)),
            ("errors, warnings", text(diagnostics)),
        ]
    }

    pub(super) fn propose(&self, path: &Path, text: &str) -> Result<PendingChange, CallError> {
        self.connection.propose(&Change::new(path, text))
    }

    /// Withdraws all its changes; returns whether the window confirmed that in time.
    pub(super) fn withdraw_all(&self, timeout: Duration) -> bool {
        let call = self.connection.start("closeAllDiffTabs", &json!({}));
        call.is_ok_and(|call| call.wait_timeout(timeout).is_some_and(|answer| answer.is_ok()))
    }

    pub(super) fn disconnect(self) {
        self.connection.close();
    }
}

fn some(number: usize, noun: &str) -> String {
    if number == 0 { "nothing".to_owned() } else { count(number as u64, noun) }
}
