//! How a command ends: the documented exit codes, and what is said when it did not do what was asked.

use linkspan_client::{ConnectError, ControlError, RelayError};
use linkspan_editor_api::{PlacesError, RpcError, errors};
use serde_json::{Map, Value, json};

/// The exit codes. They are a promise: scripts depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    No,
    Usage,
    NoHub,
    UnknownReview,
    Refused,
    Version,
    Internal,
}

impl Exit {
    const ALL: [Exit; 8] = [
        Exit::Ok,
        Exit::No,
        Exit::Usage,
        Exit::NoHub,
        Exit::UnknownReview,
        Exit::Refused,
        Exit::Version,
        Exit::Internal,
    ];

    pub(crate) fn code(self) -> u8 {
        self.row().0
    }

    /// What `--json` calls it.
    pub(crate) fn name(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (u8, &'static str, &'static str) {
        match self {
            Exit::Ok => (0, "ok", "done"),
            Exit::No => {
                (1, "no", "the answer is no: already decided, no longer pending, or look again first")
            }
            Exit::Usage => (2, "usage", "the command was not understood"),
            Exit::NoHub => (3, "no-hub", "there is no hub, or it does not answer"),
            Exit::UnknownReview => {
                (4, "unknown-review", "there is no such review or change, or nothing to undo")
            }
            Exit::Refused => (5, "refused", "the hub does not allow it, or cannot do it"),
            Exit::Version => (6, "version", "the running hub is of another version"),
            Exit::Internal => (70, "internal", "a fault of Linkspan or of the system"),
        }
    }
}

/// The table for `--help`.
pub(crate) fn help() -> String {
    let mut text = String::from("Exit codes:\n");
    for exit in Exit::ALL {
        let (code, _, meaning) = exit.row();
        text += &format!("  {code:<3} {meaning}\n");
    }
    text + "\nWith --json each command prints one JSON document, and errors as {\"error\":{\"code\",\"message\"}}."
}

/// Why a command did not do what was asked: one message that says what happened, to what, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// What `--json` says besides the error.
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
    fn the_codes_are_those_that_were_promised() {
        let codes: Vec<_> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 70]);
    }

    #[test]
    fn an_error_keeps_what_the_document_says_besides() {
        let mut failure = Failure::new(Exit::No, "somebody else was first");
        failure.more.insert("review".into(), json!("r1"));
        let error = json!({ "code": "no", "message": "somebody else was first" });
        assert_eq!(failure.json(), json!({ "review": "r1", "error": error }));
    }

    #[test]
    fn a_review_that_does_not_exist_has_a_code_of_its_own() {
        let failure = Failure::from(ControlError::Answer(RpcError::new(errors::UNKNOWN_REVIEW, "no r9")));
        assert_eq!((failure.exit, failure.message.as_str()), (Exit::UnknownReview, "no r9"));
    }
}
