//! `linkspan undo`: takes back an accepted change, if the file still holds what the change made of it.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use linkspan_client::{Control, ControlError};
use linkspan_editor_api::{
    HistoryEntry, HistoryList, HistoryUndo, HistoryUndoResult, HistoryUndoTurn, HubStatus, TurnUndo,
    parse_turn,
};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, count, lines_changed, relative};
use crate::commands::review::history::{here, id};
use linkspan_client::visible::name;

/// Take back an accepted change, byte for byte.
///
/// The file gets the bytes that it held before the change. If it was changed since, nothing happens. A turn of a chat is
/// undone file by file, the newest change first: what can be undone is, and the others are listed with the reason.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The change, as `linkspan history` lists it: r12, or c17 for an undo. Undoing an undo is a redo. t3/2 undoes all
    /// changes of the second turn of the conversation t3.
    #[arg(value_name = "CHANGE", value_parser = change_name)]
    change: Option<String>,
    /// Take back the newest change in this workspace that is not undone.
    #[arg(long, conflicts_with = "change")]
    last: bool,
}

fn change_name(text: &str) -> Result<String, String> {
    let number = text.strip_prefix(['c', 'r']).unwrap_or_default();
    let is_turn = matches!(parse_turn(text), Some((_, Some(_))));
    if is_turn || number.parse::<u64>().is_ok() {
        return Ok(text.to_owned());
    }
    Err("name a change by its id, such as r12 or c17, or a turn of a chat, such as t3/2; `linkspan history` lists them"
        .into())
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    of_window(args, cli, json, None)
}

/// Undoes a change of one window, or of any.
pub(crate) fn of_window(
    args: &Args,
    cli: &CliContext,
    json: bool,
    window: Option<String>,
) -> Result<Report, Failure> {
    let confirm = args.change.is_none() && !args.last;
    if confirm && (json || !io::stdin().is_terminal() || !io::stdout().is_terminal()) {
        return Err(Failure::usage(
            "name the change to undo, such as r12 (`linkspan history` lists them), or pass --last",
        ));
    }
    let mut hub = cli.greeted()?;
    if let Some(turn) = args.change.as_ref().filter(|change| change.starts_with('t')) {
        if window.is_some() {
            return Err(Failure::usage(format!(
                "a turn may have changed other windows too: `linkspan undo {turn}`"
            )));
        }
        return undo_turn(&mut hub, turn);
    }
    let change = match &args.change {
        Some(change) => {
            if let Some(window) = &window {
                check_window(&mut hub, change, window)?;
            }
            change.clone()
        }
        None => {
            let newest = match &window {
                Some(window) => newest_of(&mut hub, window)?,
                None => newest(&mut hub)?,
            };
            if confirm && !confirmed(&newest)? {
                return Err(Failure::new(Exit::Negative, "nothing was undone"));
            }
            id(&newest).to_owned()
        }
    };
    let undone =
        hub.request(&HistoryUndo { change: change.clone() }).map_err(|error| unknown(error, &change))?;
    let json = serde_json::to_value(&undone).unwrap_or_default();
    Ok(Report::new(describe(&change, &undone), json))
}

fn undo_turn(hub: &mut Control, turn: &str) -> Result<Report, Failure> {
    let undone =
        hub.request(&HistoryUndoTurn { turn: turn.to_owned() }).map_err(|error| unknown(error, turn))?;
    let json = serde_json::to_value(&undone).unwrap_or_default();
    let is_whole = undone.changes.iter().all(|change| change.undone.is_some());
    let exit = if is_whole { Exit::Ok } else { Exit::Refused };
    Ok(Report::new(describe_turn(turn, &undone.changes), json).ending(exit))
}

fn describe_turn(turn: &str, changes: &[TurnUndo]) -> String {
    let undone = changes.iter().filter(|change| change.undone.is_some()).count();
    let mut text = match changes.len() {
        all if all == undone => format!("undid {} of turn {turn}", count(all as u64, "change")),
        all => format!("undid {undone} of {} of turn {turn}", count(all as u64, "change")),
    };
    for change in changes {
        let line = match (&change.undone, &change.error) {
            (Some(undone), _) => describe(&change.review, undone),
            (None, error) => {
                let error = error.as_deref().unwrap_or("the hub does not say why");
                format!("did not undo {}: {}", name(&change.review), name(error))
            }
        };
        text += &format!("\n{line}");
    }
    text
}

/// The hub may have done it before the connection was lost.
fn unknown(error: ControlError, change: &str) -> Failure {
    match error {
        ControlError::Closed | ControlError::Timeout { .. } | ControlError::Io(_) => Failure::new(
            Exit::NoHub,
            format!("{error}. `linkspan history` shows whether {change} was undone"),
        ),
        error => error.into(),
    }
}

/// With the id that the user gave: a change may have two.
fn describe(change: &str, undone: &HistoryUndoResult) -> String {
    let HistoryUndoResult { path, redo, .. } = undone;
    let (path, redo) = (relative(path, &here()), name(redo));
    let done = if undone.removed_file { "which removed" } else { "in" };
    format!("undid {} {done} {path}; `linkspan undo {redo}` redoes it", name(change))
}

/// The newest change of a window that can be undone.
fn newest_of(hub: &mut Control, window: &str) -> Result<HistoryEntry, Failure> {
    let list = HistoryList {
        limit: Some(1),
        window: Some(window.to_owned()),
        undoable: true,
        ..HistoryList::default()
    };
    let newest = hub.request(&list)?.entries.into_iter().next();
    newest.ok_or_else(|| {
        Failure::new(Exit::UnknownReview, format!("there is nothing to undo in window {}", name(window)))
    })
}

fn check_window(hub: &mut Control, change: &str, window: &str) -> Result<(), Failure> {
    let list = HistoryList { limit: Some(1000), window: Some(window.to_owned()), ..HistoryList::default() };
    let is_it = |entry: &HistoryEntry| entry.review == change || entry.change.as_deref() == Some(change);
    if hub.request(&list)?.entries.iter().any(is_it) {
        return Ok(());
    }
    let message = format!(
        "{} is not a change of window {}; `linkspan undo` takes back changes of any window",
        name(change),
        name(window)
    );
    Err(Failure::new(Exit::UnknownReview, message))
}

/// The newest change in the current workspace; changes elsewhere are undone only by id.
fn newest(hub: &mut Control) -> Result<HistoryEntry, Failure> {
    let cwd = std::env::current_dir().and_then(|here| here.canonicalize()).map_err(|error| {
        Failure::usage(format!("cannot read the current directory ({error}); name the change"))
    })?;
    let windows = hub.request(&HubStatus {})?.windows;
    let folders = windows.iter().flat_map(|window| &window.folders);
    let workspace = workspace_of(&cwd, folders.filter_map(|folder| Path::new(folder).canonicalize().ok()));
    let mut first = |path: Option<String>| {
        let list = HistoryList { limit: Some(1), path, undoable: true, ..HistoryList::default() };
        hub.request(&list).map(|list| list.entries.into_iter().next())
    };
    if let Some(entry) = first(Some(workspace.to_string_lossy().into_owned()))? {
        return Ok(entry);
    }
    let elsewhere = match first(None)? {
        Some(other) => format!("; the newest elsewhere is {} {}", name(id(&other)), name(&other.path)),
        None => String::new(),
    };
    let message = format!("there is nothing to undo in {}{elsewhere}", workspace.display());
    Err(Failure::new(Exit::UnknownReview, message))
}

/// The innermost window folder that contains the current folder; else the current folder.
fn workspace_of(cwd: &Path, folders: impl Iterator<Item = PathBuf>) -> PathBuf {
    let around = folders.filter(|folder| cwd.starts_with(folder));
    around.max_by_key(|folder| folder.as_os_str().len()).unwrap_or_else(|| cwd.to_owned())
}

fn confirmed(entry: &HistoryEntry) -> Result<bool, Failure> {
    let lines = entry
        .added
        .zip(entry.removed)
        .map(|(added, removed)| format!(" ({})", lines_changed(added, removed)));
    let what = if entry.new_file { "and remove" } else { "in" };
    let path = relative(&entry.path, &here());
    let mut out = anstream::stdout().lock();
    let question = format!(
        "undo {} of {}{} {what} {path}? [y/N] ",
        name(id(entry)),
        name(&entry.agent),
        lines.unwrap_or_default()
    );
    let asked = write!(out, "{question}").and_then(|()| out.flush());
    let mut answer = String::new();
    asked
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|error| Failure::internal(format!("cannot ask for confirmation: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_the_innermost_window_folder() {
        let folders = || ["/w", "/w/deep", "/web"].map(PathBuf::from).into_iter();
        assert_eq!(workspace_of(Path::new("/w/deep/er"), folders()), Path::new("/w/deep"));
        assert_eq!(workspace_of(Path::new("/w/x"), folders()), Path::new("/w"));
        assert_eq!(workspace_of(Path::new("/we"), folders()), Path::new("/we"));
    }

    #[test]
    fn only_ids_of_changes_and_reviews_are_accepted() {
        assert!(["c17", "r1", "t3/2"].iter().all(|good| change_name(good).is_ok()));
        assert!(
            ["", "17", "w1", "c", "last", "c-1", "c1;rm", "t3", "t3/x"]
                .iter()
                .all(|bad| change_name(bad).is_err())
        );
    }
}
