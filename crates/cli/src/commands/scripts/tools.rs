//! `linkspan tools`: the tools that the editor offers to agents.

use linkspan_client::Connection;
use serde_json::{Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::{Report, table};
use crate::cli::window::{WindowOptions, ask, connect};
use crate::visible::name;

/// List the tools that the editor offers to agents.
///
/// With --json, their schemas too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let tools = ask(connect(&args.window, cli)?, Connection::tools)?;
    let listed = serde_json::to_value(&tools).unwrap_or_default();
    let document: Value = json!({ "tools": listed });
    if tools.is_empty() {
        return Ok(Report::new("the editor offers no tools", document));
    }
    let mut rows = vec![["TOOL", "WHAT IT DOES"].map(String::from).to_vec()];
    rows.extend(tools.iter().map(|tool| vec![name(&tool.name), name(first_sentence(&tool.description))]));
    Ok(Report::new(table(&rows), document))
}

/// Up to the first full stop that is followed by a space, or the end of the line.
fn first_sentence(text: &str) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_with_its_line_or_a_full_stop() {
        assert_eq!(first_sentence("Opens a file. Waits."), "Opens a file");
        assert_eq!(first_sentence("\n Opens a.txt.\nMore"), "Opens a.txt");
        assert_eq!(first_sentence(""), "");
    }
}
