//! Decodes bytes to text without loss: detects a file's format, and refuses content that would not be written back
//! exactly.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use crate::digest::Digest;
use crate::format::Format;
use crate::lines::LineNumber;
use crate::shared::{SharedBytes, SharedText};

/// A decoded file: the text without its BOM, with exactly the line endings of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    pub format: Format,
    pub text: SharedText,
}

/// Why bytes cannot be decoded, or a text cannot be encoded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextError {
    #[error("the file is binary (NUL at byte {offset}); only text can be reviewed")]
    Binary { offset: usize },
    #[error("the file is UTF-32, which is not supported; convert it to UTF-8 first")]
    Utf32,
    #[error("the file is marked as {encoding} but has an odd number of bytes; repair it first")]
    OddLength { encoding: &'static str },
    #[error(
        "the file is marked as {encoding} but has half a surrogate pair at byte {offset}; repair it first"
    )]
    LoneSurrogate { encoding: &'static str, offset: usize },
    #[error(
        "the file is not UTF-8 (first invalid byte at {offset}) and no other encoding reproduces its bytes \
         exactly; repair it or convert it to UTF-8 first"
    )]
    Undecodable { offset: usize },
    #[error(
        "line {line} has the character {character:?}, which the file's encoding {encoding} cannot express; \
         leave it out or convert the file to UTF-8 first"
    )]
    Unencodable { character: char, line: LineNumber, encoding: &'static str },
}

impl Text {
    pub fn utf8(text: impl Into<SharedText>) -> Text {
        Text { format: Format::UTF8, text: text.into() }
    }

    pub fn encode(&self) -> Result<SharedBytes, TextError> {
        self.format.encode_shared(&self.text)
    }

    /// The digest of the encoded bytes. A text that its format cannot express has a digest that no file has.
    pub fn digest(&self) -> Digest {
        match self.encode() {
            Ok(bytes) => bytes.digest(),
            Err(_) => Digest::of_parts(&[self.format.name().as_bytes(), self.text.as_bytes()]),
        }
    }
}

/// Decodes a file's bytes; encoding the result gives the same bytes.
pub fn decode(bytes: &[u8]) -> Result<Text, TextError> {
    decode_owned(bytes.to_vec())
}

/// Like [`decode`], without a copy if the file is UTF-8.
pub fn decode_owned(bytes: Vec<u8>) -> Result<Text, TextError> {
    if bytes.starts_with(b"\xFF\xFE\0\0") || bytes.starts_with(b"\0\0\xFE\xFF") {
        return Err(TextError::Utf32);
    }
    for (format, unit) in
        [(Format::UTF16_LE, u16::from_le_bytes as fn([u8; 2]) -> u16), (Format::UTF16_BE, u16::from_be_bytes)]
    {
        if let Some(body) = bytes.strip_prefix(format.bom()) {
            return decode_utf16(body, format, unit);
        }
    }
    // `contains` is many times as fast as `position`.
    if bytes.contains(&0)
        && let Some(offset) = bytes.iter().position(|byte| *byte == 0)
    {
        return Err(TextError::Binary { offset });
    }
    let format = if bytes.starts_with(Format::UTF8_BOM.bom()) { Format::UTF8_BOM } else { Format::UTF8 };
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            // The byte order mark is one character.
            text.drain(..format.bom().len());
            Ok(Text { format, text: text.into() })
        }
        Err(error) => {
            let undecodable = TextError::Undecodable { offset: error.utf8_error().valid_up_to() };
            if format.has_bom() {
                Err(undecodable)
            } else {
                decode_legacy(error.as_bytes()).ok_or(undecodable)
            }
        }
    }
}

fn decode_utf16(body: &[u8], format: Format, unit: fn([u8; 2]) -> u16) -> Result<Text, TextError> {
    let encoding = format.name();
    let (pairs, rest) = body.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(TextError::OddLength { encoding });
    }
    let mut text = String::with_capacity(body.len());
    let mut offset = format.bom().len();
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match character {
            Ok('\0') => return Err(TextError::Binary { offset }),
            Ok(character) => {
                text.push(character);
                offset += 2 * character.len_utf16();
            }
            Err(_) => return Err(TextError::LoneSurrogate { encoding, offset }),
        }
    }
    Ok(Text { format, text: text.into() })
}

/// Bytes that are not UTF-8 and have no byte order mark: the detector's guess, if it decodes every byte.
fn decode_legacy(bytes: &[u8]) -> Option<Text> {
    if is_broken_utf8(bytes) {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let format = Format::legacy(encoding)?;
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    // Text files do not contain these: a sign of a binary file or of a wrong guess.
    if text
        .chars()
        .any(|character| character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\x0C'))
    {
        return None;
    }
    let text = Text { format, text: text.into_owned().into() };
    text.encode().is_ok_and(|encoded| *encoded == *bytes).then_some(text)
}

/// Mostly UTF-8 with some damage. A legacy encoding would reproduce its bytes too, but as other characters than the
/// agent read, so that an edit would damage the rest.
fn is_broken_utf8(bytes: &[u8]) -> bool {
    let (mut characters, mut wrong) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    characters > wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], format: &str, text: &str) {
        let decoded = decode(bytes).unwrap();
        assert_eq!((decoded.format.name(), &*decoded.text), (format, text));
        assert_eq!(*decoded.encode().unwrap(), *bytes);
        assert_eq!(decoded.digest(), Digest::of(bytes));
    }

    #[test]
    fn a_byte_order_mark_is_format_and_not_text() {
        check(b"a\n", "UTF-8", "a\n");
        check(b"\xEF\xBB\xBFa\n", "UTF-8 with BOM", "a\n");
        check(b"\xEF\xBB\xBF", "UTF-8 with BOM", "");
        check(b"\xEF\xBB\xBF\xEF\xBB\xBFa", "UTF-8 with BOM", "\u{FEFF}a");
        check(b"\xFF\xFEa\0\n\0", "UTF-16LE", "a\n");
        check(b"\xFE\xFF\0a\0\n", "UTF-16BE", "a\n");
        check(b"", "UTF-8", "");
    }

    #[test]
    fn a_legacy_text_is_decoded_in_the_detected_encoding() {
        check(b"Stra\xDFe nach K\xF6ln, sch\xF6n\r\n", "windows-1252", "Straße nach Köln, schön\r\n");
        let russian = b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEA\xE0\xEA \xE4\xE5\xEB\xE0?\n";
        check(russian, "windows-1251", "Привет, как дела?\n");
    }

    #[test]
    fn each_kind_of_undecodable_content_has_its_own_error() {
        let refused = |bytes: &[u8], error: TextError| assert_eq!(decode(bytes), Err(error));
        refused(b"a\0b", TextError::Binary { offset: 1 });
        refused(b"\xEF\xBB\xBFa\0", TextError::Binary { offset: 4 });
        refused(b"\xFF\xFEa\0\0\0", TextError::Binary { offset: 4 });
        refused(b"\xFF\xFE\0\0a\0\0\0", TextError::Utf32);
        refused(b"\0\0\xFE\xFF\0\0\0a", TextError::Utf32);
        refused(b"\xFF\xFEa", TextError::OddLength { encoding: "UTF-16LE" });
        refused(b"\xFE\xFF\0a\xD8\0\0b", TextError::LoneSurrogate { encoding: "UTF-16BE", offset: 4 });
        refused(b"\xEF\xBB\xBFab\xFF", TextError::Undecodable { offset: 5 });
        refused(b"ab\xE9\x1B[0m", TextError::Undecodable { offset: 2 });
    }

    #[test]
    fn damaged_utf8_is_not_decoded_as_a_legacy_text() {
        let damaged = "né à Orléans, été".bytes().chain(*b" \xE9\n").collect::<Vec<_>>();
        assert_eq!(decode(&damaged), Err(TextError::Undecodable { offset: damaged.len() - 2 }));
    }

    #[test]
    fn a_text_its_format_cannot_express_has_the_digest_of_no_file() {
        let format = Format::from_name("windows-1252").unwrap();
        let text = Text { format, text: "я".into() };
        assert_ne!(text.digest(), Text::utf8("я").digest());
    }
}
