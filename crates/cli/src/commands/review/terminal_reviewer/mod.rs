//! `linkspan review`: the full-screen reviewer if the terminal supports it, else a prompt. Chooses one and connects; the
//! screens are in `linkspan-reviewer` and in `prompt`.

mod prompt;

use std::env;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use linkspan_client::Control;
use linkspan_editor_api::ReviewsGet;
use linkspan_reviewer::{Connect, Depth, Ground, Palette, ReviewerOptions, RunError};

use crate::cli::context::{CliContext, greet_as};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, warn};
use crate::commands::review::review_args::ReviewName;

/// The place of a decision made here, as it is shown elsewhere.
const ROLE: &str = "the terminal reviewer";

/// Review what agents propose, in this terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Start with this review: r12, 12 or latest.
    review: Option<ReviewName>,
    /// Exit when no review is pending, instead of waiting for new ones.
    #[arg(long)]
    once: bool,
    /// Ask line by line instead of using the full screen.
    #[arg(long)]
    plain: bool,
    /// Colours for a dark or a light terminal.
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    theme: Theme,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Theme {
    /// From the environment (COLORFGBG), else dark.
    Auto,
    Dark,
    Light,
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    if json {
        let message =
            "`linkspan review` is interactive; scripts use `linkspan reviews --json` and `linkspan accept`";
        return Err(Failure::usage(message));
    }
    if !io::stdin().is_terminal() {
        let message = "`linkspan review` is interactive, and standard input is not a terminal; use `linkspan reviews`, \
                       `linkspan show`, `linkspan accept` and `linkspan reject`";
        return Err(Failure::usage(message));
    }
    // Errors such as a missing hub, a different version or an unknown review must appear before the full screen does.
    let mut control = cli.greeted()?;
    let review = match &args.review {
        Some(name) => {
            let got = control.request(&ReviewsGet { review: name.0.clone() })?;
            let review = got.shown.review;
            if got.outcome.is_some() {
                let message = format!("{review} is already decided; `linkspan show {review}` shows it");
                return Err(Failure::new(Exit::Negative, message));
            }
            Some(review)
        }
        None => None,
    };
    drop(control);
    let variable = |name: &str| env::var(name).ok();
    let is_dumb = variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if args.plain || is_dumb || !io::stdout().is_terminal() {
        return prompt::run(with_warning(connect(cli)), review, args.once);
    }
    let ground = match args.theme {
        Theme::Auto => Ground::from_env(variable),
        Theme::Dark => Ground::Dark,
        Theme::Light => Ground::Light,
    };
    let palette = Palette::new(Depth::from_env(variable), ground);
    let options = ReviewerOptions { review, once: args.once };
    linkspan_reviewer::run(connect(cli), &palette, options)?;
    Ok(Report::default())
}

fn connect(cli: &CliContext) -> Connect {
    let cli = cli.clone();
    Arc::new(move || quiet(&cli).map_err(|failure| failure.message))
}

/// For the prompt: warns once each time the hub goes away.
fn with_warning(connect: Connect) -> Connect {
    let away = AtomicBool::new(false);
    Arc::new(move || {
        let connected = connect();
        let was_away = away.swap(connected.is_err(), Ordering::Relaxed);
        if let (Err(message), false) = (&connected, was_away) {
            warn(&format!("{message}; trying again (Ctrl-C quits)"));
        }
        connected
    })
}

/// A connection that prints no notices.
fn quiet(cli: &CliContext) -> Result<Control, Failure> {
    Ok(greet_as(ROLE, || cli.connect_or_start())?.0)
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Terminal(error) => Failure::internal(format!(
                "the terminal cannot be used: {error}; try `linkspan review --plain`"
            )),
            RunError::Unsent(words) => Failure::new(Exit::Negative, words),
        }
    }
}
