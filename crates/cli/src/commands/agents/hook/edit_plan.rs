//! The files of an edit, before and after, and how each is proposed to the user. Reads files; asks nobody. Texts have LF
//! line endings and lack a byte order mark, as in the hook formats; the hub restores what the file has.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use linkspan_client::Change;
use linkspan_client::connection::ChangeWriter;
use linkspan_client::proposal::LARGEST_FILE;
use linkspan_client::visible;
use linkspan_dialect::hooks::{EditCall, EditError, FileChangeKind, FileResult};
use linkspan_hub::disk::open_regular;
use linkspan_review::{adopt_endings, decode_owned};

use super::accepted_text::writes_as_given;

/// More files in one edit are not shown as one set of reviews.
const MAX_FILES: usize = 100;

/// One file of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedFile {
    pub(super) path: PathBuf,
    /// With LF; `None` if there is no file.
    pub(super) current: Option<String>,
    /// The same with its own line endings.
    pub(super) raw: Option<String>,
    pub(super) result: FileResult,
    /// Which of the changes in the [`EditCall`] are of this file, the first one first.
    pub(super) positions: Vec<usize>,
    verb: &'static str,
}

/// Why there is nothing to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlanError {
    /// The agent's tool will change nothing.
    NoEdit,
    /// The agent's tool will fail, if it is exact.
    Fails(EditError),
    /// The edit cannot be shown.
    NotShown(String),
    /// The tool would change nothing but the line endings of this file.
    OnlyEndings(PathBuf),
}

/// The files of an edit, each once, in the order in which they first come.
pub(super) fn plan(edit: &EditCall) -> Result<Vec<PlannedFile>, PlanError> {
    let mut files: Vec<PlannedFile> = Vec::new();
    for (position, change) in edit.files.iter().enumerate() {
        let before = files.iter_mut().find(|file| file.path == change.path);
        let (current, raw) = match &before {
            Some(file) => (file.result.text.clone(), None),
            None => {
                let raw = read(&change.path).map_err(PlanError::NotShown)?;
                (raw.as_deref().map(with_lf), raw)
            }
        };
        let result = change.result(current.as_deref()).map_err(PlanError::Fails)?;
        match before {
            Some(file) => {
                file.result = result;
                file.positions.push(position);
            }
            None => files.push(PlannedFile {
                path: change.path.clone(),
                current,
                raw,
                result,
                positions: vec![position],
                verb: verb(&change.kind),
            }),
        }
    }
    for file in files.iter().filter(|file| file.is_unchanged()) {
        if file.loses_endings(edit) {
            return Err(PlanError::OnlyEndings(file.path.clone()));
        }
    }
    files.retain(|file| !file.is_unchanged());
    match files.len() {
        0 => Err(PlanError::NoEdit),
        1..=MAX_FILES => Ok(files),
        many => Err(PlanError::NotShown(format!(
            "the edit changes {many} files, and at most {MAX_FILES} are shown together; change fewer at once"
        ))),
    }
}

fn verb(kind: &FileChangeKind) -> &'static str {
    match kind {
        FileChangeKind::Write { .. } | FileChangeKind::Add { .. } => "Write",
        FileChangeKind::Delete => "Delete",
        FileChangeKind::Replace { .. } | FileChangeKind::Patch { .. } | FileChangeKind::Diff(_) => "Edit",
    }
}

impl PlannedFile {
    fn is_unchanged(&self) -> bool {
        let is_same = match (&self.result.text, &self.raw) {
            (Some(text), Some(raw)) => adopt_endings(raw, text).0 == *raw,
            (text, raw) => text.is_none() && raw.is_none(),
        };
        is_same && self.result.moved_to.is_none()
    }

    /// Whether the tool would write other line endings than the file has.
    fn loses_endings(&self, edit: &EditCall) -> bool {
        let kinds = self.positions.iter().filter_map(|position| Some(&edit.files.get(*position)?.kind));
        let is_as_given = kinds.into_iter().any(|kind| writes_as_given(kind, self.raw.as_deref()));
        is_as_given && self.result.text != self.raw
    }

    /// Whether the file stays where it is and holds a text afterwards: such a change can be taken in part.
    pub(super) fn is_plain(&self) -> bool {
        self.result.text.is_some() && self.result.moved_to.is_none()
    }

    /// How the user sees it. A file that is deleted or moved is only compared: the agent's tool does that as a whole.
    pub(super) fn change(&self, writer: ChangeWriter, set: Option<&str>) -> Change {
        let name = |path: &Path| visible::name(&path.file_name().unwrap_or_default().to_string_lossy());
        let own = name(&self.path);
        let (label, shown) = match (&self.result.moved_to, &self.result.text) {
            (Some(target), _) => {
                (format!("Move {own} to {}", visible::name(&target.to_string_lossy())), self.compared())
            }
            (None, None) => (format!("{} {own}", self.verb), self.compared()),
            (None, Some(text)) => {
                (format!("{} {own}", self.verb), ComparedTexts { old: None, new: text.clone() })
            }
        };
        let change = Change::new(self.path.clone(), shown.new).labelled(label);
        Change { old_text: shown.old, set: set.map(str::to_owned), writer, ..change }
    }

    /// The two texts of a file that is deleted or moved. If its text stays the same, its path is compared, because two
    /// equal texts show nothing.
    pub(super) fn compared(&self) -> ComparedTexts {
        let old = self.current.clone().unwrap_or_default();
        let new = self.result.text.clone().unwrap_or_default();
        if old != new {
            return ComparedTexts { old: Some(old), new };
        }
        let line = |path: &Path| format!("{}\n", path.display());
        let new = self.result.moved_to.as_deref().map(line).unwrap_or_default();
        ComparedTexts { old: Some(line(&self.path)), new }
    }
}

/// The two sides of a review; the old one is given only if it is not the file itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ComparedTexts {
    pub(super) old: Option<String>,
    pub(super) new: String,
}

/// The text of a file with its line endings; `None` if there is none. Only regular files: reading a pipe or a device could block.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    let about = |why: &dyn std::fmt::Display| format!("{} cannot be shown: {why}", path.display());
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(about(&error)),
    };
    let mut bytes = Vec::new();
    // One byte more than allowed, so that a file that is too large is detected.
    file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes).map_err(|error| about(&error))?;
    if bytes.len() > LARGEST_FILE {
        return Err(about(&format!("it has more than {LARGEST_FILE} bytes")));
    }
    Ok(Some(decode_owned(bytes).map_err(|error| about(&error))?.text.to_string()))
}

pub(super) fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}
