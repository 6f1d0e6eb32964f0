//! A window without an editor that a command opens for itself, when no editor has the folder: the change waits there
//! for `linkspan review` or `linkspan accept`.

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linkspan_client::discover::Wire;
use linkspan_client::{Candidate, Surroundings, discover};

use crate::exit::{Exit, Failure};
use crate::headless::{Happening, Headless, Leave};
use crate::reach::Reach;

/// It is open within this time.
const OPEN_DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct OwnWindow {
    window: String,
    leave: Leave,
    thread: JoinHandle<()>,
}

impl OwnWindow {
    /// A window on the projects that these folders are in.
    pub(crate) fn open(reach: &Reach, folders: &[PathBuf]) -> Result<OwnWindow, Failure> {
        let folders = folders.iter().map(|folder| project(folder)).collect::<Result<Vec<_>, _>>()?;
        let mut headless = Headless::open(reach, &folders)?;
        let (opened, window) = sync_channel(1);
        let leave = headless.leave_handle();
        let thread = thread::spawn(move || {
            // It says nothing to anybody: what it hears is in `linkspan reviews`.
            let _ = headless.run(&mut |happening| {
                if let Happening::Open(window, _) = happening {
                    let _ = opened.try_send(window.window.clone());
                }
                Ok(())
            });
        });
        match window.recv_timeout(OPEN_DEADLINE) {
            Ok(window) => Ok(OwnWindow { window, leave, thread }),
            Err(_) => {
                leave.now();
                let message = "the hub did not open a window without an editor: look at `linkspan hub log`";
                Err(Failure::new(Exit::NoHub, message))
            }
        }
    }

    pub(crate) fn is(&self, candidate: &Candidate) -> bool {
        matches!(&candidate.wire, Wire::Hub { window, .. } if *window == self.window)
    }

    /// How agents find it.
    pub(crate) fn candidate(&self, surroundings: &Surroundings) -> Result<Candidate, Failure> {
        let found = discover(surroundings).candidates.into_iter().find(|candidate| self.is(candidate));
        found.ok_or_else(|| {
            let message =
                "a window without an editor was opened, but the hub does not have it: look at `linkspan status`";
            Failure::new(Exit::NoHub, message)
        })
    }

    pub(crate) fn leave(self) {
        self.leave.now();
        let _ = self.thread.join();
    }
}

/// What such a window is about: the repository around a folder, or the folder. Never all there is.
fn project(folder: &Path) -> Result<String, Failure> {
    let no = |why: String| {
        let message = format!(
            "no editor has {} open, and {why}. Open the project in an editor, or go to its folder first",
            folder.display()
        );
        Failure::new(Exit::NoWindow, message)
    };
    let folder = folder.canonicalize().map_err(|error| no(error.to_string()))?;
    let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    if root.parent().is_none() || Some(root) == home.as_deref() {
        return Err(no("it is too much to be a project".into()));
    }
    root.to_str().map(str::to_owned).ok_or_else(|| no("its path is not UTF-8".into()))
}
