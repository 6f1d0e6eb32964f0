//! The one table of dialects. Knows what a dialect consists of, nothing of any one of them.

use std::ffi::OsString;
use std::fmt;

use linkspan_review::Writer;

use crate::discovery::{DiscoveryFile, Lookup, WindowFacts};
use crate::mcp::Mcp;
use crate::{claude, nexus3, own};

/// Every dialect spoken on a window's port. Adding one is adding a folder and a line here.
pub static ALL: &[&Dialect] = &[&claude::DIALECT, &nexus3::DIALECT];

/// Our own, spoken on the hub's socket: no guard asks for its token and no file announces it.
pub static OWN: &Dialect = &own::DIALECT;

/// One wire protocol that agents speak.
pub struct Dialect {
    pub name: &'static str,
    /// The header that carries the token and tells this dialect from the others, in lower case.
    pub token_header: &'static str,
    /// What to answer in `Sec-WebSocket-Protocol` when the agent offers it.
    pub subprotocol: Option<&'static str>,
    /// Who writes the file after an accept.
    pub writer: Writer,
    pub(crate) discovery: fn(&WindowFacts<'_>, Lookup<'_>) -> Option<DiscoveryFile>,
    pub(crate) terminal_environment: fn(u16) -> Vec<(String, String)>,
    pub(crate) mcp: Mcp,
}

impl Dialect {
    /// The file by which this dialect's agents find the window; none when `lookup` (the environment)
    /// names no place for it.
    pub fn discovery_file(
        &self,
        window: &WindowFacts<'_>,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Option<DiscoveryFile> {
        (self.discovery)(window, &lookup)
    }

    /// Variables for the window's integrated terminals.
    pub fn terminal_environment(&self, port: u16) -> Vec<(String, String)> {
        (self.terminal_environment)(port)
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
