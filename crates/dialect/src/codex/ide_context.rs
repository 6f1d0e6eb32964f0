//! `/ide`: the one request by which Codex asks an editor where the user is, and its answers. Each message is JSON after
//! four bytes with its length; the socket is not known here.

use std::path::{Path, PathBuf};

use linkspan_editor_api::Range;
use serde::Deserialize;
use serde_json::{Value, json};

/// A question about the editor that has this folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdeRequest {
    id: Value,
    method: String,
    /// The folder; none if it is another question.
    pub root: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireRequest {
    #[serde(rename = "type")]
    kind: String,
    request_id: Value,
    method: String,
    #[serde(default)]
    params: WireParams,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireParams {
    workspace_root: Option<PathBuf>,
}

/// Where the user is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IdeContext {
    pub active: Option<(IdeFile, Option<(Range, String)>)>,
    pub open: Vec<IdeFile>,
}

/// A file by its path, and how the editor shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdeFile {
    pub path: PathBuf,
    /// Relative to the folder.
    pub relative: PathBuf,
}

impl IdeFile {
    pub fn new(path: &Path, root: &Path) -> IdeFile {
        let relative = path.strip_prefix(root).unwrap_or(path).to_owned();
        IdeFile { path: path.to_owned(), relative }
    }

    fn json(&self) -> Value {
        let label = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        json!({ "label": label, "path": self.relative.to_string_lossy(), "fsPath": self.path.to_string_lossy() })
    }
}

impl IdeRequest {
    /// None if it is not a request, and gets no answer.
    pub fn parse(body: &[u8]) -> Option<IdeRequest> {
        let WireRequest { kind, request_id: id, method, params } = serde_json::from_slice(body).ok()?;
        let root = params.workspace_root.filter(|_| method == METHOD);
        (kind == "request").then_some(IdeRequest { id, method, root })
    }

    /// The body of the answer. None: no editor has that folder.
    pub fn answer(&self, context: Option<&IdeContext>) -> String {
        let Some(context) = context else {
            let answer = json!({
                "type": "response", "requestId": self.id, "resultType": "error", "method": self.method,
                "error": "no-client-found",
            });
            return answer.to_string();
        };
        let open: Vec<Value> = context.open.iter().map(IdeFile::json).collect();
        let active = context.active.as_ref().map(|(file, selection)| {
            let mut active = file.json();
            let (range, text) = selection.clone().unwrap_or_default();
            let range = json!({ "start": place(range.start), "end": place(range.end) });
            active["selection"] = range.clone();
            active["activeSelectionContent"] = json!(text);
            active["selections"] = json!([range]);
            active
        });
        let answer = json!({
            "type": "response", "requestId": self.id, "resultType": "success", "method": self.method,
            "handledByClientId": "linkspan",
            "result": { "ideContext": { "activeFile": active, "openTabs": open } },
        });
        answer.to_string()
    }
}

fn place(position: linkspan_editor_api::Position) -> Value {
    json!({ "line": position.line, "character": position.character })
}

const METHOD: &str = "ide-context";
