//! The outcome of a change. Clients only check `success`, so a change that is not in the file is a failure, whose
//! `error` has the user's reason and comments. `result` has the same as data.

use std::path::Path;

use linkspan_editor_api::{AcceptedPart, ReviewComment};
use serde::Serialize;

use super::envelope::{REJECTED, ToolOutput, code_of};
use super::tool::ToolContext;
use crate::answer::Answer;
use crate::outcome::{Accepted, Rejected, remark};

#[derive(Serialize)]
struct ChangeResult<'a> {
    applied: bool,
    accepted: bool,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<AcceptedPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    comments: &'a [ReviewComment],
}

impl ChangeResult<'_> {
    const UNDECIDED: ChangeResult<'static> = ChangeResult {
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

    /// The code and the message for a change that the user did not accept, or that could not be made.
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
struct ChangesResult<'a> {
    applied: bool,
    accepted: bool,
    files: Vec<ChangeResult<'a>>,
}

pub(super) fn changed(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    match answer {
        Answer::Set(parts) => {
            let files: Vec<ChangeResult<'_>> =
                parts.iter().filter_map(|(path, part)| decided(path, part, context)).collect();
            let applied = files.iter().all(|file| file.applied);
            let accepted = files.iter().all(|file| file.accepted);
            let failed = files.iter().filter_map(ChangeResult::failed);
            let code = failed.clone().map(|(code, _)| code).find(|code| *code == REJECTED);
            let code = code.or_else(|| failed.clone().next().map(|(code, _)| code));
            let written = files.iter().filter(|file| file.applied);
            let written = written.map(|file| format!("{} was written", file.path));
            let message = failed.map(|(_, message)| message).chain(written).collect::<Vec<_>>().join("; ");
            let told = ToolOutput::new(&ChangesResult { applied, accepted, files });
            Some(match code {
                Some(code) => told.failed(code, message),
                None => told,
            })
        }
        answer => decided(Path::new(""), answer, context).map(|decided| {
            let told = ToolOutput::new(&decided);
            match decided.failed() {
                Some((code, message)) => told.failed(code, message),
                None => told,
            }
        }),
    }
}

fn decided<'a>(path: &Path, answer: &'a Answer, context: &ToolContext<'_>) -> Option<ChangeResult<'a>> {
    let relative = |path: &Path| context.folders.relative(path);
    Some(match answer {
        Answer::Accepted(Accepted { review, path, text, written, taken, comments, .. }) => ChangeResult {
            applied: *written,
            accepted: true,
            path: relative(path),
            review: Some(review),
            content: text.as_deref(),
            taken: Some(*taken),
            comments,
            ..ChangeResult::UNDECIDED
        },
        Answer::Rejected(Rejected { review, path, reason, comments, .. }) => ChangeResult {
            path: relative(path),
            review: Some(review),
            reason: reason.as_deref(),
            comments,
            ..ChangeResult::UNDECIDED
        },
        Answer::Unchanged { path } => ChangeResult {
            accepted: true,
            path: relative(path),
            reason: Some("there is nothing to change"),
            ..ChangeResult::UNDECIDED
        },
        Answer::Failed(failure) => ChangeResult {
            path: relative(path),
            error: Some(&failure.message),
            code: Some(code_of(failure.kind)),
            ..ChangeResult::UNDECIDED
        },
        _ => return None,
    })
}
