//! How a command ends: the documented exit codes, and the message of a command that failed.

use linkspan_client::{CallError, ConnectError, ControlError, OpenError, RelayError};
use linkspan_editor_api::{PlacesError, RpcError, errors};
use serde_json::{Map, Value, json};

/// The exit codes. They are a promise: scripts depend on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    #[default]
    Ok,
    Negative,
    Usage,
    NoHub,
    UnknownReview,
    Refused,
    Version,
    NoWindow,
    Internal,
    Interrupted,
}

impl Exit {
    pub(crate) const ALL: [Exit; 10] = [
        Exit::Ok,
        Exit::Negative,
        Exit::Usage,
        Exit::NoHub,
        Exit::UnknownReview,
        Exit::Refused,
        Exit::Version,
        Exit::NoWindow,
        Exit::Internal,
        Exit::Interrupted,
    ];

    pub(crate) fn code(self) -> u8 {
        self.row().code
    }

    /// The `code` of an error with `--json`.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    fn row(self) -> Row {
        let row = |code, name, meaning, details| Row { code, name, meaning, details };
        match self {
            Exit::Ok => row(0, "ok", "done", ""),
            Exit::Negative => row(
                1,
                "no",
                "negative result: rejected, already decided, stale, errors found, condition false",
                "something was rejected (`diff`), the review was already decided or changed since you looked, the hub \
                 has pending reviews and does not stop without `--force`, there are errors (`diagnostics`, \
                 `config check`), nothing is selected, there is no context (`context`), the file has no unsaved changes \
                 (`dirty`), no editor is used (`ide`), an answer differs (`replay`), a required point fails (`conform`), something needs attention (`doctor`, `hook status`), \
                 you did not confirm, or a file was changed meanwhile (`hook install`)",
            ),
            Exit::Usage => row(2, "usage", "the command line is wrong", ""),
            Exit::NoHub => row(3, "no-hub", "the hub cannot be reached or does not answer", ""),
            Exit::UnknownReview => {
                row(4, "unknown-review", "there is no such review or change, or nothing to undo", "")
            }
            Exit::Refused => row(
                5,
                "refused",
                "refused by the hub, the editor or a tool",
                "not allowed or not possible; the message has the reason",
            ),
            Exit::Version => row(6, "version", "the running hub has a different version", ""),
            Exit::NoWindow => row(
                7,
                "no-window",
                "no editor window can be used",
                "none fits, several fit equally well, or it does not answer",
            ),
            Exit::Internal => row(70, "internal", "an error in Linkspan or the operating system", ""),
            Exit::Interrupted => {
                row(130, "interrupted", "interrupted by a signal", "`call`, `conform`, `diff`, `try`")
            }
        }
    }
}

struct Row {
    code: u8,
    name: &'static str,
    /// For `--help`.
    meaning: &'static str,
    /// More, for docs/commands.md.
    details: &'static str,
}

/// The table for `--help`.
pub(crate) fn help() -> String {
    let rows = Exit::ALL.map(|exit| {
        let Row { code, meaning, .. } = exit.row();
        format!("  {code:<3} {meaning}")
    });
    format!("Exit codes:\n{}", rows.join("\n"))
}

/// The table for docs/commands.md.
pub(crate) fn markdown() -> String {
    let mut text = String::from("| code | with `--json` | meaning |\n|---|---|---|\n");
    for exit in Exit::ALL {
        let Row { code, name, meaning, details } = exit.row();
        // No document is printed then.
        let name =
            if matches!(exit, Exit::Ok | Exit::Interrupted) { String::new() } else { format!("`{name}`") };
        let meaning = match (meaning.split_once(':'), details) {
            (_, "") => meaning.to_owned(),
            (Some((short, _)), _) => format!("{short}: {details}"),
            (None, _) => format!("{meaning}: {details}"),
        };
        text += &format!("| {code} | {name} | {meaning} |\n");
    }
    text
}

/// Why a command failed: one message that says what happened, to what, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// Members of the `--json` document besides `error`.
    pub(crate) more: Map<String, Value>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), more: Map::new() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Internal, message)
    }

    pub(crate) fn json(&self) -> Value {
        let mut document = self.more.clone();
        document.insert("error".into(), json!({ "code": self.exit.name(), "message": self.message }));
        Value::Object(document)
    }
}

impl From<PlacesError> for Failure {
    fn from(error: PlacesError) -> Failure {
        Failure::new(Exit::NoHub, error.to_string())
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        Failure::new(Exit::NoHub, error.to_string())
    }
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Failure {
        let exit = match error.code {
            errors::UNKNOWN_REVIEW | errors::UNKNOWN_CHANGE => Exit::UnknownReview,
            errors::VERSION => Exit::Version,
            errors::UNKNOWN_WINDOW => Exit::NoWindow,
            errors::TIMEOUT => Exit::NoHub,
            errors::PARSE | errors::INVALID_REQUEST | errors::METHOD_NOT_FOUND | errors::INTERNAL => {
                Exit::Internal
            }
            _ => Exit::Refused,
        };
        Failure::new(exit, error.message)
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Failure {
        match error {
            ControlError::Answer(error) => error.into(),
            ControlError::Version(message) => Failure::new(Exit::Version, message),
            ControlError::Timeout { .. } | ControlError::Closed | ControlError::Io(_) => {
                Failure::new(Exit::NoHub, error.to_string())
            }
            ControlError::Framing(_) | ControlError::Parse(_) | ControlError::Result { .. } => {
                Failure::internal(error.to_string())
            }
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        match error {
            OpenError::Hub(error) => error.into(),
            OpenError::Join(error) => error.into(),
            other => Failure::new(Exit::NoWindow, other.to_string()),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        let exit = match &error {
            CallError::Closed | CallError::Timeout { .. } => Exit::NoWindow,
            CallError::Withdrawn => Exit::Negative,
            _ => Exit::Refused,
        };
        Failure::new(exit, error.to_string())
    }
}

impl From<RelayError> for Failure {
    fn from(error: RelayError) -> Failure {
        let exit = match &error {
            RelayError::Shim(_) | RelayError::Hub(_) => Exit::Internal,
            RelayError::Version(_) => Exit::Version,
            RelayError::Refused(_) => Exit::Refused,
            RelayError::Connect(_) => Exit::NoHub,
        };
        Failure::new(exit, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_as_documented() {
        let codes: Vec<_> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 70, 130]);
    }

    #[test]
    fn an_error_keeps_the_other_members_of_the_document() {
        let mut failure = Failure::new(Exit::Negative, "already decided");
        failure.more.insert("review".into(), json!("r1"));
        let error = json!({ "code": "no", "message": "already decided" });
        assert_eq!(failure.json(), json!({ "review": "r1", "error": error }));
    }

    #[test]
    fn a_review_that_does_not_exist_has_a_code_of_its_own() {
        let failure = Failure::from(ControlError::Answer(RpcError::new(errors::UNKNOWN_REVIEW, "no r9")));
        assert_eq!((failure.exit, failure.message.as_str()), (Exit::UnknownReview, "no r9"));
    }
}
