//! Keys as the screen knows them, what they do in an input, and reading them from the bytes that a terminal sends. Pure.

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

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Key(Key),
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
    Key(Key, usize),
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
        [ESC] => key(Key::Esc),
        [ESC, b'[', rest @ ..] => sequence(rest),
        [ESC, b'O', letter, ..] => named(*letter, 1).map_or(Step::Skip(3), |key| Step::Key(key, 3)),
        [ESC, b'O'] => Step::More,
        [ESC, ESC, ..] => key(Key::Esc),
        [ESC, b'\r' | b'\n', ..] => Step::Key(Key::NewLine, 2),
        [ESC, 0x7f | 0x08, ..] => Step::Key(Key::DeleteWord, 2),
        [ESC, rest @ ..] => match character(rest) {
            Some(Ok((c, used))) => Step::Key(Key::Alt(c), used + 1),
            Some(Err(())) => Step::Skip(2),
            None => Step::More,
        },
        [b'\r', ..] => key(Key::Enter),
        [b'\n', ..] => key(Key::NewLine),
        [b'\t', ..] => key(Key::Tab),
        [0x7f | 0x08, ..] => key(Key::Backspace),
        [control @ 1..=26, ..] => key(Key::Ctrl(char::from(b'a' + control - 1))),
        [0..=31, ..] => Step::Skip(1),
        _ => match character(bytes) {
            Some(Ok((c, used))) => Step::Key(Key::Char(c), used),
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
        (b'~', 1 | 7) => Some(Key::Home),
        (b'~', 4 | 8) => Some(Key::End),
        (b'~', 3) => Some(Key::Delete),
        // Enter with Shift, Alt or Control, on terminals that tell it apart.
        (b'u', 13) if modifier > 1 => Some(Key::NewLine),
        (b'u', 13) => Some(Key::Enter),
        (b'u', 27) => Some(Key::Esc),
        (b'~' | b'u', _) => None,
        (letter, _) => named(letter, modifier),
    };
    found.map_or(Step::Skip(used), |key| Step::Key(key, used))
}

/// Keys with a letter; `modifier` is one more than the sum of Shift 1, Alt 2 and Control 4.
fn named(letter: u8, modifier: u32) -> Option<Key> {
    let by_word = modifier.saturating_sub(1) & 0b110 != 0;
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' if by_word => Key::WordRight,
        b'D' if by_word => Key::WordLeft,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
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
            ("a", Key::Char('a')),
            ("é", Key::Char('é')),
            ("\r", Key::Enter),
            ("\n", Key::NewLine),
            ("\u{1b}\r", Key::NewLine),
            ("\u{1b}[13;2u", Key::NewLine),
            ("\u{1b}", Key::Esc),
            ("\u{3}", Key::Ctrl('c')),
            ("\u{7f}", Key::Backspace),
            ("\u{1b}\u{7f}", Key::DeleteWord),
            ("\u{1b}b", Key::Alt('b')),
            ("\u{1b}[A", Key::Up),
            ("\u{1b}OA", Key::Up),
            ("\u{1b}[1;5C", Key::WordRight),
            ("\u{1b}[1;2C", Key::Right),
            ("\u{1b}[3~", Key::Delete),
            ("\u{1b}[H", Key::Home),
            ("\u{1b}[4~", Key::End),
        ] {
            assert_eq!(keys(bytes), [Typed::Key(key)], "{bytes:?}");
        }
        assert_eq!(keys("\u{1b}[99;9~\u{1b}[?1;2c\u{0}x"), [Typed::Key(Key::Char('x'))]);
        assert_eq!(keys("\u{1b}\u{1b}[A"), [Typed::Key(Key::Esc), Typed::Key(Key::Up)]);
    }

    #[test]
    fn a_paste_is_one_text_whatever_it_holds() {
        let typed = keys("\u{1b}[200~one\r\u{1b}[A\u{3}\u{1b}[201~x");
        assert_eq!(typed, [Typed::Paste("one\r\u{1b}[A\u{3}".into()), Typed::Key(Key::Char('x'))]);
        let long = format!("\u{1b}[200~{}\u{1b}[201~y", "x".repeat(LONGEST_PASTE + 100));
        let [Typed::Paste(text), Typed::Key(Key::Char('y'))] = &keys(&long)[..] else { panic!("no paste") };
        assert_eq!(text.len(), LONGEST_PASTE);
    }

    #[test]
    fn a_sequence_without_an_end_does_not_swallow_everything() {
        let endless = format!("\u{1b}[{}", "1;".repeat(100));
        let mut reader = KeyReader::default();
        assert!(reader.read(endless.as_bytes()).is_empty());
        assert_eq!(reader.read(b"x"), [Typed::Key(Key::Char('x'))]);
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
