//! Finds the part of a diff for the edited file, by comparing the names in its headers with the path.

use std::path::{Component, Path};

use super::NO_FILE;
use super::parser::{self, Section};
use crate::proposal::error::ProposalError;

/// The part of the diff for this file; all of it if no file is named.
pub(in crate::proposal) fn for_file(diff: &str, path: &Path) -> Result<String, ProposalError> {
    let sections = parser::parse(diff)?;
    let named = |section: &Section<'_>| names(section).next().is_some();
    let fits: Vec<usize> = sections
        .iter()
        .enumerate()
        .filter(|(_, section)| !named(section) || names(section).any(|name| is_named(path, name)))
        .map(|(index, _)| index)
        .collect();
    let [index] = fits.as_slice() else {
        let all: Vec<&str> = sections.iter().filter_map(|section| names(section).last()).collect();
        let line = sections.first().map_or(1, |section| section.first_line + 1);
        let how_many = if fits.is_empty() { "no part" } else { "more than one part" };
        let reason = format!("{how_many} of it is about {}; it is about {}", path.display(), all.join(", "));
        return Err(ProposalError::BadPatch { line, reason });
    };
    let first = sections.get(*index).map_or(0, |section| section.first_line);
    let next = sections.get(index + 1).map(|section| section.first_line);
    let lines = diff.split_inclusive('\n').skip(first);
    Ok(lines.take(next.map_or(usize::MAX, |next| next - first)).collect())
}

/// Without the part after a tab, quotes and `/dev/null`.
fn names<'a>(section: &Section<'a>) -> impl Iterator<Item = &'a str> {
    let plain = |name: &'a str| name.split('\t').next().unwrap_or(name).trim().trim_matches('"');
    [section.old_name, section.new_name].into_iter().flatten().map(plain).filter(|name| *name != NO_FILE)
}

/// Whether the path ends with the name, with or without git's `a/` or `b/`; or the name, which may start further up,
/// ends with the path.
fn is_named(path: &Path, name: &str) -> bool {
    let stripped = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    [name, stripped].iter().any(|name| {
        let parts = |path: &Path| {
            let parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
            parts.map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>()
        };
        let (name, path) = (parts(Path::new(name)), parts(path));
        !name.is_empty() && (path.ends_with(&name) || name.ends_with(&path) && !path.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "--- a/src/one.rs\n+++ b/src/one.rs\n@@ -1 +1 @@\n-a\n+b\n\
                       --- a/src/two.rs\n+++ b/src/two.rs\n@@ -1 +1 @@\n-c\n+d\n";

    #[test]
    fn the_part_about_the_file_is_taken() {
        for path in ["/ws/src/two.rs", "src/two.rs", "two.rs", "./src/two.rs"] {
            let part = for_file(TWO, Path::new(path)).unwrap();
            assert_eq!(part, "--- a/src/two.rs\n+++ b/src/two.rs\n@@ -1 +1 @@\n-c\n+d\n", "{path}");
        }
        assert!(for_file(TWO, Path::new("/ws/src/one.rs")).unwrap().contains("one.rs"));
    }

    #[test]
    fn a_diff_about_another_file_is_refused_by_name() {
        let error = for_file(TWO, Path::new("/ws/lib/two.rs")).unwrap_err().to_string();
        assert!(error.contains("src/one.rs") && error.contains("/ws/lib/two.rs"), "{error}");
    }

    #[test]
    fn a_diff_without_names_is_about_the_file() {
        let diff = "@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(for_file(diff, Path::new("/x")).unwrap(), diff);
        let new = "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n";
        assert_eq!(for_file(new, Path::new("/ws/x")).unwrap(), new);
    }
}
