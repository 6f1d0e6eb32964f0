//! `linkspan history`: what was decided and done, newest first, one line per entry.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use linkspan_editor_api::labels::outcome_in_full;
use linkspan_editor_api::{HistoryEntry, HistoryList, parse_turn};

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::{Report, age, lines_changed, relative, table};
use linkspan_client::visible::name;

/// List what was decided, newest first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this file, or the files in this folder.
    file: Option<PathBuf>,
    /// List at most this many.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Only changes of this conversation, such as t3, or of one of its turns, such as t3/2.
    #[arg(long, value_name = "CHAT", value_parser = chat_name)]
    chat: Option<String>,
}

fn chat_name(text: &str) -> Result<String, String> {
    match parse_turn(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err("name a conversation, such as t3, or one of its turns, such as t3/2".into()),
    }
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    of_window(args, cli, None)
}

/// The history of one window, or of all.
pub(crate) fn of_window(args: &Args, cli: &CliContext, window: Option<String>) -> Result<Report, Failure> {
    let path = args.file.as_deref().map(real_path).transpose()?;
    let list = HistoryList {
        limit: Some(args.limit),
        path: path.map(|path| path.to_string_lossy().into_owned()),
        window,
        chat: args.chat.clone(),
        ..HistoryList::default()
    };
    let history = cli.greeted()?.request(&list)?;
    let json = serde_json::to_value(&history).unwrap_or_default();
    let text = match history.entries.as_slice() {
        [] if args.file.is_some() => "no change of it is recorded".into(),
        [] if args.chat.is_some() => "no change of this conversation is recorded".into(),
        [] => "nothing has been decided yet".into(),
        entries => render(entries, &here(), now_ms()),
    };
    Ok(Report::new(text, json))
}

/// The canonical path, as the journal has it; for a file that no longer exists, that of its folder and its name.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf, Failure> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("{} is not a usable path: {error}", path.display())))?;
    let real = absolute
        .canonicalize()
        .ok()
        .or_else(|| Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?)));
    Ok(real.unwrap_or(absolute))
}

/// The current folder; files are shown relative to it.
pub(crate) fn here() -> Option<String> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok()?;
    Some(here.to_string_lossy().into_owned())
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn render(entries: &[HistoryEntry], here: &Option<String>, now_ms: u64) -> String {
    let mut rows = vec![["ID", "AGE", "FILE", "AGENT", "LINES", "WHAT"].map(String::from).to_vec()];
    rows.extend(entries.iter().map(|entry| {
        vec![
            name(id(entry)),
            age(now_ms.saturating_sub(entry.ended_at_ms)),
            relative(&entry.path, here),
            name(&entry.agent),
            entry
                .added
                .zip(entry.removed)
                .map_or_else(|| "?".into(), |(added, removed)| lines_changed(added, removed)),
            what(entry, entries),
        ]
    }));
    table(&rows)
}

/// The id that is listed and that `linkspan undo` takes: that of the review. An undo has no review of its own, so it has
/// the id of its change.
pub(crate) fn id(entry: &HistoryEntry) -> &str {
    entry.change.as_deref().filter(|_| entry.undoes.is_some()).unwrap_or(&entry.review)
}

fn what(entry: &HistoryEntry, listed: &[HistoryEntry]) -> String {
    let mut words = match &entry.undoes {
        Some(undone) => {
            let undone_entry = listed.iter().find(|other| other.change.as_ref() == Some(undone));
            format!("undo of {}", name(undone_entry.map_or(undone, id)))
        }
        None => outcome_in_full(&entry.ended),
    };
    if entry.on_disk == Some(false) {
        words += ", not on disk";
    }
    if entry.new_file {
        words += ", new file";
    }
    if let Some(by) = entry.decided_by.as_ref().filter(|_| entry.undoes.is_none()) {
        words += &format!(", in {}", name(by));
    }
    if let Some(origin) = &entry.origin {
        words += &format!(", {}", name(&origin.turn_name()));
    }
    if entry.undone {
        words += ", undone";
    }
    words
}

#[cfg(test)]
pub(crate) mod tests {
    use linkspan_editor_api::{AcceptedPart, ReviewEnded};

    use super::*;

    pub(crate) fn entry() -> HistoryEntry {
        HistoryEntry {
            review: "r12".into(),
            change: Some("c17".into()),
            undoes: None,
            set: None,
            window: "w1".into(),
            agent: "claude-code".into(),
            dialect: "claude".into(),
            path: "/w/src/a\nb.rs".into(),
            label: "b.rs".into(),
            ended: ReviewEnded::Accepted { taken: AcceptedPart::Some, person_diff: None },
            comments: Vec::new(),
            proposed_at_ms: 0,
            ended_at_ms: 1000,
            decided_by: Some("Neovim\u{1b}".into()),
            added: Some(3),
            removed: Some(1),
            new_file: false,
            undoable: true,
            undone: true,
            on_disk: Some(true),
            origin: None,
        }
    }

    #[test]
    fn each_line_has_an_id_and_what_was_done() {
        let rejected = HistoryEntry {
            review: "r11".into(),
            change: None,
            added: None,
            undone: false,
            decided_by: None,
            ended: ReviewEnded::Rejected { reason: Some("no".into()) },
            ..entry()
        };
        let undo =
            HistoryEntry { change: Some("c18".into()), undoes: Some("c17".into()), undone: false, ..entry() };
        let redo =
            HistoryEntry { change: Some("c19".into()), undoes: Some("c18".into()), undone: false, ..entry() };
        let text = render(&[redo, undo, entry(), rejected], &Some("/w".into()), 62_000);
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "ID   AGE  FILE         AGENT        LINES  WHAT\n\
             c19  1m   src/a\\nb.rs  claude-code  +3 −1  undo of c18\n\
             c18  1m   src/a\\nb.rs  claude-code  +3 −1  undo of r12\n\
             r12  1m   src/a\\nb.rs  claude-code  +3 −1  accepted in part, in Neovim\\u{1b}, undone\n\
             r11  1m   src/a\\nb.rs  claude-code  ?      rejected: no\n"
        );
    }
}
