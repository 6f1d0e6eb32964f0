//! The tools of agents that matter here: which member of their input is what.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Value};

use super::apply_patch::{self, FileOperation};
use super::change::{FileChange, FileChangeKind, ReplaceRule, TextReplacement};
use super::error::HookError;
use super::git_diff::{self, LastLine};

/// A tool, and the names of the members of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookTool {
    Replace(ReplaceTool),
    /// Several replacements in one file, in the member `edits`.
    ReplaceMany(ReplaceTool),
    Write {
        path: &'static str,
        content: &'static str,
    },
    Patch {
        patch: &'static str,
    },
    /// Shows what will be written.
    Diff {
        path: &'static str,
        diff: &'static str,
        last_line: LastLine,
    },
    Shell {
        command: &'static str,
    },
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplaceTool {
    pub(super) path: &'static str,
    pub(super) old: &'static str,
    pub(super) new: &'static str,
    /// True means every occurrence.
    pub(super) all: &'static str,
    pub(super) rule: ReplaceRule,
}

pub(super) const EDITS: &str = "edits";

/// The files that the tool would change; none if it changes none.
pub(super) fn changes(
    tool: HookTool,
    input: &Map<String, Value>,
    cwd: &Path,
) -> Result<Vec<FileChange>, HookError> {
    let one = |path: &str, kind| -> Result<Vec<FileChange>, HookError> {
        Ok(vec![FileChange { path: cwd.join(text(input, path)?), kind }])
    };
    match tool {
        HookTool::Replace(names) => {
            let replacements = vec![replacement(names, input)?];
            one(names.path, FileChangeKind::Replace { replacements, rule: names.rule })
        }
        HookTool::ReplaceMany(names) => {
            let replacements = replacements(names, input)?;
            one(names.path, FileChangeKind::Replace { replacements, rule: names.rule })
        }
        HookTool::Write { path, content } => {
            one(path, FileChangeKind::Write { content: text(input, content)?.to_owned() })
        }
        HookTool::Diff { path, diff, last_line } => {
            one(path, FileChangeKind::Diff(git_diff::parse(text(input, diff)?, last_line)))
        }
        HookTool::Patch { patch } => patched_files(text(input, patch)?, cwd),
        HookTool::Shell { .. } | HookTool::Other => Ok(Vec::new()),
    }
}

fn replacements(names: ReplaceTool, input: &Map<String, Value>) -> Result<Vec<TextReplacement>, HookError> {
    let edits = match input.get(EDITS) {
        Some(Value::Array(edits)) if !edits.is_empty() => edits,
        Some(_) => return Err(wrong_type(EDITS, "a list with at least one edit")),
        None => return Err(HookError::Missing { member: EDITS.to_owned() }),
    };
    let one = |edit: &Value| match edit {
        Value::Object(edit) => replacement(names, edit),
        _ => Err(wrong_type(EDITS, "a list of objects")),
    };
    edits.iter().map(one).collect()
}

fn replacement(names: ReplaceTool, input: &Map<String, Value>) -> Result<TextReplacement, HookError> {
    let all = match input.get(names.all) {
        None | Some(Value::Null) => false,
        Some(Value::Bool(all)) => *all,
        Some(_) => return Err(wrong_type(names.all, "true or false")),
    };
    let (old, new) = (text(input, names.old)?, text(input, names.new)?);
    Ok(TextReplacement { old: old.to_owned(), new: new.to_owned(), all })
}

fn patched_files(patch: &str, cwd: &Path) -> Result<Vec<FileChange>, HookError> {
    let patch = apply_patch::parse(patch).map_err(HookError::Patch)?;
    let mut files = Vec::with_capacity(patch.files.len());
    let mut paths = HashSet::new();
    for operation in patch.files {
        let path = cwd.join(operation.path());
        // Codex refuses that, too.
        if !paths.insert(path.clone()) {
            return Err(HookError::Patch(format!("it changes {} twice", path.display())));
        }
        let kind = match operation {
            FileOperation::Add { content, .. } => FileChangeKind::Add { content },
            FileOperation::Delete { .. } => FileChangeKind::Delete,
            FileOperation::Update { moved_to, chunks, .. } => {
                FileChangeKind::Patch { chunks, moved_to: moved_to.map(|to| cwd.join(to)) }
            }
        };
        files.push(FileChange { path, kind });
    }
    Ok(files)
}

/// The command of a shell tool: a text, or a program with its arguments.
pub(super) fn command(input: &Map<String, Value>, name: &str) -> Result<String, HookError> {
    match input.get(name) {
        Some(Value::Array(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            Ok(words.ok_or_else(|| wrong_type(name, "a text or a list of texts"))?.join(" "))
        }
        _ => Ok(text(input, name)?.to_owned()),
    }
}

/// A member that must be there.
pub(super) fn text<'a>(object: &'a Map<String, Value>, member: &str) -> Result<&'a str, HookError> {
    optional_text(object, member)?.ok_or_else(|| HookError::Missing { member: member.to_owned() })
}

pub(super) fn optional_text<'a>(
    object: &'a Map<String, Value>,
    member: &str,
) -> Result<Option<&'a str>, HookError> {
    match object.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong_type(member, "a text")),
    }
}

pub(super) fn wrong_type(member: &str, expected: &'static str) -> HookError {
    HookError::WrongType { member: member.to_owned(), expected }
}
