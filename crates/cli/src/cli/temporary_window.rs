//! The window without an editor that a command opens when no editor has the project open: its changes are decided with
//! `linkspan review`. It is closed when the command ends.

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linkspan_client::Candidate;
use linkspan_client::discover::{CandidateVerdict, FoundBy, Wire};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::headless::{self, CloseHandle, Headless, HeadlessEvent};

const OPEN_DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct TemporaryWindow {
    candidate: Candidate,
    close_handle: CloseHandle,
    thread: JoinHandle<()>,
}

impl TemporaryWindow {
    pub(crate) fn open(cli: &CliContext, folders: &[PathBuf]) -> Result<TemporaryWindow, Failure> {
        let folders = folders.iter().map(|folder| project(folder)).collect::<Result<Vec<_>, _>>()?;
        // Its events are not needed: `linkspan reviews` lists its changes.
        TemporaryWindow::open_on(cli, folders, |_| {})
    }

    /// A window on exactly these folders, which are canonical paths; `notify` is called with its events, in the thread of
    /// the window.
    pub(crate) fn open_on(
        cli: &CliContext,
        folders: Vec<String>,
        mut notify: impl FnMut(&HeadlessEvent<'_>) + Send + 'static,
    ) -> Result<TemporaryWindow, Failure> {
        let mut headless = Headless::open(cli, &folders)?;
        let (opened, window) = sync_channel(1);
        let close_handle = headless.close_handle();
        let thread = thread::spawn(move || {
            let _ = headless.run(&mut |event| {
                notify(&event);
                if let HeadlessEvent::Open(window, _) = event {
                    let _ = opened.try_send((window.window.clone(), window.port));
                }
                Ok(())
            });
        });
        let Ok((window, port)) = window.recv_timeout(OPEN_DEADLINE) else {
            close_handle.close();
            let _ = thread.join();
            let message = "the hub did not open a window without an editor; see `linkspan hub log`";
            return Err(Failure::new(Exit::NoHub, message));
        };
        let candidate = Candidate {
            editor: headless::NAME.into(),
            wire: Wire::Hub { window, port },
            folders: folders.iter().map(PathBuf::from).collect(),
            pid: Some(std::process::id()),
            found: FoundBy::Given,
            matched: None,
            verdict: CandidateVerdict::Usable,
        };
        Ok(TemporaryWindow { candidate, close_handle, thread })
    }

    pub(crate) fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    pub(crate) fn is(&self, other: &Candidate) -> bool {
        match (&self.candidate.wire, &other.wire) {
            (Wire::Hub { window: ours, .. }, Wire::Hub { window, .. }) => ours == window,
            _ => false,
        }
    }

    /// Closes the window, and waits until the hub was notified.
    pub(crate) fn close(self) {
        self.close_handle.close();
        let _ = self.thread.join();
    }
}

/// The repository around a folder, or the folder itself; never the root or the home directory.
fn project(folder: &Path) -> Result<String, Failure> {
    let refused = |why: &str| {
        let message = format!(
            "no editor has {} open, and {why}. Open the project in an editor, or change to its folder (for an MCP \
             server: `linkspan mcp DIR`)",
            folder.display()
        );
        Failure::new(Exit::NoWindow, message)
    };
    let folder = folder.canonicalize().map_err(|error| refused(&error.to_string()))?;
    let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    if root.parent().is_none() || Some(root) == home.as_deref() {
        return Err(refused("it is too large to be a project"));
    }
    root.to_str().map(str::to_owned).ok_or_else(|| refused("its path is not UTF-8"))
}
