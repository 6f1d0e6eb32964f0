//! The points of Claude Code's protocol: its twelve tools and the shapes of their answers.

use serde_json::{Value, json};

use super::mcp_answer::{is_error, json_text};
use super::shape::{Shape, member, optional};
use super::ws_agent::{WsAgent, WsDialect};
use super::ws_tools::{AREA, answers, has_workspace};
use super::{Stand, Walked, ws_changes, ws_connection, ws_decisions, ws_errors, ws_tools};
use crate::commands::scripts::conform::point::{Check, Outcome, failed, recommended, required, walk};
use crate::commands::scripts::conform::report::excerpt;

static DIALECT: WsDialect = WsDialect {
    token_header: "X-Claude-Code-Ide-Authorization",
    version: "2025-11-25",
    subprotocol: true,
    close_tab: "close_tab",
    tab_argument: "tab_name",
    tab_name: |tab| format!("\u{273b} [Claude Code] {tab} \u{29c9}"),
    tools: &[
        ("openDiff", &["old_file_path", "new_file_path", "new_file_contents", "tab_name"]),
        ("getDiagnostics", &["uri"]),
        ("close_tab", &["tab_name"]),
        ("openFile", &["filePath", "preview", "startText", "endText", "selectToEndOfLine", "makeFrontmost"]),
        ("checkDocumentDirty", &["filePath"]),
        ("saveDocument", &["filePath"]),
        ("executeCode", &["code"]),
    ],
    // Claude Code calls `openDiff` and `close_tab` even if they are not listed; its model sees this one.
    listed: &["getDiagnostics"],
    server_writes: false,
    notifications: &["notifications/initialized", "ide_connected"],
};

const CHECKS: &[Check<WsAgent>] = &[
    required(AREA, "diagnostics", "`getDiagnostics` answers for all files", diagnostics),
    recommended(AREA, "diagnostics-of-file", "`getDiagnostics` answers for a file that is not open", of_file),
    required(AREA, "open-editors", "`getOpenEditors` lists the tabs", open_editors),
    required(AREA, "workspace-folders", "`getWorkspaceFolders` lists the workspace", workspace_folders),
    required(
        AREA,
        "current-selection",
        "`getCurrentSelection` answers with a selection or that there is none",
        |agent| selection(agent, "getCurrentSelection"),
    ),
    required(
        AREA,
        "latest-selection",
        "`getLatestSelection` answers with a selection or that there is none",
        |agent| selection(agent, "getLatestSelection"),
    ),
    required(
        AREA,
        "document-dirty",
        "`checkDocumentDirty` answers for a file that is not open",
        document_dirty,
    ),
];

pub(crate) fn walk_through(stand: Stand) -> Walked {
    let mut agent = WsAgent::new(stand, &DIALECT);
    let findings = walk(
        &mut agent,
        &[
            ws_connection::CHECKS,
            ws_connection::SUBPROTOCOL,
            ws_tools::CHECKS,
            CHECKS,
            ws_changes::CHECKS,
            ws_changes::CLOSE_ALL,
            ws_errors::CHECKS,
            ws_decisions::CHECKS,
            ws_errors::TIME,
        ],
    );
    (findings, agent.server_name())
}

const POSITION: Shape = Shape::Object(&[member("line", Shape::Count), member("character", Shape::Count)]);
const RANGE: Shape = Shape::Object(&[member("start", POSITION), member("end", POSITION)]);

const DIAGNOSTICS: Shape = Shape::List(&Shape::Object(&[
    member("uri", Shape::Text),
    member("diagnostics", Shape::List(&DIAGNOSTIC)),
]));
const DIAGNOSTIC: Shape = Shape::Object(&[
    member("message", Shape::Text),
    member("severity", Shape::Word(&["Error", "Warning", "Info", "Hint"])),
    member("range", RANGE),
    optional("source", Shape::OrNull(&Shape::Text)),
]);

fn diagnostics(agent: &mut WsAgent) -> Outcome {
    answers(agent, "getDiagnostics", &json!({}), &DIAGNOSTICS).map(|_| ())
}

fn of_file(agent: &mut WsAgent) -> Outcome {
    let uri = format!("file://{}", agent.sample.path_text());
    answers(agent, "getDiagnostics", &json!({ "uri": uri }), &DIAGNOSTICS).map(|_| ())
}

const TABS: Shape = Shape::Object(&[member("tabs", Shape::List(&TAB))]);
const TAB: Shape = Shape::Object(&[
    member("uri", Shape::Text),
    member("label", Shape::Text),
    member("languageId", Shape::Text),
    member("isActive", Shape::Bool),
    member("isDirty", Shape::Bool),
    optional("fileName", Shape::Text),
]);

fn open_editors(agent: &mut WsAgent) -> Outcome {
    answers(agent, "getOpenEditors", &json!({}), &TABS).map(|_| ())
}

const FOLDERS: Shape = Shape::Object(&[
    member("success", Shape::Bool),
    member("folders", Shape::List(&FOLDER)),
    optional("rootPath", Shape::OrNull(&Shape::Text)),
]);
const FOLDER: Shape =
    Shape::Object(&[member("name", Shape::Text), member("uri", Shape::Text), member("path", Shape::Text)]);

fn workspace_folders(agent: &mut WsAgent) -> Outcome {
    let value = answers(agent, "getWorkspaceFolders", &json!({}), &FOLDERS)?;
    let listed = value.get("folders").and_then(Value::as_array).into_iter().flatten();
    let paths: Vec<&str> = listed.filter_map(|folder| folder.get("path")?.as_str()).collect();
    has_workspace(agent, &paths)
}

const SELECTION: Shape = Shape::Object(&[
    member("text", Shape::Text),
    member("filePath", Shape::Text),
    member("fileUrl", Shape::Text),
    member(
        "selection",
        Shape::Object(&[member("start", POSITION), member("end", POSITION), member("isEmpty", Shape::Bool)]),
    ),
]);
const UNSUCCESSFUL: Shape = Shape::Object(&[member("success", Shape::Bool), member("message", Shape::Text)]);
const SELECTION_OR_NONE: Shape = Shape::Either(&[SELECTION, UNSUCCESSFUL]);

fn selection(agent: &mut WsAgent, tool: &str) -> Outcome {
    answers(agent, tool, &json!({}), &SELECTION_OR_NONE).map(|_| ())
}

const DIRTY: Shape = Shape::Either(&[
    Shape::Object(&[
        member("filePath", Shape::Text),
        member("isDirty", Shape::Bool),
        member("isUntitled", Shape::Bool),
    ]),
    UNSUCCESSFUL,
]);

/// Some servers answer an error, others `success: false`; a file that is not open must not be called dirty.
fn document_dirty(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    agent.needs("checkDocumentDirty")?;
    let path = agent.sample.path_text();
    let answer = agent.call(conn, "checkDocumentDirty", &json!({ "filePath": path }))?;
    if is_error(&answer) {
        return Ok(());
    }
    let value = json_text(&answer)?;
    DIRTY.check(&value)?;
    match value.get("isDirty").and_then(Value::as_bool) {
        Some(true) => Err(failed("a file that is not dirty", excerpt(&value))),
        _ => Ok(()),
    }
}
