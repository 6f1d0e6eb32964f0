//! What a conversation is made of: messages, tool calls and their results. Serialised as they are in session files, so a
//! field may be added, but not renamed. Must not know any model's wire format.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of a conversation, in the order in which the model reads them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// From the user.
    User {
        /// What the user wrote.
        text: String,
        /// Files and selections that `@file` and the editor added, already formatted for the model.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<String>,
    },
    /// From the model.
    Assistant {
        /// Its text; may be empty if there are calls.
        text: String,
        /// The tool calls, in the order in which the model made them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ModelCall>,
    },
    /// The results of all calls of the assistant message before, in its order.
    Tools {
        /// One for each call.
        results: Vec<ToolResult>,
    },
    /// What replaced older messages when the conversation was compacted.
    Summary {
        /// Written by the model.
        text: String,
    },
}

/// A call that the model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Unique in the conversation. Minted here where a model's wire has none.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments, or the text that the model streamed if it is not valid JSON.
    pub arguments: CallArguments,
    /// What the model's wire needs back with this call, such as Gemini's thought signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<String>,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArguments {
    /// A JSON object.
    Json(Value),
    /// Not a JSON object. The model is told, and no tool runs.
    Broken(String),
}

/// What a tool returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Of the call.
    pub call_id: String,
    /// Of the call.
    pub name: String,
    /// For the model.
    pub text: String,
    /// The tool failed or was refused.
    #[serde(default)]
    pub is_error: bool,
    /// The turn must not continue: the user cancelled it.
    #[serde(default)]
    pub cancelled: bool,
}

/// What a request cost, as the model's server counted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
}
