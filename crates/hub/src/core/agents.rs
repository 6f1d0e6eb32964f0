//! Agents: their sessions, which of their calls wait for a review, and whether they got the answer.

use std::path::PathBuf;

use linkspan_dialect::{Answer, CallId, Dialect, EditorEvent, Failure, FailureKind, Server, Session, Step};
use linkspan_editor_api::{DocumentVersion, Mentioned, Selection, WindowEvent};
use linkspan_review as review;
use linkspan_review::{AgentId, ReviewId, WindowId};

use super::Core;
use super::event::Action;

/// A person has to look at each; a program that asks for more at a time is not working with one.
pub(super) const OPEN_REVIEWS_PER_AGENT: usize = 256;

/// Over all its agents, those that left included: an agent that proposes, drops and comes back is one of many.
pub(super) const OPEN_REVIEWS_PER_WINDOW: usize = 2048;

/// Reviews and machine calls together: what an agent may have under way, each with its whole message in memory.
const OPEN_CALLS_PER_AGENT: usize = 512;

#[derive(Debug)]
pub(super) struct Agent {
    pub(super) window: WindowId,
    pub(super) session: Session,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) pid: Option<u32>,
    pub(super) since_ms: u64,
    pub(super) awaits_pong: bool,
    /// Calls that wait for a person.
    pub(super) waiting: Vec<(ReviewId, CallId)>,
    /// Answers sent, each with the ping that went out behind it: its pong shows that they arrived.
    pub(super) unconfirmed: Vec<(u64, ReviewId)>,
    pub(super) pings: u64,
}

impl Agent {
    /// What of an agent survives a reconnect.
    pub(super) fn key(&self) -> String {
        format!("{}:{}", self.session.dialect().name, self.name)
    }
}

/// An agent may call itself anything; it stands in every list.
fn shortened(name: String) -> String {
    const LONGEST: usize = 64;
    if name.chars().nth(LONGEST).is_none() {
        name
    } else {
        name.chars().take(LONGEST).chain(['…']).collect()
    }
}

impl Core {
    pub(super) fn agent_opened(&mut self, id: AgentId, window: WindowId, dialect: &'static Dialect) {
        let Some(home) = self.windows.get(&window) else {
            return self.act(Action::CloseAgent {
                agent: id,
                code: 1001,
                reason: "the editor window is closed",
            });
        };
        // The guard knows the person's config; the workspace may allow less.
        if !home.config.dialect_enabled(dialect.name) {
            return self.act(Action::CloseAgent {
                agent: id,
                code: 1008,
                reason: "this workspace switches the dialect off",
            });
        }
        let there = self.agents.values().filter(|agent| agent.window == window).count();
        if there >= home.config.limits.connections {
            return self.act(Action::CloseAgent {
                agent: id,
                code: 1013,
                reason: "too many agents in this window",
            });
        }
        let server = Server {
            version: self.identity.version.to_owned(),
            editor_name: home.editor.name.clone(),
            execute_code: home.capabilities.execute_code,
        };
        let agent = Agent {
            window,
            session: Session::new(dialect, server),
            name: "unknown agent".to_owned(),
            version: String::new(),
            pid: None,
            since_ms: self.now_ms,
            awaits_pong: false,
            waiting: Vec::new(),
            unconfirmed: Vec::new(),
            pings: 0,
        };
        self.agents.insert(id, agent);
    }

    pub(super) fn agent_frame(&mut self, id: AgentId, text: &str) {
        self.agent_heard(id);
        let Some(agent) = self.agents.get_mut(&id) else { return };
        match agent.session.receive(text) {
            Step::Call { call, .. } if agent.session.open_calls().nth(OPEN_CALLS_PER_AGENT).is_some() => {
                let message =
                    format!("{OPEN_CALLS_PER_AGENT} calls of this agent are open; wait for some answers");
                self.fail(id, call, FailureKind::Denied, message);
            }
            Step::Call { call, request } => self.tool_called(id, call, request),
            Step::Reply(text) => self.act(Action::SendAgent { agent: id, text }),
            Step::Introduced { name, version, reply } => {
                agent.name = shortened(name);
                agent.version = shortened(version);
                self.act(Action::SendAgent { agent: id, text: reply });
                self.agent_joined(id);
            }
            Step::Pid(pid) => agent.pid = Some(pid),
            Step::Cancelled(call) => {
                let withdrawn =
                    agent.waiting.iter().find(|(_, waiting)| *waiting == call).map(|(review, _)| *review);
                if let Some(review) = withdrawn {
                    self.apply(review::Event::Withdrawn { review });
                }
            }
            Step::Nothing => {}
        }
    }

    pub(super) fn agent_binary(&mut self, id: AgentId) {
        self.agent_heard(id);
        if let Some(text) = self.agents.get(&id).map(|agent| agent.session.not_text()) {
            self.act(Action::SendAgent { agent: id, text });
        }
    }

    /// It is alive. That it got what was sent before is another matter: this may have crossed it on the way.
    pub(super) fn agent_heard(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        agent.awaits_pong = false;
        self.probed_agent(id);
    }

    /// Whoever answers a ping has got everything that was sent before it.
    pub(super) fn agent_pong(&mut self, id: AgentId, number: Option<u64>) {
        if let (Some(agent), Some(number)) = (self.agents.get_mut(&id), number) {
            let arrived = |(ping, _): &mut (u64, ReviewId)| *ping <= number;
            let arrived: Vec<ReviewId> =
                agent.unconfirmed.extract_if(.., arrived).map(|(_, review)| review).collect();
            for review in arrived {
                self.apply(review::Event::Delivered { review });
            }
        }
        self.agent_heard(id);
    }

    pub(super) fn ping_agent(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        agent.pings += 1;
        let number = agent.pings;
        self.act(Action::PingAgent { agent: id, number });
    }

    pub(super) fn agent_closed(&mut self, id: AgentId, said_goodbye: bool) {
        let Some(agent) = self.agents.remove(&id) else { return };
        let left: Vec<ReviewId> =
            self.state.reviews().filter(|review| review.owner == Some(id)).map(|review| review.id).collect();
        self.apply(review::Event::OwnerGone { agent: id, said_goodbye });
        for review in left {
            self.orphan(review);
        }
        tracing::info!("agent {id} ({}) left {}", agent.name, agent.window);
        self.publish(agent.window, WindowEvent::AgentLeft { agent: id.to_string(), name: agent.name });
        self.probed_agent(id);
    }

    /// Answers one call. An answer nobody waits for is dropped by the session.
    pub(super) fn answer(&mut self, id: AgentId, call: CallId, answer: &Answer) {
        let text = self.agents.get_mut(&id).and_then(|agent| agent.session.answer(call, answer));
        if let Some(text) = text {
            self.act(Action::SendAgent { agent: id, text });
        }
    }

    pub(super) fn fail(&mut self, id: AgentId, call: CallId, kind: FailureKind, message: impl Into<String>) {
        self.answer(id, call, &Answer::Failed(Failure::new(kind, message)));
    }

    pub(super) fn selection_changed(&mut self, window: WindowId, selection: Selection) {
        if self.may_leave(window, &selection.path) {
            self.publish(window, WindowEvent::Selection { selection: selection.clone() });
            self.tell_agents(window, &EditorEvent::SelectionChanged(selection));
        }
    }

    pub(super) fn mentioned(&mut self, window: WindowId, mentioned: Mentioned) {
        if !self.may_leave(window, &mentioned.path) {
            tracing::warn!("a mention of {} was not passed on: `deny` covers it", mentioned.path);
            return;
        }
        self.publish(window, WindowEvent::Mentioned { path: mentioned.path.clone(), lines: mentioned.lines });
        let lines = mentioned.lines.map(|lines| (lines.first, lines.last));
        self.tell_agents(window, &EditorEvent::Mentioned { path: mentioned.path.into(), lines });
    }

    pub(super) fn diagnostics_changed(&mut self, window: WindowId, files: Vec<DocumentVersion>) {
        let mut paths: Vec<PathBuf> = files.into_iter().map(|file| PathBuf::from(file.path)).collect();
        paths.retain(|path| self.may_leave(window, path));
        if !paths.is_empty() {
            let named = paths.iter().map(|path| path.display().to_string()).collect();
            self.publish(window, WindowEvent::Diagnostics { paths: named });
            self.tell_agents(window, &EditorEvent::DiagnosticsChanged { paths });
        }
    }

    pub(super) fn may_leave(&self, window: WindowId, path: impl AsRef<std::path::Path>) -> bool {
        self.windows.get(&window).is_some_and(|window| !window.policy.denies(path))
    }

    /// The editor that came back may have other abilities than the one that left.
    pub(super) fn code_can_be_executed(&mut self, window: WindowId, it_can: bool) {
        let agents = self.agents.iter_mut().filter(|(_, agent)| agent.window == window);
        for (id, agent) in agents {
            if agent.session.set_execute_code(it_can)
                && let Some(text) = agent.session.event(&EditorEvent::ToolsChanged)
            {
                self.actions.push(Action::SendAgent { agent: *id, text });
            }
        }
    }

    fn tell_agents(&mut self, window: WindowId, event: &EditorEvent) {
        for (id, agent) in self.agents.iter().filter(|(_, agent)| agent.window == window) {
            if let Some(text) = agent.session.event(event) {
                self.actions.push(Action::SendAgent { agent: *id, text });
            }
        }
    }
}
