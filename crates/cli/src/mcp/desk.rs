//! Where the agent sits: the one window it is connected to. Connects when somebody first needs it, opens a window
//! without an editor when no editor has the project, and leaves that one for an editor that appears later.
//! Coming back after a loss is the bridge's business.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::bridge::{Asking, Bridge, BridgeConfig};
use linkspan_client::connection::{CallError, Change, Connection, EditorEvent};
use linkspan_client::{AgentInfo, Candidate, Surroundings};
use linkspan_editor_api::{DenyGlobs, ReviewSummary, ReviewsList};
use tokio::sync::watch;

use super::guard::Guard;
use crate::context::config_for;
use crate::own_window::OwnWindow;
use crate::reach::Reach;
use crate::window::{Choice, WindowOptions, choose};

/// A window that was lost with the hub is back within this time, or another one will do.
const RETURN_PATIENCE: Duration = Duration::from_secs(6);
const RETURN_PAUSE: Duration = Duration::from_millis(20);
/// How the hub calls what we speak to it.
const DIALECT: &str = "linkspan";

#[derive(Debug)]
pub(super) struct Desk {
    reach: Reach,
    window: WindowOptions,
    seat: Mutex<Seat>,
    /// Calls that wait for a person: with any, nobody moves to another window. Not behind the lock, which may be
    /// held for seconds.
    waiting: AtomicUsize,
    /// The tools of the editor we sit at, by name.
    offered: watch::Sender<BTreeSet<String>>,
}

#[derive(Debug, Default)]
struct Seat {
    bridge: Option<Arc<Bridge>>,
    own: Option<OwnWindow>,
    /// What the window was chosen for.
    folders: Vec<PathBuf>,
    left: bool,
}

impl Seat {
    fn stand_up(&mut self) {
        self.bridge.take().into_iter().for_each(|bridge| bridge.disconnect());
        self.own.take().into_iter().for_each(OwnWindow::leave);
    }
}

/// Who calls, and where it works.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) folders: Vec<PathBuf>,
}

impl Desk {
    pub(super) fn new(reach: Reach, window: WindowOptions) -> Desk {
        Desk {
            reach,
            window,
            seat: Mutex::default(),
            waiting: AtomicUsize::new(0),
            offered: watch::Sender::new(BTreeSet::new()),
        }
    }

    fn seat(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn offered(&self) -> watch::Receiver<BTreeSet<String>> {
        self.offered.subscribe()
    }

    /// Sits down if an editor is there; starts and opens nothing.
    pub(super) fn sit_if_there(self: &Arc<Desk>, caller: &Caller) {
        let mut seat = self.seat();
        if !seat.left
            && seat.bridge.is_none()
            && let Ok(Some(candidate)) = self.choose(caller)
        {
            let _ = self.connect(&mut seat, &candidate, caller);
        }
    }

    /// The window to use now. Blocks while it is looked for, and so does everybody else who wants it.
    pub(super) fn sit_down(self: &Arc<Desk>, caller: &Caller) -> Result<Connection, String> {
        let mut seat = self.seat();
        if seat.left {
            return Err("the server is leaving".into());
        }
        if seat.folders != caller.folders && !self.is_waited_for() {
            seat.stand_up();
        }
        if let Some(connection) = seat.bridge.as_deref().and_then(returned) {
            let Some(better) = self.better(&seat, caller) else { return Ok(connection) };
            let moved = self.connect(&mut seat, &better, caller)?;
            seat.own.take().into_iter().for_each(OwnWindow::leave);
            return Ok(moved);
        }
        if seat.bridge.is_some() && self.is_waited_for() {
            return Err(
                "the editor that shows a change is away, and no other one is asked before it is back or the \
                        change is taken back: try again later"
                    .into(),
            );
        }
        if let Some(found) = self.choose(caller)? {
            return self.connect(&mut seat, &found, caller);
        }
        let own = match seat.own.take() {
            Some(own) => own,
            None => OwnWindow::open(&self.reach, &caller.folders).map_err(|failure| failure.message)?,
        };
        let candidate = own.candidate().clone();
        seat.own = Some(own);
        self.connect(&mut seat, &candidate, caller)
    }

    fn connect(
        self: &Arc<Desk>,
        seat: &mut Seat,
        candidate: &Candidate,
        caller: &Caller,
    ) -> Result<Connection, String> {
        let bridge = match &seat.bridge {
            Some(bridge) => Arc::clone(bridge),
            None => self.bridge(caller)?,
        };
        let connection = bridge.connect(candidate).map_err(|error| error.to_string())?;
        seat.bridge = Some(bridge);
        seat.folders.clone_from(&caller.folders);
        self.learn_tools(&connection);
        Ok(connection)
    }

    /// The window of the first folder that has one, unless the person named another.
    fn choose(&self, caller: &Caller) -> Result<Option<Candidate>, String> {
        for folder in &caller.folders {
            match choose(&self.window, &self.reach, folder).map_err(|failure| failure.message)? {
                Choice::Window(chosen) => return Ok(Some(chosen.candidate)),
                Choice::NoneFits(_) => {}
            }
        }
        Ok(None)
    }

    /// An editor, while we sit at a window of our own and nothing waits there.
    fn better(&self, seat: &Seat, caller: &Caller) -> Option<Candidate> {
        let own = seat.own.as_ref().filter(|_| !self.is_waited_for())?;
        self.choose(caller).ok()?.filter(|found| !own.is(found))
    }

    fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// What of the editor's words may not be told, where the hub does not see to it.
    pub(super) fn deny(&self, caller: &Caller) -> Result<DenyGlobs, String> {
        let folder = caller.folders.first().map_or(Path::new("."), PathBuf::as_path);
        let config = config_for(&self.reach, folder).map_err(|failure| failure.message)?;
        Ok(config.deny_globs())
    }

    /// What may be asked of the editor we sit at, and told of it.
    pub(super) fn guard(self: &Arc<Desk>, caller: &Caller) -> Result<Guard, String> {
        let editor = self.sit_down(caller)?;
        if editor.is_hub() {
            return Ok(Guard::Hub);
        }
        let told = &editor.candidate().folders;
        let folders = if told.is_empty() { &caller.folders } else { told };
        Ok(Guard::Here { folders: folders.clone(), deny: self.deny(caller)? })
    }

    fn bridge(self: &Arc<Desk>, caller: &Caller) -> Result<Arc<Bridge>, String> {
        let agent = AgentInfo::new(&caller.name, &caller.version);
        let folder = caller.folders.first().map_or(Path::new("."), PathBuf::as_path);
        let surroundings = Surroundings::of_this_process(folder).map_err(|error| error.to_string())?;
        let bridge = Arc::new(Bridge::new(BridgeConfig::default(), agent, surroundings));
        let (desk, events) = (Arc::downgrade(self), bridge.events());
        thread::spawn(move || {
            for event in events {
                let Some(desk) = desk.upgrade() else { return };
                if event == EditorEvent::ToolsChanged
                    && let Some(connection) = desk.connection()
                {
                    desk.learn_tools(&connection);
                }
            }
        });
        Ok(bridge)
    }

    fn connection(&self) -> Option<Connection> {
        self.seat().bridge.as_ref().and_then(|bridge| bridge.connection())
    }

    fn learn_tools(&self, connection: &Connection) {
        let names: BTreeSet<_> =
            connection.tools().unwrap_or_default().into_iter().map(|tool| tool.name).collect();
        self.offered.send_if_modified(|known| std::mem::replace(known, names.clone()) != names);
    }

    /// Asks the editor; once more if the connection was gone.
    pub(super) fn ask<T>(
        self: &Arc<Desk>,
        caller: &Caller,
        question: impl Fn(&Connection) -> Result<T, CallError>,
    ) -> Result<T, String> {
        let answer = match question(&self.sit_down(caller)?) {
            Err(CallError::Closed) => question(&self.sit_down(caller)?),
            answer => answer,
        };
        answer.map_err(|error| error.to_string())
    }

    /// These changes, to be put to the person. Nobody moves to another window before they are dropped.
    pub(super) fn asking(self: &Arc<Desk>, caller: &Caller, changes: &[Change]) -> Result<Questions, String> {
        self.sit_down(caller)?;
        let seat = self.seat();
        let Some(bridge) = &seat.bridge else { return Err("the server is leaving".into()) };
        let asked = changes.iter().map(|change| Arc::new(bridge.asking(change))).collect();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Ok(Questions { asked, desk: Arc::clone(self) })
    }

    /// Where a person finds changes of these files that wait for her.
    pub(super) fn where_to_look(&self, paths: &[PathBuf]) -> String {
        let Some(connection) = self.connection() else {
            return "waiting for the editor to come back".into();
        };
        let headless = self.seat().own.as_ref().is_some_and(|own| own.is(connection.candidate()));
        let reviews = self.pending_reviews(paths);
        let what = match reviews.as_slice() {
            [] => String::new(),
            some => format!(" on {}", some.join(", ")),
        };
        if headless {
            let review = reviews.first().map_or("latest", String::as_str);
            return format!(
                "waiting for your decision{what}: run `linkspan review` in a terminal, or `linkspan accept {review}`"
            );
        }
        format!("waiting for your decision{what} in {}", connection.candidate().editor)
    }

    /// The reviews of these files, as the hub lists them; a foreign editor has none.
    fn pending_reviews(&self, paths: &[PathBuf]) -> Vec<String> {
        let listed = || {
            let mut control = self.reach.connect().ok()?;
            control.hello("mcp").ok()?;
            Some(control.request(&ReviewsList { all: false }).ok()?.reviews)
        };
        let ours = |review: &ReviewSummary| {
            review.dialect == DIALECT && paths.iter().any(|path| path == Path::new(&review.path))
        };
        listed().unwrap_or_default().into_iter().filter(ours).map(|review| review.review).collect()
    }

    /// Says goodbye: what waits is withdrawn.
    pub(super) fn leave(&self) {
        let mut seat = self.seat();
        seat.left = true;
        seat.stand_up();
    }
}

/// Changes that wait for a person.
#[derive(Debug)]
pub(super) struct Questions {
    pub(super) asked: Vec<Arc<Asking>>,
    desk: Arc<Desk>,
}

impl Questions {
    pub(super) fn withdraw(&self) {
        self.asked.iter().for_each(|asked| asked.withdraw());
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.desk.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The connection of a bridge that had one, once it is back.
fn returned(bridge: &Bridge) -> Option<Connection> {
    let until = Instant::now() + RETURN_PATIENCE;
    loop {
        let connection = bridge.connection();
        if connection.is_some() || Instant::now() > until {
            return connection;
        }
        thread::sleep(RETURN_PAUSE);
    }
}
