//! The dialect of Clio: messages with a `type` over a WebSocket, no token, the editor side writes.
//!
//! Its own client waits half a minute for the answer to `openDiff`, then goes on, and takes the next message for the
//! answer to its next question: what comes later is never sent.

mod conversation;
mod decided_edits;
mod messages;

use linkspan_review::Writer;
use serde::Serialize;

use crate::dialect::{Dialect, Door};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts, directory};
use conversation::Clio;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "clio",
    door: Door::OpenWebSocket,
    writer: Writer::Editor,
    relative_paths: false,
    converse: |_dialect, server| Box::new(Clio::new(server)),
    discovery,
    terminal_environment: |window| vec![("CLIO_IDE_PORT".to_owned(), window.port.to_string())],
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bridge<'a> {
    port: u16,
    pid: u32,
    ide_name: &'a str,
    workspace_folders: Vec<&'a str>,
    timestamp: u64,
    /// Where the port is a port, as in lock files.
    #[serde(skip_serializing_if = "Option::is_none")]
    linkspan: Option<&'a str>,
    /// There is no token to know the file by.
    linkspan_window: &'a str,
}

/// One file for all windows: it speaks of the one that the person was in last.
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
        directory: home.join(".clio").join("ide"),
        file_name: "bridge.json".to_owned(),
        contents: crate::mcp::json(&bridge).into_bytes(),
        shared: true,
    });
    file.collect()
}
