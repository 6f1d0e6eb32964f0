//! Runs the `git` program: never through a shell, with a time limit, capped output, and without environment variables
//! that could point it to another repository.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use super::child::{GitProcess, Stream, stdin, wait_and_read};
use crate::cancel::{Cancel, Deadline};
use crate::descriptors;
use crate::error::WorkspaceError;

const MOST_STDERR: usize = 64 * 1024;
const READING: Duration = Duration::from_secs(30);

/// The git variables that are inherited: the committer's identity and the location of the user's configuration.
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

/// A builder for one invocation of git.
#[derive(Debug)]
pub(super) struct Git {
    command: Command,
    what: &'static str,
    time: Duration,
    most_output: usize,
    input: Vec<u8>,
}

/// The result of an invocation.
#[derive(Debug)]
pub(super) struct GitOutput {
    what: &'static str,
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    /// There was more output, and git was stopped.
    pub(super) truncated: bool,
    pub(super) errors: String,
}

impl Git {
    /// A subcommand that changes nothing and runs no code of the repository.
    pub(super) fn reading(folder: &Path, what: &'static str) -> Git {
        // With other formats of submodule diffs, git runs another git inside the submodule, which obeys the configuration
        // there. The last setting is for versions of git that do not know the variable below.
        let settings = [
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "diff.submodule=short",
            "status.submoduleSummary=false",
            "protocol.allow=never",
        ];
        let mut git = Git::new(folder, what, &settings);
        git.command.env("GIT_NO_LAZY_FETCH", "1");
        // Some of its messages are parsed.
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
        command.arg(what);
        Git { command, what, time: READING, most_output: 16 * 1024 * 1024, input: Vec::new() }
    }

    /// Settings whose names may contain any byte; as variables they need no quoting.
    pub(super) fn settings(mut self, settings: &[(OsString, &str)]) -> Git {
        self.command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (index, (key, value)) in settings.iter().enumerate() {
            self.command.env(format!("GIT_CONFIG_KEY_{index}"), key);
            self.command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        self
    }

    pub(super) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Git {
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

    /// Runs it; a non-zero exit code is not an error.
    pub(super) fn run(self, cancel: &Cancel) -> Result<GitOutput, WorkspaceError> {
        let Git { mut command, what, time, most_output, input } = self;
        command.stdin(stdin(&input)?).stdout(Stdio::piped()).stderr(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| refused(&command, error))?;
        descriptors::give_back(child.id());
        let mut process = GitProcess::of(&mut child);
        let (mut output, mut errors) = (
            Stream::of(process.child.stdout.take(), most_output),
            Stream::of(process.child.stderr.take(), MOST_STDERR),
        );
        let deadline = Deadline::after(time);
        let mut ended = None;
        while !output.is_full() && (!output.is_done() || !errors.is_done()) {
            check(cancel, deadline, what, time)?;
            // A process left behind by a hook may hold the streams open after git itself has exited.
            if !wait_and_read(&mut output, &mut errors)? && ended.is_some() {
                break;
            }
            if ended.is_none() {
                ended = process
                    .child
                    .try_wait()
                    .map_err(|error| WorkspaceError::system("wait for git", error))?;
            }
        }
        let truncated = output.is_full();
        let errors = String::from_utf8_lossy(&errors.bytes).trim().to_owned();
        output.bytes.truncate(most_output);
        let output = output.bytes;
        if truncated {
            let status = process.end()?;
            return Ok(GitOutput { what, status, output, truncated, errors });
        }
        loop {
            if let Some(status) = ended {
                process.is_over = true;
                return Ok(GitOutput { what, status, output, truncated, errors });
            }
            check(cancel, deadline, what, time)?;
            ended =
                process.child.try_wait().map_err(|error| WorkspaceError::system("wait for git", error))?;
            if ended.is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Its output; fails if it did not succeed or its output exceeds the limit.
    pub(super) fn output(self, cancel: &Cancel) -> Result<Vec<u8>, WorkspaceError> {
        let ran = self.run(cancel)?;
        if ran.truncated {
            return Err(WorkspaceError::GitTooMuch { what: ran.what.to_owned() });
        }
        if ran.status.success() { Ok(ran.output) } else { Err(ran.failure()) }
    }
}

impl GitOutput {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_git_is_told_apart_from_a_folder_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let run = |folder: &Path| {
            let mut git = Git::reading(folder, "status");
            git.command.env("PATH", folder);
            git.run(&Cancel::new()).unwrap_err()
        };
        assert!(matches!(run(folder.path()), WorkspaceError::NoGit));
        assert!(run(&folder.path().join("gone")).to_string().contains("gone"));
    }

    #[test]
    fn git_that_takes_too_long_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let slow = Git::reading(folder.path(), "slow").settings(&[("alias.slow".into(), "!sleep 300")]);
        let error = slow.within(Duration::from_millis(200)).run(&Cancel::new()).unwrap_err();
        assert!(matches!(error, WorkspaceError::GitTooSlow { .. }), "{error:?}");
    }
}
