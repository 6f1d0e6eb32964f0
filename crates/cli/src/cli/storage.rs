//! Whether a hub can store its data: the directories it writes to, the free space on their disk, and the journal. Only
//! reads, except for one small file that is written and removed again.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use linkspan_editor_api::Places;
use linkspan_hub::journal::{Inspection, inspect};
use rustix::fs::Access;

/// With less, a hub soon cannot record anything.
const MIN_FREE: u64 = 32 * 1024 * 1024;

/// Something that keeps a hub from working, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StorageProblem {
    pub(crate) found: String,
    pub(crate) remedy: String,
}

impl StorageProblem {
    fn new(found: impl Into<String>, remedy: impl Into<String>) -> StorageProblem {
        StorageProblem { found: found.into(), remedy: remedy.into() }
    }
}

/// Problems with the directories and the disk.
pub(crate) fn places(places: &Places) -> Vec<StorageProblem> {
    let mut problems = Vec::new();
    let state = &places.state;
    if let Err(error) = can_be_written(state) {
        let found = format!("cannot write to {}: {error}", state.display());
        let remedy = "The hub cannot start without it. Make it writable, or set XDG_STATE_HOME to a directory that is.";
        problems.push(StorageProblem::new(found, remedy));
    }
    // Some agents look only below HOME.
    if let Err(error) = allows_writing(&places.home) {
        let found = format!("cannot write to the home directory {}: {error}", places.home.display());
        let remedy = "Agents look there for editors and will find none. Make it writable, or set HOME.";
        problems.push(StorageProblem::new(found, remedy));
    }
    if let Some((found, free)) = nearest(state).and_then(|found| Some((found, free(found)?)))
        && free < MIN_FREE
    {
        let found = format!("the disk of {} has only {} KiB free", found.display(), free / 1024);
        let remedy = "Without space for the journal, changes are not shown and decisions are not accepted. Free some space.";
        problems.push(StorageProblem::new(found, remedy));
    }
    problems
}

/// The state of the journal, and what is wrong with it.
pub(crate) fn journal(path: &Path) -> (Inspection, Option<StorageProblem>) {
    let inspection = inspect(path);
    let shown = path.display();
    let problem = match &inspection {
        Inspection::None | Inspection::Sound { .. } => None,
        Inspection::Newer { found, known } => Some(StorageProblem::new(
            format!("{shown} was written by a newer linkspan (format {found}, this one knows {known})"),
            "This version of the hub does not start with it. Update linkspan, or move the file away to start with a new one.",
        )),
        Inspection::Damaged(why) => Some(StorageProblem::new(
            format!("{shown} is damaged: {why}"),
            "The next hub renames it and starts a new one; the damaged file is kept.",
        )),
        Inspection::Unreadable(why) => Some(StorageProblem::new(
            format!("cannot read {shown}: {why}"),
            "Make the file and its folder yours (chown, chmod 600), then run `linkspan hub stop`.",
        )),
    };
    (inspection, problem)
}

fn can_be_written(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(_) => try_writing(folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            nearest(folder).map_or(Ok(()), allows_writing)
        }
        Err(error) => Err(error),
    }
}

/// Permissions are not enough: a quota or a full disk also prevents writing.
fn try_writing(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".doctor-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = file.write_all(&[0; 4096]).and_then(|()| file.sync_all());
    fs::remove_file(&path)?;
    written
}

fn allows_writing(folder: &Path) -> io::Result<()> {
    if !fs::metadata(folder)?.is_dir() {
        return Err(io::Error::other(format!("{} is not a directory", folder.display())));
    }
    Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// The folder itself, or the nearest one above it that exists.
fn nearest(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| fs::symlink_metadata(folder).is_ok())
}

fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
