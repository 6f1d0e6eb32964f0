//! A change of several files that its agent applies as a whole or not at all. Knows how each file would look
//! afterwards, and no wire format.

use std::path::{Path, PathBuf};

use linkspan_review::Digest;

use crate::codex::hunks::{HunkError, apply_hunks};
use crate::placed_texts::placed;

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    pub path: PathBuf,
    pub change: PatchChange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchChange {
    /// Hunks with line numbers, without file headers.
    Update {
        diff: String,
    },
    Add {
        text: String,
    },
    Delete,
    /// Texts that replace others: the whole text of the file, or the only place where the old one is. If there is a
    /// diff, it says the same.
    Texts {
        edits: Vec<TextEdit>,
        diff: Option<String>,
    },
    /// The file gets this path, and these hunks.
    Move {
        to: PathBuf,
        diff: String,
    },
}

/// One text that replaces another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// None: there was no file, or its whole text is replaced.
    pub old: Option<String>,
    pub new: String,
    /// Wherever the old text is.
    pub all: bool,
}

/// What a patch makes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedText {
    pub text: String,
    /// More than the text changes: the file is deleted or moved. Such a change can be compared, and not be taken in
    /// part.
    pub compared: bool,
    /// What is shown in place of the text before, if the change has no place in it.
    pub left: Option<String>,
    /// What is taken for a part of the file may have been its whole text a moment ago: then the agent would overwrite what
    /// was added since.
    pub may_be_whole: bool,
}

impl PatchedText {
    fn of(text: String) -> PatchedText {
        PatchedText { text, compared: false, left: None, may_be_whole: false }
    }

    fn compared(text: String) -> PatchedText {
        PatchedText { text, compared: true, left: None, may_be_whole: false }
    }
}

/// Why a file cannot be shown as the patch would change it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("there is no file {}", .0.display())]
    Missing(PathBuf),
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    #[error("{}: {error}", path.display())]
    Hunk { path: PathBuf, error: HunkError },
}

impl PatchFile {
    /// The text after the patch; `before` is `None` if there is no file.
    pub fn patched(&self, before: Option<&str>) -> Result<PatchedText, PatchError> {
        let missing = || PatchError::Missing(self.path.clone());
        let hunks = |diff: &str| {
            let before = before.ok_or_else(missing)?;
            apply_hunks(before, diff).map_err(|error| PatchError::Hunk { path: self.path.clone(), error })
        };
        match &self.change {
            PatchChange::Update { diff } => Ok(PatchedText::of(hunks(diff)?)),
            PatchChange::Move { diff, .. } => Ok(PatchedText::compared(hunks(diff)?)),
            PatchChange::Add { .. } if before.is_some() => Err(PatchError::Exists(self.path.clone())),
            PatchChange::Add { text } => Ok(PatchedText::of(text.clone())),
            PatchChange::Texts { edits, diff } => Ok(placed(before, edits, diff.as_deref())),
            PatchChange::Delete if before.is_none() => Err(missing()),
            PatchChange::Delete => Ok(PatchedText::compared(String::new())),
        }
    }

    /// Identifies the change itself, whatever the file holds.
    pub fn digest(&self) -> Digest {
        if let PatchChange::Texts { edits, diff } = &self.change {
            let texts = edits.iter().flat_map(|edit| [edit.old.as_deref().unwrap_or("\0"), &edit.new]);
            let parts: Vec<&[u8]> =
                ["texts"].into_iter().chain(texts).chain(diff.as_deref()).map(str::as_bytes).collect();
            return Digest::of_parts(&parts);
        }
        let (kind, text, to) = match &self.change {
            PatchChange::Texts { .. } => ("texts", "", None),
            PatchChange::Update { diff } => ("update", diff.as_str(), None),
            PatchChange::Add { text } => ("add", text.as_str(), None),
            PatchChange::Delete => ("delete", "", None),
            PatchChange::Move { to, diff } => ("move", diff.as_str(), Some(to)),
        };
        let to = to.map(|to| to.as_os_str().as_encoded_bytes()).unwrap_or_default();
        Digest::of_parts(&[kind.as_bytes(), text.as_bytes(), to])
    }

    /// The title of its review.
    pub fn label(&self) -> String {
        let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        match &self.change {
            PatchChange::Texts { edits, .. } if edits.iter().any(|edit| edit.old.is_none()) => {
                format!("Write {}", name(&self.path))
            }
            PatchChange::Update { .. } | PatchChange::Texts { .. } => format!("Edit {}", name(&self.path)),
            PatchChange::Add { .. } => format!("Create {}", name(&self.path)),
            PatchChange::Delete => format!("Delete {}", name(&self.path)),
            PatchChange::Move { to, .. } => format!("Move {} to {}", name(&self.path), to.display()),
        }
    }
}
