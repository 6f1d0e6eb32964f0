//! Starting an agent: its folder, its model, its session and its conversation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::agent::Agent;
use super::carry_out::tool_table;
use super::contract::{AgentId, AgentSettings, HostEvent, Occurred};
use super::event_loop::{HostLoop, LoopMessage};
use crate::conversation::{AgentConversation, ConversationLimits, Settings, ToolTable, TurnEvent};
use crate::models::Model;
use crate::session::Session;
use crate::tools::{SessionServers, Toolbox};

/// Helpers at once: one that starts another waits for it.
const MOST_HELPERS: usize = 8;

/// What a new agent begins with.
struct Begun {
    cwd: PathBuf,
    model: Model,
    session: Session,
    conversation: AgentConversation,
    notice: Option<String>,
}

impl HostLoop {
    pub(super) fn new_agent(&mut self, settings: AgentSettings) -> Result<AgentId, String> {
        if settings.is_helper && self.agents.values().filter(|agent| agent.is_helper).count() >= MOST_HELPERS
        {
            return Err(format!(
                "{MOST_HELPERS} helpers run already, which is the limit: wait for one of them"
            ));
        }
        let begun = match &settings.resume {
            Some(name) => self.resumed(name, &settings)?,
            None => self.fresh(&settings)?,
        };
        let Begun { cwd, model, mut session, conversation, notice } = begun;
        // It continues in this mode, whatever the configuration says then.
        if settings.resume.is_none() || settings.mode.is_some() {
            session.set_mode(conversation.mode()).map_err(|error| error.to_string())?;
        }
        let id = AgentId(self.next_agent);
        if let Some(bridge) = &self.setup.bridge_id {
            session.set_bridge(bridge).map_err(|error| error.to_string())?;
        }
        self.next_agent += 1;
        let name = self.unique_name(settings.name.as_deref(), id);
        let toolbox = self.toolbox_of(id, &settings);
        let agent = Agent {
            id,
            name,
            toolbox,
            cwd,
            conversation,
            model,
            session,
            unsaved: false,
            request: None,
            tick: None,
            running: Default::default(),
            prompts: Default::default(),
            cancels_prompt: false,
            mentioned: Vec::new(),
            has_tools: true,
            inject_context: true,
            injected: None,
            is_helper: settings.is_helper,
        };
        self.agents.insert(id, agent);
        if let Some(notice) = notice {
            self.emit(Some(id), Occurred::Shown(TurnEvent::Info(notice)));
        }
        Ok(id)
    }

    /// The tools of all agents, and those of its own servers.
    fn toolbox_of(&self, id: AgentId, settings: &AgentSettings) -> Arc<dyn Toolbox> {
        let shared = Arc::clone(&self.setup.toolbox);
        if settings.servers.is_empty() {
            return shared;
        }
        let messages = self.messages.clone();
        let report = move |line: &str| {
            let what = Occurred::Shown(TurnEvent::Info(line.to_owned()));
            let _ = messages.send(LoopMessage::Emit(HostEvent { agent: Some(id), what }));
        };
        Arc::new(SessionServers::start(shared, settings.servers.clone(), Arc::new(report)))
    }

    fn fresh(&self, settings: &AgentSettings) -> Result<Begun, String> {
        let cwd = self.folder(settings.cwd.as_deref())?;
        let model = self.setup.providers.choose(settings.model.as_deref(), None)?;
        let session = self.setup.sessions.create(&cwd, &model.name);
        // Its tools come with the first system prompt: asking the editor for its own may take a moment.
        let conversation = AgentConversation::new(self.settings(settings, &model, ToolTable::default()));
        Ok(Begun { cwd, model, session, conversation, notice: None })
    }

    fn resumed(&self, name: &str, settings: &AgentSettings) -> Result<Begun, String> {
        let loaded = self.setup.sessions.open(name).map_err(|error| error.to_string())?;
        let cwd = match &settings.cwd {
            Some(cwd) => self.folder(Some(cwd))?,
            // Where it was, if that still exists.
            None => self.folder(Some(&loaded.cwd)).or_else(|_| self.folder(None))?,
        };
        let choose = |name: Option<&str>| self.setup.providers.choose(name, None);
        let model = match &settings.model {
            Some(model) => choose(Some(model))?,
            // The session's model may have lost its key, or its script.
            None => choose(Some(&loaded.model)).or_else(|_| choose(None))?,
        };
        let start = self.settings(settings, &model, tool_table(&*self.setup.toolbox));
        let mut conversation = AgentConversation::restore(start, loaded.records);
        if let Some(mode) = settings.mode {
            conversation.set_initial_mode(mode);
        }
        let torn = "The last record of the session was incomplete and is dropped.";
        let notice = loaded.was_torn.then(|| torn.to_owned());
        Ok(Begun { cwd, model, session: loaded.session, conversation, notice })
    }

    fn settings(&self, settings: &AgentSettings, model: &Model, tools: ToolTable) -> Settings {
        let limits = ConversationLimits {
            rounds: self.setup.config.max_rounds,
            context_window: model.context_window,
            ..ConversationLimits::default()
        };
        Settings { mode: settings.mode.unwrap_or(self.setup.config.mode), tools, limits }
    }

    /// An existing folder, absolute.
    pub(super) fn folder(&self, wanted: Option<&Path>) -> Result<PathBuf, String> {
        let folder = wanted.map_or_else(|| self.setup.cwd.clone(), |wanted| self.setup.cwd.join(wanted));
        match std::fs::metadata(&folder) {
            Ok(found) if found.is_dir() => Ok(folder),
            Ok(_) => Err(format!("{} is not a folder", folder.display())),
            Err(error) => Err(format!("cannot use the folder {}: {error}", folder.display())),
        }
    }

    fn unique_name(&self, wanted: Option<&str>, id: AgentId) -> String {
        let wanted = wanted.map(str::trim).filter(|wanted| !wanted.is_empty());
        let base = wanted.map_or_else(|| format!("agent-{}", id.0), str::to_owned);
        let is_taken = |name: &str| self.agents.values().any(|agent| agent.name == name);
        let mut name = base.clone();
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{base}-{number}");
            number += 1;
        }
        name
    }
}
