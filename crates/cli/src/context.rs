//! `linkspan context`: what a model may be told about the editor, as agents put it into their prompts.

use std::path::{Path, PathBuf};

use linkspan_client::bridge::BridgeConfig;
use linkspan_client::{CallError, ContextInput, MAX_DIAGNOSTICS, format_ide_context};
use linkspan_hub::config::{Config, WorkspaceConfig};
use serde_json::json;

use crate::config::workspace_of;
use crate::exit::{Exit, Failure};
use crate::output::{Report, foreign, warn};
use crate::reach::Reach;
use crate::window::{WindowOptions, ask, connect, here};

/// Print what a model may be told about the editor: open tabs, errors and warnings; exit code 1 if there is nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave out errors and warnings.
    #[arg(long)]
    no_diagnostics: bool,
    /// Leave out the open tabs.
    #[arg(long)]
    no_editors: bool,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let config = config_for(reach, &here()?)?;
    let connection = connect(&args.window, reach)?;
    let folders: Vec<PathBuf> = connection.candidate().folders.clone();
    let ide_name = connection.candidate().editor.clone();
    let (open_editors, diagnostics) = ask(connection, |connection| {
        let open_editors = (!args.no_editors).then(|| connection.open_editors());
        let diagnostics = (!args.no_diagnostics).then(|| connection.diagnostics(None, None));
        what_there_is(open_editors, diagnostics)
    })?;
    let text = format_ide_context(&ContextInput {
        ide_name: &ide_name,
        open_editors: &open_editors,
        diagnostics: &diagnostics,
        config: &BridgeConfig::default(),
        max_diagnostics: MAX_DIAGNOSTICS,
        deny: &config.deny_globs(),
        folders: &folders,
    });
    let document = json!({ "context": text });
    Ok(match text {
        Some(text) => foreign(&format!("{text}\n"), None, document),
        None => foreign("", Some("there is nothing to tell"), document).ending(Exit::No),
    })
}

/// What the editor tells, without what it has no tool for; the error, if it has none at all.
fn what_there_is<A, B>(
    first: Option<Result<Vec<A>, CallError>>,
    second: Option<Result<Vec<B>, CallError>>,
) -> Result<(Vec<A>, Vec<B>), CallError> {
    let is_missing =
        |error: &CallError| matches!(error, CallError::Unsupported { .. } | CallError::NotOnThisWire(_));
    let say = |error: CallError| warn(&format!("{error}; the rest is told"));
    match (first.transpose(), second.transpose()) {
        (Err(error), Ok(Some(second))) if is_missing(&error) => {
            say(error);
            Ok((Vec::new(), second))
        }
        (Ok(Some(first)), Err(error)) if is_missing(&error) => {
            say(error);
            Ok((first, Vec::new()))
        }
        (first, second) => Ok((first?.unwrap_or_default(), second?.unwrap_or_default())),
    }
}

/// What is denied holds here too: a foreign editor does not know it, and its words go to a model.
pub(crate) fn config_for(reach: &Reach, folder: &Path) -> Result<Config, Failure> {
    let refused = |error| Failure::new(Exit::Refused, format!("{error}; nothing is told while that is so"));
    let config = Config::load(&reach.places.config_file()).map_err(refused)?;
    match workspace_of(folder) {
        None => Ok(config),
        Some(folder) => Ok(config.tightened_by(&WorkspaceConfig::load(&folder).map_err(refused)?)),
    }
}
