//! Reaching the hub from a command: where it is, how a process becomes one, and who we say we are.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::{ConnectError, Control, ControlError, Hello, Hub};
use linkspan_editor_api::{HubHelloResult, Places, Request};

use crate::exit::Failure;
use crate::output::warn;

/// A log that is larger when a hub starts is put aside, once.
const LARGE_LOG: u64 = 4 * 1024 * 1024;
/// Who we are in the hub's log.
const ROLE: &str = "a terminal";
const LEAVE_DEADLINE: Duration = Duration::from_secs(5);
const LEAVE_PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(crate) struct Reach {
    pub(crate) places: Places,
    /// Found when we start: an update may replace the file while we run, and the new one is then what to start.
    program: PathBuf,
}

impl Reach {
    pub(crate) fn find() -> Result<Reach, Failure> {
        let program = std::env::current_exe().map_err(|error| {
            Failure::internal(format!("the linkspan program cannot find its own file: {error}"))
        })?;
        Ok(Reach { places: Places::from_env(rustix::process::geteuid().as_raw())?, program })
    }

    pub(crate) fn connect(&self) -> Result<Control, ConnectError> {
        Hub::connect(&self.places)
    }

    pub(crate) fn connect_or_start(&self) -> Result<Control, ConnectError> {
        self.connect_or(|| {})
    }

    /// Connects, or starts a hub and says so.
    pub(crate) fn connect_or(&self, starting: impl Fn()) -> Result<Control, ConnectError> {
        Hub::connect_or_start(&self.places, &|| {
            starting();
            start(&self.program, &self.places)
        })
    }

    /// A connection to a hub that understands us, started if there was none: pending reviews are in its
    /// journal even when it was not running.
    pub(crate) fn greeted(&self) -> Result<Control, Failure> {
        Ok(greet(|| self.connect_or_start())?.0)
    }
}

/// Why nobody said hello back.
pub(crate) enum GreetError {
    Connect(ConnectError),
    Call(ControlError),
}

impl From<GreetError> for Failure {
    fn from(error: GreetError) -> Failure {
        match error {
            GreetError::Connect(error) => error.into(),
            GreetError::Call(error) => error.into(),
        }
    }
}

/// Connects and says hello.
pub(crate) fn greet(
    connect: impl Fn() -> Result<Control, ConnectError>,
) -> Result<(Control, HubHelloResult), GreetError> {
    let (connection, hello, ()) = greeting(connect, |connection| Ok((connection.hello(ROLE)?, ())))?;
    notice(&hello);
    Ok((connection, hello.hub))
}

/// The same with a question that changes nothing, in one turn.
pub(crate) fn greet_and<R: Request>(
    connect: impl Fn() -> Result<Control, ConnectError>,
    question: &R,
) -> Result<(Control, R::Result), GreetError> {
    let (connection, hello, answer) = greeting(connect, |connection| connection.hello_and(ROLE, question))?;
    notice(&hello);
    Ok((connection, answer))
}

/// Connects and says hello as whom decisions are said to be made by; tells nobody about the hub's version.
pub(crate) fn greet_as(
    role: &str,
    connect: impl Fn() -> Result<Control, ConnectError>,
) -> Result<(Control, Hello), GreetError> {
    let (connection, hello, ()) = greeting(connect, |connection| Ok((connection.hello(role)?, ())))?;
    Ok((connection, hello))
}

fn notice(hello: &Hello) {
    if let Some(notice) = &hello.notice {
        warn(notice);
    }
}

/// A hub that is leaving closes the door at the greeting: then there is none, or a new one.
fn greeting<T>(
    connect: impl Fn() -> Result<Control, ConnectError>,
    say: impl Fn(&mut Control) -> Result<(Hello, T), ControlError>,
) -> Result<(Control, Hello, T), GreetError> {
    let deadline = Instant::now() + LEAVE_DEADLINE;
    loop {
        let mut connection = connect().map_err(GreetError::Connect)?;
        match say(&mut connection) {
            Err(ControlError::Closed) if Instant::now() < deadline => thread::sleep(LEAVE_PAUSE),
            said => {
                let (hello, answer) = said.map_err(GreetError::Call)?;
                return Ok((connection, hello, answer));
            }
        }
    }
}

fn start(program: &Path, places: &Places) -> io::Result<Child> {
    DirBuilder::new().recursive(true).mode(0o700).create(&places.state)?;
    let log = open_log(&places.log())?;
    // It makes a session of its own; the directory we are in must stay free to be removed.
    Command::new(program)
        .args(["hub", "run"])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
}

fn open_log(path: &Path) -> io::Result<File> {
    if fs::metadata(path).is_ok_and(|found| found.len() > LARGE_LOG) {
        fs::rename(path, path.with_extension("log.old"))?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}
