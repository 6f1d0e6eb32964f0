//! The points of NEXUS3's protocol: its eleven tools and the shapes of their answers.

use serde_json::{Value, json};

use super::mcp_answer::text;
use super::shape::{Shape, member, optional};
use super::ws_agent::{WsAgent, WsDialect};
use super::ws_tools::{AREA, answers, has_workspace};
use super::{Stand, Walked, ws_changes, ws_connection, ws_decisions, ws_errors, ws_tools};
use crate::commands::scripts::conform::point::{Check, Outcome, failed, required, walk};

static DIALECT: WsDialect = WsDialect {
    token_header: "x-nexus3-ide-authorization",
    version: "2024-11-05",
    subprotocol: false,
    close_tab: "closeTab",
    tab_argument: "tabName",
    tab_name: str::to_owned,
    tools: &[
        ("openDiff", &["old_file_path", "new_file_path", "new_file_contents", "tab_name"]),
        ("openFile", &["filePath", "preview"]),
        ("checkDocumentDirty", &["filePath"]),
        ("saveDocument", &["filePath"]),
        ("closeTab", &["tabName"]),
    ],
    listed: &[
        "openDiff",
        "openFile",
        "getDiagnostics",
        "getCurrentSelection",
        "getLatestSelection",
        "getOpenEditors",
        "getWorkspaceFolders",
        "checkDocumentDirty",
        "saveDocument",
        "closeTab",
        "closeAllDiffTabs",
    ],
    server_writes: true,
    notifications: &["notifications/initialized"],
};

const CHECKS: &[Check<WsAgent>] = &[
    required(AREA, "diagnostics", "`getDiagnostics` answers with a list", |agent| {
        answers(agent, "getDiagnostics", &json!({}), &DIAGNOSTICS).map(|_| ())
    }),
    required(AREA, "open-editors", "`getOpenEditors` answers with a list", |agent| {
        answers(agent, "getOpenEditors", &json!({}), &EDITORS).map(|_| ())
    }),
    required(AREA, "workspace-folders", "`getWorkspaceFolders` lists the workspace", workspace_folders),
    required(AREA, "current-selection", "`getCurrentSelection` answers with a selection or null", |agent| {
        answers(agent, "getCurrentSelection", &json!({}), &SELECTION).map(|_| ())
    }),
    required(AREA, "latest-selection", "`getLatestSelection` answers with a selection or null", |agent| {
        answers(agent, "getLatestSelection", &json!({}), &SELECTION).map(|_| ())
    }),
    required(
        AREA,
        "document-dirty",
        "`checkDocumentDirty` answers for a file that is not open",
        document_dirty,
    ),
    required(
        AREA,
        "save-document",
        "`saveDocument` of a file that is not open answers \"ok\"",
        save_document,
    ),
    required(
        AREA,
        "close-nothing",
        "`closeAllDiffTabs` answers \"ok\" when nothing is pending",
        close_nothing,
    ),
];

pub(crate) fn walk_through(stand: Stand) -> Walked {
    let mut agent = WsAgent::new(stand, &DIALECT);
    let findings = walk(
        &mut agent,
        &[
            ws_connection::CHECKS,
            ws_tools::CHECKS,
            CHECKS,
            ws_changes::CHECKS,
            ws_errors::CHECKS,
            ws_decisions::CHECKS,
            ws_errors::TIME,
        ],
    );
    (findings, agent.server_name())
}

const DIAGNOSTICS: Shape = Shape::List(&Shape::Object(&[
    member("filePath", Shape::Text),
    member("line", Shape::Count),
    member("message", Shape::Text),
    member("severity", Shape::Text),
    optional("source", Shape::OrNull(&Shape::Text)),
]));
const EDITORS: Shape = Shape::List(&Shape::Object(&[
    member("filePath", Shape::Text),
    member("isActive", Shape::Bool),
    member("isDirty", Shape::Bool),
    optional("languageId", Shape::OrNull(&Shape::Text)),
]));
const SELECTION: Shape = Shape::OrNull(&Shape::Object(&[
    member("filePath", Shape::Text),
    member("text", Shape::Text),
    member("startLine", Shape::Count),
    member("endLine", Shape::Count),
]));

fn workspace_folders(agent: &mut WsAgent) -> Outcome {
    let value = answers(agent, "getWorkspaceFolders", &json!({}), &Shape::List(&Shape::Text))?;
    let paths: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    has_workspace(agent, &paths)
}

const DIRTY: Shape = Shape::Object(&[member("dirty", Shape::Bool)]);

fn document_dirty(agent: &mut WsAgent) -> Outcome {
    let path = agent.sample.path_text();
    let value = answers(agent, "checkDocumentDirty", &json!({ "filePath": path }), &DIRTY)?;
    match value.get("dirty") {
        Some(Value::Bool(false)) => Ok(()),
        _ => Err(failed("{\"dirty\": false}", value.to_string())),
    }
}

fn save_document(agent: &mut WsAgent) -> Outcome {
    let path = agent.sample.path_text();
    says_ok(agent, "saveDocument", &json!({ "filePath": path }))
}

fn close_nothing(agent: &mut WsAgent) -> Outcome {
    says_ok(agent, "closeAllDiffTabs", &json!({}))
}

fn says_ok(agent: &mut WsAgent, tool: &str, arguments: &Value) -> Outcome {
    let conn = agent.main()?;
    agent.needs(tool)?;
    let answer = agent.call(conn, tool, arguments)?;
    match text(&answer)? {
        "ok" => Ok(()),
        other => Err(failed("ok", other)),
    }
}
