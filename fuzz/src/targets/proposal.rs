//! Any editing tool with any arguments on any file: refused with a reason, or what lies outside of the edit keeps its
//! bytes.
//!
//! The input: a tool, a line break and its arguments as JSON; three NULs; the file's bytes, if there is a file.

use linkspan_client::proposal::{Edit, FileEdit, proposed};
use linkspan_review::decode;
use serde_json::Value;

use super::encodings::parts;

pub(crate) fn run(data: &[u8]) {
    let mut parts = parts(data);
    let (Some(call), file) = (parts.next(), parts.next()) else { return };
    let Some((tool, arguments)) = str::from_utf8(call).ok().and_then(|call| call.split_once('\n')) else {
        return;
    };
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { return };
    let Ok(FileEdit { edit, .. }) = FileEdit::from_call(tool, &arguments) else { return };
    let proposed = match proposed(&edit, file) {
        Ok(proposed) => proposed,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let base = file.map(|file| decode(file).expect("a file that is not text is refused"));
    assert_eq!(proposed.base(), base.as_ref().map(|base| base.text.as_str()));
    if proposed.is_unchanged() {
        assert_eq!(Some(proposed.bytes()), file);
    }
    let before = proposed.base().unwrap_or_default();
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    match edit {
        Edit::AppendFile { .. } => {
            let kept = file.unwrap_or_default();
            assert!(proposed.bytes().starts_with(kept), "the previous text is gone");
        }
        Edit::EditLines { start_line, end_line, .. } => {
            let (old, new) = (lines(before), proposed.text());
            let kept = old[..(start_line - 1).min(old.len())].concat();
            assert!(new.starts_with(&kept) && new.ends_with(&old[end_line.min(old.len())..].concat()));
        }
        _ => {}
    }
}
