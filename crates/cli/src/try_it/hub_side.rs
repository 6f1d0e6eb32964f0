//! What the hub says about the window on the sample project, asked as any command would. Starts no hub: the window does
//! that, and who looks before it has, looks again.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::Control;
use linkspan_editor_api::{HistoryEntry, HistoryList, HubWindows, ReviewsList, WindowStatus};

use crate::exit::{Exit, Failure};
use crate::reach::{Reach, greet_as};

const ROLE: &str = "`linkspan try`";
/// The agent's protocol.
const DIALECT: &str = "claude";
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Asks about everything in one folder, which nobody else has.
#[derive(Debug, Clone)]
pub(super) struct HubSide {
    reach: Reach,
    folder: String,
}

impl HubSide {
    pub(super) fn of(reach: &Reach, folder: &str) -> HubSide {
        HubSide { reach: reach.clone(), folder: folder.to_owned() }
    }

    /// Where the agent finds the window now: with another hub that may be another place.
    pub(super) fn lock_file(&self) -> Result<PathBuf, Failure> {
        let window = self.windows()?.into_iter().find(|window| window.attached).ok_or_else(|| {
            Failure::new(Exit::NoWindow, "the hub does not have the window: look at `linkspan hub log`")
        })?;
        let dialect = window.dialects.into_iter().find(|dialect| dialect.name == DIALECT);
        let file =
            dialect.and_then(|dialect| dialect.discovery_files.into_iter().next()).ok_or_else(|| {
                let message =
                    format!("the agent speaks `{DIALECT}`, and `dialects_off` in the configuration has it");
                Failure::new(Exit::Refused, format!("{message}: `linkspan config show` tells where"))
            })?;
        Ok(file.into())
    }

    /// What was decided and said; a story is told without it too.
    pub(super) fn in_the_journal(&self, path: &Path, review: &str) -> Option<HistoryEntry> {
        let list = HistoryList { path: Some(path.to_str()?.to_owned()), ..HistoryList::default() };
        let history = self.greeted().ok()?.request(&list).ok()?;
        history.entries.into_iter().find(|entry| entry.review == review && entry.undoes.is_none())
    }

    /// Returns when no change waits any more, or else at that time.
    pub(super) fn nothing_waits(&self, until: Instant) -> bool {
        let hub = self.clone();
        comes_true(until, move || {
            let listed = hub.greeted().and_then(|mut asked| Ok(asked.request(&ReviewsList::default())?));
            listed.is_ok_and(|list| {
                !list.reviews.iter().any(|review| Path::new(&review.path).starts_with(&hub.folder))
            })
        })
    }

    /// Returns when the window is closed, or else at that time.
    pub(super) fn window_is_closed(&self, until: Instant) -> bool {
        let hub = self.clone();
        comes_true(until, move || hub.windows().is_ok_and(|windows| windows.is_empty()))
    }

    fn windows(&self) -> Result<Vec<WindowStatus>, Failure> {
        let mut windows = self.greeted()?.request(&HubWindows {})?.windows;
        windows.retain(|window| window.folders.contains(&self.folder));
        Ok(windows)
    }

    fn greeted(&self) -> Result<Control, Failure> {
        Ok(greet_as(ROLE, || self.reach.connect())?.0)
    }
}

/// Looks until it is so or the time is over, also over a hub that does not answer.
fn comes_true(until: Instant, mut look: impl FnMut() -> bool + Send + 'static) -> bool {
    let (so, seen) = channel();
    thread::spawn(move || {
        while Instant::now() < until {
            if look() {
                let _ = so.send(());
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
    });
    seen.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok()
}
