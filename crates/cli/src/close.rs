//! `linkspan close`: closes a tab, or the diffs that agents opened.

use serde_json::json;

use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;
use crate::visible::name;
use crate::window::{WindowOptions, connect};

/// Close a tab of the editor, or all diffs of agents.
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
    let report = match &args.tab {
        Some(tab) => {
            connection.close_tab(tab)?;
            Report::new(format!("closed {}", name(tab)), json!({ "tab": tab, "closed": true }))
        }
        None => {
            connection.close_all_diffs()?;
            Report::new("closed all diffs", json!({ "allDiffs": true, "closed": true }))
        }
    };
    connection.close();
    Ok(report)
}
