//! What is sent to agents, and whether it arrived: the pong of a ping shows that everything before it did.

use linkspan_dialect::{AgentFrame, Answer, CallId, EditorEvent, Failure, FailureKind, WindowFolders};
use linkspan_editor_api::Capabilities;
use linkspan_review::{AgentId, ReviewId, WindowId};

use crate::core::agents::{Agent, Agents, Transport};
use crate::core::contract::{Action, ExchangeAnswer};
use crate::core::out::Out;
use crate::core::timers::Due;

impl Agents {
    /// Everything that goes to an agent goes through here, except closing.
    pub(in crate::core) fn send(&self, out: &mut Out, id: AgentId, text: String) {
        match self.get(&id).map(|agent| agent.transport) {
            Some(
                Transport::Port
                | Transport::Calls
                | Transport::Stream
                | Transport::SocketStream
                | Transport::Daemon
                | Transport::Child,
            ) => {
                out.push(Action::SendAgent { agent: id, text });
            }
            Some(Transport::Local(connection)) => {
                out.push(Action::SendMessage { connection, body: text.into_bytes() });
            }
            None => {}
        }
    }

    pub(in crate::core) fn send_frame(
        &self,
        out: &mut Out,
        id: AgentId,
        AgentFrame { text, answers }: AgentFrame,
    ) {
        match answers {
            None => self.send(out, id, text),
            Some(exchange) => {
                let answer = ExchangeAnswer::Text(text);
                out.push(Action::AnswerExchange { agent: id, exchange, answer });
            }
        }
    }

    /// Answers one call. The session drops an answer that no call waits for.
    pub(in crate::core) fn answer(&mut self, out: &mut Out, id: AgentId, call: CallId, answer: &Answer) {
        self.bundles.remove(&(id, call));
        self.patches.remove(&(id, call));
        let frame = self.all.get_mut(&id).and_then(|agent| agent.session.answer(call, answer));
        if let Some(frame) = frame {
            self.send_frame(out, id, frame);
        }
        self.send_queued(out, id);
    }

    /// Sends what the session has to say besides its answers.
    pub(in crate::core) fn send_queued(&mut self, out: &mut Out, id: AgentId) {
        let frames = self.all.get_mut(&id).map(|agent| agent.session.take_frames()).unwrap_or_default();
        for text in frames {
            self.send(out, id, text);
        }
    }

    /// Tells the agent not to apply its patch.
    pub(in crate::core) fn decline(&mut self, out: &mut Out, id: AgentId, call: CallId) {
        let frame = self.all.get_mut(&id).and_then(|agent| agent.session.decline(call));
        if let Some(frame) = frame {
            self.send_frame(out, id, frame);
        }
    }

    pub(in crate::core) fn fail(
        &mut self,
        out: &mut Out,
        id: AgentId,
        call: CallId,
        kind: FailureKind,
        message: impl Into<String>,
    ) {
        self.answer(out, id, call, &Answer::Failed(Failure::new(kind, message)));
    }

    /// Some agents are answered once their change waits for a person, and receive the decision later.
    pub(in crate::core) fn acknowledge(&mut self, out: &mut Out, id: AgentId, call: CallId) {
        let frame = self.all.get_mut(&id).and_then(|agent| agent.session.acknowledge_shown(call));
        if let Some(frame) = frame {
            self.send_frame(out, id, frame);
        }
    }

    /// Starts the time that this agent waits for a decision, if it has a limit.
    pub(in crate::core) fn begin_wait_limit(&self, out: &mut Out, id: AgentId, call: CallId) {
        if let Some(limit_ms) = self.get(&id).and_then(|agent| agent.session.wait_limit_ms(call)) {
            out.after(limit_ms, Due::Patience { agent: id, call });
        }
    }

    pub(in crate::core) fn ping(&mut self, out: &mut Out, id: AgentId) {
        let Some(agent) = self.all.get_mut(&id) else { return };
        // The first ping on its next stream covers everything that waits until then.
        if agent.stream_grace_timer.is_some() {
            return;
        }
        agent.pings += 1;
        let number = agent.pings;
        match agent.transport {
            Transport::Port | Transport::Calls => out.push(Action::PingAgent { agent: id, number }),
            // The ping shows that the daemon is there; what arrived, its own messages tell.
            Transport::Daemon => {
                agent.session.ping(number);
                out.push(Action::PingAgent { agent: id, number });
            }
            // What arrived, its own messages tell.
            Transport::Child => drop(agent.session.ping(number)),
            // These frames have no pings of their own.
            Transport::Stream | Transport::SocketStream | Transport::Local(_) => {
                let kept_until_it_arrives = agent.has_stream();
                if let Some(text) = agent.session.ping(number) {
                    self.send(out, id, text);
                }
                if kept_until_it_arrives {
                    out.push(Action::PingAgent { agent: id, number });
                }
            }
        }
    }

    /// Pings the agent, whose pong will show that these outcomes have arrived.
    pub(in crate::core) fn await_receipt(
        &mut self,
        out: &mut Out,
        id: AgentId,
        reviews: impl Iterator<Item = ReviewId>,
    ) {
        let Some(agent) = self.all.get_mut(&id) else { return };
        let number = agent.pings + 1;
        let before = agent.unconfirmed.len();
        agent.unconfirmed.extend(reviews.map(|review| (number, review)));
        if agent.unconfirmed.len() > before {
            self.ping(out, id);
        }
    }

    /// It answered this ping. Returns the reviews whose outcome has arrived.
    pub(super) fn take_confirmed(&mut self, out: &mut Out, id: AgentId, number: u64) -> Vec<ReviewId> {
        let Some(agent) = self.all.get_mut(&id) else { return Vec::new() };
        let arrived = |(ping, _): &mut (u64, ReviewId)| *ping <= number;
        let arrived = agent.unconfirmed.extract_if(.., arrived).map(|(_, review)| review).collect();
        self.expired.confirm(&agent.key(), number);
        if agent.has_stream() {
            out.push(Action::ConfirmAgent { agent: id, number });
        }
        arrived
    }

    /// Agents that sent nothing since the last ping.
    pub(in crate::core) fn silent(&self) -> Vec<AgentId> {
        self.iter().filter(|(_, agent)| agent.awaits_pong).map(|(id, _)| *id).collect()
    }

    pub(in crate::core) fn expect_pong(&mut self, id: AgentId) {
        if let Some(agent) = self.all.get_mut(&id) {
            // Agents without an open stream cannot be pinged.
            agent.awaits_pong =
                agent.stream_grace_timer.is_none() && !matches!(agent.transport, Transport::Child);
        }
    }

    /// On a stream, the outcome of a review can be recognised when the agent is back, also by the next hub.
    pub(super) fn name_outcome(&self, out: &mut Out, id: AgentId, review: ReviewId) {
        if self.get(&id).is_some_and(Agent::is_told_later) {
            out.push(Action::NameOutcome { agent: id, review });
        }
    }

    pub(in crate::core) fn notify_window(&self, out: &mut Out, window: WindowId, event: &EditorEvent) {
        for id in self.in_window(window) {
            self.notify(out, id, event);
        }
    }

    /// Returns whether the agent wants to know of such an event, and is there.
    pub(super) fn notify(&self, out: &mut Out, id: AgentId, event: &EditorEvent) -> bool {
        // Events are of no use to an agent that listens later.
        let agent = self.get(&id).filter(|agent| agent.stream_grace_timer.is_none());
        let text = agent.and_then(|agent| agent.session.event(event));
        let is_sent = text.is_some();
        if let Some(text) = text {
            self.send(out, id, text);
        }
        is_sent
    }

    /// An editor that came back may support other things than before.
    pub(in crate::core) fn set_capabilities(&mut self, out: &mut Out, window: WindowId, now: Capabilities) {
        let mut changed = self.in_window(window);
        changed.retain(|id| self.all.get_mut(id).is_some_and(|agent| agent.session.set_capabilities(now)));
        for id in changed {
            self.notify(out, id, &EditorEvent::ToolsChanged);
        }
    }

    /// Some dialects write paths relative to them.
    pub(in crate::core) fn set_folders(&mut self, window: WindowId, folders: &WindowFolders) {
        for id in self.in_window(window) {
            if let Some(agent) = self.all.get_mut(&id) {
                agent.session.set_folders(folders);
            }
        }
    }
}
