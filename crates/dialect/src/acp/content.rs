//! Content blocks: what a prompt is made of, and what is shown of what an agent sends.

use std::path::Path;

use linkspan_editor_api::file_uri;
use linkspan_editor_api::{ChatAttachment, ChatPicture};
use serde_json::{Value, json};

use super::frames::{list, text};

/// The blocks of a prompt. Every agent understands text and links; pictures only those that say so.
pub(super) fn prompt(words: &str, attachments: &[ChatAttachment], pictures: &[ChatPicture]) -> Value {
    let mut blocks = vec![json!({ "type": "text", "text": words })];
    for attachment in attachments {
        let name = Path::new(&attachment.path).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| attachment.path.clone());
        let uri = file_uri::of(Path::new(&attachment.path));
        blocks.push(json!({ "type": "resource_link", "uri": uri, "name": name }));
        if let Some(first) = attachment.first_line {
            let last = attachment.last_line.unwrap_or(first);
            let lines = format!("Of {}, lines {first} to {last} are meant.", attachment.path);
            blocks.push(json!({ "type": "text", "text": lines }));
        }
    }
    let image = |picture: &ChatPicture| json!({ "type": "image", "mimeType": picture.mime_type, "data": picture.data });
    blocks.extend(pictures.iter().map(image));
    Value::Array(blocks)
}

/// The text of one block, or a word for what cannot be shown.
pub(super) fn shown(block: &Value) -> String {
    match text(block, "type") {
        Some("text") => text(block, "text").unwrap_or_default().to_owned(),
        Some("resource_link") => text(block, "uri").unwrap_or_default().to_owned(),
        Some("resource") => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            text(resource, "text").or(text(resource, "uri")).unwrap_or_default().to_owned()
        }
        Some(kind @ ("image" | "audio")) => format!("[{kind}]"),
        _ => String::new(),
    }
}

/// The output of a tool call: its blocks without the diffs, which are shown as reviews.
pub(super) fn output(call: &Value) -> String {
    let blocks = list(call, "content").filter(|block| text(block, "type") == Some("content"));
    let texts: Vec<String> = blocks.filter_map(|block| Some(shown(block.get("content")?))).collect();
    texts.join("\n")
}
