//! Asks the person before an agent's command or code is run, and carries out what she says. She is asked wherever she
//! may be: in the agent's editor, and by all who watch; the first answer counts. It comes as a request of its own;
//! what she allowed is known to `consent`.

use linkspan_dialect::{Answer, Failure, FailureKind, Request};
use linkspan_editor_api as api;
use linkspan_editor_api::{AskOption, RpcError, WindowEvent, errors};
use linkspan_review::{AgentId, SurfaceId, WindowId};

use super::Core;
use super::agents::Agent;
use super::clients::{Changing, Looking};
use super::consent::{
    Deed, NotTaken, QUESTIONS_PER_AGENT, QUESTIONS_PER_MINUTE, QUESTIONS_PER_WINDOW, Question, Who, deed_of,
};
use super::editor::Resume;
use super::event::LocalId;
use super::tools::ToolCall;
use super::windows::Window;
use crate::config::{Client, ClientsChange};

/// More than that is read by nobody before she allows it.
const LONGEST_TEXT: usize = 64 * 1024;

/// How long the code of a notebook may run before its answer is given up.
const CODE_WAIT_MS: u32 = 60_000;

pub(super) fn who(agent: &Agent) -> Who {
    Who { window: agent.window, key: agent.key(), name: agent.name.clone() }
}

/// Whether it could be done there at all: a folder may have lost her trust, or a rule may be against it.
fn able(window: &Window, deed: Deed) -> Result<(), Failure> {
    let has = window.capabilities;
    let can = match deed {
        Deed::Command => window.runs_commands(),
        Deed::Code => has.execute_code,
        Deed::Edit => true,
        // A commit runs the hooks of the repository.
        Deed::Git => window.runs_commands(),
    };
    let name = match deed {
        Deed::Command => "runInTerminal",
        Deed::Code => "executeCode",
        Deed::Edit => "editing without a review",
        Deed::Git => "changing the git repository",
    };
    if window.config.rules_out(deed) {
        let message = format!(
            "{name} is ruled out by `consent.never` in config.toml or .linkspan.toml; nobody is asked for it"
        );
        return Err(Failure::new(FailureKind::Denied, message));
    }
    if !can {
        let message = format!("{name} is not supported by this editor ({})", window.editor.name);
        return Err(Failure::new(FailureKind::Unsupported, message));
    }
    Ok(())
}

impl Core {
    /// What she allowed this agent before.
    pub(super) fn may(&self, agent: &Agent, deed: Deed) -> Option<api::Permission> {
        let window = self.windows.get(&agent.window)?;
        if !agent.introduced || window.config.rules_out(deed) {
            return None;
        }
        let times = (self.now_ms, self.config.agent_grace_seconds * 1000);
        self.consent.given(&who(agent), &client(agent, window), deed, times)
    }

    /// Carries it out once she allows it.
    pub(super) fn with_consent(&mut self, tool: ToolCall) {
        self.look_at_clients(Looking::Tool(tool));
    }

    /// It is known what is remembered: asks her, if she has not allowed it.
    pub(super) fn ask_or_do(&mut self, tool: ToolCall) {
        if !self.is_open(&tool) {
            return;
        }
        if let Err(failure) = self.can_be_asked(&tool) {
            return self.answer(tool.agent, tool.call, &Answer::Failed(failure));
        }
        let (Some((deed, _)), Some(agent)) = (deed_of(&tool.request), self.agents.get(&tool.agent)) else {
            return;
        };
        if self.may(agent, deed).is_some() {
            return self.allowed(tool);
        }
        let (who, dialect) = (who(agent), agent.session.dialect().name);
        let lately = self.consent.asked_lately(tool.agent, &who, self.now_ms);
        let here = self.consent.asked_here_lately(who.window, self.now_ms);
        if lately >= QUESTIONS_PER_MINUTE || here >= QUESTIONS_PER_WINDOW {
            let message = format!(
                "this agent asked the person {QUESTIONS_PER_MINUTE} times within a minute; ask again later"
            );
            return self.fail(tool.agent, tool.call, FailureKind::Denied, message);
        }
        let window = who.window;
        let can_remember = self.consent.remembered.is_ok()
            && self.windows.get(&window).is_some_and(|window| !window.folders.is_empty());
        let Some(question) = self.consent.ask(who, dialect, tool, can_remember, self.now_ms) else { return };
        let (ask, asked) = (question.ask.clone(), question.ask.ask.clone());
        // An editor that is away is asked when it is back.
        if let Some(local) = self.asking_editor(window) {
            self.ask(local, &ask, Resume::Ignore);
        }
        if let Some(asked) = self.asks().into_iter().find(|summary| summary.ask == asked) {
            self.publish(window, WindowEvent::Asked { asked });
        }
    }

    fn asking_editor(&self, window: WindowId) -> Option<LocalId> {
        self.windows.get(&window).filter(|window| window.capabilities.questions)?.local
    }

    /// The questions that wait, oldest first.
    pub(super) fn asks(&self) -> Vec<api::AskSummary> {
        let summary = |question: &Question| {
            let window = self.windows.get(&question.who.window);
            let folders = window.into_iter().flat_map(|window| &window.identity.folders);
            let api::UserAsk { ask, question: text, detail, options } = question.ask.clone();
            api::AskSummary {
                ask,
                window: question.who.window.to_string(),
                folders: folders.map(|folder| folder.display().to_string()).collect(),
                agent: question.who.name.clone(),
                dialect: question.dialect.to_owned(),
                deed: question.deed,
                question: text,
                detail,
                options,
                age_ms: self.now_ms.saturating_sub(question.asked_ms),
            }
        };
        self.consent.open().map(summary).collect()
    }

    fn can_be_asked(&self, tool: &ToolCall) -> Result<(), Failure> {
        let Some((deed, text)) = deed_of(&tool.request) else { return Ok(()) };
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
        match (deed_of(&tool.request), window) {
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

    /// Her word in an editor counts for the agents of its window. Whether anybody waited for it.
    pub(super) fn person_answered(
        &mut self,
        local: LocalId,
        answered: &api::UserAnswered,
    ) -> Result<api::UserAnsweredResult, RpcError> {
        let window = self.attached(local)?;
        let option = match answered.result {
            api::UserAskResult::Answered { option } => Some(option),
            api::UserAskResult::Dismissed => None,
        };
        self.answer_question(local, &answered.ask, option, |question| question.who.window == window)
    }

    pub(super) fn answer_question(
        &mut self,
        local: LocalId,
        ask: &str,
        option: Option<AskOption>,
        may_answer: impl Fn(&Question) -> bool,
    ) -> Result<api::UserAnsweredResult, RpcError> {
        let question = match self.consent.answered(ask, option, may_answer) {
            Ok(question) => question,
            Err(NotTaken::Over) => return Ok(api::UserAnsweredResult { taken: false }),
            Err(NotTaken::NotOffered) => {
                let message = "this question does not offer that answer; see its options";
                return Err(RpcError::new(errors::INVALID_PARAMS, message));
            }
        };
        self.over(&question, option, Some(local));
        let Question { who, deed, tool, .. } = question;
        let denied = |message: &str| Err((FailureKind::Denied, message.to_owned()));
        let word = match option {
            Some(AskOption::AllowOnce) => Ok(()),
            Some(AskOption::AllowSession) => {
                self.consent.allow_for_session(who, deed);
                Ok(())
            }
            Some(AskOption::AllowAlways) => {
                self.remember(tool.agent, who, deed);
                Ok(())
            }
            Some(AskOption::Deny) => denied("the person refused it; do not ask again for the same"),
            None => denied("the person closed the question without an answer; ask again later"),
        };
        match word {
            Ok(()) => {
                self.allowed(tool);
                self.do_what_is_allowed();
            }
            Err((kind, message)) => self.fail(tool.agent, tool.call, kind, message),
        }
        Ok(api::UserAnsweredResult { taken: true })
    }

    fn remember(&mut self, agent: AgentId, who: Who, deed: Deed) {
        let Some(agent) = self.agents.get(&agent) else { return };
        let Some(window) = self.windows.get(&agent.window) else { return };
        let client = client(agent, window);
        let unix_ms = self.identity.started_at_ms + self.now_ms;
        let change = ClientsChange::Remember { client, deeds: vec![deed], unix_ms };
        self.change_clients(change, Changing::Answer { who, deed });
    }

    /// Questions that need no answer any more, because of what she allowed meanwhile.
    pub(super) fn do_what_is_allowed(&mut self) {
        let given = |question: &Question| {
            let agent = self.agents.get(&question.tool.agent);
            agent.is_some_and(|agent| self.may(agent, question.deed).is_some())
        };
        let given: Vec<String> =
            self.consent.open().filter(|question| given(question)).map(|one| one.ask.ask.clone()).collect();
        for question in self.consent.take(|question| given.contains(&question.ask.ask)) {
            self.over(&question, None, None);
            self.allowed(question.tool);
        }
    }

    /// The editor of this window is back, or another one is there.
    pub(super) fn ask_again(&mut self, id: WindowId) {
        let Some(window) = self.windows.get(&id) else { return };
        let cannot = |question: &Question| question.who.window == id && able(window, question.deed).is_err();
        for question in self.consent.take(cannot) {
            self.over(&question, None, None);
            if let Err(failure) = self.still_able(&question.tool) {
                self.answer(question.tool.agent, question.tool.call, &Answer::Failed(failure));
            }
        }
        let Some(local) = self.asking_editor(id) else { return };
        let open = self.consent.open().filter(|question| question.who.window == id);
        for ask in open.map(|question| question.ask.clone()).collect::<Vec<_>>() {
            self.ask(local, &ask, Resume::Ignore);
        }
    }

    /// The agent does not wait any more: for this call, or for any.
    pub(super) fn take_questions_back(&mut self, agent: AgentId, call: Option<linkspan_dialect::CallId>) {
        for question in self.consent.take_back(agent, call) {
            self.over(&question, None, None);
        }
    }

    /// Everybody who shows it takes it off the screen, but for where it was answered.
    fn over(&mut self, question: &Question, option: Option<AskOption>, by: Option<LocalId>) {
        let (ask, window) = (question.ask.ask.clone(), question.who.window);
        if let Some(local) = self.asking_editor(window).filter(|local| by != Some(*local)) {
            self.ask(local, &api::UserUnask { ask: ask.clone() }, Resume::Ignore);
        }
        let by = by.filter(|_| option.is_some()).map(|local| self.surface_name(SurfaceId(local.0)));
        self.publish(window, WindowEvent::AskOver { ask, agent: question.who.name.clone(), option, by });
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
        for question in self.consent.take_back(id, None) {
            self.over(&question, None, None);
            let message = "it was asked under another name; ask again";
            self.fail(id, question.tool.call, FailureKind::Denied, message);
        }
        self.consent_left(before, true);
    }
}

pub(super) fn client(agent: &Agent, window: &Window) -> Client {
    Client {
        name: agent.name.clone(),
        dialect: agent.session.dialect().name.to_owned(),
        folders: window.folders.clone(),
    }
}
