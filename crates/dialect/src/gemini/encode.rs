//! Answers in the shapes of the real companions, and what is told of a change after its call was answered.

use serde::Serialize;

use crate::mcp::{Client, Context, Encoded, notification};
use crate::meaning::Answer;

/// What the person had made of a change that was taken back.
#[derive(Serialize)]
struct Closed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Decided<'a> {
    file_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

pub(super) fn encode<'a>(answer: &'a Answer, _context: &Context<'a>) -> Encoded<'a> {
    match answer {
        Answer::TabClosed { text } => Encoded::json(&Closed { content: text.as_deref() }),
        Answer::Failed(failure) => Encoded::ToolFailed(&failure.message),
        _ => Encoded::unasked(),
    }
}

/// Only a person accepts or rejects; whatever else ends a change closes it, which the agents take for a no.
pub(super) fn tell(path: &str, answer: &Answer, client: &Client) -> String {
    let told = |method, content| notification(method, &Decided { file_path: path, content });
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
fn is_qwen(client: &Client) -> bool {
    client.version == "1.0.0"
}
