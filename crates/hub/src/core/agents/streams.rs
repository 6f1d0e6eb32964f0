//! Agents that send requests and listen on a stream: their sessions outlive both, and even the hub. Such an agent
//! receives a decision long after its call was answered, so it must also be told when none will come.

use linkspan_dialect::{CallId, Endpoint, ExchangeId, FailureKind};
use linkspan_review as review;
use linkspan_review::{AgentId, Effect, Review, ReviewId, WindowId};

use crate::core::Core;
use crate::core::agents::{Agent, Agents, Transport};
use crate::core::convert::asker;
use crate::core::out::Out;
use crate::core::timers::Due;

/// How long a session without a stream stays.
const WITHOUT_STREAM_MS: u64 = 60_000;

/// An agent whose stream broke opens the next one within a few seconds. After this, its reviews have no owner.
const STREAM_LOST_MS: u64 = 5_000;

impl Agents {
    /// The end of a stream that was replaced may arrive after the next has begun, and means nothing.
    pub(in crate::core) fn stream_closed(&mut self, out: &mut Out, id: AgentId, stream: u64) {
        let Some(agent) = self.all.get_mut(&id).filter(|agent| agent.stream == stream) else { return };
        agent.awaits_pong = false;
        let wait_ms = if agent.stream_lost { WITHOUT_STREAM_MS } else { STREAM_LOST_MS };
        let timer = out.after(wait_ms, Due::Stream(id));
        if let Some(earlier) = agent.stream_grace_timer.replace(timer) {
            out.cancel(earlier);
        }
    }

    /// An agent of the same name that came back by itself, waits for nothing and has asked for nothing since.
    pub(super) fn predecessor(&self, id: AgentId) -> Option<AgentId> {
        let new = self.get(&id).filter(|agent| agent.is_told_later())?;
        let is_predecessor = |(other, agent): &(&AgentId, &Agent)| {
            let same = (&agent.name, &agent.version) == (&new.name, &new.version);
            **other != id && agent.came_back && same && !agent.awaits_outcome()
        };
        self.of_window(new.window).find(is_predecessor).map(|(other, _)| *other)
    }

    /// The oldest session in a window that has never listened and waits for nothing.
    pub(super) fn oldest_idle(&self, window: WindowId) -> Option<AgentId> {
        let is_idle = |agent: &Agent| {
            let asks = !agent.introduced || agent.session.open_calls().next().is_some();
            agent.has_stream() && agent.stream == 0 && !agent.awaits_outcome() && !asks
        };
        self.of_window(window).find(|(_, agent)| is_idle(agent)).map(|(id, _)| *id)
    }

    /// Agents of this kind know a change by its path alone, and wait for the newest of each. Returns the calls that
    /// ask for the same path as this one, or `None` if one of them is newer.
    fn same_name(&mut self, id: AgentId, call: CallId) -> Option<Vec<CallId>> {
        let Some(agent) = self.all.get_mut(&id).filter(|agent| agent.is_told_later()) else {
            return Some(Vec::new());
        };
        let name = agent.session.open_changes().find(|(open, _)| *open == call);
        let Some(name) = name.map(|(_, name)| name.to_owned()) else { return Some(Vec::new()) };
        let same = agent.session.open_changes().filter(|(_, other)| *other == name);
        let same: Vec<CallId> = same.map(|(other, _)| other).collect();
        if same.iter().any(|other| *other > call) {
            return None;
        }
        self.expired.forget(&agent.key(), &name);
        Some(same)
    }

    /// Tells it about changes that it waits for and that expired.
    fn report_expired(&mut self, out: &mut Out, id: AgentId) {
        let Some(agent) = self.all.get(&id) else { return };
        let names = self.expired.report(&agent.key(), agent.pings + 1);
        for name in names {
            let Some(agent) = self.all.get_mut(&id) else { return };
            if agent.session.open_changes().any(|(_, open)| open == name) {
                continue;
            }
            if let Some(call) = agent.session.readopt_call(&name) {
                let why = "the agent was away for too long: ask again";
                self.fail(out, id, call, FailureKind::Withdrawn, why);
            }
        }
    }
}

impl Core {
    /// Binds what the agent asked an earlier hub, or before its stream was lost, to its session here. Decisions made
    /// meanwhile are sent, unless they are on their way already.
    pub(super) fn readopt_reviews(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get(&id) else { return };
        let (key, window) = (agent.key(), agent.window);
        let on_its_way: Vec<ReviewId> = agent.unconfirmed.iter().map(|(_, review)| *review).collect();
        let mut effects = self.reviews.apply(review::Event::OwnerBack { agent: id, key, window });
        effects.retain(|effect| match effect {
            Effect::Bound { review, .. } | Effect::Answer { review, .. } => !on_its_way.contains(review),
            _ => true,
        });
        for effect in &effects {
            let Effect::Bound { review, .. } = *effect else { continue };
            let name = self.reviews.get(review).map(asked_as).unwrap_or_default();
            let Some(agent) = self.agents.get_mut(&id) else { continue };
            let still_waits = agent.waiting.iter().any(|(waiting, _)| *waiting == review);
            if !still_waits && let Some(call) = agent.session.readopt_call(&name) {
                agent.waiting.push((review, call));
            }
            self.reviews.set_owned(self.out.now_ms, review);
        }
        let back = effects.iter().filter_map(|effect| match effect {
            Effect::Bound { review, .. } => Some(*review),
            _ => None,
        });
        let back: Vec<ReviewId> = back.collect();
        self.carry_out(effects);
        for review in back {
            self.owner_changed(review);
        }
    }

    /// It listens again, and receives where the user is.
    pub(in crate::core) fn stream_opened(&mut self, id: AgentId, stream: u64, received: &[ReviewId]) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        // Others take themselves for connected as long as their session lives.
        agent.came_back |= agent.stream > 0 && agent.is_told_later();
        agent.stream = agent.stream.max(stream);
        let lost = std::mem::take(&mut agent.stream_lost);
        if let Some(timer) = agent.stream_grace_timer.take() {
            self.out.cancel(timer);
        }
        let is_received = |(_, review): &mut (u64, ReviewId)| received.contains(review);
        let delivered: Vec<(u64, ReviewId)> = agent.unconfirmed.extract_if(.., is_received).collect();
        if lost {
            self.readopt_reviews(id);
        }
        // On an earlier stream: the edge does not send it again.
        for (_, review) in delivered {
            self.outcome_arrived(review);
        }
        self.greet_with_context(id);
        self.agents.report_expired(&mut self.out, id);
        // Everything that waited for the stream is before it: its answer shows that all has arrived.
        self.agents.ping(&mut self.out, id);
    }

    /// First its reviews lose their owner; then the session ends.
    pub(in crate::core) fn stream_grace_over(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get_mut(&id).filter(|agent| agent.stream_grace_timer.is_some()) else {
            return;
        };
        if agent.stream_lost {
            return self.hang_up(id, 1001, "this session has no stream");
        }
        agent.stream_lost = true;
        let delay_ms = WITHOUT_STREAM_MS - STREAM_LOST_MS;
        agent.stream_grace_timer = Some(self.out.after(delay_ms, Due::Stream(id)));
        self.owner_gone(id, false);
    }

    /// No agent came back for the outcome of this review. One that listens on a stream would never ask again, and wait
    /// without end: it receives an answer when it is back.
    pub(in crate::core) fn expire(&mut self, id: ReviewId) {
        let waits = |review: &&Review| {
            let dialect = linkspan_dialect::by_name(asker(&review.owner_key).0);
            review.owner.is_none() && dialect.is_some_and(|it| matches!(it.endpoint, Endpoint::Stream { .. }))
        };
        if let Some(review) = self.reviews.get(id).filter(waits) {
            self.agents.expired.remember(&review.owner_key, asked_as(review));
        }
        self.apply(review::Event::Expired { review: id });
    }

    /// True when this call is the newest for its path; what was asked before it ends without an answer.
    pub(in crate::core) fn is_newest_of_its_name(&mut self, id: AgentId, call: CallId) -> bool {
        let Some(same) = self.agents.same_name(id, call) else { return false };
        let waiting = self.agents.get(&id).into_iter().flat_map(|agent| agent.waiting.iter().copied());
        let older: Vec<(ReviewId, CallId)> = waiting.filter(|(_, other)| same.contains(other)).collect();
        for (review, other) in older {
            if let Some(agent) = self.agents.get_mut(&id) {
                agent.session.suppress_outcome(other);
            }
            if !self.leave_review(id, review) {
                self.review_not_awaited(review);
            }
        }
        true
    }

    /// The window is closed. Agents on a stream or a WebSocket fall back to their own prompt after an answer; NEXUS3
    /// waits without end if its socket just closes. No agent waits for these changes afterwards.
    pub(in crate::core) fn close_agents(&mut self, window: WindowId) {
        for id in self.agents.in_window(window) {
            let answer = self.agents.get(&id).and_then(|agent| match agent.transport {
                Transport::Stream => Some((FailureKind::Withdrawn, "the editor window is closed")),
                Transport::Port | Transport::SocketStream => Some((
                    FailureKind::EditorGone,
                    "the editor window was closed before anyone decided; decide in the agent's terminal",
                )),
                // Nor would a hook come back for its answer.
                Transport::Local(_) if agent.hook.is_some() => {
                    Some((FailureKind::EditorGone, "the editor window was closed before anyone decided"))
                }
                // What no one decided here, the terminal asks.
                Transport::Calls | Transport::Local(_) | Transport::Daemon | Transport::Child => None,
            });
            let waiting = self.agents.get(&id).map(|agent| agent.waiting.clone()).unwrap_or_default();
            let undecided: Vec<(ReviewId, CallId)> =
                waiting.into_iter().filter(|(review, _)| self.reviews.is_undecided(*review)).collect();
            if let Some((kind, why)) = answer {
                for (review, call) in undecided {
                    self.agents.fail(&mut self.out, id, call, kind, why);
                    self.apply(review::Event::Withdrawn { review });
                }
            }
            self.hang_up(id, 1001, "the editor window is closed");
        }
    }
}

/// A request of this agent will not receive its answer. If that is a decision, its agent is gone or has given up: its
/// reviews have no owner from now on, and a decision that was sent there is not delivered.
pub(in crate::core) fn exchange_gone(core: &mut Core, id: AgentId, exchange: ExchangeId) {
    let Some(agent) = core.agents.get(&id) else { return };
    if agent.session.decides_in(exchange) || !agent.unconfirmed.is_empty() {
        core.hang_up(id, 1001, "its request ended before the decision");
    }
}

/// The path by which its agent knows a change: where the file really is, or else what the label says.
fn asked_as(review: &Review) -> String {
    match review.label.starts_with('/') {
        true => review.label.clone(),
        false => review.path.to_string_lossy().into_owned(),
    }
}
