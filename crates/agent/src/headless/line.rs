//! The lines of `--json`. Their fields are documented in docs/agents/linkspan-agent.md and stable: a reader ignores
//! types and fields that it does not know.

use serde::Serialize;
use serde_json::Value;

use crate::conversation::{TurnEnd, TurnEvent};
use crate::host::{Occurred, ReviewPlace};
use crate::message::{CallArguments, Usage};
use crate::permissions::PermissionMode;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// The first one.
    Start {
        /// The agent's name, which reviews show.
        agent: String,
        /// `provider/model`.
        model: String,
        /// The mode.
        mode: PermissionMode,
        /// For `--resume`.
        session: String,
    },
    /// A piece of the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// A piece of the reasoning.
    Thought {
        /// The piece.
        text: String,
    },
    /// A call that the model made.
    ToolCall {
        /// Of the call.
        id: String,
        /// Its name.
        tool: String,
        /// An object, or a text if the model did not write valid JSON.
        arguments: Value,
    },
    /// Output of a running tool.
    ToolOutput {
        /// Of the call.
        id: String,
        /// A piece.
        text: String,
    },
    /// What a tool returned.
    ToolResult {
        /// Of the call.
        id: String,
        /// Its name.
        tool: String,
        /// What the model reads.
        text: String,
        /// It failed or was refused.
        is_error: bool,
    },
    /// Something was asked.
    Question {
        /// `permission`, `repeated` or `change`.
        kind: &'static str,
        /// The call, if the question is about one.
        id: String,
        /// The tool.
        tool: String,
        /// Where: `terminal`, or `nobody` if it was answered with no because nobody can be asked.
        asked: &'static str,
    },
    /// A change waits for the user.
    Review {
        /// Of the call.
        id: String,
        /// `editor`, `terminal` or `both`.
        place: &'static str,
    },
    /// What went into the prompt by itself.
    Context {
        /// The text.
        text: String,
    },
    /// An editor is connected, or none any longer.
    Editor {
        /// Such as "VS Code".
        name: Option<String>,
    },
    /// Something worth knowing.
    Info {
        /// One line.
        text: String,
    },
    /// What went wrong.
    Error {
        /// One line or more.
        text: String,
    },
    /// The last one.
    End {
        /// How.
        end: TurnEnd,
        /// The whole last answer.
        text: String,
        /// Tokens of the turn.
        usage: Usage,
    },
}

impl Line {
    /// The line for an event; none for those that say nothing by themselves.
    pub fn of(occurred: &Occurred) -> Option<Line> {
        Some(match occurred.clone() {
            Occurred::Shown(shown) => return Line::of_shown(shown),
            Occurred::Output { call_id, text } => Line::ToolOutput { id: call_id, text },
            Occurred::Reviewing { call_id, place } => {
                let place = match place {
                    ReviewPlace::Editor => "editor",
                    ReviewPlace::Terminal => "terminal",
                    ReviewPlace::Both => "both",
                };
                Line::Review { id: call_id, place }
            }
            Occurred::ContextInjected(text) => Line::Context { text },
            Occurred::EditorConnected { name } => Line::Editor { name: Some(name) },
            Occurred::EditorLost => Line::Editor { name: None },
            Occurred::Ask { .. }
            | Occurred::QuestionClosed { .. }
            | Occurred::AskChange(_)
            | Occurred::ChangeClosed { .. }
            | Occurred::Closed => return None,
        })
    }

    fn of_shown(shown: TurnEvent) -> Option<Line> {
        Some(match shown {
            TurnEvent::Started | TurnEvent::Prompted => return None,
            TurnEvent::Text(text) => Line::Text { text },
            TurnEvent::Thought(text) => Line::Thought { text },
            TurnEvent::Call(call) => Line::ToolCall {
                id: call.id,
                tool: call.name,
                arguments: match call.arguments {
                    CallArguments::Json(arguments) => arguments,
                    CallArguments::Broken(text) => Value::String(text),
                },
            },
            TurnEvent::Result(result) => Line::ToolResult {
                id: result.call_id,
                tool: result.name,
                text: result.text,
                is_error: result.is_error,
            },
            TurnEvent::Info(text) => Line::Info { text },
            TurnEvent::Error(text) => Line::Error { text },
            TurnEvent::Ended { end, text, usage } => Line::End { end, text, usage },
        })
    }
}
