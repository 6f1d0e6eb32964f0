//! Decoded bytes are encoded back exactly, or refused: random ones, and the files of `testdata/nasty`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use linkspan_review::{Format, TextError, decode};
use proptest::prelude::*;

use crate::generate;

fn nasty() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nasty")
}

/// The table of the folder's README: file → what is expected of it.
fn expectations() -> BTreeMap<String, String> {
    let readme = fs::read_to_string(nasty().join("README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|').map(|cell| cell.trim().trim_matches('`'));
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    });
    rows.collect()
}

fn outcome(bytes: &[u8]) -> String {
    match decode(bytes) {
        Ok(text) => {
            assert!(text.encode().as_deref() == Ok(bytes), "does not come back");
            assert_eq!(Format::from_name(text.format.name()), Some(text.format));
            text.format.name().to_owned()
        }
        Err(TextError::Binary { .. }) => "refused: Binary".to_owned(),
        Err(TextError::Utf32) => "refused: Utf32".to_owned(),
        Err(TextError::OddLength { .. }) => "refused: OddLength".to_owned(),
        Err(TextError::LoneSurrogate { .. }) => "refused: LoneSurrogate".to_owned(),
        Err(TextError::Undecodable { .. }) => "refused: Undecodable".to_owned(),
        Err(error @ TextError::Unencodable { .. }) => panic!("{error}"),
    }
}

#[test]
fn every_nasty_file_round_trips_exactly_or_is_refused_by_name() {
    let found: BTreeMap<String, String> = fs::read_dir(nasty())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .filter(|(name, _)| name != "README.md")
        .map(|(name, path)| (name, outcome(&fs::read(path).unwrap())))
        .collect();
    assert_eq!(found, expectations());
}

proptest! {
    #![proptest_config(generate::cases())]

    #[test]
    fn any_bytes_come_back_exactly_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        outcome(&bytes);
    }

    #[test]
    fn bytes_of_a_legacy_kind_come_back_exactly_or_are_refused(
        bytes in prop::collection::vec(prop_oneof![0x20..0x7F_u8, 0xA0..=0xFF_u8, Just(b'\n')], 0..64),
        mark in prop::sample::select(vec![&b""[..], b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF", b"\xFF\xFE\0\0"]),
    ) {
        outcome(&[mark, bytes.as_slice()].concat());
    }

    #[test]
    fn any_text_survives_every_unicode_format(text in "[^\\x00]{0,40}") {
        for name in ["UTF-8 with BOM", "UTF-16LE", "UTF-16BE"] {
            let bytes = Format::from_name(name).unwrap().encode(&text).unwrap();
            let back = decode(&bytes).unwrap();
            prop_assert_eq!((back.format.name(), back.text.as_str()), (name, text.as_str()));
        }
    }
}
