//! Questions of a run without a screen: asked line by line where there is a terminal, else answered with no and a reason
//! that says so.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use linkspan_client::confirm::{Cancellation, ConfirmQuestion, TerminalAnswer, TerminalPrompt};
use serde_json::Value;

use crate::conversation::{Answer, Question, QuestionId};
use crate::host::{AgentId, ChangeId, ChangeQuestion, HostCommand, HostHandle};
use crate::message::{CallArguments, ModelCall};

/// The reason that the model is told where nobody can be asked.
pub const NOBODY: &str =
    "nobody can be asked: this run has no terminal, so only what needs no question is allowed";

/// Asks, or says that nobody can be asked.
pub(super) struct Asker {
    host: HostHandle,
    console: Option<Arc<dyn TerminalPrompt + Send + Sync>>,
    open: HashMap<QuestionKey, Arc<Cancellation>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum QuestionKey {
    Question(AgentId, QuestionId),
    Change(ChangeId),
}

impl Asker {
    pub(super) fn new(host: HostHandle, console: Option<Arc<dyn TerminalPrompt + Send + Sync>>) -> Asker {
        Asker { host, console, open: HashMap::new() }
    }

    /// Where questions are asked, for the JSON lines.
    pub(super) fn place(&self) -> &'static str {
        if self.console.is_some() { "terminal" } else { "nobody" }
    }

    pub(super) fn ask(&mut self, agent: AgentId, question: QuestionId, ask: &Question) {
        let Some(console) = self.console.clone() else {
            let answer = Answer::NotAsked { why: NOBODY.to_owned() };
            return self.host.send(HostCommand::Answer { agent, question, answer });
        };
        let (call, note) = match ask {
            Question::Permission { call, why } => (call, why.clone()),
            Question::Repeated { call, times } => {
                (call, format!("This call failed {times} times in the same way. Try it again?"))
            }
        };
        let (asked, host) = (console_question(call, note), self.host.clone());
        self.start(QuestionKey::Question(agent, question), move |cancelled| {
            let answer = match console.ask(&asked, &cancelled) {
                TerminalAnswer::Allow | TerminalAnswer::AllowText { .. } => Answer::Once,
                TerminalAnswer::Deny { reason, .. } => Answer::No { reason },
                TerminalAnswer::Unavailable { why } => Answer::NotAsked { why },
                TerminalAnswer::Cancelled => return,
            };
            host.send(HostCommand::Answer { agent, question, answer });
        });
    }

    pub(super) fn ask_change(&mut self, asked: &ChangeQuestion) {
        let change = asked.change;
        let Some(console) = self.console.clone() else {
            // Not a rejection: an editor may still decide.
            let answer = TerminalAnswer::Unavailable { why: NOBODY.to_owned() };
            return self.host.send(HostCommand::AnswerChange { change, answer });
        };
        let (question, host) = (Arc::clone(&asked.question), self.host.clone());
        self.start(QuestionKey::Change(change), move |cancelled| {
            let answer = console.ask(&question, &cancelled);
            if answer != TerminalAnswer::Cancelled {
                host.send(HostCommand::AnswerChange { change, answer });
            }
        });
    }

    pub(super) fn close_question(&mut self, agent: AgentId, question: QuestionId) {
        self.close(QuestionKey::Question(agent, question));
    }

    pub(super) fn close_change(&mut self, change: ChangeId) {
        self.close(QuestionKey::Change(change));
    }

    fn close(&mut self, key: QuestionKey) {
        if let Some(cancelled) = self.open.remove(&key) {
            cancelled.cancel();
        }
    }

    /// A thread of its own, which ends with the process even if the terminal never answers.
    fn start(&mut self, key: QuestionKey, ask: impl FnOnce(Arc<Cancellation>) + Send + 'static) {
        let cancelled = Arc::new(Cancellation::new());
        self.open.insert(key, Arc::clone(&cancelled));
        thread::spawn(move || ask(cancelled));
    }
}

fn console_question(call: &ModelCall, note: String) -> ConfirmQuestion {
    let arguments = match &call.arguments {
        CallArguments::Json(arguments) => arguments.clone(),
        CallArguments::Broken(text) => Value::String(text.clone()),
    };
    let details = serde_json::to_string_pretty(&arguments).unwrap_or_default();
    let plain = ConfirmQuestion {
        tool: call.name.clone(),
        change: None,
        details,
        note: Some(note.clone()),
        label: None,
    };
    // A tool that edits files is shown as a change if it can be computed.
    ConfirmQuestion::of_call(&call.name, &arguments, Path::new(""))
        .map_or(plain, |question| ConfirmQuestion { note: Some(note), ..question })
}
