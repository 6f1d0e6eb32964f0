//! Whatever an editor answers or says unasked, on any wire: a yes is only what says so and brings a text or was
//! written, and a tool that failed decides nothing.
//!
//! The input: a method, a line break, and JSON.

use linkspan_client::fuzzing::{WIRES, event, read};
use linkspan_client::{Change, EditorEvent};
use serde_json::Value;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (method, json) = text.split_once('\n').unwrap_or((text, "null"));
    let Ok(value) = serde_json::from_str::<Value>(json) else { return };
    let change = Change::new("/w/a.txt", "new\n");
    let failed = value.get("isError") == Some(&Value::Bool(true));
    let words = value.to_string();
    for wire in WIRES {
        if let Some(EditorEvent::Diagnostics { paths }) = event(wire, method, &value) {
            assert!(paths.len() <= words.len());
        }
        let Ok(read) = read(wire, &change, value.clone()) else { continue };
        assert!(!failed, "{wire}: a failure is an answer: {words}");
        if let Ok(decided) = read.decided {
            // An escape can hide any of them.
            let said = ["FILE_SAVED", "DIFF_REJECTED", "accepted", "rejected", "\\u"];
            assert!(said.iter().any(|word| words.contains(word)), "{wire}: {words}");
            assert_eq!(decided.is_accepted(), decided.text.is_some() || decided.written, "{wire}: {words}");
        }
        if let Ok(diagnostics) = read.diagnostics {
            assert!(diagnostics.len() <= words.len());
        }
        drop((read.selection, read.editors, read.folders, read.dirty));
    }
}
