//! `linkspan close`: closes the diffs that agents opened in an editor with a server of its own. In windows of the hub a
//! change can only be decided by the user or withdrawn by its agent.

use linkspan_client::Connection;
use linkspan_client::discover::Wire;
use linkspan_editor_api::{ReviewSummary, ReviewsList};
use serde_json::json;

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Report;
use crate::cli::window::{WindowOptions, ask, connect};
use crate::visible::name;

/// Close the diffs that agents opened in an editor.
///
/// For editors with a server of their own. In a window of the hub, a change is decided or withdrawn instead.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The label of the tab.
    #[arg(required_unless_present = "all_diffs")]
    tab: Option<String>,
    /// Close every diff that an agent opened.
    #[arg(long, conflicts_with = "tab")]
    all_diffs: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let connection = connect(&args.window, cli)?;
    if let Wire::Hub { window, .. } = &connection.candidate().wire {
        let pending = pending(cli, window, args.tab.as_deref());
        connection.close();
        return hub_window(args, &pending?);
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

fn pending(cli: &CliContext, window: &str, tab: Option<&str>) -> Result<Vec<ReviewSummary>, Failure> {
    let mut reviews = cli.greeted()?.request(&ReviewsList { all: false })?.reviews;
    reviews.retain(|review| review.window == window && tab.is_none_or(|tab| review.label == tab));
    Ok(reviews)
}

fn hub_window(args: &Args, pending: &[ReviewSummary]) -> Result<Report, Failure> {
    match (pending, &args.tab) {
        ([], None) => Ok(Report::new("no diff is open", json!({ "allDiffs": true, "closed": true }))),
        ([], Some(tab)) => Err(Failure::new(
            Exit::Negative,
            format!("no change with the label {tab} is shown in this window"),
        )),
        (pending, _) => {
            let listed = pending.iter().map(|review| format!("{} of {}", review.review, review.agent));
            let message = format!(
                "{} pending: reject it with `linkspan reject`; only its agent can withdraw it",
                listed.collect::<Vec<_>>().join(", ")
            );
            Err(Failure::new(Exit::Refused, message))
        }
    }
}
