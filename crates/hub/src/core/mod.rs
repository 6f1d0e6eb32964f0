//! The hub without I/O: events in, actions out, one owner of all state.
//!
//! Nothing here reads a file, a socket or a clock; time comes in with each event. So every fault that can happen
//! outside is a sequence of events that a test can write down.
//!
//! Each folder owns a part of the state, in a struct whose fields only that folder sees. Such a struct takes `&mut Out`
//! and plain data, and knows only the parts below it:
//!
//! ```text
//! chats                                conversations with agents that the hub hosts
//! requests                             what agents ask for
//! history reviews files permissions    the past, changes, what files hold, what agents may do
//! agents                               sessions and their calls
//! windows                              editors, their folders, ports and rules
//! connections                          the hub's own socket and the page
//! out pending timers convert contract  used by all
//! ```
//!
//! Flows that touch several parts take `&mut Core`. Their entry points are the methods of `Core`; a lower part calls a
//! higher one only through these.

mod agents;
mod chats;
mod connections;
pub mod contract;
mod convert;
mod document_edits;
mod files;
#[cfg(any(test, feature = "harness"))]
pub mod harness;
mod history;
mod lifecycle;
mod out;
mod pending;
mod permissions;
mod principal;
mod requests;
mod resource_counts;
mod resume;
mod reviews;
mod status;
#[cfg(test)]
mod tests;
mod timers;
mod windows;

use std::path::PathBuf;

use linkspan_editor_api::Ping;
use linkspan_review::{AgentId, Effect, State, WindowId};

pub(crate) use convert::asker;

pub use contract::{
    Action, AgentJob, ConnectionId, Event, ExchangeAnswer, Introduction, Listen, PreparedWindow, TerminalId,
    TerminalSetup, Ticket,
};

use crate::config::Config;
use agents::Agents;
use chats::Chats;
use connections::Connections;
use contract::RememberedState;
use files::Files;
use history::History;
use lifecycle::Lifecycle;
use out::{Lookup, Out};
use pending::{AfterAnswer, Continuation};
use permissions::Permissions;
use requests::terminals::Terminals;
use reviews::Reviews;
use timers::Due;
use windows::Windows;

/// Facts about this hub.
#[derive(Debug, Clone)]
pub struct HubInfo {
    pub version: &'static str,
    pub pid: u32,
    pub started_at_ms: u64,
    /// Differs from hub to hub, also after a restart.
    pub instance_id: String,
    pub socket: String,
    /// How much memory the process occupies.
    pub resident_bytes: fn() -> Option<u64>,
    /// The network namespace of its ports, if the system has any.
    pub port_space: Option<String>,
    /// The file of remembered permissions.
    pub clients_file: String,
    /// Linkspan's own files and those with tokens: no agent may access them, whatever the workspace.
    pub private_dirs: Vec<PathBuf>,
}

pub struct Core {
    out: Out,
    lifecycle: Lifecycle,
    connections: Connections,
    windows: Windows,
    agents: Agents,
    terminals: Terminals,
    reviews: Reviews,
    files: Files,
    permissions: Permissions,
    history: History,
    chats: Chats,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core")
            .field("windows", &self.windows)
            .field("agents", &self.agents)
            .finish_non_exhaustive()
    }
}

impl Core {
    /// Continues where the journal ends.
    pub fn new(
        info: HubInfo,
        config: Config,
        lookup: Lookup,
        remembered: RememberedState,
    ) -> (Core, Vec<Action>) {
        let (state, effects) = State::restore(remembered.reviews, remembered.next_review);
        let last_set = state.reviews().filter_map(|review| review.set).map(|set| set.0).max();
        let permissions = Permissions::new(&info.instance_id);
        let mut core = Core {
            out: Out::new(info, config, lookup),
            lifecycle: Lifecycle::default(),
            connections: Connections::default(),
            windows: Windows::new(remembered.windows, remembered.next_window),
            agents: Agents::new(last_set.unwrap_or(0)),
            terminals: Terminals::default(),
            reviews: Reviews::new(state),
            files: Files::default(),
            permissions,
            history: History::default(),
            chats: Chats::new(remembered.chats, remembered.last_chat),
        };
        core.out.push(Action::ReloadClients);
        core.windows.sweep_discovery(&mut core.out);
        reviews::agent_writes::expect_unseen(&mut core, remembered.unseen);
        for past in remembered.past {
            reviews::expire::remember_review(&mut core, past);
        }
        let (writes, others): (Vec<Effect>, Vec<Effect>) =
            effects.into_iter().partition(|effect| matches!(effect, Effect::Write { .. }));
        core.carry_out(others);
        reviews::write::write_when_back(&mut core, &writes);
        history::resolve::doubt_undos(&mut core, remembered.undos);
        core.wait_for_missing();
        core.update_lifecycle();
        let actions = core.out.take_actions();
        (core, actions)
    }

    /// When [`Event::Tick`] is due, in the same milliseconds that events come with.
    pub fn next_deadline(&self) -> Option<u64> {
        self.out.next_deadline()
    }

    /// How much the core holds of each kind, in pieces.
    pub fn resource_counts(&self) -> [(&'static str, usize); resource_counts::KINDS] {
        resource_counts::count(self)
    }

    pub fn handle(&mut self, now_ms: u64, event: Event) -> Vec<Action> {
        self.out.now_ms = now_ms;
        match event {
            Event::ConnectionOpened { connection } => {
                self.connections.open(connection);
            }
            Event::PageOpened { connection } => self.connections.open_page(connection),
            Event::ConnectionMessage { connection, body } => self.connection_message(connection, &body),
            Event::ConnectionClosed { connection } => self.connection_closed(connection),
            Event::AgentOpened { agent, window, dialect, called } => {
                self.agent_opened(agent, window, dialect, called);
            }
            Event::SessionOpened { agent, window, dialect, key, known } => {
                self.session_opened(agent, window, dialect, key, known);
            }
            Event::StreamOpened { agent, stream, received } => self.stream_opened(agent, stream, &received),
            Event::StreamClosed { agent, stream } => {
                self.agents.stream_closed(&mut self.out, agent, stream);
            }
            Event::AgentFrame { agent, text, exchange } => self.agent_frame(agent, &text, exchange),
            Event::ExchangeGone { agent, exchange } => agents::streams::exchange_gone(self, agent, exchange),
            Event::AgentBinary { agent } => self.agent_binary(agent),
            Event::AgentPong { agent, number } => self.connection_pong(agent, number),
            Event::AgentClosed { agent, said_goodbye } => self.agent_closed(agent, said_goodbye),
            Event::Refused { refusal } => {
                self.lifecycle.count_refusal(refusal);
                return Vec::new();
            }
            Event::WindowPrepared { ticket, result } => self.window_prepared(ticket, result),
            Event::PpxaiPortServed { open } => self.windows.set_ppxai_port_open(open),
            Event::FileRead { ticket, result } => files::read::file_read(self, ticket, result),
            Event::FileWritten { review, result } => reviews::write::file_written(self, review, result),
            Event::Recorded { review, step, result } => {
                reviews::effects::recorded(self, review, step, result)
            }
            Event::WindowRemembered { window, result } => self.window_remembered(window, result),
            Event::HistoryRead { ticket, result } => history::history_read(self, ticket, result),
            Event::UndoBegun { ticket, result } => history::undo::undo_begun(self, ticket, result),
            Event::FileRestored { ticket, result } => history::undo::file_restored(self, ticket, result),
            Event::PageLinked { connection, request, result } => {
                self.lifecycle.page_linked(&mut self.out, connection, request, result)
            }
            Event::PageRevoked { connection, request, result } => {
                self.lifecycle.page_revoked(&mut self.out, connection, request, result)
            }
            Event::ClientsReloaded { found } => permissions::clients::reloaded(self, found),
            Event::ClientsChanged { ticket, result } => permissions::clients::changed(self, ticket, result),
            Event::JobDone { ticket, result } => self.job_done(ticket, result),
            Event::DiscoveryWritten { path, result } => self.windows.discovery_written(path, result),
            Event::DiscoveryChecked { ticket, missing } => self.discovery_looked_for(ticket, &missing),
            Event::IdeAsked { question, root } => requests::ide_context::asked(self, question, root),
            Event::AgentsFound { ticket, result } => chats::agents_found(self, ticket, result),
            Event::ChatRead { ticket, result } => chats::items_read(self, ticket, result),
            Event::ChatsRemoved { chats } => self.chats_removed(&chats),
            Event::ChildEnded { agent, why } => chats::child_ended(self, agent, why),
            Event::StopRequested => self.stop(),
            Event::Tick => self.tick(),
        }
        chats::follow(self);
        self.update_lifecycle();
        self.out.take_actions()
    }

    fn tick(&mut self) {
        while let Some(due) = self.out.next_due() {
            match due {
                Due::Heartbeat => self.send_heartbeats(),
                Due::Pending(ticket) => self.pending_timed_out(ticket),
                Due::Edit(ticket) => reviews::edits::edit_again(self, ticket),
                Due::Write(review) => reviews::write::write_timed_out(self, review),
                Due::AgentWrite(review) => reviews::agent_writes::read_again(self, review),
                Due::Restore(ticket) => history::undo::restore_timed_out(self, ticket),
                Due::Undo(ticket) => history::undo::undo_waited(self, ticket),
                Due::Doubts => history::resolve::doubts_waited(self),
                Due::Patience { agent, call } => reviews::expire::wait_limit_over(self, agent, call),
                Due::Window(window) => self.window_grace_over(window),
                Due::Stream(agent) => self.stream_grace_over(agent),
                Due::Context(window) => self.context_due(window),
                Due::Review(review) => reviews::expire::review_grace_over(self, review),
                Due::Missing => self.missing_are_gone(),
                Due::Chat(chat) => chats::deadline_over(self, chat),
                Due::ChatRecord(chat) => self.chats.record_due(&mut self.out, chat),
                Due::Probes => self.probes_due(),
                Due::IdleExit => {
                    self.lifecycle.idle_is_over();
                    self.stop();
                }
            }
        }
    }

    fn pending_timed_out(&mut self, ticket: Ticket) {
        match self.out.pending.get(ticket) {
            Some(Continuation::Editor(_)) => self.editor_timed_out(ticket),
            Some(Continuation::FileRead { .. }) => files::read::read_timed_out(self, ticket),
            Some(Continuation::Job(_)) => self.job_timed_out(ticket),
            Some(Continuation::WindowPrepared(_) | Continuation::ClientsChanged(_)) | None => {}
        }
    }

    /// Pings everyone. An agent that sent nothing since the last ping is gone, whatever its socket says.
    fn send_heartbeats(&mut self) {
        self.lifecycle.heartbeat_is_over();
        for agent in self.agents.silent() {
            self.hang_up(agent, 1011, "no answer to ping");
        }
        let alive: Vec<AgentId> = self.agents.keys().copied().collect();
        for agent in alive {
            self.agents.expect_pong(agent);
            self.agents.ping(&mut self.out, agent);
        }
        for connection in self.windows.connections() {
            self.ask(connection, &Ping {}, AfterAnswer::Heartbeat);
        }
    }

    /// Called after each event.
    fn update_lifecycle(&mut self) {
        let is_connected = !self.agents.is_empty() || self.windows.any_attached();
        // Also for a decision that has not reached its agent. A command that waits for an answer does not keep the hub running.
        // The connections come last: that looks at each of them.
        let is_busy = self.reviews.iter().next().is_some()
            || self.reviews.agent_writes() > 0
            || !self.windows.is_empty()
            || !self.agents.is_empty()
            || self.connections.any_page_or_attaching();
        self.lifecycle.update(&mut self.out, is_connected, is_busy);
    }

    /// Stops the hub, with the discovery files gone; everything else is in the journal. Agents that wait receive no
    /// answer: some would take any answer for a decision, and the next hub continues with their reviews.
    fn stop(&mut self) {
        let windows: Vec<WindowId> = self.windows.keys().copied().collect();
        for window in windows {
            self.windows.remove_discovery(&mut self.out, window);
        }
        self.chats.record_all(&mut self.out);
        // A deadline that is due at the same moment would answer an agent.
        self.out.drop_deadlines();
        self.out.push(Action::Stop);
    }
}
