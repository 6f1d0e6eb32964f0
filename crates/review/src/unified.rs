//! The unified diff format that `git apply` and `patch` accept.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use crate::diff::{Change, changed_lines};
use crate::lines::Lines;

/// The labels follow `---` and `+++`: `a/path` and `b/path`, or `/dev/null` for no file. `""` if both texts are equal.
pub fn unified(old: &str, new: &str, old_label: &str, new_label: &str, context: usize) -> String {
    if old == new {
        return String::new();
    }
    let context = u32::try_from(context).unwrap_or(u32::MAX);
    let (old, new) = (Lines::new(old), Lines::new(new));
    let changes = changed_lines(old.iter(), new.iter());

    let mut out = format!("--- {}\n+++ {}\n", label(old_label), label(new_label));
    let near = |one: &Change, next: &Change| next.before.start - one.before.end <= context.saturating_mul(2);
    for group in changes.chunk_by(near) {
        write_group(&mut out, &old, &new, group, context);
    }
    out
}

fn write_group(out: &mut String, old: &Lines<'_>, new: &Lines<'_>, group: &[Change], context: u32) {
    let [first, ..] = group else { return };
    let [.., last] = group else { return };
    let lead = context.min(first.before.start);
    let tail = context.min(old.len() - last.before.end);
    let before = first.before.start - lead..last.before.end + tail;
    let after = first.after.start - lead..last.after.end + tail;
    out.push_str("@@ -");
    write_range(out, &before);
    out.push_str(" +");
    write_range(out, &after);
    out.push_str(" @@\n");

    let mut common = before.start;
    for change in group {
        write_lines(out, ' ', old, common..change.before.start);
        write_lines(out, '-', old, change.before.clone());
        write_lines(out, '+', new, change.after.clone());
        common = change.before.end;
    }
    write_lines(out, ' ', old, common..before.end);
}

/// Start and length; an empty range is named by the line before it.
fn write_range(out: &mut String, range: &Range<u32>) {
    let start = if range.is_empty() { range.start } else { range.start + 1 };
    // Writing to a String cannot fail.
    let _ = write!(out, "{start},{}", range.len());
}

fn write_lines(out: &mut String, sign: char, lines: &Lines<'_>, range: Range<u32>) {
    for line in lines.slice(range).split_inclusive('\n') {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// As git writes it: quoted if it would break the line, followed by a tab if it contains a space.
fn label(label: &str) -> Cow<'_, str> {
    if label.chars().any(|character| character.is_ascii_control() || matches!(character, '"' | '\\')) {
        let mut quoted = String::from('"');
        for character in label.chars() {
            match character {
                '"' | '\\' => quoted.extend(['\\', character]),
                _ if character.is_ascii_control() => {
                    let _ = write!(quoted, "\\{:03o}", u32::from(character));
                }
                _ => quoted.push(character),
            }
        }
        quoted.push('"');
        Cow::Owned(quoted)
    } else if label.contains(' ') {
        Cow::Owned(format!("{label}\t"))
    } else {
        Cow::Borrowed(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, context: usize, expect: &str) {
        assert_eq!(unified(old, new, "a/f", "b/f", context), expect);
    }

    #[test]
    fn equal_texts_have_no_diff() {
        check("a\n", "a\n", 3, "");
    }

    #[test]
    fn a_change_is_shown_with_its_context() {
        check("1\n2\n3\n4\n5\n", "1\n2\nX\n4\n5\n", 1, "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n 2\n-3\n+X\n 4\n");
    }

    #[test]
    fn changes_whose_context_meets_share_one_header() {
        let old = "1\n2\n3\n4\n5\n6\n7\n";
        assert_eq!(unified(old, "X\n2\n3\n4\nY\n6\n7\n", "a", "b", 1).matches("@@ -").count(), 2);
        assert_eq!(unified(old, "X\n2\n3\nY\n5\n6\n7\n", "a", "b", 1).matches("@@ -").count(), 1);
    }

    #[test]
    fn a_missing_final_newline_is_marked() {
        check(
            "a\nb",
            "a\nb\n",
            3,
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
        );
    }

    #[test]
    fn a_new_file_starts_at_line_zero() {
        check("", "a\n", 3, "--- a/f\n+++ b/f\n@@ -0,0 +1,1 @@\n+a\n");
    }

    #[test]
    fn a_label_can_not_break_out_of_its_line() {
        assert_eq!(label("a/x\n+++ b/y"), "\"a/x\\012+++ b/y\"");
        assert_eq!(label("a/x y"), "a/x y\t");
    }
}
