//! `linkspan open`: opens a file in the editor.

use std::ffi::OsString;

use linkspan_client::connection::{OpenAt, OpenPrecision};
use serde_json::json;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::file_position::{FilePosition, existing_file, from_here};
use crate::cli::output::Report;
use crate::cli::window::{WindowOptions, ask, connect_for};
use crate::visible::name;

/// Open a file in the editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, with an optional line and column, counted from 1.
    #[arg(value_name = "FILE[:LINE[:COL]]")]
    file: OsString,
    /// Open it as a preview, which the next file you open replaces.
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let FilePosition { path, line, character } = FilePosition::parse(&args.file)?;
    let path = existing_file(&path)?;
    let target = line.map(|line| OpenAt { line, character, end_line: None });
    let connection = connect_for(&args.window, cli, &path)?;
    let editor = name(&connection.candidate().editor);
    let landed = ask(connection, |connection| connection.open_file(&path, target, args.preview))?;
    let column = line.map(|_| character.saturating_add(1)).filter(|_| landed == OpenPrecision::Place);
    let line = line.map(|line| line.saturating_add(1)).filter(|_| landed != OpenPrecision::File);
    let place: String = [line, column].iter().flatten().map(|number| format!(":{number}")).collect();
    let only = match landed {
        OpenPrecision::Place => String::new(),
        OpenPrecision::Line => format!("; {editor} cannot go to a column"),
        OpenPrecision::File => format!("; {editor} cannot go to a line"),
    };
    let document = json!({ "path": path, "line": line, "column": column });
    Ok(Report::new(format!("opened {}{place}{only}", from_here(&path)), document))
}
