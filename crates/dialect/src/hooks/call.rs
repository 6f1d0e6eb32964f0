//! One run of the hook: who calls, for which event, and what the agent is about to do.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::agent::HookAgent;
use super::caller::caller;
use super::change::{FileChange, FileChangeKind};
use super::error::HookError;
use super::event_kind::EventKind;
use super::tool::{self, HookTool, optional_text, wrong_type};
use super::{claude, codex, copilot, gemini, opencode, qwen};

/// More input than this is not read.
pub const MAX_INPUT: usize = 64 * 1024 * 1024;

/// One event of an agent.
#[derive(Debug, Clone)]
pub struct HookCall {
    pub agent: HookAgent,
    /// The agent's id of its session; any text, and empty if the agent sends none.
    pub session: String,
    /// Absolute.
    pub cwd: PathBuf,
    /// The user told the agent not to ask about edits. Always false for Codex, whose mode says nothing about that.
    pub automatic: bool,
    pub event: HookEvent,
    /// The event as the agent named it.
    pub(super) event_name: String,
    pub(super) kind: EventKind,
    pub(super) tool: HookTool,
    /// The input of the tool as the agent sent it.
    pub(super) input: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEvent {
    /// Decide about this edit now.
    Edit(EditCall),
    /// A second question for an edit that an earlier event was asked about.
    EditPermission(EditCall),
    /// The agent's tool has run.
    EditDone {
        files: Vec<PathBuf>,
    },
    /// A command that the agent is about to run.
    Command {
        command: String,
    },
    Prompt,
    SessionStart,
    SessionEnd,
    /// The agent has finished its turn.
    Stopped,
    /// The agent waits for the user.
    Waiting {
        message: String,
    },
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditCall {
    /// At least one, each path once.
    pub files: Vec<FileChange>,
    /// False: this event cannot rewrite the input, only allow or deny it.
    pub rewrites: bool,
}

impl HookCall {
    /// The caller is found out from stdin and environment, never from a file. Unknown members are ignored; unknown
    /// tools and events are [`HookEvent::Other`].
    pub fn parse(stdin: &[u8], env: &dyn Fn(&str) -> Option<String>) -> Result<HookCall, HookError> {
        if stdin.len() > MAX_INPUT {
            return Err(HookError::TooLarge { size: stdin.len(), limit: MAX_INPUT });
        }
        let stdin = stdin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(stdin);
        let mut object = match serde_json::from_slice(stdin) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err(HookError::NotAnObject),
            Err(error) => return Err(HookError::NotJson { detail: error.to_string() }),
        };
        let agent = caller(&object, env)?;
        let is_camel = agent == HookAgent::Copilot && copilot::is_own_form(&object);
        let event_member = if agent == HookAgent::Opencode { "event" } else { "hook_event_name" };
        let event_name = optional_text(&object, event_member)?.unwrap_or_default().to_owned();
        let kind = match agent {
            HookAgent::Copilot if is_camel => copilot::event_kind(&object),
            HookAgent::Gemini => gemini::event_kind(&event_name),
            HookAgent::Opencode => opencode::event_kind(&event_name),
            _ => claude::event_kind(&event_name),
        };
        let mode = optional_text(&object, "permission_mode")?;
        let automatic = match agent {
            HookAgent::Claude => mode.is_some_and(claude::is_automatic),
            HookAgent::Qwen => mode.is_some_and(qwen::is_automatic),
            HookAgent::Codex | HookAgent::Copilot | HookAgent::Gemini | HookAgent::Opencode => false,
        };
        let mut call = HookCall {
            agent,
            session: session(&object)?,
            cwd: folder(&object, env)?,
            automatic,
            event: HookEvent::Other,
            event_name: if is_camel { String::new() } else { event_name },
            kind,
            tool: HookTool::Other,
            input: Map::new(),
        };
        if [EventKind::BeforeTool, EventKind::Permission, EventKind::AfterTool].contains(&kind) {
            call.read_tool(&mut object, is_camel)?;
        }
        call.event = call.read_event(&object)?;
        Ok(call)
    }

    fn read_tool(&mut self, object: &mut Map<String, Value>, is_camel: bool) -> Result<(), HookError> {
        let (name, inputs): (_, &[&str]) = match self.agent {
            HookAgent::Copilot if is_camel => ("toolName", &["toolArgs", "toolInput"]),
            HookAgent::Opencode if self.kind == EventKind::Permission => ("permission", &["metadata"]),
            HookAgent::Opencode => ("tool", &["args"]),
            _ => ("tool_name", &["tool_input"]),
        };
        let Some(name) = optional_text(object, name)?.map(str::to_owned) else { return Ok(()) };
        if let Some((member, input)) =
            inputs.iter().find_map(|member| Some((*member, object.remove(*member)?)))
        {
            self.input = tool_input(member, input)?;
        }
        self.tool = match self.agent {
            HookAgent::Claude => claude::tool(&name),
            HookAgent::Codex => codex::tool(&name),
            HookAgent::Copilot => copilot::tool(&name, &self.input),
            HookAgent::Gemini => gemini::tool(&name),
            HookAgent::Qwen => qwen::tool(&name),
            HookAgent::Opencode => opencode::tool(&name, self.kind),
        };
        Ok(())
    }

    fn read_event(&self, object: &Map<String, Value>) -> Result<HookEvent, HookError> {
        Ok(match (self.kind, self.tool) {
            (EventKind::Prompt, _) => HookEvent::Prompt,
            (EventKind::SessionStart, _) => HookEvent::SessionStart,
            (EventKind::SessionEnd, _) => HookEvent::SessionEnd,
            (EventKind::Stop, _) => HookEvent::Stopped,
            (EventKind::Notification, _) => waiting(object)?,
            (EventKind::Other, _) | (_, HookTool::Other) => HookEvent::Other,
            (EventKind::AfterTool, _) => self.done(),
            (EventKind::BeforeTool | EventKind::Permission, HookTool::Shell { command }) => {
                HookEvent::Command { command: tool::command(&self.input, command)? }
            }
            (EventKind::BeforeTool | EventKind::Permission, _) => self.edit()?,
        })
    }

    fn edit(&self) -> Result<HookEvent, HookError> {
        let files = tool::changes(self.tool, &self.input, &self.cwd)?;
        let is_permission = self.kind == EventKind::Permission;
        let call = |rewrites| EditCall { files, rewrites };
        Ok(match (self.agent, is_permission) {
            (HookAgent::Qwen, true) => HookEvent::Edit(call(true)),
            // In these modes Qwen has no other event.
            (HookAgent::Qwen, false) if self.automatic => HookEvent::Edit(call(false)),
            (HookAgent::Qwen, false) => HookEvent::EditPermission(call(false)),
            (HookAgent::Claude, true) => HookEvent::EditPermission(call(true)),
            (_, true) => HookEvent::EditPermission(call(false)),
            (_, false) => HookEvent::Edit(call(true)),
        })
    }

    /// The tool has run, so an input that cannot be read is not worth an error.
    fn done(&self) -> HookEvent {
        let Ok(changes) = tool::changes(self.tool, &self.input, &self.cwd) else { return HookEvent::Other };
        let mut files = Vec::new();
        for change in changes {
            let moved_to = match change.kind {
                FileChangeKind::Patch { moved_to, .. } => moved_to,
                _ => None,
            };
            files.push(change.path);
            files.extend(moved_to);
        }
        if files.is_empty() { HookEvent::Other } else { HookEvent::EditDone { files } }
    }
}

fn session(object: &Map<String, Value>) -> Result<String, HookError> {
    for member in ["session_id", "sessionId", "sessionID"] {
        if let Some(session) = optional_text(object, member)? {
            return Ok(session.to_owned());
        }
    }
    Ok(String::new())
}

/// The agent's folder; if it does not say it, that in which the hook was started.
fn folder(object: &Map<String, Value>, env: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, HookError> {
    let folder = optional_text(object, "cwd")?.map(str::to_owned).or_else(|| env("PWD"));
    let folder = folder.ok_or_else(|| HookError::Missing { member: "cwd".to_owned() })?;
    if folder.starts_with('/') || PathBuf::from(&folder).is_absolute() {
        Ok(PathBuf::from(folder))
    } else {
        Err(HookError::RelativeFolder(folder))
    }
}

/// An object, or the text of one.
fn tool_input(member: &str, input: Value) -> Result<Map<String, Value>, HookError> {
    match input {
        Value::Object(input) => Ok(input),
        Value::Null => Ok(Map::new()),
        Value::String(text) => serde_json::from_str(&text).map_err(|_| wrong_type(member, "an object")),
        _ => Err(wrong_type(member, "an object")),
    }
}

/// Not every notification is a question.
fn waiting(object: &Map<String, Value>) -> Result<HookEvent, HookError> {
    let kind = optional_text(object, "notification_type")?.unwrap_or("permission").to_ascii_lowercase();
    let asks = ["permission", "idle", "elicitation"].iter().any(|word| kind.contains(word));
    let message = optional_text(object, "message")?.unwrap_or_default().to_owned();
    Ok(if asks { HookEvent::Waiting { message } } else { HookEvent::Other })
}
