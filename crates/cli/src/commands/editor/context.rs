//! `linkspan context`: a summary of the editor's state, as agents put it into their prompts.

use std::path::Path;

use linkspan_client::bridge::BridgeConfig;
use linkspan_client::{CallError, Connection, ContextInput, MAX_DIAGNOSTICS, format_ide_context};
use linkspan_hub::config::{Config, WorkspaceConfig};
use serde_json::json;

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, foreign, warn};
use crate::cli::window::{WindowOptions, ask, connect, here};
use crate::commands::setup::config::workspace_of;

/// Print what an agent may put into its prompt about the editor.
///
/// Open tabs, errors, warnings and the selection, without files that `deny` names. Exit code 1 if there is nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave out errors and warnings.
    #[arg(long)]
    no_diagnostics: bool,
    /// Leave out the open tabs.
    #[arg(long)]
    no_editors: bool,
    /// Leave out the selection.
    #[arg(long)]
    no_selection: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let config = config_for(cli, &here()?)?;
    let parts = ContextParts {
        editors: !args.no_editors,
        diagnostics: !args.no_diagnostics,
        selection: !args.no_selection,
    };
    let text = ask(connect(&args.window, cli)?, |connection| context_text(connection, &config, parts))?;
    let document = json!({ "context": text });
    Ok(match text {
        Some(text) => foreign(&format!("{text}\n"), None, document),
        None => foreign("", Some("there is no context"), document).ending(Exit::Negative),
    })
}

/// Which parts of the editor's state are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContextParts {
    editors: bool,
    diagnostics: bool,
    selection: bool,
}

impl Default for ContextParts {
    fn default() -> ContextParts {
        ContextParts { editors: true, diagnostics: true, selection: true }
    }
}

/// The text for a model about this editor, without files that are kept from agents; `None` if there is nothing to say.
pub(crate) fn context_text(
    connection: &Connection,
    config: &Config,
    parts: ContextParts,
) -> Result<Option<String>, CallError> {
    let open_editors = parts.editors.then(|| connection.open_editors());
    let diagnostics = parts.diagnostics.then(|| connection.diagnostics(None, None));
    let (open_editors, diagnostics) = available(open_editors, diagnostics)?;
    // Not every editor has one; the rest is worth its text.
    let selection = parts.selection.then(|| connection.current_selection().ok().flatten()).flatten();
    Ok(format_ide_context(&ContextInput {
        ide_name: &connection.candidate().editor,
        open_editors: &open_editors,
        diagnostics: &diagnostics,
        selection: selection.as_ref(),
        config: &BridgeConfig::default(),
        max_diagnostics: MAX_DIAGNOSTICS,
        deny: &config.deny_globs(),
        folders: &connection.candidate().folders,
    }))
}

/// Both lists, without the one that the editor has no tool for; an error if it has neither.
fn available<A, B>(
    first: Option<Result<Vec<A>, CallError>>,
    second: Option<Result<Vec<B>, CallError>>,
) -> Result<(Vec<A>, Vec<B>), CallError> {
    let is_missing =
        |error: &CallError| matches!(error, CallError::Unsupported { .. } | CallError::NotOnThisWire(_));
    let omitted = |error: CallError| warn(&format!("{error}; it is omitted"));
    match (first.transpose(), second.transpose()) {
        (Err(error), Ok(Some(second))) if is_missing(&error) => {
            omitted(error);
            Ok((Vec::new(), second))
        }
        (Ok(Some(first)), Err(error)) if is_missing(&error) => {
            omitted(error);
            Ok((first, Vec::new()))
        }
        (first, second) => Ok((first?.unwrap_or_default(), second?.unwrap_or_default())),
    }
}

/// `deny` applies here too: an editor that is not attached to the hub does not know it, and the output goes to a model.
pub(crate) fn config_for(cli: &CliContext, folder: &Path) -> Result<Config, Failure> {
    let refused = |error| {
        Failure::new(
            Exit::Refused,
            format!("{error}; correct it first, because it decides what agents may see"),
        )
    };
    let config = Config::load(&cli.places.config_file()).map_err(refused)?;
    match workspace_of(folder) {
        None => Ok(config),
        Some(folder) => Ok(config.tightened_by(&WorkspaceConfig::load(&folder).map_err(refused)?)),
    }
}
