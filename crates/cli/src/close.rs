//! `linkspan close`: closes the diffs that agents opened in an editor with a server of its own. Windows of the hub have
//! no such tabs to close: there a change is its agent's to take back and the person's to decide.

use linkspan_client::Connection;
use linkspan_client::discover::Wire;
use linkspan_editor_api::{ReviewSummary, ReviewsList};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::Report;
use crate::reach::Reach;
use crate::visible::name;
use crate::window::{WindowOptions, ask, connect};

/// Close the tab of a change, or of all changes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the tab says.
    #[arg(required_unless_present = "all_diffs")]
    tab: Option<String>,
    /// Close every diff that an agent opened.
    #[arg(long, conflicts_with = "tab")]
    all_diffs: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let connection = connect(&args.window, reach)?;
    if let Wire::Hub { window, .. } = &connection.candidate().wire {
        let waiting = waiting(reach, window, args.tab.as_deref());
        connection.close();
        return in_the_hub(args, &waiting?);
    }
    match &args.tab {
        Some(tab) => {
            ask(connection, |connection| connection.close_tab(tab))?;
            Ok(Report::new(format!("closed {}", name(tab)), json!({ "tab": tab, "closed": true })))
        }
        None => {
            ask(connection, Connection::close_all_diffs)?;
            Ok(Report::new("closed all diffs", json!({ "allDiffs": true, "closed": true })))
        }
    }
}

fn waiting(reach: &Reach, window: &str, tab: Option<&str>) -> Result<Vec<ReviewSummary>, Failure> {
    let mut reviews = reach.greeted()?.request(&ReviewsList { all: false })?.reviews;
    reviews.retain(|review| review.window == window && tab.is_none_or(|tab| review.label == tab));
    Ok(reviews)
}

fn in_the_hub(args: &Args, waiting: &[ReviewSummary]) -> Result<Report, Failure> {
    match (waiting, &args.tab) {
        ([], None) => Ok(Report::new("no diff is open", json!({ "allDiffs": true, "closed": true }))),
        ([], Some(tab)) => {
            Err(Failure::new(Exit::No, format!("no change with the label {tab} is shown in this window")))
        }
        (waiting, _) => {
            let listed = waiting.iter().map(|review| format!("{} of {}", review.review, review.agent));
            let message = format!(
                "{} waits for a decision: `linkspan reject` says no, and only its agent can take it back",
                listed.collect::<Vec<_>>().join(", ")
            );
            Err(Failure::new(Exit::Refused, message))
        }
    }
}
