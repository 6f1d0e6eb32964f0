//! Reads a patch. As lenient as Codex: spaces around the markers, and a here-document around the whole.

use super::{PatchChunk, PatchLine};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ENVIRONMENT: &str = "*** Environment ID: ";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hooks) struct Patch {
    pub(in crate::hooks) environment: Option<String>,
    /// At least one.
    pub(in crate::hooks) files: Vec<FileOperation>,
}

/// Paths as the patch spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hooks) enum FileOperation {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, moved_to: Option<String>, chunks: Vec<PatchChunk> },
}

impl FileOperation {
    pub(in crate::hooks) fn path(&self) -> &str {
        match self {
            FileOperation::Add { path, .. }
            | FileOperation::Delete { path }
            | FileOperation::Update { path, .. } => path,
        }
    }
}

pub(in crate::hooks) fn parse(patch: &str) -> Result<Patch, String> {
    let mut lines: Vec<&str> =
        patch.trim().lines().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    if let [first, inner @ .., last] = &*lines
        && ["<<EOF", "<<'EOF'", "<<\"EOF\""].contains(first)
        && last.ends_with("EOF")
    {
        lines = inner.to_vec();
    }
    let body = match &*lines {
        [first, body @ .., last] if first.trim() == BEGIN && last.trim() == END => body,
        [first, ..] if first.trim() == BEGIN => return Err(format!("its last line is not `{END}`")),
        _ => return Err(format!("its first line is not `{BEGIN}`")),
    };
    let mut patch = Patch { environment: None, files: Vec::new() };
    for (at, line) in body.iter().enumerate() {
        read_line(&mut patch, line).map_err(|problem| format!("line {}: {problem}", at + 2))?;
    }
    for file in &patch.files {
        check_complete(file)?;
    }
    if patch.files.is_empty() {
        return Err("it names no file".to_owned());
    }
    Ok(patch)
}

fn read_line(patch: &mut Patch, line: &str) -> Result<(), String> {
    // In an update, spaces before a marker make it a common line.
    let is_update = matches!(patch.files.last(), Some(FileOperation::Update { .. }));
    let marker = if is_update { line.trim_end() } else { line.trim() };
    if let Some(operation) = operation(marker) {
        patch.files.push(operation);
        return Ok(());
    }
    match patch.files.last_mut() {
        None => match marker.strip_prefix(ENVIRONMENT) {
            Some(environment) if patch.environment.is_none() => {
                patch.environment = Some(environment.trim().to_owned());
                Ok(())
            }
            _ => Err("expected `*** Add File: `, `*** Delete File: ` or `*** Update File: `".to_owned()),
        },
        Some(FileOperation::Add { content, .. }) => {
            let added = line.strip_prefix('+').ok_or("a line of an added file does not start with `+`")?;
            content.push_str(added);
            content.push('\n');
            Ok(())
        }
        Some(FileOperation::Delete { .. }) => Err("unexpected text after a deleted file".to_owned()),
        Some(FileOperation::Update { moved_to, chunks, .. }) => read_update(line, marker, moved_to, chunks),
    }
}

fn operation(marker: &str) -> Option<FileOperation> {
    let path = |prefix| marker.strip_prefix(prefix).map(str::to_owned);
    path(ADD)
        .map(|path| FileOperation::Add { path, content: String::new() })
        .or_else(|| path(DELETE).map(|path| FileOperation::Delete { path }))
        .or_else(|| {
            path(UPDATE).map(|path| FileOperation::Update { path, moved_to: None, chunks: Vec::new() })
        })
}

fn read_update(
    line: &str,
    marker: &str,
    moved_to: &mut Option<String>,
    chunks: &mut Vec<PatchChunk>,
) -> Result<(), String> {
    if chunks.is_empty()
        && moved_to.is_none()
        && let Some(to) = marker.strip_prefix(MOVE)
    {
        *moved_to = Some(to.to_owned());
        return Ok(());
    }
    let context = if marker == "@@" { Some(None) } else { marker.strip_prefix("@@ ").map(Some) };
    if let Some(context) = context {
        if chunks.last().is_some_and(|chunk| chunk.lines.is_empty()) {
            return Err("the part before this `@@` has no lines".to_owned());
        }
        chunks.push(PatchChunk { context: context.map(str::to_owned), ..PatchChunk::default() });
        return Ok(());
    }
    if chunks.last().is_some_and(|chunk| chunk.at_end) {
        let blank = marker.is_empty();
        return if blank { Ok(()) } else { Err("expected `@@` after `*** End of File`".to_owned()) };
    }
    if marker == END_OF_FILE {
        return match chunks.last_mut() {
            Some(chunk) if chunk.lines.is_empty() => {
                Err("`*** End of File` without lines before it".to_owned())
            }
            // Codex skips it before the first lines.
            chunk => {
                chunk.into_iter().for_each(|chunk| chunk.at_end = true);
                Ok(())
            }
        };
    }
    let text = |prefix| line.strip_prefix(prefix).map(str::to_owned);
    let read = match line.is_empty() {
        true => Some(PatchLine::Common(String::new())),
        false => text(' ')
            .map(PatchLine::Common)
            .or_else(|| text('+').map(PatchLine::Added))
            .or_else(|| text('-').map(PatchLine::Removed)),
    };
    let read = read.ok_or("a line does not start with ` `, `+` or `-`")?;
    if chunks.is_empty() {
        chunks.push(PatchChunk::default());
    }
    if let Some(chunk) = chunks.last_mut() {
        chunk.lines.push(read);
    }
    Ok(())
}

fn check_complete(file: &FileOperation) -> Result<(), String> {
    match file {
        FileOperation::Update { path, chunks, .. }
            if chunks.last().is_none_or(|chunk| chunk.lines.is_empty()) =>
        {
            Err(format!("the update of `{path}` has no lines"))
        }
        _ if file.path().is_empty() => Err("a file has no name".to_owned()),
        _ => Ok(()),
    }
}
