//! What is known of ppxai's bridges on both sides: their tools, requests and answers, and the callback of its engine.

mod callback;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::http::{Answer, Caller, HttpError, LoopbackUrl, Method, Request};

pub use callback::{Callback, CallbackError, RegisterIdeCallback, ToolReply, ToolRequest};

/// Where a bridge is when nobody says otherwise.
pub const DEFAULT_PORT: u16 = 54321;
/// The variable that holds a bridge's token.
pub const TOKEN_VARIABLE: &str = "PPXAI_BRIDGE_TOKEN";
const STATUS_BYTES: usize = 1024 * 1024;
/// No answer of a bridge is larger.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Every tool of a bridge, and what it does.
pub const TOOLS: [(&str, &str); 26] = [
    ("ide.get_workspace_info", "Name and folders of the workspace."),
    ("ide.list_files", "Files that match a glob: pattern, exclude."),
    ("ide.read_file", "What a file holds: path."),
    ("ide.search_files", "Text or a regular expression in all files."),
    ("ide.get_open_files", "The files that are open."),
    ("ide.get_active_file", "The file that the person looks at."),
    ("ide.get_selection", "What is selected, and where."),
    ("ide.get_visible_range", "The lines that are on the screen."),
    ("ide.open_file", "Opens a file: path, line, column."),
    ("ide.reveal_line", "Scrolls to a line."),
    ("ide.get_diagnostics", "Errors and warnings, of a file or of all: path."),
    ("ide.get_hover_info", "What the editor shows about a place."),
    ("ide.get_definition", "Where a symbol is defined."),
    ("ide.apply_edit", "Applies edits to files: files."),
    ("ide.insert_text", "Inserts text."),
    ("ide.replace_selection", "Replaces what is selected."),
    ("ide.show_diff", "Shows a change."),
    ("ide.format_document", "Formats a file."),
    ("ide.run_in_terminal", "Runs a command in a terminal."),
    ("ide.create_terminal", "Opens a terminal."),
    ("ide.get_terminal_output", "What a terminal printed."),
    ("ide.git_status", "What git says is changed."),
    ("ide.git_diff", "What git says changed in the files."),
    ("ide.git_stage", "Stages files."),
    ("ide.git_commit", "Commits what is staged."),
    ("ide.git_log", "The last commits."),
];

/// The tools of a bridge whose `/status` names these capabilities; all of them if it names none.
pub(crate) fn tools_of(capabilities: &[String]) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str| capabilities.iter().any(|capability| capability == name);
    let is_offered = |tool: &str| match group(tool) {
        // The reference bridge has no words of their own for these.
        group @ ("diagnostics" | "actions") => has(group) || has("editor"),
        group => has(group),
    };
    TOOLS.into_iter().filter(|(tool, _)| capabilities.is_empty() || is_offered(tool)).collect()
}

/// The capability that a tool belongs to.
fn group(tool: &str) -> &'static str {
    match tool {
        "ide.get_workspace_info"
        | "ide.list_files"
        | "ide.read_file"
        | "ide.search_files"
        | "ide.get_open_files" => "workspace",
        "ide.get_diagnostics" | "ide.get_hover_info" | "ide.get_definition" => "diagnostics",
        "ide.apply_edit"
        | "ide.insert_text"
        | "ide.replace_selection"
        | "ide.show_diff"
        | "ide.format_document" => "actions",
        tool if tool.starts_with("ide.git_") => "git",
        tool if tool.contains("terminal") => "terminal",
        _ => "editor",
    }
}

/// Tools that a person may have to allow or decide, and who may take her time.
pub fn asks_a_person(tool: &str) -> bool {
    matches!(
        tool,
        "ide.apply_edit"
            | "ide.insert_text"
            | "ide.replace_selection"
            | "ide.show_diff"
            | "ide.format_document"
            | "ide.run_in_terminal"
            | "ide.create_terminal"
            | "ide.git_stage"
            | "ide.git_commit"
    )
}

pub(crate) fn headers(token: Option<&str>) -> Vec<(&'static str, String)> {
    let mut headers =
        vec![("content-type", "application/json".to_owned()), ("accept", "application/json".to_owned())];
    headers.extend(token.map(|token| ("x-ppxai-token", token.to_owned())));
    headers
}

pub(crate) fn status(bridge: &LoopbackUrl, token: Option<&str>, deadline: Duration) -> Request {
    Request {
        method: Method::Get,
        url: bridge.join("/status"),
        headers: headers(token),
        body: Vec::new(),
        deadline: Some(deadline),
        limit: STATUS_BYTES,
    }
}

/// A call of a tool, under this id.
pub(crate) fn execute(
    bridge: &LoopbackUrl,
    token: Option<&str>,
    id: &str,
    tool: &str,
    args: &Map<String, Value>,
    deadline: Duration,
) -> Request {
    Request {
        method: Method::Post,
        url: bridge.join("/ide/execute"),
        headers: headers(token),
        body: json!({ "id": id, "tool": tool, "args": args }).to_string().into_bytes(),
        deadline: (!asks_a_person(tool)).then_some(deadline),
        limit: MAX_BYTES,
    }
}

/// The folders of a bridge's workspace; none if it does not tell.
pub(crate) fn folders(bridge: &LoopbackUrl, token: Option<&str>, deadline: Duration) -> Vec<PathBuf> {
    let request = execute(bridge, token, "1", "ide.get_workspace_info", &Map::new(), deadline);
    let told: Value = body(Caller::new().exchange(&request))
        .ok()
        .and_then(|body| serde_json::from_slice(&body).ok())
        .unwrap_or_default();
    let folders = told.pointer("/result/folders").and_then(Value::as_array).into_iter().flatten();
    folders.filter_map(|folder| folder.get("path")?.as_str().map(PathBuf::from)).collect()
}

/// What a bridge says of itself.
pub(crate) struct Status {
    pub(crate) version: String,
    /// Groups of tools; empty if it names none.
    pub(crate) capabilities: Vec<String>,
}

/// What the bridge says of itself, or why it is none.
pub(crate) fn read_status(answer: Result<Answer, HttpError>) -> Result<Status, String> {
    let status: Map<String, Value> = serde_json::from_slice(&body(answer)?)
        .map_err(|_| "it does not answer /status as a bridge does".to_owned())?;
    let text = |key: &str| status.get(key).and_then(Value::as_str);
    if text("status").is_none() {
        return Err("it does not answer /status as a bridge does".to_owned());
    }
    let capabilities = status.get("capabilities").and_then(Value::as_array).into_iter().flatten();
    Ok(Status {
        version: text("version").unwrap_or("?").to_owned(),
        capabilities: capabilities.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// The body of an answer that is none of a server's refusals.
pub(crate) fn body(answer: Result<Answer, HttpError>) -> Result<Vec<u8>, String> {
    let answer = answer.map_err(|error| error.to_string())?;
    match answer.status {
        200..300 => Ok(answer.body),
        401 => Err(format!("it wants a token: set {TOKEN_VARIABLE} to the one that it was started with")),
        403 => Err("it does not let us in (HTTP 403)".to_owned()),
        404 => Err("there is no bridge at this address (HTTP 404)".to_owned()),
        status => Err(format!("it answers HTTP {status}")),
    }
}
