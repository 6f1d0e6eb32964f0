//! Writes a patch that leads from the current texts to the wanted ones.

use linkspan_review::hunks;

use super::apply::find;
use super::{FileOperation, apply, parse};

/// Enough for a reader, and usually for the place to be unique.
const CONTEXT: usize = 3;

/// A file of the patch; the path is spelled as the patch should spell it.
#[derive(Debug, Clone, Copy)]
pub(in crate::hooks) struct FileText<'a> {
    pub(in crate::hooks) path: &'a str,
    pub(in crate::hooks) moved_to: Option<&'a str>,
    /// In LF; `None` if the file does not exist.
    pub(in crate::hooks) current: Option<&'a str>,
    /// In LF; `None` deletes the file.
    pub(in crate::hooks) text: Option<&'a str>,
    pub(in crate::hooks) forms: PatchForms,
}

/// Which forms write the wanted line endings: an update keeps those of the file, an added file has LF.
#[derive(Debug, Clone, Copy)]
pub(in crate::hooks) struct PatchForms {
    pub(in crate::hooks) update: bool,
    pub(in crate::hooks) add: bool,
}

/// `None` if the format cannot say it: a text without a final newline, a lone CR in a new line. A file that stays as it
/// is does not appear.
pub(in crate::hooks) fn generate(environment: Option<&str>, files: &[FileText<'_>]) -> Option<String> {
    let mut patch = String::from("*** Begin Patch\n");
    if let Some(environment) = environment {
        patch.push_str(&format!("*** Environment ID: {environment}\n"));
    }
    let mut any = false;
    for file in files {
        if file.moved_to.is_none() && file.current == file.text {
            continue;
        }
        patch.push_str(&operation(file)?);
        any = true;
    }
    patch.push_str("*** End Patch\n");
    any.then_some(patch)
}

/// Each form is tried on the current text before it is used.
fn operation(file: &FileText<'_>) -> Option<String> {
    let Some(text) = file.text else { return Some(format!("*** Delete File: {}\n", file.path)) };
    let update = file.current.filter(|_| file.forms.update).map(|current| update(file, current, text));
    let added = file.forms.add.then(|| rewrite(file, text));
    let candidates = [update, added];
    candidates.into_iter().flatten().find(|operation| gives(operation, file))
}

fn rewrite(file: &FileText<'_>, text: &str) -> String {
    let mut operation = match file.moved_to {
        Some(to) => format!("*** Delete File: {}\n*** Add File: {to}\n", file.path),
        None => format!("*** Add File: {}\n", file.path),
    };
    for line in text.lines() {
        operation.push('+');
        operation.push_str(line);
        operation.push('\n');
    }
    operation
}

fn gives(operation: &str, file: &FileText<'_>) -> bool {
    let Ok(patch) = parse(&format!("*** Begin Patch\n{operation}*** End Patch\n")) else { return false };
    let written = patch.files.iter().find_map(|operation| match operation {
        FileOperation::Add { content, .. } => Some(content.clone()),
        FileOperation::Update { chunks, .. } => apply(file.current?, chunks),
        FileOperation::Delete { .. } => None,
    });
    let paths_fit = match &*patch.files {
        [FileOperation::Add { path, .. }] => file.moved_to.is_none() && path == file.path,
        [FileOperation::Update { path, moved_to, .. }] => {
            path == file.path && moved_to.as_deref() == file.moved_to
        }
        [FileOperation::Delete { path }, FileOperation::Add { path: to, .. }] => {
            path == file.path && Some(to.as_str()) == file.moved_to
        }
        _ => false,
    };
    paths_fit && written.as_deref() == file.text
}

fn update(file: &FileText<'_>, current: &str, text: &str) -> String {
    let mut operation = format!("*** Update File: {}\n", file.path);
    if let Some(to) = file.moved_to {
        operation.push_str(&format!("*** Move to: {to}\n"));
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (current.lines().collect(), text.lines().collect());
    let index = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let changes: Vec<Change> = hunks(current, text)
        .into_iter()
        .map(|hunk| Change {
            old: index(hunk.before.start)..index(hunk.before.end),
            new: index(hunk.after.start)..index(hunk.after.end),
        })
        .collect();
    let near = |one: &Change, next: &Change| next.old.start.saturating_sub(one.old.end) <= 2 * CONTEXT;
    let mut from = 0;
    for group in changes.chunk_by(near) {
        write_chunk(&mut operation, &old, &new, group, &mut from);
    }
    if changes.is_empty() {
        // A file that only moves needs a line, too.
        operation.push_str("@@\n");
        write_lines(&mut operation, ' ', old.get(..1).unwrap_or_default());
    }
    operation
}

/// Lines of the old text that become lines of the new one.
struct Change {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

/// The lines before the change grow until they are found at the right place first. They may begin where the last chunk
/// ended, and there they are found at once.
fn write_chunk(out: &mut String, old: &[&str], new: &[&str], group: &[Change], from: &mut usize) {
    let ([first, ..], [.., last]) = (group, group) else { return };
    let end = old.len().min(last.old.end + CONTEXT);
    let mut lead = CONTEXT;
    let start = loop {
        let start = first.old.start.saturating_sub(lead).max(*from);
        let pattern = old.get(start..end).unwrap_or_default();
        if start == *from || find(old, pattern, *from, false) == Some(start) {
            break start;
        }
        lead *= 2;
    };
    out.push_str("@@\n");
    let mut at = start;
    for change in group {
        write_lines(out, ' ', old.get(at..change.old.start).unwrap_or_default());
        write_lines(out, '-', old.get(change.old.clone()).unwrap_or_default());
        write_lines(out, '+', new.get(change.new.clone()).unwrap_or_default());
        at = change.old.end;
    }
    write_lines(out, ' ', old.get(at..end).unwrap_or_default());
    *from = end;
}

fn write_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        out.push('\n');
    }
}
