//! What a change came to. Clients look only at `success`, so a change that is not in the file is a failure, whose
//! `error` has all that the user said about it. `result` has the same in parts.

use std::path::Path;

use linkspan_editor_api::{ReviewComment, Taken};
use serde::Serialize;

use super::envelope::{REJECTED, Told, code_of};
use super::tool::Context;
use crate::decided::{Accepted, Rejected, remark};
use crate::meaning::Answer;

#[derive(Serialize)]
struct Decided<'a> {
    applied: bool,
    accepted: bool,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<Taken>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    comments: &'a [ReviewComment],
}

impl Decided<'_> {
    const UNDECIDED: Decided<'static> = Decided {
        applied: false,
        accepted: false,
        path: String::new(),
        review: None,
        content: None,
        taken: None,
        reason: None,
        error: None,
        code: None,
        comments: &[],
    };

    /// The code and the words for a change that the user did not accept, or that could not be made.
    fn failed(&self) -> Option<(&'static str, String)> {
        if let (Some(error), Some(code)) = (self.error, self.code) {
            return Some((code, format!("{}: {error}", self.path)));
        }
        if self.accepted {
            return None;
        }
        let reason = self.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let mut message = format!("the user rejected the change to {}{reason}", self.path);
        for comment in self.comments {
            message.push_str("; ");
            message.push_str(&remark(comment));
        }
        Some((REJECTED, message))
    }
}

#[derive(Serialize)]
struct DecidedAll<'a> {
    applied: bool,
    accepted: bool,
    files: Vec<Decided<'a>>,
}

pub(super) fn changed(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    match answer {
        Answer::Set(parts) => {
            let files: Vec<Decided<'_>> =
                parts.iter().filter_map(|(path, part)| decided(path, part, context)).collect();
            let applied = files.iter().all(|file| file.applied);
            let accepted = files.iter().all(|file| file.accepted);
            let failed = files.iter().filter_map(Decided::failed);
            let code = failed.clone().map(|(code, _)| code).find(|code| *code == REJECTED);
            let code = code.or_else(|| failed.clone().next().map(|(code, _)| code));
            let written = files.iter().filter(|file| file.applied);
            let written = written.map(|file| format!("{} was written", file.path));
            let message = failed.map(|(_, message)| message).chain(written).collect::<Vec<_>>().join("; ");
            let told = Told::new(&DecidedAll { applied, accepted, files });
            Some(match code {
                Some(code) => told.failed(code, message),
                None => told,
            })
        }
        answer => decided(Path::new(""), answer, context).map(|decided| {
            let told = Told::new(&decided);
            match decided.failed() {
                Some((code, message)) => told.failed(code, message),
                None => told,
            }
        }),
    }
}

fn decided<'a>(path: &Path, answer: &'a Answer, context: &Context<'_>) -> Option<Decided<'a>> {
    let relative = |path: &Path| context.folders.relative(path);
    Some(match answer {
        Answer::Accepted(Accepted { review, path, text, written, taken, comments, .. }) => Decided {
            applied: *written,
            accepted: true,
            path: relative(path),
            review: Some(review),
            content: text.as_deref(),
            taken: Some(*taken),
            comments,
            ..Decided::UNDECIDED
        },
        Answer::Rejected(Rejected { review, path, reason, comments, .. }) => Decided {
            path: relative(path),
            review: Some(review),
            reason: reason.as_deref(),
            comments,
            ..Decided::UNDECIDED
        },
        Answer::Unchanged { path } => Decided {
            accepted: true,
            path: relative(path),
            reason: Some("there is nothing to change"),
            ..Decided::UNDECIDED
        },
        Answer::Failed(failure) => Decided {
            path: relative(path),
            error: Some(&failure.message),
            code: Some(code_of(failure.kind)),
            ..Decided::UNDECIDED
        },
        _ => return None,
    })
}
