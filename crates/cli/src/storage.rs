//! Whether a hub could keep what it has to keep: the places it writes to, the room on their disk, and the journal. Looks
//! only, but for one small file that is made and removed again.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use linkspan_editor_api::Places;
use linkspan_hub::journal::{Inspection, inspect};
use rustix::fs::Access;

/// Below this, a hub soon cannot record anything.
const LEAST_FREE: u64 = 32 * 1024 * 1024;

/// One thing that keeps a hub from doing its work, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) found: String,
    pub(crate) remedy: String,
}

impl Problem {
    fn new(found: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { found: found.into(), remedy: remedy.into() }
    }
}

/// Everything but the journal.
pub(crate) fn places(places: &Places) -> Vec<Problem> {
    let mut problems = Vec::new();
    let state = &places.state;
    if let Err(error) = can_be_written(state) {
        let found = format!("{} cannot be written: {error}", state.display());
        let remedy = "No hub can start without it. Make it writable for yourself, or set XDG_STATE_HOME to a directory \
                      that is.";
        problems.push(Problem::new(found, remedy));
    }
    // Some agents look only below HOME.
    if let Err(error) = allows_writing(&places.home) {
        let found = format!("the home directory {} cannot be written: {error}", places.home.display());
        let remedy = "Agents look for editors below it and will find none. Make it writable, or set HOME.";
        problems.push(Problem::new(found, remedy));
    }
    if let Some((found, free)) = nearest(state).and_then(|found| Some((found, free(found)?)))
        && free < LEAST_FREE
    {
        let found = format!("the disk of {} has only {} KiB left", found.display(), free / 1024);
        let remedy =
            "Without room for the journal no change is shown and no decision counts. Free some space.";
        problems.push(Problem::new(found, remedy));
    }
    problems
}

/// What is wrong with the journal.
pub(crate) fn journal(path: &Path) -> (Inspection, Option<Problem>) {
    let inspection = inspect(path);
    let shown = path.display();
    let problem = match &inspection {
        Inspection::None | Inspection::Sound { .. } => None,
        Inspection::Newer { found, known } => Some(Problem::new(
            format!("{shown} was written by a newer linkspan (format {found}, this one knows {known})"),
            "No hub of this version starts with it. Update linkspan, or move the file away to begin anew.",
        )),
        Inspection::Damaged(why) => Some(Problem::new(
            format!("{shown} is damaged: {why}"),
            "A hub that starts puts it aside and begins a new one; the old one stays for you to look at.",
        )),
        Inspection::Unreadable(why) => Some(Problem::new(
            format!("{shown} cannot be read: {why}"),
            "Make it and its folder yours (chown, chmod 600), then `linkspan hub stop`.",
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

/// Whatever the permissions say: a quota or a full disk says no as well.
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
