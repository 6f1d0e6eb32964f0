//! Editing the input, which may have several lines: pure, with the history of earlier inputs. Knows no keys and no
//! terminal.

/// The input and the place in it, in bytes on a character boundary.
#[derive(Debug, Default)]
pub(super) struct LineEditor {
    text: String,
    cursor: usize,
    history: Vec<String>,
    /// Which entry of the history is shown, and the input that it replaced.
    recalled: Option<(usize, String)>,
    /// The column that moving up and down keeps.
    killed: String,
}

/// No input is longer; what is pasted beyond is dropped.
const LONGEST: usize = 1024 * 1024;
/// How many inputs are remembered.
pub(super) const MOST_HISTORY: usize = 1000;

impl LineEditor {
    pub(super) fn with_history(history: Vec<String>) -> LineEditor {
        LineEditor { history, ..LineEditor::default() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn before_cursor(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn after_cursor(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn insert(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.text.len());
        let end = (0..=room.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let text = text.get(..end).unwrap_or_default();
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Replaces the input.
    pub(super) fn set(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.cursor = self.text.len();
    }

    /// Replaces the part from `start` to the cursor.
    pub(super) fn complete(&mut self, start: usize, with: &str) {
        if self.text.is_char_boundary(start) && start <= self.cursor {
            self.text.replace_range(start..self.cursor, with);
            self.cursor = start + with.len();
        }
    }

    /// Takes the input and remembers it; `true` if it is new in the history.
    pub(super) fn submit(&mut self) -> (String, bool) {
        let text = std::mem::take(&mut self.text);
        (self.cursor, self.recalled) = (0, None);
        let is_new = !text.trim().is_empty() && self.history.last() != Some(&text);
        if is_new {
            self.history.push(text.clone());
            if self.history.len() > MOST_HISTORY {
                self.history.remove(0);
            }
        }
        (text, is_new)
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        (self.cursor, self.recalled) = (0, None);
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.before_cursor().char_indices().last().map_or(0, |(at, _)| at);
    }

    pub(super) fn right(&mut self) {
        self.cursor += self.after_cursor().chars().next().map_or(0, char::len_utf8);
    }

    pub(super) fn word_left(&mut self) {
        let before = self.before_cursor().trim_end_matches(|c: char| !c.is_alphanumeric());
        self.cursor = before.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| {
            at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
        });
    }

    pub(super) fn word_right(&mut self) {
        let after = self.after_cursor();
        let start = after.find(char::is_alphanumeric).unwrap_or(after.len());
        let word = after.get(start..).unwrap_or_default();
        let length = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        self.cursor += start + length;
    }

    fn line_start(&self) -> usize {
        self.before_cursor().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.cursor + self.after_cursor().find('\n').unwrap_or(self.after_cursor().len())
    }

    pub(super) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    pub(super) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    pub(super) fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.remove(end);
    }

    pub(super) fn delete(&mut self) {
        let end = self.cursor + self.after_cursor().chars().next().map_or(0, char::len_utf8);
        self.remove(end);
    }

    pub(super) fn delete_word(&mut self) {
        let end = self.cursor;
        // As in a shell: up to the space before.
        let trimmed = self.before_cursor().trim_end();
        self.cursor = trimmed.rfind(char::is_whitespace).map_or(0, |at| {
            at + trimmed.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
        });
        self.kill(end);
    }

    pub(super) fn delete_to_start(&mut self) {
        let end = self.cursor;
        self.cursor = self.line_start();
        self.kill(end);
    }

    pub(super) fn delete_to_end(&mut self) {
        self.kill(self.line_end());
    }

    /// Inserts what was deleted last.
    pub(super) fn yank(&mut self) {
        let killed = self.killed.clone();
        self.insert(&killed);
    }

    fn kill(&mut self, end: usize) {
        if let Some(killed) = self.text.get(self.cursor..end).filter(|killed| !killed.is_empty()) {
            self.killed = killed.to_owned();
        }
        self.remove(end);
    }

    /// From the cursor up to here.
    fn remove(&mut self, end: usize) {
        if self.cursor < end && end <= self.text.len() {
            self.text.replace_range(self.cursor..end, "");
        }
    }

    /// One line up, or to the input before.
    pub(super) fn up(&mut self) {
        let start = self.line_start();
        if start > 0 {
            let column = self.before_cursor().get(start..).map_or(0, |text| text.chars().count());
            self.cursor = start - 1;
            let above = self.line_start();
            self.cursor = self.at_column(above, column);
            return;
        }
        let shown = self.recalled.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(earlier) = shown.checked_sub(1) else { return };
        let Some(entry) = self.history.get(earlier).cloned() else { return };
        let draft = self.recalled.take().map_or_else(|| self.text.clone(), |(_, draft)| draft);
        self.set(entry);
        self.recalled = Some((earlier, draft));
    }

    /// One line down, or to the input after.
    pub(super) fn down(&mut self) {
        let end = self.line_end();
        if end < self.text.len() {
            let start = self.line_start();
            let column = self.before_cursor().get(start..).map_or(0, |text| text.chars().count());
            self.cursor = self.at_column(end + 1, column);
            return;
        }
        let Some((shown, draft)) = self.recalled.take() else { return };
        match self.history.get(shown + 1).cloned() {
            Some(entry) => {
                self.set(entry);
                self.recalled = Some((shown + 1, draft));
            }
            None => self.set(draft),
        }
    }

    fn at_column(&self, start: usize, column: usize) -> usize {
        let line = self.text.get(start..).unwrap_or_default().split('\n').next().unwrap_or_default();
        start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn editor(text: &str) -> LineEditor {
        let mut editor = LineEditor::default();
        editor.insert(text);
        editor
    }

    #[test]
    fn words_are_moved_over_and_deleted() {
        let mut line = editor("one two-three");
        line.word_left();
        assert_eq!(line.before_cursor(), "one two-");
        line.word_left();
        line.word_left();
        line.word_left();
        assert_eq!(line.before_cursor(), "");
        line.word_right();
        assert_eq!(line.before_cursor(), "one");
        line.end();
        line.delete_word();
        assert_eq!(line.text(), "one ");
        line.yank();
        assert_eq!(line.text(), "one two-three");
        line.delete_to_start();
        assert!(line.is_empty());
    }

    #[test]
    fn the_history_is_walked_and_the_draft_comes_back() {
        let mut line = LineEditor::with_history(vec!["a".into(), "b".into()]);
        line.insert("draft");
        line.up();
        line.up();
        line.up();
        assert_eq!(line.text(), "a");
        line.down();
        assert_eq!(line.text(), "b");
        line.down();
        assert_eq!(line.text(), "draft");
        line.down();
        assert_eq!(line.submit(), ("draft".into(), true));
        line.insert("draft");
        assert_eq!(line.submit(), ("draft".into(), false));
    }

    #[test]
    fn up_and_down_move_inside_an_input_of_several_lines() {
        let mut line = editor("first\nsé\nthird");
        line.up();
        assert_eq!(line.before_cursor(), "first\nsé");
        line.up();
        assert_eq!(line.before_cursor(), "fi");
        line.down();
        line.home();
        assert_eq!(line.before_cursor(), "first\n");
        line.delete_to_end();
        assert_eq!(line.text(), "first\n\nthird");
    }

    #[test]
    fn an_endless_paste_is_cut() {
        let mut line = editor("é");
        line.insert(&"漢".repeat(LONGEST));
        assert!(line.text().len() <= LONGEST && line.text().ends_with('漢'));
    }

    proptest! {
        #[test]
        fn any_keys_leave_a_valid_input(keys in proptest::collection::vec(0u8..16, 0..60)) {
            let mut line = LineEditor::with_history(vec!["x\ny".into()]);
            for key in keys {
                match key {
                    0 => line.insert("é"),
                    1 => line.insert("a b"),
                    2 => line.insert("\n"),
                    3 => line.left(),
                    4 => line.right(),
                    5 => line.up(),
                    6 => line.down(),
                    7 => line.home(),
                    8 => line.end(),
                    9 => line.backspace(),
                    10 => line.delete(),
                    11 => line.delete_word(),
                    12 => line.word_left(),
                    13 => line.word_right(),
                    14 => line.delete_to_end(),
                    _ => line.yank(),
                }
                prop_assert!(line.text.is_char_boundary(line.cursor) && line.cursor <= line.text.len());
            }
        }
    }
}
