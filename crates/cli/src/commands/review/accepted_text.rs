//! Writes an accepted text, for editors that leave writing to the caller.

use std::path::Path;

use linkspan_client::ChangeOutcome;
use linkspan_client::proposal::{Edit, proposed};
use linkspan_hub::core::contract::{Replacement, WriteError};
use linkspan_hub::disk;
use linkspan_review::{Digest, ReviewId};

use crate::cli::exit::{Exit, Failure};

/// Writes an accepted text, unless it is written already. A file that no longer holds `before` is not touched.
pub(crate) fn write_accepted(
    path: &Path,
    before: Option<&[u8]>,
    decided: ChangeOutcome,
) -> Result<ChangeOutcome, Failure> {
    if decided.written || !decided.is_accepted() {
        return Ok(decided);
    }
    let refused = |why: String| {
        Failure::new(Exit::Refused, format!("{} was accepted but not written: {why}", path.display()))
    };
    // No default: an empty text is a valid text.
    let Some(content) = decided.text.clone() else {
        return Err(refused("the editor did not send the accepted text; look at it there".into()));
    };
    let proposal =
        proposed(&Edit::WriteFile { content }, before).map_err(|error| refused(error.to_string()))?;
    let order = Replacement {
        // Used only for the name of the temporary file.
        review: ReviewId(u64::from(std::process::id())),
        folders: path.ancestors().last().map(Path::to_owned).into_iter().collect(),
        path: path.to_owned(),
        bytes: proposal.bytes().to_vec().into(),
        expect: before.map(Digest::of),
        mode: None,
        limit_mib: 1024,
    };
    disk::replace(&order).map_err(|error| match error {
        WriteError::BaseMoved(_) => {
            refused("it changed while the change was shown; run the command again".into())
        }
        WriteError::Failed(error) => refused(error.to_string()),
    })?;
    Ok(ChangeOutcome { written: true, ..decided })
}

#[cfg(test)]
pub(crate) mod tests {
    use linkspan_client::connection::DiffOutcome;

    use super::*;

    pub(crate) fn accepted_without_a_text() -> ChangeOutcome {
        ChangeOutcome {
            outcome: DiffOutcome::FileSaved,
            text: None,
            written: false,
            review: None,
            new_file: false,
            taken: None,
            hunks: Vec::new(),
            person_diff: None,
            reason: None,
            comments: Vec::new(),
        }
    }

    #[test]
    fn a_missing_text_is_not_written_as_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "one").unwrap();
        let refused = write_accepted(&path, Some(b"one"), accepted_without_a_text()).unwrap_err();
        assert_eq!(refused.exit, Exit::Refused);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
    }

    #[test]
    fn a_file_that_changed_in_the_meantime_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "theirs").unwrap();
        let accepted = ChangeOutcome { text: Some("two".into()), ..accepted_without_a_text() };
        let refused = write_accepted(&path, Some(b"one"), accepted).unwrap_err();
        assert!(refused.message.contains("changed while"), "{}", refused.message);
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    }
}
