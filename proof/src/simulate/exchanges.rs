//! The edge of the simulated hub for agents that ask by HTTP: each request waits for its own answer, and that one has
//! arrived is known when the next comes, or when the connection ends in good order.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_dialect::ExchangeId;
use linkspan_hub::core::{Event, ExchangeAnswer};
use linkspan_review::AgentId;

use super::simulation::Simulation;
use super::wire::{ToPeer, WireId};

#[derive(Default)]
pub(super) struct Exchanges {
    last: u64,
    waiting: BTreeMap<(AgentId, ExchangeId), WireId>,
    /// Their callers left without the hub noticing: one answer to each goes nowhere.
    given_up: BTreeSet<(AgentId, ExchangeId)>,
    /// The newest ping behind answers that were handed out.
    unconfirmed: BTreeMap<AgentId, u64>,
}

impl Exchanges {
    /// The caller on that connection is gone.
    pub(super) fn given_up(&mut self, wire: WireId) {
        self.given_up.extend(self.waiting.extract_if(.., |_, waits| *waits == wire).map(|(asked, _)| asked));
    }

    pub(super) fn all_given_up(&mut self, agent: AgentId) -> Vec<WireId> {
        self.waiting.extract_if(.., |(of, _), _| *of == agent).map(|(_, wire)| wire).collect()
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = (ExchangeId, WireId)> {
        self.waiting.iter().map(|((_, exchange), wire)| (*exchange, *wire))
    }
}

impl Simulation {
    pub(super) fn asked_by_exchange(&mut self, agent: AgentId, wire: WireId, text: String) {
        self.has_all(agent);
        self.hub.exchanges.last += 1;
        let exchange = ExchangeId(self.hub.exchanges.last);
        self.hub.exchanges.waiting.insert((agent, exchange), wire);
        self.hub_event(Event::AgentFrame { agent, text, exchange: Some(exchange) });
    }

    fn has_all(&mut self, agent: AgentId) {
        if let Some(number) = self.hub.exchanges.unconfirmed.remove(&agent) {
            self.hub_event(Event::AgentPong { agent, number: Some(number) });
        }
    }

    pub(super) fn answers_exchange(&mut self, agent: AgentId, exchange: ExchangeId, answer: ExchangeAnswer) {
        let on_stream = self.hub.streams.has(agent);
        let text = match answer {
            ExchangeAnswer::Text(text) | ExchangeAnswer::Introduced { text, .. } => Some(text),
            // It was an answer itself, or no question.
            ExchangeAnswer::Nothing if on_stream => None,
            other => return self.promises.broken(format!("7: {exchange:?} is answered with {other:?}")),
        };
        let waited = self.hub.exchanges.waiting.remove(&(agent, exchange));
        let result = match waited {
            Some(_) => Ok(()),
            None if self.hub.exchanges.given_up.remove(&(agent, exchange)) => Ok(()),
            None => Err(format!("{exchange:?} of {agent} is answered, but nothing waits for it")),
        };
        self.promises.look("7: each exchange is answered exactly once", result);
        let Some(wire) = waited else { return };
        if let Some(text) = text {
            self.says(wire, text.as_bytes());
        }
        if on_stream {
            self.over_for_hub(wire);
            self.send_to_peer(wire, ToPeer::Closed);
        }
    }

    /// The connection is there, and that is all it says.
    pub(super) fn pings_caller(&mut self, agent: AgentId, number: u64) {
        self.hub.exchanges.unconfirmed.insert(agent, number);
        self.finds_out(Event::AgentPong { agent, number: None });
    }

    /// A connection that is closed with unread data is reset, without an answer.
    pub(super) fn caller_ended(&mut self, agent: AgentId, in_order: bool) {
        self.hub.exchanges.waiting.retain(|(of, _), _| *of != agent);
        if in_order {
            self.count("HTTP connections that ended in good order");
            self.has_all(agent);
        }
        self.hub.exchanges.unconfirmed.remove(&agent);
    }
}
