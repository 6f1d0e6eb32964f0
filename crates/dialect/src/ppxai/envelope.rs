//! One request and its answer on the wire. Knows no tool.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::mcp::{Arguments, json};
use crate::meaning::{Failure, FailureKind};

/// Ids are echoed and kept while a call is open, so their size is bounded.
const LONGEST_ID: usize = 256;

/// A request's own name for itself, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Id(String);

impl Id {
    pub(super) fn none() -> Id {
        Id("null".to_owned())
    }
}

#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) id: Id,
    pub(super) tool: Cow<'a, str>,
    pub(super) arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

/// The request, or why it is none, with its id where that could be read.
pub(super) fn read(body: &str) -> Result<Call<'_>, (Id, String)> {
    let not = |error: serde_json::Error| {
        (Id::none(), format!("the body is no request: {error}; send {{\"id\", \"tool\", \"args\"}}"))
    };
    let Body { id, tool, args } = serde_json::from_str(body).map_err(not)?;
    let id = match id {
        None => Id::none(),
        Some(id) => read_id(id).map_err(|message| (Id::none(), message))?,
    };
    match Arguments::read("args", args) {
        Ok(arguments) => Ok(Call { id, tool, arguments }),
        Err(error) => Err((id, error.to_string())),
    }
}

fn read_id(raw: &RawValue) -> Result<Id, String> {
    let text = raw.get();
    if text.len() > LONGEST_ID {
        return Err(format!("id has {} bytes; it may have {LONGEST_ID}", text.len()));
    }
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => Ok(Id(text.to_owned())),
        // It is given back as it came: half of a surrogate pair would make an answer of it that not everyone can read.
        Some(b'"') if serde_json::from_str::<String>(text).is_ok() => Ok(Id(text.to_owned())),
        _ if text == "null" => Ok(Id::none()),
        _ => Err("id is wrong: expected a string or a number".to_owned()),
    }
}

/// What a tool gave.
#[derive(Debug)]
pub(super) struct Told {
    json: String,
    /// There was more.
    truncated: bool,
    /// Code and words, where it is not what was asked for.
    failed: Option<(&'static str, String)>,
}

impl Told {
    pub(super) fn new(value: &impl Serialize) -> Told {
        Told { json: json(value), truncated: false, failed: None }
    }

    pub(super) fn cut(value: &impl Serialize, truncated: bool) -> Told {
        Told { json: json(value), truncated, failed: None }
    }

    /// What is JSON already.
    pub(super) fn raw(json: &str, truncated: bool) -> Told {
        Told { json: json.to_owned(), truncated, failed: None }
    }

    /// The same, as a failure.
    pub(super) fn failed(self, code: &'static str, message: String) -> Told {
        Told { failed: Some((code, message)), ..self }
    }
}

pub(super) fn answer(Id(id): &Id, told: &Told) -> String {
    let Told { json: result, truncated, failed } = told;
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

/// Stable words for programs; [`CODES`] says what they mean.
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

/// A tool that there is not.
pub(super) const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";
/// The user said no.
pub(super) const REJECTED: &str = "REJECTED";
/// The body was no request.
pub(super) const NO_REQUEST: &str = "NO_REQUEST";

pub(super) const CODES: &[(&str, &str)] = &[
    (NO_REQUEST, "The body is no request of this kind; the HTTP status is 400"),
    (UNKNOWN_TOOL, "There is no such tool; the message names the nearest"),
    ("INVALID_ARGUMENT", "An argument is missing, wrong or unknown"),
    ("NOT_FOUND", "There is no such file, folder, terminal or repository"),
    ("OUTSIDE_WORKSPACE", "The path leads out of the workspace, by itself or through a symlink"),
    (
        REJECTED,
        "The user rejected the change; the message has the reason and the comments, `result` is a `Decided`",
    ),
    ("DENIED", "The person, or `deny` in her configuration, does not allow it"),
    ("UNSUPPORTED", "This editor, or this machine, cannot do it"),
    ("TOO_LARGE", "It is larger than the limits allow"),
    ("NOT_TEXT", "It is a folder, or no text"),
    ("STALE_EDIT", "The text is not what the edit expects: read the file again"),
    ("FAILED", "It was tried and failed; the message says why"),
    ("TIMEOUT", "It took too long"),
    ("EDITOR_GONE", "The editor is not connected"),
    ("WITHDRAWN", "It was taken back before it was done"),
    ("INTERNAL", "A fault of Linkspan"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_no_text_is_not_given_back() {
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
