//! `linkspan undo`: takes an accepted change back, if the file still is what the change made it.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use linkspan_client::{Control, ControlError};
use linkspan_editor_api::{HistoryEntry, HistoryList, HistoryUndo, HistoryUndoResult, HubStatus};

use crate::exit::{Exit, Failure};
use crate::history::{here, id};
use crate::output::{Report, change, relative};
use crate::reach::Reach;
use linkspan_client::visible::name;

/// Take an accepted change back. The file gets the bytes it held before, if nobody changed it since.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which, as `linkspan history` lists them: r12, or c17 for an undo; undoing that is a redo.
    #[arg(value_name = "CHANGE", value_parser = change_name)]
    change: Option<String>,
    /// The newest in this workspace that is not undone.
    #[arg(long, conflicts_with = "change")]
    last: bool,
}

fn change_name(text: &str) -> Result<String, String> {
    let number = text.strip_prefix(['c', 'r']).unwrap_or_default();
    match number.parse::<u64>() {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("a change is named like r12 or c17; `linkspan history` lists them".into()),
    }
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    of_window(args, reach, json, None)
}

/// Takes back a change of one window, or of any.
pub(crate) fn of_window(
    args: &Args,
    reach: &Reach,
    json: bool,
    window: Option<String>,
) -> Result<Report, Failure> {
    let asks = args.change.is_none() && !args.last;
    if asks && (json || !io::stdin().is_terminal() || !io::stdout().is_terminal()) {
        return Err(Failure::usage(
            "say what to undo: a change such as r12 (`linkspan history` lists them), or --last",
        ));
    }
    let mut hub = reach.greeted()?;
    let change = match &args.change {
        Some(change) => {
            if let Some(window) = &window {
                belongs(&mut hub, change, window)?;
            }
            change.clone()
        }
        None => {
            let newest = match &window {
                Some(window) => newest_of(&mut hub, window)?,
                None => newest(&mut hub)?,
            };
            if asks && !agreed(&newest)? {
                return Err(Failure::new(Exit::No, "nothing was undone"));
            }
            id(&newest).to_owned()
        }
    };
    let undone = hub.request(&HistoryUndo { change: change.clone() }).map_err(|error| match error {
        // It may have been about to answer.
        ControlError::Closed | ControlError::Timeout { .. } | ControlError::Io(_) => {
            Failure::new(Exit::NoHub, format!("{error}. `linkspan history` says whether {change} was undone"))
        }
        error => error.into(),
    })?;
    let json = serde_json::to_value(&undone).unwrap_or_default();
    Ok(Report::new(said(&change, &undone), json))
}

/// By the name that it was asked for: the same change has two.
fn said(change: &str, undone: &HistoryUndoResult) -> String {
    let HistoryUndoResult { path, redo, .. } = undone;
    let (path, redo) = (relative(path, &here()), name(redo));
    let done = if undone.removed_file { "which removed" } else { "in" };
    format!("undid {} {done} {path}; `linkspan undo {redo}` puts it in again", name(change))
}

/// The newest of a window.
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

fn belongs(hub: &mut Control, change: &str, window: &str) -> Result<(), Failure> {
    let list = HistoryList { limit: Some(1000), window: Some(window.to_owned()), ..HistoryList::default() };
    let is_it = |entry: &HistoryEntry| entry.review == change || entry.change.as_deref() == Some(change);
    if hub.request(&list)?.entries.iter().any(is_it) {
        return Ok(());
    }
    let message = format!(
        "{} is no change of window {}: `linkspan undo` takes back those of other windows",
        name(change),
        name(window)
    );
    Err(Failure::new(Exit::UnknownReview, message))
}

/// The newest in the workspace we stand in: what was done elsewhere is undone by name only.
fn newest(hub: &mut Control) -> Result<HistoryEntry, Failure> {
    let cwd = std::env::current_dir().and_then(|here| here.canonicalize()).map_err(|error| {
        Failure::usage(format!("the folder we stand in cannot be read ({error}); name the change"))
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

/// The innermost folder of a window that we are in; else just where we stand.
fn workspace_of(cwd: &Path, folders: impl Iterator<Item = PathBuf>) -> PathBuf {
    let around = folders.filter(|folder| cwd.starts_with(folder));
    around.max_by_key(|folder| folder.as_os_str().len()).unwrap_or_else(|| cwd.to_owned())
}

fn agreed(entry: &HistoryEntry) -> Result<bool, Failure> {
    let lines =
        entry.added.zip(entry.removed).map(|(added, removed)| format!(" ({})", change(added, removed)));
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
        .map_err(|error| Failure::internal(format!("the question could not be asked: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_the_innermost_folder_around_us() {
        let folders = || ["/w", "/w/deep", "/web"].map(PathBuf::from).into_iter();
        assert_eq!(workspace_of(Path::new("/w/deep/er"), folders()), Path::new("/w/deep"));
        assert_eq!(workspace_of(Path::new("/w/x"), folders()), Path::new("/w"));
        assert_eq!(workspace_of(Path::new("/we"), folders()), Path::new("/we"));
    }

    #[test]
    fn only_names_of_changes_and_reviews_are_taken() {
        assert!(["c17", "r1"].iter().all(|good| change_name(good).is_ok()));
        assert!(["", "17", "w1", "c", "last", "c-1", "c1;rm"].iter().all(|bad| change_name(bad).is_err()));
    }
}
