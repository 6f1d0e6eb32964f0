//! What `linkspan diff` says in the end: what became of each file, for people and for scripts.

use std::path::Path;

use linkspan_client::connection::Taken;
use linkspan_client::{Decided, visible};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{ADDED, DIM, REMOVED, Report, WARNING, count, styled};

/// One file and what was decided about it.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) decided: Decided,
}

impl Ended {
    fn line(&self) -> String {
        let name = visible::name(&self.name);
        let mut text = if self.decided.is_accepted() {
            let how = match self.decided.taken {
                Some(Taken::Some) => {
                    let taken = self.decided.hunks.iter().filter(|hunk| hunk.taken).count();
                    format!("accepted, {taken} of {}", count(self.decided.hunks.len() as u64, "hunk"))
                }
                Some(Taken::Edited) => "accepted with changes".to_owned(),
                Some(Taken::All) | None => "accepted".to_owned(),
            };
            let written = if self.decided.written { "" } else { ", not written" };
            format!("{} {name}{}", styled(ADDED, &how), styled(DIM, written))
        } else {
            format!("{} {name}", styled(REMOVED, "rejected"))
        };
        if let Some(reason) = &self.decided.reason {
            text += &format!("\n  {}", visible::name(reason));
        }
        for comment in &self.decided.comments {
            text += &format!("\n  line {}: {}", comment.line, visible::name(&comment.text));
        }
        text
    }

    fn json(&self) -> Value {
        let mut document = serde_json::to_value(&self.decided).unwrap_or_default();
        if let Value::Object(fields) = &mut document {
            let outcome = if self.decided.is_accepted() { "accepted" } else { "rejected" };
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
    let all_accepted = ended.iter().all(|one| one.decided.is_accepted());
    Report::new(lines.join("\n"), document).ending(if all_accepted { Exit::Ok } else { Exit::No })
}
