//! `linkspan save`: has the editor save a document.

use std::path::PathBuf;

use serde_json::json;

use crate::exit::Failure;
use crate::output::Report;
use crate::path_args::{absolute, from_here};
use crate::reach::Reach;
use crate::window::{WindowOptions, ask, connect_for};

/// Save a file that has unsaved changes in the editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file.
    file: PathBuf,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let path = absolute(&args.file)?;
    let connection = connect_for(&args.window, reach, &path)?;
    ask(connection, |connection| connection.save(&path)).map_err(|failure| {
        let message = format!("{} was not saved: {}", path.display(), failure.message);
        Failure { message, ..failure }
    })?;
    Ok(Report::new(format!("saved {}", from_here(&path)), json!({ "path": path, "saved": true })))
}
