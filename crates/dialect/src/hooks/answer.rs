//! The decision, and its way into the form of the agent that asked.

use serde_json::{Map, Value};

use super::agent::HookAgent;
use super::call::{HookCall, HookEvent};
use super::event_kind::EventKind;
use super::rewrite::rewritten_input;
use super::tool::HookTool;
use super::words::not_written;
use super::{claude, codex, copilot, gemini, opencode};

/// What `linkspan hook` answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// As if there were no hook: the agent asks or acts as ever.
    Pass,
    /// Accepted exactly as proposed, with the user's comments. They are printed only if
    /// [`HookCall::tells_context_now`](super::HookCall::tells_context_now).
    Allow { context: Option<String> },
    /// Accepted in part or edited. One entry for each file of the [`EditCall`](super::EditCall), in its order. The
    /// context is printed only if [`HookCall::tells_context_now`](super::HookCall::tells_context_now).
    Rewrite { files: Vec<RewrittenFile>, context: String },
    /// Nothing is accepted.
    Deny { reason: String },
    /// A text for the model, after a prompt, at the start of a session or after an edit.
    Context { text: String },
}

/// One file of a rewritten edit. Texts have the line endings of the file, and lack a byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewrittenFile {
    /// The text that the agent's tool will find; `None` if the file does not exist.
    pub current: Option<String>,
    /// The text that the file should hold; `None` drops the change of this file. The empty text of a file that the
    /// agent deletes deletes it.
    pub text: Option<String>,
}

/// What the process prints, and its exit status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookOutput {
    pub stdout: String,
    pub code: u8,
}

/// The answer to a question about a tool, for the agent's own form.
#[derive(Debug)]
pub(super) enum ToolAnswer<'a> {
    /// With the rewritten input, and with a context where it reaches the model.
    Allow {
        input: Option<Map<String, Value>>,
        context: Option<&'a str>,
    },
    Deny {
        reason: &'a str,
    },
}

const REJECTED: &str = "The user rejected this.";
const CANNOT_REWRITE: &str =
    "Nothing was written: this tool cannot make the text that the user accepted. The decision was:";

impl HookCall {
    /// In the caller's own dialect and for this event. If the agent's tool cannot make the texts of a rewrite, it
    /// becomes a denial that says so: nothing is written that the user has not seen.
    pub fn encode(&self, answer: &HookAnswer) -> HookOutput {
        let printed = match (&self.event, answer) {
            (_, HookAnswer::Pass) => None,
            (
                HookEvent::Edit(_) | HookEvent::EditPermission(_) | HookEvent::Command { .. },
                HookAnswer::Allow { .. } | HookAnswer::Rewrite { .. } | HookAnswer::Deny { .. },
            ) => self.encode_decision(answer),
            (
                HookEvent::Prompt | HookEvent::SessionStart | HookEvent::EditDone { .. },
                HookAnswer::Context { text },
            ) if !text.trim().is_empty() => Some(self.encode_context(text)),
            _ => None,
        };
        HookOutput { stdout: printed.map(|value| value.to_string()).unwrap_or_default(), code: 0 }
    }

    fn encode_decision(&self, answer: &HookAnswer) -> Option<Value> {
        let context = |text: Option<&'_ str>| -> bool {
            self.tells_context_now() && text.is_some_and(|text| !text.trim().is_empty())
        };
        match answer {
            HookAnswer::Allow { context: text } => {
                let text = text.as_deref().filter(|text| context(Some(text)));
                self.encode_tool(ToolAnswer::Allow { input: None, context: text })
            }
            HookAnswer::Rewrite { files, context: text } => match self.rewritten(files) {
                Some(input) => {
                    let text = Some(text.as_str()).filter(|text| context(Some(text)));
                    self.encode_tool(ToolAnswer::Allow { input: Some(input), context: text })
                }
                None => {
                    let reason = format!("{CANNOT_REWRITE}\n\n{}", not_written(text));
                    self.encode_tool(ToolAnswer::Deny { reason: reason.trim_end() })
                }
            },
            HookAnswer::Deny { reason } => {
                let reason = if reason.trim().is_empty() { REJECTED } else { reason };
                self.encode_tool(ToolAnswer::Deny { reason })
            }
            HookAnswer::Pass | HookAnswer::Context { .. } => None,
        }
    }

    fn encode_tool(&self, answer: ToolAnswer<'_>) -> Option<Value> {
        match self.agent {
            HookAgent::Codex => codex::encode(self.kind, answer),
            HookAgent::Copilot if self.event_name.is_empty() => Some(copilot::encode(self.kind, answer)),
            HookAgent::Claude | HookAgent::Qwen | HookAgent::Copilot => {
                Some(claude::encode(self.kind, answer))
            }
            HookAgent::Gemini => Some(gemini::encode(answer)),
            HookAgent::Opencode => opencode::encode(self.kind, answer),
        }
    }

    fn encode_context(&self, text: &str) -> Value {
        match self.agent {
            HookAgent::Opencode => opencode::context(text),
            HookAgent::Copilot if self.event_name.is_empty() => copilot::context(text),
            _ => claude::context(&self.event_name, text),
        }
    }

    fn rewritten(&self, files: &[RewrittenFile]) -> Option<Map<String, Value>> {
        match &self.event {
            HookEvent::Edit(edit) | HookEvent::EditPermission(edit) if edit.rewrites => {
                rewritten_input(self.tool, &self.input, &edit.files, files)
            }
            _ => None,
        }
    }

    /// Whether the agent's tool can make exactly these texts. Some cannot: Codex always writes a final newline, Gemini
    /// keeps the one that is there, and an edit cannot drop one file of one.
    pub fn can_rewrite(&self, files: &[RewrittenFile]) -> bool {
        self.rewritten(files).is_some()
    }

    /// Whether the tool also replaces a text that is only similar to the one that it is given.
    pub fn matches_loosely(&self) -> bool {
        let is_loose = match self.agent {
            HookAgent::Claude | HookAgent::Gemini | HookAgent::Qwen | HookAgent::Opencode => true,
            HookAgent::Codex | HookAgent::Copilot => false,
        };
        is_loose && matches!(self.tool, HookTool::Replace(_) | HookTool::ReplaceMany(_))
    }

    /// Whether a context in [`HookAnswer::Allow`] and [`HookAnswer::Rewrite`] reaches the model with this answer. If
    /// not, keep it for [`HookEvent::EditDone`] and answer that with [`HookAnswer::Context`].
    pub fn tells_context_now(&self) -> bool {
        match self.agent {
            HookAgent::Gemini | HookAgent::Qwen => false,
            _ => self.kind != EventKind::Permission,
        }
    }
}
