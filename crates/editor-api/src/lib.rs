//! The protocol between the hub, editors, agents and `linkspan` commands: types, framing, and where files and sockets
//! are. Also the names that other programs fixed ([`wire_names`]) and the words that people read ([`labels`]), which
//! every other crate shares.
//!
//! Nothing in this crate opens a socket, awaits, or knows what a message leads to. TypeScript types and the
//! protocol page are generated from these types (feature `codegen`), so every public item has one line of
//! documentation, written for the author of an editor integration.

mod agent;
mod chat;
#[cfg(feature = "codegen")]
pub mod codegen;
mod control;
mod decision;
mod deny_globs;
mod description;
mod diagnostics;
mod document;
mod edits;
pub mod errors;
pub mod file_uri;
mod framing;
mod history;
mod hook;
mod hub_lock;
pub mod labels;
mod language;
mod method;
mod origin;
mod page;
mod permissions;
mod places;
mod port_space;
mod position;
mod receives;
mod review;
mod reviews;
mod rpc;
mod selection;
mod terminal;
mod user;
mod version;
pub mod visible;
mod watch;
mod window;
pub mod wire_names;

pub use agent::*;
pub use chat::*;
pub use control::*;
pub use decision::*;
pub use deny_globs::{DenyGlobError, DenyGlobs};
pub use diagnostics::*;
pub use document::*;
pub use edits::*;
pub use errors::RpcError;
pub use framing::{Decoder, FramingError, Limits, encode, header};
pub use history::*;
pub use hook::*;
pub use hub_lock::HubLock;
pub use language::*;
pub use method::{Direction, METHODS, Method, MethodKind, Notification, Request};
pub use origin::{ReviewOrigin, parse_turn};
pub use page::*;
pub use permissions::*;
pub use places::{Places, PlacesError, variable};
pub use port_space::{PORT_SPACE_BOOT, PORT_SPACE_NETWORK, port_space};
pub use position::*;
pub use receives::*;
pub use review::*;
pub use reviews::*;
pub use rpc::{Message, MessageRef, ParseError, RequestId, decode};
pub use selection::*;
pub use terminal::*;
pub use user::*;
pub use version::{PROTOCOL, version_notice};
pub use watch::*;
pub use window::*;
