//! `linkspan attach`: an editor's line to the hub, over standard input and output.

use std::io;

use linkspan_client::relay;

use crate::exit::Failure;
use crate::output::{Report, warn};
use crate::reach::Reach;

/// Connect an editor to the hub over standard input and output; editor extensions start this.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(reach: Reach) -> Result<Report, Failure> {
    // Standard output is the protocol's: whatever there is to say goes to standard error.
    let connect = move || reach.connect_or_start();
    relay(connect, "attach", io::stdin(), io::stdout(), |notice| warn(&notice.to_string()))?;
    Ok(Report::default())
}
