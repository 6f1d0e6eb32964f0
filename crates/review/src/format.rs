//! How a file's bytes map to text: the encodings and byte order marks that are written back exactly. Detecting a file's
//! format is not done here, but in `text`.

use std::borrow::Cow;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, EncoderResult, Encoding, GB18030, GBK, SHIFT_JIS, X_USER_DEFINED};

use crate::lines::LineNumber;
use crate::shared::{SharedBytes, SharedText};
use crate::text::TextError;

/// A byte order mark as a character of a text.
pub(crate) const MARK: char = '\u{feff}';

/// How a file's bytes map to text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format(FormatKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FormatKind {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
    /// An encoding that [`Format::legacy`] accepts.
    Legacy(&'static Encoding),
}

impl Format {
    pub const UTF8: Format = Format(FormatKind::Utf8);
    pub(crate) const UTF8_BOM: Format = Format(FormatKind::Utf8Bom);
    pub(crate) const UTF16_LE: Format = Format(FormatKind::Utf16Le);
    pub(crate) const UTF16_BE: Format = Format(FormatKind::Utf16Be);

    /// Encodings that preserve ASCII and are stateless, so that each character's bytes are the same everywhere.
    pub(crate) fn legacy(encoding: &'static Encoding) -> Option<Format> {
        let stateless = encoding.is_single_byte() && encoding != X_USER_DEFINED
            || [BIG5, EUC_JP, EUC_KR, GB18030, GBK, SHIFT_JIS].contains(&encoding);
        stateless.then_some(Format(FormatKind::Legacy(encoding)))
    }

    pub fn name(&self) -> &'static str {
        match self.0 {
            FormatKind::Utf8 => "UTF-8",
            FormatKind::Utf8Bom => "UTF-8 with BOM",
            FormatKind::Utf16Le => "UTF-16LE",
            FormatKind::Utf16Be => "UTF-16BE",
            FormatKind::Legacy(encoding) => encoding.name(),
        }
    }

    /// The format that has exactly this [`name`](Format::name).
    pub fn from_name(name: &str) -> Option<Format> {
        let unicode = [Format::UTF8, Format::UTF8_BOM, Format::UTF16_LE, Format::UTF16_BE];
        unicode
            .into_iter()
            .chain(Encoding::for_label(name.as_bytes()).and_then(Format::legacy))
            .find(|format| format.name() == name)
    }

    /// Whether the file starts with a byte order mark, which is not part of its text.
    pub fn has_bom(&self) -> bool {
        !self.bom().is_empty()
    }

    pub(crate) fn bom(&self) -> &'static [u8] {
        match self.0 {
            FormatKind::Utf8 | FormatKind::Legacy(_) => b"",
            FormatKind::Utf8Bom => b"\xEF\xBB\xBF",
            FormatKind::Utf16Le => b"\xFF\xFE",
            FormatKind::Utf16Be => b"\xFE\xFF",
        }
    }

    /// Like [`Format::encode`], without a copy if the bytes are those of the text.
    pub fn encode_shared(&self, text: &SharedText) -> Result<SharedBytes, TextError> {
        match self.0 {
            FormatKind::Utf8 => Ok(text.clone().into()),
            _ => self.encode(text).map(SharedBytes::from),
        }
    }

    /// The bytes of a file in this format with this text, including the byte order mark.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, TextError> {
        let mut bytes = self.bom().to_vec();
        match self.0 {
            FormatKind::Utf8 | FormatKind::Utf8Bom => bytes.extend_from_slice(text.as_bytes()),
            FormatKind::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            FormatKind::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            FormatKind::Legacy(encoding) => bytes = encode_legacy(encoding, text)?,
        }
        Ok(bytes)
    }
}

/// Refuses characters that do not survive the round trip: some encoders write `¥` as `\`, or U+FFFD as a character.
fn encode_legacy(encoding: &'static Encoding, text: &str) -> Result<Vec<u8>, TextError> {
    let refuse = |(at, character): (usize, char)| TextError::Unencodable {
        character,
        line: line_of(text, at),
        encoding: encoding.name(),
    };
    if let Some(found) = text.char_indices().find(|(_, character)| *character == char::REPLACEMENT_CHARACTER)
    {
        return Err(refuse(found));
    }
    let mut encoder = encoding.new_encoder();
    let capacity = encoder.max_buffer_length_from_utf8_without_replacement(text.len()).unwrap_or(text.len());
    let mut bytes = Vec::with_capacity(capacity);
    let mut rest = text;
    loop {
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        match result {
            EncoderResult::InputEmpty => break,
            EncoderResult::Unmappable(character) => {
                let at = text.len() - rest.len() + read - character.len_utf8();
                return Err(refuse((at, character)));
            }
            EncoderResult::OutputFull => {
                rest = rest.get(read..).unwrap_or_default();
                bytes.reserve(rest.len() * 2 + 16);
            }
        }
    }
    let back =
        encoding.decode_without_bom_handling_and_without_replacement(&bytes).unwrap_or(Cow::Borrowed(""));
    let mut back = back.chars();
    match text.char_indices().find(|(_, character)| back.next() != Some(*character)) {
        Some(found) => Err(refuse(found)),
        None => Ok(bytes),
    }
}

fn line_of(text: &str, at: usize) -> LineNumber {
    let before = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
    LineNumber(u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str) -> Format {
        Format::from_name(name).unwrap()
    }

    #[test]
    fn every_name_maps_back_to_its_format() {
        for name in [
            "UTF-8",
            "UTF-8 with BOM",
            "UTF-16LE",
            "UTF-16BE",
            "windows-1252",
            "windows-1251",
            "KOI8-U",
            "Shift_JIS",
            "GBK",
            "ISO-8859-2",
        ] {
            assert_eq!(format(name).name(), name);
        }
    }

    #[test]
    fn a_label_that_is_not_a_name_and_a_stateful_encoding_are_unknown() {
        for name in ["latin1", "utf8", "ISO-2022-JP", "replacement", "x-user-defined", "UTF-32", ""] {
            assert_eq!(Format::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_character_the_encoding_lacks_is_refused_with_its_line() {
        let refused = |name: &'static str, text: &str, character: char, line: u32| {
            let error = TextError::Unencodable { character, line: LineNumber(line), encoding: name };
            assert_eq!(format(name).encode(text), Err(error));
        };
        refused("windows-1252", "é\nя\n", 'я', 2);
        refused("windows-1251", "я 😀", '😀', 1);
        refused("windows-1252", "\n\n\u{FFFD}", '\u{FFFD}', 3);
        refused("gb18030", "中\u{FFFD}", '\u{FFFD}', 1);
    }

    #[test]
    fn a_character_that_would_be_read_back_as_another_is_refused() {
        let error = TextError::Unencodable { character: '¥', line: LineNumber(1), encoding: "Shift_JIS" };
        assert_eq!(format("Shift_JIS").encode("価格 ¥100"), Err(error));
    }

    #[test]
    fn utf16_is_written_in_its_own_byte_order_with_its_mark() {
        assert_eq!(format("UTF-16LE").encode("a😀").unwrap(), b"\xFF\xFEa\0\x3D\xD8\x00\xDE");
        assert_eq!(format("UTF-16BE").encode("a😀").unwrap(), b"\xFE\xFF\0a\xD8\x3D\xDE\x00");
    }
}
