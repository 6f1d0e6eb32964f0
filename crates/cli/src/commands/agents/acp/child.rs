//! The agent's process: started with everything that we have, signalled as we are, and its end becomes ours.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::wire_names::env::LINKSPAN_ACP_REVIEWS;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::{Inputs, ProxyInput, spawn};
use crate::cli::exit::Failure;

/// How long an agent may take to end once its input and output are closed.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// What a shell reports for a program that was ended by a signal is this and the signal's number.
const SIGNALLED: i32 = 128;

#[derive(Debug)]
pub(super) struct AgentProcess {
    pid: Option<Pid>,
    child: Arc<Mutex<Child>>,
}

/// Its name, for the user, until it says one.
pub(super) fn name(command: &[OsString]) -> String {
    let program = command.first().map(Path::new).and_then(Path::file_name);
    program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl AgentProcess {
    pub(super) fn start(command: &[OsString]) -> Result<(AgentProcess, ChildStdin, ChildStdout), Failure> {
        let [program, arguments @ ..] = command else {
            return Err(Failure::usage("the command of the agent is missing"));
        };
        let started = Command::new(program)
            .args(arguments)
            .env(LINKSPAN_ACP_REVIEWS, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .and_then(|mut child| {
                let none = || io::Error::other("it has no standard streams");
                let stdin = child.stdin.take().ok_or_else(none)?;
                let stdout = child.stdout.take().ok_or_else(none)?;
                Ok((child, stdin, stdout))
            });
        let (child, stdin, stdout) = started.map_err(|error| {
            let program = Path::new(program).display();
            Failure::internal(format!("cannot start the agent {program}: {error}; check its command"))
        })?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok((AgentProcess { pid, child: Arc::new(Mutex::new(child)) }, stdin, stdout))
    }

    /// Something that it started may keep its output open.
    pub(super) fn notify_exit(&self, inputs: Inputs) -> Result<(), Failure> {
        let child = Arc::clone(&self.child);
        spawn("linkspan-child", move || {
            while ended(&child).is_none() {
                thread::sleep(PAUSE);
            }
            let _ = inputs.send(ProxyInput::Exited);
        })
    }

    pub(super) fn signal(&self, signal: Signal) {
        // Its id is ours until it was waited for.
        if let Some(pid) = self.pid.filter(|_| ended(&self.child).is_none()) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Waits for its end, and ends it if that takes too long.
    pub(super) fn exit_code(&self) -> i32 {
        for signal in [Signal::TERM, Signal::KILL] {
            let until = Instant::now() + PATIENCE;
            while Instant::now() < until {
                if let Some(status) = ended(&self.child) {
                    return code(status);
                }
                thread::sleep(PAUSE);
            }
            self.signal(signal);
        }
        SIGNALLED + Signal::KILL.as_raw()
    }
}

fn ended(child: &Mutex<Child>) -> Option<ExitStatus> {
    child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten()
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal)).unwrap_or(SIGNALLED)
}

/// What we are told, the agent is told.
pub(super) fn forward_signals(inputs: Inputs) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::internal(format!("cannot handle signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let listening = runtime.enter();
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(failed)?;
    drop(listening);
    spawn("linkspan-signals", move || {
        runtime.block_on(async {
            loop {
                let signal = tokio::select! {
                    _ = terminate.recv() => Signal::TERM,
                    _ = interrupt.recv() => Signal::INT,
                    _ = hangup.recv() => Signal::HUP,
                };
                if inputs.send(ProxyInput::Signal(signal)).is_err() {
                    return;
                }
            }
        });
    })
}
