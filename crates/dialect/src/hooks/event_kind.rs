//! The moments at which agents run hooks, whatever each calls them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    BeforeTool,
    /// The agent would ask the user about a tool.
    Permission,
    AfterTool,
    Prompt,
    SessionStart,
    SessionEnd,
    Stop,
    Notification,
    Other,
}
