//! Answers with the JSON of the agents' own companions, and the decision on a change after its call was answered.

use serde::Serialize;

use crate::answer::Answer;
use crate::mcp::{EncodeContext, Encoded, McpClient, notification};

/// The text of a withdrawn change, as the user had edited it.
#[derive(Serialize)]
struct DiffClosed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiffDecided<'a> {
    file_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

pub(super) fn encode<'a>(answer: &'a Answer, _context: &EncodeContext<'a>) -> Encoded<'a> {
    match answer {
        Answer::TabClosed { text } => Encoded::json(&DiffClosed { content: text.as_deref() }),
        Answer::Failed(failure) => Encoded::ToolFailed(&failure.message),
        _ => Encoded::unasked(),
    }
}

/// Only the user accepts or rejects. Every other end of a change closes it, which the agents treat as a rejection.
pub(super) fn tell(path: &str, answer: &Answer, client: &McpClient) -> String {
    let told = |method, content| notification(method, &DiffDecided { file_path: path, content });
    match answer {
        // In this dialect the agent writes, so there always is a text; an empty one would empty the file.
        Answer::Accepted(accepted) if accepted.text.is_some() => {
            told("ide/diffAccepted", accepted.text_to_write(is_qwen(client)).as_deref())
        }
        Answer::Rejected(_) => told("ide/diffRejected", None),
        _ => told("ide/diffClosed", None),
    }
}

/// Qwen Code keeps the encoding and the byte order mark of a file by itself; Gemini CLI writes the text as it is.
fn is_qwen(client: &McpClient) -> bool {
    client.version == "1.0.0"
}
