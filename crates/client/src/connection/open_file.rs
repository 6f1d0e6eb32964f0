//! Opening a file at a position, in editors that support positions, only lines, only texts to search for, or none of
//! these.

use std::path::Path;

use super::Connection;
use super::error::CallError;
use super::types::{OpenAt, OpenPrecision};

impl Connection {
    /// Opens a file in a tab, and returns how exact the position is. Not every editor supports positions.
    pub fn open_file(
        &self,
        path: &Path,
        target: Option<OpenAt>,
        preview: bool,
    ) -> Result<OpenPrecision, CallError> {
        let dialect = self.inner.session.dialect;
        // The arguments of the tool differ between servers, and only its schema shows them.
        let tools = if dialect.is_hub() { Vec::new() } else { self.tools().unwrap_or_default() };
        let tool = tools.iter().find(|tool| tool.name == "openFile");
        let text = target.filter(|_| !dialect.is_hub()).and_then(|at| found_first_at(path, at));
        let target = target.map(|at| (at, text.as_deref()));
        let (ask, landed) = dialect.open_file(path, target, preview, tool)?;
        let told = self.do_it(&ask)?;
        // The editor holds another, unsaved text.
        let misses = text.is_some() && told.texts().any(|told| told.contains("not found"));
        Ok(if misses { OpenPrecision::File } else { landed })
    }
}

/// The rest of the line after a position, if it does not occur earlier in the file: for editors that search for a text.
fn found_first_at(path: &Path, at: OpenAt) -> Option<String> {
    const LARGEST: u64 = 16 * 1024 * 1024;
    if std::fs::metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let line_start: usize =
        text.split_inclusive('\n').take(usize::try_from(at.line).ok()?).map(str::len).sum();
    let line = text.get(line_start..)?.lines().next()?;
    let mut units = 0;
    let in_line = line.char_indices().find_map(|(byte, character)| {
        let found = (units >= at.character).then_some(byte);
        units += u32::try_from(character.len_utf16()).unwrap_or(2);
        found
    })?;
    let wanted = line.get(in_line..)?;
    (!wanted.is_empty() && text.find(wanted) == Some(line_start + in_line)).then(|| wanted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_by_the_rest_of_its_line_unless_that_is_somewhere_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rs");
        std::fs::write(&path, "fn a() {}\n    aé😀b();\nx\n    aé😀b();\n\n").unwrap();
        let at = |line, character| found_first_at(&path, OpenAt { line, character, end_line: None });
        assert_eq!(at(1, 4).as_deref(), Some("aé😀b();"));
        // A character beyond the basic plane counts twice.
        assert_eq!(at(1, 8).as_deref(), Some("b();"));
        for nowhere in [at(3, 4), at(4, 0), at(9, 0), at(0, 99)] {
            assert_eq!(nowhere, None);
        }
        assert_eq!(found_first_at(&folder.path().join("none"), OpenAt::default()), None);
    }
}
