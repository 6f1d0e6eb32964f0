//! Paths that the docs name must exist.

use super::Finding;
use super::markdown::{Part, parts};

/// `paths` are the files of the repository; `exists` also knows its folders.
pub(super) fn check(page: &str, text: &str, paths: &[String], exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line_number, part) in parts(text) {
        let missing = match part {
            Part::Link(target) => relative(page, target).filter(|path| !exists(path)),
            Part::Span(span) => named(span, paths).filter(|path| !exists(path)),
            Part::Command(_) => None,
        };
        if let Some(path) = missing {
            let what = format!("`{path}` does not exist");
            findings.push(Finding::new(page, line_number, what, "name a path that exists"));
        }
    }
    findings
}

/// A link's target from the root of the repository, or nothing if it leads elsewhere.
fn relative(page: &str, target: &str) -> Option<String> {
    let target = target.split(['#', ' ']).next().unwrap_or(target);
    if target.is_empty() || target.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The path that a code span names, if it looks like one of ours.
fn named(span: &str, paths: &[String]) -> Option<String> {
    if span.contains(|c: char| c.is_whitespace() || "*<>{}…$()".contains(c)) {
        return None;
    }
    let path = span.split([':', '#']).next().unwrap_or(span).trim_end_matches('/');
    match path.split_once('/') {
        Some((top, _)) => {
            let is_top =
                paths.iter().any(|known| known.split_once('/').is_some_and(|(folder, _)| folder == top));
            is_top.then(|| path.to_owned())
        }
        // A bare name may stand for a file deeper down (`main.rs`); then there is nothing to check.
        None => {
            let looks_like_ours = [".md", ".toml", ".rs", ".ts"]
                .iter()
                .any(|end| path.ends_with(end) && !path.starts_with('.'));
            let is_deeper = paths.iter().any(|known| known.rsplit('/').next() == Some(path));
            (looks_like_ours && !is_deeper).then(|| path.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(page: &str, text: &str) -> Vec<String> {
        let paths: Vec<String> =
            ["README.md", "docs/map.md", "crates/hub/src/main.rs"].map(str::to_owned).to_vec();
        let exists = |path: &str| paths.iter().any(|known| known == path) || path == "crates/hub";
        check(page, text, &paths, exists).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn links_are_followed_from_the_page_they_stand_on() {
        assert!(missing("docs/map.md", "[a](../README.md#top) [b](map.md) [c](#here)").is_empty());
        assert_eq!(missing("README.md", "[a](map.md)"), ["`map.md` does not exist"]);
    }

    #[test]
    fn links_to_other_places_are_left_alone() {
        assert!(missing("README.md", "[a](https://example.org/x) [b](mailto:a@example.org)").is_empty());
    }

    #[test]
    fn a_span_under_one_of_our_folders_must_exist() {
        assert!(missing("README.md", "`crates/hub/` `docs/map.md:12` `main.rs`").is_empty());
        assert_eq!(missing("README.md", "`docs/old.md`"), ["`docs/old.md` does not exist"]);
        assert_eq!(missing("README.md", "`OLD.md`"), ["`OLD.md` does not exist"]);
    }

    #[test]
    fn a_span_that_only_looks_like_a_path_is_left_alone() {
        assert!(
            missing("README.md", "`review/show` `docs/*.md` `crates/<name>/src` `docs/old.md is gone`")
                .is_empty()
        );
    }
}
