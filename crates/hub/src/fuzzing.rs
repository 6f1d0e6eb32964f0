//! For fuzz targets only: the hub's parsers of foreign bytes, without the files and sockets that those come from.

use std::path::Path;

use crate::core::Introduction;
use crate::edge::http::sse::session_id::SessionIds;
use crate::edge::page::access::Digest;
use crate::edge::page::persisted::{PageFile, SavedPage};
use crate::token::Token;

/// The port and the sessions in `page.json` of this folder. An invalid file is removed.
pub fn read_page_file(folder: &Path) -> Option<(u16, Vec<Digest>)> {
    PageFile::new(folder, None).read().map(|SavedPage { port, sessions }| (port, sessions))
}

/// Writes such a file.
pub fn write_page_file(folder: &Path, port: u16, sessions: &[Digest]) -> Result<(), String> {
    PageFile::new(folder, None).write(port, sessions.iter().copied())
}

/// The id of a session of that window.
pub fn encode_session_id(token: &Token, key: &str, who: &Introduction) -> String {
    SessionIds::of(token).encode(key, who)
}

/// The session that an id proves.
pub fn verify_session_id(token: &Token, id: &str) -> Option<(String, Introduction)> {
    SessionIds::of(token).verify(id)
}
