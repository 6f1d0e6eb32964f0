//! `linkspan diff`: shows changes to the person at the editor and waits for what she decides. The hub may be
//! restarted meanwhile; the answer still comes.

mod plan;
mod report;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use linkspan_client::connection::ChangeWriter;
use linkspan_client::proposal::{Edit, proposed};
use linkspan_client::{AgentInfo, Bridge, BridgeConfig, BridgeError, CallError, Change, Decided};
use linkspan_hub::files;
use linkspan_review::{Digest, ReviewId};

use crate::exit::{Exit, Failure};
use crate::output::{Report, foreign, relative, warn};
use crate::own_window::OwnWindow;
use crate::reach::Reach;
use crate::signals;
use crate::window::{self, Choice, WindowOptions};
use plan::{Difference, Plan, plan};
use report::{Ended, Unasked, report};

/// What shells say of a program that was interrupted.
const INTERRUPTED: i32 = 130;

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
            report.text = format!("{} holds that already", args.file.display());
        }
        return Ok(report);
    }
    let (asked, own) = connect(args, reach, &here)?;
    let bridge = Arc::new(asked);
    withdraw_on_signal(Arc::clone(&bridge))?;
    if !json && own.is_some() {
        warn(
            "no editor has this folder open: decide in another terminal with `linkspan review`, \
             or `linkspan accept latest`",
        );
    }
    let decided = decide(args, &plan, &bridge);
    bridge.disconnect();
    if let Some(own) = own {
        own.leave();
    }
    let ended = plan.differences.iter().zip(decided).map(|(difference, decided)| {
        let mut decided = decided?;
        if !decided.written && decided.is_accepted() && args.old.is_none() && !args.print {
            write(difference, &decided)?;
            decided.written = true;
        }
        let folders = [here.to_string_lossy().into_owned()];
        Ok(Ended { name: relative(&difference.path.to_string_lossy(), &folders), decided })
    });
    let ended = ended.collect::<Result<Vec<_>, Failure>>()?;
    match ended.as_slice() {
        [one] if args.print => Ok(print(one)),
        all => Ok(report(all, args.dir, &unasked)),
    }
}

/// The editor to ask; a window of our own where nobody has the folder.
fn connect(args: &Args, reach: &Reach, here: &Path) -> Result<(Bridge, Option<OwnWindow>), Failure> {
    let folder = nearest_folder(&args.file).unwrap_or_else(|| here.to_owned());
    let surroundings = window::surroundings(&folder)?;
    let (candidate, own) = match window::choose(&args.window, reach, &folder)? {
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

/// Whoever interrupts us does not want the answer any more.
fn withdraw_on_signal(bridge: Arc<Bridge>) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::internal(format!("signals cannot be handled: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let listening = runtime.enter();
    let asked = signals::leave_asked().map_err(failed)?;
    drop(listening);
    thread::spawn(move || {
        runtime.block_on(asked);
        bridge.disconnect();
        std::process::exit(INTERRUPTED);
    });
    Ok(())
}

/// An editor of somebody else's leaves the writing to whoever asked. The file is what it was, or it is not touched.
fn write(difference: &Difference, decided: &Decided) -> Result<(), Failure> {
    let path = difference.path.display();
    let refused =
        |why: String| Failure::new(Exit::Refused, format!("{path} was accepted but not written: {why}"));
    let content = decided.text.clone().unwrap_or_default();
    let proposal = proposed(&Edit::WriteFile { content }, difference.before.as_deref())
        .map_err(|error| refused(error.to_string()))?;
    let order = files::Replacement {
        // Only names the temporary file.
        review: ReviewId(u64::from(std::process::id())),
        folders: difference.path.ancestors().last().map(Path::to_owned).into_iter().collect(),
        path: difference.path.clone(),
        bytes: proposal.bytes().to_vec(),
        expect: difference.before.as_deref().map(Digest::of),
        limit_mib: 1024,
    };
    files::replace(&order).map_err(|error| match error {
        files::WriteError::BaseMoved(_) => {
            refused("it changed while the change was shown; run the command again".into())
        }
        files::WriteError::Failed(error) => refused(error.to_string()),
    })
}

/// The accepted text alone; everything else goes where it does not get into the text.
fn print(ended: &Ended) -> Report {
    let report = report(std::slice::from_ref(ended), false, &Unasked::default());
    match &ended.decided.text {
        Some(text) if ended.decided.is_accepted() => foreign(text, None, report.json.unwrap_or_default()),
        _ => {
            let _ = writeln!(anstream::stderr(), "{}", report.text);
            Report { text: String::new(), ..report }
        }
    }
}
