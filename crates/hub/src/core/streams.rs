//! Agents that ask by requests and listen on a stream: their sessions outlive both, and even the hub. Such an agent is
//! told a decision long after its call was answered, so it must also be told when none will come.

use linkspan_dialect::{CallId, Dialect, Door, FailureKind};
use linkspan_review as review;
use linkspan_review::{AgentId, Effect, Phase, Review, ReviewId, WindowId};

use super::Core;
use super::agents::{Agent, Reach};
use super::event::{Action, Introduction};
use super::present::asker;
use super::timers::Due;

/// How long a session stays that nobody listens to.
const WITHOUT_STREAM_MS: u64 = 60_000;

/// An agent whose stream broke opens the next one within a few seconds. After this, nobody waits for its reviews.
const STREAM_LOST_MS: u64 = 5_000;

impl Core {
    /// `known`: an earlier hub let it in under that name, and it may still wait for decisions.
    pub(super) fn session_opened(
        &mut self,
        id: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        key: String,
        known: Option<Introduction>,
    ) {
        let mut agent = match self.let_in(window, dialect, Reach::Stream) {
            Ok(agent) => agent,
            Err(not) => return self.turn_away(id, &not),
        };
        agent.key = Some(key);
        agent.introduced = known.is_some();
        let again = known.is_some();
        agent.came_back = again;
        if let Some(Introduction { name, version }) = known {
            (agent.name, agent.version) = (name, version);
            agent.session.resume();
        }
        self.agents.insert(id, agent);
        self.stream_closed(id, 0);
        if again {
            self.consent_came(id);
            self.agent_joined(id);
            self.take_up_again(id);
        }
    }

    /// On a stream, the outcome of a review can be recognised when the agent is back, also by the next hub.
    pub(super) fn name_outcome(&mut self, id: AgentId, review: ReviewId) {
        if self.agents.get(&id).is_some_and(|agent| matches!(agent.reach, Reach::Stream)) {
            self.act(Action::NameOutcome { agent: id, review });
        }
    }

    /// Binds what the agent asked an earlier hub, or before its stream was lost, to its session here. What was decided
    /// meanwhile is told; what is on its way already is not told twice.
    fn take_up_again(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get(&id) else { return };
        let (key, window) = (agent.key(), agent.window);
        let on_its_way: Vec<ReviewId> = agent.unconfirmed.iter().map(|(_, review)| *review).collect();
        let mut effects = self.state.apply(review::Event::OwnerBack { agent: id, key, window });
        effects.retain(|effect| match effect {
            Effect::Bound { review, .. } | Effect::Answer { review, .. } => !on_its_way.contains(review),
            _ => true,
        });
        for effect in &effects {
            let Effect::Bound { review, .. } = *effect else { continue };
            let name = self.state.review(review).map(asked_as).unwrap_or_default();
            let Some(agent) = self.agents.get_mut(&id) else { continue };
            let still_waits = agent.waiting.iter().any(|(waiting, _)| *waiting == review);
            if !still_waits && let Some(call) = agent.session.adopt(&name) {
                agent.waiting.push((review, call));
            }
            self.has_its_agent(review);
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

    /// It hears us again, and is told where the person is.
    pub(super) fn stream_opened(&mut self, id: AgentId, stream: u64, received: &[ReviewId]) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        agent.came_back |= agent.stream > 0;
        agent.stream = agent.stream.max(stream);
        let lost = std::mem::take(&mut agent.stream_lost);
        if let Some(timer) = agent.without_stream.take() {
            self.timers.cancel(timer);
        }
        let is_received = |(_, review): &mut (u64, ReviewId)| received.contains(review);
        let delivered: Vec<(u64, ReviewId)> = agent.unconfirmed.extract_if(.., is_received).collect();
        if lost {
            self.take_up_again(id);
        }
        // By an earlier stream: the edge does not send it again.
        for (_, review) in delivered {
            self.apply(review::Event::Delivered { review });
        }
        self.greet_with_context(id);
        self.tell_untold(id);
        // Whatever waited for the stream is before it: its answer says that all has arrived.
        self.ping_agent(id);
    }

    /// The end of one that was replaced may be heard after the next has begun, and means nothing.
    pub(super) fn stream_closed(&mut self, id: AgentId, stream: u64) {
        let now_ms = self.now_ms;
        let Some(agent) = self.agents.get_mut(&id).filter(|agent| agent.stream == stream) else { return };
        agent.awaits_pong = false;
        let wait_ms = if agent.stream_lost { WITHOUT_STREAM_MS } else { STREAM_LOST_MS };
        let timer = self.timers.add(now_ms + wait_ms, Due::Stream(id));
        if let Some(earlier) = agent.without_stream.replace(timer) {
            self.timers.cancel(earlier);
        }
    }

    /// An agent that the user reconnected begins a new session and forgets the old one, whose stream it keeps open. That
    /// one is closed, so that the agent is not listed twice.
    pub(super) fn let_go_of_predecessor(&mut self, id: AgentId) {
        let Some(new) = self.agents.get(&id).filter(|agent| matches!(agent.reach, Reach::Stream)) else {
            return;
        };
        let is_predecessor = |(other, agent): &(&AgentId, &Agent)| {
            let waits = !agent.waiting.is_empty() || !agent.unconfirmed.is_empty();
            let same = (&agent.name, &agent.version) == (&new.name, &new.version);
            **other != id && agent.came_back && same && !waits
        };
        let found = self.agents.of_window(new.window).find(is_predecessor).map(|(other, _)| *other);
        if let Some(old) = found {
            self.hang_up(old, 1001, "this agent has a newer session");
        }
    }

    /// First nobody waits for its reviews; then the session ends.
    pub(super) fn stream_grace_over(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get_mut(&id).filter(|agent| agent.without_stream.is_some()) else {
            return;
        };
        if agent.stream_lost {
            return self.hang_up(id, 1001, "nobody listens to this session");
        }
        agent.stream_lost = true;
        let when = self.now_ms + WITHOUT_STREAM_MS - STREAM_LOST_MS;
        agent.without_stream = Some(self.timers.add(when, Due::Stream(id)));
        self.owner_gone(id, false);
    }

    /// Whoever says hello and never listens keeps nobody out: of those who wait for nothing, the first to come goes. It
    /// is taken up again when it is back. True: there is room now.
    pub(super) fn make_room(&mut self, window: WindowId) -> bool {
        let is_idle = |agent: &Agent| {
            let waits = !agent.waiting.is_empty() || !agent.unconfirmed.is_empty();
            let asks = !agent.introduced || agent.session.open_calls().next().is_some();
            matches!(agent.reach, Reach::Stream) && agent.stream == 0 && !waits && !asks
        };
        let first = self.agents.of_window(window).find(|(_, agent)| is_idle(agent)).map(|(id, _)| *id);
        let Some(first) = first else { return false };
        self.hang_up(first, 1013, "others came, and nobody listened to this session");
        true
    }

    /// Nobody came back for what became of it. An agent that listens would ask never again, and wait for ever: it is
    /// told when it is back.
    pub(super) fn expire(&mut self, id: ReviewId) {
        let waits = |review: &&Review| {
            let dialect = linkspan_dialect::by_name(asker(&review.owner_key).0);
            review.owner.is_none() && dialect.is_some_and(|it| matches!(it.door, Door::Stream { .. }))
        };
        if let Some(review) = self.state.review(id).filter(waits) {
            self.untold.remember(&review.owner_key, asked_as(review));
        }
        self.apply(review::Event::Expired { review: id });
    }

    /// The changes that it waits for, and that nobody will decide.
    fn tell_untold(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get(&id) else { return };
        let names = self.untold.told(&agent.key(), agent.pings + 1);
        for name in names {
            let Some(agent) = self.agents.get_mut(&id) else { return };
            if agent.session.open_changes().any(|(_, open)| open == name) {
                continue;
            }
            if let Some(call) = agent.session.adopt(&name) {
                let why = "the agent was away for too long: ask again";
                self.fail(id, call, FailureKind::Withdrawn, why);
            }
        }
    }

    /// Agents of this kind know a change by its path alone, and wait for the newest of each. True when this call is
    /// the newest; what was asked before it ends without a word.
    pub(super) fn is_newest_of_its_name(&mut self, id: AgentId, call: CallId) -> bool {
        let Some(agent) = self.agents.get_mut(&id).filter(|agent| matches!(agent.reach, Reach::Stream))
        else {
            return true;
        };
        let name = agent.session.open_changes().find(|(open, _)| *open == call);
        let Some(name) = name.map(|(_, name)| name.to_owned()) else { return true };
        let same = agent.session.open_changes().filter(|(_, other)| *other == name);
        let same: Vec<CallId> = same.map(|(other, _)| other).collect();
        if same.iter().any(|other| *other > call) {
            return false;
        }
        self.untold.asked_again(&agent.key(), &name);
        let waiting = agent.waiting.iter().copied();
        let older: Vec<(ReviewId, CallId)> = waiting.filter(|(_, other)| same.contains(other)).collect();
        for (review, other) in older {
            if let Some(agent) = self.agents.get_mut(&id) {
                agent.session.hush(other);
            }
            self.apply(review::Event::NotAwaited { review });
            if self.state.review(review).is_some_and(|review| review.owner.is_none()) {
                self.orphan(review);
            }
        }
        true
    }

    /// Its changes are withdrawn, and it is told so: it would wait for ever, for its calls are answered.
    pub(super) fn close_changes(&mut self, id: AgentId, why: &str) {
        let agent = self.agents.get(&id).filter(|agent| matches!(agent.reach, Reach::Stream));
        let Some(agent) = agent else { return };
        let waiting = agent.waiting.iter().copied();
        let undecided: Vec<(ReviewId, CallId)> =
            waiting.filter(|(review, _)| self.is_undecided(*review)).collect();
        for (review, call) in undecided {
            self.fail(id, call, FailureKind::Withdrawn, why);
            self.apply(review::Event::Withdrawn { review });
        }
    }

    pub(super) fn is_undecided(&self, id: ReviewId) -> bool {
        let review = self.state.review(id);
        review.is_some_and(|review| matches!(review.phase, Phase::Recording | Phase::Pending))
    }
}

/// The path by which its agent knows a change: where the file really is, or else what the label says.
fn asked_as(review: &Review) -> String {
    match review.label.starts_with('/') {
        true => review.label.clone(),
        false => review.path.to_string_lossy().into_owned(),
    }
}
