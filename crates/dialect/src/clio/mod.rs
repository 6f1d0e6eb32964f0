//! The dialect of Clio: messages with a `type` over a WebSocket without a token; the hub writes accepted changes. Owns
//! Clio's messages and its discovery file; must not know sockets.
//!
//! Clio's own client waits half a minute for the answer to `openDiff`, then continues, and takes the next message for
//! the answer to its next request. So a late answer is never sent.

mod conversation;
mod decision_log;
mod messages;

use linkspan_editor_api::Receives;
use linkspan_editor_api::wire_names::{CLIO_BRIDGE_FILE, CLIO_DIRECTORY, IDE_DIRECTORY, env};
use linkspan_review::Writer;
use serde::Serialize;

use crate::dialect::{Dialect, Endpoint};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory};
use crate::receives::DialectReceives;
use conversation::Clio;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "clio",
    endpoint: Endpoint::OpenWebSocket,
    writer: Writer::Hub,
    relative_paths: false,
    receives: RECEIVES,
    converse: |_dialect, server| Box::new(Clio::new(server)),
    discovery,
    terminal_environment: |window| vec![(env::CLIO_IDE_PORT.to_owned(), window.port.to_string())],
};

/// Clio's messages have room for yes or no, and its `edit_file` reads neither.
const RECEIVES: DialectReceives = DialectReceives { others: Receives::NOTHING, known: &[] };

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bridge<'a> {
    port: u16,
    pid: u32,
    ide_name: &'a str,
    workspace_folders: Vec<&'a str>,
    timestamp: u64,
    /// The machine or container of the port, as in lock files.
    #[serde(skip_serializing_if = "Option::is_none")]
    linkspan: Option<&'a str>,
    /// Identifies the file, which has no token.
    linkspan_window: &'a str,
}

/// One file for all windows: it describes the one that had the focus last.
fn discovery(window: &WindowFacts<'_>, lookup: Lookup<'_>) -> Vec<DiscoveryFile> {
    let bridge = Bridge {
        port: window.port,
        pid: window.pid,
        ide_name: window.editor_name,
        workspace_folders: window.folders.iter().filter_map(|folder| folder.to_str()).collect(),
        timestamp: window.unix_ms,
        linkspan: window.port_space,
        linkspan_window: window.mark,
    };
    let home = directory(lookup, "HOME").into_iter();
    let file = home.map(|home| DiscoveryFile {
        directory: home.join(CLIO_DIRECTORY).join(IDE_DIRECTORY),
        file_name: CLIO_BRIDGE_FILE.to_owned(),
        contents: crate::mcp::json(&bridge).into_bytes(),
        shared: true,
    });
    file.collect()
}
