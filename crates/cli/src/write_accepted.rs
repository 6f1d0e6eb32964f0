//! Writing what a person accepted, where the editor's side leaves that to whoever asked.

use std::path::Path;

use linkspan_client::Decided;
use linkspan_client::proposal::{Edit, proposed};
use linkspan_hub::files;
use linkspan_review::{Digest, ReviewId};

use crate::exit::{Exit, Failure};

/// Writes an accepted text, if nobody has. The file still holds `before`, or it is not touched.
pub(crate) fn write_accepted(
    path: &Path,
    before: Option<&[u8]>,
    decided: Decided,
) -> Result<Decided, Failure> {
    if decided.written || !decided.is_accepted() {
        return Ok(decided);
    }
    let refused = |why: String| {
        Failure::new(Exit::Refused, format!("{} was accepted but not written: {why}", path.display()))
    };
    // Never a guess: an empty text is a text too.
    let Some(content) = decided.text.clone() else {
        return Err(refused("the editor did not say which text was accepted; look at it there".into()));
    };
    let proposal =
        proposed(&Edit::WriteFile { content }, before).map_err(|error| refused(error.to_string()))?;
    let order = files::Replacement {
        // Only names the temporary file.
        review: ReviewId(u64::from(std::process::id())),
        folders: path.ancestors().last().map(Path::to_owned).into_iter().collect(),
        path: path.to_owned(),
        bytes: proposal.bytes().to_vec().into(),
        expect: before.map(Digest::of),
        mode: None,
        limit_mib: 1024,
    };
    files::replace(&order).map_err(|error| match error {
        files::WriteError::BaseMoved(_) => {
            refused("it changed while the change was shown; run the command again".into())
        }
        files::WriteError::Failed(error) => refused(error.to_string()),
    })?;
    Ok(Decided { written: true, ..decided })
}

#[cfg(test)]
pub(crate) mod tests {
    use linkspan_client::connection::DiffOutcome;

    use super::*;

    pub(crate) fn accepted_without_a_text() -> Decided {
        Decided {
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
    fn a_text_that_was_not_told_is_not_written_as_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "one").unwrap();
        let refused = write_accepted(&path, Some(b"one"), accepted_without_a_text()).unwrap_err();
        assert_eq!(refused.exit, Exit::Refused);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "hers").unwrap();
        let accepted = Decided { text: Some("two".into()), ..accepted_without_a_text() };
        let refused = write_accepted(&path, Some(b"one"), accepted).unwrap_err();
        assert!(refused.message.contains("changed while"), "{}", refused.message);
        assert_eq!(std::fs::read(&path).unwrap(), b"hers");
    }
}
