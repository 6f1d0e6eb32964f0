//! What the core of the simulated hub wants done, and where that leads.

use linkspan_hub::config::Clients;
use linkspan_hub::core::{Action, Event, Prepared};
use linkspan_hub::journal::Entry;
use linkspan_hub::token::Token;
use serde_json::Value;

use super::journal::Job;
use super::wire::{ToPeer, WireId};
use super::world::{Happening, World};

impl World {
    pub(super) fn carry_out(&mut self, actions: Vec<Action>) {
        let mut follows = Vec::new();
        let mut leaves = false;
        for action in actions {
            match action {
                Action::SendAgent { agent, text } => {
                    if self.hub.streams.has(agent) {
                        self.says_on_stream(agent, &text);
                    } else if let Some(wire) = self.hub.wire_of(agent) {
                        self.says(wire, text.as_bytes());
                    }
                }
                Action::SendLocal { local, body } => {
                    if let Some(wire) = self.hub.locals.get(&local).copied() {
                        self.says(wire, &body);
                    }
                }
                Action::PingAgent { agent, number } => match self.hub.wire_of(agent) {
                    _ if self.hub.streams.has(agent) => self.hub.streams.pinged(agent, number),
                    Some(wire) if self.asks_by_exchanges(self.wires[wire.0].peer) => {
                        self.pings_caller(agent, number);
                    }
                    Some(wire) => self.send_to_peer(wire, ToPeer::Ping(number)),
                    None => {}
                },
                Action::AnswerExchange { agent, exchange, answer } => {
                    self.answers_exchange(agent, exchange, answer);
                }
                Action::ConfirmAgent { agent, number } => self.hub.streams.confirmed(agent, number),
                Action::CloseAgent { agent, .. } => {
                    self.session_ends(agent);
                    if let Some(wire) = self.hub.agents.remove(&agent) {
                        self.hangs_up(wire);
                    }
                }
                Action::CloseLocal { local } => {
                    if let Some(wire) = self.hub.locals.remove(&local) {
                        self.hangs_up(wire);
                    }
                }
                Action::PrepareWindow { ticket, folders, listen } => {
                    let door = listen.map(|listen| {
                        let (port, token) = listen.before.unwrap_or_else(|| {
                            self.hub.next_port += 1;
                            (self.hub.next_port, Token::remembered(format!("token{}", self.hub.next_port)))
                        });
                        self.hub.ports.insert(port, listen.window);
                        (port, token)
                    });
                    let result = Ok(Prepared { folders, workspace: Vec::new(), door });
                    self.finds_out(Event::WindowPrepared { ticket, result });
                }
                Action::ClosePort { window } => self.hub.ports.retain(|_, of| *of != window),
                Action::ReadFile { ticket, folders, path, .. } => {
                    let (life, delay) = (self.hub.life, self.delay());
                    self.later(delay, Happening::ReadDisk(life, ticket, folders, path));
                }
                Action::WriteFile { review, replacement } => {
                    self.count("writes ordered");
                    self.write_ordered(review, &replacement);
                    let (life, delay) = (self.hub.life, self.delay());
                    self.later(delay, Happening::WriteDisk(life, review, replacement));
                }
                Action::Record { review, step, by, size } => {
                    self.count("records");
                    self.record_asked(&review, step);
                    self.hand_in(Job::Review(Box::new(Entry { review: *review, step, by, size })));
                }
                Action::ReadHistory { ticket, question } => self.hand_in(Job::Ask(ticket, question)),
                Action::BeginUndo { ticket, change } => {
                    self.undo_begins(&change);
                    self.hand_in(Job::BeginUndo(ticket, Box::new(change)));
                }
                Action::RestoreFile { ticket, restoration } => {
                    self.restore_ordered(ticket, &restoration);
                    let (life, delay) = (self.hub.life, self.delay());
                    self.later(delay, Happening::RestoreDisk(life, ticket, restoration));
                }
                Action::EndUndo { undo, done, mode } => {
                    self.undo_ends(undo, done);
                    self.hand_in(Job::EndUndo { undo, done, mode });
                }
                Action::RememberWindow { window } => self.hand_in(Job::Window(Box::new(window))),
                Action::ServeWellKnown { .. } => self.finds_out(Event::WellKnownServed { open: false }),
                Action::LookForDiscovery { ticket, .. } => {
                    follows.push(Event::DiscoveryLookedFor { ticket, missing: Vec::new() });
                }
                Action::LookAtClients => {
                    follows.push(Event::ClientsLookedAt { found: Some(Ok(Clients::default())) });
                }
                Action::Publish { to, body } => self.publishes(to, &body),
                Action::Stop => leaves = true,
                Action::RecordOnDisk { review } => {
                    self.said_to_be_on_disk(review);
                    self.hand_in(Job::OnDisk(review));
                }
                Action::NameOutcome { agent, review } => self.hub.streams.names_outcome(agent, review),
                Action::PaceLocal { .. }
                | Action::WriteDiscovery { .. }
                | Action::RemoveDiscovery { .. }
                | Action::SweepBeside { .. } => {}
                // Nobody here asks for any of these.
                other => self.promises.broken(format!("the hub does what nobody asked for: {other:?}")),
            }
        }
        self.look_at_taken();
        for event in follows {
            self.hub_event(event);
        }
        if leaves {
            self.leaves();
        }
    }

    /// It leaves because nobody needs it: then it must hold nothing.
    fn leaves(&mut self) {
        self.count(if self.hub.stopping { "hubs stopped" } else { "hubs that left by themselves" });
        self.trace.tell(self.now, || "the hub leaves".to_owned());
        // The clock that made it leave is wound up again, in vain; and a command that asks is no reason to stay.
        let may_stay =
            |held: &(&str, usize)| *held == ("timers", 1) || (held.0 == "connections" && !self.leaving);
        let held: Vec<_> = self.hub.holdings().into_iter().filter(|held| !may_stay(held)).collect();
        self.promises.looked("nothing is left behind");
        if !held.is_empty() && !self.hub.stopping {
            self.promises.broken(format!("a hub with nothing to do holds {held:?} when it leaves"));
        }
        // What waits for the journal is still recorded: the real one waits for it too.
        self.sync_journal();
        self.hub_ends();
        self.hub.left = !std::mem::take(&mut self.hub.stopping);
        if !self.leaving {
            self.later(1000, Happening::HubStarts);
        }
    }

    pub(super) fn says(&mut self, wire: WireId, body: &[u8]) {
        self.trace.mix(body);
        let frame: Value = serde_json::from_slice(body).expect("the hub sends JSON");
        self.hub_says(wire, &frame);
        self.send_to_peer(wire, ToPeer::Frame(frame));
    }

    pub(super) fn hangs_up(&mut self, wire: WireId) {
        self.count("hang-ups by the hub");
        self.over_for_hub(wire);
        self.send_to_peer(wire, ToPeer::Closed);
    }
}
