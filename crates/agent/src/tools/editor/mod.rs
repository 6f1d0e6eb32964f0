//! The tools of the editor, `ide.*`: the 26 that ppxai's bridges have, and what the hub has more. A window of our hub
//! also is such a bridge, so there the 26 go to it, and with them its reviews and questions; other editors have what
//! their protocol has.

mod bridge_call;
mod diagnostics;
mod foreign;
mod table;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use linkspan_client::connection::Connection;
use linkspan_client::discover::{Candidate, CandidateVerdict, FoundBy, Match, Secret, Wire};
use linkspan_client::http::LoopbackUrl;
use linkspan_client::ppxai;
use linkspan_client::{AgentInfo, Bridge};
use linkspan_editor_api::Places;
use serde_json::{Value, json};

use super::ToolContext;
use super::answer::{Answer, ToolFailure};
use super::arguments::{ToolArguments, schema};
use crate::models::ToolSpec;
use crate::permissions::{PermissionMode, ToolKind};
use table::{EditorTool, TABLE};

pub(crate) use diagnostics::diagnostics_after;

/// What a model is told without an editor.
pub(crate) const NOT_CONNECTED: &str = "Not connected to IDE. Use /ide connect first.";

/// A window cuts a longer text.
const LONGEST_UNSAVED: usize = 1024 * 1024;

pub(crate) struct EditorTools {
    bridge: Arc<Bridge>,
    /// To the bridge that the hub's window is, with its port.
    window: Mutex<Option<(u16, Connection)>>,
    /// The host was told not to ask, because the hub does: no other editor gets such a call.
    leaves_asking_to_hub: AtomicBool,
}

impl EditorTools {
    pub(crate) fn new(bridge: Arc<Bridge>) -> EditorTools {
        EditorTools { bridge, window: Mutex::default(), leaves_asking_to_hub: AtomicBool::new(false) }
    }

    pub(crate) fn specs(&self) -> impl Iterator<Item = ToolSpec> {
        // The kinds are asked again with the names.
        self.leaves_asking_to_hub.store(false, Ordering::Relaxed);
        TABLE.iter().map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.about.to_owned(),
            schema: schema(tool.parameters),
        })
    }

    /// The hub asks its user itself; a bridge of someone else may not.
    pub(crate) fn kind(&self, name: &str) -> Option<ToolKind> {
        let tool = tool(name)?;
        let is_asked_there =
            asks_for_permission(tool) && self.bridge.connection().is_some_and(|editor| editor.is_hub());
        if is_asked_there {
            self.leaves_asking_to_hub.store(true, Ordering::Relaxed);
            return Some(ToolKind::Editor);
        }
        Some(tool.kind)
    }

    /// `None`: there is no such tool.
    pub(crate) fn run(&self, name: &str, arguments: &Value, context: &ToolContext) -> Option<Answer> {
        let tool = tool(name)?;
        Some(self.answer(tool, arguments, context))
    }

    fn answer(&self, tool: &EditorTool, arguments: &Value, context: &ToolContext) -> Answer {
        let connection = self.bridge.connection().filter(|connection| !connection.is_closed());
        let Some(connection) = connection else { return Err(NOT_CONNECTED.into()) };
        let read = ToolArguments::read(tool.name, tool.parameters, arguments)?;
        if context.mode == PermissionMode::Sandboxed && tool.kind == ToolKind::Command {
            return Err(format!(
                "`{}` runs outside the sandbox, so it does not run in sandboxed mode; use `run_command`",
                tool.name
            )
            .into());
        }
        let is_asked = connection.is_hub() || !self.leaves_asking_to_hub.load(Ordering::Relaxed);
        if asks_for_permission(tool) && context.mode == PermissionMode::Trusted && !is_asked {
            return Err("another editor was connected a moment ago; make the call again".into());
        }
        if let Some(hub_tool) = tool.of_hub {
            return match connection.is_hub() {
                true if tool.kind == ToolKind::Change => {
                    bridge_call::change_on_hub(&connection, hub_tool, &read, context)
                }
                true => bridge_call::on_hub(&connection, hub_tool, &read, context),
                false => Err(foreign::not_offered(&connection, tool.name).into()),
            };
        }
        match &connection.candidate().wire {
            Wire::Ppxai { .. } => bridge_call::run(&connection, tool.name, arguments, context),
            Wire::Hub { port, .. } => {
                let window = self.window(&connection, *port)?;
                let arguments = named(tool, arguments, &context.agent);
                bridge_call::run(&window, tool.name, &arguments, context)
            }
            _ => foreign::run(&connection, tool.name, &read),
        }
    }

    /// The text of a file in the editor, if the user has changed it there and not saved it. An error is the end of a
    /// sentence about the file.
    pub(crate) fn unsaved_text(&self, path: &Path) -> Result<Option<String>, String> {
        let editor = self.bridge.connection().filter(|editor| editor.is_hub() && !editor.is_closed());
        let Some(editor) = editor else { return Ok(None) };
        let port = editor.candidate().wire.port();
        // A file that the window does not have is not open there.
        if !self.bridge.config().enabled || !editor.is_dirty(path).unwrap_or(false) {
            return Ok(None);
        }
        let failed = |why: String| format!("has unsaved changes in the editor, which cannot be read: {why}");
        let window =
            self.window(&editor, port).map_err(|_| failed("the editor's tools are not there".to_owned()))?;
        let answer = window.call("ide.read_file", &json!({ "path": path.display().to_string() }));
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        let content = answer.structured.as_ref().and_then(|read| read.get("content")?.as_str());
        match content {
            Some(text) if text.len() < LONGEST_UNSAVED => Ok(Some(text.to_owned())),
            Some(_) => Err(failed("the text is too long; ask the user to save it".to_owned())),
            None => Err(failed(answer.texts().collect::<Vec<_>>().join(" "))),
        }
    }

    /// The bridge on the port of the hub's window.
    fn window(&self, hub: &Connection, port: u16) -> Result<Connection, ToolFailure> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, connection)) = &*window
            && *known == port
            && !connection.is_closed()
        {
            return Ok(connection.clone());
        }
        let token = std::env::var(ppxai::TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
        let candidate = Candidate {
            editor: hub.candidate().editor.clone(),
            wire: Wire::Ppxai { bridge: LoopbackUrl::of_port(port), token: token.map(Secret::new) },
            folders: hub.candidate().folders.clone(),
            pid: None,
            found: FoundBy::Given,
            matched: Some(Match::OwnTerminal),
            verdict: CandidateVerdict::Usable,
        };
        let agent = AgentInfo::new("linkspan-agent", env!("CARGO_PKG_VERSION"));
        // Only the hub's own wire reads them.
        let nowhere = || std::path::PathBuf::new();
        let places = Places { home: nowhere(), runtime: nowhere(), state: nowhere(), config: nowhere() };
        let connection = Connection::open(&candidate, &agent, &places).map_err(|error| {
            format!("the editor's tools cannot be reached: {error}; check that `ppxai` is not disabled in config.toml")
        })?;
        *window = Some((port, connection.clone()));
        Ok(connection)
    }
}

fn asks_for_permission(tool: &EditorTool) -> bool {
    matches!(tool.kind, ToolKind::Command | ToolKind::GitWrite)
}

/// What a tool does in an editor that may not ask its user.
pub(crate) fn kind_elsewhere(name: &str) -> Option<ToolKind> {
    tool(name).map(|tool| tool.kind)
}

fn tool(name: &str) -> Option<&'static EditorTool> {
    TABLE.iter().find(|tool| tool.name == name)
}

/// A change without a description is named after the agent.
fn named(tool: &EditorTool, arguments: &Value, agent: &str) -> Value {
    let mut arguments = arguments.clone();
    let has_description = tool.parameters.iter().any(|parameter| parameter.name == "description");
    if let Some(map) = arguments.as_object_mut().filter(|_| has_description) {
        let given = map.get("description").and_then(Value::as_str);
        let short = tool.name.trim_start_matches("ide.").replace('_', " ");
        let description = format!("{agent}: {}", given.unwrap_or(&short));
        map.insert("description".to_owned(), description.into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tools::testing::ToolScene;

    #[test]
    fn all_26_tools_of_the_seed_are_there() {
        let ours: BTreeSet<&str> =
            TABLE.iter().filter(|tool| tool.of_hub.is_none()).map(|tool| tool.name).collect();
        let theirs: BTreeSet<&str> = ppxai::TOOLS.iter().map(|(name, _)| *name).collect();
        assert_eq!(ours, theirs);
        assert!(TABLE.len() > 26 && TABLE.iter().all(|tool| tool.name.starts_with("ide.")));
    }

    #[test]
    fn without_an_editor_each_says_so() {
        for mode in PermissionMode::ALL {
            let scene = ToolScene::new(mode);
            for tool in TABLE {
                let arguments = json!({});
                assert_eq!(scene.fails(tool.name, arguments), NOT_CONNECTED, "{}", tool.name);
            }
        }
    }

    #[test]
    fn a_change_says_whose_it_is() {
        let edit = tool("ide.apply_edit").unwrap();
        assert_eq!(named(edit, &json!({}), "helper")["description"], "helper: apply edit");
        assert_eq!(named(edit, &json!({ "description": "x" }), "helper")["description"], "helper: x");
        let open = tool("ide.open_file").unwrap();
        assert_eq!(named(open, &json!({ "path": "x" }), "helper"), json!({ "path": "x" }));
    }
}
