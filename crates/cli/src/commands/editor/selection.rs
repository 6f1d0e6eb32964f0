//! `linkspan selection`: what is selected in the editor.

use serde_json::{Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::file_position::from_here;
use crate::cli::output::{HEAD, Report, foreign, styled};
use crate::cli::window::{WindowOptions, ask, connect};

/// Print what is selected in the editor.
///
/// Exit code 1 if nothing is selected.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "On a terminal the text is printed with its file and lines, elsewhere alone and byte for byte."
)]
pub(crate) struct Args {
    /// The last selection in any document, not only in the active one.
    #[arg(long)]
    latest: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let selection = ask(connect(&args.window, cli)?, |connection| {
        if args.latest { connection.latest_selection() } else { connection.current_selection() }
    })?;
    let Some(selection) = selection else {
        let report =
            foreign("", Some("no document is active in the editor"), json!({ "selection": Value::Null }));
        return Ok(report.ending(Exit::Negative));
    };
    let from = (selection.start_line.saturating_add(1), selection.start_character.saturating_add(1));
    let to = (selection.end_line.saturating_add(1), selection.end_character.saturating_add(1));
    let document = json!({ "selection": {
        "path": selection.file_path.to_string_lossy(),
        "line": from.0,
        "column": from.1,
        "endLine": to.0,
        "endColumn": to.1,
        "text": selection.text,
    }});
    let place = format!("{}:{}:{}", from_here(&selection.file_path), from.0, from.1);
    if selection.text.is_empty() {
        let nothing = format!("nothing is selected; the cursor is at {place}");
        return Ok(foreign("", Some(&nothing), document).ending(Exit::Negative));
    }
    let head = styled(HEAD, &format!("{place}-{}:{}", to.0, to.1));
    Ok(foreign(&selection.text, Some(&head), document))
}
