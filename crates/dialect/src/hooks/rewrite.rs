//! From the text that a file should hold to the input of the agent's own tool.

use linkspan_review::adopt_endings;
use serde_json::{Map, Value};

use super::answer::RewrittenFile;
use super::apply_patch::{self, FileOperation, FileText, PatchForms};
use super::change::{FileChange, FileChangeKind, TextReplacement, in_lf};
use super::tool::{EDITS, HookTool, ReplaceTool, text};

/// `None` if the tool cannot make these texts.
pub(super) fn rewritten_input(
    tool: HookTool,
    input: &Map<String, Value>,
    changes: &[FileChange],
    files: &[RewrittenFile],
) -> Option<Map<String, Value>> {
    if let HookTool::Patch { patch } = tool {
        let command = rewritten_patch(text(input, patch).ok()?, changes, files)?;
        return Some(with(input, [(patch, Value::String(command))]));
    }
    let ([change], [file]) = (changes, files) else { return None };
    let wanted = file.text.as_deref()?;
    match tool {
        HookTool::Write { content, .. } => Some(with(input, [(content, Value::from(wanted))])),
        HookTool::Replace(names) => {
            let edit = edit(names, change, file.current.as_deref(), wanted)?;
            Some(with(input, members(names, edit, input.contains_key(names.all))))
        }
        HookTool::ReplaceMany(names) => {
            let edit = edit(names, change, file.current.as_deref(), wanted)?;
            let edit = with(&Map::new(), members(names, edit, true));
            Some(with(input, [(EDITS, Value::Array(vec![Value::Object(edit)]))]))
        }
        HookTool::Patch { .. } | HookTool::Diff { .. } | HookTool::Shell { .. } | HookTool::Other => None,
    }
}

fn with<'a>(
    input: &Map<String, Value>,
    members: impl IntoIterator<Item = (&'a str, Value)>,
) -> Map<String, Value> {
    let mut input = input.clone();
    input.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
    input
}

fn members(
    names: ReplaceTool,
    edit: TextReplacement,
    says_all: bool,
) -> impl Iterator<Item = (&'static str, Value)> {
    let texts = [(names.old, Value::String(edit.old)), (names.new, Value::String(edit.new))];
    texts.into_iter().chain(says_all.then_some((names.all, Value::Bool(false))))
}

/// The one replacement that makes the wanted text, tried on the current one before it is used.
fn edit(
    names: ReplaceTool,
    change: &FileChange,
    current: Option<&str>,
    wanted: &str,
) -> Option<TextReplacement> {
    let (old, new) = match current {
        None | Some("") => (String::new(), wanted.to_owned()),
        Some(current) if !has_endings_of(current, wanted) => return None,
        Some(current) => replacement(&in_lf(current), &in_lf(wanted))?,
    };
    let edit = TextReplacement { old, new, all: false };
    let kind = FileChangeKind::Replace { replacements: vec![edit.clone()], rule: names.rule };
    let tried = FileChange { path: change.path.clone(), kind }.result(current).ok()?;
    (edit.old != edit.new && tried.text.as_deref() == Some(&*in_lf(wanted))).then_some(edit)
}

/// Whether a tool that keeps the line endings of the file would write the wanted ones.
fn has_endings_of(current: &str, wanted: &str) -> bool {
    adopt_endings(current, in_lf(wanted)).0 == wanted
}

/// The lines that differ, with as many of their neighbours as make them unique in the current text. `None` if both
/// texts are equal.
fn replacement(current: &str, wanted: &str) -> Option<(String, String)> {
    let old: Vec<&str> = current.split_inclusive('\n').collect();
    let new: Vec<&str> = wanted.split_inclusive('\n').collect();
    let before = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (old.get(before..)?, new.get(before..)?);
    let after =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    if old_rest.len() == after && new_rest.len() == after {
        return None;
    }
    let mut more = 0;
    loop {
        let (before, after) = (before.saturating_sub(more), after.saturating_sub(more));
        let middle =
            |lines: &[&str]| lines.get(before..lines.len().checked_sub(after)?).map(<[&str]>::concat);
        let start: usize = old.iter().take(before).map(|line| line.len()).sum();
        let (old, new) = (middle(&old)?, middle(&new)?);
        if is_unique(current, &old, start) {
            return Some(without_line_end(current, old, new, start));
        }
        if before == 0 && after == 0 {
            return None;
        }
        more = if more < 8 { more + 1 } else { more * 2 };
    }
}

/// Whether the text is found at this place and nowhere else, not even overlapping itself.
fn is_unique(text: &str, part: &str, start: usize) -> bool {
    let Some(first) = part.chars().next() else { return false };
    let rest = start.checked_add(first.len_utf8()).and_then(|next| text.get(next..));
    text.find(part) == Some(start) && rest.is_some_and(|rest| !rest.contains(part))
}

/// The newline at the end of both texts is left out where the place stays unique: shorter to read in a terminal. An
/// empty text is never made: some tools do more than replacing then.
fn without_line_end(current: &str, old: String, new: String, start: usize) -> (String, String) {
    match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (Some(short_old), Some(short_new))
            if !short_new.is_empty() && is_unique(current, short_old, start) =>
        {
            (short_old.to_owned(), short_new.to_owned())
        }
        _ => (old, new),
    }
}

fn rewritten_patch(patch: &str, changes: &[FileChange], files: &[RewrittenFile]) -> Option<String> {
    let patch = apply_patch::parse(patch).ok()?;
    if patch.files.len() != files.len() || changes.len() != files.len() {
        return None;
    }
    let lf_texts =
        files.iter().map(|file| (file.current.as_deref().map(in_lf), file.text.as_deref().map(in_lf)));
    let lf_texts: Vec<_> = lf_texts.collect();
    let mut texts = Vec::new();
    for ((operation, file), (current, lf_text)) in patch.files.iter().zip(files).zip(&lf_texts) {
        let (Some(wanted), Some(text)) = (file.text.as_deref(), lf_text.as_deref()) else { continue };
        let text = match operation {
            FileOperation::Delete { .. } if text.is_empty() => None,
            _ => Some(text),
        };
        let forms = PatchForms {
            update: file.current.as_deref().is_some_and(|current| has_endings_of(current, wanted)),
            add: !wanted.contains("\r\n"),
        };
        let moved_to = match operation {
            FileOperation::Update { moved_to, .. } => moved_to.as_deref(),
            _ => None,
        };
        texts.push(FileText { path: operation.path(), moved_to, current: current.as_deref(), text, forms });
    }
    apply_patch::generate(patch.environment.as_deref(), &texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_differ_are_named() {
        assert_eq!(
            replacement("one\ntwo\nthree\n", "one\nZwei\nthree\n"),
            Some(("two".into(), "Zwei".into()))
        );
        assert_eq!(replacement("a\nb\n", "a\nb\n"), None);
    }

    #[test]
    fn neighbours_make_a_repeated_line_unique() {
        let current = "x\na\nx\nb\nx\n";
        assert_eq!(replacement(current, "x\na\ny\nb\nx\n"), Some(("a\nx\nb".into(), "a\ny\nb".into())));
    }

    #[test]
    fn an_overlapping_place_is_not_unique() {
        assert!(!is_unique("a\na\na\n", "a\na\n", 0));
        assert!(is_unique("a\nb\n", "a\n", 0));
    }

    #[test]
    fn a_line_that_becomes_empty_keeps_its_newline() {
        assert_eq!(replacement("a\nb\nc\n", "a\n\nc\n"), Some(("b\n".into(), "\n".into())));
    }

    #[test]
    fn a_removed_or_inserted_line_is_named_whole() {
        assert_eq!(replacement("a\nb\nc\n", "a\nc\n"), Some(("b\n".into(), String::new())));
        assert_eq!(replacement("a\nc\n", "a\nb\nc\n"), Some(("a\nc".into(), "a\nb\nc".into())));
    }
}
