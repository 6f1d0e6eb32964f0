//! One session file: its lock, what is appended to it, and reading it whole. A record is on disk before `append` returns.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::{SessionHead, VERSION, name};
use crate::conversation::Record;
use crate::permissions::PermissionMode;

/// More is not a conversation.
const LARGEST: u64 = 512 * 1024 * 1024;

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is none with this name.
    #[error("there is no session `{0}`; `/sessions` lists them")]
    Missing(String),
    /// Another agent has it open.
    #[error("the session `{0}` is open in another agent: use that one, or close it first")]
    Locked(String),
    /// The name cannot be used.
    #[error("{0}")]
    Name(String),
    /// Another one has the name.
    #[error("there is a session `{0}` already: choose another name")]
    Taken(String),
    /// A line in the middle is not a record.
    #[error(
        "the session `{name}` is damaged at line {line_number}: {why}. Repair or delete the line in {}, or start a new session",
        path.display()
    )]
    Damaged {
        /// Of the session.
        name: String,
        /// Its file.
        path: PathBuf,
        /// Where, from 1.
        line_number: usize,
        /// What is wrong.
        why: String,
    },
    /// The file cannot be read or written.
    #[error("cannot {what} the session file {}: {source}", path.display())]
    Io {
        /// Such as "read".
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A session that is open for appending, and locked.
#[derive(Debug)]
pub struct Session {
    name: String,
    folder: PathBuf,
    head: SessionHead,
    /// None before the first record: an agent that was never used leaves no file.
    file: Option<File>,
    /// How many bytes of the file are whole lines.
    length: u64,
    /// Lines that could not be written yet.
    unsaved: Vec<u8>,
}

/// A session that was opened, and what it holds.
#[derive(Debug)]
pub struct Loaded {
    /// For appending.
    pub session: Session,
    /// In order.
    pub records: Vec<Record>,
    /// The model that was used last.
    pub model: String,
    /// The folder of its agent.
    pub cwd: PathBuf,
    /// Under which id its last agent was known to the hub, which still has answers for it.
    pub bridge: Option<String>,
    /// The last record was incomplete and is dropped.
    pub was_torn: bool,
}

/// A line that is not a record of the conversation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum Line {
    Session(SessionHead),
    Model { model: String },
    Bridge { bridge: String },
}

pub(super) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.jsonl"))
}

impl Session {
    /// A new one, of which there is no file before the first record.
    pub(super) fn new(folder: &Path, name: String, head: SessionHead) -> Session {
        Session { name, folder: folder.to_owned(), head, file: None, length: 0, unsaved: Vec::new() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        path(&self.folder, &self.name)
    }

    fn io(&self, what: &'static str) -> impl FnOnce(io::Error) -> SessionError {
        let path = self.path();
        move |source| SessionError::Io { what, path, source }
    }

    /// Appends a record, and those that could not be written before. It is on disk afterwards.
    pub fn append(&mut self, record: &Record) -> Result<(), SessionError> {
        self.append_line(record)
    }

    /// Records that another model is used from now on.
    pub fn set_model(&mut self, model: &str) -> Result<(), SessionError> {
        if self.file.is_none() {
            model.clone_into(&mut self.head.model);
            return Ok(());
        }
        self.append_line(&Line::Model { model: model.to_owned() })
    }

    fn append_line(&mut self, line: &impl Serialize) -> Result<(), SessionError> {
        // Kept, whatever happens, for the next time.
        self.unsaved.extend(json(line).map_err(self.io("write"))?);
        if self.file.is_none() {
            self.create(lock)?;
        }
        self.flush()
    }

    /// Writes what could not be written before.
    fn flush(&mut self) -> Result<(), SessionError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.write_all(&self.unsaved).and_then(|()| file.sync_data());
        match written {
            Ok(()) => {
                self.length += self.unsaved.len() as u64;
                self.unsaved.clear();
                Ok(())
            }
            Err(error) => {
                // Half a line would make the next one unreadable.
                let _ = file.set_len(self.length);
                Err(self.io("write")(error))
            }
        }
    }

    pub(super) fn create(
        &mut self,
        lock: impl FnOnce(&File, &str, &Path) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        super::store::make_folder(&self.folder).map_err(self.io("create"))?;
        let path = self.path();
        let options = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
        let file = options.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => SessionError::Taken(self.name.clone()),
            _ => SessionError::Io { what: "create", path: path.clone(), source: error },
        })?;
        if let Err(error) = lock(&file, &self.name, &path) {
            // An empty file would be taken for another session the next time.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        let head = json(&Line::Session(self.head.clone())).map_err(self.io("write"))?;
        self.unsaved.splice(..0, head);
        self.file = Some(file);
        // The name of the file has to survive a power cut as well.
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(self.io("create"))
    }

    /// Records under which id the agent is known to the hub.
    pub fn set_bridge(&mut self, bridge: &str) -> Result<(), SessionError> {
        let line = Line::Bridge { bridge: bridge.to_owned() };
        if self.file.is_some() {
            return self.append_line(&line);
        }
        self.unsaved.extend(json(&line).map_err(self.io("write"))?);
        Ok(())
    }

    /// Records in which mode the agent works from now on. There is no file for that alone.
    pub fn set_mode(&mut self, mode: PermissionMode) -> Result<(), SessionError> {
        let record = Record::Mode { mode };
        if self.file.is_some() {
            return self.append_line(&record);
        }
        self.unsaved.extend(json(&record).map_err(self.io("write"))?);
        Ok(())
    }

    /// Gives it another name.
    pub fn rename(&mut self, name: &str) -> Result<(), SessionError> {
        if let Some(problem) = name::problem(name) {
            return Err(SessionError::Name(problem));
        }
        if name == self.name {
            return Ok(());
        }
        let to = path(&self.folder, name);
        if to.symlink_metadata().is_ok() {
            return Err(SessionError::Taken(name.to_owned()));
        }
        if self.file.is_some() {
            std::fs::rename(self.path(), to).map_err(self.io("rename"))?;
        }
        name.clone_into(&mut self.name);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn swap_file(&mut self, file: Option<File>) -> Option<File> {
        std::mem::replace(&mut self.file, file)
    }

    /// Opens and reads a session.
    pub(super) fn open(folder: &Path, name: &str) -> Result<Loaded, SessionError> {
        let path = path(folder, name);
        let failed = |what| {
            let path = path.clone();
            move |source| SessionError::Io { what, path, source }
        };
        let mut file =
            OpenOptions::new().read(true).append(true).open(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => SessionError::Missing(name.to_owned()),
                _ => failed("open")(error),
            })?;
        lock(&file, name, &path)?;
        let size = file.metadata().map_err(failed("read"))?;
        if !size.is_file() || size.len() > LARGEST {
            let why = io::Error::other(format!("it is not a file of at most {LARGEST} bytes"));
            return Err(failed("read")(why));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size.len()).unwrap_or_default() + 1);
        file.read_to_end(&mut bytes).map_err(failed("read"))?;

        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
        let was_torn = whole < bytes.len();
        if was_torn {
            file.set_len(whole as u64).map_err(failed("write"))?;
        }
        bytes.truncate(whole);
        let damaged = |line_number: usize, why: String| SessionError::Damaged {
            name: name.to_owned(),
            path: path.clone(),
            line_number,
            why,
        };
        let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        let head = lines.next().map(|(_, line)| serde_json::from_slice::<Line>(line));
        let head = match head {
            Some(Ok(Line::Session(head))) if head.version <= VERSION => head,
            Some(Ok(Line::Session(head))) => {
                let version = head.version;
                let why = format!("it was written by a newer linkspan-agent (format {version})");
                return Err(damaged(1, why));
            }
            Some(Ok(Line::Model { .. } | Line::Bridge { .. })) | None => {
                return Err(damaged(1, "it has no head".to_owned()));
            }
            Some(Err(error)) => return Err(damaged(1, error.to_string())),
        };
        let (mut model, mut bridge) = (head.model.clone(), None);
        let mut records = Vec::new();
        for (index, line) in lines {
            if let Ok(record) = serde_json::from_slice(line) {
                records.push(record);
                continue;
            }
            match serde_json::from_slice::<Line>(line) {
                Ok(Line::Model { model: newer }) => model = newer,
                Ok(Line::Bridge { bridge: newer }) => bridge = Some(newer),
                Ok(Line::Session(_)) => return Err(damaged(index + 1, "it has a second head".to_owned())),
                Err(_) => {
                    let error = serde_json::from_slice::<Record>(line).err();
                    let why = error.map(|error| error.to_string()).unwrap_or_default();
                    return Err(damaged(index + 1, why));
                }
            }
        }
        let cwd = head.cwd.clone();
        let session = Session {
            name: name.to_owned(),
            folder: folder.to_owned(),
            head,
            file: Some(file),
            length: whole as u64,
            unsaved: Vec::new(),
        };
        Ok(Loaded { session, records, model, cwd, bridge, was_torn })
    }
}

fn json(line: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Ends with the descriptor, however the process ends.
fn lock(file: &File, name: &str, path: &Path) -> Result<(), SessionError> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => SessionError::Locked(name.to_owned()),
        error => SessionError::Io { what: "lock", path: path.to_owned(), source: error.into() },
    })
}
