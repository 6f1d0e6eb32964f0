//! One line of text input: a reason, a comment, a search.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// More than anyone types; a paste is cut there.
const LIMIT: usize = 4000;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct InputLine {
    before: String,
    after: String,
}

/// What a key did to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    Text,
    Done,
    GivenUp,
}

impl InputLine {
    pub(crate) fn holding(text: &str) -> InputLine {
        InputLine { before: text.into(), after: String::new() }
    }

    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// The text on both sides of the cursor.
    pub(crate) fn parts(&self) -> (&str, &str) {
        (&self.before, &self.after)
    }

    /// Line endings become spaces: it is one line.
    pub(crate) fn paste(&mut self, text: &str) {
        for character in text.trim_end().chars() {
            self.put(if character.is_control() { ' ' } else { character });
        }
    }

    fn put(&mut self, character: char) {
        if self.before.len() + self.after.len() < LIMIT {
            self.before.push(character);
        }
    }

    pub(crate) fn key(&mut self, key: &KeyEvent) -> Typed {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Typed::Done,
            KeyCode::Esc => return Typed::GivenUp,
            KeyCode::Char('c') if ctrl => return Typed::GivenUp,
            KeyCode::Char('u') if ctrl => self.before.clear(),
            KeyCode::Char('k') if ctrl => self.after.clear(),
            KeyCode::Char('w') if ctrl => {
                let kept = self.before.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.before.truncate(kept);
            }
            KeyCode::Char('a') if ctrl => self.home(),
            KeyCode::Char('e') if ctrl => self.end(),
            KeyCode::Char(_) if ctrl => {}
            KeyCode::Char(character) => self.put(character),
            KeyCode::Backspace => {
                self.before.pop();
            }
            KeyCode::Delete => {
                let mut rest = self.after.chars();
                rest.next();
                self.after = rest.as_str().to_owned();
            }
            KeyCode::Left => {
                if let Some(character) = self.before.pop() {
                    self.after.insert(0, character);
                }
            }
            KeyCode::Right => {
                let mut rest = self.after.chars();
                self.before.extend(rest.next());
                self.after = rest.as_str().to_owned();
            }
            KeyCode::Home => self.home(),
            KeyCode::End => self.end(),
            _ => {}
        }
        Typed::Text
    }

    fn home(&mut self) {
        self.after = self.text();
        self.before.clear();
    }

    fn end(&mut self) {
        self.before = self.text();
        self.after.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_as_in_a_shell() {
        let mut line = InputLine::holding("one two");
        let ctrl = |character| KeyEvent::new(KeyCode::Char(character), KeyModifiers::CONTROL);
        let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
        line.key(&ctrl('w'));
        line.key(&plain(KeyCode::Char('é')));
        line.key(&plain(KeyCode::Left));
        line.key(&plain(KeyCode::Char('x')));
        assert_eq!(line.parts(), ("one x", "é"));
        line.key(&plain(KeyCode::Delete));
        line.key(&ctrl('a'));
        line.key(&plain(KeyCode::Char('>')));
        assert_eq!(line.text(), ">one x");
        assert_eq!(line.key(&plain(KeyCode::Enter)), Typed::Done);
    }

    #[test]
    fn a_paste_stays_one_line_and_ends_nothing() {
        let mut line = InputLine::default();
        line.paste("a\nb\u{1b}c\n");
        assert_eq!(line.text(), "a b c");
    }
}
