//! `linkspan dirty`: whether a file has unsaved changes in the editor.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::file_position::{absolute, from_here, no_such_file};
use crate::cli::output::Report;
use crate::cli::window::{WindowOptions, ask, connect_for};

/// Check whether a file has unsaved changes in the editor.
///
/// Exit code 0 if it has, 1 if not.
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
    let dirty = ask(connection, |connection| connection.is_dirty(&path))?;
    if !dirty && !path.exists() {
        return Err(no_such_file(path.as_os_str()));
    }
    let (words, exit) = if dirty { ("has", Exit::Ok) } else { ("has no", Exit::Negative) };
    let text = format!("{} {words} unsaved changes", from_here(&path));
    Ok(Report::new(text, json!({ "path": path, "dirty": dirty })).ending(exit))
}
