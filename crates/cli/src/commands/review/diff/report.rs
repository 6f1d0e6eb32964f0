//! What `linkspan diff` prints at the end: the outcome of each file, as text and as JSON.

use std::path::Path;

use linkspan_client::connection::AcceptedPart;
use linkspan_client::{ChangeOutcome, visible};
use linkspan_editor_api::{VerdictKind, labels};
use serde_json::{Value, json};

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{ADDED, DIM, REMOVED, Report, WARNING, count, styled};

/// One file and the decision about it, or why it is unknown or was not carried out.
#[derive(Debug)]
pub(super) struct FileOutcome {
    pub(super) name: String,
    pub(super) decided: Result<ChangeOutcome, Failure>,
}

impl FileOutcome {
    pub(super) fn accepted(&self) -> Option<&ChangeOutcome> {
        self.decided.as_ref().ok().filter(|decided| decided.is_accepted())
    }

    fn exit(&self) -> Exit {
        match &self.decided {
            Ok(decided) if decided.is_accepted() => Exit::Ok,
            Ok(_) => Exit::Negative,
            Err(failure) => failure.exit,
        }
    }

    fn line(&self) -> String {
        let name = visible::name(&self.name);
        let decided = match &self.decided {
            Ok(decided) => decided,
            Err(failure) => {
                return format!("{} {name}: {}", styled(WARNING, "failed"), visible::name(&failure.message));
            }
        };
        let mut text = if decided.is_accepted() {
            let how = match decided.taken {
                Some(AcceptedPart::Some) => {
                    let taken = decided.hunks.iter().filter(|hunk| hunk.taken).count();
                    format!("accepted, {taken} of {}", count(decided.hunks.len() as u64, "hunk"))
                }
                Some(AcceptedPart::Edited) => labels::verdict(VerdictKind::AcceptEdited).to_owned(),
                Some(AcceptedPart::All) | None => "accepted".to_owned(),
            };
            let written = if decided.written { "" } else { ", not written" };
            format!("{} {name}{}", styled(ADDED, &how), styled(DIM, written))
        } else {
            format!("{} {name}", styled(REMOVED, "rejected"))
        };
        if let Some(reason) = &decided.reason {
            text += &format!("\n  {}", visible::name(reason));
        }
        for comment in &decided.comments {
            text += &format!("\n  line {}: {}", comment.line, visible::name(&comment.text));
        }
        text
    }

    fn json(&self) -> Value {
        let (mut document, outcome) = match &self.decided {
            Ok(decided) => {
                let outcome = if decided.is_accepted() { "accepted" } else { "rejected" };
                (serde_json::to_value(decided).unwrap_or_default(), outcome)
            }
            Err(failure) => (failure.json(), "failed"),
        };
        if let Value::Object(fields) = &mut document {
            fields.insert("outcome".into(), outcome.into());
            fields.insert("path".into(), self.name.clone().into());
        }
        document
    }
}

/// Files of the folders that are not proposed.
#[derive(Debug, Default)]
pub(super) struct NotProposed<'a> {
    pub(super) skipped: &'a [(std::path::PathBuf, String)],
    pub(super) left_alone: usize,
}

impl NotProposed<'_> {
    fn lines(&self) -> Vec<String> {
        let name = |path: &Path| visible::name(&path.to_string_lossy());
        let skipped = self.skipped.iter().map(|(path, why)| {
            format!("{} {}: {}", styled(WARNING, "skipped"), name(path), visible::name(why))
        });
        let left = (self.left_alone > 0).then(|| {
            let files = count(self.left_alone as u64, "file");
            styled(DIM, &format!("{files} not in the new folder: not touched"))
        });
        skipped.chain(left).collect()
    }
}

/// The report on one file or a set: a set with one rejected file counts as rejected.
pub(super) fn report(outcomes: &[FileOutcome], dir: bool, not_proposed: &NotProposed<'_>) -> Report {
    let lines: Vec<String> = outcomes.iter().map(FileOutcome::line).chain(not_proposed.lines()).collect();
    let document = match outcomes {
        [one] if !dir => one.json(),
        all => {
            let skipped = not_proposed.skipped.iter();
            let skipped = skipped
                .map(|(path, reason)| json!({ "path": path.to_string_lossy(), "reason": reason }))
                .collect::<Vec<_>>();
            json!({
                "changes": all.iter().map(FileOutcome::json).collect::<Vec<_>>(),
                "skipped": skipped,
                "leftAlone": not_proposed.left_alone,
            })
        }
    };
    // A failure matters more than a rejection, and a rejection more than an accepted file.
    let exits = || outcomes.iter().map(FileOutcome::exit);
    let wrong = exits().find(|exit| !matches!(exit, Exit::Ok | Exit::Negative));
    let exit = wrong.or_else(|| exits().find(|exit| *exit == Exit::Negative)).unwrap_or_default();
    Report::new(lines.join("\n"), document).ending(exit)
}
