//! `linkspan dirty`: whether the editor holds changes of a file that are not saved.

use std::path::PathBuf;

use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::Report;
use crate::path_args::{absolute, from_here, no_such_file};
use crate::reach::Reach;
use crate::window::{WindowOptions, ask, connect_for};

/// Ask whether a file has unsaved changes in the editor: exit code 0 if it has, 1 if not.
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
    let dirty = ask(connection, |connection| connection.is_dirty(&path))?;
    if !dirty && !path.exists() {
        return Err(no_such_file(path.as_os_str()));
    }
    let (words, exit) = if dirty { ("has", Exit::Ok) } else { ("has no", Exit::No) };
    let text = format!("{} {words} unsaved changes", from_here(&path));
    Ok(Report::new(text, json!({ "path": path, "dirty": dirty })).ending(exit))
}
