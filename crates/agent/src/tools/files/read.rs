//! `read_file`: a range of lines of a text file, in whatever encoding it has, with line numbers.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use linkspan_review::decode;

use crate::tools::ToolContext;
use crate::tools::answer::Answer;
use crate::tools::arguments::ToolArguments;
use crate::tools::paths::{FileAccess, resolve};
use crate::tools::toolbox::AgentTools;

const LARGEST: u64 = 20 * 1024 * 1024;
const MOST_LINES: usize = 2000;
const LONGEST_LINE: usize = 2000;

pub(super) fn run(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let given = arguments.needed("path");
    let path = resolve(given, FileAccess::Read, &tools.own, context)?;
    let folder = tools.workspace(context).folders;
    if tools.config.deny.denies(&folder, &path) {
        return Err(format!(
            "{given} is kept from agents by the configuration (`deny`); leave it to the user"
        )
        .into());
    }
    let said = |why: String| format!("{given} {why}");
    let unsaved = tools.editor.unsaved_text(&path).map_err(said)?;
    let (text, note) = match unsaved {
        Some(text) => (text, "[With the user's unsaved changes in the editor.]\n"),
        None => (read_text(&path).map_err(said)?, ""),
    };
    let first = arguments.count("start_line").unwrap_or(1).max(1);
    let last = arguments.count("end_line").unwrap_or(usize::MAX);
    Ok(format!("{note}{}", numbered(given, &text, first, last)?))
}

/// The text of a file, or why there is none, as the end of a sentence that begins with its name.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let bytes = read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "does not exist; list_files shows what does".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder; use list_files".to_owned(),
        _ => format!("cannot be read: {error}"),
    })?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LARGEST {
        return Err("is larger than 20 MiB; search it with search_files, or use a command".to_owned());
    }
    let text = decode(&bytes).map_err(|error| format!("is not a text that can be shown: {error}"))?;
    Ok(text.text.into_string())
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A path may be a pipe or a device, where reading could wait or never end.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The lines with their numbers, and what is missing.
fn numbered(name: &str, text: &str, first: usize, last: usize) -> Result<String, String> {
    let count = text.lines().count();
    if text.is_empty() {
        return Ok(format!("{name} is empty."));
    }
    if last < first {
        return Err(format!("end_line {last} is before start_line {first}"));
    }
    if first > count {
        return Err(format!("{name} has {count} lines, so there is no line {first}"));
    }
    let end = last.min(count).min(first.saturating_add(MOST_LINES - 1));
    let mut shown = String::new();
    for (number, line) in (1..).zip(text.lines()).skip(first - 1).take(end - first + 1) {
        match line.char_indices().nth(LONGEST_LINE) {
            Some((cut, _)) => {
                shown += &format!("{number}\t{}… [cut]\n", line.get(..cut).unwrap_or_default());
            }
            None => shown += &format!("{number}\t{line}\n"),
        }
    }
    if end < last.min(count) {
        shown += &format!("[Lines {first} to {end} of {count}; continue with start_line {}.]", end + 1);
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::permissions::PermissionMode;
    use crate::tools::testing::ToolScene;

    #[test]
    fn lines_are_numbered_and_a_range_is_taken() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        scene.write("a.txt", "one\ntwo\r\nthree");
        assert_eq!(scene.ok("read_file", json!({ "path": "a.txt" })), "1\tone\n2\ttwo\n3\tthree\n");
        assert_eq!(
            scene.ok("read_file", json!({ "path": "a.txt", "start_line": 2, "end_line": 2 })),
            "2\ttwo\n"
        );
        assert_eq!(
            scene.ok("read_file", json!({ "path": "a.txt", "start_line": 0, "end_line": 1 })),
            "1\tone\n"
        );
        let error = scene.fails("read_file", json!({ "path": "a.txt", "start_line": 4 }));
        assert_eq!(error, "a.txt has 3 lines, so there is no line 4");
        let error = scene.fails("read_file", json!({ "path": "a.txt", "start_line": 3, "end_line": 2 }));
        assert_eq!(error, "end_line 2 is before start_line 3");
        scene.write("empty", "");
        assert_eq!(scene.ok("read_file", json!({ "path": "empty" })), "empty is empty.");
    }

    #[test]
    fn a_long_file_is_read_in_pieces_and_a_long_line_is_cut() {
        let text = "x\n".repeat(5000) + &"y".repeat(5000);
        let shown = numbered("f", &text, 1, usize::MAX).unwrap();
        assert!(shown.ends_with("[Lines 1 to 2000 of 5001; continue with start_line 2001.]"), "{shown}");
        let shown = numbered("f", &text, 4001, usize::MAX).unwrap();
        assert!(shown.ends_with("… [cut]\n") && shown.len() < 20_000);
    }

    #[test]
    fn what_is_not_text_is_said_to_be_so() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        scene.write("binary", b"\x7fELF\0\0\0\x01\x02");
        assert!(scene.fails("read_file", json!({ "path": "binary" })).starts_with("binary is not a text"));
        assert!(scene.fails("read_file", json!({ "path": "." })).contains("is a folder"));
        assert!(scene.fails("read_file", json!({ "path": "none" })).contains("does not exist"));
        scene.write(
            "utf16",
            [&[0xff, 0xfe][..], &"hä\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()]
                .concat(),
        );
        assert_eq!(scene.ok("read_file", json!({ "path": "utf16" })), "1\thä\n");
        let pipe = scene.path("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
        assert!(scene.fails("read_file", json!({ "path": "pipe" })).contains("not a regular file"));
    }
}
