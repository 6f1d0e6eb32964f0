//! Finding the running hub, or starting one, so that ten processes start only one. How a hub process is started is up
//! to the caller.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::{HubLock, Places, PlacesError};

use crate::control::Control;
use crate::runtime_dir::{self, RuntimeDirError};

const START_DEADLINE: Duration = Duration::from_secs(10);
const LOCK_DEADLINE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// Pause before another hub process is started instead of one that found a running hub.
const MEETING_PAUSE: Duration = Duration::from_millis(30);

/// Starts a hub process. If another hub is already running, it exits with success.
pub type Start<'a> = &'a dyn Fn() -> io::Result<Child>;

/// The one hub of a user.
#[derive(Debug)]
pub struct HubLauncher;

/// Why there is no connection to a hub.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There is no directory for its socket.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// The directory is not safe.
    #[error(transparent)]
    RuntimeDir(#[from] RuntimeDirError),
    /// None is running.
    #[error("no hub is running at {}: start one with `linkspan hub start`", socket.display())]
    NoHub {
        /// Where it would be.
        socket: PathBuf,
    },
    /// The socket cannot be used.
    #[error("the hub's socket {} cannot be used: {error}", socket.display())]
    Socket {
        /// Which.
        socket: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A process of another user answers there.
    #[error(
        "the socket {} is served by a process of user {owner}, so it is not used: find out who created it, and remove it",
        socket.display()
    )]
    OtherUser {
        /// Which.
        socket: PathBuf,
        /// Whose process listens.
        owner: u32,
    },
    /// The start lock cannot be taken.
    #[error("the start lock {} cannot be taken: {error}", lock.display())]
    Lock {
        /// Which.
        lock: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The hub process cannot be started.
    #[error("the hub cannot be started: {0}")]
    Start(#[source] io::Error),
    /// The hub process exited.
    #[error("the hub ended at once ({status}): {last} (more in its log {})", log.display())]
    Died {
        /// How.
        status: ExitStatus,
        /// The last line of its log.
        last: String,
        /// Its log.
        log: PathBuf,
    },
    /// Another hub holds the state directory and does not answer.
    #[error(
        "the hub with pid {pid} has {} and does not answer at {}: end it with `kill {pid}` (`kill -9 {pid}` if it \
         stays), then try again",
        state.display(),
        socket.display()
    )]
    Held {
        /// Its process id.
        pid: u32,
        /// Its socket, as it reports.
        socket: PathBuf,
        /// The state directory.
        state: PathBuf,
    },
    /// The hub process does not answer.
    #[error(
        "the hub was started but does not answer after {} s: see its log {}",
        START_DEADLINE.as_secs(),
        log.display()
    )]
    Silent {
        /// Its log.
        log: PathBuf,
    },
}

impl ConnectError {
    /// Trying again does not help: the user has to change something first.
    pub fn is_lasting(&self) -> bool {
        matches!(self, ConnectError::Places(_) | ConnectError::RuntimeDir(_) | ConnectError::OtherUser { .. })
    }
}

impl HubLauncher {
    /// Connects to the running hub; never starts one. A hub that was started with another runtime directory is found
    /// by the lock in the state directory.
    pub fn connect(places: &Places) -> Result<Control, ConnectError> {
        let socket = places.socket()?;
        if runtime_dir::check(&places.runtime)? {
            match connect_to(&socket) {
                Err(ConnectError::NoHub { .. }) => {}
                other => return other,
            }
        }
        match elsewhere(places, &socket) {
            Some(other) => connect_to(&other).map_err(|error| match error {
                ConnectError::NoHub { .. } => ConnectError::NoHub { socket },
                error => error,
            }),
            None => Err(ConnectError::NoHub { socket }),
        }
    }

    /// Connects to the running hub, and starts one if there is none.
    pub fn connect_or_start(places: &Places, start: Start<'_>) -> Result<Control, ConnectError> {
        match HubLauncher::connect(places) {
            Err(ConnectError::NoHub { .. }) => {}
            other => return other,
        }
        runtime_dir::ensure(&places.runtime)?;
        let _lock = take_lock(&places.start_lock())?;
        match HubLauncher::connect(places) {
            Err(ConnectError::NoHub { .. }) => start_and_connect(places, start),
            // Another process was first.
            other => other,
        }
    }
}

/// Makes sure that a process of this user listens on the socket. Its directory may have been open to others before it
/// was checked, and then any user may have created the socket.
fn served_by(stream: &UnixStream, socket: &Path, user: u32) -> Result<(), ConnectError> {
    let socket = socket.to_owned();
    match listener_of(stream, &socket) {
        Ok(owner) if owner == user => Ok(()),
        Ok(owner) => Err(ConnectError::OtherUser { socket, owner }),
        Err(error) => Err(ConnectError::Socket { socket, error }),
    }
}

/// The user whose process listens at the other end.
#[cfg(target_os = "linux")]
fn listener_of(stream: &UnixStream, _socket: &Path) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// On other systems, the user who created the socket.
#[cfg(not(target_os = "linux"))]
fn listener_of(_stream: &UnixStream, socket: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    Ok(std::fs::symlink_metadata(socket)?.uid())
}

fn connect_to(socket: &Path) -> Result<Control, ConnectError> {
    match UnixStream::connect(socket) {
        Ok(stream) => {
            served_by(&stream, socket, rustix::process::geteuid().as_raw())?;
            Ok(Control::new(stream))
        }
        // Refused: the socket is left over from an old hub.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Err(ConnectError::NoHub { socket: socket.into() })
        }
        Err(error) => Err(ConnectError::Socket { socket: socket.into(), error }),
    }
}

/// The socket of the hub that holds our state directory, if it is a different one in a directory that only we can
/// access.
fn elsewhere(places: &Places, own: &Path) -> Option<PathBuf> {
    let HubLock { socket, .. } = runtime_dir::holder(&places.state_lock())?;
    (socket != own && runtime_dir::is_ours_alone(socket.parent()?)).then_some(socket)
}

fn start_and_connect(places: &Places, start: Start<'_>) -> Result<Control, ConnectError> {
    let deadline = Instant::now() + START_DEADLINE;
    let mut child = start().map_err(ConnectError::Start)?;
    loop {
        // Checked before connecting, so that a hub that answered and exited does not count as dead.
        let ended = child.try_wait().map_err(ConnectError::Start)?;
        match HubLauncher::connect(places) {
            Err(ConnectError::NoHub { .. }) => {}
            other => {
                reap(child);
                return other;
            }
        }
        match ended {
            Some(status) if !status.success() => {
                let log = places.log();
                return Err(ConnectError::Died { status, last: last_line(&log), log });
            }
            // It found another hub, which may be starting or stopping.
            Some(_) if Instant::now() < deadline => {
                thread::sleep(MEETING_PAUSE);
                child = start().map_err(ConnectError::Start)?;
            }
            Some(_) | None => {}
        }
        if Instant::now() >= deadline {
            reap(child);
            return Err(match runtime_dir::holder(&places.state_lock()) {
                Some(HubLock { pid, socket }) => {
                    ConnectError::Held { pid, socket, state: places.state.clone() }
                }
                None => ConnectError::Silent { log: places.log() },
            });
        }
        thread::sleep(POLL);
    }
}

/// Why it exited, from its log.
fn last_line(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next_back().unwrap_or("it logged nothing");
    line.strip_prefix("linkspan: ").unwrap_or(line).to_owned()
}

/// This process may outlive the hub, which must not become a zombie then.
fn reap(mut child: Child) {
    thread::spawn(move || child.wait());
}

fn take_lock(path: &Path) -> Result<File, ConnectError> {
    let failed = |error| ConnectError::Lock { lock: path.into(), error };
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path).map_err(failed)?;
    let deadline = Instant::now() + LOCK_DEADLINE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(failed(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process has been starting the hub for 10 s; try again",
                )));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(POLL),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn places(root: &Path) -> Places {
        Places {
            home: root.into(),
            runtime: root.join("run"),
            state: root.join("state"),
            config: root.join("config"),
        }
    }

    #[test]
    fn connecting_starts_nothing_and_makes_nothing() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        assert!(matches!(HubLauncher::connect(&places), Err(ConnectError::NoHub { .. })));
        assert!(!places.runtime.exists());
    }

    #[test]
    fn a_socket_that_outlived_its_hub_is_no_hub() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        runtime_dir::ensure(&places.runtime).unwrap();
        drop(UnixListener::bind(places.socket().unwrap()).unwrap());
        assert!(matches!(HubLauncher::connect(&places), Err(ConnectError::NoHub { .. })));
    }

    #[test]
    fn a_socket_that_another_user_serves_is_not_trusted() {
        let root = tempfile::tempdir().unwrap();
        let socket = root.path().join("hub.sock");
        let _listener = UnixListener::bind(&socket).unwrap();
        let stream = UnixStream::connect(&socket).unwrap();
        let me = rustix::process::geteuid().as_raw();
        served_by(&stream, &socket, me).unwrap();
        let error = served_by(&stream, &socket, me + 1).unwrap_err();
        assert!(matches!(error, ConnectError::OtherUser { owner, .. } if owner == me));
        assert!(error.is_lasting());
    }

    #[test]
    fn ten_starters_make_one_hub() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let starts = AtomicUsize::new(0);
        let listener = Mutex::new(None);
        let start = || {
            starts.fetch_add(1, Ordering::SeqCst);
            *listener.lock().unwrap() = Some(UnixListener::bind(places.socket().unwrap())?);
            Command::new("true").spawn()
        };
        thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| HubLauncher::connect_or_start(&places, &start).unwrap());
            }
        });
        assert_eq!(starts.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_start_that_meets_a_leaving_hub_is_repeated() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let starts = AtomicUsize::new(0);
        let listener = Mutex::new(None);
        let start = || {
            if starts.fetch_add(1, Ordering::SeqCst) == 1 {
                *listener.lock().unwrap() = Some(UnixListener::bind(places.socket().unwrap())?);
            }
            Command::new("true").spawn()
        };
        HubLauncher::connect_or_start(&places, &start).unwrap();
        assert_eq!(starts.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_hub_that_ends_at_once_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let error = HubLauncher::connect_or_start(&places, &|| Command::new("false").spawn()).unwrap_err();
        assert!(matches!(error, ConnectError::Died { .. }));
        assert!(error.to_string().contains("hub.log"));
    }
}
