//! The world around one simulated hub: its clock, its queue of what is to happen, and everyone in it.
//!
//! An own scheduler and not a simulated network under real sockets: the hub's core has none. It takes events and gives
//! actions, so the whole world is a queue in the order of a clock that jumps from one event to the next.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use linkspan_hub::core::contract::{Replacement, Restoration};
use linkspan_hub::core::{Event, Ticket};
use linkspan_review::ReviewId;

use super::agent::{Agent, HOOK, OWN_TOOL};
use super::chat_user::ChatUser;
use super::command::Command;
use super::editor::Editor;
use super::hosted::{Edit, SimProcess};
use super::hub::Hub;
use super::promises::Promises;
use super::trace::{Trace, told};
use super::wire::{Endpoint, Peer, ToHub, ToPeer, Wire, WireId};
use crate::rng::Rng;

/// Windows, agents in each, and commands that people run.
const WINDOWS: usize = 2;
const DIALECTS: [&str; 8] = ["claude", HOOK, "nexus3", "linkspan", OWN_TOOL, "ppxai", "ppxai", "gemini"];
const COMMANDS: usize = 4;

pub(super) enum SimEvent {
    AtHub(WireId, ToHub),
    AtPeer(WireId, ToPeer),
    /// The edge of that life has found something out.
    Edge(u64, Event),
    ReadDisk(u64, Ticket, Vec<PathBuf>, PathBuf),
    WriteDisk(u64, ReviewId, Replacement),
    RestoreDisk(u64, Ticket, Restoration),
    Sync(u64),
    HubDies(u64),
    HubStarts,
    AgentWrites(usize, PathBuf, String),
    ProcessWrites(usize, u64, Edit),
    Turn(Peer),
    OtherProgram,
}

pub(super) struct Simulation {
    pub(super) chance: Rng,
    pub(super) now: u64,
    queue: BTreeMap<(u64, u64), SimEvent>,
    sequence: u64,
    pub(super) steps: u64,
    pub(super) trace: Trace,
    pub(super) hub: Hub,
    pub(super) wires: Vec<Wire>,
    pub(super) disk: BTreeMap<PathBuf, Vec<u8>>,
    pub(super) agents: Vec<Agent>,
    /// Of hosted agents, also those that have ended.
    pub(super) processes: Vec<SimProcess>,
    pub(super) chat_users: Vec<ChatUser>,
    pub(super) editors: Vec<Editor>,
    pub(super) commands: Vec<Command>,
    pub(super) promises: Promises,
    pub(super) counts: BTreeMap<&'static str, u64>,
    /// Nothing breaks from now on, and everyone finishes what was begun.
    pub(super) calm: bool,
    /// Everyone leaves and does not come back.
    pub(super) leaving: bool,
    words: u64,
}

impl Simulation {
    pub(super) fn new(seed: u64, telling: bool) -> Simulation {
        let mut world = Simulation {
            chance: Rng::new(seed),
            now: 0,
            queue: BTreeMap::new(),
            sequence: 0,
            steps: 0,
            trace: Trace { hash: 0xcbf2_9ce4_8422_2325, last: telling.then(VecDeque::new) },
            hub: Hub::new(),
            wires: Vec::new(),
            disk: BTreeMap::new(),
            agents: Vec::new(),
            processes: Vec::new(),
            chat_users: (0..WINDOWS).map(|_| ChatUser::default()).collect(),
            editors: (0..WINDOWS).map(Editor::new).collect(),
            commands: (0..COMMANDS).map(|_| Command::default()).collect(),
            promises: Promises::default(),
            counts: BTreeMap::new(),
            calm: false,
            leaving: false,
            words: 0,
        };
        // In some worlds, little else happens than what hosted agents do.
        let agents = if world.chance.in_hundred(40) { 1 } else { DIALECTS.len() };
        for window in 0..WINDOWS {
            for (name, ending, mark, last) in [
                ("lf", "\n", "", "\n"),
                ("crlf", "\r\n", "", "\r\n"),
                ("bom", "\n", "\u{feff}", "\n"),
                ("open", "\n", "", ""),
            ] {
                let lines: Vec<String> = (0..10).map(|_| world.word()).collect();
                let text = format!("{mark}{}{last}", lines.join(ending));
                world.disk.insert(format!("/ws{window}/{name}.txt").into(), text.into_bytes());
            }
            world.later(0, SimEvent::Turn(Peer::Editor(window)));
            world.later(400, SimEvent::Turn(Peer::ChatUser(window)));
            for dialect in DIALECTS.into_iter().take(agents) {
                let number = world.agents.len();
                world.agents.push(Agent::new(number, dialect, window));
                world.later(50, SimEvent::Turn(Peer::Agent(number)));
            }
        }
        for command in 0..COMMANDS {
            world.later(500, SimEvent::Turn(Peer::Command(command)));
        }
        world.later(1000, SimEvent::OtherProgram);
        world.hub_starts();
        world
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// A line that was not written before.
    pub(super) fn word(&mut self) -> String {
        self.words += 1;
        format!("line {}", self.words)
    }

    pub(super) fn later(&mut self, delay: u64, happening: SimEvent) {
        self.at(self.now + delay, happening);
    }

    pub(super) fn at(&mut self, when: u64, happening: SimEvent) {
        self.sequence += 1;
        self.queue.insert((when, self.sequence), happening);
    }

    /// Mostly quick, sometimes slow, and now and then longer than anyone waits.
    pub(super) fn delay(&mut self) -> u64 {
        let ms = |most: usize, chance: &mut Rng| chance.below(most) as u64;
        match self.chance.below(1000) {
            _ if self.calm => ms(5, &mut self.chance),
            0..900 => ms(8, &mut self.chance),
            900..980 => ms(1500, &mut self.chance),
            980..995 => ms(8_000, &mut self.chance),
            _ => ms(60_000, &mut self.chance),
        }
    }

    /// Whether a fault that comes so many times in a thousand comes now.
    pub(super) fn fault(&mut self, in_thousand: usize) -> bool {
        !self.calm && self.chance.below(1000) < in_thousand
    }

    /// One event, in the order of the clock. False: nothing will ever happen again.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        if !self.calm {
            match self.chance.below(3000) {
                0 | 1 => self.crash(),
                2 => {
                    self.count("clock jumps");
                    let asleep = 1000 * self.chance.below(7200) as u64;
                    self.now += asleep;
                    self.promises.calls.slept(asleep);
                }
                3..30 => self.cut_some(),
                30 => self.stop(),
                _ => {}
            }
        }
        let alarm = self.hub.alarm();
        let next = self.queue.first_key_value().map(|((when, _), _)| *when);
        match (alarm, next) {
            (Some(alarm), next) if next.is_none_or(|next| alarm <= next) => {
                self.now = self.now.max(alarm);
                self.trace.tell(self.now, || "a deadline of the hub".to_owned());
                self.count("deadlines");
                self.hub_event(Event::Tick);
            }
            (_, Some(_)) => {
                if let Some(((when, _), happening)) = self.queue.pop_first() {
                    self.now = self.now.max(when);
                    self.happens(happening);
                }
            }
            (_, None) => return false,
        }
        self.look_at_deadlines();
        true
    }

    fn happens(&mut self, happening: SimEvent) {
        match happening {
            SimEvent::AtHub(wire, what) => self.at_hub(wire, what),
            SimEvent::AtPeer(wire, what) => self.at_peer(wire, what),
            SimEvent::Edge(life, event) if life == self.hub.life => {
                self.trace.tell(self.now, || told(&event));
                self.hub_hears(event);
            }
            SimEvent::ReadDisk(life, ticket, folders, path) if life == self.hub.life => {
                self.read_disk(ticket, &folders, path);
            }
            SimEvent::WriteDisk(life, review, order) if life == self.hub.life => {
                self.write_disk(review, order)
            }
            SimEvent::RestoreDisk(life, ticket, order) if life == self.hub.life => {
                self.restore_disk(ticket, order);
            }
            SimEvent::Sync(life) if life == self.hub.life => self.sync_journal(),
            SimEvent::HubDies(life) if life == self.hub.life => self.crash(),
            SimEvent::HubStarts => self.hub_starts(),
            SimEvent::AgentWrites(agent, path, text) => self.agent_writes(agent, path, &text),
            SimEvent::Turn(Peer::Agent(number)) => self.agent_turn(number),
            SimEvent::Turn(Peer::Editor(number)) => self.editor_turn(number),
            SimEvent::Turn(Peer::Command(number)) => self.command_turn(number),
            SimEvent::Turn(Peer::Process(number)) => self.process_turn(number),
            SimEvent::Turn(Peer::ChatUser(number)) => self.chat_user_turn(number),
            SimEvent::ProcessWrites(number, id, edit) => self.process_writes(number, id, edit),
            SimEvent::OtherProgram => self.other_program(),
            // Of a life that is over.
            SimEvent::Edge(..)
            | SimEvent::ReadDisk(..)
            | SimEvent::WriteDisk(..)
            | SimEvent::RestoreDisk(..)
            | SimEvent::Sync(_)
            | SimEvent::HubDies(_) => {}
        }
    }

    pub(super) fn open(&mut self, peer: Peer, door: Endpoint) -> WireId {
        let wire = WireId(self.wires.len());
        let (life, now) = (self.hub.life, self.now);
        self.wires.push(Wire {
            peer,
            door,
            life,
            name: None,
            cut_at: None,
            over_for_hub: false,
            over_at: None,
            over_for_peer: false,
            unread: 0,
            to_hub_at: now,
            to_peer_at: now,
        });
        self.send_to_hub(wire, ToHub::Opened);
        wire
    }

    pub(super) fn wire(&mut self, wire: WireId) -> &mut Wire {
        &mut self.wires[wire.0]
    }

    pub(super) fn over_for_hub(&mut self, wire: WireId) {
        let now = self.now;
        let wire = self.wire(wire);
        wire.over_for_hub = true;
        wire.over_at.get_or_insert(now);
    }

    /// Nothing that was due is still to come.
    pub(super) fn is_caught_up(&self) -> bool {
        let next = self.queue.first_key_value().map(|((when, _), _)| *when);
        self.hub.alarm().is_none_or(|alarm| alarm > self.now) && next.is_none_or(|next| next >= self.now)
    }

    pub(super) fn send_to_hub(&mut self, id: WireId, what: ToHub) {
        let delay = self.delay();
        let when = self.now + delay;
        let wire = self.wire(id);
        if wire.over_for_peer {
            return;
        }
        wire.over_for_peer = matches!(what, ToHub::Closed);
        wire.to_hub_at = wire.to_hub_at.max(when);
        let when = wire.to_hub_at;
        self.at(when, SimEvent::AtHub(id, what));
    }

    pub(super) fn send_to_peer(&mut self, id: WireId, what: ToPeer) {
        let delay = self.delay();
        let when = self.now + delay;
        let wire = self.wire(id);
        wire.unread += usize::from(matches!(what, ToPeer::Frame(_)));
        wire.to_peer_at = wire.to_peer_at.max(when);
        let when = wire.to_peer_at;
        self.at(when, SimEvent::AtPeer(id, what));
    }

    fn at_peer(&mut self, id: WireId, what: ToPeer) {
        let wire = self.wire(id);
        let closed = matches!(what, ToPeer::Closed);
        if wire.over_for_peer || (wire.cut_at.is_some() && !closed) {
            return;
        }
        wire.over_for_peer = closed;
        wire.unread -= usize::from(matches!(what, ToPeer::Frame(_)));
        let peer = wire.peer;
        self.trace.tell(self.now, || match &what {
            ToPeer::Frame(frame) => format!("{peer:?} hears on {id:?}: {frame}"),
            other => format!("{peer:?} sees on {id:?}: {other:?}"),
        });
        match peer {
            Peer::Agent(number) => self.agent_hears(number, id, what),
            Peer::Editor(number) => self.editor_hears(number, id, what),
            Peer::Command(number) => self.command_hears(number, id, what),
            Peer::Process(number) => self.process_hears(number, what),
            Peer::ChatUser(number) => self.chat_user_hears(number, id, what),
        }
    }

    fn cut_some(&mut self) {
        let open: Vec<WireId> =
            (0..self.wires.len()).map(WireId).filter(|id| self.wires[id.0].can_be_cut()).collect();
        if open.is_empty() {
            return;
        }
        self.count("connections cut");
        let at = self.chance.below(open.len());
        self.cut(open[at]);
    }

    /// What is on the way is lost; each end notices at its own time, which may be too late to matter.
    pub(super) fn cut(&mut self, id: WireId) {
        let now = self.now;
        self.trace.tell(now, || format!("{id:?} is cut"));
        self.wire(id).cut_at = Some(now);
        let notices = |chance: &mut Rng| match chance.below(3) {
            0 => 0,
            1 => chance.below(5_000) as u64,
            _ => chance.below(300_000) as u64,
        };
        let (hub, peer) = (notices(&mut self.chance), notices(&mut self.chance));
        // Nothing is said over HTTP while a request waits: there, only what the system tells is known, at once.
        let hub = if self.asks_by_exchanges(self.wires[id.0].peer) { 0 } else { hub };
        self.later(hub, SimEvent::AtHub(id, ToHub::Closed));
        self.later(peer, SimEvent::AtPeer(id, ToPeer::Closed));
    }

    /// Faults end: who has not noticed that a connection is gone does so now.
    pub(super) fn calm_down(&mut self) {
        self.calm = true;
        // What the hub forgot that they wait for, they would wait for in vain.
        for agent in self.agents.iter_mut().filter(|agent| agent.listens()) {
            agent.asks.iter_mut().for_each(|ask| ask.times = 0);
        }
        for id in (0..self.wires.len()).map(WireId) {
            if self.wire(id).cut_at.is_some() {
                self.later(1, SimEvent::AtHub(id, ToHub::Closed));
                self.later(1, SimEvent::AtPeer(id, ToPeer::Closed));
            }
        }
    }

    /// Another program changes a file; an editor that has it open and nothing to lose reads it again, sooner or later.
    fn other_program(&mut self) {
        if self.calm {
            return;
        }
        let paths: Vec<PathBuf> = self.disk.keys().cloned().collect();
        let at = self.chance.below(paths.len());
        if let Some(path) = paths.into_iter().nth(at) {
            self.count("changes by other programs");
            let bytes = self.disk.get(&path).cloned().unwrap_or_default();
            let text = String::from_utf8(bytes).expect("all files are UTF-8");
            let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", &*text), |text| ("\u{feff}", text));
            let text = format!("{mark}{}", self.changed(text));
            self.trace.tell(self.now, || format!("another program writes {}", path.display()));
            self.puts(path, Some(text.into_bytes()));
        }
        let pause = 500 + self.chance.below(40_000) as u64;
        self.later(pause, SimEvent::OtherProgram);
    }
}
