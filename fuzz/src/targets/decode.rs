//! Bytes of a file are refused, or come back as they were.

use linkspan_review::{Digest, Format, decode};

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = decode(data) else { return };
    assert_eq!(text.encode().as_deref(), Ok(data));
    assert_eq!(text.digest(), Digest::of(data));
    assert_eq!(Format::from_name(text.format.name()), Some(text.format));
    assert!(!text.text.contains('\0'));
}
