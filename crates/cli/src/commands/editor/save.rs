//! `linkspan save`: makes the editor save a document.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::file_position::{absolute, from_here};
use crate::cli::output::Report;
use crate::cli::window::{WindowOptions, ask, connect_for};

/// Save a file that has unsaved changes in the editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file.
    file: PathBuf,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let path = absolute(&args.file)?;
    let connection = connect_for(&args.window, cli, &path)?;
    ask(connection, |connection| connection.save(&path)).map_err(|failure| {
        let message = format!("{} was not saved: {}", path.display(), failure.message);
        Failure { message, ..failure }
    })?;
    Ok(Report::new(format!("saved {}", from_here(&path)), json!({ "path": path, "saved": true })))
}
