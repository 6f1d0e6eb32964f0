//! Asks the person before an agent's command or code is run, and carries out what she says. Her answer comes as a
//! request of its own; what she allowed is known to `consent`.

use linkspan_dialect::{FailureKind, Request};
use linkspan_editor_api as api;
use linkspan_editor_api::RpcError;
use linkspan_review::{AgentId, WindowId};

use super::Core;
use super::agents::Agent;
use super::consent::{Deed, QUESTIONS_PER_AGENT, Who, Word};
use super::editor::Resume;
use super::event::LocalId;
use super::tools::{LONGEST_WAIT_MS, ToolCall};

/// More than that is read by nobody before she allows it.
const LONGEST_TEXT: usize = 64 * 1024;

/// How long a command is waited for where the agent does not say.
const COMMAND_WAIT_MS: u32 = 60_000;

fn who(agent: &Agent) -> Who {
    Who { window: agent.window, key: agent.key() }
}

impl Core {
    /// Carries it out once she allows it.
    pub(super) fn with_consent(&mut self, tool: ToolCall) {
        if let Err((kind, message)) = self.can_be_asked(&tool) {
            return self.fail(tool.agent, tool.call, kind, message);
        }
        let (Some((deed, text)), Some(agent)) = (Deed::of(&tool.request), self.agents.get(&tool.agent))
        else {
            return;
        };
        let (who, name, text) = (who(agent), agent.name.clone(), text.to_owned());
        if self.consent.is_given(&who, deed) {
            return self.allowed(tool);
        }
        let window = who.window;
        let ask = self.consent.ask(who, &name, deed, &text, tool);
        // An editor that is away is asked when it is back.
        if let Some(local) = self.windows.get(&window).and_then(|window| window.local) {
            self.ask(local, &ask, Resume::Ignore);
        }
    }

    /// Whether this editor could do it at all, and ask her before.
    fn can_be_asked(&self, tool: &ToolCall) -> Result<(), (FailureKind, String)> {
        let window = self.agents.get(&tool.agent).and_then(|agent| self.windows.get(&agent.window));
        let (Some((deed, text)), Some(window)) = (Deed::of(&tool.request), window) else { return Ok(()) };
        let (has, editor) = (window.capabilities, &window.editor.name);
        let (name, can) = match deed {
            Deed::Command => ("runInTerminal", has.terminal),
            Deed::Code => ("executeCode", has.execute_code),
        };
        if !can {
            let message = format!("{name} is not supported by this editor ({editor})");
            return Err((FailureKind::Unsupported, message));
        }
        if !has.questions {
            let message =
                format!("{name} needs the person's permission, and this editor ({editor}) cannot ask for it");
            return Err((FailureKind::Unsupported, message));
        }
        if text.len() > LONGEST_TEXT {
            let message =
                format!("{} bytes are more than a person reads before she allows it; send less", text.len());
            return Err((FailureKind::TooLarge, message));
        }
        // To a terminal they are keys: what runs would not be what she read.
        let is_key = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
        if deed == Deed::Command && text.contains(is_key) {
            let message = "`command` holds control characters; write it without them".to_owned();
            return Err((FailureKind::InvalidParams, message));
        }
        if self.consent.waiting(tool.agent) >= QUESTIONS_PER_AGENT {
            let message = format!("{QUESTIONS_PER_AGENT} questions of this agent wait for the person");
            return Err((FailureKind::Denied, message));
        }
        Ok(())
    }

    fn allowed(&mut self, tool: ToolCall) {
        match &tool.request {
            Request::ExecuteCode { code } => {
                let execute = api::CodeExecute { code: code.clone() };
                self.ask_for(tool, &execute);
            }
            Request::RunInTerminal { command, cwd, wait_ms } => {
                let timeout_ms = wait_ms.unwrap_or(COMMAND_WAIT_MS).min(LONGEST_WAIT_MS);
                let run = api::TerminalRun {
                    command: command.clone(),
                    cwd: cwd.as_ref().map(|cwd| cwd.display().to_string()),
                    terminal: None,
                    timeout_ms,
                };
                self.ask_for_in(tool, &run, timeout_ms);
            }
            _ => {}
        }
    }

    pub(super) fn person_answered(
        &mut self,
        local: LocalId,
        answered: &api::UserAnswered,
    ) -> Result<(), RpcError> {
        let window = self.attached(local)?;
        let Some((tool, word)) = self.consent.answered(window, &answered.ask, &answered.result) else {
            return Ok(());
        };
        let denied = |message: &str| (FailureKind::Denied, message.to_owned());
        let (kind, message) = match word {
            Word::Allowed(others) => {
                self.allowed(tool);
                for (ask, other) in others {
                    self.unask(window, ask);
                    self.allowed(other);
                }
                return Ok(());
            }
            Word::Refused => denied("the person refused it; do not ask again for the same"),
            Word::NoAnswer => denied("the person closed the question without an answer; ask again later"),
        };
        self.fail(tool.agent, tool.call, kind, message);
        Ok(())
    }

    /// The editor of this window is back, or another one is there.
    pub(super) fn ask_again(&mut self, id: WindowId) {
        let Some((local, has)) = self.windows.get(&id).and_then(|w| Some((w.local?, w.capabilities))) else {
            return;
        };
        if has.questions {
            for ask in self.consent.open_in(id) {
                self.ask(local, &ask, Resume::Ignore);
            }
            return;
        }
        for tool in self.consent.give_up(id) {
            let message = "the editor that is there now cannot ask the person";
            self.fail(tool.agent, tool.call, FailureKind::Unsupported, message);
        }
    }

    /// The agent does not wait any more: for this call, or for any.
    pub(super) fn take_questions_back(
        &mut self,
        window: WindowId,
        agent: AgentId,
        call: Option<linkspan_dialect::CallId>,
    ) {
        for ask in self.consent.take_back(agent, call) {
            self.unask(window, ask);
        }
    }

    fn unask(&mut self, window: WindowId, ask: String) {
        if let Some(local) = self.windows.get(&window).and_then(|window| window.local) {
            self.ask(local, &api::UserUnask { ask }, Resume::Ignore);
        }
    }

    /// An agent said who it is.
    pub(super) fn consent_came(&mut self, id: AgentId) {
        if let Some(who) = self.agents.get(&id).map(who) {
            self.consent.came(&who, self.now_ms, self.config.agent_grace_seconds * 1000);
        }
    }

    /// An agent's connection ended; it is not among the agents any more.
    pub(super) fn consent_left(&mut self, agent: &Agent, said_goodbye: bool) {
        let gone = who(agent);
        // Two of the same name cannot be told apart.
        if !self.agents.values().any(|other| who(other) == gone) {
            self.consent.left(&gone, said_goodbye, self.now_ms);
        }
    }
}
