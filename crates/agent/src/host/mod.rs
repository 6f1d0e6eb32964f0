//! The agents of one process, and the seam to the frontends (terminal, headless, engine, ACP): a frontend sends
//! [`HostCommand`]s and receives [`HostEvent`]s, and knows nothing else. Owns the pool, the one bridge to the editor,
//! the session files, and the loop that carries out what conversations want.

mod change_questions;
mod contract;
#[cfg(test)]
pub(crate) mod double;

pub use change_questions::ChangeQuestions;
pub use contract::{
    AgentId, AgentSettings, AgentStatus, ChangeId, ChangeQuestion, HostCommand, HostEnded, HostEvent,
    HostHandle, Occurred, ProviderSummary, ReviewPlace, SessionSummary, Setting, ToolSummary,
};
