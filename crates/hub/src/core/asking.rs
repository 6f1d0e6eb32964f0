//! Asks the person before an agent's command or code is run, and carries out what she says. Her answer comes as a
//! request of its own; what she allowed is known to `consent`.

use linkspan_dialect::{Answer, Failure, FailureKind, Request};
use linkspan_editor_api as api;
use linkspan_editor_api::RpcError;
use linkspan_review::{AgentId, WindowId};

use super::Core;
use super::agents::Agent;
use super::consent::{Deed, QUESTIONS_PER_AGENT, QUESTIONS_PER_MINUTE, Who, Word};
use super::editor::Resume;
use super::event::LocalId;
use super::tools::ToolCall;
use super::windows::Window;

/// More than that is read by nobody before she allows it.
const LONGEST_TEXT: usize = 64 * 1024;

/// How long the code of a notebook may run before its answer is given up.
const CODE_WAIT_MS: u32 = 60_000;

pub(super) fn who(agent: &Agent) -> Who {
    Who { window: agent.window, key: agent.key() }
}

/// Whether the editor that is there now could do it at all, and ask her before: a folder may have lost her trust.
fn able(window: &Window, deed: Deed) -> Result<(), Failure> {
    let (has, editor) = (window.capabilities, &window.editor.name);
    let (name, can) = match deed {
        Deed::Command => ("runInTerminal", window.runs_commands()),
        Deed::Code => ("executeCode", has.execute_code),
        Deed::Edit => ("editing without a review", true),
        // A commit runs the hooks of the repository.
        Deed::Git => ("changing a repository", window.runs_commands()),
    };
    let message = match (can, has.questions) {
        (true, true) => return Ok(()),
        (false, _) => format!("{name} is not supported by this editor ({editor})"),
        (true, false) => {
            format!("{name} needs the person's permission, and this editor ({editor}) cannot ask for it")
        }
    };
    Err(Failure::new(FailureKind::Unsupported, message))
}

impl Core {
    /// Carries it out once she allows it.
    pub(super) fn with_consent(&mut self, tool: ToolCall) {
        if !self.is_open(&tool) {
            return;
        }
        if let Err(failure) = self.can_be_asked(&tool) {
            return self.answer(tool.agent, tool.call, &Answer::Failed(failure));
        }
        let (Some((deed, text)), Some(agent)) = (Deed::of(&tool.request), self.agents.get(&tool.agent))
        else {
            return;
        };
        let (who, name, text) = (who(agent), agent.name.clone(), text.into_owned());
        let grace_ms = self.config.agent_grace_seconds * 1000;
        if self.consent.is_given(&who, deed, self.now_ms, grace_ms) {
            return self.allowed(tool);
        }
        let window = who.window;
        if self.consent.asked_lately(tool.agent, &who, self.now_ms) >= QUESTIONS_PER_MINUTE {
            let message = format!(
                "this agent asked the person {QUESTIONS_PER_MINUTE} times within a minute; ask again later"
            );
            return self.fail(tool.agent, tool.call, FailureKind::Denied, message);
        }
        let ask = self.consent.ask(who, &name, deed, &text, tool, self.now_ms);
        // An editor that is away is asked when it is back.
        if let Some(local) = self.windows.get(&window).and_then(|window| window.local) {
            self.ask(local, &ask, Resume::Ignore);
        }
    }

    fn can_be_asked(&self, tool: &ToolCall) -> Result<(), Failure> {
        let Some((deed, text)) = Deed::of(&tool.request) else { return Ok(()) };
        self.still_able(tool)?;
        let refused = |kind, message: String| Err(Failure::new(kind, message));
        if self.agents.get(&tool.agent).is_some_and(|agent| !agent.introduced) {
            let message = "the person is told who asks: send `initialize` first".to_owned();
            return refused(FailureKind::Denied, message);
        }
        if text.len() > LONGEST_TEXT {
            let message =
                format!("{} bytes are more than a person reads before she allows it; send less", text.len());
            return refused(FailureKind::TooLarge, message);
        }
        // To a terminal they are keys: what runs would not be what she read.
        let is_key = |character: char| character.is_control() && character != '\n';
        if deed == Deed::Command && text.contains(is_key) {
            let message = "`command` holds control characters; write it without them".to_owned();
            return refused(FailureKind::InvalidParams, message);
        }
        if self.consent.waiting(tool.agent) >= QUESTIONS_PER_AGENT {
            let message = format!("{QUESTIONS_PER_AGENT} questions of this agent wait for the person");
            return refused(FailureKind::Denied, message);
        }
        Ok(())
    }

    fn still_able(&self, tool: &ToolCall) -> Result<(), Failure> {
        let window = self.agents.get(&tool.agent).and_then(|agent| self.windows.get(&agent.window));
        match (Deed::of(&tool.request), window) {
            (Some((deed, _)), Some(window)) => able(window, deed),
            _ => Ok(()),
        }
    }

    /// Whether its agent still waits for the answer.
    fn is_open(&self, tool: &ToolCall) -> bool {
        let agent = self.agents.get(&tool.agent);
        agent.is_some_and(|agent| agent.session.open_calls().any(|open| open == tool.call))
    }

    fn allowed(&mut self, tool: ToolCall) {
        if !self.is_open(&tool) {
            return;
        }
        if let Err(failure) = self.still_able(&tool) {
            return self.answer(tool.agent, tool.call, &Answer::Failed(failure));
        }
        match &tool.request {
            Request::ExecuteCode { code } => {
                let execute = api::CodeExecute { code: code.clone() };
                self.ask_for_in(tool, &execute, CODE_WAIT_MS);
            }
            Request::RunInTerminal { .. } => self.run_command(tool),
            Request::Work(_) => self.work(tool),
            _ => {}
        }
    }

    /// Whether anybody waited for it.
    pub(super) fn person_answered(
        &mut self,
        local: LocalId,
        answered: &api::UserAnswered,
    ) -> Result<api::UserAnsweredResult, RpcError> {
        let window = self.attached(local)?;
        let Some((tool, word)) = self.consent.answered(window, &answered.ask, &answered.result) else {
            return Ok(api::UserAnsweredResult { taken: false });
        };
        let taken = api::UserAnsweredResult { taken: true };
        let denied = |message: &str| (FailureKind::Denied, message.to_owned());
        let (kind, message) = match word {
            Word::Allowed(others) => {
                self.allowed(tool);
                for (ask, other) in others {
                    self.unask(window, ask);
                    self.allowed(other);
                }
                return Ok(taken);
            }
            Word::Refused => denied("the person refused it; do not ask again for the same"),
            Word::NoAnswer => denied("the person closed the question without an answer; ask again later"),
        };
        self.fail(tool.agent, tool.call, kind, message);
        Ok(taken)
    }

    /// The editor of this window is back, or another one is there.
    pub(super) fn ask_again(&mut self, id: WindowId) {
        let Some(window) = self.windows.get(&id) else { return };
        let Some(local) = window.local else { return };
        for (ask, tool) in self.consent.give_up(id, |deed| able(window, deed).is_err()) {
            self.unask(id, ask);
            if let Err(failure) = self.still_able(&tool) {
                self.answer(tool.agent, tool.call, &Answer::Failed(failure));
            }
        }
        for ask in self.consent.open_in(id) {
            self.ask(local, &ask, Resume::Ignore);
        }
    }

    /// The agent does not wait any more: for this call, or for any.
    pub(super) fn take_questions_back(
        &mut self,
        window: WindowId,
        agent: AgentId,
        call: Option<linkspan_dialect::CallId>,
    ) {
        for (ask, _) in self.consent.take_back(agent, call) {
            self.unask(window, ask);
        }
    }

    fn unask(&mut self, window: WindowId, ask: String) {
        let asks = self.windows.get(&window).filter(|window| window.capabilities.questions);
        if let Some(local) = asks.and_then(|window| window.local) {
            self.ask(local, &api::UserUnask { ask }, Resume::Ignore);
        }
    }

    /// An agent said who it is.
    pub(super) fn consent_came(&mut self, id: AgentId) {
        if let Some(who) = self.agents.get(&id).map(who) {
            self.consent.came(&who, self.now_ms, self.config.agent_grace_seconds * 1000);
        }
    }

    /// It is not among the agents any more: its connection ended, or it calls itself something else.
    pub(super) fn consent_left(&mut self, gone: &Who, said_goodbye: bool) {
        // Two of the same name cannot be told apart.
        if !self.agents.values().any(|other| who(other) == *gone) {
            self.consent.left(gone, said_goodbye, self.now_ms);
        }
    }

    /// What it asked under its old name would be allowed to nobody.
    pub(super) fn consent_renamed(&mut self, id: AgentId, before: &Who) {
        if self.agents.get(&id).is_none_or(|agent| who(agent) == *before) {
            return;
        }
        for (ask, tool) in self.consent.take_back(id, None) {
            self.unask(before.window, ask);
            self.fail(id, tool.call, FailureKind::Denied, "it was asked under another name; ask again");
        }
        self.consent_left(before, true);
    }
}
