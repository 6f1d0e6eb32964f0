//! Running the `git` program: never through a shell, with a time limit, capped output and nothing of the
//! surroundings that could point it to another repository.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cancel::{Cancel, Deadline};
use crate::error::WorkspaceError;
use crate::group::{Group, PATIENCE};

/// How often it is looked whether somebody cancelled.
const TICK: Duration = Duration::from_millis(50);
const MOST_STDERR: usize = 64 * 1024;
const READING: Duration = Duration::from_secs(30);

/// What may be inherited of git's own variables: who commits, and where the user's configuration is.
const KEPT: [&str; 12] = [
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
];

/// One call of git, being put together.
#[derive(Debug)]
pub(super) struct Git {
    command: Command,
    what: &'static str,
    time: Duration,
    most_output: usize,
    input: Vec<u8>,
}

/// What it did.
#[derive(Debug)]
pub(super) struct Ran {
    what: &'static str,
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    /// There was more, and git was stopped.
    pub(super) truncated: bool,
    pub(super) errors: String,
}

impl Git {
    /// A subcommand that changes nothing and runs nothing of the repository's.
    pub(super) fn reading(folder: &Path, what: &'static str) -> Git {
        let settings = ["core.fsmonitor=false", "core.hooksPath=/dev/null"];
        let mut git = Git::new(folder, what, &settings);
        git.command.env("GIT_NO_LAZY_FETCH", "1");
        // Some of its words are understood here.
        git.command.env("LC_ALL", "C.UTF-8").env_remove("LANGUAGE");
        git
    }

    /// A subcommand that changes the repository, as the user would.
    pub(super) fn writing(folder: &Path, what: &'static str) -> Git {
        Git::new(folder, what, &[])
    }

    fn new(folder: &Path, what: &'static str, settings: &[&str]) -> Git {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let is_gits = name.to_string_lossy().starts_with("GIT_");
            if is_gits && !KEPT.iter().any(|kept| name == *kept) {
                command.env_remove(name);
            }
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_EDITOR", "true");
        command.current_dir(folder).args(["--no-pager", "--no-optional-locks"]);
        for setting in ["core.quotepath=off", "color.ui=false"].iter().chain(settings) {
            command.args(["-c", setting]);
        }
        Git { command, what, time: READING, most_output: 16 * 1024 * 1024, input: Vec::new() }
    }

    /// Settings whose names may hold anything; as variables they need no quoting.
    pub(super) fn settings(mut self, settings: &[(String, &str)]) -> Git {
        self.command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (index, (key, value)) in settings.iter().enumerate() {
            self.command.env(format!("GIT_CONFIG_KEY_{index}"), key);
            self.command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        self
    }

    pub(super) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Git {
        // The subcommand follows its settings, and this is called after them.
        if self.command.get_args().all(|arg| arg != self.what) {
            self.command.arg(self.what);
        }
        self.command.args(args);
        self
    }

    pub(super) fn at_most(mut self, output: usize) -> Git {
        self.most_output = output;
        self
    }

    pub(super) fn within(mut self, time: Duration) -> Git {
        self.time = time;
        self
    }

    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Git {
        self.input = input.into();
        self
    }

    /// Whatever its exit code is.
    pub(super) fn run(self, cancel: &Cancel) -> Result<Ran, WorkspaceError> {
        let Git { mut command, what, time, most_output, input } = self;
        command.stdin(stdin(&input)?).stdout(Stdio::piped()).stderr(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| refused(&command, error))?;
        let mut ending = Ending { group: Group::of(&child), child: &mut child, is_over: false };
        let (mut output, mut errors) = (
            Stream::of(ending.child.stdout.take(), most_output),
            Stream::of(ending.child.stderr.take(), MOST_STDERR),
        );
        let deadline = Deadline::after(time);
        let mut ended = None;
        while !output.is_full() && (!output.is_done() || !errors.is_done()) {
            check(cancel, deadline, what, time)?;
            // What a hook left behind may hold the streams open; git itself has said all.
            if !wait_and_read(&mut output, &mut errors)? && ended.is_some() {
                break;
            }
            if ended.is_none() {
                ended =
                    ending.child.try_wait().map_err(|error| WorkspaceError::system("wait for git", error))?;
            }
        }
        let truncated = output.is_full();
        let errors = String::from_utf8_lossy(&errors.bytes).trim().to_owned();
        output.bytes.truncate(most_output);
        let output = output.bytes;
        if truncated {
            let status = ending.end()?;
            return Ok(Ran { what, status, output, truncated, errors });
        }
        loop {
            if let Some(status) = ended {
                ending.is_over = true;
                return Ok(Ran { what, status, output, truncated, errors });
            }
            check(cancel, deadline, what, time)?;
            ended = ending.child.try_wait().map_err(|error| WorkspaceError::system("wait for git", error))?;
            if ended.is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Its output, if it succeeded and said no more than is read.
    pub(super) fn output(self, cancel: &Cancel) -> Result<Vec<u8>, WorkspaceError> {
        let ran = self.run(cancel)?;
        if ran.truncated {
            return Err(WorkspaceError::GitTooMuch { what: ran.what.to_owned() });
        }
        if ran.status.success() { Ok(ran.output) } else { Err(ran.failure()) }
    }
}

impl Ran {
    pub(super) fn failure(&self) -> WorkspaceError {
        let output = String::from_utf8_lossy(&self.output);
        let said = if self.errors.is_empty() { output.trim() } else { &self.errors };
        let said = if said.is_empty() { self.status.to_string() } else { said.to_owned() };
        WorkspaceError::Git { what: self.what.to_owned(), said }
    }
}

fn refused(command: &Command, error: std::io::Error) -> WorkspaceError {
    let folder = command.get_current_dir().unwrap_or(Path::new("."));
    if error.kind() == ErrorKind::NotFound && folder.is_dir() {
        return WorkspaceError::NoGit;
    }
    WorkspaceError::system(format!("run git in {}", folder.display()), error)
}

fn check(cancel: &Cancel, deadline: Deadline, what: &str, time: Duration) -> Result<(), WorkspaceError> {
    if cancel.is_cancelled() {
        return Err(WorkspaceError::Cancelled);
    }
    if deadline.has_passed() {
        return Err(WorkspaceError::GitTooSlow { what: what.to_owned(), seconds: time.as_secs() });
    }
    Ok(())
}

/// A file rather than a pipe: nobody has to write while git reads.
fn stdin(input: &[u8]) -> Result<Stdio, WorkspaceError> {
    if input.is_empty() {
        return Ok(Stdio::null());
    }
    let file = || -> std::io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(input)?;
        file.rewind()?;
        Ok(file)
    };
    file().map(Stdio::from).map_err(|error| WorkspaceError::system("write a temporary file", error))
}

/// Ends git and all it started when it is dropped on the way out.
struct Ending<'a> {
    child: &'a mut Child,
    group: Group,
    is_over: bool,
}

impl Ending<'_> {
    fn end(&mut self) -> Result<ExitStatus, WorkspaceError> {
        self.is_over = true;
        self.group.ask_to_end();
        let deadline = Deadline::after(PATIENCE);
        while self.group.is_there() && !deadline.has_passed() {
            // Once it is reaped, only what it left behind keeps the group.
            let _ = self.child.try_wait();
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.group.is_there() {
            self.group.kill();
        }
        self.child.wait().map_err(|error| WorkspaceError::system("wait for git", error))
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.end();
        }
    }
}

/// One of git's streams, up to a limit; the rest of `stderr` is read and forgotten, so that git can go on.
struct Stream<R> {
    from: Option<R>,
    bytes: Vec<u8>,
    limit: usize,
}

impl<R: Read + std::os::fd::AsFd> Stream<R> {
    fn of(from: Option<R>, limit: usize) -> Stream<R> {
        Stream { from, bytes: Vec::new(), limit }
    }

    fn is_done(&self) -> bool {
        self.from.is_none()
    }

    fn is_full(&self) -> bool {
        self.bytes.len() > self.limit
    }

    /// Called when there is something, so that it does not wait.
    fn read(&mut self) {
        let mut buffer = [0; 16 * 1024];
        match self.from.as_mut().map(|from| from.read(&mut buffer)) {
            Some(Ok(count @ 1..)) if !self.is_full() => {
                self.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            }
            Some(Ok(1..)) => {}
            Some(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            _ => self.from = None,
        }
    }
}

/// Whether one of them had something before the tick was over.
fn wait_and_read(
    output: &mut Stream<impl Read + std::os::fd::AsFd>,
    errors: &mut Stream<impl Read + std::os::fd::AsFd>,
) -> Result<bool, WorkspaceError> {
    let ready = {
        let flags = PollFlags::IN;
        let mut waiting: Vec<PollFd<'_>> = Vec::with_capacity(2);
        waiting.extend(output.from.as_ref().map(|from| PollFd::new(from, flags)));
        waiting.extend(errors.from.as_ref().map(|from| PollFd::new(from, flags)));
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos().try_into().unwrap_or(0) };
        match poll(&mut waiting, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(WorkspaceError::system("wait for git", error)),
        }
        let mut states = waiting.iter().map(|waiting| !waiting.revents().is_empty());
        let output_is = output.from.is_some() && states.next().unwrap_or(false);
        (output_is, errors.from.is_some() && states.next().unwrap_or(false))
    };
    if ready.0 {
        output.read();
    }
    if ready.1 {
        errors.read();
    }
    Ok(ready.0 || ready.1)
}
