//! Answers with the JSON of Copilot's own editors: one text with one object in it.
//!
//! A failed `open_diff` is a JSON-RPC error: the agent then leaves the decision to its terminal. No text of ours may
//! be taken for a decision that no one made.

use linkspan_editor_api::AcceptedPart;
use linkspan_editor_api::wire_names::copilot_answer::{REJECTED, SAVED};

use super::payload::{
    ClosePayload, DiagnosticsPayload, DiffPayload, EditorPayload, SelectionPayload, SuccessPayload,
};
use crate::answer::{Answer, FailureKind};
use crate::mcp::{CallKind, EncodeContext, Encoded, code_of};
use crate::outcome::{Accepted, Rejected, remark};

pub(super) fn encode<'a>(answer: &'a Answer, context: &EncodeContext<'a>) -> Encoded<'a> {
    match answer {
        // After `SAVED` the agent writes its whole proposal. What the hub has written is something else.
        Answer::Accepted(accepted) if accepted.written => {
            decided(context.asked, REJECTED, "rejected_via_button", saved_here(accepted))
        }
        Answer::Accepted(accepted) => {
            let said: Vec<String> = accepted.comments.iter().map(remark).collect();
            decided(context.asked, SAVED, "accepted_via_button", told("The user accepted this change", &said))
        }
        Answer::Rejected(rejected) => {
            decided(context.asked, REJECTED, "rejected_via_button", refused(rejected))
        }
        Answer::TabClosed { text } => Encoded::json(&ClosePayload {
            success: true,
            already_closed: text.is_none(),
            tab_name: tab_name(context.asked),
            message: if text.is_some() { "the change is withdrawn" } else { "no such change is open" },
        }),
        Answer::Diagnostics(files) => {
            Encoded::json(&files.iter().map(DiagnosticsPayload::result).collect::<Vec<_>>())
        }
        Answer::Selection(selection) => {
            Encoded::json(&selection.as_ref().map(|selection| SelectionPayload::of(selection, Some(true))))
        }
        Answer::EditorInfo { name, version } => Encoded::json(&EditorPayload { version, app_name: name }),
        Answer::SessionNamed => Encoded::json(&SuccessPayload { success: true }),
        Answer::Failed(failure) => match context.asked {
            CallKind::Change { .. } => Encoded::Error(code_of(failure.kind), failure.message.as_str().into()),
            _ if failure.kind == FailureKind::InvalidParams => {
                Encoded::Error(code_of(failure.kind), failure.message.as_str().into())
            }
            _ => Encoded::ToolFailed(&failure.message),
        },
        _ => Encoded::unasked(),
    }
}

/// The message reaches neither model nor user today; it is there for logs, and for versions that show it.
fn decided<'a>(
    asked: &CallKind,
    result: &'static str,
    trigger: &'static str,
    message: String,
) -> Encoded<'a> {
    Encoded::json(&DiffPayload { success: true, result, trigger, tab_name: tab_name(asked), message })
}

fn tab_name(asked: &CallKind) -> &str {
    match asked {
        CallKind::Change { label } | CallKind::Close { label } => label,
        CallKind::FileInBackground | CallKind::AllDiagnostics | CallKind::Other => "",
    }
}

fn saved_here(accepted: &Accepted) -> String {
    let what = match accepted.taken {
        AcceptedPart::All => "The user accepted this change, and the file had changed meanwhile",
        AcceptedPart::Some => "The user accepted only a part of this change",
        AcceptedPart::Edited => "The user accepted this change with edits",
    };
    let said: Vec<String> =
        accepted.person_diff.iter().cloned().chain(accepted.comments.iter().map(remark)).collect();
    told(&format!("{what}. The file is saved: read it before you continue"), &said)
}

fn refused(rejected: &Rejected) -> String {
    let said: Vec<String> =
        rejected.reason.iter().cloned().chain(rejected.comments.iter().map(remark)).collect();
    told("The user rejected this change", &said)
}

fn told(what: &str, said: &[String]) -> String {
    if said.is_empty() { format!("{what}.") } else { format!("{what}: {}", said.join("\n")) }
}
