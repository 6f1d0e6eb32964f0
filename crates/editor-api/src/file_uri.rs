//! `file:` URIs and paths, both ways, byte for byte. Does not touch the file system.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// The `file://` URI of an absolute path. Every byte is percent-encoded, except unreserved characters and `/`.
pub fn of(path: &Path) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            for digit in [byte >> 4, byte & 15] {
                uri.extend(HEX.get(usize::from(digit)).map(|&hex| char::from(hex)));
            }
        }
    }
    uri
}

/// The path that an agent means by a file URI or by a plain path; none for another scheme or host.
///
/// Agents also put `file://` in front of a plain path. So a `%` that does not begin an escape is kept, and `?` and `#`
/// belong to the name: a file has neither query nor fragment.
pub fn to_path(text: &str) -> Option<PathBuf> {
    let Some((scheme, rest)) = text.split_once("://") else { return Some(PathBuf::from(text)) };
    if text.starts_with('/') {
        return Some(PathBuf::from(text));
    }
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/').then(|| PathBuf::from(OsString::from_vec(percent_decoded(path.as_bytes()))))
}

fn percent_decoded(mut bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    while let Some((&first, rest)) = bytes.split_first() {
        let escaped = match rest {
            [high, low, ..] if first == b'%' => hex_value(*high).zip(hex_value(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                decoded.push(high << 4 | low);
                bytes = rest.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push(first);
                bytes = rest;
            }
        }
    }
    decoded
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spaces_unicode_hash_and_percent_are_encoded() {
        assert_eq!(of(Path::new("/w/a b/ü#?%20.rs")), "file:///w/a%20b/%C3%BC%23%3F%2520.rs");
    }

    #[test]
    fn a_plain_path_stays_as_it_is() {
        assert_eq!(to_path("/w/a%20b"), Some(PathBuf::from("/w/a%20b")));
        assert_eq!(to_path("/w/a://b"), Some(PathBuf::from("/w/a://b")));
        assert_eq!(to_path("src/a.rs"), Some(PathBuf::from("src/a.rs")));
    }

    #[test]
    fn a_bare_path_behind_the_scheme_is_understood() {
        assert_eq!(to_path("file:///w/100% sure/#1.txt"), Some(PathBuf::from("/w/100% sure/#1.txt")));
        assert_eq!(to_path("FILE://localhost/w/a%2"), Some(PathBuf::from("/w/a%2")));
    }

    #[test]
    fn other_schemes_and_hosts_are_not_files() {
        assert_eq!(to_path("https://example.org/a"), None);
        assert_eq!(to_path("file://server/share/a"), None);
        assert_eq!(to_path("file://"), None);
    }

    proptest! {
        #[test]
        fn every_absolute_path_survives_the_round_trip(name in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut bytes = b"/".to_vec();
            bytes.extend(name);
            let path = PathBuf::from(OsString::from_vec(bytes));
            prop_assert_eq!(to_path(&of(&path)), Some(path));
        }

        #[test]
        fn any_text_is_taken_or_refused_without_panic(text in ".*") {
            let _ = to_path(&text);
            let _ = to_path(&format!("file:///{text}"));
        }
    }
}
