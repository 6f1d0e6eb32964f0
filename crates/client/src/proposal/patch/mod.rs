//! `patch`: applies a unified diff where it fits, and only if there is exactly one such place. Unchanged lines keep
//! their bytes, whatever white space the diff has.

mod hunk_location;
mod parser;
mod target;

use std::borrow::Cow;

use super::error::ProposalError;
use super::lf_view::{content, ending};
use parser::{LineKind, PatchHunk, Section};

pub(super) use target::for_file;

/// How exactly a diff must match the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PatchMode {
    /// To the character; only line numbers may be wrong.
    #[default]
    Strict,
    /// White space may differ in context and removed lines.
    Tolerant,
    /// In addition, up to two lines of context at either end of a hunk may differ.
    Fuzzy,
}

const NO_FILE: &str = "/dev/null";

/// The new text; the old one is `None` if there is no file.
pub(super) fn apply(text: Option<&str>, diff: &str, mode: PatchMode) -> Result<String, ProposalError> {
    let mut sections = parser::parse(diff)?;
    let bad = |section: &Section<'_>, reason: &str| ProposalError::BadPatch {
        line: section.first_line + 1,
        reason: reason.to_owned(),
    };
    if let Some(second) = sections.get(1) {
        return Err(bad(second, "it starts a second file; send one diff for each file"));
    }
    let Some(section) = sections.pop() else { return Err(ProposalError::NoFile) };
    if section.new_name.is_some_and(|name| name.trim_end() == NO_FILE) {
        return Err(bad(&section, "it removes the file, which is not an edit"));
    }
    let creates = section.old_name.is_some_and(|name| name.trim_end() == NO_FILE);
    match text {
        Some(text) if creates && !text.is_empty() => {
            Err(bad(&section, "it creates the file, which exists; make the diff from what it holds"))
        }
        None if section.hunks.iter().any(|hunk| hunk.old_lines().next().is_some()) => {
            Err(ProposalError::NoFile)
        }
        text => apply_hunks(text.unwrap_or_default(), &section.hunks, mode),
    }
}

fn apply_hunks(text: &str, hunks: &[PatchHunk<'_>], mode: PatchMode) -> Result<String, ProposalError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // A diff with CR in one of its lines has it in all lines that end with it.
    let speaks_cr = hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.ends_with('\r'));
    let placed = hunk_location::place(&lines, hunks, mode, speaks_cr)?;

    let mut result =
        Patched { lines: &lines, speaks_cr, out: Vec::new(), keeps_unended: false, ends_added: false };
    let mut at = 0;
    for place in &placed {
        result.keep(at..place.start);
        at = result.hunk(place.lines, place.start);
    }
    result.keep(at..lines.len());
    Ok(result.finish())
}

/// The new lines, each with its ending separate.
struct Patched<'a> {
    lines: &'a [&'a str],
    speaks_cr: bool,
    out: Vec<(Cow<'a, str>, Option<&'static str>)>,
    /// The file's last line has no ending, and the diff replaces it without knowing that.
    keeps_unended: bool,
    /// The last line so far comes from the diff, not from the file, whose lines keep their own endings.
    ends_added: bool,
}

impl<'a> Patched<'a> {
    fn keep(&mut self, range: std::ops::Range<usize>) {
        let lines = self.lines.get(range).unwrap_or_default();
        self.ends_added &= lines.is_empty();
        self.out.extend(lines.iter().map(|line| (Cow::Borrowed(content(line)), ending(line))));
    }

    /// Returns the first line after it.
    fn hunk(&mut self, hunk: &'a [parser::PatchLine<'a>], start: usize) -> usize {
        let mut at = start;
        // The endings of the removed lines in this run of changes, for the lines added in their place.
        let mut endings: Vec<&'static str> = Vec::new();
        let mut added = 0;
        for line in hunk {
            if line.kind != LineKind::Added {
                let old = self.lines.get(at).copied().unwrap_or_default();
                self.keeps_unended |= ending(old).is_none() && !line.unended;
                if line.kind == LineKind::Context {
                    self.keep(at..at + 1);
                    (endings, added) = (Vec::new(), 0);
                } else {
                    endings.extend(ending(old));
                }
                at += 1;
                continue;
            }
            let text = Cow::Borrowed(line.text);
            let line_end = match line.unended {
                true => None,
                false if self.speaks_cr => Some("\n"),
                false => {
                    let own = endings.get(added).or(endings.last()).copied();
                    Some(own.unwrap_or_else(|| self.ending_around(at)))
                }
            };
            added += 1;
            self.out.push((text, line_end));
            self.ends_added = true;
        }
        at
    }

    /// The ending of the previous line, or of the next one.
    fn ending_around(&self, at: usize) -> &'static str {
        let before = at.checked_sub(1).and_then(|before| self.lines.get(before));
        let around =
            before.and_then(|line| ending(line)).or_else(|| self.lines.get(at).and_then(|line| ending(line)));
        // The last line has no ending: use that of the previous line.
        let further =
            || at.checked_sub(2).and_then(|before| self.lines.get(before)).and_then(|line| ending(line));
        around.or_else(further).unwrap_or("\n")
    }

    fn finish(mut self) -> String {
        if self.keeps_unended
            && self.ends_added
            && let Some((_, ending)) = self.out.last_mut()
        {
            *ending = None;
        }
        let last = self.out.len().saturating_sub(1);
        let mut text = String::new();
        let mut previous = "\n";
        for (index, (content, ending)) in self.out.iter().enumerate() {
            text.push_str(content);
            match ending {
                Some(ending) => {
                    text.push_str(ending);
                    previous = ending;
                }
                None if index < last => text.push_str(previous),
                None => {}
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, diff: &str, mode: PatchMode, expect: &str) {
        assert_eq!(apply(Some(text), diff, mode).unwrap(), expect, "{text:?}\n{diff}");
    }

    const TEXT: &str = "a\nb\nc\nd\ne\nf\n";

    #[test]
    fn a_wrong_line_number_does_not_matter_where_there_is_one_place() {
        for start in [1, 3, 4, 99] {
            let diff = format!("@@ -{start},3 +{start},3 @@\n c\n-d\n+D\n e\n");
            check(TEXT, &diff, PatchMode::Strict, "a\nb\nc\nD\ne\nf\n");
        }
        check(TEXT, "@@ @@\n c\n-d\n+D\n e\n", PatchMode::Strict, "a\nb\nc\nD\ne\nf\n");
    }

    #[test]
    fn several_places_are_an_error_unless_the_number_says_which() {
        let text = "x\ny\nx\ny\n";
        let error = apply(Some(text), "@@ -9 +9 @@\n-y\n+z\n", PatchMode::Fuzzy).unwrap_err();
        assert_eq!(error, ProposalError::HunkFitsSeveralPlaces { number: 1, lines: vec![2, 4] });
        check(text, "@@ -4 +4 @@\n-y\n+z\n", PatchMode::Strict, "x\ny\nx\nz\n");
    }

    #[test]
    fn a_hunk_that_does_not_apply_says_where_it_differs() {
        let diff = "@@ -1 +1 @@\n-a\n+A\n@@ -3,3 +3,3 @@\n c\n-d\n+D\n E\n";
        let error = apply(Some(TEXT), diff, PatchMode::Strict).unwrap_err();
        let expect = ProposalError::HunkDoesNotApply {
            number: 2,
            line: 5,
            expected: "E".to_owned(),
            found: Some("e".to_owned()),
        };
        assert_eq!(error, expect);
    }

    #[test]
    fn white_space_may_differ_when_tolerant_and_the_file_keeps_its_own() {
        let text = "fn a() {\n\tone();\n\ttwo();  \n}\n";
        let diff = "@@ -1,4 +1,4 @@\n fn a() {\n-    one();\n+\t1();\n     two();\n }\n";
        assert!(apply(Some(text), diff, PatchMode::Strict).is_err());
        check(text, diff, PatchMode::Tolerant, "fn a() {\n\t1();\n\ttwo();  \n}\n");
    }

    #[test]
    fn outer_context_may_differ_when_fuzzy_but_no_removed_line() {
        let diff = "@@ -2,5 +2,5 @@\n B\n c\n-d\n+D\n e\n F\n";
        assert!(apply(Some(TEXT), diff, PatchMode::Tolerant).is_err());
        check(TEXT, diff, PatchMode::Fuzzy, "a\nb\nc\nD\ne\nf\n");
        let removes_another = "@@ -3,3 +3,3 @@\n c\n-X\n+D\n e\n";
        assert!(apply(Some(TEXT), removes_another, PatchMode::Fuzzy).is_err());
    }

    #[test]
    fn a_diff_in_lf_applies_to_a_crlf_file_in_its_endings() {
        check(
            "a\r\nb\r\nc\r\n",
            "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n",
            PatchMode::Strict,
            "a\r\nx\r\ny\r\nc\r\n",
        );
        check("a\r\nb\nc\r\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", PatchMode::Strict, "a\r\nx\nc\r\n");
        check("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n", PatchMode::Strict, "a\nb\r\n");
    }

    #[test]
    fn a_missing_final_newline_stays_missing_unless_the_diff_says_so() {
        check("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", PatchMode::Strict, "a\nc");
        check("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", PatchMode::Strict, "a\nb\nc");
        check("a\nb", "@@ -1,2 +1 @@\n a\n-b\n", PatchMode::Strict, "a\n");
        check("z\na\nb", "@@ -3 +2,0 @@\n-b\n", PatchMode::Strict, "z\na\n");
        let adds = "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n";
        check("a\nb", adds, PatchMode::Strict, "a\nc\n");
        let removes = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n";
        check("a\nb\n", removes, PatchMode::Strict, "a\nc");
    }

    #[test]
    fn a_diff_may_create_a_file_but_not_over_one() {
        let diff = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        assert_eq!(apply(None, diff, PatchMode::Strict).unwrap(), "a\nb\n");
        check("", diff, PatchMode::Strict, "a\nb\n");
        assert!(matches!(apply(Some("x\n"), diff, PatchMode::Strict), Err(ProposalError::BadPatch { .. })));
        assert_eq!(apply(None, "@@ -1 +1 @@\n-a\n+b\n", PatchMode::Strict), Err(ProposalError::NoFile));
    }

    #[test]
    fn a_diff_that_removes_the_file_or_is_about_two_is_refused() {
        for diff in [
            "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
        ] {
            assert!(matches!(
                apply(Some("a\n"), diff, PatchMode::Strict),
                Err(ProposalError::BadPatch { .. })
            ));
        }
    }
}
