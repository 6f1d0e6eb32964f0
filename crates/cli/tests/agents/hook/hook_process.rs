//! One run of `linkspan hook`.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::events::HookInput;
use crate::support::{CommandResult, DEADLINE, World, eventually};

pub(super) struct HookProcess {
    child: Child,
}

impl HookProcess {
    /// Starts a hook for this event.
    pub(super) fn start(world: &World, input: &HookInput) -> HookProcess {
        HookProcess::start_with(world, &[], input)
    }

    pub(super) fn start_with(world: &World, options: &[&str], input: &HookInput) -> HookProcess {
        HookProcess::spawn(command(world, options, input), input.event.to_string().as_bytes())
    }

    pub(super) fn spawn(mut command: Command, stdin: &[u8]) -> HookProcess {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        HookProcess { child }
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Closes the end from which the agent reads the answer.
    pub(super) fn stop_reading(&mut self) {
        drop(self.child.stdout.take());
    }

    /// Waits for its end.
    #[track_caller]
    pub(super) fn end(mut self) -> CommandResult {
        eventually("the hook has ended", || self.child.try_wait().unwrap());
        let output = self.child.wait_with_output().unwrap();
        CommandResult {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Waits for its answer, which is one line of JSON, with status 0 and nothing on standard error.
    #[track_caller]
    pub(super) fn answer(self) -> Value {
        let ended = self.end().ok();
        assert_eq!((ended.stderr.as_str(), ended.stdout.matches('\n').count()), ("", 1), "{ended:?}");
        ended.json()
    }

    /// Waits for its end without an answer: the agent goes on as if there were no hook.
    #[track_caller]
    pub(super) fn passes(self) {
        let ended = self.end();
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    }
}

/// Runs a hook that does not wait for the user.
#[track_caller]
pub(super) fn run(world: &World, options: &[&str], input: &HookInput) -> CommandResult {
    let start = Instant::now();
    let ended = HookProcess::start_with(world, options, input).end();
    assert!(start.elapsed() < DEADLINE);
    ended
}

pub(super) fn command(world: &World, options: &[&str], input: &HookInput) -> Command {
    let mut command = world.command(&["hook"]);
    command.args(options).envs(input.variables.iter().copied());
    command
}
