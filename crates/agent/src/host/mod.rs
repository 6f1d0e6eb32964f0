//! The agents of one process, and the seam to the frontends (terminal, headless, engine, ACP): a frontend sends
//! [`HostCommand`]s and receives [`HostEvent`]s, and knows nothing else. Owns the pool, the one bridge to the editor,
//! the session files, and the loop that carries out what conversations want.

mod agent;
mod carry_out;
mod change_questions;
mod commands;
mod contract;
mod demo;
#[cfg(test)]
pub(crate) mod double;
mod editor;
mod event_loop;
mod helper_pool;
mod new_agent;
mod pool;
mod prompt_context;
mod review_notice;
mod start;

pub use change_questions::ChangeQuestions;
pub use contract::{
    AgentId, AgentSetting, AgentSettings, AgentSummary, ChangeId, ChangeQuestion, EditorSummary, HostCommand,
    HostEnded, HostEvent, HostHandle, Occurred, ProviderSummary, ReviewPlace, SessionSummary, ToolSummary,
};
pub use demo::write_demo;
pub use helper_pool::HelperPool;
pub use pool::remembered;
pub use prompt_context::{AboutAgent, BasePrompt, PromptContext, SystemPrompt};
pub use start::{Host, HostSetup};

#[cfg(test)]
mod tests;
