//! Answers with the JSON of Claude Code's own extension and of claudecode.nvim.
//!
//! Failures are results with `isError`, as MCP has it for a tool that fails, so that the model can read
//! them; but a failed `openDiff` is a JSON-RPC error, because there the texts themselves decide, and no
//! text of ours may ever be taken for a decision.

use std::borrow::Cow;

use linkspan_editor_api::wire_names::diff_answer::{DIFF_REJECTED, FILE_SAVED};

use super::payload::{
    DiagnosticsPayload, DirtyPayload, FolderPayload, FoldersPayload, OpenedPayload, SavedPayload,
    SelectionPayload, TabPayload, TabsPayload, Unsuccessful,
};
use crate::answer::{Answer, Failure, FailureKind};
use crate::mcp::{CallKind, EncodeContext, Encoded, McpClient, code_of};

pub(super) fn encode<'a>(answer: &'a Answer, context: &EncodeContext<'a>) -> Encoded<'a> {
    match answer {
        Answer::Accepted(accepted) => {
            let Some(text) = accepted.text_to_write(is_known_claude_code(context.client)) else {
                // In this dialect the agent writes, so there always is a text; an empty one would empty the file.
                return Encoded::Error(code_of(FailureKind::TooLarge), "the text is too large".into());
            };
            let text = saved_text(text, accepted.new_file, context.client);
            Encoded::Texts(vec![FILE_SAVED.into(), text])
        }
        // Exactly these two texts: with anything else the agent asks again in its terminal, without showing the change.
        // So the reason and the comments cannot be sent on this wire.
        Answer::Rejected(_) => {
            let label = match context.asked {
                CallKind::Change { label } => label.as_str(),
                CallKind::Close { .. }
                | CallKind::FileInBackground
                | CallKind::AllDiagnostics
                | CallKind::Other => "",
            };
            Encoded::Texts(vec![DIFF_REJECTED.into(), label.into()])
        }
        Answer::Opened { path, language, line_count } => match context.asked {
            CallKind::FileInBackground => Encoded::json(&OpenedPayload {
                success: true,
                file_path: path.to_string_lossy(),
                language_id: language.as_deref(),
                line_count: *line_count,
            }),
            CallKind::Change { .. } | CallKind::Close { .. } | CallKind::AllDiagnostics | CallKind::Other => {
                Encoded::text(format!("Opened file: {}", path.display()))
            }
        },
        Answer::Diagnostics(files) => {
            Encoded::json(&files.iter().map(DiagnosticsPayload::of).collect::<Vec<_>>())
        }
        Answer::Selection(Some(selection)) => Encoded::json(&SelectionPayload::of(selection, Some(true))),
        Answer::Selection(None) => unsuccessful("No selection available".into()),
        Answer::Editors(documents) => {
            Encoded::json(&TabsPayload { tabs: documents.iter().map(TabPayload::of).collect() })
        }
        Answer::Folders(folders) => Encoded::json(&FoldersPayload {
            success: true,
            folders: folders.iter().map(|path| FolderPayload::of(path)).collect(),
            root_path: folders.first().map(|path| path.to_string_lossy()),
        }),
        Answer::Dirty { path, open: false, .. } | Answer::Saved { path, open: false, .. } => {
            unsuccessful(format!("Document not open: {}", path.display()))
        }
        Answer::Dirty { path, dirty, untitled, .. } => Encoded::json(&DirtyPayload {
            success: true,
            file_path: path.to_string_lossy(),
            is_dirty: *dirty,
            is_untitled: *untitled,
        }),
        Answer::Saved { path, saved, .. } => Encoded::json(&SavedPayload {
            success: *saved,
            file_path: path.to_string_lossy(),
            saved: *saved,
            message: if *saved { "Document saved successfully" } else { "Document could not be saved" },
        }),
        Answer::TabClosed { .. } => Encoded::text("TAB_CLOSED"),
        Answer::DiffsClosed(count) => Encoded::text(format!("CLOSED_{count}_DIFF_TABS")),
        Answer::Executed(output) => Encoded::text(output.as_str()),
        Answer::Failed(failure) => failed(failure, context.asked),
        _ => Encoded::unasked(),
    }
}

fn failed<'a>(failure: &'a Failure, asked: &CallKind) -> Encoded<'a> {
    match asked {
        CallKind::Other | CallKind::Close { .. } | CallKind::AllDiagnostics | CallKind::FileInBackground
            if failure.kind != FailureKind::InvalidParams =>
        {
            Encoded::ToolFailed(&failure.message)
        }
        _ => Encoded::Error(code_of(failure.kind), failure.message.as_str().into()),
    }
}

/// Claude Code takes one final newline off a *new* file that was accepted in the editor; from 2.1.325 on,
/// one more in the answer is known to make up for it. Other agents write what they are told.
fn saved_text<'a>(text: Cow<'a, str>, new_file: bool, client: &McpClient) -> Cow<'a, str> {
    if new_file && text.ends_with('\n') && is_known_claude_code(client) {
        Cow::Owned(format!("{text}\n"))
    } else {
        text
    }
}

/// Of a version from 2.1.325 on, whose `Write` keeps the byte order mark of a file by itself. It compares the answer
/// with what it proposed, so a mark in the answer to a proposal without one would pass for a change of the user.
fn is_known_claude_code(client: &McpClient) -> bool {
    let numbers: Option<Vec<u32>> = client.version.split('.').map(|part| part.parse().ok()).collect();
    client.name == "claude-code"
        && numbers.is_some_and(|numbers| numbers.as_slice() >= [2, 1, 325].as_slice())
}

fn unsuccessful<'a>(message: String) -> Encoded<'a> {
    Encoded::json(&Unsuccessful { success: false, message })
}
