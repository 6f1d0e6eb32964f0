//! The parts that the MCP dialects share: JSON-RPC, the handshake, calls, declaring tools. Owns everything that follows
//! from MCP itself; must not know what one dialect does differently, except through [`Mcp`].

mod arguments;
mod envelope;
mod fast_path;
mod reply;
mod session;
pub(crate) mod standard_tools;
mod tool;
mod version;

pub(crate) use arguments::{Arguments, BadArgument};
pub(crate) use reply::{Encoded, json, notification, tools_changed};
pub(crate) use session::{CallKind, EncodeContext, McpClient, McpSession};
pub(crate) use tool::{Argument, ArgumentKind, McpTool, Need, ToolList, listed};

use linkspan_editor_api::FileDiagnostics;

use crate::answer::{Answer, EditorEvent, FailureKind};
pub use envelope::{answer_before_session, begins_session};
pub use version::speaks;

/// How one MCP dialect differs from the others.
pub(crate) struct Mcp {
    pub(crate) tools: &'static [McpTool],
    pub(crate) list: ToolList,
    /// The largest frame that this dialect's agents accept.
    pub(crate) frame_limit: Option<usize>,
    pub(crate) encode: for<'a> fn(&'a Answer, &EncodeContext<'a>) -> Encoded<'a>,
    pub(crate) event: fn(&EditorEvent) -> Option<String>,
    /// The notification by which an agent leaves, if the wire has none of its own.
    pub(crate) goodbye: Option<&'static str>,
    /// A cancelled call is answered anyway: only then does its agent know whether the user was faster.
    pub(crate) answers_cancelled: bool,
    /// The name and version that people know this client by, given the protocol version that it asked for.
    pub(crate) known_as: fn(&McpClient, &str) -> McpClient,
    pub(crate) later: Option<Later>,
    pub(crate) own_tool: Option<OwnTool>,
}

/// For a program that runs its own tool after an accept, whatever was written before, and that shows its model nothing
/// of an answer except accepted or rejected.
pub(crate) struct OwnTool {
    pub(crate) is_run_by: fn(&McpClient) -> bool,
    /// A note for the model about this answer, as a diagnostic of the file: it is sent with the next diagnostics.
    pub(crate) note: fn(&Answer) -> Option<FileDiagnostics>,
}

/// For a dialect that answers a proposal once it is shown and sends the decision later, by the path of the file.
pub(crate) struct Later {
    /// The notification about the outcome of the change of this path.
    pub(crate) tell: fn(&str, &Answer, &McpClient) -> String,
    /// The flag by which an agent that withdraws a change asks for no notification.
    pub(crate) unless: &'static str,
}

impl std::fmt::Debug for Mcp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mcp").finish_non_exhaustive()
    }
}

/// The JSON-RPC code of a failure, in a dialect that sends it as a JSON-RPC error.
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
