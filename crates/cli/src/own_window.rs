//! The window without an editor that is opened when no editor has the project: changes wait in it for
//! `linkspan review`. It belongs to this process and goes with it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linkspan_client::Candidate;
use linkspan_client::discover::{Found, Verdict, Wire};

use crate::exit::{Exit, Failure};
use crate::headless::{self, Happening, Headless, Leave};
use crate::reach::Reach;

const OPEN_DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct OwnWindow {
    candidate: Candidate,
    leave: Leave,
    thread: JoinHandle<()>,
}

impl OwnWindow {
    pub(crate) fn open(reach: &Reach, folders: &[PathBuf]) -> Result<OwnWindow, Failure> {
        let folders = folders.iter().map(|folder| project(folder)).collect::<Result<Vec<_>, _>>()?;
        // Nobody is told what it hears: that is in `linkspan reviews`.
        OwnWindow::open_on(reach, folders, |_| {})
    }

    /// A window on exactly these folders, which are real paths; `hear` is told what happens there, from a thread
    /// of the window.
    pub(crate) fn open_on(
        reach: &Reach,
        folders: Vec<String>,
        mut hear: impl FnMut(&Happening<'_>) + Send + 'static,
    ) -> Result<OwnWindow, Failure> {
        let mut headless = Headless::open(reach, &folders)?;
        let (opened, window) = sync_channel(1);
        let leave = headless.leave_handle();
        let thread = thread::spawn(move || {
            let _ = headless.run(&mut |happening| {
                hear(&happening);
                if let Happening::Open(window, _) = happening {
                    let _ = opened.try_send((window.window.clone(), window.port));
                }
                Ok(())
            });
        });
        let Ok((window, port)) = window.recv_timeout(OPEN_DEADLINE) else {
            leave.now();
            let _ = thread.join();
            let message = "the hub did not open a window without an editor: look at `linkspan hub log`";
            return Err(Failure::new(Exit::NoHub, message));
        };
        let candidate = Candidate {
            editor: headless::NAME.into(),
            wire: Wire::Hub { window, port },
            folders: folders.iter().map(PathBuf::from).collect(),
            pid: Some(std::process::id()),
            found: Found::Given,
            matched: None,
            verdict: Verdict::Usable,
        };
        Ok(OwnWindow { candidate, leave, thread })
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

    /// Says goodbye, and returns when that was heard.
    pub(crate) fn leave(self) {
        self.leave.now();
        let _ = self.thread.join();
    }
}

/// The repository around a folder, or the folder. Never all there is.
fn project(folder: &Path) -> Result<String, Failure> {
    let no = |why: &str| {
        let message = format!(
            "no editor has {} open, and {why}. Open the project in an editor, or go to its folder first (an MCP \
             server is told it: `linkspan mcp DIR`)",
            folder.display()
        );
        Failure::new(Exit::NoWindow, message)
    };
    let folder = folder.canonicalize().map_err(|error| no(&error.to_string()))?;
    let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    if root.parent().is_none() || Some(root) == home.as_deref() {
        return Err(no("it is too much to be a project"));
    }
    root.to_str().map(str::to_owned).ok_or_else(|| no("its path is not UTF-8"))
}
