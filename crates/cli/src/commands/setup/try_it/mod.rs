//! `linkspan try`: a sample project, a window on it, and an agent that proposes changes to it. The user decides in the
//! page or the terminal, or a script does. Leaves nothing behind.

mod demo_agent;
mod demonstration;
mod hub_client;
mod printer;
mod sample;
mod script;

use std::io;
use std::sync::mpsc::channel;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::cli::signals;
use demonstration::{Demonstration, Event};
use printer::Printer;
use sample::Project;

/// See how it works, with a sample project and a demo agent.
///
/// The agent proposes changes, and you decide.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Your files are not touched: the project is in a temporary folder, which is removed when the command ends.")]
pub(crate) struct Args {
    /// Run unattended: a script decides, and the files are checked.
    #[arg(long, conflicts_with_all = ["open", "no_open"])]
    auto: bool,
    /// Open the page in the browser, even if this does not look like a local desktop.
    #[arg(long, conflicts_with = "no_open")]
    open: bool,
    /// Do not open the browser, only print the link.
    #[arg(long)]
    no_open: bool,
    /// Keep the sample project.
    #[arg(long)]
    keep: bool,
}

/// Why the demonstration ended early.
enum Stop {
    Interrupted,
    Failed(Failure),
    Output(io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    let (events, inbox) = channel();
    let (running, cleaned_up) = channel::<()>();
    let interrupted = {
        let events = events.clone();
        signals::withdraw_on_interrupt(move || {
            let _ = events.send(Event::Interrupted);
            // Nothing is ever sent: this returns when `running` is dropped, after the cleanup.
            let _ = cleaned_up.recv();
        })?
    };
    let mut demonstration =
        Demonstration::new(cli, Printer::new(json, args.auto), Project::make(args.keep)?, events, inbox);
    let ended = demonstration.play(args, json);
    let cleaned_up = demonstration.clean_up(args.auto, &ended);
    drop(running);
    interrupted.park_if_interrupted();
    match ended.and(cleaned_up) {
        Ok(()) | Err(Stop::Interrupted) => Ok(Report::default()),
        Err(Stop::Failed(failure)) => Err(failure),
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Report::default()),
        Err(Stop::Output(error)) => Err(Failure::internal(format!("cannot write the output: {error}"))),
    }
}
