//! `linkspan diff`: shows changes to the person at the editor and waits for what she decides. The hub may be
//! restarted meanwhile; the answer still comes.

mod plan;
mod report;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use linkspan_client::connection::ChangeWriter;
use linkspan_client::discover::Wire;
use linkspan_client::{AgentInfo, Bridge, BridgeConfig, BridgeError, CallError, Change, Decided, visible};

use crate::exit::{Exit, Failure};
use crate::output::{Report, foreign, relative, warn};
use crate::own_window::OwnWindow;
use crate::reach::Reach;
use crate::signals;
use crate::window::{self, Choice, WindowOptions};
use crate::write_accepted::write_accepted;
use plan::{Difference, Plan, plan};
use report::{Ended, Unasked, report};

/// Show a change at the editor, wait for the decision, and write what was accepted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The exit code is 0 when all of it was accepted and 1 when something was rejected.

As a tool of git, to look at differences one by one:
  git config difftool.linkspan.cmd 'linkspan diff \"$MERGED\" --old \"$LOCAL\" --new \"$REMOTE\"'
  git difftool --tool=linkspan --no-prompt")]
pub(crate) struct Args {
    /// The file to change; it need not exist. With --dir, the folder.
    file: PathBuf,
    /// What the file shall hold: another file, or - for the standard input, which is also meant without it.
    #[arg(long, value_name = "FILE|-")]
    new: Option<PathBuf>,
    /// Only compare: show this as the side before. Nothing is written.
    #[arg(long, value_name = "FILE")]
    old: Option<PathBuf>,
    /// What the change is called.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// FILE, --new and --old are folders: all files that differ are one set of changes.
    #[arg(long)]
    dir: bool,
    /// Print the accepted text instead of writing it.
    #[arg(long, conflicts_with_all = ["dir", "old"])]
    print: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    let from_input = args.new.as_deref().is_none_or(|new| new == Path::new("-"));
    if from_input && !args.dir && io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "what {} shall hold is missing: give `--new FILE`, or pipe it in",
            args.file.display()
        )));
    }
    let plan = plan(args, io::stdin().lock())?;
    let here = window::here()?;
    let unasked = Unasked { skipped: &plan.skipped, left_alone: plan.left_alone };
    if plan.differences.is_empty() {
        let mut report = report(&[], args.dir, &unasked);
        if !args.dir {
            report.text = format!("{} holds that already", visible::name(&args.file.to_string_lossy()));
        }
        return Ok(report);
    }
    let (asked, own) = connect(args, reach, &here)?;
    let bridge = Arc::new(asked);
    let interrupted = {
        let bridge = Arc::clone(&bridge);
        signals::take_back_when_interrupted(move || bridge.disconnect())?
    };
    if !json && own.is_some() {
        warn(
            "no editor has this folder open: decide in another terminal with `linkspan review`, \
             or `linkspan accept latest`",
        );
    }
    let decided = decide(args, &plan, &bridge);
    interrupted.or_go_on();
    bridge.disconnect();
    if let Some(own) = own {
        own.leave();
    }
    let folders = [here.to_string_lossy().into_owned()];
    let ended = plan.differences.iter().zip(decided).map(|(difference, decided)| {
        let writes = args.old.is_none() && !args.print;
        let decided = decided.and_then(|decided| {
            if writes {
                write_accepted(&difference.path, difference.before.as_deref(), decided)
            } else {
                Ok(decided)
            }
        });
        Ended { name: relative(&difference.path.to_string_lossy(), &folders), decided }
    });
    // All of them, before anything is said: each was decided by itself.
    let mut ended: Vec<Ended> = ended.collect();
    if !args.dir
        && let Some(one) = ended.pop_if(|one| one.decided.is_err())
    {
        return one.decided.map(|_| Report::default());
    }
    match ended.as_slice() {
        [one] if args.print => print(one),
        all => Ok(report(all, args.dir, &unasked)),
    }
}

/// The editor to ask; a window of our own where nobody has the folder.
fn connect(args: &Args, reach: &Reach, here: &Path) -> Result<(Bridge, Option<OwnWindow>), Failure> {
    let folder = nearest_folder(&args.file).unwrap_or_else(|| here.to_owned());
    let surroundings = window::surroundings(&folder)?;
    let (candidate, own) = match window::choose(&args.window, reach, &folder)? {
        Choice::Window(chosen) if args.print && writes_itself(&chosen.candidate.wire) => {
            let editor = window::described(&chosen.candidate);
            let message =
                format!("{editor} writes what is accepted itself: leave `--print` out, or use `--window`");
            return Err(Failure::new(Exit::Refused, message));
        }
        Choice::Window(chosen) => (chosen.candidate, None),
        Choice::NoneFits(_) => {
            let own = OwnWindow::open(reach, &[folder])?;
            (own.candidate().clone(), Some(own))
        }
    };
    let agent = AgentInfo::new("linkspan diff", env!("CARGO_PKG_VERSION"));
    let bridge = Bridge::new(BridgeConfig::default(), agent, surroundings);
    bridge.connect(&candidate).map_err(failure)?;
    Ok((bridge, own))
}

/// Whether an editor writes whatever the caller wishes.
fn writes_itself(wire: &Wire) -> bool {
    matches!(wire, Wire::Nexus3 { .. } | Wire::Clio { .. } | Wire::Ppxai { .. })
}

/// The folder a file is in, or would be in once it is there.
fn nearest_folder(file: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(file).ok()?;
    absolute.ancestors().find(|above| above.is_dir()).map(Path::to_owned)
}

/// Asks about all of them at once, so that the person can take them in any order.
fn decide(args: &Args, plan: &Plan, bridge: &Bridge) -> Vec<Result<Decided, Failure>> {
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
        let asked: Vec<_> = plan
            .differences
            .iter()
            .map(|difference| scope.spawn(|| bridge.review(&change(difference)).map_err(failure)))
            .collect();
        let fault = || Err(Failure::internal("a question was lost; look at `linkspan reviews`"));
        asked.into_iter().map(|one| one.join().unwrap_or_else(|_| fault())).collect()
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

/// The accepted text alone; everything else goes where it does not get into the text.
fn print(ended: &Ended) -> Result<Report, Failure> {
    let report = report(std::slice::from_ref(ended), false, &Unasked::default());
    match ended.accepted().map(|decided| decided.text.as_deref()) {
        Some(Some(text)) => Ok(foreign(text, None, report.json.unwrap_or_default())),
        // Nothing printed would pass for an empty text.
        Some(None) => {
            let message = format!("{} was accepted, but the editor did not say which text", ended.name);
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
    use crate::write_accepted::tests::accepted_without_a_text;

    #[test]
    fn a_text_that_was_not_told_is_not_printed_as_an_empty_one() {
        let ended = Ended { name: "a.txt".into(), decided: Ok(accepted_without_a_text()) };
        assert_eq!(print(&ended).unwrap_err().exit, Exit::Refused);
    }
}
