//! The words that every place where reviews are listed uses for them: ages, counts, changes, names of files.

use std::path::Path;

use linkspan_editor_api::{ReviewEnded, ReviewHunk, ReviewShow, Taken, VerdictKind};

use crate::visible;

/// How long something lasted, in its largest unit.
pub fn age(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// Lines added and removed.
pub fn change(added: u32, removed: u32) -> String {
    format!("+{added} −{removed}")
}

/// `1 hunk`, `2 hunks`.
pub fn count(number: impl Into<u64>, noun: &str) -> String {
    match number.into() {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// A path as seen from the workspace folder it is in.
pub fn relative<'a>(path: &str, folders: impl IntoIterator<Item = &'a String>) -> String {
    let inside = folders.into_iter().filter_map(|folder| Path::new(path).strip_prefix(folder).ok());
    let shortest =
        inside.filter(|rest| !rest.as_os_str().is_empty()).min_by_key(|rest| rest.as_os_str().len());
    visible::name(&shortest.map_or_else(|| path.into(), Path::to_string_lossy))
}

/// What was decided.
pub fn decided(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Accept => "accepted",
        VerdictKind::AcceptHunks => "accepted in part",
        VerdictKind::AcceptEdited => "accepted with edits",
        VerdictKind::Reject => "rejected",
    }
}

/// The verdict by which so much is accepted.
pub fn accepted(taken: Taken) -> VerdictKind {
    match taken {
        Taken::All => VerdictKind::Accept,
        Taken::Some => VerdictKind::AcceptHunks,
        Taken::Edited => VerdictKind::AcceptEdited,
    }
}

/// How it ended.
pub fn ended(ended: &ReviewEnded) -> &'static str {
    match ended {
        ReviewEnded::Accepted { taken, .. } => decided(accepted(*taken)),
        ReviewEnded::Rejected { .. } => decided(VerdictKind::Reject),
        ReviewEnded::Withdrawn => "withdrawn by its agent",
        ReviewEnded::Superseded { .. } => "superseded by a newer change",
        ReviewEnded::Failed { .. } => "accepted, but it could not be carried out",
    }
}

/// What is said at the head of a hunk for which `is_in_conflict` holds.
pub const IN_CONFLICT: &str = "conflict: the file changed here meanwhile";

/// Whether the file changed meanwhile where this hunk is. An empty range touches what it lies in or next to.
pub fn is_in_conflict(shown: &ReviewShow, hunk: &ReviewHunk) -> bool {
    let end = hunk.after_start.saturating_add(hunk.after_count);
    shown.conflicts.iter().any(|conflict| {
        let conflict_end = conflict.after_start.saturating_add(conflict.after_count);
        hunk.after_start <= conflict_end && conflict.after_start <= end
    })
}

/// Where a hunk is, as in a unified diff: from 1, and an empty range is named by the line before it.
pub fn place_of(hunk: &ReviewHunk) -> String {
    let first = |start: u32, count: u32| if count == 0 { start } else { start.saturating_add(1) };
    format!(
        "@@ -{},{} +{},{} @@",
        first(hunk.before_start, hunk.before_count),
        hunk.before_count,
        first(hunk.after_start, hunk.after_count),
        hunk.after_count
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_from_its_innermost_folder() {
        let folders = ["/w".to_owned(), "/w/deep".to_owned()];
        assert_eq!(relative("/w/deep/src/a.rs", &folders), "src/a.rs");
        assert_eq!(relative("/web/a.rs", &folders), "/web/a.rs");
        assert_eq!(relative("/w", &folders), "/w");
    }

    #[test]
    fn ages_have_one_unit() {
        assert_eq!([0, 59_999, 60_000, 7_200_000, 172_800_000].map(age), ["0s", "59s", "1m", "2h", "2d"]);
    }
}
