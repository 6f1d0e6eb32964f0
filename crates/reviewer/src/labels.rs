//! Paths and hunks as lists of reviews show them. The labels of ages, counts and outcomes are in
//! `linkspan_editor_api::labels`.

use std::path::Path;

use linkspan_editor_api::{ReviewHunk, ReviewShow};

use crate::visible;

/// A path relative to its innermost workspace folder.
pub fn relative<'a>(path: &str, folders: impl IntoIterator<Item = &'a String>) -> String {
    let inside = folders.into_iter().filter_map(|folder| Path::new(path).strip_prefix(folder).ok());
    let shortest =
        inside.filter(|rest| !rest.as_os_str().is_empty()).min_by_key(|rest| rest.as_os_str().len());
    visible::name(&shortest.map_or_else(|| path.into(), Path::to_string_lossy))
}

/// The label of a hunk for which `is_in_conflict` holds.
pub const IN_CONFLICT: &str = "conflict: the file changed here in the meantime";

/// Whether the file changed at this hunk since the proposal. An empty range touches what it lies in or next to.
pub fn is_in_conflict(shown: &ReviewShow, hunk: &ReviewHunk) -> bool {
    let end = hunk.after_start.saturating_add(hunk.after_count);
    shown.conflicts.iter().any(|conflict| {
        let conflict_end = conflict.after_start.saturating_add(conflict.after_count);
        hunk.after_start <= conflict_end && conflict.after_start <= end
    })
}

/// The hunk header of a unified diff: lines from 1, and an empty range is named by the line before it.
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
}
