//! Wires that are not MCP over one socket, made into one: each gateway speaks the foreign protocol on sockets of its
//! own and plain MCP frames to our session, so that calls, events and deadlines are the same for every wire.
//!
//! What is said is decided in `clio`, `gemini` and `ppxai`, which know no sockets; `errands` and `two_lines` carry it.

mod clio;
mod errands;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gemini;
mod ppxai;
mod replace;
mod replies;
mod two_lines;
mod whole_file;

pub(super) use replies::NOT_WRITTEN;

use std::os::unix::net::UnixStream;
use std::time::Instant;

use linkspan_editor_api::{Decoder, Limits};

use super::error::OpenError;
use super::session::DEADLINE;
use super::transport::Socket;
use super::types::AgentInfo;
use crate::dial;
use crate::discover::{Candidate, Wire};

/// What our session asks a gateway before it goes: to say goodbye in the words of its wire.
pub(super) const LEAVE: &str = "gateway/leave";

/// Whether a wire needs a gateway.
pub(super) fn is_needed(wire: &Wire) -> bool {
    matches!(wire, Wire::Clio { .. } | Wire::Gemini { .. } | Wire::Ppxai { .. })
}

/// Starts the gateway to an editor; gives our end of it.
pub(super) fn open(candidate: &Candidate, agent: &AgentInfo) -> Result<Socket, OpenError> {
    let (ours, theirs) = UnixStream::pair()?;
    let theirs = framed(theirs);
    let folders = candidate.folders.as_slice();
    match &candidate.wire {
        Wire::Gemini { port, token } => {
            errands::start(theirs, gemini::Gemini::new(*port, token.as_ref(), folders))?;
        }
        Wire::Ppxai { bridge, token } => {
            errands::start(theirs, ppxai::Ppxai::new(bridge, token.as_ref(), std::path::Path::exists))?;
        }
        wire => {
            let editor = Socket::Web(Box::new(dial::dial(wire, Instant::now() + DEADLINE)?));
            let disk = clio::Disk { read: whole_file::read, write: replace::replace };
            two_lines::start(theirs, editor, clio::Clio::new(&agent.version, folders, disk))?;
        }
    }
    Ok(framed(ours))
}

fn framed(stream: UnixStream) -> Socket {
    Socket::Framed { stream, decoder: Decoder::new(Limits::OF_A_HUB) }
}
