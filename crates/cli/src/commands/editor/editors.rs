//! `linkspan editors`: the documents open in the editor.

use linkspan_client::Connection;
use serde_json::{Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::file_position::from_here;
use crate::cli::output::{Report, table};
use crate::cli::window::{WindowOptions, ask, connect};
use crate::visible::name;

/// List the documents that are open in the editor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let editors = ask(connect(&args.window, cli)?, Connection::open_editors)?;
    let listed = editors.iter().map(|editor| {
        json!({
            "path": editor.file_path.to_string_lossy(),
            "active": editor.is_active,
            "dirty": editor.is_dirty,
            "language": editor.language_id,
        })
    });
    let document = json!({ "editors": listed.collect::<Vec<Value>>() });
    if editors.is_empty() {
        return Ok(Report::new("no document is open", document));
    }
    let mut rows = vec![["FILE", "LANGUAGE", "STATE"].map(String::from).to_vec()];
    rows.extend(editors.iter().map(|editor| {
        let state = [(editor.is_active, "active"), (editor.is_dirty, "unsaved")];
        let state: Vec<&str> = state.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        let language = editor.language_id.as_deref().unwrap_or("-");
        vec![from_here(&editor.file_path), name(language), state.join(", ")]
    }));
    Ok(Report::new(table(&rows), document))
}
