//! Globs in VS Code's syntax: matched against the whole path from the workspace folder, so that `*.py` matches only in
//! the folder itself and `**/*.py` everywhere below it.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::WorkspaceError;

/// Longer than any glob written by hand.
const LONGEST: usize = 2000;
const DEEPEST_BRACES: usize = 20;

#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// A set of one glob, because only a set reports an error if the glob's regular expression becomes too large.
    matcher: GlobSet,
    /// The leading folders without wildcards.
    base: PathBuf,
}

impl Pattern {
    /// `None` for no glob or a blank one.
    pub(crate) fn read(glob: Option<&str>) -> Result<Option<Pattern>, WorkspaceError> {
        let Some(glob) = glob.map(str::trim).filter(|glob| !glob.is_empty()) else { return Ok(None) };
        let bad = |reason: String| WorkspaceError::BadGlob { glob: shortened(glob), reason };
        if glob.len() > LONGEST {
            return Err(bad(format!("it is longer than {LONGEST} bytes")));
        }
        let plain = glob.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        if depth(plain) > DEEPEST_BRACES {
            return Err(bad(format!("its braces are more than {DEEPEST_BRACES} deep")));
        }
        let built = GlobBuilder::new(plain).literal_separator(true).build();
        let matcher = built.and_then(|glob| GlobSetBuilder::new().add(glob).build());
        let matcher = matcher.map_err(|error| bad(error.kind().to_string()))?;
        Ok(Some(Pattern { matcher, base: base(plain) }))
    }

    /// `path` is relative to the workspace folder.
    pub(crate) fn is_match(&self, path: &Path) -> bool {
        self.matcher.is_match(path)
    }

    /// Whether a file in or below this folder can match.
    pub(crate) fn may_match_in(&self, folder: &Path) -> bool {
        self.base.starts_with(folder) || folder.starts_with(&self.base)
    }
}

/// The nesting depth of braces; escaped ones count too, because no real glob has that many.
fn depth(glob: &str) -> usize {
    let depths = glob.chars().scan(0_usize, |depth, character| {
        match character {
            '{' => *depth += 1,
            '}' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    depths.max().unwrap_or_default()
}

fn base(glob: &str) -> PathBuf {
    let folders = glob.rsplit_once('/').map_or("", |(folders, _)| folders);
    // A brace may contain a slash, so folders after it are not known.
    folders
        .split('/')
        .take_while(|folder| !folder.contains(['*', '?', '[', ']', '{', '}', '\\', ',']))
        .collect()
}

/// The beginning of a foreign text, for an error message.
pub(crate) fn shortened(text: &str) -> String {
    const ENOUGH: usize = 100;
    match text.char_indices().nth(ENOUGH).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        Pattern::read(Some(glob)).unwrap().unwrap().is_match(Path::new(path))
    }

    #[test]
    fn a_pattern_without_a_slash_means_the_folder_itself() {
        assert!(matches("*.py", "a.py"));
        assert!(!matches("*.py", "src/a.py"));
    }

    #[test]
    fn two_stars_mean_any_depth() {
        assert!(matches("**/*.py", "a.py") && matches("**/*.py", "x/y/a.py"));
        assert!(matches("src/**", "src/x/y.c") && !matches("src/**", "source/y.c"));
        assert!(matches("**", "x/.hidden/y"));
    }

    #[test]
    fn braces_and_classes_choose() {
        assert!(matches("**/*.{rs,toml}", "a/Cargo.toml") && !matches("**/*.{rs,toml}", "a/b.md"));
        assert!(matches("src/[ab]?.c", "src/b1.c") && !matches("src/[!ab]?.c", "src/b1.c"));
    }

    #[test]
    fn a_leading_dot_slash_changes_nothing() {
        assert!(matches("./src/*.c", "src/a.c") && matches("/src/*.c", "src/a.c"));
    }

    #[test]
    fn folders_that_a_pattern_leads_past_are_not_entered() {
        let enters = |glob: &str, folder: &str| {
            Pattern::read(Some(glob)).unwrap().unwrap().may_match_in(Path::new(folder))
        };
        assert!(enters("src/app/**", "src") && enters("src/app/**", "src/app/deep"));
        assert!(!enters("src/app/**", "src/other") && !enters("src/app/*.rs", "docs"));
        assert!(enters("{src,docs/x}/a", "docs") && enters("**/a/b", "x/y"));
    }

    #[test]
    fn an_empty_pattern_asks_for_nothing() {
        assert!(Pattern::read(Some(" ")).unwrap().is_none());
    }

    #[test]
    fn what_is_wrong_with_a_glob_is_said() {
        let error = Pattern::read(Some("src/{a,b")).unwrap_err().to_string();
        assert!(error.contains("src/{a,b") && error.contains("unclosed"), "{error}");
        assert!(Pattern::read(Some(&"{a,".repeat(1000))).is_err());
    }

    #[test]
    fn braces_deep_in_each_other_are_refused_not_choked_on() {
        let nested = |open: &str, times: usize| open.repeat(times) + "a" + &"}".repeat(times);
        assert!(matches(&nested("{", DEEPEST_BRACES), "a"));
        let error = Pattern::read(Some(&nested("{", DEEPEST_BRACES + 1))).unwrap_err().to_string();
        assert!(error.contains("20 deep"), "{error}");
        assert!(Pattern::read(Some(&nested("{", 251))).is_err());
        // A bracket hides how deep it is.
        assert!(Pattern::read(Some(&nested("{[}]", 251))).is_err());
    }

    proptest! {
        #[test]
        fn every_path_matches_itself(path in "[a-z0-9_.-]{1,8}(/[a-z0-9_.-]{1,8}){0,4}") {
            // Nothing in a folder has these names.
            prop_assume!(!path.split('/').any(|name| name == "." || name == ".."));
            prop_assert!(matches(&path, &path));
            let deeper = format!("deep/er/{path}");
            let anywhere = format!("**/{path}");
            prop_assert!(matches(&anywhere, &deeper));
            prop_assert!(!matches(&path, &deeper));
            let pattern = Pattern::read(Some(&path)).unwrap().unwrap();
            prop_assert!(Path::new(&path).ancestors().skip(1).all(|folder| pattern.may_match_in(folder)));
        }

        #[test]
        fn no_glob_breaks_it(glob in "\\PC{0,40}", path in "\\PC{0,40}") {
            if let Ok(Some(pattern)) = Pattern::read(Some(&glob)) {
                pattern.is_match(Path::new(&path));
            }
        }
    }
}
