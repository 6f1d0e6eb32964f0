//! The one table of dialects. Knows what a dialect consists of, nothing of any one of them.

use std::ffi::OsString;
use std::fmt;

use linkspan_review::Writer;

use crate::conversation::{Conversation, Server};
use crate::discovery::{DiscoveryFile, Lookup, WindowFacts};
use crate::{claude, clio, gemini, nexus3, own, ppxai};

/// Every dialect spoken on a window's port. Adding one is adding a folder and a line here.
pub static ALL: &[&Dialect] =
    &[&claude::DIALECT, &nexus3::DIALECT, &clio::DIALECT, &gemini::DIALECT, &ppxai::DIALECT];

/// Our own, spoken on the hub's socket: no guard asks for its token and no file announces it.
pub static OWN: &Dialect = &own::DIALECT;

/// One wire protocol that agents speak.
pub struct Dialect {
    pub name: &'static str,
    pub door: Door,
    /// Who writes the file after an accept.
    pub writer: Writer,
    /// Paths may be relative to the workspace.
    pub relative_paths: bool,
    pub(crate) converse: fn(&'static Dialect, Server) -> Box<dyn Conversation>,
    pub(crate) discovery: fn(&WindowFacts<'_>, Lookup<'_>) -> Vec<DiscoveryFile>,
    pub(crate) terminal_environment: fn(&WindowFacts<'_>) -> Vec<(String, String)>,
}

/// How this dialect's agents come in, and by what they are told from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// A WebSocket at `/`, with the window's token in a header (in lower case).
    WebSocket {
        token_header: &'static str,
        /// What to answer in `Sec-WebSocket-Protocol` when the agent offers it.
        subprotocol: Option<&'static str>,
    },
    /// A WebSocket at `/` of a dialect that knows no token.
    OpenWebSocket,
    /// Requests by POST and a stream of events by GET at this path, with the window's token as bearer.
    Stream { path: &'static str },
    /// Requests that are answered one by one. A token is asked for where one is set, in this header.
    Calls { token_header: &'static str, routes: &'static [Route] },
    /// The hub's own socket.
    Local,
}

/// What one path of a [`Door::Calls`] is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub path: &'static str,
    /// The frame that a GET of this path stands for; without one, the frame is the body of a POST.
    pub frame: Option<&'static str>,
}

impl Dialect {
    /// The files by which this dialect's agents find the window; none when `lookup` (the environment)
    /// names no place for them.
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
    ALL.iter().copied().chain([OWN])
}
