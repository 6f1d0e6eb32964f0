//! `linkspan try`: a sample project, a window on it, an agent that proposes changes to it, and whoever is there to
//! decide: a person in the page or the terminal, or a script. Leaves nothing behind.

mod demo_agent;
mod demonstration;
mod hub_side;
mod sample;
mod says;
mod script;

use std::io;
use std::sync::mpsc::channel;

use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;
use crate::signals;
use demonstration::{Demonstration, Event};
use sample::Project;
use says::Says;

/// See what Linkspan does: a sample project, an agent that proposes changes, and you decide.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing of yours is touched: the project is made in a temporary folder, which goes when the command ends.")]
pub(crate) struct Args {
    /// Decide by script, check the files, and end: for a machine without a person.
    #[arg(long, conflicts_with_all = ["open", "no_open"])]
    auto: bool,
    /// Ask the browser to open the page, also where nobody seems to sit in front of it.
    #[arg(long, conflicts_with = "no_open")]
    open: bool,
    /// Only print the link.
    #[arg(long)]
    no_open: bool,
    /// Leave the sample project where it is.
    #[arg(long)]
    keep: bool,
}

/// Why it went no further.
enum Stop {
    Interrupted,
    Failed(Failure),
    Unheard(io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Unheard(error)
    }
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    let (events, inbox) = channel();
    let (busy, tidied_up) = channel::<()>();
    let interrupted = {
        let events = events.clone();
        signals::take_back_when_interrupted(move || {
            let _ = events.send(Event::Interrupted);
            // Never told anything: it ends when all is tidied up.
            let _ = tidied_up.recv();
        })?
    };
    let mut demonstration =
        Demonstration::new(reach, Says::new(json, args.auto), Project::make(args.keep)?, events, inbox);
    let ended = demonstration.play(args, json);
    let tidied = demonstration.tidy_up(args.auto, &ended);
    drop(busy);
    interrupted.or_go_on();
    match ended.and(tidied) {
        Ok(()) | Err(Stop::Interrupted) => Ok(Report::default()),
        Err(Stop::Failed(failure)) => Err(failure),
        Err(Stop::Unheard(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Report::default()),
        Err(Stop::Unheard(error)) => {
            Err(Failure::internal(format!("the output could not be written: {error}")))
        }
    }
}
