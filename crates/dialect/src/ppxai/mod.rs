//! The dialect of ppxai: one HTTP request for each tool; the hub writes accepted changes. Owns ppxai's tools, JSON and
//! error codes, and the reference page made from them. Must not know how a request is carried out.

mod conversation;
mod encode;
mod envelope;
mod outcome;
mod page;
mod tool;
mod tools;

use linkspan_editor_api::wire_names::header;
use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint, Route};
use crate::receives::DialectReceives;
use conversation::Conversation;
pub use page::tools_page;

/// The frame for `GET /status`. A body with the same text does no harm: it only asks for the status.
const STATUS: &str = "status";

pub(crate) static DIALECT: Dialect = Dialect {
    name: "ppxai",
    endpoint: Endpoint::HttpRpc {
        token_header: header::PPXAI_TOKEN,
        routes: &[
            Route { path: "/status", frame: Some(STATUS) },
            Route { path: "/ide/execute", frame: None },
        ],
    },
    writer: Writer::Hub,
    relative_paths: true,
    // A rejection carries reason and comments in words, and the result of an accept has the final text.
    receives: DialectReceives::EVERYTHING,
    converse: |_dialect, server| Box::new(Conversation::new(server)),
    discovery: |_, _| Vec::new(),
    terminal_environment: |_| Vec::new(),
};
