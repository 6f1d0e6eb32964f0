//! Diffs in git's own format.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;

use super::repository::{Repository, literal};
use crate::cancel::Cancel;
use crate::error::WorkspaceError;
use crate::folders::Workspace;

const MOST_TEXT: usize = 1024 * 1024;
/// The system limits the size of arguments.
const MOST_LEFT_OUT: usize = 1000;

/// A diff in git's own format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GitDiff {
    /// Invalid UTF-8 is replaced.
    pub text: String,
    /// There is more; the text ends with a whole line.
    pub truncated: bool,
}

/// The differences between the files and the index or, if `staged`, between the index and the last commit.
pub fn diff(
    workspace: &Workspace,
    folder: &Path,
    path: Option<&Path>,
    staged: bool,
    cancel: &Cancel,
) -> Result<GitDiff, WorkspaceError> {
    let repository = Repository::open(workspace, folder, cancel)?;
    let path = repository.named(path.unwrap_or(Path::new(".")))?;
    let staged = staged.then_some("--cached");
    let harmless = [
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--submodule=short",
        "--ignore-submodules=dirty",
        "--relative",
    ];
    let git = || repository.reading("diff").args(harmless).args(staged);

    // Without renames both names of a file are listed, so that neither slips through.
    let listed = git().args(["--name-only", "-z", "--no-renames", "--"]).args([literal(&path)]);
    let listed = listed.output(cancel)?;
    let changed = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let denied: BTreeSet<OsString> = changed
        .filter_map(|name| {
            let file = repository.folder.join(std::ffi::OsStr::from_bytes(name));
            let part = workspace.denied_part(&file)?.strip_prefix(&repository.folder).ok()?;
            let mut left_out = OsString::from(":(exclude,literal)");
            left_out.push(part);
            Some(left_out)
        })
        .collect();
    if denied.len() > MOST_LEFT_OUT {
        return Err(WorkspaceError::GitTooMuch { what: "diff".into() });
    }

    let ran = git().args(["--"]).args([literal(&path)]).args(denied).at_most(MOST_TEXT).run(cancel)?;
    if !ran.truncated && !ran.status.success() {
        return Err(ran.failure());
    }
    let whole = match ran.output.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if ran.truncated => ran.output.get(..=end).unwrap_or_default(),
        _ => &ran.output,
    };
    Ok(GitDiff { text: String::from_utf8_lossy(whole).into_owned(), truncated: ran.truncated })
}
