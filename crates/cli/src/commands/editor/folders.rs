//! `linkspan folders`: the workspace folders of the window.

use linkspan_client::Connection;
use serde_json::json;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::cli::window::{WindowOptions, ask, connect};
use crate::visible::name;

/// List the workspace folders of the editor window.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let folders = ask(connect(&args.window, cli)?, Connection::workspace_folders)?;
    let folders: Vec<String> = folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
    let lines: Vec<String> = folders.iter().map(|folder| name(folder)).collect();
    Ok(Report::new(lines.join("\n"), json!({ "folders": folders })))
}
