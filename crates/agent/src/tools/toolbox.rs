//! All tools as one table: names, kinds, what the model is told of them, and running one. Knows no tool from inside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use linkspan_client::Bridge;
use linkspan_editor_api::DenyGlobs;
use linkspan_workspace::Workspace;
use serde_json::Value;

use super::answer::{Answer, LONGEST, ToolFailure, beginning};
use super::arguments::{Parameter, ToolArguments, schema};
use super::editor::EditorTools;
use super::fetch::FetchRules;
use super::mcp::{McpServers, Report, ServerConfig};
use super::paths::{OwnFiles, real_path};
use super::spawn::Spawner;
use super::{ToolContext, Toolbox, calculate, changes, command, fetch, files, git, plan, spawn};
use crate::message::{CallArguments, ModelCall, ToolResult};
use crate::models::ToolSpec;
use crate::permissions::{PermissionMode, ToolKind};

/// What the tools need to know; the same for all agents of the process.
pub struct ToolsConfig {
    /// The one bridge of the process.
    pub bridge: Arc<Bridge>,
    /// Folders of Linkspan and of the agent that no tool may touch: configuration, state, sockets.
    pub own: Vec<PathBuf>,
    /// Files that are kept from agents, as in the hub's configuration.
    pub deny: DenyGlobs,
    /// What `fetch_url` may reach.
    pub fetch: FetchRules,
    /// MCP servers, by name.
    pub mcp: BTreeMap<String, ServerConfig>,
    /// Starts helpers; without it there is no `spawn_agent`.
    pub spawner: Option<Arc<dyn Spawner>>,
    /// How to start this program again: it, and the arguments before those of a sandboxed command. `None`: the running
    /// program with `sandbox-exec`.
    pub sandbox_program: Option<Vec<std::ffi::OsString>>,
}

impl std::fmt::Debug for ToolsConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ToolsConfig").field("mcp", &self.mcp.keys()).finish_non_exhaustive()
    }
}

impl ToolsConfig {
    /// Nothing but the bridge.
    pub fn new(bridge: Arc<Bridge>) -> ToolsConfig {
        ToolsConfig {
            bridge,
            own: Vec::new(),
            deny: DenyGlobs::default(),
            fetch: FetchRules::default(),
            mcp: BTreeMap::new(),
            spawner: None,
            sandbox_program: None,
        }
    }
}

/// One of our own tools.
pub(crate) struct LocalTool {
    pub(crate) name: &'static str,
    pub(crate) kind: ToolKind,
    pub(crate) about: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) run: fn(&AgentTools, &ToolArguments<'_>, &ToolContext) -> Answer,
}

/// The tables, in the order in which the model sees them.
const TABLES: [&[LocalTool]; 7] =
    [files::TOOLS, command::TOOLS, git::TOOLS, fetch::TOOLS, calculate::TOOLS, plan::TOOLS, spawn::TOOLS];

/// All tools of the agent. One for all agents of the process.
pub struct AgentTools {
    pub(crate) config: ToolsConfig,
    pub(crate) own: OwnFiles,
    pub(crate) editor: EditorTools,
    mcp: McpServers,
    /// Each file that is being changed, so that two calls do not change it at once.
    pub(crate) changing: Mutex<BTreeSet<PathBuf>>,
}

impl std::fmt::Debug for AgentTools {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AgentTools").field("config", &self.config).finish_non_exhaustive()
    }
}

impl AgentTools {
    /// Starts MCP servers in the background, when they are first needed.
    pub fn new(mut config: ToolsConfig) -> AgentTools {
        let own = OwnFiles::new(std::mem::take(&mut config.own));
        let mcp = McpServers::new(std::mem::take(&mut config.mcp));
        let editor = EditorTools::new(Arc::clone(&config.bridge));
        AgentTools { config, own, editor, mcp, changing: Mutex::default() }
    }

    /// Starts the MCP servers now, in the background, instead of when their tools are first wanted.
    pub fn start_mcp(&self) {
        self.mcp.start();
    }

    /// Calls this once for each MCP server that fails, with a line for the user.
    pub fn report_mcp_failures(&self, report: Report) {
        self.mcp.set_report(report);
    }

    /// The state of each MCP server, for `/status`: its name, and what there is to say.
    pub fn mcp_status(&self) -> Vec<(String, String)> {
        self.mcp.status()
    }

    /// The agent's folder as the workspace of searches and of git.
    pub(crate) fn workspace(&self, context: &ToolContext) -> Workspace {
        let folder = real_path(&context.cwd).unwrap_or_else(|_| context.cwd.clone());
        Workspace { folders: vec![folder], deny: self.config.deny.clone(), kept: self.own.folders().to_vec() }
    }

    fn local(&self, name: &str) -> Option<&'static LocalTool> {
        TABLES.into_iter().flatten().find(|tool| tool.name == name).filter(|tool| self.offers(tool))
    }

    fn offers(&self, tool: &LocalTool) -> bool {
        tool.kind != ToolKind::Spawn || self.config.spawner.is_some()
    }

    /// Runs a call. `None`: there is no such tool.
    fn answer(&self, name: &str, arguments: &Value, context: &ToolContext) -> Option<Answer> {
        if let Some(tool) = self.local(name) {
            return Some(match ToolArguments::read(name, tool.parameters, arguments) {
                Ok(read) => (tool.run)(self, &read, context),
                Err(error) => Err(error.into()),
            });
        }
        if changes::is_one(name) {
            return Some(changes::run(self, name, arguments, context));
        }
        if name.starts_with("ide.") {
            return self.editor.run(name, arguments, context);
        }
        self.mcp.run(name, arguments, context)
    }
}

impl Toolbox for AgentTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let local = TABLES.into_iter().flatten().filter(|tool| self.offers(tool)).map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.about.to_owned(),
            schema: schema(tool.parameters),
        });
        let mut specs: Vec<ToolSpec> = local.chain(changes::specs()).collect();
        specs.extend(self.editor.specs());
        specs.extend(self.mcp.specs());
        specs
    }

    fn kind(&self, name: &str) -> Option<ToolKind> {
        self.local(name)
            .map(|tool| tool.kind)
            .or_else(|| changes::is_one(name).then_some(ToolKind::Change))
            .or_else(|| self.editor.kind(name))
            .or_else(|| self.mcp.has(name).then_some(ToolKind::Foreign))
    }

    fn run(&self, call: &ModelCall, context: &ToolContext) -> ToolResult {
        answered(call, context, |arguments| self.answer(&call.name, arguments, context))
    }
}

/// The result of a call; `run` has `None` if there is no such tool.
pub(crate) fn answered(
    call: &ModelCall,
    context: &ToolContext,
    run: impl FnOnce(&Value) -> Option<Answer>,
) -> ToolResult {
    let answer = match &call.arguments {
        _ if context.cancelled.is_cancelled() => Err(ToolFailure::cancelled()),
        CallArguments::Broken(_) => Err(ToolFailure::from(
            "The arguments are not a JSON object, so nothing was done; make the call again with valid JSON.",
        )),
        CallArguments::Json(arguments) => run(arguments)
            .unwrap_or_else(|| Err(ToolFailure::Error(format!("There is no tool `{}`.", call.name)))),
    };
    let (text, is_error, cancelled) = match answer {
        Ok(text) => (text, false, false),
        Err(ToolFailure::Error(text)) => (text, true, false),
        Err(ToolFailure::Cancelled(text)) => (text, true, true),
    };
    let text = beginning(text, LONGEST, "Ask for less at a time.");
    ToolResult { call_id: call.id.clone(), name: call.name.clone(), text, is_error, cancelled }
}

/// Holds a file while it is changed: the next call that changes it waits, so that its base is the result of this one.
pub(crate) struct ChangeTurn<'t> {
    changing: &'t Mutex<BTreeSet<PathBuf>>,
    path: PathBuf,
}

impl AgentTools {
    pub(crate) fn turn(&self, path: PathBuf, context: &ToolContext) -> Result<ChangeTurn<'_>, ToolFailure> {
        loop {
            {
                let mut changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
                if changing.insert(path.clone()) {
                    return Ok(ChangeTurn { changing: &self.changing, path });
                }
            }
            if context.cancelled.wait_timeout(std::time::Duration::from_millis(50)) {
                return Err(ToolFailure::cancelled());
            }
        }
    }
}

impl Drop for ChangeTurn<'_> {
    fn drop(&mut self) {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

/// The mode of a helper.
pub(crate) fn helper_mode(parent: PermissionMode, wanted: Option<&str>) -> Result<PermissionMode, String> {
    let Some(name) = wanted else { return Ok(parent) };
    let wanted = PermissionMode::from_name(name).ok_or_else(|| format!("there is no mode `{name}`"))?;
    Ok(parent.at_most(wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::ToolScene;

    #[test]
    fn every_tool_has_one_name_a_kind_and_a_schema() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        let tools = scene.tools();
        let specs = tools.specs();
        let names: BTreeSet<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names.len(), specs.len());
        for spec in &specs {
            assert!(tools.kind(&spec.name).is_some(), "{}", spec.name);
            assert_eq!(spec.schema["type"], "object", "{}", spec.name);
            assert!(spec.description.len() > 20, "{}", spec.name);
        }
        for name in [
            "read_file",
            "write_file",
            "run_command",
            "git_commit",
            "fetch_url",
            "calculate",
            "update_plan",
            "ide.apply_edit",
        ] {
            assert!(names.contains(name), "{name}");
        }
        assert!(!names.contains("spawn_agent"), "nobody could start it");
        assert_eq!(tools.kind("patch"), Some(ToolKind::Change));
        assert_eq!(tools.kind("run_command"), Some(ToolKind::Command));
        assert_eq!(tools.kind("no_such_tool"), None);
    }

    #[test]
    fn the_page_names_every_tool() {
        const PAGE: &str =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents/linkspan-agent.md"));
        let scene = ToolScene::new(PermissionMode::Trusted);
        let specs = scene.tools().specs();
        let names = specs.iter().map(|spec| spec.name.as_str()).chain(["spawn_agent"]);
        let missing: Vec<&str> = names.filter(|name| !PAGE.contains(&format!("`{name}`"))).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn an_unknown_tool_is_said_to_be_none() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        for name in ["readfile", "ide.open_fil", "none.tool", "spawn_agent", ""] {
            assert_eq!(scene.fails(name, json!({})), format!("There is no tool `{name}`."));
        }
    }

    #[test]
    fn broken_arguments_run_nothing() {
        let scene = ToolScene::new(PermissionMode::Yolo);
        let call = ModelCall {
            id: "7".into(),
            name: "write_file".into(),
            arguments: CallArguments::Broken("{\"path".into()),
            opaque: None,
        };
        let result = scene.tools().run(&call, &scene.context);
        assert!(result.is_error && result.call_id == "7" && result.text.contains("not a JSON object"));
        for odd in [json!(null), json!([]), json!("x"), json!({ "path": [1] })] {
            for spec in scene.tools().specs() {
                let result = scene.run(&spec.name, odd.clone());
                assert!(result.is_error || !spec.name.contains("write"), "{} {odd}", spec.name);
            }
        }
    }

    #[test]
    fn nothing_runs_after_a_cancellation() {
        let scene = ToolScene::new(PermissionMode::Yolo);
        scene.context.cancelled.cancel();
        let result = scene.run("write_file", json!({ "path": "a", "content": "x" }));
        assert!(result.cancelled && !scene.path("a").exists());
    }
}
