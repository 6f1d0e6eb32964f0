//! Unified diffs in permission events: they show what will be written. Lines are those between newlines, so a text that
//! ends with a newline has one more line, an empty one; Copilot counts it, git does not.

/// One hunk of a unified diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk {
    /// The first old line, counted from 0.
    pub start: usize,
    pub old: Vec<String>,
    pub new: Vec<String>,
}

/// Whether a diff shows the empty line after a final newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLine {
    /// Copilot: the text is cut at its newlines.
    Counted,
    /// git: a missing final newline is marked.
    Marked,
}

/// Empty if it cannot be read as the diff of one file.
pub(super) fn parse(diff: &str, last_line: LastLine) -> Vec<DiffHunk> {
    let mut lines = diff.split('\n');
    let mut hunks = Vec::new();
    while let Some(line) = lines.next() {
        let Some((start, old_count, new_count)) = header(line) else {
            let starts_second_file = !hunks.is_empty() && line.starts_with("--- ");
            if starts_second_file {
                return Vec::new();
            }
            continue;
        };
        let Some(hunk) = read_hunk(&mut lines, start, old_count, new_count, last_line) else {
            return Vec::new();
        };
        hunks.push(hunk);
    }
    hunks
}

/// `@@ -1,4 +1,4 @@`: start and length of the old lines, length of the new ones.
fn header(line: &str) -> Option<(usize, usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((start, old_count), (_, new_count)) = (range(old)?, range(new)?);
    // An empty range is named by the line before it.
    let start = if old_count == 0 { start } else { start.checked_sub(1)? };
    Some((start, old_count, new_count))
}

fn read_hunk<'a>(
    lines: &mut std::str::Split<'a, char>,
    start: usize,
    old_count: usize,
    new_count: usize,
    last_line: LastLine,
) -> Option<DiffHunk> {
    let mut hunk = DiffHunk { start, old: Vec::new(), new: Vec::new() };
    let (mut old_is_bare, mut new_is_bare) = (false, false);
    let mut last_sign = ' ';
    loop {
        let complete = hunk.old.len() >= old_count && hunk.new.len() >= new_count;
        let mut ahead = lines.clone();
        let line = match ahead.next() {
            Some(line) if !complete || line.starts_with('\\') => line,
            _ if complete => break,
            _ => return None,
        };
        *lines = ahead;
        let sign = line.chars().next()?;
        let text = line.get(1..)?.to_owned();
        match sign {
            ' ' => {
                hunk.old.push(text.clone());
                hunk.new.push(text);
            }
            '-' => hunk.old.push(text),
            '+' => hunk.new.push(text),
            '\\' => {
                old_is_bare |= last_sign != '+';
                new_is_bare |= last_sign != '-';
            }
            _ => return None,
        }
        last_sign = sign;
    }
    if last_line == LastLine::Marked {
        let is_new_file = old_count == 0 && start == 0;
        if new_is_bare && !old_is_bare && old_count > 0 {
            hunk.old.push(String::new());
        }
        if (old_is_bare || is_new_file) && !new_is_bare {
            hunk.new.push(String::new());
        }
    }
    Some(hunk)
}

/// `None` if a hunk does not fit exactly where it says.
pub(super) fn apply(current: Option<&str>, hunks: &[DiffHunk]) -> Option<String> {
    let creates = hunks.first().is_some_and(|hunk| hunk.start == 0 && hunk.old.is_empty());
    let lines: Vec<&str> = match current {
        None | Some("") if creates => Vec::new(),
        current => current.unwrap_or_default().split('\n').collect(),
    };
    let mut result: Vec<&str> = Vec::new();
    let mut at = 0;
    for hunk in hunks {
        result.extend(lines.get(at..hunk.start)?);
        let end = hunk.start.checked_add(hunk.old.len())?;
        let here = lines.get(hunk.start..end)?;
        if !here.iter().eq(hunk.old.iter()) {
            return None;
        }
        result.extend(hunk.new.iter().map(String::as_str));
        at = end;
    }
    result.extend(lines.get(at..)?);
    (!hunks.is_empty()).then(|| result.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(current: Option<&str>, diff: &str, last_line: LastLine) -> Option<String> {
        apply(current, &parse(diff, last_line))
    }

    #[test]
    fn copilot_counts_the_line_after_the_final_newline() {
        let diff = "\ndiff --git a/w/a.txt b/w/a.txt\nindex 0000000..0000000 100644\n--- a/w/a.txt\n+++ b/w/a.txt\n\
                    @@ -1,4 +1,4 @@\n one\n-two\n+Zwei\n three\n \n";
        let current = Some("one\ntwo\nthree\n");
        assert_eq!(written(current, diff, LastLine::Counted).unwrap(), "one\nZwei\nthree\n");
        assert_eq!(written(Some("one\n2\nthree\n"), diff, LastLine::Counted), None);
    }

    #[test]
    fn git_marks_a_missing_final_newline() {
        let added = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(written(Some("a"), added, LastLine::Marked).unwrap(), "a\n");
        let removed = "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n";
        assert_eq!(written(Some("a\n"), removed, LastLine::Marked).unwrap(), "a");
        let inside = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n";
        assert_eq!(written(Some("a\nb"), inside, LastLine::Marked).unwrap(), "A\nb");
    }

    #[test]
    fn a_new_file_has_only_added_lines() {
        let diff = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        assert_eq!(written(None, diff, LastLine::Marked).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_diff_that_says_too_little_gives_nothing() {
        for diff in
            ["", "nonsense", "@@ -1,3 +1,3 @@\n a\n", "@@ -9 +9 @@\n-a\n+b\n", "@@ -0,1 +0,1 @@\n-a\n+b\n"]
        {
            assert_eq!(written(Some("a\n"), diff, LastLine::Marked), None, "{diff}");
        }
    }

    proptest::proptest! {
        #[test]
        fn diffs_of_the_project_are_understood(old in "([ab]\n){0,9}[ab]?", new in "([ab]\n){0,9}[ab]?") {
            let diff = linkspan_review::unified(&old, &new, "a", "b", 2);
            if old != new {
                proptest::prop_assert_eq!(written(Some(&old), &diff, LastLine::Marked), Some(new));
            }
        }
    }
}
