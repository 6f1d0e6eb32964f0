//! Applies the hunks that Codex sends for one file: each at its line, or at the only later place where its old lines
//! are. Nothing is guessed: a hunk that does not fit is an error.

/// Why a diff does not apply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HunkError {
    #[error("line {line} of the diff is not understood")]
    Malformed { line: usize },
    #[error("hunk {number} does not fit the text of the file")]
    NoPlace { number: usize },
    #[error("hunk {number} fits the file at several places")]
    SeveralPlaces { number: usize },
    #[error("the diff has no hunk")]
    Empty,
}

/// Comparisons of lines in one search. A diff that needs more is not from an honest agent.
const MOST_COMPARISONS: usize = 20_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Context,
    Removed,
    Added,
}

#[derive(Debug)]
struct Hunk<'a> {
    /// Where its old lines begin, from 0; none if the header has no numbers.
    stated: Option<usize>,
    /// The lines with their ends; the last one of a file may have none.
    lines: Vec<(LineKind, &'a str)>,
}

impl<'a> Hunk<'a> {
    fn old_lines(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.lines.iter().filter(|(kind, _)| *kind != LineKind::Added).map(|(_, line)| *line)
    }
}

/// The text with all hunks applied.
pub(crate) fn apply_hunks(text: &str, diff: &str) -> Result<String, HunkError> {
    let hunks = parse(diff)?;
    let file: Vec<&str> = text.split_inclusive('\n').collect();
    // A diff of a file with CRLF may be written without CR: then the lines keep theirs, and new ones get it.
    let has_cr = hunks.iter().any(|hunk| hunk.lines.iter().any(|(_, line)| line.ends_with("\r\n")));
    let drops_cr = !has_cr && text.contains("\r\n");
    let mut search = Search { file: &file, drops_cr, comparisons: 0 };
    let mut out = String::with_capacity(text.len() + diff.len());
    let (mut at, mut drift) = (0usize, 0isize);
    for (index, hunk) in hunks.iter().enumerate() {
        let stated = hunk.stated.map(|stated| stated.saturating_add_signed(drift));
        let place = search.place(index + 1, hunk, stated, at)?;
        if let Some(stated) = stated {
            drift = drift.saturating_add_unsigned(place).saturating_sub_unsigned(stated);
        }
        out.extend(file.get(at..place).unwrap_or_default().iter().copied());
        at = place;
        for (kind, line) in &hunk.lines {
            match kind {
                LineKind::Context => {
                    out.push_str(file.get(at).copied().unwrap_or_default());
                    at += 1;
                }
                LineKind::Removed => at += 1,
                LineKind::Added if drops_cr && line.ends_with('\n') => {
                    out.push_str(line.trim_end_matches('\n'));
                    out.push_str("\r\n");
                }
                LineKind::Added => out.push_str(line),
            }
        }
    }
    out.extend(file.get(at..).unwrap_or_default().iter().copied());
    Ok(out)
}

struct Search<'f> {
    file: &'f [&'f str],
    drops_cr: bool,
    comparisons: usize,
}

impl Search<'_> {
    fn place(
        &mut self,
        number: usize,
        hunk: &Hunk<'_>,
        stated: Option<usize>,
        from: usize,
    ) -> Result<usize, HunkError> {
        let wanted: Vec<&str> = hunk.old_lines().collect();
        let stated = stated.filter(|stated| *stated >= from && *stated <= self.file.len());
        if wanted.is_empty() {
            return stated.ok_or(HunkError::NoPlace { number });
        }
        if let Some(stated) = stated.filter(|stated| self.fits(&wanted, *stated)) {
            return Ok(stated);
        }
        let last = self.file.len().checked_sub(wanted.len()).ok_or(HunkError::NoPlace { number })?;
        let mut found = None;
        for start in from..=last {
            if self.fits(&wanted, start) && found.replace(start).is_some() {
                return Err(HunkError::SeveralPlaces { number });
            }
            if self.comparisons > MOST_COMPARISONS {
                break;
            }
        }
        found.ok_or(HunkError::NoPlace { number })
    }

    fn fits(&mut self, wanted: &[&str], start: usize) -> bool {
        for (offset, line) in wanted.iter().enumerate() {
            self.comparisons += 1;
            let Some(there) = self.file.get(start + offset) else { return false };
            let same = *there == *line
                || self.drops_cr
                    && there.strip_suffix("\r\n").is_some_and(|text| line.strip_suffix('\n') == Some(text));
            if !same {
                return false;
            }
        }
        true
    }
}

fn parse(diff: &str) -> Result<Vec<Hunk<'_>>, HunkError> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    for (index, line) in diff.split_inclusive('\n').enumerate() {
        let malformed = HunkError::Malformed { line: index + 1 };
        if line.starts_with("@@") {
            hunks.push(Hunk { stated: stated_line(line), lines: Vec::new() });
            continue;
        }
        let hunk = hunks.last_mut().ok_or(malformed.clone())?;
        let kinds = [(' ', LineKind::Context), ('-', LineKind::Removed), ('+', LineKind::Added)];
        let marked = kinds.into_iter().find_map(|(mark, kind)| Some((kind, line.strip_prefix(mark)?)));
        if let Some(marked) = marked {
            hunk.lines.push(marked);
            continue;
        }
        match line.as_bytes().first() {
            // "No newline at end of file": the line before has no end.
            Some(b'\\') => {
                let (_, last) = hunk.lines.last_mut().ok_or(malformed)?;
                *last = last.strip_suffix('\n').unwrap_or(last);
            }
            // An empty line of context, whose blank was cut off.
            Some(b'\n') => hunk.lines.push((LineKind::Context, line)),
            _ => return Err(malformed),
        }
    }
    if hunks.is_empty() { Err(HunkError::Empty) } else { Ok(hunks) }
}

/// Of `@@ -12,3 +12,4 @@`: where the old lines begin, from 0. A hunk that only adds names the line before it.
fn stated_line(header: &str) -> Option<usize> {
    let old = header.split_whitespace().find_map(|word| word.strip_prefix('-'))?;
    let (start, count) = old.split_once(',').unwrap_or((old, "1"));
    let start: usize = start.parse().ok()?;
    if count == "0" { Some(start) } else { start.checked_sub(1) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_captured_diff_applies() {
        let diff = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
        assert_eq!(apply_hunks("one\ntwo\nthree\n", diff).unwrap(), "one\nTWO\nthree\n");
    }

    #[test]
    fn lines_that_moved_are_found_where_they_are_unique() {
        let diff = "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n@@ -4,2 +4,1 @@\n four\n-five\n";
        let text = "zero\none\ntwo\nthree\nfour\nfive\n";
        assert_eq!(apply_hunks(text, diff).unwrap(), "zero\none\nTWO\nthree\nfour\n");
        let twice = "x\nx\none\ntwo\none\ntwo\n";
        assert_eq!(apply_hunks(twice, diff), Err(HunkError::SeveralPlaces { number: 1 }));
        assert_eq!(apply_hunks("other\n", diff), Err(HunkError::NoPlace { number: 1 }));
    }

    #[test]
    fn a_line_without_an_end_stays_without_one() {
        let diff =
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n";
        assert_eq!(apply_hunks("a\nb", diff).unwrap(), "a\nc");
        assert!(apply_hunks("a\nb\n", diff).is_err(), "another end of the file is another line");
    }

    #[test]
    fn lines_keep_their_carriage_returns_when_the_diff_has_none() {
        let diff = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
        assert_eq!(apply_hunks("one\r\ntwo\r\nthree\r\n", diff).unwrap(), "one\r\nTWO\r\nthree\r\n");
        let with = "@@ -1,3 +1,3 @@\n one\r\n-two\r\n+TWO\r\n three\r\n";
        assert_eq!(apply_hunks("one\r\ntwo\r\nthree\r\n", with).unwrap(), "one\r\nTWO\r\nthree\r\n");
    }

    #[test]
    fn a_hunk_that_only_adds_goes_to_its_line() {
        assert_eq!(apply_hunks("a\nb\n", "@@ -1,0 +2,1 @@\n+x\n").unwrap(), "a\nx\nb\n");
        assert_eq!(apply_hunks("", "@@ -0,0 +1,1 @@\n+x\n").unwrap(), "x\n");
        assert_eq!(apply_hunks("a\n", "@@ -9,0 +10,1 @@\n+x\n"), Err(HunkError::NoPlace { number: 1 }));
    }

    proptest! {
        #[test]
        fn a_diff_of_two_texts_leads_from_one_to_the_other(
            before in "([abc]?\n){0,12}[abc]{0,2}", after in "([abc]?\n){0,12}[abc]{0,2}",
        ) {
            let diff = linkspan_review::unified(&before, &after, "a", "b", 3);
            let hunks: String = diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@")).collect();
            if before != after {
                prop_assert_eq!(apply_hunks(&before, &hunks).unwrap(), after);
            }
        }

        #[test]
        fn no_diff_panics(text in ".{0,40}", diff in "(@@ -[0-9]{1,3},[0-9] \\+1 @@\n|[ +\\-\\\\]?[ab]?\n){0,8}") {
            let _ = apply_hunks(&text, &diff);
        }
    }
}
