//! The wire protocols that agents speak: bytes in, meaning out, and back.
//!
//! Nothing in this crate knows a socket, a clock or a file. A dialect is one folder and one line in
//! [`ALL`]; what they share by being MCP is in `mcp`.

mod claude;
mod dialect;
mod discovery;
mod mcp;
mod meaning;
mod nexus3;

use linkspan_editor_api::file_uri;

pub use dialect::{ALL, Dialect, by_name};
pub use discovery::{DiscoveryFile, WindowFacts};
pub use mcp::{CallId, Server, Session, Step};
pub use meaning::{Answer, EditorEvent, Failure, FailureKind, Request, Target};
