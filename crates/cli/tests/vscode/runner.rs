//! Runs many scenarios in one VS Code. A scenario that fails is tried once more, in a VS Code that has just been started;
//! the others go on. Failures and second attempts are listed at the end.

use std::any::Any;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

use crate::support::*;

/// A scenario and its name.
type Named<F> = (&'static str, F);
type WindowScenario = fn(&EditorWindow<'_>);
type SessionScenario = fn(&VsCodeSession);

/// Scenarios of one theme.
pub(crate) enum Scenarios {
    /// They follow one another in one window with VS Code's default settings, which is cleared after each.
    InOneWindow(&'static [Named<WindowScenario>]),
    /// Each opens its own windows.
    InOwnWindows(&'static [Named<SessionScenario>]),
}

/// A list of scenarios from the names of their functions.
macro_rules! scenarios {
    ($kind:ident: $($name:ident)*) => {
        crate::runner::Scenarios::$kind(&[$((concat!(module_path!(), "::", stringify!($name)), $name)),*])
    };
}
pub(crate) use scenarios;

/// Runs only scenarios with this in their names.
const FILTER: &str = "LINKSPAN_TEST_SCENARIO";
/// A file for a line about each scenario that needed a second attempt; `cargo xtask test` prints them at its end.
const RETRIES: &str = "LINKSPAN_TEST_RETRIES";

#[derive(Debug)]
struct FailedScenario {
    name: &'static str,
    message: String,
}

pub(crate) fn run(version: Version, lists: &[Scenarios]) {
    let filter = std::env::var(FILTER).unwrap_or_default();
    let mut runner = Runner { version, session: None, ran: 0, retried: Vec::new(), failed: Vec::new() };
    for list in lists {
        match list {
            Scenarios::InOneWindow(scenarios) => runner.run_in_one_window(&selected(scenarios, &filter)),
            Scenarios::InOwnWindows(scenarios) => runner.run_in_own_windows(&selected(scenarios, &filter)),
        }
    }
    runner.finish();
}

fn selected<F: Copy>(scenarios: &[Named<F>], filter: &str) -> Vec<Named<F>> {
    scenarios.iter().filter(|(name, _)| name.contains(filter)).copied().collect()
}

struct Runner {
    version: Version,
    /// Started for the first scenario, and again after one that failed.
    session: Option<VsCodeSession>,
    ran: usize,
    retried: Vec<FailedScenario>,
    failed: Vec<FailedScenario>,
}

impl Runner {
    fn run_in_one_window(&mut self, scenarios: &[Named<WindowScenario>]) {
        let mut rest = scenarios;
        while let Some((name, _)) = rest.first() {
            let mut at = 0;
            let outcome = self.attempt(name, |session| {
                let window = session.open();
                for (name, scenario) in rest {
                    let begun = Instant::now();
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        scenario(&window);
                        window.clear();
                    }));
                    if let Err(panic) = outcome {
                        window.workbench.picture_failure(&name.replace("::", "-"));
                        std::panic::resume_unwind(panic);
                    }
                    println!("{name}: {:.1} s", begun.elapsed().as_secs_f64());
                    at += 1;
                }
            });
            self.ran += at;
            rest = &rest[at..];
            if let (Err(message), Some((name, _))) = (outcome, rest.first()) {
                rest = &rest[self.note(name, message)..];
            }
        }
    }

    fn run_in_own_windows(&mut self, scenarios: &[Named<SessionScenario>]) {
        let mut rest = scenarios;
        while let Some((name, scenario)) = rest.first() {
            let begun = Instant::now();
            let done = match self.attempt(name, scenario) {
                Ok(()) => {
                    println!("{name}: {:.1} s", begun.elapsed().as_secs_f64());
                    self.ran += 1;
                    1
                }
                Err(message) => self.note(name, message),
            };
            rest = &rest[done..];
        }
    }

    /// Gives the message of a panic.
    fn attempt(&mut self, name: &str, run: impl FnOnce(&VsCodeSession)) -> Result<(), String> {
        let version = self.version;
        let session = &mut self.session;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let session = session.get_or_insert_with(|| VsCodeSession::start(version));
            run(session);
            session.reset();
        }));
        outcome.map_err(|panic| {
            if let Some(mut session) = self.session.take() {
                eprintln!("--- hub.log after {name}\n{}\n---", session.world.log());
                // Its state is unknown, and an error at its end adds nothing to this failure.
                session.world.may_leave_files();
                let _ = catch_unwind(AssertUnwindSafe(|| drop(session)));
            }
            message_of(panic.as_ref())
        })
    }

    /// Gives the number of scenarios that are done with: none after a first failure, which is tried again.
    fn note(&mut self, name: &'static str, message: String) -> usize {
        let is_first = self.retried.last().is_none_or(|retried| retried.name != name);
        let list = if is_first { &mut self.retried } else { &mut self.failed };
        list.push(FailedScenario { name, message });
        usize::from(!is_first)
    }

    fn finish(self) {
        let Runner { version, retried, failed, ran, .. } = self;
        for FailedScenario { name, message } in &retried {
            let line = format!("{name} in VS Code {}: {}", version.number(), first_line(message));
            println!("RETRIED {line}");
            if let Some(path) = std::env::var_os(RETRIES).map(PathBuf::from) {
                let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
                writeln!(file, "{line}").unwrap();
            }
        }
        println!("{ran} scenarios passed");
        let failed: Vec<String> =
            failed.iter().map(|FailedScenario { name, message }| format!("{name}: {message}")).collect();
        assert!(failed.is_empty(), "{} scenarios failed:\n{}", failed.len(), failed.join("\n"));
        assert!(ran > 0, "no scenario has the name in {FILTER}");
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}
