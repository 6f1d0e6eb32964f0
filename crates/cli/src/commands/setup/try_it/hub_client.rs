//! Asks the hub about the window on the sample project, as any command would. Does not start a hub: the window does that,
//! so the callers poll.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::Control;
use linkspan_editor_api::{HistoryEntry, HistoryList, HubWindows, ReviewsList, WindowStatus};

use crate::cli::context::{CliContext, greet_as};
use crate::cli::exit::{Exit, Failure};

const ROLE: &str = "`linkspan try`";
/// The agent's protocol.
const DIALECT: &str = "claude";
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// Asks about the window on one folder; no other window has it.
#[derive(Debug, Clone)]
pub(super) struct HubClient {
    cli: CliContext,
    folder: String,
}

impl HubClient {
    pub(super) fn new(cli: &CliContext, folder: &str) -> HubClient {
        HubClient { cli: cli.clone(), folder: folder.to_owned() }
    }

    /// The lock file of the window now: a restarted hub may use another one.
    pub(super) fn lock_file(&self) -> Result<PathBuf, Failure> {
        let window = self.windows()?.into_iter().find(|window| window.attached).ok_or_else(|| {
            Failure::new(Exit::NoWindow, "the hub does not have the window; see `linkspan hub log`")
        })?;
        let dialect = window.dialects.into_iter().find(|dialect| dialect.name == DIALECT);
        let file =
            dialect.and_then(|dialect| dialect.discovery_files.into_iter().next()).ok_or_else(|| {
                let message = format!(
                    "the demo agent speaks `{DIALECT}`, which `dialects_off` in the configuration turns off"
                );
                Failure::new(Exit::Refused, format!("{message}; `linkspan config show` shows where"))
            })?;
        Ok(file.into())
    }

    /// The history entry of a review, if it can be read.
    pub(super) fn history_entry(&self, path: &Path, review: &str) -> Option<HistoryEntry> {
        let list = HistoryList { path: Some(path.to_str()?.to_owned()), ..HistoryList::default() };
        let history = self.greeted().ok()?.request(&list).ok()?;
        history.entries.into_iter().find(|entry| entry.review == review && entry.undoes.is_none())
    }

    /// Waits until no change is pending; returns whether that was so in time.
    pub(super) fn wait_until_none_pending(&self, until: Instant) -> bool {
        let hub = self.clone();
        poll(until, move || {
            let listed = hub.greeted().and_then(|mut control| Ok(control.request(&ReviewsList::default())?));
            listed.is_ok_and(|list| {
                !list.reviews.iter().any(|review| Path::new(&review.path).starts_with(&hub.folder))
            })
        })
    }

    /// Waits until the window is closed; returns whether that was so in time.
    pub(super) fn wait_until_closed(&self, until: Instant) -> bool {
        let hub = self.clone();
        poll(until, move || hub.windows().is_ok_and(|windows| windows.is_empty()))
    }

    fn windows(&self) -> Result<Vec<WindowStatus>, Failure> {
        let mut windows = self.greeted()?.request(&HubWindows {})?.windows;
        windows.retain(|window| window.folders.contains(&self.folder));
        Ok(windows)
    }

    fn greeted(&self) -> Result<Control, Failure> {
        Ok(greet_as(ROLE, || self.cli.connect())?.0)
    }
}

/// Checks until it is true or the time is over. In a thread, because a hub that does not answer would block.
fn poll(until: Instant, mut check: impl FnMut() -> bool + Send + 'static) -> bool {
    let (done, result) = channel();
    thread::spawn(move || {
        while Instant::now() < until {
            if check() {
                let _ = done.send(());
                return;
            }
            thread::sleep(POLL_PAUSE);
        }
    });
    result.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok()
}
