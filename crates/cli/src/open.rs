//! `linkspan open`: shows a file in the editor.

use std::ffi::OsString;

use linkspan_client::connection::{Landed, OpenAt};
use serde_json::json;

use crate::exit::Failure;
use crate::output::Report;
use crate::path_args::{FilePlace, existing_file, from_here};
use crate::reach::Reach;
use crate::visible::name;
use crate::window::{WindowOptions, ask, connect_for};

/// Open a file in the editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file; with a line, and a column in it, both from 1.
    #[arg(value_name = "FILE[:LINE[:COL]]")]
    file: OsString,
    /// Open it as a preview, which the next opened file replaces.
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let FilePlace { path, line, character } = FilePlace::parse(&args.file)?;
    let path = existing_file(&path)?;
    let target = line.map(|line| OpenAt { line, character, end_line: None });
    let connection = connect_for(&args.window, reach, &path)?;
    let editor = name(&connection.candidate().editor);
    let landed = ask(connection, |connection| connection.open_file(&path, target, args.preview))?;
    let column = line.map(|_| character.saturating_add(1)).filter(|_| landed == Landed::Place);
    let line = line.map(|line| line.saturating_add(1)).filter(|_| landed != Landed::File);
    let place: String = [line, column].iter().flatten().map(|number| format!(":{number}")).collect();
    let only = match landed {
        Landed::Place => String::new(),
        Landed::Line => format!("; {editor} goes only to a line, not to a column in it"),
        Landed::File => format!("; {editor} cannot go to a place in a file"),
    };
    let document = json!({ "path": path, "line": line, "column": column });
    Ok(Report::new(format!("opened {}{place}{only}", from_here(&path)), document))
}
