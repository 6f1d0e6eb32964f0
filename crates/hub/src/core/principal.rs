//! The agent to which something is allowed, as it is found again after a reconnect.

use linkspan_review::WindowId;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AgentPrincipal {
    pub(super) window: WindowId,
    pub(super) key: String,
    /// The name it gives itself, which is part of the key.
    pub(super) name: String,
}
