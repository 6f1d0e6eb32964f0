//! Comments on single lines of a proposed text: choosing the line, writing, and how they look. Pure. Knows neither the
//! question that they belong to nor where they are sent.

use std::collections::BTreeMap;

use linkspan_client::connection::Comment;
use linkspan_review::hunks;

use super::keys::KeyPress;
use super::line_editor::LineEditor;
use super::text::{Line, Style, line, plain, span};

/// How many lines are shown around the chosen one.
const AROUND: u32 = 3;

/// The comments, by line from 1.
#[derive(Debug, Default)]
pub(super) struct LineComments(BTreeMap<u32, String>);

/// How far the user is with a comment.
#[derive(Debug)]
pub(super) enum CommentStep {
    Choose {
        line: u32,
        /// A digit continues the number.
        typing: bool,
    },
    Write {
        line: u32,
        text: LineEditor,
    },
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommentAct {
    Stays,
    /// Back to the question.
    Done,
    /// Not a key of this.
    Ignored,
}

impl LineComments {
    pub(super) fn to_send(&self) -> Vec<Comment> {
        self.0.iter().map(|(line, text)| Comment { line: *line, text: text.clone() }).collect()
    }

    /// Each with the line that it is about.
    pub(super) fn rows(&self, text: &str) -> Vec<Line> {
        self.0.iter().flat_map(|(number, comment)| [numbered(text, *number, " "), remark(comment)]).collect()
    }

    /// The user edited the text: they stay with their lines, or with what is in their place.
    pub(super) fn follow(&mut self, before: &str, after: &str) {
        let changes = hunks(before, after);
        let last = count(after);
        let moved = |number: u32| {
            let index = number.saturating_sub(1);
            let mut shift = 0_i64;
            for hunk in &changes {
                if index < hunk.before.start {
                    break;
                }
                if hunk.before.contains(&index) {
                    let inside = index.saturating_sub(hunk.before.start);
                    let lines = hunk.after.end.saturating_sub(hunk.after.start);
                    let place = hunk.after.start.saturating_add(inside.min(lines.saturating_sub(1)));
                    return place.saturating_add(1).min(last);
                }
                shift += i64::from(hunk.after.end)
                    - i64::from(hunk.before.end)
                    - (i64::from(hunk.after.start) - i64::from(hunk.before.start));
            }
            let place = i64::from(number).saturating_add(shift);
            u32::try_from(place).unwrap_or(1).clamp(1, last)
        };
        let before = std::mem::take(&mut self.0);
        for (number, comment) in before {
            let entry = self.0.entry(moved(number)).or_default();
            let separator = if entry.is_empty() { "" } else { "\n" };
            *entry = format!("{entry}{separator}{comment}");
        }
    }
}

impl CommentStep {
    /// Begins at the first line that changed, from 0.
    pub(super) fn begin(text: &str, first_changed: u32) -> CommentStep {
        CommentStep::Choose { line: first_changed.saturating_add(1).min(count(text)), typing: false }
    }

    pub(super) fn handle(&mut self, key: &KeyPress, text: &str, comments: &mut LineComments) -> CommentAct {
        match self {
            CommentStep::Choose { line, typing } => {
                let last = count(text);
                let was_typing = std::mem::take(typing);
                match key {
                    KeyPress::Up | KeyPress::Char('k') => *line = line.saturating_sub(1).max(1),
                    KeyPress::Down | KeyPress::Char('j') => *line = line.saturating_add(1).min(last),
                    KeyPress::Char(digit) if digit.is_ascii_digit() => {
                        let digit = digit.to_digit(10).unwrap_or_default();
                        let before = if was_typing { line.saturating_mul(10) } else { 0 };
                        *line = before.saturating_add(digit).clamp(1, last);
                        *typing = true;
                    }
                    KeyPress::Enter => {
                        let mut editor = LineEditor::default();
                        if let Some(comment) = comments.0.get(line) {
                            editor.insert(comment);
                        }
                        *self = CommentStep::Write { line: *line, text: editor };
                    }
                    KeyPress::Char('x') | KeyPress::Delete => drop(comments.0.remove(line)),
                    KeyPress::Esc => return CommentAct::Done,
                    _ => return CommentAct::Ignored,
                }
            }
            CommentStep::Write { line, text: editor } => match key {
                KeyPress::Enter => {
                    let comment = editor.submit().0.trim().to_owned();
                    match comment.is_empty() {
                        true => drop(comments.0.remove(line)),
                        false => drop(comments.0.insert(*line, comment)),
                    }
                    return CommentAct::Done;
                }
                KeyPress::Esc => *self = CommentStep::Choose { line: *line, typing: false },
                key if key.edit(editor) => {}
                _ => return CommentAct::Ignored,
            },
        }
        CommentAct::Stays
    }

    /// The lines around the chosen one with their comments, what the keys do, and the input.
    pub(super) fn rows<'a>(
        &'a self,
        text: &str,
        comments: &LineComments,
    ) -> (Vec<Line>, Option<&'a LineEditor>) {
        let (chosen, editor) = match self {
            CommentStep::Choose { line, .. } => (*line, None),
            CommentStep::Write { line, text } => (*line, Some(text)),
        };
        let from = chosen.saturating_sub(AROUND).max(1);
        let to = chosen.saturating_add(AROUND).min(count(text));
        let mut rows = Vec::new();
        for number in from..=to {
            rows.push(numbered(text, number, if number == chosen { ">" } else { " " }));
            rows.extend(comments.0.get(&number).map(|comment| remark(comment)));
        }
        let (question, keys) = match editor {
            None => {
                let remove = if comments.0.contains_key(&chosen) { "  [x] removes it" } else { "" };
                let keys = format!("↑ ↓ or a number chooses  Enter writes{remove}  Esc back");
                (format!("Comment on line {chosen}? "), keys)
            }
            Some(_) => {
                (format!("Your comment on line {chosen}. "), "The model reads it. Enter keeps it.".to_owned())
            }
        };
        rows.push(vec![span(Style::Question, question), span(Style::Plain, keys)]);
        (rows, editor)
    }
}

/// An empty text has one empty line.
fn count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1)
}

fn numbered(text: &str, number: u32, mark: &str) -> Line {
    let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
    let shown = plain(text.lines().nth(index).unwrap_or_default());
    vec![span(Style::Dim, format!("{mark}{number:>5} ")), span(Style::Plain, shown)]
}

fn remark(comment: &str) -> Line {
    line(Style::Question, format!("       ↳ {}", plain(comment).replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwo\nthree\nfour\n";

    fn types(step: &mut CommentStep, comments: &mut LineComments, keys: &str) -> CommentAct {
        let mut act = CommentAct::Stays;
        for key in keys.chars() {
            let key = if key == '\n' { KeyPress::Enter } else { KeyPress::Char(key) };
            act = step.handle(&key, TEXT, comments);
        }
        act
    }

    fn sent(comments: &LineComments) -> Vec<(u32, String)> {
        comments.to_send().into_iter().map(|comment| (comment.line, comment.text)).collect()
    }

    #[test]
    fn a_line_is_chosen_by_number_or_by_moving_and_a_comment_is_changed_and_removed() {
        let mut comments = LineComments::default();
        assert_eq!(types(&mut CommentStep::begin(TEXT, 1), &mut comments, "\nwhy?\n"), CommentAct::Done);
        assert_eq!(types(&mut CommentStep::begin(TEXT, 1), &mut comments, "99\nlast\n"), CommentAct::Done);
        types(&mut CommentStep::begin(TEXT, 1), &mut comments, "jjk\nthird\n");
        let all = [(2, "why?".to_owned()), (3, "third".to_owned()), (4, "last".to_owned())];
        assert_eq!(sent(&comments), all);
        types(&mut CommentStep::begin(TEXT, 1), &mut comments, "\n And how?\n");
        types(&mut CommentStep::begin(TEXT, 1), &mut comments, "3x");
        let mut step = CommentStep::begin(TEXT, 3);
        assert_eq!(types(&mut step, &mut comments, "\n"), CommentAct::Stays);
        for _ in 0..4 {
            step.handle(&KeyPress::Backspace, TEXT, &mut comments);
        }
        types(&mut step, &mut comments, "\n");
        assert_eq!(sent(&comments), [(2, "why? And how?".to_owned())]);
        let mut step = CommentStep::begin("", 0);
        assert_eq!(step.handle(&KeyPress::Char('7'), "", &mut comments), CommentAct::Stays);
        assert!(matches!(step, CommentStep::Choose { line: 1, .. }), "{step:?}");
    }

    #[test]
    fn comments_stay_with_their_lines_when_the_text_is_edited() {
        let mut comments = LineComments::default();
        for keys in ["1\na\n", "2\nb\n", "4\nd\n"] {
            types(&mut CommentStep::begin(TEXT, 0), &mut comments, keys);
        }
        comments.follow(TEXT, "zero\none\nTWO\nthree\nfour\n");
        assert_eq!(sent(&comments), [(2, "a".to_owned()), (3, "b".to_owned()), (5, "d".to_owned())]);
        comments.follow("zero\none\nTWO\nthree\nfour\n", "");
        assert_eq!(sent(&comments), [(1, "a\nb\nd".to_owned())]);
    }
}
