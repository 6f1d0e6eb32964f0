//! Adapts wires that are not MCP over one socket: each gateway uses the foreign protocol on its own sockets and plain
//! MCP frames towards our session, so that calls, events and deadlines are the same for every wire.
//!
//! `clio`, `gemini` and `ppxai` translate and know no sockets; `http_gateway` and `ws_gateway` carry it.

mod clio;
mod file_writer;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod gemini;
mod http_gateway;
mod ppxai;
mod replies;
mod whole_file;
mod ws_gateway;

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

/// The request of our session to a gateway to close its wire with a goodbye.
pub(super) const LEAVE: &str = "gateway/leave";

/// Whether a wire needs a gateway.
pub(super) fn is_needed(wire: &Wire) -> bool {
    matches!(wire, Wire::Clio { .. } | Wire::Gemini { .. } | Wire::Ppxai { .. })
}

/// Starts the gateway to an editor and returns our end of it.
pub(super) fn open(candidate: &Candidate, agent: &AgentInfo) -> Result<Socket, OpenError> {
    let (ours, theirs) = UnixStream::pair()?;
    let theirs = framed(theirs);
    let folders = candidate.folders.as_slice();
    match &candidate.wire {
        Wire::Gemini { port, token } => {
            http_gateway::start(theirs, gemini::Gemini::new(*port, token.as_ref(), folders))?;
        }
        Wire::Ppxai { bridge, token } => {
            http_gateway::start(theirs, ppxai::Ppxai::new(bridge, token.as_ref(), std::path::Path::exists))?;
        }
        wire => {
            let editor = Socket::Web(Box::new(dial::dial(wire, Instant::now() + DEADLINE)?));
            let disk = clio::Disk { read: whole_file::read, write: file_writer::replace };
            ws_gateway::start(theirs, editor, clio::Clio::new(&agent.version, folders, disk))?;
        }
    }
    Ok(framed(ours))
}

fn framed(stream: UnixStream) -> Socket {
    Socket::Framed { stream, decoder: Decoder::new(Limits::OF_A_HUB) }
}
