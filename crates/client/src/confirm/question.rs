//! The question to the user: a tool call, and the change that it would make if that can be computed.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::proposal::{
    ArgumentsError, FILE_TOOLS, FileEdit, LARGEST_FILE, ProposalError, Proposed, proposed,
};

/// The question to the user.
#[derive(Debug, Clone)]
pub struct ConfirmQuestion {
    /// The tool's name.
    pub tool: String,
    /// The change it would make, for a tool that edits a file.
    pub change: Option<FileChange>,
    /// Its arguments in readable form, for any other tool.
    pub details: String,
    /// A note before the question, such as why it is not asked in the editor.
    pub note: Option<String>,
    /// What the editor calls the change; the name of the file if there is none. For a process with several agents.
    pub label: Option<String>,
}

/// A file, and what it would hold.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// Absolute.
    pub path: PathBuf,
    /// What it would hold.
    pub proposed: Arc<Proposed>,
}

/// Why the call cannot be carried out, so that there is no question. For the model, not for the user.
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

impl ConfirmQuestion {
    /// The question about a tool call of an agent in `cwd`. Reads the file that an editing tool would change.
    pub fn of_call(tool: &str, arguments: &Value, cwd: &Path) -> Result<ConfirmQuestion, QuestionError> {
        let tool_name = tool.to_owned();
        if !FILE_TOOLS.contains(&tool) {
            let details = serde_json::to_string_pretty(arguments).unwrap_or_default();
            return Ok(ConfirmQuestion { tool: tool_name, change: None, details, note: None, label: None });
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
                Ok(ConfirmQuestion {
                    tool: tool_name,
                    change,
                    details: String::new(),
                    note: None,
                    label: None,
                })
            }
            Err(error) => Err(QuestionError::Proposal { path, error }),
        }
    }

    pub(super) fn with_note(&self, note: String) -> ConfirmQuestion {
        ConfirmQuestion { note: Some(note), ..self.clone() }
    }
}

/// A path may be a pipe or a device, where reading could wait or never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    // One byte more, to notice a file that is too large.
    file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
