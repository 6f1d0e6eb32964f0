//! The wire protocols of agents: frames are decoded into requests, and answers encoded into frames.
//!
//! Nothing in this crate knows a socket, a clock or a file. A dialect is one folder and one line in [`ALL`], except
//! [`OWN`], which agents use on the hub's own socket, [`CODEX`], to whose daemon the hub connects, and [`ACP`], whose
//! agents the hub or `linkspan acp` starts, and [`ENGINE`], a server that the hub talks to. `mcp` has the parts that the MCP dialects share.

mod acp;
mod answer;
mod chat;
mod claude;
mod clio;
mod codex;
mod conversation;
mod copilot;
mod dialect;
mod discovery;
mod engine;
mod folders;
mod gemini;
pub mod hooks;
mod language;
mod mcp;
mod nexus3;
mod open_calls;
mod outcome;
mod own;
mod patch;
mod placed_texts;
mod ppxai;
mod receives;
mod request;
mod spelling;

use linkspan_editor_api::file_uri;

pub use acp::{told_after_accept, told_after_decline, told_in_doubt};
pub use answer::{ActiveFile, Answer, EditorEvent, Failure, FailureKind, OpenFile, TerminalContents};
pub use chat::{ChatCommand, ChatEvent, ChatTool, TurnEnd};
pub use codex::{IdeContext, IdeFile, IdeRequest};
pub use conversation::{AgentFrame, CallId, ExchangeId, ServerFacts, Session, Step};
pub use dialect::{ACP, ACP_PROXIED, ALL, CODEX, Dialect, ENGINE, Endpoint, OWN, Route, by_name, names};
pub use discovery::{DiscoveryFile, WindowFacts, discovery_folders};
pub use folders::WindowFolders;
pub use language::{LanguageAnswer, LanguageQuery};
pub use mcp::{answer_before_session, begins_session, speaks};
pub use outcome::{Accepted, DecidedHunk, Rejected};
pub use patch::{PatchChange, PatchError, PatchFile, PatchedText, TextEdit};
pub use ppxai::tools_page as ppxai_tools_page;
pub use receives::{DialectReceives, KnownAgent};
pub use request::{ActiveFileRequest, AllowedBy, FileEdit, OpenSelection, Request, WorkspaceRequest};
