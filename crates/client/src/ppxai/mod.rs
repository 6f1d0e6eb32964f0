//! ppxai's bridges: their tools, requests and answers, and the callback of its engine. Must not know the connection
//! that uses them.

mod callback;

use std::path::PathBuf;
use std::time::Duration;

use linkspan_editor_api::wire_names::{self, header};
use serde_json::{Map, Value, json};

use crate::http::{HttpCaller, HttpError, HttpMethod, HttpRequest, HttpResponse, LoopbackUrl};

pub use callback::{Callback, CallbackError, RegisterIdeCallback, ToolReply, ToolRequest};

/// The default port of a bridge.
pub const DEFAULT_PORT: u16 = 54321;
/// The variable that holds a bridge's token.
pub const TOKEN_VARIABLE: &str = wire_names::env::PPXAI_BRIDGE_TOKEN;
const STATUS_BYTES: usize = 1024 * 1024;
/// No answer of a bridge is larger.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Every tool of a bridge, and what it does.
pub const TOOLS: [(&str, &str); 26] = [
    ("ide.get_workspace_info", "Shows the name and folders of the workspace."),
    ("ide.list_files", "Lists files that match a glob: pattern, exclude."),
    ("ide.read_file", "Reads a file: path."),
    ("ide.search_files", "Searches all files for a text or a regular expression."),
    ("ide.get_open_files", "Lists the open files."),
    ("ide.get_active_file", "Reads the active file."),
    ("ide.get_selection", "Reads the selection and its range."),
    ("ide.get_visible_range", "Shows the visible lines."),
    ("ide.open_file", "Opens a file: path, line, column."),
    ("ide.reveal_line", "Scrolls to a line."),
    ("ide.get_diagnostics", "Lists errors and warnings of one file or of all: path."),
    ("ide.get_hover_info", "Shows type and documentation at a position."),
    ("ide.get_definition", "Finds the definition of a symbol."),
    ("ide.apply_edit", "Applies edits to files: files."),
    ("ide.insert_text", "Inserts text."),
    ("ide.replace_selection", "Replaces the selection."),
    ("ide.show_diff", "Shows a change."),
    ("ide.format_document", "Formats a file."),
    ("ide.run_in_terminal", "Runs a command in a terminal."),
    ("ide.create_terminal", "Opens a terminal."),
    ("ide.get_terminal_output", "Reads the output of a terminal."),
    ("ide.git_status", "Shows the changed files."),
    ("ide.git_diff", "Shows the changes as a diff."),
    ("ide.git_stage", "Stages files."),
    ("ide.git_commit", "Commits the staged changes."),
    ("ide.git_log", "Lists the last commits."),
];

/// The tools of a bridge whose `/status` names these capabilities; all of them if it names none.
pub(crate) fn tools_of(capabilities: &[String]) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str| capabilities.iter().any(|capability| capability == name);
    let is_offered = |tool: &str| match group(tool) {
        // The reference bridge has no capabilities of its own for these.
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

/// Tools that may wait for the user.
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
    headers.extend(token.map(|token| (header::PPXAI_TOKEN, token.to_owned())));
    headers
}

pub(crate) fn status(bridge: &LoopbackUrl, token: Option<&str>, deadline: Duration) -> HttpRequest {
    HttpRequest {
        method: HttpMethod::Get,
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
) -> HttpRequest {
    HttpRequest {
        method: HttpMethod::Post,
        url: bridge.join("/ide/execute"),
        headers: headers(token),
        body: json!({ "id": id, "tool": tool, "args": args }).to_string().into_bytes(),
        deadline: (!asks_a_person(tool)).then_some(deadline),
        limit: MAX_BYTES,
    }
}

/// The folders of a bridge's workspace; none if it does not report them.
pub(crate) fn folders(bridge: &LoopbackUrl, token: Option<&str>, deadline: Duration) -> Vec<PathBuf> {
    let request = execute(bridge, token, "1", "ide.get_workspace_info", &Map::new(), deadline);
    let told: Value = body(HttpCaller::new().exchange(&request))
        .ok()
        .and_then(|body| serde_json::from_slice(&body).ok())
        .unwrap_or_default();
    let folders = told.pointer("/result/folders").and_then(Value::as_array).into_iter().flatten();
    folders.filter_map(|folder| folder.get("path")?.as_str().map(PathBuf::from)).collect()
}

/// The status of a bridge.
pub(crate) struct Status {
    pub(crate) version: String,
    /// Groups of tools; empty if it names none.
    pub(crate) capabilities: Vec<String>,
}

/// The status of the bridge, or why it is not a bridge.
pub(crate) fn read_status(answer: Result<HttpResponse, HttpError>) -> Result<Status, String> {
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

/// The body of a successful answer.
pub(crate) fn body(answer: Result<HttpResponse, HttpError>) -> Result<Vec<u8>, String> {
    let answer = answer.map_err(|error| error.to_string())?;
    match answer.status {
        200..300 => Ok(answer.body),
        401 => Err(format!("it needs a token: set {TOKEN_VARIABLE} to the token that it was started with")),
        403 => Err("it rejects us (HTTP 403)".to_owned()),
        404 => Err("there is no bridge at this address (HTTP 404)".to_owned()),
        status => Err(format!("it returned HTTP {status}")),
    }
}
