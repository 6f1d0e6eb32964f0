//! A question of the agent that waits for an answer, and how far it is. Each is answered once.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::frames::{self, list, text};

#[derive(Debug)]
pub(super) enum OpenQuestion {
    /// Whether the agent may be started; the answer is not sent to it.
    Start,
    /// Whether files may be changed.
    Edit(Permission),
    /// Whether it may do something else.
    Other(Permission),
    /// What a file holds.
    Read { request: Value, path: PathBuf },
}

/// A permission request.
#[derive(Debug)]
pub(super) struct Permission {
    /// The id of the request, as it was sent.
    pub(super) request: Value,
    /// The id of its tool call.
    pub(super) tool: String,
    pub(super) paths: Vec<PathBuf>,
    answers: AnswerForm,
    pub(super) stage: PermissionStage,
}

/// How its request is answered.
#[derive(Debug)]
enum AnswerForm {
    /// With one of its options.
    Options { allow: Option<String>, reject: Option<String> },
    /// It is `fs/write_text_file`, with a result or an error.
    Write,
}

/// What an agent reads whose `fs/write_text_file` was not accepted.
const NOT_WRITTEN: &str = "The user did not accept this text as it is, so it was not written. What the file holds now is \
                           said at the end of the turn.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PermissionStage {
    /// Nobody has answered.
    Asked,
    /// We said no, because the hub writes what was accepted; the agent has not shown that it knows.
    Declining,
    /// The agent knows our no: the hub may write.
    Declined,
    /// Answered; the agent has not shown that it knows.
    Answered,
}

impl Permission {
    pub(super) fn new(request: Value, params: &Value, tool: &str) -> Permission {
        // Options that end the asking are never taken: then nothing would be reviewed from then on.
        let option = |kind: &str| {
            let found = list(params, "options").find(|option| text(option, "kind") == Some(kind));
            found.and_then(|option| text(option, "optionId")).map(str::to_owned)
        };
        Permission {
            request,
            tool: tool.to_owned(),
            paths: Vec::new(),
            answers: AnswerForm::Options { allow: option("allow_once"), reject: option("reject_once") },
            stage: PermissionStage::Asked,
        }
    }

    /// A `fs/write_text_file`, which is not obeyed before it is accepted.
    pub(super) fn of_write(request: Value, path: PathBuf) -> Permission {
        let tool = format!("write {request}");
        let (paths, answers) = (vec![path], AnswerForm::Write);
        Permission { request, tool, paths, answers, stage: PermissionStage::Asked }
    }

    pub(super) fn is_write(&self) -> bool {
        matches!(self.answers, AnswerForm::Write)
    }

    /// The frame of a yes; a no if the agent does not offer one for this time only.
    pub(super) fn allowed(&self) -> String {
        match &self.answers {
            AnswerForm::Options { allow: Some(option), .. } => frames::selected(&self.request, option),
            AnswerForm::Options { allow: None, .. } => self.rejected(),
            AnswerForm::Write => frames::result(&self.request, &json!({})),
        }
    }

    pub(super) fn can_allow(&self) -> bool {
        !matches!(self.answers, AnswerForm::Options { allow: None, .. })
    }

    pub(super) fn rejected(&self) -> String {
        match &self.answers {
            AnswerForm::Options { reject: Some(option), .. } => frames::selected(&self.request, option),
            AnswerForm::Options { reject: None, .. } | AnswerForm::Write => self.cancelled(),
        }
    }

    pub(super) fn cancelled(&self) -> String {
        match &self.answers {
            AnswerForm::Options { .. } => frames::cancelled(&self.request),
            AnswerForm::Write => frames::error(&self.request, frames::INTERNAL_ERROR, NOT_WRITTEN),
        }
    }
}

impl OpenQuestion {
    pub(super) fn permission(&self) -> Option<&Permission> {
        match self {
            OpenQuestion::Edit(permission) | OpenQuestion::Other(permission) => Some(permission),
            OpenQuestion::Start | OpenQuestion::Read { .. } => None,
        }
    }

    pub(super) fn permission_mut(&mut self) -> Option<&mut Permission> {
        match self {
            OpenQuestion::Edit(permission) | OpenQuestion::Other(permission) => Some(permission),
            OpenQuestion::Start | OpenQuestion::Read { .. } => None,
        }
    }

    /// The turn is not over before this is decided.
    pub(super) fn is_undecided(&self) -> bool {
        self.permission().is_some_and(|permission| permission.stage != PermissionStage::Answered)
    }

    pub(super) fn is_request(&self, id: &Value) -> bool {
        match self {
            OpenQuestion::Read { request, .. } => request == id,
            _ => self.permission().is_some_and(|permission| permission.request == *id),
        }
    }
}
