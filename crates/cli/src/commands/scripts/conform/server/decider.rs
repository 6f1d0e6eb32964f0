//! Who decides about a change, for the points that need a decision: nobody, a command, or the user at the keyboard.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::commands::scripts::conform::point::{Outcome, failed, skipped};

/// How long the user may think with `--interactive`.
const PATIENCE: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone)]
pub(crate) enum Decider {
    Nobody,
    /// A command line for the shell, with `LINKSPAN_CONFORM_DECISION` and `LINKSPAN_CONFORM_PATH` set.
    Command(String),
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedDecision {
    Accept,
    Reject,
}

impl WantedDecision {
    fn word(self) -> &'static str {
        match self {
            WantedDecision::Accept => "accept",
            WantedDecision::Reject => "reject",
        }
    }
}

impl Decider {
    /// Nothing may be proposed that nobody would decide.
    pub(crate) fn is_there(&self) -> Outcome {
        match self {
            Decider::Nobody => {
                Err(skipped("needs a decision; pass --decide COMMAND, or --interactive to decide yourself"))
            }
            Decider::Command(_) | Decider::User => Ok(()),
        }
    }

    /// Has the pending change of that file decided; returns how long the answer may take.
    pub(crate) fn decide(
        &self,
        verdict: WantedDecision,
        path: &Path,
        timeout: Duration,
    ) -> Outcome<Duration> {
        match self {
            Decider::Nobody => self.is_there().map(|()| timeout),
            Decider::User => {
                let word = verdict.word();
                crate::cli::output::warn(&format!("please {word} the change of {} now", path.display()));
                Ok(PATIENCE)
            }
            Decider::Command(line) => {
                let until = Instant::now() + timeout;
                loop {
                    let output = run(line, verdict, path)?;
                    if output.status.success() {
                        return Ok(timeout);
                    }
                    if Instant::now() >= until {
                        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                        let expected = format!("`{line}` to {} the pending change", verdict.word());
                        return Err(failed(expected, format!("{}: {said}", output.status)));
                    }
                    // The server may not show the change yet.
                    thread::sleep(PAUSE);
                }
            }
        }
    }
}

fn run(line: &str, verdict: WantedDecision, path: &Path) -> Outcome<Output> {
    let ran = Command::new("/bin/sh")
        .args(["-c", line])
        .env("LINKSPAN_CONFORM_DECISION", verdict.word())
        .env("LINKSPAN_CONFORM_PATH", path)
        .stdin(Stdio::null())
        .output();
    ran.map_err(|error| skipped(format!("cannot run --decide: {error}")))
}
