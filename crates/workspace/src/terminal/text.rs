//! The readable output of a command: text without escape sequences, of which the end is kept.

use std::fmt;

use vte::{Params, Parser, Perform};

const KEPT: usize = 256 * 1024;

/// A longer sequence is assumed to be unterminated; the parser would buffer all of it.
const LONGEST_SEQUENCE: usize = 64 * 1024;

/// Accepts bytes as they arrive, split anywhere.
#[derive(Default)]
pub(super) struct Text {
    parser: Parser,
    /// The beginning of a character whose rest has not arrived yet. The parser would lose the bytes after it.
    partial: Vec<u8>,
    /// Bytes since the parser last produced something.
    unheard: usize,
    end: End,
}

impl Text {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut bytes = [std::mem::take(&mut self.partial).as_slice(), bytes].concat();
        self.partial = bytes.split_off(bytes.len() - begun(&bytes));
        // In parts, so that a large input is not buffered either.
        for part in bytes.chunks(LONGEST_SEQUENCE) {
            self.parser.advance(&mut self.end, part);
            let heard = std::mem::take(&mut self.end.heard);
            self.unheard = if heard { 0 } else { self.unheard + part.len() };
            if self.unheard >= LONGEST_SEQUENCE {
                (self.parser, self.unheard) = (Parser::new(), 0);
            }
        }
        // Cut rarely, so that each byte is moved about once.
        if self.end.kept.len() > 2 * KEPT {
            self.end.cut();
        }
    }

    /// The end of the text, and whether there was more.
    pub(super) fn read(&mut self) -> (String, bool) {
        self.end.cut();
        (self.end.kept.clone(), self.end.truncated)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Text").field("length", &self.end.kept.len()).finish_non_exhaustive()
    }
}

/// The text without escape sequences.
#[derive(Default)]
struct End {
    /// Carriage returns that belong to a line break if one follows.
    returns: usize,
    kept: String,
    truncated: bool,
    /// A character was printed, or a sequence ended.
    heard: bool,
}

impl End {
    fn add(&mut self, character: char) {
        self.kept.extend(std::iter::repeat_n('\r', std::mem::take(&mut self.returns)));
        self.kept.push(character);
    }

    fn cut(&mut self) {
        let start = self.kept.ceil_char_boundary(self.kept.len().saturating_sub(KEPT));
        self.truncated |= start > 0;
        self.kept.drain(..start);
    }
}

impl Perform for End {
    fn print(&mut self, character: char) {
        self.heard = true;
        self.add(character);
    }

    fn execute(&mut self, byte: u8) {
        self.heard = true;
        match byte {
            // The number of carriage returns is capped.
            b'\r' => self.returns = KEPT.min(self.returns + 1),
            b'\n' => {
                self.returns = 0;
                self.add('\n');
            }
            b'\t' => self.add('\t'),
            _ => {}
        }
    }

    /// An image, for example: the parser does not buffer it, however long it is.
    fn put(&mut self, _: u8) {
        self.heard = true;
    }

    fn osc_dispatch(&mut self, _: &[&[u8]], _: bool) {
        self.heard = true;
    }

    fn csi_dispatch(&mut self, _: &Params, _: &[u8], _: bool, _: char) {
        self.heard = true;
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.heard = true;
    }
}

/// How many bytes at the end are an incomplete character.
fn begun(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or([].as_slice(), |chunk| chunk.invalid());
    let may_go_on = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if may_go_on { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(chunks: &[&[u8]]) -> (String, bool) {
        let mut text = Text::default();
        chunks.iter().for_each(|chunk| text.push(chunk));
        text.read()
    }

    #[test]
    fn escape_sequences_are_taken_out_even_when_cut() {
        assert_eq!(read(&[b"\x1b[1;31mred\x1b[0", b"m\r\n\x1b]0;title\x07end"]).0, "red\nend");
    }

    #[test]
    fn line_breaks_are_plain_and_other_returns_stay() {
        assert_eq!(read(&[b"a\r\r", b"\nb\rc\td"]).0, "a\nb\rc\td");
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        assert_eq!(read(&[b"a\xff\xc3", b"(b"]).0, "a\u{fffd}\u{fffd}(b");
    }

    #[test]
    fn of_much_the_end_is_kept() {
        let (text, truncated) = read(&[&b"x".repeat(3 * KEPT), b"end"]);
        assert!(truncated && text.len() == KEPT && text.ends_with("xend"));
        assert!(!read(&[b"little"]).1);
    }

    #[test]
    fn a_sequence_without_an_end_is_given_up() {
        let endless = b"y\n".repeat(LONGEST_SEQUENCE);
        let (text, _) = read(&[b"before\x1b]", &endless, b"after"]);
        assert!(text.starts_with("before") && text.ends_with("y\ny\nafter"), "{}", text.len());
        assert!(text.len() <= endless.len() - LONGEST_SEQUENCE + "before after".len(), "{}", text.len());
        let title = [b"\x1b]0;".as_slice(), &b"t".repeat(LONGEST_SEQUENCE / 2), b"\x07"].concat();
        assert_eq!(read(&[&title, &title, &title, b"end"]).0, "end");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn where_it_is_cut_makes_no_difference(text in "[a-zé😀\r\n\u{1b}\\[m0]{0,60}", cut in 0usize..200) {
            let bytes = text.as_bytes();
            let (one, two) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(read(&[one, two]), read(&[bytes]));
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            read(&[&bytes]);
        }
    }
}
