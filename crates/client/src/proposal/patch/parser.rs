//! Parses a unified diff. Tolerates mistakes of models that do not change the meaning: counts in headers, missing line
//! numbers, blank context lines without their space.

use crate::proposal::error::ProposalError;

/// The hunks for one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// After `---` and `+++`; both missing when the diff has no file headers.
    pub(super) old_name: Option<&'a str>,
    pub(super) new_name: Option<&'a str>,
    pub(super) hunks: Vec<PatchHunk<'a>>,
    /// Its first line in the diff, counted from 0.
    pub(super) first_line: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatchHunk<'a> {
    /// The first old line, counted from 1, or the line before an empty old side; `None`: not given.
    pub(super) start: Option<usize>,
    pub(super) lines: Vec<PatchLine<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatchLine<'a> {
    pub(super) kind: LineKind,
    pub(super) text: &'a str,
    /// The diff marks it as having no line end.
    pub(super) unended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Context,
    Removed,
    Added,
}

/// Its sections, in order; at least one with a hunk.
pub(super) fn parse(diff: &str) -> Result<Vec<Section<'_>>, ProposalError> {
    let mut parser = Parser { lines: diff.split('\n').collect(), at: 0 };
    // The text after the last line end is not a line.
    if parser.lines.last().is_some_and(|last| last.is_empty()) {
        parser.lines.pop();
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    while let Some(line) = parser.peek(0) {
        if parser.is_file_header(0) {
            let old_name = line.strip_prefix("--- ");
            let new_name = parser.peek(1).and_then(|line| line.strip_prefix("+++ "));
            sections.push(Section { old_name, new_name, hunks: Vec::new(), first_line: parser.at });
            parser.at += 2;
        } else if line.starts_with("@@") {
            let first_line = parser.at;
            let hunk = parser.hunk()?;
            match sections.last_mut() {
                Some(section) => section.hunks.push(hunk),
                None => {
                    let hunks = vec![hunk];
                    sections.push(Section { old_name: None, new_name: None, hunks, first_line });
                }
            }
        } else {
            parser.stray(line, sections.last().is_some_and(|section| !section.hunks.is_empty()))?;
            parser.at += 1;
        }
    }
    sections.retain(|section| !section.hunks.is_empty());
    if sections.is_empty() {
        let reason = "it has no hunk; a hunk starts with a line such as `@@ -1,3 +1,4 @@`".to_owned();
        return Err(ProposalError::BadPatch { line: 1, reason });
    }
    Ok(sections)
}

struct Parser<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a str> {
        self.lines.get(self.at + ahead).copied()
    }

    fn is_file_header(&self, ahead: usize) -> bool {
        let starts = |ahead, with| self.peek(ahead).is_some_and(|line: &str| line.starts_with(with));
        starts(ahead, "--- ") && starts(ahead + 1, "+++ ")
    }

    fn bad(&self, reason: String) -> ProposalError {
        ProposalError::BadPatch { line: self.at + 1, reason }
    }

    /// Between hunks there may be anything, except lines that look like a truncated hunk.
    fn stray(&self, line: &str, after_a_hunk: bool) -> Result<(), ProposalError> {
        let signature = line.trim_end() == "--" || line.starts_with("--- ") || line.starts_with("+++ ");
        if after_a_hunk && line.starts_with(['+', '-', ' ']) && !signature && !line.trim().is_empty() {
            return Err(self.bad("it is outside of every hunk; check the @@ header before it".to_owned()));
        }
        Ok(())
    }

    fn hunk(&mut self) -> Result<PatchHunk<'a>, ProposalError> {
        let header = self.peek(0).unwrap_or_default();
        let (start, counts) = header_numbers(header);
        self.at += 1;
        let mut lines: Vec<PatchLine<'a>> = Vec::new();
        let (mut old, mut new) = counts.unwrap_or((usize::MAX, usize::MAX));
        while let Some(line) = self.peek(0) {
            let promised = old > 0 || new > 0;
            // A removed line may look like a header, so only the counts distinguish them.
            if line.starts_with("@@") || line.starts_with("diff --git ") {
                break;
            }
            if self.is_file_header(0) && (!promised || counts.is_none()) {
                break;
            }
            if line.starts_with('\\') {
                if let Some(last) = lines.last_mut() {
                    last.unended = true;
                }
                self.at += 1;
                continue;
            }
            let (kind, text) = match line.split_at_checked(1) {
                Some((" ", text)) => (LineKind::Context, text),
                Some(("-", _)) if !promised && line.trim_end() == "--" => break,
                Some(("-", text)) => (LineKind::Removed, text),
                Some(("+", text)) => (LineKind::Added, text),
                None | Some(("\r", "")) if promised && self.goes_on() => (LineKind::Context, line),
                None | Some(("\r", "")) => break,
                Some(_) if !promised => break,
                Some(_) => {
                    let reason = "a line of a hunk starts with a space, `-` or `+`".to_owned();
                    return Err(self.bad(reason));
                }
            };
            old = if kind == LineKind::Added { old } else { old.saturating_sub(1) };
            new = if kind == LineKind::Removed { new } else { new.saturating_sub(1) };
            lines.push(PatchLine { kind, text, unended: false });
            self.at += 1;
        }
        if lines.iter().all(|line| line.kind == LineKind::Context) {
            self.at -= 1;
            return Err(self.bad("the hunk before it changes nothing".to_owned()));
        }
        Ok(PatchHunk { start, lines })
    }

    /// An empty line at the end of a diff is the end, and elsewhere a context line that lost its space.
    fn goes_on(&self) -> bool {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|line| !line.trim().is_empty());
        next.is_some_and(|line| line.starts_with([' ', '+', '-', '\\']))
    }
}

/// The old side's start and both counts, if they can be read.
fn header_numbers(header: &str) -> (Option<usize>, Option<(usize, usize)>) {
    let range = |part: Option<&str>, sign: char| {
        let part = part?.strip_prefix(sign)?;
        let (start, count) = part.split_once(',').unwrap_or((part, "1"));
        Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let mut parts = header.trim_start_matches('@').split_whitespace();
    let (old, new) = (range(parts.next(), '-'), range(parts.next(), '+'));
    (old.map(|(start, _)| start), old.zip(new).map(|((_, old), (_, new))| (old, new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(diff: &str) -> PatchHunk<'_> {
        let mut sections = parse(diff).unwrap();
        assert_eq!(sections.len(), 1, "{diff}");
        sections.remove(0).hunks.remove(0)
    }

    fn shown(hunk: &PatchHunk<'_>) -> String {
        let sign = |kind| match kind {
            LineKind::Context => ' ',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        };
        hunk.lines.iter().map(|line| format!("{}{}|", sign(line.kind), line.text)).collect()
    }

    #[test]
    fn a_removed_line_that_looks_like_a_header_is_a_line() {
        let hunk = one("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n x\n");
        assert_eq!(shown(&hunk), "--- old|+++ new| x|");
    }

    #[test]
    fn wrong_counts_and_missing_numbers_are_forgiven() {
        assert_eq!(shown(&one("@@ -3,1 +3,1 @@ fn x()\n a\n-b\n+c\n d\n")), " a|-b|+c| d|");
        assert_eq!(shown(&one("@@ -3,9 +3,9 @@\n a\n-b\n")), " a|-b|");
        let hunk = one("@@\n a\n-b\n");
        assert_eq!((hunk.start, shown(&hunk)), (None, " a|-b|".to_owned()));
    }

    #[test]
    fn a_blank_context_line_without_its_space_is_one() {
        assert_eq!(shown(&one("@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n\n\n")), " a| |-b|+c|");
    }

    #[test]
    fn the_signature_of_a_mailed_patch_ends_it() {
        let hunk = one("From: me\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.1\n\n");
        assert_eq!(shown(&hunk), "-a|+b|");
    }

    #[test]
    fn several_files_are_several_sections() {
        let diff = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\
                    diff --git a/g b/g\nindex 1..2\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-c\n+d\n";
        let names: Vec<_> = parse(diff).unwrap().iter().map(|section| section.new_name).collect();
        assert_eq!(names, [Some("b/f"), Some("b/g")]);
    }

    #[test]
    fn what_is_no_diff_says_in_which_line() {
        let line_of = |diff: &str| match parse(diff) {
            Err(ProposalError::BadPatch { line, .. }) => line,
            other => panic!("{other:?}"),
        };
        assert_eq!(line_of("hello"), 1);
        assert_eq!(line_of("@@ -1,2 +1,2 @@\n a\nb\n"), 3);
        assert_eq!(line_of("@@ -1,1 +1,1 @@\n-a\n+b\n\n+lost\n"), 5);
    }
}
