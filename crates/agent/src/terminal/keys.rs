//! Keys as the screen knows them, what they do in an input, and reading them from the bytes that a terminal sends. Pure.

use super::line_editor::LineEditor;

/// A key, perhaps with Control or Alt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPress {
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

impl KeyPress {
    /// Applies a key that edits; `false` for others.
    pub(super) fn edit(self, input: &mut LineEditor) -> bool {
        match self {
            KeyPress::Char(c) => input.insert(c.encode_utf8(&mut [0; 4])),
            KeyPress::NewLine => input.insert("\n"),
            KeyPress::Backspace => input.backspace(),
            KeyPress::DeleteWord | KeyPress::Ctrl('w') => input.delete_word(),
            KeyPress::Delete => input.delete(),
            KeyPress::Left | KeyPress::Ctrl('b') => input.left(),
            KeyPress::Right | KeyPress::Ctrl('f') => input.right(),
            KeyPress::WordLeft | KeyPress::Alt('b') => input.word_left(),
            KeyPress::WordRight | KeyPress::Alt('f') => input.word_right(),
            KeyPress::Up | KeyPress::Ctrl('p') => input.up(),
            KeyPress::Down | KeyPress::Ctrl('n') => input.down(),
            KeyPress::Home | KeyPress::Ctrl('a') => input.home(),
            KeyPress::End | KeyPress::Ctrl('e') => input.end(),
            KeyPress::Ctrl('u') => input.delete_to_start(),
            KeyPress::Ctrl('k') => input.delete_to_end(),
            KeyPress::Ctrl('y') => input.yank(),
            _ => return false,
        }
        true
    }
}

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Key(KeyPress),
    Paste(String),
}

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// A longer sequence is not one.
const LONGEST_SEQUENCE: usize = 64;
/// What is pasted beyond is dropped.
const LONGEST_PASTE: usize = 1024 * 1024;

/// Reads keys from bytes, which may be cut anywhere.
#[derive(Debug, Default)]
pub(super) struct KeyReader {
    rest: Vec<u8>,
    paste: Option<Vec<u8>>,
}

/// How much of the bytes was a key.
enum Step {
    Key(KeyPress, usize),
    /// Without a meaning here.
    Skip(usize),
    PasteBegins(usize),
    /// More bytes are needed to know.
    More,
}

impl KeyReader {
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Typed> {
        self.rest.extend_from_slice(bytes);
        let mut typed = Vec::new();
        loop {
            if self.paste.is_some() {
                match self.pasted() {
                    Some(text) => typed.push(Typed::Paste(text)),
                    None => return typed,
                }
                continue;
            }
            let used = match step(&self.rest) {
                Step::Key(key, used) => {
                    typed.push(Typed::Key(key));
                    used
                }
                Step::Skip(used) => used,
                Step::PasteBegins(used) => {
                    self.paste = Some(Vec::new());
                    used
                }
                Step::More => return typed,
            };
            self.rest.drain(..used.min(self.rest.len()));
        }
    }

    /// The whole paste, once its end is here.
    fn pasted(&mut self) -> Option<String> {
        let paste = self.paste.as_mut()?;
        let end = self.rest.windows(PASTE_END.len()).position(|window| window == PASTE_END);
        // The end may be cut.
        let keep = if end.is_some() { 0 } else { PASTE_END.len() - 1 };
        let content = end.unwrap_or(self.rest.len().saturating_sub(keep));
        let room = LONGEST_PASTE.saturating_sub(paste.len());
        paste.extend(self.rest.drain(..content).take(room));
        end?;
        self.rest.drain(..PASTE_END.len());
        let paste = self.paste.take()?;
        Some(String::from_utf8_lossy(&paste).into_owned())
    }
}

fn step(bytes: &[u8]) -> Step {
    let key = |key| Step::Key(key, 1);
    match bytes {
        [] => Step::More,
        // Terminals send a sequence at once, so a lone byte is the key itself.
        [ESC] => key(KeyPress::Esc),
        [ESC, b'[', rest @ ..] => sequence(rest),
        [ESC, b'O', letter, ..] => named(*letter, 1).map_or(Step::Skip(3), |key| Step::Key(key, 3)),
        [ESC, b'O'] => Step::More,
        [ESC, ESC, ..] => key(KeyPress::Esc),
        [ESC, b'\r' | b'\n', ..] => Step::Key(KeyPress::NewLine, 2),
        [ESC, 0x7f | 0x08, ..] => Step::Key(KeyPress::DeleteWord, 2),
        [ESC, rest @ ..] => match character(rest) {
            Some(Ok((c, used))) => Step::Key(KeyPress::Alt(c), used + 1),
            Some(Err(())) => Step::Skip(2),
            None => Step::More,
        },
        [b'\r', ..] => key(KeyPress::Enter),
        [b'\n', ..] => key(KeyPress::NewLine),
        [b'\t', ..] => key(KeyPress::Tab),
        [0x7f | 0x08, ..] => key(KeyPress::Backspace),
        [control @ 1..=26, ..] => key(KeyPress::Ctrl(char::from(b'a' + control - 1))),
        [0..=31, ..] => Step::Skip(1),
        _ => match character(bytes) {
            Some(Ok((c, used))) => Step::Key(KeyPress::Char(c), used),
            Some(Err(())) => Step::Skip(1),
            None => Step::More,
        },
    }
}

/// What follows `ESC [`.
fn sequence(rest: &[u8]) -> Step {
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return if rest.len() > LONGEST_SEQUENCE { Step::Skip(rest.len() + 2) } else { Step::More };
    };
    let used = end + 3;
    let parameters = rest.get(..end).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
    let mut numbers = parameters.split(';').map(|text| text.parse::<u32>().unwrap_or(1));
    let (number, modifier) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
    let found = match (rest.get(end).copied().unwrap_or_default(), number) {
        (b'~', 200) => return Step::PasteBegins(used),
        (b'~', 1 | 7) => Some(KeyPress::Home),
        (b'~', 4 | 8) => Some(KeyPress::End),
        (b'~', 3) => Some(KeyPress::Delete),
        // Enter with Shift, Alt or Control, on terminals that tell it apart.
        (b'u', 13) if modifier > 1 => Some(KeyPress::NewLine),
        (b'u', 13) => Some(KeyPress::Enter),
        (b'u', 27) => Some(KeyPress::Esc),
        (b'~' | b'u', _) => None,
        (letter, _) => named(letter, modifier),
    };
    found.map_or(Step::Skip(used), |key| Step::Key(key, used))
}

/// Keys with a letter; `modifier` is one more than the sum of Shift 1, Alt 2 and Control 4.
fn named(letter: u8, modifier: u32) -> Option<KeyPress> {
    let by_word = modifier.saturating_sub(1) & 0b110 != 0;
    Some(match letter {
        b'A' => KeyPress::Up,
        b'B' => KeyPress::Down,
        b'C' if by_word => KeyPress::WordRight,
        b'D' if by_word => KeyPress::WordLeft,
        b'C' => KeyPress::Right,
        b'D' => KeyPress::Left,
        b'H' => KeyPress::Home,
        b'F' => KeyPress::End,
        _ => return None,
    })
}

/// The first character; `None` if it is cut.
fn character(bytes: &[u8]) -> Option<Result<(char, usize), ()>> {
    let length = match bytes.first()? {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some(Err(())),
    };
    let Some(whole) = bytes.get(..length) else {
        // Only what can still become a character is waited for.
        let can_go_on = bytes.iter().skip(1).all(|byte| byte & 0xc0 == 0x80);
        return if can_go_on { None } else { Some(Err(())) };
    };
    let c = std::str::from_utf8(whole).ok().and_then(|text| text.chars().next());
    Some(c.map(|c| (c, length)).ok_or(()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &str) -> Vec<Typed> {
        KeyReader::default().read(bytes.as_bytes())
    }

    #[test]
    fn keys_are_read_as_terminals_send_them() {
        for (bytes, key) in [
            ("a", KeyPress::Char('a')),
            ("é", KeyPress::Char('é')),
            ("\r", KeyPress::Enter),
            ("\n", KeyPress::NewLine),
            ("\u{1b}\r", KeyPress::NewLine),
            ("\u{1b}[13;2u", KeyPress::NewLine),
            ("\u{1b}", KeyPress::Esc),
            ("\u{3}", KeyPress::Ctrl('c')),
            ("\u{7f}", KeyPress::Backspace),
            ("\u{1b}\u{7f}", KeyPress::DeleteWord),
            ("\u{1b}b", KeyPress::Alt('b')),
            ("\u{1b}[A", KeyPress::Up),
            ("\u{1b}OA", KeyPress::Up),
            ("\u{1b}[1;5C", KeyPress::WordRight),
            ("\u{1b}[1;2C", KeyPress::Right),
            ("\u{1b}[3~", KeyPress::Delete),
            ("\u{1b}[H", KeyPress::Home),
            ("\u{1b}[4~", KeyPress::End),
        ] {
            assert_eq!(keys(bytes), [Typed::Key(key)], "{bytes:?}");
        }
        assert_eq!(keys("\u{1b}[99;9~\u{1b}[?1;2c\u{0}x"), [Typed::Key(KeyPress::Char('x'))]);
        assert_eq!(keys("\u{1b}\u{1b}[A"), [Typed::Key(KeyPress::Esc), Typed::Key(KeyPress::Up)]);
    }

    #[test]
    fn a_paste_is_one_text_whatever_it_holds() {
        let typed = keys("\u{1b}[200~one\r\u{1b}[A\u{3}\u{1b}[201~x");
        assert_eq!(typed, [Typed::Paste("one\r\u{1b}[A\u{3}".into()), Typed::Key(KeyPress::Char('x'))]);
        let long = format!("\u{1b}[200~{}\u{1b}[201~y", "x".repeat(LONGEST_PASTE + 100));
        let [Typed::Paste(text), Typed::Key(KeyPress::Char('y'))] = &keys(&long)[..] else {
            panic!("no paste")
        };
        assert_eq!(text.len(), LONGEST_PASTE);
    }

    #[test]
    fn a_sequence_without_an_end_does_not_swallow_everything() {
        let endless = format!("\u{1b}[{}", "1;".repeat(100));
        let mut reader = KeyReader::default();
        assert!(reader.read(endless.as_bytes()).is_empty());
        assert_eq!(reader.read(b"x"), [Typed::Key(KeyPress::Char('x'))]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_a_paste_is_cut(text in "[a\u{1b}\\[2~é]{0,20}", at in 0usize..60) {
            let whole = format!("\u{1b}[200~{text}\u{1b}[201~");
            let (first, rest) = whole.as_bytes().split_at(at.clamp(2, whole.len()));
            let mut reader = KeyReader::default();
            let mut typed = reader.read(first);
            typed.extend(reader.read(rest));
            prop_assert_eq!(typed, keys(&whole));
        }

        #[test]
        fn any_bytes_are_survived(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..8)) {
            let mut reader = KeyReader::default();
            for piece in pieces {
                reader.read(&piece);
                prop_assert!(reader.rest.len() <= LONGEST_SEQUENCE + 24, "{:?}", reader.rest);
            }
        }
    }
}
