//! The words that every place where reviews are listed uses for them: ages, counts, changes, names of files.

use std::path::Path;

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
