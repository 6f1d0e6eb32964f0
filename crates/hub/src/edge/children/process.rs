//! One process of a hosted agent: its group, what it may see of the environment, and what it says on standard error.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use linkspan_editor_api::visible;
use linkspan_editor_api::wire_names::env::LINKSPAN_ACP_REVIEWS;
use linkspan_review::AgentId;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::lines::Lines;
use crate::core::contract::ChildCommand;

/// What every program needs to find its configuration, the network and the user's language.
const PASSED_ON: [&str; 30] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "XDG_*",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSL_CERT_*",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "NVM_*",
    "VOLTA_HOME",
    "ASDF_*",
    "MISE_*",
    "PYENV_*",
    "GIT_SSH_COMMAND",
];

/// An agent that is asked to end may write its session first.
const PATIENCE: Duration = Duration::from_secs(2);
/// All of it fits into the time that a hub takes to shut down.
const HURRY: Duration = Duration::from_millis(150);

/// Lines of standard error that are logged of one process, and how long each may be.
const LOGGED: usize = 200;
const LONGEST_LOGGED: usize = 8 * 1024;
const SHOWN: usize = 300;

/// Lines that are kept, to say why it ended.
const LAST_LINES: usize = 3;

pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    said: Arc<Mutex<VecDeque<String>>>,
}

impl Process {
    pub(super) fn start(
        agent: AgentId,
        command: &ChildCommand,
    ) -> io::Result<(Process, ChildStdin, ChildStdout)> {
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .current_dir(&command.cwd)
            .env_clear()
            .envs(environment(&command.env, std::env::vars_os()))
            .env(LINKSPAN_ACP_REVIEWS, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let none = || io::Error::other("it has no standard streams");
        let stdin = child.stdin.take().ok_or_else(none)?;
        let stdout = child.stdout.take().ok_or_else(none)?;
        let stderr = child.stderr.take().ok_or_else(none)?;
        let said = Arc::<Mutex<VecDeque<String>>>::default();
        tokio::spawn(log(agent, stderr, Arc::clone(&said)));
        Ok((Process { child, group, said }, stdin, stdout))
    }

    /// Waits until it has ended, and a moment longer, so that what it said last is read.
    pub(super) async fn exited(&mut self) {
        let _ = self.child.wait().await;
        tokio::time::sleep(HURRY).await;
    }

    /// Its output ended: waits for the process, and says why it ended.
    pub(super) async fn ended(mut self) -> String {
        let status = timeout(PATIENCE, self.child.wait()).await;
        let how = match &status {
            Ok(Ok(status)) => format!("it ended ({status})"),
            _ => "it closed its output".to_owned(),
        };
        self.end(false).await;
        // What it said last may still be on its way.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        if said.is_empty() { how } else { format!("{how}: {}", said.join(" / ")) }
    }

    /// Ends it with everything that it started.
    pub(super) async fn end(&mut self, in_hurry: bool) {
        let patience = if in_hurry { HURRY } else { PATIENCE };
        // Its input is closed by now, which most take for the end.
        let ended = timeout(patience, self.child.wait()).await.is_ok();
        self.signal(Signal::TERM);
        if !ended {
            let _ = timeout(patience, self.child.wait()).await;
        }
        self.signal(Signal::KILL);
        let _ = timeout(HURRY, self.child.wait()).await;
    }

    fn signal(&self, signal: Signal) {
        // An error means that it has already ended.
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Reads to the end, so that the agent never waits for us.
async fn log(agent: AgentId, stderr: ChildStderr, said: Arc<Mutex<VecDeque<String>>>) {
    let mut lines = Lines::new(stderr, LONGEST_LOGGED);
    let mut logged = 0;
    loop {
        match lines.next().await {
            Ok(Some(line)) => {
                let line: String = visible::name(line.trim()).chars().take(SHOWN).collect();
                if logged < LOGGED {
                    logged += 1;
                    tracing::info!("agent {agent}: {line}");
                }
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                if said.len() >= LAST_LINES {
                    said.pop_front();
                }
                said.push_back(line);
            }
            Ok(None) => return,
            // The rest of a line that is too long comes as further lines.
            Err(super::LineError::TooLong) => {
                lines.skip();
            }
            Err(super::LineError::Read(_)) => return,
        }
    }
}

/// The variables that this process sees.
fn environment(
    more: &[String],
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let is_named = |name: &str, pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => !start.is_empty() && name.starts_with(start),
        None => name == pattern,
    };
    let patterns = || PASSED_ON.into_iter().chain(more.iter().map(String::as_str));
    all.filter(|(name, _)| {
        name.to_str().is_some_and(|name| patterns().any(|pattern| is_named(name, pattern)))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_variables_are_passed_on() {
        let all = ["HOME", "LC_ALL", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "SECRET"];
        let all = all.map(|name| (OsString::from(name), OsString::from("x")));
        let seen = environment(&["GEMINI_*".to_owned(), "*".to_owned()], all.into_iter());
        let seen: Vec<_> = seen.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(seen, ["HOME", "LC_ALL", "GEMINI_API_KEY"]);
    }
}
