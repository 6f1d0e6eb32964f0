//! The table of dialects. Knows the parts of a dialect, but none of them in particular.

use std::ffi::OsString;
use std::fmt;

use linkspan_review::Writer;

use crate::conversation::{Conversation, ServerFacts};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts};
use crate::receives::DialectReceives;
use crate::{acp, claude, clio, codex, copilot, engine, gemini, nexus3, own, ppxai};

/// Every dialect on a window's port or socket. To add one, add a folder and a line here.
pub static ALL: &[&Dialect] = &[
    &claude::DIALECT,
    &nexus3::DIALECT,
    &clio::DIALECT,
    &gemini::DIALECT,
    &copilot::DIALECT,
    &ppxai::DIALECT,
];

/// Our own, used on the hub's socket: it needs no token and has no discovery file.
pub static OWN: &Dialect = &own::DIALECT;

/// The daemon of Codex, to which the hub connects.
pub static CODEX: &Dialect = &codex::DIALECT;

/// That of agents that the hub starts.
pub static ACP: &Dialect = &acp::DIALECT;

/// The same for agents that another client has started, through `linkspan acp`.
pub static ACP_PROXIED: &Dialect = &acp::PROXIED;

/// That of engines, to which the hub connects for a chat.
pub static ENGINE: &Dialect = &engine::DIALECT;

/// One wire protocol of agents.
pub struct Dialect {
    pub name: &'static str,
    pub endpoint: Endpoint,
    /// Who writes the file after an accept.
    pub writer: Writer,
    /// Paths may be relative to the workspace.
    pub relative_paths: bool,
    /// What of a decision reaches the models of its agents.
    pub receives: DialectReceives,
    pub(crate) converse: fn(&'static Dialect, ServerFacts) -> Box<dyn Conversation>,
    pub(crate) discovery: fn(&WindowFacts<'_>, Lookup<'_>) -> Vec<DiscoveryFile>,
    pub(crate) terminal_environment: fn(&WindowFacts<'_>) -> Vec<(String, String)>,
}

/// How agents of a dialect connect, and how the hub tells them from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// A WebSocket at `/`, with the window's token in a header (in lower case).
    WebSocket {
        token_header: &'static str,
        /// The answer in `Sec-WebSocket-Protocol` if the agent offers it.
        subprotocol: Option<&'static str>,
    },
    /// A WebSocket at `/` of a dialect without tokens.
    OpenWebSocket,
    /// Requests by POST and a stream of events by GET at this path, with the window's token as bearer.
    Stream { path: &'static str },
    /// Like a stream, but on a Unix socket of the window, with the window's token as nonce. The agent chooses the id of
    /// its session, and a proposal is answered with the decision.
    SocketStream { path: &'static str },
    /// HTTP requests that are answered one by one. If a token is configured, it is expected in this header.
    HttpRpc { token_header: &'static str, routes: &'static [Route] },
    /// The hub's own socket.
    Local,
    /// A daemon of the user, to which the hub connects.
    Daemon,
    /// A process that the hub starts, on its standard input and output; or an engine that the hub talks to.
    Child,
}

/// One path of an [`Endpoint::HttpRpc`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub path: &'static str,
    /// The frame that a GET of this path becomes; none: the frame is the body of a POST.
    pub frame: Option<&'static str>,
}

impl Dialect {
    /// The discovery files of the window for this dialect's agents; none if `lookup` (the environment) names no
    /// directory for them.
    pub fn discovery_files(
        &self,
        window: &WindowFacts<'_>,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<DiscoveryFile> {
        (self.discovery)(window, &lookup)
    }

    /// Variables for the window's integrated terminals.
    pub fn terminal_environment(&self, window: &WindowFacts<'_>) -> Vec<(String, String)> {
        (self.terminal_environment)(window)
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.name).finish()
    }
}

/// The dialect of that name.
pub fn by_name(name: &str) -> Option<&'static Dialect> {
    every().find(|dialect| dialect.name == name)
}

/// The names of all dialects.
pub fn names() -> impl Iterator<Item = &'static str> {
    every().map(|dialect| dialect.name)
}

fn every() -> impl Iterator<Item = &'static Dialect> {
    ALL.iter().copied().chain([OWN, CODEX, ACP, ENGINE])
}
