//! What the core of the simulated hub wants done, and where that leads.

use linkspan_hub::core::contract::ReviewRecord;
use linkspan_hub::core::{Action, Event, PreparedWindow};
use linkspan_hub::token::Token;
use serde_json::Value;

use super::journal::Job;
use super::simulation::{SimEvent, Simulation};
use super::wire::{Peer, ToPeer, WireId};

impl Simulation {
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
                Action::SendMessage { connection, body } => {
                    if let Some(wire) = self.hub.locals.get(&connection).copied() {
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
                Action::CloseConnection { connection } => {
                    if let Some(wire) = self.hub.locals.remove(&connection) {
                        self.hangs_up(wire);
                    }
                }
                Action::PrepareWindow { ticket, folders, listen } => {
                    let endpoint = listen.map(|listen| {
                        let (port, token) = listen.before.unwrap_or_else(|| {
                            self.hub.next_port += 1;
                            (self.hub.next_port, Token::remembered(format!("token{}", self.hub.next_port)))
                        });
                        self.hub.ports.insert(port, listen.window);
                        (port, token)
                    });
                    let result =
                        Ok(PreparedWindow { folders, workspace: Vec::new(), endpoint, socket: None });
                    self.finds_out(Event::WindowPrepared { ticket, result });
                }
                Action::ClosePort { window } => self.hub.ports.retain(|_, of| *of != window),
                Action::ReadFile { ticket, folders, path, .. } => {
                    let (life, delay) = (self.hub.life, self.delay());
                    self.later(delay, SimEvent::ReadDisk(life, ticket, folders, path));
                }
                Action::WriteFile { review, replacement } => {
                    self.count("writes ordered");
                    self.write_ordered(review, &replacement);
                    let (life, delay) = (self.hub.life, self.delay());
                    self.later(delay, SimEvent::WriteDisk(life, review, replacement));
                }
                Action::Record { review, step, by, size, origin } => {
                    self.count("records");
                    if let Some(origin) = &origin {
                        self.belongs_to(review.id, &origin.chat);
                    }
                    self.record_asked(&review, step);
                    self.hand_in(Job::Review(Box::new(ReviewRecord {
                        review: *review,
                        step,
                        by,
                        size,
                        origin,
                    })));
                }
                Action::ReadHistory { ticket, query } => self.hand_in(Job::Ask(ticket, query)),
                Action::BeginUndo { ticket, change } => {
                    self.undo_begins(&change);
                    self.hand_in(Job::BeginUndo(ticket, Box::new(change)));
                }
                Action::RestoreFile { ticket, restoration } => {
                    self.restore_ordered(ticket, &restoration);
                    let (life, delay) = (self.hub.life, self.delay());
                    self.later(delay, SimEvent::RestoreDisk(life, ticket, restoration));
                }
                Action::EndUndo { undo, done, mode } => {
                    self.undo_ends(undo, done);
                    self.hand_in(Job::EndUndo { undo, done, mode });
                }
                Action::StartChild { agent, peer } => self.process_starts(agent, &peer),
                Action::RecordChat { record } => self.hand_in(Job::Chat(Box::new(record))),
                Action::ReadChat { ticket, chat, places, most_bytes } => {
                    self.count("reads of conversations");
                    self.hand_in(Job::ReadChat { ticket, chat, places, most_bytes });
                }
                Action::ForgetChat { chat } => self.hand_in(Job::ForgetChat(chat)),
                Action::RememberWindow { window } => self.hand_in(Job::Window(Box::new(window))),
                Action::ServePpxaiPort { .. } => self.finds_out(Event::PpxaiPortServed { open: false }),
                Action::Publish { to, body } => self.publishes(to, &body),
                Action::Stop => leaves = true,
                Action::RecordOnDisk { review } => {
                    self.said_to_be_on_disk(review);
                    self.hand_in(Job::OnDisk(review));
                }
                Action::NameOutcome { agent, review } => self.hub.streams.names_outcome(agent, review),
                unwanted @ (Action::RunJob { .. }
                | Action::CloseTerminal { .. }
                | Action::LinkPage { .. }
                | Action::RevokePage { .. }
                | Action::ChangeClients { .. }) => {
                    self.promises.broken(format!("the hub does what it was not asked for: {unwanted:?}"));
                }
                other => {
                    follows.extend(self.hub.harness.as_mut().and_then(|harness| harness.perform(other)));
                }
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

    /// It stops because no one needs it: then it must hold nothing.
    fn leaves(&mut self) {
        self.count(if self.hub.stopping { "hubs stopped" } else { "hubs that left by themselves" });
        self.trace.tell(self.now, || "the hub leaves".to_owned());
        // The idle timer that stopped it is set again, without effect; and a command that asks does not keep it running.
        let may_stay =
            |held: &(&str, usize)| *held == ("timers", 1) || (held.0 == "connections" && !self.leaving);
        let held: Vec<_> = self.hub.resource_counts().into_iter().filter(|held| !may_stay(held)).collect();
        self.promises.looked("nothing is left behind");
        if !held.is_empty() && !self.hub.stopping {
            self.promises.broken(format!("a hub with nothing to do holds {held:?} when it leaves"));
        }
        // What waits for the journal is still recorded: the real one waits for it too.
        self.sync_journal();
        self.hub_ends();
        self.hub.left = !std::mem::take(&mut self.hub.stopping);
        if !self.leaving {
            self.later(1000, SimEvent::HubStarts);
        }
    }

    pub(super) fn says(&mut self, wire: WireId, body: &[u8]) {
        self.trace.mix(body);
        let frame: Value = serde_json::from_slice(body).expect("the hub sends JSON");
        match self.wires[wire.0].peer {
            Peer::Process(_) => self.process_is_told(wire, &frame),
            _ => self.hub_says(wire, &frame),
        }
        self.send_to_peer(wire, ToPeer::Frame(frame));
    }

    pub(super) fn hangs_up(&mut self, wire: WireId) {
        self.count("hang-ups by the hub");
        self.over_for_hub(wire);
        self.send_to_peer(wire, ToPeer::Closed);
    }
}
