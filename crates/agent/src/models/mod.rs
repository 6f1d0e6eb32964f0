//! Models: what is asked of one, what it streams back, and which one is meant. One file per wire (`anthropic.rs`,
//! `openai.rs`, `gemini.rs`, `ollama.rs`), each pure: a request becomes JSON, and bytes of the stream become
//! [`ModelEvent`]s. `transport.rs` does the HTTP, `script.rs` plays a model from a file.

mod anthropic;
#[cfg(test)]
mod fake_server;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gemini;
mod lines;
mod ollama;
mod openai;
mod provider;
mod script;
mod status;
#[cfg(test)]
mod tests;
mod tool_names;
mod transport;
mod wire;

use std::time::Duration;

use serde_json::Value;

use crate::message::{ChatMessage, ModelCall, Usage};

pub use provider::{DEMO_MODEL, Model, Provider, Providers};
pub use script::Script;

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<ChatMessage>,
    /// What the model may call. Empty for a summary.
    pub tools: Vec<ToolSpec>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Unique. Some wires allow only `[A-Za-z0-9_-]`: a wire maps names and maps them back.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub schema: Value,
}

/// What a model streams.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// A piece of the answer.
    Text(String),
    /// A piece of the model's reasoning, where it shows that.
    Thought(String),
    /// A whole call; its arguments are complete.
    Call(ModelCall),
    /// What it cost so far; the last one counts.
    Usage(Usage),
    /// The answer is complete.
    Done(StopReason),
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It is done, or waits for the results of its calls.
    End,
    /// It reached the limit of its output.
    Length,
    /// It refused.
    Refusal,
}

/// Why there is no answer, or only a part of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Worth another try: 429, 5xx, a connection that failed, a stream that ended early.
    #[error("{message}")]
    Transient {
        /// For the user.
        message: String,
        /// What the server asked for.
        retry_after: Option<Duration>,
    },
    /// Not worth one: a wrong key, a wrong model, a request that is too large. Says what to do next.
    #[error("{message}")]
    Permanent {
        /// For the user.
        message: String,
        /// The conversation is too long for the model: compact it.
        too_long: bool,
    },
}
