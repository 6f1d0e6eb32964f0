//! Carrying out what a conversation wants: session records, requests, tools, questions, time.

use std::sync::Arc;

use linkspan_client::confirm::{Cancellation, FileChange};

use super::contract::{AgentId, HostEvent, Occurred};
use super::event_loop::{HostLoop, LoopMessage};
use super::prompt_context::{AboutAgent, SystemPrompt};
use super::review_notice::ReviewNotice;
use crate::conversation::{ConversationAction, Event, Record, ToolTable, TurnEvent};
use crate::message::{ModelCall, ToolResult};
use crate::models::ModelRequest;
use crate::permissions::PermissionMode;
use crate::tools::{ToolContext, Toolbox};

/// A larger change is computed again after a restart.
const LARGEST_RECORDED: usize = 1024 * 1024;

impl HostLoop {
    pub(super) fn carry_out(&mut self, agent: AgentId, actions: Vec<ConversationAction>) {
        let mut saved = true;
        let mut not_run = Vec::new();
        for action in actions {
            match action {
                ConversationAction::Save(record) => saved = self.save(agent, &record) && saved,
                // What is not recorded is not done.
                ConversationAction::Request { .. } if !saved => {}
                ConversationAction::Run { call, .. } if !saved => not_run.push(call),
                ConversationAction::Request { request, body } => self.request(agent, request, body),
                ConversationAction::Run { call, mode } => self.run_tool(agent, call, mode),
                ConversationAction::Abandon { .. } => self.abandon(agent),
                ConversationAction::Stop { call_id } => {
                    if let Some(cancelled) =
                        self.agents.get(&agent).and_then(|agent| agent.running.get(&call_id))
                    {
                        // It may close a connection, which takes a moment.
                        let cancelled = Arc::clone(cancelled);
                        tokio::task::spawn_blocking(move || cancelled.cancel());
                    }
                }
                ConversationAction::Ask { question, ask } => {
                    self.emit(Some(agent), Occurred::Ask { question, ask })
                }
                ConversationAction::CloseQuestion { question } => {
                    self.emit(Some(agent), Occurred::QuestionClosed { question });
                }
                ConversationAction::RefreshContext => self.refresh_context(agent),
                ConversationAction::Wake { after } => {
                    let messages = self.messages.clone();
                    let task = tokio::spawn(async move {
                        tokio::time::sleep(after).await;
                        let _ = messages.send(LoopMessage::Tick { agent });
                    });
                    self.replace_tick(agent, task.abort_handle());
                }
                ConversationAction::Show(shown) => self.emit(Some(agent), Occurred::Shown(shown)),
            }
        }
        if !saved {
            self.handle(agent, Event::Cancel);
            for call in not_run {
                let result = not_recorded(&call);
                self.handle(agent, Event::ToolDone { result });
            }
        }
    }

    fn replace_tick(&mut self, agent: AgentId, tick: tokio::task::AbortHandle) {
        let Some(agent) = self.agents.get_mut(&agent) else { return tick.abort() };
        if let Some(before) = agent.tick.replace(tick) {
            before.abort();
        }
    }

    /// Whether the record may be acted on. After one failure the turn stops, and its end is kept in memory.
    pub(super) fn save(&mut self, agent: AgentId, record: &Record) -> bool {
        let Some(found) = self.agents.get_mut(&agent) else { return false };
        match found.session.append(record) {
            Ok(()) => {
                found.unsaved = false;
                true
            }
            // The user knows, and nothing follows from these.
            Err(_)
                if found.unsaved
                    && matches!(
                        record,
                        Record::Ended { .. } | Record::Finished { .. } | Record::Usage { .. }
                    ) =>
            {
                true
            }
            Err(error) => {
                found.unsaved = true;
                let message = format!(
                    "{error}. The turn is stopped; the conversation is kept in memory and is saved once that works \
                     again: free some space, then write a prompt."
                );
                self.emit(Some(agent), Occurred::Shown(TurnEvent::Error(message)));
                false
            }
        }
    }

    fn request(&mut self, agent: AgentId, request: u64, body: ModelRequest) {
        let Some(found) = self.agents.get_mut(&agent) else { return };
        let (model, messages) = (found.model.clone(), self.messages.clone());
        let task = tokio::spawn(async move {
            let emit = |event| {
                let _ = messages.send(LoopMessage::Model { agent, request, event: Ok(event) });
            };
            if let Err(error) = model.answer(&body, &emit).await {
                let _ = messages.send(LoopMessage::Model { agent, request, event: Err(error) });
            }
        });
        if let Some(before) = found.request.replace(task.abort_handle()) {
            before.abort();
        }
    }

    fn abandon(&mut self, agent: AgentId) {
        if let Some(request) = self.agents.get_mut(&agent).and_then(|agent| agent.request.take()) {
            request.abort();
        }
    }

    fn run_tool(&mut self, agent: AgentId, call: ModelCall, mode: PermissionMode) {
        let Some(found) = self.agents.get_mut(&agent) else { return };
        let cancelled = Arc::new(Cancellation::new());
        found.running.insert(call.id.clone(), Arc::clone(&cancelled));
        let (messages, call_id) = (self.messages.clone(), call.id.clone());
        let output = move |text: &str| {
            let what = Occurred::Output { call_id: call_id.clone(), text: text.to_owned() };
            let _ = messages.send(LoopMessage::Emit(HostEvent { agent: Some(agent), what }));
        };
        let (messages, call_id) = (self.messages.clone(), call.id.clone());
        let propose = move |change: &FileChange| {
            let (path, text) = (change.path.to_str(), change.proposed.text());
            let Some(path) = path.filter(|_| text.len() <= LARGEST_RECORDED) else { return };
            let (call_id, path, text) = (call_id.clone(), path.to_owned(), text.to_owned());
            let record = Record::Proposed { call_id, path, text };
            // Nobody sees it before it is on disk: an answer that is given must be found after a kill.
            let (saved, is_saved) = std::sync::mpsc::sync_channel(1);
            if messages.send(LoopMessage::Record { agent, record, saved }).is_ok() {
                // The host has ended if nothing comes.
                let _ = is_saved.recv();
            }
        };
        let (messages, call_id) = (self.messages.clone(), call.id.clone());
        let notify = move |place| {
            let what = Occurred::Reviewing { call_id: call_id.clone(), place };
            let _ = messages.send(LoopMessage::Emit(HostEvent { agent: Some(agent), what }));
        };
        let notice = ReviewNotice {
            inner: self.questions.prompt(agent, &call.id),
            bridge: Arc::clone(&self.setup.bridge),
            notify: Box::new(notify),
        };
        let context = ToolContext {
            cwd: found.cwd.clone(),
            agent: found.name.clone(),
            bridge: Arc::clone(&self.setup.bridge),
            propose: Arc::new(propose),
            prompt: Arc::new(notice),
            cancelled,
            mode,
            output: Arc::new(output),
        };
        let (toolbox, messages) = (Arc::clone(&found.toolbox), self.messages.clone());
        let (call_id, name) = (call.id.clone(), call.name.clone());
        let done = tokio::task::spawn_blocking(move || toolbox.run(&call, &context));
        tokio::spawn(async move {
            let result = done.await.unwrap_or_else(|_| ToolResult {
                call_id,
                name,
                text: "The tool failed because of an error in it. Find another way.".to_owned(),
                is_error: true,
                cancelled: false,
            });
            let _ = messages.send(LoopMessage::ToolDone { agent, result });
        });
    }

    pub(super) fn about(&self, agent: AgentId) -> Option<AboutAgent> {
        let found = self.agents.get(&agent)?;
        Some(AboutAgent {
            name: found.name.clone(),
            cwd: found.cwd.clone(),
            mode: found.conversation.mode(),
            bridge: Arc::clone(&self.setup.bridge),
            inject_context: found.inject_context,
        })
    }

    fn refresh_context(&mut self, agent: AgentId) {
        let Some(about) = self.about(agent) else { return };
        let Some(found) = self.agents.get(&agent) else { return };
        let has_tools = found.has_tools;
        let (context, toolbox) = (Arc::clone(&self.setup.context), Arc::clone(&found.toolbox));
        let (messages, look) = (self.messages.clone(), self.editor.wants_look());
        tokio::task::spawn_blocking(move || {
            if look {
                about.bridge.reconnect_if_dead(Some(&about.cwd));
            }
            let tools = if has_tools { tool_table(&*toolbox) } else { ToolTable::default() };
            let prompt = context.system(&about);
            let _ = messages.send(LoopMessage::Context { agent, prompt, tools });
        });
    }

    pub(super) fn context_is_ready(&mut self, agent: AgentId, prompt: SystemPrompt, tools: ToolTable) {
        self.look_at_editor();
        let Some(found) = self.agents.get_mut(&agent) else { return };
        if found.injected != prompt.editor {
            found.injected.clone_from(&prompt.editor);
            if let Some(editor) = prompt.editor {
                self.emit(Some(agent), Occurred::ContextInjected(editor));
            }
        }
        self.handle(agent, Event::Tools(tools));
        self.handle(agent, Event::Context { system: prompt.text });
    }
}

/// All tools that can be called now.
pub(super) fn tool_table(toolbox: &dyn Toolbox) -> ToolTable {
    let specs = toolbox.specs().into_iter();
    ToolTable::new(specs.filter_map(|spec| toolbox.kind(&spec.name).map(|kind| (spec, kind))))
}

fn not_recorded(call: &ModelCall) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: "Not run: the session file cannot be written.".to_owned(),
        is_error: true,
        cancelled: true,
    }
}
