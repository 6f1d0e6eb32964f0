//! Agents: their sessions, which of their calls wait for a review, and whether they got the answer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_dialect::{
    Answer, CallId, Dialect, Door, EditorEvent, Exchange, Failure, FailureKind, Frame, Server, Session, Step,
};
use linkspan_editor_api::visible::is_hidden;
use linkspan_editor_api::{Capabilities, DocumentVersion, Mentioned, Selection, WindowEvent};
use linkspan_review as review;
use linkspan_review::{AgentId, ReviewId, SetId, WindowId};

use super::Core;
use super::asking::who;
use super::event::{Action, ExchangeAnswer, Introduction, LocalId};
use super::present::SESSION;
use super::timers::TimerId;
use super::windows::Window;
use crate::guard::Refusal;

/// A person has to look at each; a program that asks for more at a time is not working with one.
pub(super) const OPEN_REVIEWS_PER_AGENT: usize = 256;

/// Over all its agents, those that left included: an agent that proposes, drops and comes back is one of many.
pub(super) const OPEN_REVIEWS_PER_WINDOW: usize = 2048;

/// Reviews and machine calls together: what an agent may have under way, each with its whole message in memory.
const OPEN_CALLS_PER_AGENT: usize = 512;

/// Where an agent's frames go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach {
    /// A WebSocket on the window's port.
    Port,
    /// Requests on the window's port, each answered by itself.
    Calls,
    /// Requests on the window's port, and a stream for what is not an answer.
    Stream,
    /// The hub's own socket.
    Local(LocalId),
}

#[derive(Debug)]
pub(super) struct Agent {
    pub(super) window: WindowId,
    pub(super) reach: Reach,
    /// The word by which it is found again, where its name does not have to do.
    pub(super) key: Option<String>,
    /// Its own words for changes that belong together.
    pub(super) sets: BTreeMap<String, SetId>,
    pub(super) session: Session,
    /// It said who it is.
    pub(super) introduced: bool,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) pid: Option<u32>,
    pub(super) since_ms: u64,
    pub(super) awaits_pong: bool,
    /// Its connection broke, it came back by itself, and it has asked for nothing since. Gemini CLI and Qwen Code show
    /// themselves as disconnected then, and propose nothing until the user reconnects them.
    pub(super) came_back: bool,
    /// The newest stream that it listened on.
    pub(super) stream: u64,
    /// It listens on a stream, and none is open: until when that is borne.
    pub(super) without_stream: Option<TimerId>,
    /// None has been open for so long that nobody waits for its reviews.
    pub(super) stream_lost: bool,
    /// Calls that wait for a person.
    pub(super) waiting: Vec<(ReviewId, CallId)>,
    /// Answers sent, each with the ping that went out behind it: its pong shows that they arrived.
    pub(super) unconfirmed: Vec<(u64, ReviewId)>,
    pub(super) pings: u64,
}

impl Agent {
    /// What of an agent survives a reconnect.
    pub(super) fn key(&self) -> String {
        let session = self.key.iter().flat_map(|key| [SESSION.to_string(), key.clone()]);
        format!("{}:{}{}", self.session.dialect().name, self.name, session.collect::<String>())
    }
}

/// Why an agent is not let into a window.
pub(super) enum NotLetIn {
    WindowClosed,
    DialectOff,
    TooMany,
}

impl NotLetIn {
    pub(super) fn reason(&self) -> &'static str {
        match self {
            NotLetIn::WindowClosed => "the editor window is closed",
            NotLetIn::DialectOff => "this workspace switches the dialect off",
            NotLetIn::TooMany => "too many agents in this window",
        }
    }

    fn close_code(&self) -> u16 {
        match self {
            NotLetIn::WindowClosed => 1001,
            NotLetIn::DialectOff => 1008,
            NotLetIn::TooMany => 1013,
        }
    }
}

/// An agent may call itself anything; it stands in every list.
pub(super) const LONGEST_NAME: usize = 64;

/// What an agent calls itself, as it stands in lists and keys: what cannot be seen tells nobody apart.
pub(super) fn called(name: &str) -> String {
    let seen = name.chars().filter(|character| !is_hidden(*character));
    shortened(seen.collect(), LONGEST_NAME)
}

pub(super) fn shortened(text: String, longest: usize) -> String {
    if text.chars().nth(longest).is_none() {
        text
    } else {
        text.chars().take(longest).chain(['…']).collect()
    }
}

impl Core {
    pub(super) fn agent_opened(
        &mut self,
        id: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        name: Option<String>,
    ) {
        let reach = match dialect.door {
            Door::WebSocket { .. } | Door::OpenWebSocket | Door::Local => Reach::Port,
            Door::Stream { .. } => Reach::Stream,
            Door::Calls { .. } => Reach::Calls,
        };
        match self.let_in(window, dialect, reach) {
            Ok(mut agent) => {
                agent.introduced = name.is_some();
                if let Some(name) = name {
                    let name = called(&name);
                    agent.name = if name.is_empty() { dialect.name.to_owned() } else { name };
                }
                let introduced = agent.introduced;
                self.agents.insert(id, agent);
                if introduced {
                    self.consent_came(id);
                    self.agent_joined(id);
                }
            }
            Err(not) => self.turn_away(id, &not),
        }
    }

    pub(super) fn turn_away(&mut self, id: AgentId, not: &NotLetIn) {
        let (code, reason) = (not.close_code(), not.reason());
        self.act(Action::CloseAgent { agent: id, code, reason });
    }

    /// A new agent in that window, if it may be there.
    pub(super) fn let_in(
        &mut self,
        window: WindowId,
        dialect: &'static Dialect,
        reach: Reach,
    ) -> Result<Agent, NotLetIn> {
        let home = self.windows.get(&window).ok_or(NotLetIn::WindowClosed)?;
        // The guard knows the person's config; the workspace may allow less.
        if !home.config.dialect_enabled(dialect.name) {
            return Err(NotLetIn::DialectOff);
        }
        let most = home.config.limits.connections;
        if self.agents.of_window(window).count() >= most && !self.make_room(window) {
            return Err(NotLetIn::TooMany);
        }
        let home = self.windows.get(&window).ok_or(NotLetIn::WindowClosed)?;
        let server = Server {
            version: self.identity.version.to_owned(),
            editor_name: home.editor.name.clone(),
            capabilities: home.capabilities,
        };
        let mut session = Session::new(dialect, server);
        session.set_folders(&home.both_folders());
        Ok(Agent {
            window,
            reach,
            key: None,
            sets: BTreeMap::new(),
            session,
            introduced: false,
            name: "unknown agent".to_owned(),
            version: String::new(),
            pid: None,
            since_ms: self.now_ms,
            awaits_pong: false,
            came_back: false,
            stream: 0,
            without_stream: None,
            stream_lost: false,
            waiting: Vec::new(),
            unconfirmed: Vec::new(),
            pings: 0,
        })
    }

    pub(super) fn agent_frame(&mut self, id: AgentId, text: &str, exchange: Option<Exchange>) {
        self.agent_heard(id);
        let Some(agent) = self.agents.get_mut(&id) else { return };
        let step = agent.session.receive_in(exchange, text);
        // Only an agent that takes itself for connected asks anything.
        if matches!(step, Step::Call { .. } | Step::Reply(_) | Step::Introduced { .. }) {
            agent.came_back = false;
        }
        let answered =
            matches!(step, Step::Call { .. } | Step::Reply(_) | Step::Malformed(_) | Step::Introduced { .. });
        if let Some(exchange) = exchange.filter(|_| !answered) {
            let answer = ExchangeAnswer::Nothing;
            self.actions.push(Action::AnswerExchange { agent: id, exchange, answer });
        }
        match step {
            Step::Call { call, .. } if agent.session.open_calls().nth(OPEN_CALLS_PER_AGENT).is_some() => {
                let message =
                    format!("{OPEN_CALLS_PER_AGENT} calls of this agent are open; wait for some answers");
                self.fail(id, call, FailureKind::Denied, message);
            }
            Step::Call { call, request } => {
                self.begin_patience(id, call);
                self.tool_called(id, call, request);
            }
            Step::Reply(text) => self.send_frame(id, Frame { text, answers: exchange }),
            Step::Malformed(text) => match exchange {
                Some(exchange) => {
                    let answer = ExchangeAnswer::Malformed(text);
                    self.act(Action::AnswerExchange { agent: id, exchange, answer });
                }
                None => self.send_agent(id, text),
            },
            Step::Introduced { name, version, reply } => {
                let before = agent.introduced.then(|| who(agent));
                // Whoever is found again by who it said it is stays that.
                if agent.key.is_none() || !agent.introduced {
                    agent.name = called(&name);
                    agent.version = called(&version);
                }
                agent.introduced = true;
                let who = Introduction { name: agent.name.clone(), version: agent.version.clone() };
                match exchange {
                    Some(exchange) => {
                        let answer = ExchangeAnswer::Introduced { text: reply, who };
                        self.act(Action::AnswerExchange { agent: id, exchange, answer });
                    }
                    None => self.send_agent(id, reply),
                }
                if let Some(before) = before {
                    self.consent_renamed(id, &before);
                }
                self.let_go_of_predecessor(id);
                self.consent_came(id);
                self.agent_joined(id);
            }
            Step::Pong(number) => self.agent_pong(id, Some(number)),
            Step::Goodbye => self.leave(id),
            Step::NeedsToken => {
                self.refused(Refusal::NoToken);
                self.hang_up(id, 1008, "no token: send the authToken of the lock file in its header");
            }
            Step::Pid(pid) => agent.pid = Some(pid),
            Step::Cancelled(call) => {
                let withdrawn = agent.waiting.iter().filter(|(_, waiting)| *waiting == call);
                let withdrawn: Vec<ReviewId> = withdrawn.map(|(review, _)| *review).collect();
                match withdrawn.is_empty() {
                    // If a person was first, the answer is hers.
                    false => withdrawn
                        .into_iter()
                        .for_each(|review| self.apply(review::Event::Withdrawn { review })),
                    true => {
                        self.take_questions_back(id, Some(call));
                        self.cancel_tools(id, Some(call));
                        self.fail(id, call, FailureKind::Withdrawn, "the call was cancelled");
                    }
                }
            }
            Step::Nothing => {}
        }
    }

    pub(super) fn agent_binary(&mut self, id: AgentId) {
        self.agent_heard(id);
        if let Some(text) = self.agents.get(&id).map(|agent| agent.session.not_text()) {
            self.send_agent(id, text);
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
            self.untold.arrived(&agent.key(), number);
            if matches!(agent.reach, Reach::Stream) {
                self.act(Action::ConfirmAgent { agent: id, number });
            }
            for review in arrived {
                self.apply(review::Event::Delivered { review });
            }
        }
        self.agent_heard(id);
    }

    pub(super) fn ping_agent(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        // The first one on its next stream says the same of all that waits until then.
        if agent.without_stream.is_some() {
            return;
        }
        agent.pings += 1;
        let number = agent.pings;
        match agent.reach {
            Reach::Port | Reach::Calls => self.act(Action::PingAgent { agent: id, number }),
            // These frames have no pings of their own.
            Reach::Stream | Reach::Local(_) => {
                let kept_until_it_arrives = matches!(agent.reach, Reach::Stream);
                if let Some(text) = agent.session.ping(number) {
                    self.send_agent(id, text);
                }
                if kept_until_it_arrives {
                    self.act(Action::PingAgent { agent: id, number });
                }
            }
        }
    }

    /// Everything that goes to an agent goes through here, but for closing.
    pub(super) fn send_agent(&mut self, id: AgentId, text: String) {
        match self.agents.get(&id).map(|agent| agent.reach) {
            Some(Reach::Port | Reach::Calls | Reach::Stream) => {
                self.act(Action::SendAgent { agent: id, text });
            }
            Some(Reach::Local(local)) => self.act(Action::SendLocal { local, body: text.into_bytes() }),
            None => {}
        }
    }

    pub(super) fn send_frame(&mut self, id: AgentId, Frame { text, answers }: Frame) {
        match answers {
            None => self.send_agent(id, text),
            Some(exchange) => {
                let answer = ExchangeAnswer::Text(text);
                self.act(Action::AnswerExchange { agent: id, exchange, answer });
            }
        }
    }

    /// Ends the connection, whatever the agent has open; that is not its own word.
    pub(super) fn hang_up(&mut self, id: AgentId, code: u16, reason: &'static str) {
        let Some(reach) = self.agents.get(&id).map(|agent| agent.reach) else { return };
        if !matches!(reach, Reach::Local(_)) {
            self.act(Action::CloseAgent { agent: id, code, reason });
        }
        self.ended(id, reach, false);
    }

    /// The agent is gone, and with it the connection that it was.
    pub(super) fn ended(&mut self, id: AgentId, reach: Reach, said_goodbye: bool) {
        self.agent_closed(id, said_goodbye);
        if let Reach::Local(local) = reach {
            self.act(Action::CloseLocal { local });
            self.local_closed(local);
        }
    }

    pub(super) fn agent_closed(&mut self, id: AgentId, said_goodbye: bool) {
        let Some(agent) = self.agents.remove(&id) else { return };
        if let Some(timer) = agent.without_stream {
            self.timers.cancel(timer);
        }
        self.owner_gone(id, said_goodbye);
        self.bundles.retain(|(of, _), _| *of != id);
        self.cancel_tools(id, None);
        self.take_questions_back(id, None);
        if said_goodbye {
            self.permits.forget(&agent.key(), None);
        }
        self.consent_left(&who(&agent), said_goodbye);
        tracing::info!("agent {id} ({}) left {}", agent.name, agent.window);
        // Nobody was told that it came, before it said who it is.
        if agent.introduced {
            self.publish(agent.window, WindowEvent::AgentLeft { agent: id.to_string(), name: agent.name });
        }
        self.probed_agent(id);
    }

    /// Nobody waits for the reviews of this agent any longer, unless it comes back.
    pub(super) fn owner_gone(&mut self, id: AgentId, said_goodbye: bool) {
        let left: Vec<ReviewId> =
            self.state.reviews().filter(|review| review.owner == Some(id)).map(|review| review.id).collect();
        self.apply(review::Event::OwnerGone { agent: id, said_goodbye });
        for review in left {
            self.orphan(review);
            self.owner_changed(review);
        }
    }

    /// Answers one call. An answer nobody waits for is dropped by the session.
    pub(super) fn answer(&mut self, id: AgentId, call: CallId, answer: &Answer) {
        self.bundles.remove(&(id, call));
        let frame = self.agents.get_mut(&id).and_then(|agent| agent.session.answer(call, answer));
        if let Some(frame) = frame {
            self.send_frame(id, frame);
        }
    }

    pub(super) fn fail(&mut self, id: AgentId, call: CallId, kind: FailureKind, message: impl Into<String>) {
        self.answer(id, call, &Answer::Failed(Failure::new(kind, message)));
    }

    pub(super) fn selection_changed(&mut self, window: WindowId, selection: Selection) {
        if self.may_leave(window, &selection.path) {
            self.publish(window, WindowEvent::Selection { selection: selection.clone() });
            self.remember_selection(window, selection.clone());
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
    pub(super) fn editor_can(&mut self, window: WindowId, now: Capabilities) {
        let mut changed = self.agents.in_window(window);
        changed.retain(|id| self.agents.get_mut(id).is_some_and(|agent| agent.session.set_capabilities(now)));
        self.tell_each(changed, &EditorEvent::ToolsChanged);
    }

    /// Some write paths from them.
    pub(super) fn folders_are(&mut self, id: WindowId) {
        let Some(folders) = self.windows.get(&id).map(Window::both_folders) else { return };
        for agent in self.agents.in_window(id) {
            if let Some(agent) = self.agents.get_mut(&agent) {
                agent.session.set_folders(&folders);
            }
        }
    }

    pub(super) fn tell_agents(&mut self, window: WindowId, event: &EditorEvent) {
        self.tell_each(self.agents.in_window(window), event);
    }

    pub(super) fn tell_each(&mut self, agents: Vec<AgentId>, event: &EditorEvent) {
        for id in agents {
            // News of what was is no use to who listens later.
            let agent = self.agents.get(&id).filter(|agent| agent.without_stream.is_none());
            if let Some(text) = agent.and_then(|agent| agent.session.event(event)) {
                self.send_agent(id, text);
            }
        }
    }
}
