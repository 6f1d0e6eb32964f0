//! Prompts as ACP's clients send them, as text for the host: text, links to files, embedded files.

use serde::Deserialize;

use crate::tasks::Task;

/// One block of a prompt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ResourceLink {
        uri: String,
    },
    Resource {
        resource: Resource,
    },
    #[serde(other)]
    Other,
}

/// A file whose text came with the prompt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Resource {
    uri: String,
    text: Option<String>,
}

/// The prompt for the host; the error says which block cannot be used.
pub(super) fn prompt(blocks: &[Block]) -> Result<String, String> {
    let mut text = String::new();
    let mut files = String::new();
    for block in blocks {
        match block {
            Block::Text { text: piece } => text.push_str(piece),
            // The host reads files that are mentioned. There may be no space between a link and the texts around it.
            Block::ResourceLink { uri } => {
                if !text.is_empty() && !text.ends_with(char::is_whitespace) {
                    text.push(' ');
                }
                match path_of(uri) {
                    Some(path) => text.push_str(&format!("@\"{path}\"")),
                    None => text.push_str(uri),
                }
            }
            Block::Resource { resource: Resource { uri, text: Some(content) } } => {
                let name = path_of(uri).unwrap_or_else(|| uri.clone());
                let fence = fence(content);
                files.push_str(&format!("\n\n{name}:\n{fence}\n{content}\n{fence}"));
            }
            Block::Resource { resource } => {
                return Err(format!("{} is not text: this agent reads text only", resource.uri));
            }
            Block::Other => {
                return Err("the prompt holds a picture or a sound: this agent reads text only".to_owned());
            }
        }
    }
    let text = as_task(&text).unwrap_or(text) + &files;
    if text.trim().is_empty() {
        return Err("the prompt is empty".to_owned());
    }
    Ok(text)
}

/// The commands that are advertised to the client.
fn as_task(text: &str) -> Option<String> {
    let (name, subject) = text.trim().strip_prefix('/')?.split_once(char::is_whitespace)?;
    Some(Task::from_name(name)?.prompt(subject.trim()))
}

/// A fence that is longer than each in the content.
fn fence(content: &str) -> String {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// The path of a `file://` address.
fn path_of(uri: &str) -> Option<String> {
    let encoded = uri.strip_prefix("file://")?;
    let mut bytes = Vec::new();
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            bytes.push(digit(rest.next()?)? * 16 + digit(rest.next()?)?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|path| path.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(blocks: serde_json::Value) -> Result<String, String> {
        prompt(&serde_json::from_value::<Vec<Block>>(blocks).unwrap())
    }

    #[test]
    fn blocks_become_one_prompt() {
        let blocks = json!([
            { "type": "text", "text": "look at " },
            { "type": "resource_link", "uri": "file:///w/a%20b.rs", "name": "a b.rs" },
            { "type": "text", "text": " and " },
            { "type": "resource_link", "uri": "https://x.example/y", "name": "y" },
            { "type": "resource", "resource": { "uri": "file:///w/c.md", "text": "```\nx\n```" } },
        ]);
        let expect = "look at @\"/w/a b.rs\" and https://x.example/y\n\n/w/c.md:\n````\n```\nx\n```\n````";
        assert_eq!(read(blocks).unwrap(), expect);
    }

    #[test]
    fn a_link_is_attached_whatever_is_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.rs");
        std::fs::write(&path, "fn main() {}\n").unwrap();
        let uri = format!("file://{}", path.display()).replace(' ', "%20");
        let text = |text: &str| json!({ "type": "text", "text": text });
        let link = json!({ "type": "resource_link", "uri": uri, "name": "a b.rs" });
        // As the hub sends it: without a space anywhere.
        let prompt =
            read(json!([text("fix this"), link, text("Of a b.rs, lines 1 to 1 are meant.")])).unwrap();
        let deny = linkspan_editor_api::DenyGlobs::default();
        let (_, attached) = crate::context::expand_mentions(&prompt, folder.path(), &deny, &[]);
        assert!(attached.len() == 1 && attached[0].contains("fn main"), "{prompt}: {attached:?}");
    }

    #[test]
    fn a_task_is_called_with_a_slash() {
        let asked = read(json!([{ "type": "text", "text": "/explain src/main.rs" }])).unwrap();
        assert_eq!(asked, Task::Explain.prompt("src/main.rs"));
        assert_eq!(
            read(json!([{ "type": "text", "text": "/etc/hosts is odd" }])).unwrap(),
            "/etc/hosts is odd"
        );
    }

    #[test]
    fn what_is_not_text_is_refused() {
        for bad in [
            json!([]),
            json!([{ "type": "text", "text": " " }]),
            json!([{ "type": "image", "data": "", "mimeType": "image/png" }]),
            json!([{ "type": "something_new" }]),
            json!([{ "type": "resource", "resource": { "uri": "file:///x", "blob": "AAAA" } }]),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
