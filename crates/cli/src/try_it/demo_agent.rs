//! The demonstration agent: an agent like any other, in the protocol of Claude Code, over the port and with the token
//! of the window's lock file. Knows nothing of the hub behind it.

use std::path::Path;
use std::time::Duration;

use linkspan_client::connection::PendingChange;
use linkspan_client::discover::Found;
use linkspan_client::{AgentInfo, CallError, Change, Connection, discover};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::count;
use crate::window;

const NAME: &str = "Linkspan demo";
/// Where agents of this protocol are told to look, if not in the home.
const CONFIG_DIRECTORY: &str = "CLAUDE_CONFIG_DIR";

#[derive(Debug)]
pub(super) struct DemoAgent {
    connection: Connection,
}

impl DemoAgent {
    /// Finds the window by its lock file, as an agent started in the folder would.
    pub(super) fn connect(lock: &Path, folder: &Path) -> Result<DemoAgent, Failure> {
        let mut surroundings = window::surroundings(folder)?;
        // The hub may have been started with another value than we were.
        if let Some(directory) = lock.parent().and_then(Path::parent) {
            surroundings.variables.insert(CONFIG_DIRECTORY.to_owned(), directory.into());
        }
        let found = discover(&surroundings);
        let named = |found: &Found| matches!(found, Found::LockFile(path) if path == lock);
        let candidate =
            found.candidates.iter().find(|candidate| named(&candidate.found)).ok_or_else(|| {
                let message = format!("no agent can find the window: {} cannot be read", lock.display());
                Failure::new(Exit::NoWindow, format!("{message}. `linkspan doctor` tells more"))
            })?;
        let agent = AgentInfo::new(NAME, env!("CARGO_PKG_VERSION"));
        Ok(DemoAgent { connection: Connection::open(candidate, &agent, &surroundings.places)? })
    }

    /// What an agent wants to know before it begins, and what it was told.
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
        let told = |answer: Result<String, CallError>| answer.unwrap_or_else(|error| error.to_string());
        vec![
            ("folders", told(folders)),
            ("open in the editor", told(editors)),
            ("selected", told(selection)),
            ("errors, warnings", told(diagnostics)),
        ]
    }

    pub(super) fn propose(&self, path: &Path, text: &str) -> Result<PendingChange, CallError> {
        self.connection.propose(&Change::new(path, text))
    }

    /// Takes all its changes back, also those that nobody has seen yet; whether that was heard within this time.
    pub(super) fn take_back(&self, patience: Duration) -> bool {
        let asked = self.connection.start("closeAllDiffTabs", &json!({}));
        asked.is_ok_and(|asked| asked.wait_timeout(patience).is_some_and(|heard| heard.is_ok()))
    }

    pub(super) fn leave(self) {
        self.connection.close();
    }
}

fn some(number: usize, noun: &str) -> String {
    if number == 0 { "nothing".to_owned() } else { count(number as u64, noun) }
}
