//! One request and its answer on the wire. Does not know the tools.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::{Failure, FailureKind};
use crate::mcp::{Arguments, json};

/// Ids are echoed and kept while a call is open, so their size is bounded.
const LONGEST_ID: usize = 256;

/// The id of a request, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Id(String);

impl Id {
    pub(super) fn none() -> Id {
        Id("null".to_owned())
    }
}

#[derive(Debug)]
pub(super) struct PpxaiCall<'a> {
    pub(super) id: Id,
    pub(super) tool: Cow<'a, str>,
    pub(super) arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct RequestBody<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

/// The request, or why it is invalid, with its id if that could be read.
pub(super) fn read(body: &str) -> Result<PpxaiCall<'_>, (Id, String)> {
    let not = |error: serde_json::Error| {
        (Id::none(), format!("the body is not a request: {error}; send {{\"id\", \"tool\", \"args\"}}"))
    };
    let RequestBody { id, tool, args } = serde_json::from_str(body).map_err(not)?;
    let id = match id {
        None => Id::none(),
        Some(id) => read_id(id).map_err(|message| (Id::none(), message))?,
    };
    match Arguments::read("args", args) {
        Ok(arguments) => Ok(PpxaiCall { id, tool, arguments }),
        Err(error) => Err((id, error.to_string())),
    }
}

fn read_id(raw: &RawValue) -> Result<Id, String> {
    let text = raw.get();
    if text.len() > LONGEST_ID {
        return Err(format!("id has {} bytes, at most {LONGEST_ID} are allowed", text.len()));
    }
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => Ok(Id(text.to_owned())),
        // It is echoed as it came: with half of a surrogate pair, the answer would not be valid for every JSON parser.
        Some(b'"') if serde_json::from_str::<String>(text).is_ok() => Ok(Id(text.to_owned())),
        _ if text == "null" => Ok(Id::none()),
        _ => Err("id is invalid: expected a string or a number".to_owned()),
    }
}

/// The result of a tool.
#[derive(Debug)]
pub(super) struct ToolOutput {
    json: String,
    /// The result was cut.
    truncated: bool,
    /// Code and message, if the tool failed.
    failed: Option<(&'static str, String)>,
}

impl ToolOutput {
    pub(super) fn new(value: &impl Serialize) -> ToolOutput {
        ToolOutput { json: json(value), truncated: false, failed: None }
    }

    pub(super) fn cut(value: &impl Serialize, truncated: bool) -> ToolOutput {
        ToolOutput { json: json(value), truncated, failed: None }
    }

    /// A value that is JSON already.
    pub(super) fn raw(json: &str, truncated: bool) -> ToolOutput {
        ToolOutput { json: json.to_owned(), truncated, failed: None }
    }

    /// This result, as a failure.
    pub(super) fn failed(self, code: &'static str, message: String) -> ToolOutput {
        ToolOutput { failed: Some((code, message)), ..self }
    }
}

pub(super) fn answer(Id(id): &Id, told: &ToolOutput) -> String {
    let ToolOutput { json: result, truncated, failed } = told;
    let rest = if *truncated { r#","truncated":true"# } else { "" };
    let success = failed.is_none();
    let error =
        failed.as_ref().map(|(code, message)| format!(r#","error":{},"code":{}"#, json(message), json(code)));
    let error = error.unwrap_or_default();
    format!(r#"{{"id":{id},"success":{success}{error},"result":{result}{rest}}}"#)
}

pub(super) fn failure(Id(id): &Id, code: &str, message: &str) -> String {
    format!(r#"{{"id":{id},"success":false,"error":{},"code":{}}}"#, json(&message), json(&code))
}

pub(super) fn failed(id: &Id, failure: &Failure) -> String {
    self::failure(id, code_of(failure.kind), &failure.message)
}

/// Stable codes for programs; [`CODES`] explains them.
pub(super) fn code_of(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::InvalidParams => "INVALID_ARGUMENT",
        FailureKind::NotFound => "NOT_FOUND",
        FailureKind::OutsideWorkspace => "OUTSIDE_WORKSPACE",
        FailureKind::Denied => "DENIED",
        FailureKind::Unsupported => "UNSUPPORTED",
        FailureKind::TooLarge => "TOO_LARGE",
        FailureKind::NotText => "NOT_TEXT",
        FailureKind::Stale => "STALE_EDIT",
        FailureKind::Io => "FAILED",
        FailureKind::Timeout => "TIMEOUT",
        FailureKind::EditorGone => "EDITOR_GONE",
        FailureKind::Withdrawn => "WITHDRAWN",
        FailureKind::Internal => "INTERNAL",
    }
}

/// There is no such tool.
pub(super) const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";
/// The user rejected the change.
pub(super) const REJECTED: &str = "REJECTED";
/// The body is not a request.
pub(super) const NO_REQUEST: &str = "NO_REQUEST";

pub(super) const CODES: &[(&str, &str)] = &[
    (NO_REQUEST, "The body is not a valid request; the HTTP status is 400"),
    (UNKNOWN_TOOL, "There is no such tool; the message suggests the most similar one"),
    ("INVALID_ARGUMENT", "An argument is missing, invalid or unknown"),
    ("NOT_FOUND", "There is no such file, folder, terminal or repository"),
    ("OUTSIDE_WORKSPACE", "The path is outside the workspace, directly or through a symlink"),
    (
        REJECTED,
        "The user rejected the change; the message has the reason and the comments, `result` is a `Decided`",
    ),
    ("DENIED", "The user, or `deny` in the configuration, does not allow it"),
    ("UNSUPPORTED", "This editor or this machine does not support it"),
    ("TOO_LARGE", "It is larger than the limits allow"),
    ("NOT_TEXT", "It is a folder, or not a text file"),
    ("STALE_EDIT", "The file does not hold the text that the edit expects: read the file again"),
    ("FAILED", "It failed; the message says why"),
    ("TIMEOUT", "It took too long"),
    ("EDITOR_GONE", "The editor is not connected"),
    ("WITHDRAWN", "It was withdrawn before it was done"),
    ("INTERNAL", "A bug in Linkspan"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_not_valid_text_is_not_echoed() {
        let with = |id: &str| format!(r#"{{"id":{id},"tool":"x"}}"#);
        for good in [r#""\u00e9\ud83d\ude80""#, "-1.5e3", "18446744073709551616"] {
            assert_eq!(read(&with(good)).map(|call| call.id.0).ok().as_deref(), Some(good));
        }
        for bad in [r#""\ud800""#, r#""\ud800x""#, "true", "[]"] {
            assert!(read(&with(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_code_is_explained() {
        let kinds = [
            FailureKind::InvalidParams,
            FailureKind::NotFound,
            FailureKind::OutsideWorkspace,
            FailureKind::Denied,
            FailureKind::Unsupported,
            FailureKind::TooLarge,
            FailureKind::NotText,
            FailureKind::Stale,
            FailureKind::Io,
            FailureKind::Timeout,
            FailureKind::EditorGone,
            FailureKind::Withdrawn,
            FailureKind::Internal,
        ];
        for code in kinds.map(code_of).into_iter().chain([UNKNOWN_TOOL, NO_REQUEST]) {
            assert!(CODES.iter().any(|(name, _)| *name == code), "{code}");
        }
    }
}
