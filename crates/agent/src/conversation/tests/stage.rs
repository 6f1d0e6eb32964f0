//! A conversation with its environment: helpers that speak for the model, the tools and the user.

use std::time::Duration;

use serde_json::{Value, json};

use crate::conversation::*;
use crate::message::{CallArguments, ChatMessage, ModelCall, ToolResult, Usage};
use crate::models::{ModelError, ModelEvent, ModelRequest, StopReason, ToolSpec};
use crate::permissions::{PermissionMode, ToolKind};

pub(super) fn tools() -> ToolTable {
    use ToolKind::*;
    let all =
        [("read_file", Read), ("edit_file", Change), ("run_command", Command), ("git_commit", GitWrite)];
    ToolTable::new(all.map(|(name, kind)| {
        let spec = ToolSpec { name: name.to_owned(), description: String::new(), schema: json!({}) };
        (spec, kind)
    }))
}

pub(super) fn settings() -> Settings {
    Settings { mode: PermissionMode::Trusted, tools: tools(), limits: ConversationLimits::default() }
}

pub(super) fn call(id: &str, name: &str, arguments: Value) -> ModelCall {
    ModelCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: CallArguments::Json(arguments),
        opaque: None,
    }
}

pub(super) fn result(call_id: &str, text: &str) -> ToolResult {
    let (call_id, text) = (call_id.to_owned(), text.to_owned());
    ToolResult { call_id, name: String::new(), text, is_error: false, cancelled: false }
}

pub(super) fn transient(message: &str) -> ModelError {
    ModelError::Transient { message: message.to_owned(), retry_after: None }
}

/// A conversation, and everything that it wanted so far.
pub(super) struct TestConversation {
    pub(super) conversation: AgentConversation,
    pub(super) now: Duration,
    /// Of the last event.
    pub(super) actions: Vec<ConversationAction>,
    /// All that were saved.
    pub(super) records: Vec<Record>,
}

impl TestConversation {
    pub(super) fn new() -> TestConversation {
        TestConversation::with(settings())
    }

    pub(super) fn with(settings: Settings) -> TestConversation {
        TestConversation {
            conversation: AgentConversation::new(settings),
            now: Duration::ZERO,
            actions: Vec::new(),
            records: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, event: Event) -> &[ConversationAction] {
        let actions = self.conversation.handle(self.now, event);
        self.take(actions)
    }

    pub(super) fn take(&mut self, actions: Vec<ConversationAction>) -> &[ConversationAction] {
        self.records.extend(actions.iter().filter_map(|action| match action {
            ConversationAction::Save(record) => Some(record.clone()),
            _ => None,
        }));
        self.actions = actions;
        if self.actions.contains(&ConversationAction::RefreshContext) {
            let mut before = std::mem::take(&mut self.actions);
            self.event(Event::Context { system: "system".to_owned() });
            before.append(&mut self.actions);
            self.actions = before;
        }
        &self.actions
    }

    pub(super) fn prompt(&mut self, text: &str) -> &[ConversationAction] {
        self.event(Event::Prompt { text: text.to_owned(), attachments: Vec::new() })
    }

    /// The request among the last actions.
    #[track_caller]
    pub(super) fn request(&self) -> (u64, &ModelRequest) {
        let found = self.actions.iter().find_map(|action| match action {
            ConversationAction::Request { request, body } => Some((*request, body)),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no request in {:#?}", self.actions))
    }

    /// The model's whole answer to the last request.
    #[track_caller]
    pub(super) fn answer(
        &mut self,
        text: &str,
        calls: impl IntoIterator<Item = ModelCall>,
    ) -> &[ConversationAction] {
        let (request, _) = self.request();
        self.answer_to(request, text, calls)
    }

    pub(super) fn answer_to(
        &mut self,
        request: u64,
        text: &str,
        calls: impl IntoIterator<Item = ModelCall>,
    ) -> &[ConversationAction] {
        let mut all = Vec::new();
        if !text.is_empty() {
            all.push(ModelEvent::Text(text.to_owned()));
        }
        all.extend(calls.into_iter().map(ModelEvent::Call));
        all.push(ModelEvent::Usage(Usage { input: 10, output: 5 }));
        all.push(ModelEvent::Done(StopReason::End));
        let mut actions = Vec::new();
        for event in all {
            self.event(Event::Model { request, event });
            actions.append(&mut self.actions);
        }
        self.actions = actions;
        &self.actions
    }

    pub(super) fn done(&mut self, call_id: &str, text: &str) -> &[ConversationAction] {
        self.event(Event::ToolDone { result: result(call_id, text) })
    }

    pub(super) fn fails(&mut self, call_id: &str) -> &[ConversationAction] {
        let result = ToolResult { is_error: true, ..result(call_id, "failed") };
        self.event(Event::ToolDone { result })
    }

    /// Which calls the last actions run.
    pub(super) fn runs(&self) -> Vec<&str> {
        let run = |action: &'_ ConversationAction| match action {
            ConversationAction::Run { call, .. } => Some(call.id.clone()),
            _ => None,
        };
        let ids: Vec<_> = self.actions.iter().filter_map(run).collect();
        ids.into_iter().map(|id| &*id.leak()).collect()
    }

    #[track_caller]
    pub(super) fn question(&self) -> (QuestionId, Question) {
        let found = self.actions.iter().find_map(|action| match action {
            ConversationAction::Ask { question, ask } => Some((*question, ask.clone())),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no question in {:#?}", self.actions))
    }

    pub(super) fn end(&self) -> Option<TurnEnd> {
        self.actions.iter().find_map(|action| match action {
            ConversationAction::Show(TurnEvent::Ended { end, .. }) => Some(*end),
            _ => None,
        })
    }

    /// The lines that the last actions show.
    pub(super) fn lines(&self) -> String {
        let lines = self.actions.iter().filter_map(|action| match action {
            ConversationAction::Show(TurnEvent::Info(line) | TurnEvent::Error(line)) => {
                Some(format!("{line}\n"))
            }
            _ => None,
        });
        lines.collect()
    }

    #[track_caller]
    pub(super) fn results(&self) -> &[ToolResult] {
        let found = self.conversation.messages().iter().rev().find_map(|message| match message {
            ChatMessage::Tools { results } => Some(results),
            _ => None,
        });
        found.map_or(&[], Vec::as_slice)
    }

    /// Lets the time of the last wake come.
    pub(super) fn after(&mut self, time: Duration) -> &[ConversationAction] {
        self.now += time;
        self.event(Event::Tick)
    }
}
