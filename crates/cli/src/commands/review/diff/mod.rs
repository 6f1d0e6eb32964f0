//! `linkspan diff`: proposes changes to the user at the editor and waits for the decision, even across a restart of the
//! hub.

mod plan;
mod report;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use linkspan_client::connection::ChangeWriter;
use linkspan_client::discover::Wire;
use linkspan_client::{
    AgentInfo, Bridge, BridgeConfig, BridgeError, CallError, Change, ChangeOutcome, visible,
};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, foreign, relative, warn};
use crate::cli::signals;
use crate::cli::temporary_window::TemporaryWindow;
use crate::cli::window::{self, Choice, WindowOptions};
use crate::commands::review::accepted_text::write_accepted;
use plan::{Difference, Plan, plan};
use report::{FileOutcome, NotProposed, report};

/// Propose a change, wait for the decision, and write the result.
///
/// The change is shown in the editor that has the folder open, or waits for `linkspan review`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The exit code is 0 if everything was accepted and 1 if something was rejected.

As a git difftool, file by file:
  git config difftool.linkspan.cmd 'linkspan diff \"$MERGED\" --old \"$LOCAL\" --new \"$REMOTE\"'
  git difftool --tool=linkspan --no-prompt")]
pub(crate) struct Args {
    /// The file to change, which need not exist; with --dir, the folder.
    file: PathBuf,
    /// The new content: a file, or - for standard input, which is also the default.
    #[arg(long, value_name = "FILE|-")]
    new: Option<PathBuf>,
    /// Only compare: show this file as the old side. Nothing is written.
    #[arg(long, value_name = "FILE")]
    old: Option<PathBuf>,
    /// A description of the change.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// FILE, --new and --old are folders; propose all files that differ as one set of changes.
    #[arg(long)]
    dir: bool,
    /// Print the accepted text instead of writing it.
    #[arg(long, conflicts_with_all = ["dir", "old"])]
    print: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    let from_input = args.new.as_deref().is_none_or(|new| new == Path::new("-"));
    if from_input && !args.dir && io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "the new content of {} is missing; pass `--new FILE`, or pipe it in",
            args.file.display()
        )));
    }
    let plan = plan(args, io::stdin().lock())?;
    let here = window::here()?;
    let not_proposed = NotProposed { skipped: &plan.skipped, left_alone: plan.left_alone };
    if plan.differences.is_empty() {
        let mut report = report(&[], args.dir, &not_proposed);
        if !args.dir {
            report.text = format!("{} already has this content", visible::name(&args.file.to_string_lossy()));
        }
        return Ok(report);
    }
    let (bridge, temporary) = connect(args, cli, &here)?;
    let bridge = Arc::new(bridge);
    let interrupted = {
        let bridge = Arc::clone(&bridge);
        signals::withdraw_on_interrupt(move || bridge.disconnect())?
    };
    if !json && temporary.is_some() {
        warn(
            "no editor has this folder open; decide in another terminal with `linkspan review` or \
             `linkspan accept latest`",
        );
    }
    let decided = decide(args, &plan, &bridge);
    interrupted.park_if_interrupted();
    bridge.disconnect();
    if let Some(temporary) = temporary {
        temporary.close();
    }
    let folders = [here.to_string_lossy().into_owned()];
    let outcomes = plan.differences.iter().zip(decided).map(|(difference, decided)| {
        let writes = args.old.is_none() && !args.print;
        let decided = decided.and_then(|decided| {
            if writes {
                write_accepted(&difference.path, difference.before.as_deref(), decided)
            } else {
                Ok(decided)
            }
        });
        FileOutcome { name: relative(&difference.path.to_string_lossy(), &folders), decided }
    });
    // All files, before anything is reported: each was decided separately.
    let mut outcomes: Vec<FileOutcome> = outcomes.collect();
    if !args.dir
        && let Some(one) = outcomes.pop_if(|one| one.decided.is_err())
    {
        return one.decided.map(|_| Report::default());
    }
    match outcomes.as_slice() {
        [one] if args.print => print(one),
        all => Ok(report(all, args.dir, &not_proposed)),
    }
}

/// Connects to the editor, or to a temporary window if no editor has the folder open.
fn connect(args: &Args, cli: &CliContext, here: &Path) -> Result<(Bridge, Option<TemporaryWindow>), Failure> {
    let folder = nearest_folder(&args.file).unwrap_or_else(|| here.to_owned());
    let surroundings = window::surroundings(&folder)?;
    let (candidate, temporary) = match window::choose(&args.window, cli, &folder)? {
        Choice::Window(chosen) if args.print && writes_itself(&chosen.candidate.wire) => {
            let editor = window::described(&chosen.candidate);
            let message = format!(
                "{editor} writes accepted changes itself; omit `--print`, or choose another with `--window`"
            );
            return Err(Failure::new(Exit::Refused, message));
        }
        Choice::Window(chosen) => (chosen.candidate, None),
        Choice::NoneFits(_) => {
            let temporary = TemporaryWindow::open(cli, &[folder])?;
            (temporary.candidate().clone(), Some(temporary))
        }
    };
    let agent = AgentInfo::new("linkspan diff", env!("CARGO_PKG_VERSION"));
    let bridge = Bridge::new(BridgeConfig::default(), agent, surroundings);
    bridge.connect(&candidate).map_err(failure)?;
    Ok((bridge, temporary))
}

/// Whether an editor writes accepted changes regardless of what the caller wants.
fn writes_itself(wire: &Wire) -> bool {
    matches!(wire, Wire::Nexus3 { .. } | Wire::Clio { .. } | Wire::Ppxai { .. })
}

/// The folder of a file, or the nearest one above it that exists.
fn nearest_folder(file: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(file).ok()?;
    absolute.ancestors().find(|above| above.is_dir()).map(Path::to_owned)
}

/// Proposes all of them at once, so that the user can decide them in any order.
fn decide(args: &Args, plan: &Plan, bridge: &Bridge) -> Vec<Result<ChangeOutcome, Failure>> {
    let set = (plan.differences.len() > 1).then(|| "linkspan diff".to_owned());
    let change = |difference: &Difference| {
        let change = Change::new(&difference.path, difference.new_text.clone());
        Change {
            label: args.label.clone().unwrap_or(change.label),
            old_text: difference.old_text.clone(),
            set: set.clone(),
            writer: if args.print { ChangeWriter::Caller } else { ChangeWriter::Editor },
            ..change
        }
    };
    thread::scope(|scope| {
        let pending: Vec<_> = plan
            .differences
            .iter()
            .map(|difference| scope.spawn(|| bridge.review(&change(difference)).map_err(failure)))
            .collect();
        let lost = || Err(Failure::internal("a pending change was lost; see `linkspan reviews`"));
        pending.into_iter().map(|one| one.join().unwrap_or_else(|_| lost())).collect()
    })
}

fn failure(error: BridgeError) -> Failure {
    match error {
        BridgeError::Open(error) => error.into(),
        BridgeError::Call(CallError::Withdrawn) => {
            Failure::new(Exit::Refused, "the change was withdrawn before anyone decided")
        }
        BridgeError::Call(error) => error.into(),
        BridgeError::NotConnected | BridgeError::Lost => Failure::new(Exit::NoWindow, error.to_string()),
        other => Failure::internal(other.to_string()),
    }
}

/// Prints the accepted text alone; everything else goes to standard error.
fn print(outcome: &FileOutcome) -> Result<Report, Failure> {
    let report = report(std::slice::from_ref(outcome), false, &NotProposed::default());
    match outcome.accepted().map(|decided| decided.text.as_deref()) {
        Some(Some(text)) => Ok(foreign(text, None, report.json.unwrap_or_default())),
        // Printing nothing would look like an empty text.
        Some(None) => {
            let message = format!("{} was accepted, but the editor did not send the text", outcome.name);
            Err(Failure::new(Exit::Refused, message))
        }
        None => {
            let _ = writeln!(anstream::stderr(), "{}", report.text);
            Ok(Report { text: String::new(), ..report })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::review::accepted_text::tests::accepted_without_a_text;

    #[test]
    fn a_missing_text_is_not_printed_as_an_empty_one() {
        let outcome = FileOutcome { name: "a.txt".into(), decided: Ok(accepted_without_a_text()) };
        assert_eq!(print(&outcome).unwrap_err().exit, Exit::Refused);
    }
}
