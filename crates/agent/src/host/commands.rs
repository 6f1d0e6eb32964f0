//! The commands of the frontends.

use tokio::sync::oneshot;

use super::contract::*;
use super::event_loop::{HostLoop, LoopMessage};
use crate::conversation::{Event, TurnEvent};

const GONE: &str = "there is no such agent: it was closed";

impl HostLoop {
    pub(super) fn command(&mut self, command: HostCommand) {
        match command {
            HostCommand::Subscribe { events } => {
                if let Some(name) = self.editor.name.clone() {
                    let what = Occurred::EditorConnected { name };
                    let _ = events.send(HostEvent { agent: None, what });
                }
                self.subscribers.push(events);
            }
            HostCommand::New { settings, reply } => {
                let made = self.new_agent(settings);
                let agent = made.as_ref().ok().copied();
                let _ = reply.send(made);
                if let Some(agent) = agent {
                    self.save_pool();
                    self.resume_with_editor(agent);
                }
            }
            HostCommand::Close { agent } => self.close(agent),
            HostCommand::Prompt { agent, text } => self.prompt(agent, text),
            HostCommand::Cancel { agent } => self.cancel(agent),
            HostCommand::Answer { agent, question, answer } => {
                self.handle(agent, Event::Answered { question, answer });
            }
            HostCommand::AnswerChange { change, answer } => self.questions.answer(change, answer),
            HostCommand::Compact { agent } => self.handle(agent, Event::Compact),
            HostCommand::Clear { agent, reply } => {
                let _ = reply.send(self.clear(agent));
            }
            HostCommand::SetMode { agent, mode } => {
                self.handle(agent, Event::Mode(mode));
                self.save_pool();
            }
            HostCommand::SetModel { agent, model, reply } => {
                let _ = reply.send(self.set_model(agent, &model));
                self.save_pool();
            }
            HostCommand::Save { agent, name, reply } => {
                let _ = reply.send(self.save_session(agent, name));
                self.save_pool();
            }
            HostCommand::Status { reply } => {
                let status = self.agents.values().map(|agent| agent.status(self.questions.pending(agent.id)));
                let _ = reply.send(status.collect());
            }
            HostCommand::SystemPrompt { agent, reply } => self.system_prompt(agent, reply),
            HostCommand::Messages { agent, reply } => {
                let messages = self.agents.get(&agent).map(|agent| agent.conversation.messages().to_vec());
                let _ = reply.send(messages.ok_or_else(|| GONE.to_owned()));
            }
            HostCommand::Tools { agent, reply } => self.tools(agent, reply),
            HostCommand::Providers { reply } => {
                let providers = &self.setup.providers;
                let summary = |provider: &crate::models::Provider| ProviderSummary {
                    id: provider.id.clone(),
                    name: provider.title.clone(),
                    has_key: providers.has_key(provider),
                    default_model: provider.model.clone().unwrap_or_default(),
                    models: provider.models.clone(),
                };
                let _ = reply.send(providers.all().iter().map(summary).collect());
            }
            HostCommand::Sessions { reply } => {
                let sessions = self.setup.sessions.clone();
                tokio::task::spawn_blocking(move || {
                    let list = sessions.list().map_err(|error| format!("cannot list the sessions: {error}"));
                    let _ = reply.send(list);
                });
            }
            HostCommand::Set { agent, setting, reply } => {
                let _ = reply.send(self.set(agent, setting));
            }
            HostCommand::ConnectEditor { which, reply } => self.connect_editor(which, reply),
            HostCommand::EditorStatus { reply } => self.editor_status(reply),
            HostCommand::DisconnectEditor => self.disconnect_editor(),
            HostCommand::Report { line } => {
                let agent = self.last_used.or_else(|| self.agents.keys().next().copied());
                if let Some(agent) = agent {
                    self.emit(Some(agent), Occurred::Shown(TurnEvent::Info(line)));
                }
            }
            HostCommand::Remembered { reply } => {
                let _ = reply.send(self.remembered());
            }
            // The loop ends by itself.
            HostCommand::Quit => {}
        }
    }

    fn close(&mut self, agent: AgentId) {
        if !self.agents.contains_key(&agent) {
            return;
        }
        self.cancel(agent);
        // Does not wait for calls that still run, and ends what was queued: the session must not go on by itself when it is loaded.
        for _ in 0..2 {
            self.handle(agent, Event::Cancel);
        }
        if let Some(mut gone) = self.agents.remove(&agent) {
            for task in gone.request.take().into_iter().chain(gone.tick.take()) {
                task.abort();
            }
            for cancelled in gone.running.into_values() {
                tokio::task::spawn_blocking(move || cancelled.cancel());
            }
            // Its own servers end with it, which takes a moment.
            tokio::task::spawn_blocking(move || drop(gone.toolbox));
        }
        self.emit(Some(agent), Occurred::Closed);
        self.save_pool();
    }

    fn cancel(&mut self, agent: AgentId) {
        if let Some(agent) = self.agents.get_mut(&agent) {
            // The files of the first are being read, and its end is expected: it is cancelled when it begins.
            agent.prompts.truncate(1);
            agent.cancels_prompt = !agent.prompts.is_empty();
        }
        self.handle(agent, Event::Cancel);
    }

    fn prompt(&mut self, agent: AgentId, text: String) {
        self.last_used = Some(agent);
        let Some(found) = self.agents.get_mut(&agent) else { return };
        found.prompts.push_back(text);
        if found.prompts.len() == 1 {
            self.read_mentions(agent);
        }
    }

    /// Reads the files that the first waiting prompt mentions.
    fn read_mentions(&mut self, agent: AgentId) {
        let Some(about) = self.about(agent) else { return };
        let Some(found) = self.agents.get_mut(&agent) else { return };
        let Some(text) = found.prompts.front() else { return };
        let mut mentioning = text.clone();
        for mention in std::mem::take(&mut found.mentioned) {
            mentioning.push('\n');
            mentioning.push_str(&mention);
        }
        if !mentioning.contains('@') {
            return self.prompt_is_ready(agent, Vec::new());
        }
        let (context, messages) = (std::sync::Arc::clone(&self.setup.context), self.messages.clone());
        tokio::task::spawn_blocking(move || {
            let attachments = context.attachments(&mentioning, &about);
            let _ = messages.send(LoopMessage::Prompt { agent, attachments });
        });
    }

    pub(super) fn prompt_is_ready(&mut self, agent: AgentId, attachments: Vec<String>) {
        let Some(found) = self.agents.get_mut(&agent) else { return };
        let Some(text) = found.prompts.pop_front() else { return };
        let is_first = found.conversation.messages().is_empty();
        let is_cancelled = std::mem::take(&mut found.cancels_prompt);
        self.handle(agent, Event::Prompt { text, attachments });
        if is_cancelled {
            self.handle(agent, Event::Cancel);
        }
        if is_first {
            // From now on there is something to continue, even after a kill.
            self.save_pool();
        }
        self.read_mentions(agent);
    }

    fn clear(&mut self, agent: AgentId) -> Result<(), String> {
        let found = self.agents.get(&agent).ok_or(GONE)?;
        if found.conversation.is_busy() {
            return Err("a turn is running: cancel it first".to_owned());
        }
        self.handle(agent, Event::Clear);
        Ok(())
    }

    fn set_model(&mut self, agent: AgentId, name: &str) -> Result<String, String> {
        let found = self.agents.get_mut(&agent).ok_or(GONE)?;
        let model = self.setup.providers.choose(Some(name), Some(&found.model.name))?;
        let (name, window) = (model.name.clone(), model.context_window);
        found.session.set_model(&name).map_err(|error| error.to_string())?;
        found.model = model;
        self.handle(agent, Event::ContextWindow(window));
        Ok(name)
    }

    fn save_session(&mut self, agent: AgentId, name: Option<String>) -> Result<String, String> {
        let found = self.agents.get_mut(&agent).ok_or(GONE)?;
        if found.conversation.messages().is_empty() {
            return Err("there is no message to save yet; write one first".to_owned());
        }
        if let Some(name) = name {
            found.session.rename(&name).map_err(|error| error.to_string())?;
        }
        Ok(found.session.name().to_owned())
    }

    fn system_prompt(&mut self, agent: AgentId, reply: oneshot::Sender<Result<String, String>>) {
        let Some(about) = self.about(agent) else {
            let _ = reply.send(Err(GONE.to_owned()));
            return;
        };
        let context = std::sync::Arc::clone(&self.setup.context);
        tokio::task::spawn_blocking(move || reply.send(Ok(context.system(&about).text)));
    }

    fn tools(&mut self, agent: AgentId, reply: oneshot::Sender<Result<Vec<ToolSummary>, String>>) {
        let Some(found) = self.agents.get(&agent) else {
            let _ = reply.send(Err(GONE.to_owned()));
            return;
        };
        if !found.has_tools {
            let _ = reply.send(Ok(Vec::new()));
            return;
        }
        let toolbox = std::sync::Arc::clone(&found.toolbox);
        tokio::task::spawn_blocking(move || {
            let specs = toolbox.specs().into_iter();
            let summaries = specs.map(|spec| ToolSummary { name: spec.name, description: spec.description });
            reply.send(Ok(summaries.collect()))
        });
    }

    fn set(&mut self, agent: AgentId, setting: AgentSetting) -> Result<(), String> {
        let folder = match &setting {
            AgentSetting::Cwd(cwd) => Some(self.folder(Some(cwd))?),
            _ => None,
        };
        let found = self.agents.get_mut(&agent).ok_or(GONE)?;
        match setting {
            AgentSetting::Cwd(_) => {
                if let Some(folder) = folder {
                    found.cwd = folder;
                }
            }
            AgentSetting::Tools(has_tools) => found.has_tools = has_tools,
            AgentSetting::InjectContext(inject) => found.inject_context = inject,
            AgentSetting::MaxRounds(0) => return Err("a turn needs at least one request".to_owned()),
            AgentSetting::MaxRounds(rounds) => self.handle(agent, Event::Rounds(rounds)),
        }
        self.save_pool();
        Ok(())
    }
}
