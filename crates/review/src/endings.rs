//! Line endings: an agent that uses LF for a file with CRLF, or with both. Knows nothing of encodings.

use std::borrow::Cow;

use crate::diff::changed_lines;
use crate::lines::Lines;

const CRLF: &str = "\r\n";

/// The line endings an agent uses for a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Convention {
    /// The endings of the file.
    AsIs,
    /// LF, whatever the file has.
    Lf,
}

impl Convention {
    /// The file's text as the agent would send it.
    pub fn for_agent<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self {
            Convention::Lf if has_crlf(text) => Cow::Owned(text.replace(CRLF, "\n")),
            Convention::Lf | Convention::AsIs => Cow::Borrowed(text),
        }
    }
}

/// Returns the proposed text in the file's own endings, and the convention for answers to the agent.
///
/// If the base has CRLF and the proposal none, each line keeps the ending it has in the base, and a new line gets that
/// of the line it replaces or follows. Whether the last line has an ending is up to the agent. Everything else is left
/// unchanged.
pub fn adopt_endings<'a>(base: &str, proposed: impl Into<Cow<'a, str>>) -> (String, Convention) {
    let proposed = proposed.into();
    if !has_crlf(base) {
        return (proposed.into_owned(), Convention::AsIs);
    }
    // A separate case because a line with a lone CR before its CRLF still has a CRLF after the conversion to LF.
    if Convention::Lf.for_agent(base) == proposed {
        return (base.to_owned(), Convention::Lf);
    }
    if has_crlf(&proposed) {
        return (proposed.into_owned(), Convention::AsIs);
    }
    let text = if base.matches('\n').count() == base.matches(CRLF).count() {
        proposed.replace('\n', CRLF)
    } else {
        adopt_mixed(base, &proposed)
    };
    (text, Convention::Lf)
}

/// Most texts have no CR at all, and searching for one byte is many times as fast as searching for two.
fn has_crlf(text: &str) -> bool {
    text.as_bytes().contains(&b'\r') && text.contains(CRLF)
}

/// Whether all lines of both texts end the same way. Editors that hold a text as lines preserve only such texts.
pub fn same_endings(one: &str, other: &str) -> bool {
    let count = |what: &str| one.matches(what).count() + other.matches(what).count();
    let crlf = count(CRLF);
    count("\r") == crlf && (crlf == 0 || crlf == count("\n"))
}

fn adopt_mixed(base: &str, proposed: &str) -> String {
    let (base, proposed) = (Lines::new(base), Lines::new(proposed));
    let changes = changed_lines(base.iter().map(content), proposed.iter().map(content));

    let mut text = String::new();
    let mut push = |line: u32, model: u32| {
        let line = proposed.line(line);
        text.push_str(content(line));
        if line.ends_with('\n') {
            text.push_str(ending(&base, model));
        }
    };
    let (mut line, mut model) = (0, 0);
    for change in changes {
        while line < change.after.start {
            push(line, model);
            line += 1;
            model += 1;
        }
        for new in change.after.clone() {
            let replaced = change.before.start.saturating_add(new - change.after.start);
            push(new, replaced.min(change.before.end.saturating_sub(1)));
        }
        (line, model) = (change.after.end, change.before.end);
    }
    while line < proposed.len() {
        push(line, model);
        line += 1;
        model += 1;
    }
    text
}

fn content(line: &str) -> &str {
    line.strip_suffix(CRLF).or_else(|| line.strip_suffix('\n')).unwrap_or(line)
}

/// The ending of this line of the base; if its last line has none, that of the previous line.
fn ending(base: &Lines<'_>, line: u32) -> &'static str {
    let line = match base.line(line) {
        model if model.ends_with('\n') => model,
        _ => base.line(line.saturating_sub(1)),
    };
    if line.ends_with(CRLF) { CRLF } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, proposed: &str, expect: &str, convention: Convention) {
        let (adopted, said) = adopt_endings(base, proposed);
        assert_eq!((adopted.as_str(), said), (expect, convention), "{base:?} <- {proposed:?}");
    }

    #[test]
    fn endings_are_the_same_only_if_no_line_ends_otherwise() {
        for (one, other) in [("a\nb\n", "c\n"), ("a\r\n", "b\r\nc"), ("a", "b\r\n"), ("", "")] {
            assert!(same_endings(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [("a\n", "b\r\n"), ("a\r\nb\n", ""), ("a\rb\n", "c\n"), ("a\r\r\n", "")] {
            assert!(!same_endings(one, other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_crlf_file_stays_crlf_when_the_agent_uses_lf() {
        check("a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n", Convention::Lf);
    }

    #[test]
    fn an_lf_file_and_an_agent_that_uses_crlf_are_left_alone() {
        check("a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n", Convention::AsIs);
        check("a\r\nb\n", "a\r\nx\n", "a\r\nx\n", Convention::AsIs);
        check("", "a\n", "a\n", Convention::AsIs);
    }

    #[test]
    fn an_untouched_line_of_a_mixed_file_keeps_its_own_ending() {
        check("a\r\nb\nc\r\nd\n", "a\nb\nX\nd\n", "a\r\nb\nX\r\nd\n", Convention::Lf);
    }

    #[test]
    fn a_new_line_takes_the_ending_of_the_line_it_follows() {
        check("a\r\nb\n", "a\nx\ny\nb\n", "a\r\nx\r\ny\r\nb\n", Convention::Lf);
        check("a\nb\r\n", "a\nx\nb\n", "a\nx\nb\r\n", Convention::Lf);
        check("a\r\nb\n", "x\na\nb\n", "x\r\na\r\nb\n", Convention::Lf);
    }

    #[test]
    fn the_agent_decides_whether_the_last_line_ends() {
        check("a\nb\r\nc", "a\nb\nc\n", "a\nb\r\nc\r\n", Convention::Lf);
        check("a\nb\r\n", "a\nb", "a\nb", Convention::Lf);
        check("a\r\nb\n", "", "", Convention::Lf);
    }

    #[test]
    fn a_lone_cr_is_content() {
        check("a\rb\r\nc\n", "a\rb\nx\n", "a\rb\r\nx\n", Convention::Lf);
        check("a\r\r\nb\n", "a\r\nb\n", "a\r\r\nb\n", Convention::Lf);
        check("a\nb\r\n", "a\nb\r", "a\nb\r", Convention::Lf);
    }
}
