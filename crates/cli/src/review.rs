//! `linkspan review`: the terminal reviewer where the terminal can show it, else a prompt. Only chooses and connects;
//! what is shown is in `linkspan-reviewer` and in `prompt`.

mod prompt;

use std::env;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use linkspan_client::Control;
use linkspan_editor_api::ReviewsGet;
use linkspan_reviewer::{Connect, Depth, Ground, Palette, RunError, Wishes};

use crate::exit::{Exit, Failure};
use crate::output::{Report, warn};
use crate::reach::{Reach, greet_as};
use crate::review_args::ReviewName;

/// Where decisions made here are said to be made.
const ROLE: &str = "the terminal reviewer";

/// Review what agents propose, in this terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Begin with this one: r12, 12 or latest.
    review: Option<ReviewName>,
    /// Leave when nothing waits any more, instead of waiting for what comes.
    #[arg(long)]
    once: bool,
    /// Ask line by line instead of using the whole screen.
    #[arg(long)]
    plain: bool,
    /// The colours: for a dark or a light terminal.
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    theme: Theme,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Theme {
    /// Ask the environment (COLORFGBG), else dark.
    Auto,
    Dark,
    Light,
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    if json {
        let message = "`review` is for people: scripts use `linkspan reviews --json` and `linkspan accept`";
        return Err(Failure::usage(message));
    }
    if !io::stdin().is_terminal() {
        let message = "`review` needs a person at a terminal, and standard input is none: use `linkspan reviews`, \
                       `linkspan show`, `linkspan accept` and `linkspan reject`";
        return Err(Failure::usage(message));
    }
    // Also shows, before the screen is taken, what cannot be helped: no hub, another version, no such review.
    let mut control = reach.greeted()?;
    let review = match &args.review {
        Some(name) => {
            let got = control.request(&ReviewsGet { review: name.0.clone() })?;
            let review = got.shown.review;
            if got.outcome.is_some() {
                let message =
                    format!("{review} is decided already: look at it with `linkspan show {review}`");
                return Err(Failure::new(Exit::No, message));
            }
            Some(review)
        }
        None => None,
    };
    drop(control);
    let variable = |name: &str| env::var(name).ok();
    let is_dumb = variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if args.plain || is_dumb || !io::stdout().is_terminal() {
        return prompt::run(said(connect(reach)), review, args.once);
    }
    let ground = match args.theme {
        Theme::Auto => Ground::from_env(variable),
        Theme::Dark => Ground::Dark,
        Theme::Light => Ground::Light,
    };
    let palette = Palette::new(Depth::from_env(variable), ground);
    let wishes = Wishes { review, once: args.once };
    linkspan_reviewer::run(connect(reach), &palette, wishes)?;
    Ok(Report::default())
}

fn connect(reach: &Reach) -> Connect {
    let reach = reach.clone();
    Arc::new(move || quiet(&reach).map_err(|failure| failure.message))
}

/// For those who print lines: that the hub is away is said once each time.
fn said(connect: Connect) -> Connect {
    let away = AtomicBool::new(false);
    Arc::new(move || {
        let connected = connect();
        let was_away = away.swap(connected.is_err(), Ordering::Relaxed);
        if let (Err(message), false) = (&connected, was_away) {
            warn(&format!("{message}; looking for it again (Ctrl-C leaves)"));
        }
        connected
    })
}

/// A connection that says nothing to the terminal.
fn quiet(reach: &Reach) -> Result<Control, Failure> {
    Ok(greet_as(ROLE, || reach.connect_or_start())?.0)
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Terminal(error) => Failure::internal(format!(
                "the terminal does not work: {error}; try `linkspan review --plain`"
            )),
            RunError::Untold(words) => Failure::new(Exit::No, words),
        }
    }
}
