//! Answers in the shapes of the real extension and of claudecode.nvim.
//!
//! Failures are results with `isError`, as MCP has it for a tool that fails, so that the model can read
//! them; but a failed `openDiff` is a JSON-RPC error, because there the texts themselves decide, and no
//! text of ours may ever be taken for a decision.

use std::borrow::Cow;

use super::shapes::{Diagnosed, Dirty, Folder, Folders, Opened, Saved, Selected, Tab, Tabs, Unsuccessful};
use crate::mcp::{Asked, Client, Context, Encoded, code_of};
use crate::meaning::{Answer, Failure, FailureKind};

pub(super) fn encode<'a>(answer: &'a Answer, context: &Context<'a>) -> Encoded<'a> {
    match answer {
        Answer::Accepted(accepted) => {
            let Some(text) = accepted.text_to_write(is_known_claude_code(context.client)) else {
                // Here the agent writes, so there always is one; an empty text would empty the file.
                return Encoded::Error(code_of(FailureKind::TooLarge), "the text is too large".into());
            };
            let text = saved_text(text, accepted.new_file, context.client);
            Encoded::Texts(vec!["FILE_SAVED".into(), text])
        }
        // These two texts and no more: with anything else the agent asks again, blindly. So the reason
        // and the comments have no place on this wire.
        Answer::Rejected(_) => {
            let label = match context.asked {
                Asked::Change { label } => label.as_str(),
                Asked::FileInBackground | Asked::AllDiagnostics | Asked::Other => "",
            };
            Encoded::Texts(vec!["DIFF_REJECTED".into(), label.into()])
        }
        Answer::Opened { path, language, line_count } => match context.asked {
            Asked::FileInBackground => Encoded::json(&Opened {
                success: true,
                file_path: path.to_string_lossy(),
                language_id: language.as_deref(),
                line_count: *line_count,
            }),
            Asked::Change { .. } | Asked::AllDiagnostics | Asked::Other => {
                Encoded::text(format!("Opened file: {}", path.display()))
            }
        },
        Answer::Diagnostics(files) => Encoded::json(&files.iter().map(Diagnosed::of).collect::<Vec<_>>()),
        Answer::Selection(Some(selection)) => Encoded::json(&Selected::of(selection, Some(true))),
        Answer::Selection(None) => unsuccessful("No selection available".into()),
        Answer::Editors(documents) => Encoded::json(&Tabs { tabs: documents.iter().map(Tab::of).collect() }),
        Answer::Folders(folders) => Encoded::json(&Folders {
            success: true,
            folders: folders.iter().map(|path| Folder::of(path)).collect(),
            root_path: folders.first().map(|path| path.to_string_lossy()),
        }),
        Answer::Dirty { path, open: false, .. } | Answer::Saved { path, open: false, .. } => {
            unsuccessful(format!("Document not open: {}", path.display()))
        }
        Answer::Dirty { path, dirty, untitled, .. } => Encoded::json(&Dirty {
            success: true,
            file_path: path.to_string_lossy(),
            is_dirty: *dirty,
            is_untitled: *untitled,
        }),
        Answer::Saved { path, saved, .. } => Encoded::json(&Saved {
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

fn failed<'a>(failure: &'a Failure, asked: &Asked) -> Encoded<'a> {
    match asked {
        Asked::Other | Asked::AllDiagnostics | Asked::FileInBackground
            if failure.kind != FailureKind::InvalidParams =>
        {
            Encoded::ToolFailed(&failure.message)
        }
        _ => Encoded::Error(code_of(failure.kind), failure.message.as_str().into()),
    }
}

/// Claude Code takes one final newline off a *new* file that was accepted in the editor; from 2.1.325 on,
/// one more in the answer is known to make up for it. Other agents write what they are told.
fn saved_text<'a>(text: Cow<'a, str>, new_file: bool, client: &Client) -> Cow<'a, str> {
    if new_file && text.ends_with('\n') && is_known_claude_code(client) {
        Cow::Owned(format!("{text}\n"))
    } else {
        text
    }
}

/// Of a version from 2.1.325 on, whose `Write` keeps the byte order mark of a file by itself. It compares the answer
/// with what it proposed, so a mark in the answer to a proposal without one would pass for a change of the user.
fn is_known_claude_code(client: &Client) -> bool {
    let numbers: Option<Vec<u32>> = client.version.split('.').map(|part| part.parse().ok()).collect();
    client.name == "claude-code"
        && numbers.is_some_and(|numbers| numbers.as_slice() >= [2, 1, 325].as_slice())
}

fn unsuccessful<'a>(message: String) -> Encoded<'a> {
    Encoded::json(&Unsuccessful { success: false, message })
}
