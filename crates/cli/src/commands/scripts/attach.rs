//! `linkspan attach`: connects an editor extension to the hub, over standard input and output.

use std::io;

use linkspan_client::relay;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::{Report, warn};

pub(crate) const NAME: &str = "attach";

/// Connect an editor extension to the hub, on stdin and stdout.
///
/// Editor extensions start this. It survives restarts of the hub.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(cli: CliContext) -> Result<Report, Failure> {
    // Standard output belongs to the protocol, so notices go to standard error.
    let connect = move || cli.connect_or_start();
    relay(connect, "attach", io::stdin(), io::stdout(), |notice| warn(&notice.to_string()))?;
    Ok(Report::default())
}
