//! What every command starts with: where the hub is, how to connect to it, and how to start it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::{ConnectError, Control, ControlError, Hello, HubLauncher};
use linkspan_editor_api::{HubHelloResult, Places, Request};

use crate::cli::exit::Failure;
use crate::cli::output::warn;

/// A log that is larger than this when a hub starts is renamed, and a new one is begun.
const LARGE_LOG: u64 = 4 * 1024 * 1024;
/// The name of this connection in the hub's log.
const ROLE: &str = "a terminal";
const STOPPING_DEADLINE: Duration = Duration::from_secs(5);
const STOPPING_PAUSE: Duration = Duration::from_millis(20);

/// The directories and the program file of this process.
#[derive(Debug, Clone)]
pub(crate) struct CliContext {
    pub(crate) places: Places,
    /// Resolved at the start: an update may replace the file while we run, and the hub must be the new program.
    program: PathBuf,
}

impl CliContext {
    pub(crate) fn find() -> Result<CliContext, Failure> {
        let program = std::env::current_exe().map_err(|error| {
            Failure::internal(format!("cannot find the file of the running linkspan program: {error}"))
        })?;
        Ok(CliContext { places: Places::from_env(rustix::process::geteuid().as_raw())?, program })
    }

    /// The file of this program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn connect(&self) -> Result<Control, ConnectError> {
        HubLauncher::connect(&self.places)
    }

    pub(crate) fn connect_or_start(&self) -> Result<Control, ConnectError> {
        self.connect_or(|| {})
    }

    /// Connects, or calls `starting` and starts a hub.
    pub(crate) fn connect_or(&self, starting: impl Fn()) -> Result<Control, ConnectError> {
        HubLauncher::connect_or_start(&self.places, &|| {
            starting();
            start(&self.program, &self.places)
        })
    }

    /// Connects and says hello, and starts a hub if none is running: pending reviews are in its journal even when it
    /// was not running.
    pub(crate) fn greeted(&self) -> Result<Control, Failure> {
        Ok(greet(|| self.connect_or_start())?.0)
    }
}

/// Why the hub did not answer the hello.
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
    print_notice(&hello);
    Ok((connection, hello.hub))
}

/// Like `greet`, and sends one request that changes nothing along with the hello.
pub(crate) fn greet_and<R: Request>(
    connect: impl Fn() -> Result<Control, ConnectError>,
    question: &R,
) -> Result<(Control, R::Result), GreetError> {
    let (connection, hello, answer) = greeting(connect, |connection| connection.hello_and(ROLE, question))?;
    print_notice(&hello);
    Ok((connection, answer))
}

/// Connects and says hello under another name, which is shown as the place of the decision. Prints no notice about the
/// hub's version.
pub(crate) fn greet_as(
    role: &str,
    connect: impl Fn() -> Result<Control, ConnectError>,
) -> Result<(Control, Hello), GreetError> {
    let (connection, hello, ()) = greeting(connect, |connection| Ok((connection.hello(role)?, ())))?;
    Ok((connection, hello))
}

fn print_notice(hello: &Hello) {
    if let Some(notice) = &hello.notice {
        warn(notice);
    }
}

/// A hub that is stopping closes the connection at the hello: afterwards there is no hub, or a new one.
fn greeting<T>(
    connect: impl Fn() -> Result<Control, ConnectError>,
    send_hello: impl Fn(&mut Control) -> Result<(Hello, T), ControlError>,
) -> Result<(Control, Hello, T), GreetError> {
    let deadline = Instant::now() + STOPPING_DEADLINE;
    loop {
        let mut connection = connect().map_err(GreetError::Connect)?;
        match send_hello(&mut connection) {
            Err(ControlError::Closed) if Instant::now() < deadline => thread::sleep(STOPPING_PAUSE),
            result => {
                let (hello, answer) = result.map_err(GreetError::Call)?;
                return Ok((connection, hello, answer));
            }
        }
    }
}

fn start(program: &Path, places: &Places) -> io::Result<Child> {
    DirBuilder::new().recursive(true).mode(0o700).create(&places.state)?;
    let log = open_log(&places.log())?;
    // The hub calls `setsid`, and must not keep our working directory from being removed.
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
