//! The dialect of ppxai: one HTTP request for each tool, the editor side writes.

mod conversation;
mod decided;
mod encode;
mod envelope;
mod page;
mod tool;
mod tools;

use linkspan_review::Writer;

use crate::dialect::{Dialect, Door, Route};
use conversation::Conversation;
pub use page::tools_page;

/// What `GET /status` stands for. No body can be mistaken for it in a way that matters: it only asks who we are.
const STATUS: &str = "status";

pub(crate) static DIALECT: Dialect = Dialect {
    name: "ppxai",
    door: Door::Calls {
        token_header: "x-ppxai-token",
        routes: &[
            Route { path: "/status", frame: Some(STATUS) },
            Route { path: "/ide/execute", frame: None },
        ],
    },
    writer: Writer::Editor,
    relative_paths: true,
    converse: |_dialect, server| Box::new(Conversation::new(server)),
    discovery: |_, _| Vec::new(),
    terminal_environment: |_| Vec::new(),
};
