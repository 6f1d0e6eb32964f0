//! What `linkspan diff` says in the end: what became of each file, for people and for scripts.

use std::path::Path;

use linkspan_client::connection::Taken;
use linkspan_client::{Decided, visible};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::{ADDED, DIM, REMOVED, Report, WARNING, count, styled};

/// One file and what was decided about it, or why that is not known or not done.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) decided: Result<Decided, Failure>,
}

impl Ended {
    pub(super) fn accepted(&self) -> Option<&Decided> {
        self.decided.as_ref().ok().filter(|decided| decided.is_accepted())
    }

    fn exit(&self) -> Exit {
        match &self.decided {
            Ok(decided) if decided.is_accepted() => Exit::Ok,
            Ok(_) => Exit::No,
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
                Some(Taken::Some) => {
                    let taken = decided.hunks.iter().filter(|hunk| hunk.taken).count();
                    format!("accepted, {taken} of {}", count(decided.hunks.len() as u64, "hunk"))
                }
                Some(Taken::Edited) => "accepted with changes".to_owned(),
                Some(Taken::All) | None => "accepted".to_owned(),
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

/// What a folder holds that nobody was asked about.
#[derive(Debug, Default)]
pub(super) struct Unasked<'a> {
    pub(super) skipped: &'a [(std::path::PathBuf, String)],
    pub(super) left_alone: usize,
}

impl Unasked<'_> {
    fn lines(&self) -> Vec<String> {
        let name = |path: &Path| visible::name(&path.to_string_lossy());
        let skipped = self.skipped.iter().map(|(path, why)| {
            format!("{} {}: {}", styled(WARNING, "skipped"), name(path), visible::name(why))
        });
        let left = (self.left_alone > 0).then(|| {
            let files = count(self.left_alone as u64, "file");
            styled(DIM, &format!("{files} that the new folder does not have left alone"))
        });
        skipped.chain(left).collect()
    }
}

/// The end of one file, or of a set: a single no is a no.
pub(super) fn report(ended: &[Ended], dir: bool, unasked: &Unasked<'_>) -> Report {
    let lines: Vec<String> = ended.iter().map(Ended::line).chain(unasked.lines()).collect();
    let document = match ended {
        [one] if !dir => one.json(),
        all => {
            let skipped = unasked.skipped.iter();
            let skipped = skipped
                .map(|(path, reason)| json!({ "path": path.to_string_lossy(), "reason": reason }))
                .collect::<Vec<_>>();
            json!({
                "changes": all.iter().map(Ended::json).collect::<Vec<_>>(),
                "skipped": skipped,
                "leftAlone": unasked.left_alone,
            })
        }
    };
    // What went wrong says more than a no, and a no more than a yes.
    let exits = || ended.iter().map(Ended::exit);
    let wrong = exits().find(|exit| !matches!(exit, Exit::Ok | Exit::No));
    let exit = wrong.or_else(|| exits().find(|exit| *exit == Exit::No)).unwrap_or_default();
    Report::new(lines.join("\n"), document).ending(exit)
}
