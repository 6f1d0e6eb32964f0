//! A whole new text as one edit of the whole file, for wires that only support ranges.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

/// Larger files are not reviewed on these wires.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The text of a file; empty if it does not exist.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let why = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(why(error)),
        // A pipe in its place would block us.
        Ok(found) if !found.is_file() => return Err(format!("{} is not a file", path.display())),
        Ok(found) if found.len() > LARGEST => {
            return Err(format!("{} has more than {} MiB", path.display(), LARGEST >> 20));
        }
        Ok(_) => {}
    }
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text)).map_err(why)?;
    Ok(text)
}

/// From the first character to the last. Lines and characters count from 0, characters in UTF-16 units.
pub(super) fn edit(old: &str, new: &str) -> Value {
    let (line, character) = end(old);
    json!({
        "range": {
            "start": { "line": 0, "character": 0 },
            "end": { "line": line, "character": character },
        },
        "oldText": old,
        "newText": new,
    })
}

fn end(text: &str) -> (usize, usize) {
    let (mut line, mut character, mut after_return) = (0, 0, false);
    for sign in text.chars() {
        match sign {
            '\n' if after_return => {}
            '\n' | '\r' => (line, character) = (line + 1, 0),
            other => character += other.len_utf16(),
        }
        after_return = sign == '\r';
    }
    (line, character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_whatever_the_lines_end_with() {
        for (text, expected) in [
            ("", (0, 0)),
            ("a", (0, 1)),
            ("a\n", (1, 0)),
            ("a\r\nb\r\n", (2, 0)),
            ("a\rb", (1, 1)),
            ("é\n😀x", (1, 3)),
            ("\n\r\n\r", (3, 0)),
        ] {
            assert_eq!(end(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_empty_and_one_that_is_no_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none")), Ok(String::new()));
        let path = folder.path().join("binary");
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert!(read(&path).unwrap_err().contains("binary"));
        assert!(read(folder.path()).unwrap_err().contains("not a file"));
    }
}
