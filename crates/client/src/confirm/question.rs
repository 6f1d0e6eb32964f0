//! What is asked: a tool call, and the change it would make where that can be told beforehand.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::proposal::{
    ArgumentsError, FILE_TOOLS, FileEdit, LARGEST_FILE, ProposalError, Proposed, proposed,
};

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The tool's name.
    pub tool: String,
    /// The change it would make, for a tool that edits a file.
    pub change: Option<FileChange>,
    /// Its arguments, to be read by a person, for any other tool.
    pub details: String,
    /// Something to say before it, such as why it is not asked in the editor.
    pub note: Option<String>,
}

/// A file, and what it would hold.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// Absolute.
    pub path: PathBuf,
    /// What it would hold.
    pub proposed: Arc<Proposed>,
}

/// Why there is nothing to ask: the call cannot be carried out. For the model, not for the person.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// Its arguments are wrong.
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    /// The edit cannot be made.
    #[error("{}: {error}", path.display())]
    Proposal {
        /// In which file.
        path: PathBuf,
        /// Why.
        error: ProposalError,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Question {
    /// About a tool call of an agent that works in `cwd`. Reads the file that an editing tool would change.
    pub fn of_call(tool: &str, arguments: &Value, cwd: &Path) -> Result<Question, QuestionError> {
        let tool_name = tool.to_owned();
        if !FILE_TOOLS.contains(&tool) {
            let details = serde_json::to_string_pretty(arguments).unwrap_or_default();
            return Ok(Question { tool: tool_name, change: None, details, note: None });
        }
        let FileEdit { path, edit } = FileEdit::from_call(tool, arguments)?;
        let path = cwd.join(path);
        let current = match read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(QuestionError::Read { path, error }),
        };
        match proposed(&edit, current.as_deref()) {
            Ok(proposed) => {
                let change = Some(FileChange { path, proposed: Arc::new(proposed) });
                Ok(Question { tool: tool_name, change, details: String::new(), note: None })
            }
            Err(error) => Err(QuestionError::Proposal { path, error }),
        }
    }

    pub(super) fn with_note(&self, note: String) -> Question {
        Question { note: Some(note), ..self.clone() }
    }
}

/// A name may lead to a pipe or a device, where reading would wait or never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    // One more, so that what is too large is seen to be.
    file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
