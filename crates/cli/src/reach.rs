//! Reaching the hub from a command: where it is, how a process becomes one, and who we say we are.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use linkspan_client::{ConnectError, Connection, Hello, Hub};
use linkspan_editor_api::Places;

use crate::exit::Failure;
use crate::output::warn;

/// A log that is larger when a hub starts is put aside, once.
const LARGE_LOG: u64 = 4 * 1024 * 1024;

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

    pub(crate) fn connect(&self) -> Result<Connection, ConnectError> {
        Hub::connect(&self.places)
    }

    pub(crate) fn connect_or_start(&self) -> Result<Connection, ConnectError> {
        Hub::connect_or_start(&self.places, &|| start(&self.program, &self.places))
    }

    /// A connection to a hub that understands us, started if there was none: pending reviews are in its
    /// journal even when it was not running.
    pub(crate) fn greeted(&self) -> Result<Connection, Failure> {
        let mut connection = self.connect_or_start()?;
        greet(&mut connection, "command")?;
        Ok(connection)
    }
}

pub(crate) fn greet(connection: &mut Connection, role: &str) -> Result<Hello, Failure> {
    let hello = connection.hello(role)?;
    if let Some(notice) = &hello.notice {
        warn(notice);
    }
    Ok(hello)
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
