//! MCP over Streamable HTTP: an agent's session is one conversation over many connections.
//!
//! Owns how requests and events look in HTTP (`stream`), which sessions there are (`sessions`), a session with its
//! stream (`session`), ids that the next hub accepts without having stored them (`session_id`), and the events that a broken stream gets again (`replay`). Must
//! not know what a message means.
//!
//! Invariants: only the newest stream of a session is served; an event is discarded only if some stream has taken it,
//! otherwise the session ends; an outcome that the agent is known to have received is not sent again, not even by the
//! next hub.

mod replay;
mod session;
pub(crate) mod session_id;
pub(crate) mod sessions;
pub(super) mod stream;
