//! The page's own files, built into the binary. They contain no secret.

use std::sync::OnceLock;

use super::routes::Asset;

/// Placeholder in the document for the nonce of its style sheets.
const NONCE: &str = "__NONCE__";

const INDEX: &str = include_str!("../../../../../editors/web/src/index.html");

const SCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

static APP: File = File::new(include_bytes!("../../../../../editors/web/dist/app.js"), SCRIPT);
static CHAT: File = File::new(include_bytes!("../../../../../editors/web/dist/chat.js"), SCRIPT);
static DIFF: File = File::new(include_bytes!("../../../../../editors/web/dist/diff.js"), SCRIPT);
static STYLE: File = File::new(include_bytes!("../../../../../editors/web/src/style.css"), CSS);
static CHAT_STYLE: File = File::new(include_bytes!("../../../../../editors/web/src/chat/chat.css"), CSS);
static ICON: File = File::new(include_bytes!("../../../../../editors/web/src/icon.svg"), "image/svg+xml");

/// A file that is the same for everyone.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) bytes: &'static [u8],
    pub(crate) kind: &'static str,
    tag: OnceLock<String>,
}

impl File {
    const fn new(bytes: &'static [u8], kind: &'static str) -> File {
        File { bytes, kind, tag: OnceLock::new() }
    }

    /// The entity tag, by which a browser knows whether it already has this content.
    pub(crate) fn tag(&self) -> &str {
        self.tag.get_or_init(|| format!("\"{}\"", blake3::hash(self.bytes).to_hex()))
    }
}

/// The file to serve; the document is built for each request.
pub(crate) fn file(asset: Asset) -> Option<&'static File> {
    match asset {
        Asset::Index => None,
        Asset::App => Some(&APP),
        Asset::Chat => Some(&CHAT),
        Asset::Diff => Some(&DIFF),
        Asset::Style => Some(&STYLE),
        Asset::ChatStyle => Some(&CHAT_STYLE),
        Asset::Icon => Some(&ICON),
    }
}

pub(crate) fn document(nonce: &str) -> String {
    INDEX.replacen(NONCE, nonce, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_carries_its_nonce_and_nothing_from_elsewhere() {
        assert_eq!(INDEX.matches(NONCE).count(), 1);
        let document = document("abc");
        assert!(document.contains(r#"content="abc""#) && !document.contains(NONCE));
        for forbidden in ["http:", "https:", "=\"//", "javascript:", " style=", "<style"] {
            assert!(!document.contains(forbidden), "{forbidden}");
        }
        let is_handler = |after: &str| after.trim_start_matches(char::is_alphabetic).starts_with('=');
        assert!(!document.split(" on").skip(1).any(is_handler), "a handler in the markup never runs");
        assert!(document.split("<script").skip(1).all(|tag| tag.starts_with(" type=\"module\" src=\"/")));
    }

    #[test]
    fn different_files_have_different_tags() {
        let assets = [Asset::App, Asset::Chat, Asset::Diff, Asset::Style, Asset::ChatStyle, Asset::Icon];
        let tags = assets.map(|asset| file(asset).unwrap().tag());
        for tag in tags {
            assert_eq!(tags.iter().filter(|other| **other == tag).count(), 1, "{tag}");
        }
    }
}
