//! Where the agent sits: the one window it is connected to. Connects when somebody first needs it, again when the
//! connection is gone, opens a window without an editor when no editor has the folders, and leaves that one for
//! an editor that appears later.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linkspan_client::discover::Wire;
use linkspan_client::{AgentInfo, CallError, Candidate, Connection, EditorEvent, Surroundings, discover};
use linkspan_editor_api::{ReviewSummary, ReviewsList};
use tokio::sync::watch;

use crate::headless::{Happening, Headless, Leave};
use crate::reach::Reach;

/// A window that was lost with the hub is back within this time, or it is gone.
const RETURN_PATIENCE: Duration = Duration::from_secs(10);
/// How the hub calls what we speak to it.
const DIALECT: &str = "linkspan";
const RETURN_PAUSE: Duration = Duration::from_millis(100);
/// A window without an editor is open within this time.
const OPEN_DEADLINE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct Desk {
    reach: Reach,
    /// Of an earlier connection too, so that a change that is asked for again is known as the same.
    session: AgentInfo,
    seat: Mutex<Seat>,
    /// The tools of the editor we sit at, by name.
    offered: watch::Sender<BTreeSet<String>>,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct Seat {
    taken: Option<Seated>,
    own: Option<OwnWindow>,
    /// The window that was lost, and since when.
    lost: Option<(Wire, Instant)>,
    /// Changes that wait here: with any, nobody moves to another window.
    waiting: usize,
    count: u64,
    left: bool,
}

/// A connection, and which one it is.
#[derive(Debug, Clone)]
pub(super) struct Seated {
    pub(super) connection: Connection,
    number: u64,
    /// It is a window that we opened ourselves, and nobody looks at it.
    pub(super) headless: bool,
}

impl Seated {
    pub(super) fn editor(&self) -> &str {
        &self.connection.candidate().editor
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
    pub(super) fn new(reach: Reach) -> Desk {
        Desk {
            reach,
            session: AgentInfo::new("", ""),
            seat: Mutex::default(),
            offered: watch::Sender::new(BTreeSet::new()),
            turn: Mutex::new(()),
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
        if seat.taken.is_none()
            && seat.lost.is_none()
            && let Some(candidate) = best(caller)
        {
            let _ = self.sit(&mut seat, &candidate, caller);
        }
    }

    /// The window to use now. Blocks while it is looked for, and so does everybody else who wants it.
    pub(super) fn sit_down(self: &Arc<Desk>, caller: &Caller) -> Result<Seated, String> {
        let mut seat = self.seat();
        if seat.left {
            return Err("the server is leaving".into());
        }
        if let Some(seated) = seat.taken.clone() {
            let Some(better) = self.better(&seat, caller) else { return Ok(seated) };
            seat.taken = None;
            seated.connection.close();
            let moved = self.sit(&mut seat, &better, caller)?;
            leave(seat.own.take());
            return Ok(moved);
        }
        if let Some(back) = wait_for_return(seat.lost.take(), caller) {
            return self.sit(&mut seat, &back, caller);
        }
        let candidate = match best(caller) {
            Some(found) => found,
            None => self.open_own(&mut seat, caller)?,
        };
        self.sit(&mut seat, &candidate, caller)
    }

    fn sit(
        self: &Arc<Desk>,
        seat: &mut Seat,
        candidate: &Candidate,
        caller: &Caller,
    ) -> Result<Seated, String> {
        let agent = AgentInfo {
            name: caller.name.clone(),
            version: caller.version.clone(),
            session: self.session.session.clone(),
        };
        let connection =
            Connection::open(candidate, &agent, &self.reach.places).map_err(|error| error.to_string())?;
        seat.count += 1;
        let headless = seat.own.as_ref().is_some_and(|own| own.is(candidate));
        let seated = Seated { connection, number: seat.count, headless };
        seat.taken = Some(seated.clone());
        self.learn_tools(&seated);
        self.listen(seated.clone());
        Ok(seated)
    }

    fn learn_tools(&self, seated: &Seated) {
        let tools = seated.connection.tools().unwrap_or_default();
        let names: BTreeSet<_> = tools.into_iter().map(|tool| tool.name).collect();
        self.offered.send_if_modified(|known| std::mem::replace(known, names.clone()) != names);
    }

    /// Hears of other tools, and of the end.
    fn listen(self: &Arc<Desk>, seated: Seated) {
        let desk = Arc::downgrade(self);
        let events = seated.connection.events();
        thread::spawn(move || {
            for event in events {
                let Some(desk) = desk.upgrade() else { return };
                match event {
                    EditorEvent::ToolsChanged => desk.learn_tools(&seated),
                    EditorEvent::Closed => return desk.lost(&seated),
                    EditorEvent::Selection(_)
                    | EditorEvent::Mentioned { .. }
                    | EditorEvent::Diagnostics { .. } => {}
                }
            }
        });
    }

    /// This connection is of no use any more. Whoever says it first is heard.
    pub(super) fn lost(&self, seated: &Seated) {
        let mut seat = self.seat();
        if seat.taken.as_ref().is_some_and(|taken| taken.number == seated.number) {
            seat.taken = None;
            seat.lost = Some((seated.connection.candidate().wire.clone(), Instant::now()));
        }
    }

    /// An editor, while we sit at a window of our own and nothing waits there.
    fn better(&self, seat: &Seat, caller: &Caller) -> Option<Candidate> {
        let own = seat.own.as_ref()?;
        if seat.waiting > 0 { None } else { best(caller).filter(|found| !own.is(found)) }
    }

    /// Whose turn it is where only one change is shown at a time.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody moves to another window while this is kept.
    pub(super) fn stay(self: &Arc<Desk>) -> Stay {
        self.seat().waiting += 1;
        Stay(Arc::clone(self))
    }

    fn open_own(&self, seat: &mut Seat, caller: &Caller) -> Result<Candidate, String> {
        if seat.own.is_none() {
            seat.own = Some(OwnWindow::open(&self.reach, &caller.folders)?);
        }
        let own = seat.own.as_ref();
        let own = own.and_then(|own| everyone(caller).into_iter().find(|found| own.is(found)));
        own.ok_or_else(|| {
            leave(seat.own.take());
            "a window without an editor was opened, but the hub does not have it: look at `linkspan status`"
                .into()
        })
    }

    /// Asks the editor; once more if the connection was gone.
    pub(super) fn ask<T>(
        self: &Arc<Desk>,
        caller: &Caller,
        question: impl Fn(&Seated) -> Result<T, CallError>,
    ) -> Result<T, String> {
        let mut first = true;
        loop {
            let seated = self.sit_down(caller)?;
            match question(&seated) {
                Err(CallError::Closed) if first => {
                    first = false;
                    self.lost(&seated);
                }
                answer => return answer.map_err(|error| error.to_string()),
            }
        }
    }

    /// Where a person finds changes of these files that wait for her.
    pub(super) fn where_to_look(&self, paths: &[PathBuf]) -> String {
        let Some(seated) = self.seat().taken.clone() else {
            return "looking for the editor".into();
        };
        let reviews = self.pending_reviews(paths);
        let what = match reviews.as_slice() {
            [] => String::new(),
            some => format!(" on {}", some.join(", ")),
        };
        if seated.headless {
            let review = reviews.first().map_or("latest", String::as_str);
            return format!(
                "waiting for your decision{what}: run `linkspan review` in a terminal, or `linkspan accept {review}`"
            );
        }
        format!("waiting for your decision{what} in {}", seated.editor())
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
        let (taken, own) = {
            let mut seat = self.seat();
            seat.left = true;
            (seat.taken.take(), seat.own.take())
        };
        if let Some(seated) = taken {
            seated.connection.close();
        }
        leave(own);
    }
}

/// Kept by a change that waits.
#[derive(Debug)]
pub(super) struct Stay(Arc<Desk>);

impl Drop for Stay {
    fn drop(&mut self) {
        let mut seat = self.0.seat();
        seat.waiting = seat.waiting.saturating_sub(1);
    }
}

fn everyone(caller: &Caller) -> Vec<Candidate> {
    let found = caller.folders.iter().filter_map(|folder| Surroundings::of_this_process(folder).ok());
    found.flat_map(|surroundings| discover(&surroundings).candidates).collect()
}

/// The best window of the first folder that has any.
fn best(caller: &Caller) -> Option<Candidate> {
    caller.folders.iter().find_map(|folder| {
        let surroundings = Surroundings::of_this_process(folder).ok()?;
        discover(&surroundings).best().cloned()
    })
}

/// A hub that was restarted has its windows back after a moment; another window would ask the person anew.
fn wait_for_return(lost: Option<(Wire, Instant)>, caller: &Caller) -> Option<Candidate> {
    let (wire, since) = lost?;
    let same = |found: &Candidate| match (&found.wire, &wire) {
        (Wire::Hub { window: found, .. }, Wire::Hub { window: lost, .. }) => found == lost,
        (found, lost) => found == lost,
    };
    loop {
        let back = everyone(caller).into_iter().find(|found| found.is_usable() && same(found));
        if back.is_some() || since.elapsed() > RETURN_PATIENCE {
            return back;
        }
        thread::sleep(RETURN_PAUSE);
    }
}

/// A window without an editor that we opened.
#[derive(Debug)]
struct OwnWindow {
    window: String,
    leave: Leave,
    thread: JoinHandle<()>,
}

impl OwnWindow {
    fn open(reach: &Reach, folders: &[PathBuf]) -> Result<OwnWindow, String> {
        let folders = folders.iter().map(|folder| workspace(folder)).collect::<Result<Vec<_>, _>>()?;
        let mut headless = Headless::open(reach, &folders).map_err(|failure| failure.message)?;
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
                Err("the hub did not open a window without an editor: look at `linkspan hub log`".into())
            }
        }
    }

    fn is(&self, candidate: &Candidate) -> bool {
        matches!(&candidate.wire, Wire::Hub { window, .. } if *window == self.window)
    }
}

fn leave(own: Option<OwnWindow>) {
    if let Some(own) = own {
        own.leave.now();
        let _ = own.thread.join();
    }
}

/// What a window without an editor is about: the repository around a folder, or the folder. Never all there is.
fn workspace(folder: &Path) -> Result<String, String> {
    let no = |why: String| {
        format!(
            "no editor has {} open, and {why}. Open the project in an editor, or start the server in it: \
             `linkspan mcp DIR`",
            folder.display()
        )
    };
    let folder = folder.canonicalize().map_err(|error| no(error.to_string()))?;
    let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    if root.parent().is_none() || Some(root) == home.as_deref() {
        return Err(no("it is too much to be a project".into()));
    }
    root.to_str().map(str::to_owned).ok_or_else(|| no("its path is not UTF-8".into()))
}
