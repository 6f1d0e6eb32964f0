//! The hub without I/O: events in, actions out, one owner of all state.
//!
//! Nothing here reads a file, a socket or a clock; time comes in with each event. That makes every fault that
//! the world can produce a sequence of events that a test can write down.

mod active;
mod agents;
mod announcing;
mod asking;
mod away;
mod base;
mod bundles;
mod clients;
mod consent;
mod context;
mod control;
mod diagnosed;
mod editing;
mod editor;
mod event;
mod history;
mod holdings;
mod joining;
mod landing;
mod language;
mod notices;
mod page;
mod policy;
mod present;
mod reviews;
mod roster;
mod streams;
mod terminals;
#[cfg(test)]
mod tests;
mod timers;
mod tools;
mod undo;
mod untold;
mod watch;
mod well_known;
mod windows;
mod workspace;
mod writing;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;

use linkspan_dialect::CallId;
use linkspan_review::{AgentId, Effect, ReviewId, State, WindowId};

pub(crate) use present::asker;

pub use event::{
    Action, Event, ExchangeAnswer, Introduction, Listen, LocalId, Opening, Prepared, TerminalId, Ticket, Tool,
};

use crate::config::Config;
use crate::journal::{Remembered, RememberedWindow};
use base::{BaseWanted, Reading};
use bundles::Bundle;
use clients::{Changing, Looking};
use consent::Consent;
use control::Probe;
use editing::{Editing, Permits};
use editor::Local;
use history::History;
use landing::Landings;
use roster::Roster;
use terminals::Terminals;
use timers::{Due, TimerId, Timers};
use untold::Untold;
use well_known::WellKnown;
use windows::{Preparing, Window};
use workspace::Running;

/// How the hub introduces itself.
#[derive(Debug, Clone)]
pub struct Identity {
    pub version: &'static str,
    pub pid: u32,
    pub started_at_ms: u64,
    /// A word that no other hub has, nor an earlier life of this one.
    pub life: String,
    pub socket: String,
    /// How much memory the process occupies.
    pub resident_bytes: fn() -> Option<u64>,
    /// Where its ports are ports, if the system says.
    pub port_space: Option<String>,
    /// Where it is remembered what agents may do.
    pub clients_file: String,
    /// What is Linkspan's own: no agent gets at it, whatever the workspace.
    pub own_places: Vec<PathBuf>,
}

type Lookup = Box<dyn Fn(&str) -> Option<OsString> + Send>;

pub struct Core {
    identity: Identity,
    config: Config,
    /// The environment: where each dialect's discovery files belong.
    lookup: Lookup,
    now_ms: u64,
    state: State,
    windows: BTreeMap<WindowId, Window>,
    /// Windows of earlier lives, to give them their port and token back.
    remembered: Vec<RememberedWindow>,
    next_window: u64,
    /// Windows in the order in which the person was last in them.
    focused: Vec<WindowId>,
    /// Why discovery files are not there.
    unannounced: BTreeMap<PathBuf, String>,
    /// Why the last record was not made.
    unrecorded: Option<String>,
    agents: Roster,
    /// What agents wait for that will not come.
    untold: Untold,
    /// Calls that ask for several changes at once.
    bundles: BTreeMap<(AgentId, CallId), Bundle>,
    /// Calls whose files are being read.
    editing: BTreeMap<Ticket, Editing>,
    /// Texts that were accepted where nobody writes: the agent that asked may put them in the file, once.
    permits: Permits,
    /// What the person allows agents to do, and what she is asked.
    consent: Consent,
    /// What waits for a look at what is remembered of that.
    looking: Vec<Looking>,
    changing: BTreeMap<Ticket, Changing>,
    /// How many agents have joined on the hub's own socket.
    joined: u64,
    /// What is being done for agents.
    running: BTreeMap<Ticket, Running>,
    terminals: Terminals,
    well_known: WellKnown,
    next_set: u64,
    locals: BTreeMap<LocalId, Local>,
    preparing: HashMap<Ticket, Preparing>,
    reading: HashMap<Ticket, Reading>,
    /// Connections that are told what happens, each in one window or in all.
    watchers: BTreeMap<LocalId, Option<WindowId>>,
    history: History,
    next_ticket: u64,
    /// When each review was proposed, and since when it has had no agent.
    ages: BTreeMap<ReviewId, reviews::Age>,
    /// How many bytes of a review an editor is shown at most.
    largest_show: usize,
    /// Changes that are being written to disk.
    writing: BTreeMap<ReviewId, writing::OnDisk>,
    /// Accepted changes that their agents were told to write.
    landings: Landings,
    /// Accepted changes that an earlier life may or may not have written.
    unfinished_writes: Vec<ReviewId>,
    /// What the files hold matters once their editor is back.
    until_back: Vec<(BaseWanted, PathBuf)>,
    probes: Vec<Probe>,
    timers: Timers,
    heartbeat: Option<TimerId>,
    idle: Option<TimerId>,
    /// Until when a link to the page may be used.
    link_until_ms: u64,
    refused: BTreeMap<&'static str, u64>,
    actions: Vec<Action>,
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
    /// Goes on where the journal left off.
    pub fn new(
        identity: Identity,
        config: Config,
        lookup: Lookup,
        remembered: Remembered,
    ) -> (Core, Vec<Action>) {
        let (state, effects) = State::restore(remembered.reviews, remembered.next_review);
        let last_set = state.reviews().filter_map(|review| review.set).map(|set| set.0).max();
        let consent = Consent::new(&identity.life);
        let mut core = Core {
            identity,
            config,
            lookup,
            now_ms: 0,
            state,
            windows: BTreeMap::new(),
            remembered: remembered.windows,
            next_window: remembered.next_window,
            focused: Vec::new(),
            unannounced: BTreeMap::new(),
            unrecorded: None,
            agents: Roster::default(),
            untold: Untold::default(),
            bundles: BTreeMap::new(),
            editing: BTreeMap::new(),
            permits: Permits::default(),
            consent,
            looking: Vec::new(),
            changing: BTreeMap::new(),
            joined: 0,
            running: BTreeMap::new(),
            terminals: Terminals::default(),
            well_known: WellKnown::default(),
            next_set: last_set.unwrap_or(0) + 1,
            locals: BTreeMap::new(),
            preparing: HashMap::new(),
            reading: HashMap::new(),
            watchers: BTreeMap::new(),
            history: History::default(),
            next_ticket: 0,
            ages: BTreeMap::new(),
            largest_show: reviews::LARGEST_SHOW,
            writing: BTreeMap::new(),
            landings: Landings::default(),
            unfinished_writes: Vec::new(),
            until_back: Vec::new(),
            probes: Vec::new(),
            timers: Timers::default(),
            heartbeat: None,
            idle: None,
            link_until_ms: 0,
            refused: BTreeMap::new(),
            actions: Vec::new(),
        };
        core.act(Action::LookAtClients);
        core.sweep_discovery();
        for past in remembered.past {
            core.remember_review(past);
        }
        let (writes, others): (Vec<Effect>, Vec<Effect>) =
            effects.into_iter().partition(|effect| matches!(effect, Effect::Write { .. }));
        core.carry_out(others);
        core.write_when_back(&writes);
        core.doubt_undos(remembered.undos);
        core.expect_unseen(remembered.unseen);
        core.watch_idleness();
        let actions = std::mem::take(&mut core.actions);
        (core, actions)
    }

    /// When [`Event::Tick`] is due, in the same milliseconds that events come with.
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.next()
    }

    pub fn handle(&mut self, now_ms: u64, event: Event) -> Vec<Action> {
        self.now_ms = now_ms;
        match event {
            Event::LocalOpened { local } => {
                self.locals.insert(local, Local::default());
            }
            Event::PageOpened { local } => self.page_opened(local),
            Event::LocalMessage { local, body } => self.local_message(local, &body),
            Event::LocalClosed { local } => self.local_closed(local),
            Event::AgentOpened { agent, window, dialect, called } => {
                self.agent_opened(agent, window, dialect, called);
            }
            Event::SessionOpened { agent, window, dialect, key, known } => {
                self.session_opened(agent, window, dialect, key, known);
            }
            Event::StreamOpened { agent, stream, received } => self.stream_opened(agent, stream, &received),
            Event::StreamClosed { agent, stream } => self.stream_closed(agent, stream),
            Event::AgentFrame { agent, text, exchange } => self.agent_frame(agent, &text, exchange),
            Event::AgentBinary { agent } => self.agent_binary(agent),
            Event::AgentPong { agent, number } => self.agent_pong(agent, number),
            Event::AgentClosed { agent, said_goodbye } => self.agent_closed(agent, said_goodbye),
            Event::Refused { refusal } => {
                self.refused(refusal);
                return Vec::new();
            }
            Event::WindowPrepared { ticket, result } => self.window_prepared(ticket, result),
            Event::WellKnownServed { open } => self.well_known_open(open),
            Event::FileRead { ticket, result } => self.file_read(ticket, result),
            Event::FileWritten { review, result } => self.file_written(review, result),
            Event::Recorded { review, step, result } => self.recorded(review, step, result),
            Event::WindowRemembered { window, result } => self.window_remembered(window, result),
            Event::HistoryRead { ticket, result } => self.history_read(ticket, result),
            Event::UndoBegun { ticket, result } => self.undo_begun(ticket, result),
            Event::FileRestored { ticket, result } => self.file_restored(ticket, result),
            Event::PageLinked { local, request, result } => self.page_linked(local, request, result),
            Event::PageRevoked { local, request, result } => self.page_revoked(local, request, result),
            Event::ClientsLookedAt { found } => self.clients_looked_at(found),
            Event::ClientsChanged { ticket, result } => self.clients_changed(ticket, result),
            Event::ToolRan { ticket, result } => self.tool_ran(ticket, result),
            Event::DiscoveryWritten { path, result } => self.discovery_written(path, result),
            Event::DiscoveryLookedFor { ticket, missing } => self.discovery_looked_for(ticket, &missing),
            Event::StopRequested => self.stop(),
            Event::Tick => self.tick(),
        }
        self.watch_idleness();
        std::mem::take(&mut self.actions)
    }

    fn tick(&mut self) {
        while let Some(due) = self.timers.pop(self.now_ms) {
            match due {
                Due::Heartbeat => self.beat(),
                Due::Call { local, id } => self.call_timed_out(local, id),
                Due::Read(ticket) => self.read_timed_out(ticket),
                Due::Tool(ticket) => self.tool_timed_out(ticket),
                Due::Write(review) => self.write_timed_out(review),
                Due::Landing(review) => self.landing_due(review),
                Due::Restore(ticket) => self.restore_timed_out(ticket),
                Due::Undo(ticket) => self.undo_waited(ticket),
                Due::Doubts => self.doubts_waited(),
                Due::Patience { agent, call } => self.patience_over(agent, call),
                Due::Window(window) => self.window_grace_over(window),
                Due::Stream(agent) => self.stream_grace_over(agent),
                Due::Context(window) => self.context_due(window),
                Due::Review(review) => self.review_grace_over(review),
                Due::Writes => self.go_on_writing(|_| true),
                Due::Probes => self.probes_due(),
                Due::IdleExit => {
                    self.idle = None;
                    self.stop();
                }
            }
        }
    }

    /// Pings everyone; who said nothing since the last ping is gone, whatever the socket says.
    fn beat(&mut self) {
        self.heartbeat = None;
        let silent: Vec<AgentId> =
            self.agents.iter().filter(|(_, agent)| agent.awaits_pong).map(|(id, _)| *id).collect();
        for agent in silent {
            self.hang_up(agent, 1011, "no answer to ping");
        }
        let alive: Vec<AgentId> = self.agents.keys().copied().collect();
        for agent in alive {
            if let Some(agent) = self.agents.get_mut(&agent) {
                // Whom nobody can ask owes no answer.
                agent.awaits_pong = agent.without_stream.is_none();
            }
            self.ping_agent(agent);
        }
        let attached: Vec<LocalId> = self.windows.values().filter_map(|window| window.local).collect();
        for local in attached {
            self.ping_editor(local);
        }
    }

    /// Starts and stops the two clocks that depend on whether anything is going on.
    fn watch_idleness(&mut self) {
        let connected = !self.agents.is_empty() || self.windows.values().any(|window| window.local.is_some());
        match (connected, self.heartbeat) {
            (true, None) => {
                let when = self.now_ms + self.config.limits.heartbeat_seconds * 1000;
                self.heartbeat = Some(self.timers.add(when, Due::Heartbeat));
            }
            (false, Some(timer)) => {
                self.timers.cancel(timer);
                self.heartbeat = None;
            }
            _ => {}
        }
        // Also for a decision that its agent has not heard of. A command that asks a question is no reason to stay.
        let unfinished = self.state.reviews().next().is_some();
        // Asked last: this looks at every connection, after each event.
        let here = || self.locals.values().any(|local| local.is_page || local.attaching);
        let looks = self.landings.len() > 0;
        let busy = unfinished || looks || !self.windows.is_empty() || !self.agents.is_empty() || here();
        match (busy, self.idle) {
            (false, None) => {
                // A link that was given out is worth what it says.
                let when = (self.now_ms + self.config.idle_exit_seconds * 1000).max(self.link_until_ms);
                self.idle = Some(self.timers.add(when, Due::IdleExit));
            }
            (true, Some(timer)) => {
                self.timers.cancel(timer);
                self.idle = None;
            }
            _ => {}
        }
    }

    /// Leaves, with the discovery files gone; everything else is in the journal. Agents that wait are told nothing: any
    /// word would be a decision to some of them, and the next hub goes on with their reviews.
    fn stop(&mut self) {
        let windows: Vec<WindowId> = self.windows.keys().copied().collect();
        for window in windows {
            self.remove_discovery(window);
        }
        self.act(Action::Stop);
    }

    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }
}
