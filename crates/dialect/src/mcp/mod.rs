//! What dialects share that are MCP over text frames: JSON-RPC, the handshake, tools.
//! Knows no tool by name.

mod arguments;
mod envelope;
mod plain;
mod reply;
mod session;
mod tool;
mod version;

pub(crate) use arguments::{Arguments, BadArgument};
pub(crate) use reply::{Encoded, json, notification, tools_changed};
pub(crate) use session::{Asked, Client, Context, Session};
pub(crate) use tool::{Argument, Kind, Need, Tool, ToolList, listed};

use linkspan_editor_api::FileDiagnostics;

use crate::meaning::{Answer, EditorEvent, FailureKind};
pub use envelope::begins_session;
pub use version::speaks;

/// One dialect's own part of an MCP server.
pub(crate) struct Mcp {
    pub(crate) tools: &'static [Tool],
    pub(crate) list: ToolList,
    /// The largest frame that this dialect's agents take.
    pub(crate) frame_limit: Option<usize>,
    pub(crate) encode: for<'a> fn(&'a Answer, &Context<'a>) -> Encoded<'a>,
    pub(crate) event: fn(&EditorEvent) -> Option<String>,
    /// The notification by which an agent says that it leaves, where the wire has no such word of its own.
    pub(crate) goodbye: Option<&'static str>,
    /// A cancelled call is answered all the same: only then does its agent know whether a person was first.
    pub(crate) answers_cancelled: bool,
    /// What people know this client as, who asked for that version of the protocol.
    pub(crate) known_as: fn(&Client, &str) -> Client,
    pub(crate) later: Option<Later>,
    pub(crate) own_tool: Option<OwnTool>,
}

/// For a program that runs its own tool after a yes, whatever was written before, and that shows its model nothing of
/// an answer but yes or no.
pub(crate) struct OwnTool {
    pub(crate) is_run_by: fn(&Client) -> bool,
    /// What the model should know of this answer, as a finding in the file: it is told with the next diagnostics.
    pub(crate) note: fn(&Answer) -> Option<FileDiagnostics>,
}

/// For a dialect that answers a proposal once it is shown and tells the decision later, by the path of the file.
pub(crate) struct Later {
    /// The notification that tells what became of the change of this path.
    pub(crate) tell: fn(&str, &Answer, &Client) -> String,
    /// The flag by which an agent that takes a change back asks not to be told of it.
    pub(crate) unless: &'static str,
}

impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mcp").finish_non_exhaustive()
    }
}

/// The JSON-RPC code of a failure, where a dialect tells it as a JSON-RPC error.
pub(crate) fn code_of(kind: FailureKind) -> i32 {
    match kind {
        FailureKind::InvalidParams => envelope::INVALID_PARAMS,
        FailureKind::Unsupported => envelope::METHOD_NOT_FOUND,
        FailureKind::Internal => envelope::INTERNAL,
        FailureKind::NotFound
        | FailureKind::OutsideWorkspace
        | FailureKind::Denied
        | FailureKind::TooLarge
        | FailureKind::NotText
        | FailureKind::Stale
        | FailureKind::Io
        | FailureKind::Timeout
        | FailureKind::EditorGone
        | FailureKind::Withdrawn => envelope::OPERATION_FAILED,
    }
}
