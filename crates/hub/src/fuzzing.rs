//! For fuzz targets only: what the hub makes of foreign bytes, without the files and sockets they come from.

use std::path::Path;

use crate::core::Introduction;
use crate::edge::session_id::SessionIds;
use crate::page::access::Digest;
use crate::page::kept::{Before, Kept};
use crate::token::Token;

/// The port and the sessions that `page.json` in this folder names. What it cannot use, it removes.
pub fn page_before(folder: &Path) -> Option<(u16, Vec<Digest>)> {
    Kept::new(folder, None).read().map(|Before { port, sessions }| (port, sessions))
}

/// Writes such a file.
pub fn keep_page(folder: &Path, port: u16, sessions: &[Digest]) -> Result<(), String> {
    Kept::new(folder, None).write(port, sessions.iter().copied())
}

/// The name of a session of that window.
pub fn session_name(token: &Token, key: &str, who: &Introduction) -> String {
    SessionIds::of(token).name(key, who)
}

/// The session that a name proves.
pub fn recognise_session(token: &Token, id: &str) -> Option<(String, Introduction)> {
    SessionIds::of(token).recognise(id)
}
