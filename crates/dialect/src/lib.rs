//! The wire protocols that agents speak: bytes in, meaning out, and back.
//!
//! Nothing in this crate knows a socket, a clock or a file. A dialect is one folder and one line in
//! [`ALL`], but for [`OWN`], which is spoken on the hub's own socket; what they share by being MCP is in `mcp`.

mod claude;
mod clio;
mod conversation;
mod decided;
mod dialect;
mod discovery;
mod folders;
mod gemini;
mod language;
mod mcp;
mod meaning;
mod nearest;
mod nexus3;
mod open_calls;
mod own;
mod ppxai;
mod work;

use linkspan_editor_api::file_uri;

pub use conversation::{CallId, Exchange, Frame, Server, Session, Step};
pub use decided::{Accepted, DecidedHunk, Rejected};
pub use dialect::{ALL, Dialect, Door, OWN, Route, by_name, names};
pub use discovery::{DiscoveryFile, WindowFacts, discovery_folders};
pub use folders::Folders;
pub use language::{Known, Question};
pub use mcp::{begins_session, speaks};
pub use meaning::{
    ActiveFile, Answer, EditorEvent, Failure, FailureKind, FileEdit, OpenFile, Request, Target,
};
pub use ppxai::tools_page as ppxai_tools_page;
pub use work::{Active, Printed, Work};
