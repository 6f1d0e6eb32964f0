//! The change of one file, as an agent's tool would make it, and the text that results.

use std::borrow::Cow;
use std::path::PathBuf;

use super::apply_patch::{self, PatchChunk};
use super::call::MAX_INPUT;
use super::error::EditError;
use super::git_diff::{self, DiffHunk};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Absolute.
    pub path: PathBuf,
    pub kind: FileChangeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChangeKind {
    /// One after the other.
    Replace {
        replacements: Vec<TextReplacement>,
        rule: ReplaceRule,
    },
    /// The whole content, whether the file exists or not.
    Write {
        content: String,
    },
    /// The whole content of a file that an `apply_patch` adds; one that exists is overwritten.
    Add {
        content: String,
    },
    /// Chunks of an `apply_patch`.
    Patch {
        chunks: Vec<PatchChunk>,
        moved_to: Option<PathBuf>,
    },
    Delete,
    /// A diff that only shows what will be written.
    Diff(Vec<DiffHunk>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextReplacement {
    /// Empty: the file is created.
    pub old: String,
    pub new: String,
    /// Every occurrence; otherwise there must be exactly one.
    pub all: bool,
}

/// What a tool does besides replacing a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceRule {
    Exact,
    /// Claude Code and Qwen Code: a text without a final newline that is replaced by nothing takes the newline after it
    /// along.
    LineEndGoes,
    /// Gemini CLI: the file has a final newline afterwards if it had one before.
    FinalNewlineStays,
    /// opencode: an empty old text stands for the whole file.
    EmptyIsWhole,
}

/// A file after the agent's tool. Line ends that the tool takes from the file are LF here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileResult {
    /// `None`: the file is deleted.
    pub text: Option<String>,
    /// The text is written here, and the file itself is deleted.
    pub moved_to: Option<PathBuf>,
}

impl FileChange {
    /// The text after the tool. `current` lacks a byte order mark and may have any line endings.
    pub fn result(&self, current: Option<&str>) -> Result<FileResult, EditError> {
        let current = current.map(in_lf);
        let current = current.as_deref();
        let path = || self.path.clone();
        let existing = || current.ok_or_else(|| EditError::NoFile { path: path() });
        let text = match &self.kind {
            FileChangeKind::Write { content } | FileChangeKind::Add { content } => Some(content.clone()),
            FileChangeKind::Delete => {
                existing()?;
                None
            }
            FileChangeKind::Replace { replacements, rule } => {
                Some(self.replaced(current, replacements, *rule)?)
            }
            FileChangeKind::Patch { chunks, .. } => {
                let applied = apply_patch::apply(existing()?, chunks);
                Some(applied.ok_or_else(|| EditError::NotFound { path: path() })?)
            }
            FileChangeKind::Diff(hunks) => {
                let applied = git_diff::apply(current, hunks);
                Some(applied.ok_or_else(|| EditError::NotFound { path: path() })?)
            }
        };
        let moved_to = match &self.kind {
            FileChangeKind::Patch { moved_to, .. } => moved_to.clone(),
            _ => None,
        };
        Ok(FileResult { text, moved_to })
    }

    fn replaced(
        &self,
        current: Option<&str>,
        replacements: &[TextReplacement],
        rule: ReplaceRule,
    ) -> Result<String, EditError> {
        let mut text = current.map(str::to_owned);
        for replacement in replacements {
            text = Some(self.replaced_once(text.as_deref(), replacement, rule)?);
        }
        let text = text.ok_or_else(|| EditError::NoFile { path: self.path.clone() })?;
        match current {
            Some(current) if current == text => Err(EditError::NoChange { path: self.path.clone() }),
            _ => Ok(text),
        }
    }

    fn replaced_once(
        &self,
        current: Option<&str>,
        replacement: &TextReplacement,
        rule: ReplaceRule,
    ) -> Result<String, EditError> {
        let path = || self.path.clone();
        let (old, new) = (in_lf(&replacement.old), in_lf(&replacement.new));
        let current = match current {
            // An empty old text creates the file.
            None | Some("") if old.is_empty() => return Ok(new.into_owned()),
            None => return Err(EditError::NoFile { path: path() }),
            Some(_) if old.is_empty() && rule == ReplaceRule::EmptyIsWhole => return Ok(new.into_owned()),
            Some(_) if old.is_empty() => return Err(EditError::Exists { path: path() }),
            Some(current) => current,
        };
        let count = current.matches(&*old).count();
        match count {
            0 => return Err(EditError::NotFound { path: path() }),
            1 => {}
            _ if replacement.all => {}
            _ => return Err(EditError::NotUnique { path: path(), count }),
        }
        let size = current.len().saturating_add(count.saturating_mul(new.len()));
        if size > 2 * MAX_INPUT {
            return Err(EditError::TooLarge { path: path(), limit: 2 * MAX_INPUT });
        }
        let with_line_end = format!("{old}\n");
        let goes = rule == ReplaceRule::LineEndGoes && new.is_empty() && !old.ends_with('\n');
        let old = if goes && current.contains(&with_line_end) { Cow::Owned(with_line_end) } else { old };
        let text = match replacement.all {
            true => current.replace(&*old, &new),
            false => current.replacen(&*old, &new, 1),
        };
        Ok(if rule == ReplaceRule::FinalNewlineStays { with_final_newline_of(current, text) } else { text })
    }
}

/// Agents send LF and keep the endings of the file, so their texts are compared in LF.
pub(super) fn in_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

fn with_final_newline_of(model: &str, mut text: String) -> String {
    match (model.ends_with('\n'), text.ends_with('\n')) {
        (true, false) => text.push('\n'),
        (false, true) => {
            text.pop();
        }
        _ => {}
    }
    text
}
