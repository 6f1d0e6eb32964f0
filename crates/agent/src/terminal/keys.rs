//! Keys as the screen knows them, and what they do in an input. The only place that knows crossterm's.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::line_editor::LineEditor;

/// A key, perhaps with Control or Alt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Ctrl(char),
    Alt(char),
    Enter,
    NewLine,
    Tab,
    Esc,
    Backspace,
    DeleteWord,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
}

impl Key {
    /// `None` for keys without a meaning here.
    pub(super) fn of(event: &KeyEvent) -> Option<Key> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        Some(match event.code {
            KeyCode::Char('j') if ctrl => Key::NewLine,
            KeyCode::Char('h') if ctrl => Key::Backspace,
            KeyCode::Char(c) if ctrl => Key::Ctrl(c.to_ascii_lowercase()),
            KeyCode::Char(c) if alt => Key::Alt(c),
            KeyCode::Char(c) => Key::Char(c),
            KeyCode::Enter if alt || shift || ctrl => Key::NewLine,
            KeyCode::Enter => Key::Enter,
            KeyCode::Tab => Key::Tab,
            KeyCode::Esc => Key::Esc,
            KeyCode::Backspace if alt || ctrl => Key::DeleteWord,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Delete => Key::Delete,
            KeyCode::Left if alt || ctrl => Key::WordLeft,
            KeyCode::Right if alt || ctrl => Key::WordRight,
            KeyCode::Left => Key::Left,
            KeyCode::Right => Key::Right,
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::Home => Key::Home,
            KeyCode::End => Key::End,
            _ => return None,
        })
    }

    /// Applies a key that edits; `false` for others.
    pub(super) fn edit(self, input: &mut LineEditor) -> bool {
        match self {
            Key::Char(c) => input.insert(c.encode_utf8(&mut [0; 4])),
            Key::NewLine => input.insert("\n"),
            Key::Backspace => input.backspace(),
            Key::DeleteWord | Key::Ctrl('w') => input.delete_word(),
            Key::Delete => input.delete(),
            Key::Left | Key::Ctrl('b') => input.left(),
            Key::Right | Key::Ctrl('f') => input.right(),
            Key::WordLeft | Key::Alt('b') => input.word_left(),
            Key::WordRight | Key::Alt('f') => input.word_right(),
            Key::Up | Key::Ctrl('p') => input.up(),
            Key::Down | Key::Ctrl('n') => input.down(),
            Key::Home | Key::Ctrl('a') => input.home(),
            Key::End | Key::Ctrl('e') => input.end(),
            Key::Ctrl('u') => input.delete_to_start(),
            Key::Ctrl('k') => input.delete_to_end(),
            Key::Ctrl('y') => input.yank(),
            _ => return false,
        }
        true
    }
}
