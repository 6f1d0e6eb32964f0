//! All I/O of the hub: turns sockets, files and time into events for `core`, and its actions into I/O. Decides nothing.
//!
//! Core and edge meet in one loop on one thread (`run_loop`). No slow disk and no slow user can stop it: files of a
//! workspace are touched on blocking threads, jobs for agents get a thread each (`jobs`), and the journal has its own.
//! The loop itself writes only discovery files (a few hundred bytes under HOME), `page.json` (a few kilobytes in the
//! runtime directory) and `clients.toml`, and reads the last: a caller who is told that access was revoked must be able
//! to rely on it.
//!
//! | module | owns |
//! |---|---|
//! | `carry_out` | each `Action` of the core, as I/O |
//! | `startup` | becoming the one hub: locks, the socket file, signals |
//! | `hub_socket` | the hub's own Unix socket |
//! | `http`, `ws` | the agents' TCP ports and Unix sockets: HTTP, event streams, WebSockets |
//! | `page` | the browser page |
//! | `children` | the agents that the hub starts, and `agents.toml` |
//! | `codex` | the user's Codex daemon, to which the hub connects |
//! | `ppxai_port` | the fixed port that ppxai's clients try |
//! | `outbox` | messages that wait to be sent on one connection |
//! | `discovery`, `clients_file` | discovery files; `clients.toml` |
//! | `disk`, `journal`, `jobs` | workspace files; the durable record; work that the hub does for agents |
//! | `peer` | the process at the other end of a loopback connection |

mod carry_out;
mod children;
mod clients_file;
mod codex;
mod discovery;
pub mod disk;
mod engine;
pub(crate) mod http;
pub(crate) mod hub_socket;
pub mod jobs;
pub mod journal;
pub(crate) mod outbox;
pub mod page;
pub mod peer;
mod ppxai_port;
mod startup;
pub(crate) mod ws;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use linkspan_dialect::IdeContext;
use linkspan_editor_api::Places;
use linkspan_review::{AgentId, WindowId};
use tokio::net::UnixListener;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::config::{Config, Limits};
use crate::core::contract::Refusal;
use crate::core::{ConnectionId, Core, Event};
use crate::edge::journal::{Journal, JournalReply, Retention};
use crate::edge::page::Page;
use crate::edge::page::persisted::PageFile;
pub use startup::{RunError, run};

use clients_file::ClientsFile;
use codex::CodexFollowers;
use http::listen::OpenPort;
use http::refusal_log::RefusalLog;
use hub_socket::ConnectionHandle;
use jobs::terminals::Terminals;
use outbox::Outbox;
use ppxai_port::PpxaiPort;
use startup::socket_file::SocketFile;
use ws::agent::ToAgent;
use ws::inflight_budget::InflightBudget;

/// Capacity of the loop's queue. A full queue makes the senders wait, which is what slows a flood down.
const QUEUE: usize = 1024;

/// How long connected peers get to receive their last messages.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);

/// What every connection's task needs.
#[derive(Clone)]
pub(crate) struct Edge {
    inbox: mpsc::Sender<LoopMessage>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) places: Arc<Places>,
    socket_file: Arc<Mutex<SocketFile>>,
    /// For messages of agents that have not arrived completely.
    budget: Arc<InflightBudget>,
    refusals: Arc<Mutex<RefusalLog>>,
    /// Held by each task; when the last one is dropped, everything has been sent.
    _alive: mpsc::Sender<()>,
}

impl Edge {
    /// False when the hub is shutting down.
    pub(crate) async fn send_event(&self, event: Event) -> bool {
        // Nearly always there is room, and then `try_send` costs less than awaiting.
        match self.inbox.try_send(LoopMessage::Event(event)) {
            Ok(()) => true,
            Err(TrySendError::Full(waiting)) => self.inbox.send(waiting).await.is_ok(),
            Err(TrySendError::Closed(_)) => false,
        }
    }

    fn log_refusal(&self, refusal: Refusal) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = refusals.line(refusal, Instant::now()) {
            tracing::warn!("{line}");
        }
    }

    /// Whether the runtime directory is still this hub's.
    pub(crate) fn has_runtime_dir(&self) -> bool {
        self.socket_file.lock().unwrap_or_else(PoisonError::into_inner).is_ours()
    }

    /// Waits until the core has handled everything that was sent before.
    pub(crate) async fn wait_until_handled(&self) {
        let (reached, wait) = oneshot::channel();
        if self.inbox.send(LoopMessage::WhenHandled(reached)).await.is_ok() {
            // A hub that shuts down does not answer, and there is nothing to wait for.
            let _ = wait.await;
        }
    }
}

/// Input of the loop. One queue for all of it, so that a connection is known before its first message.
pub(crate) enum LoopMessage {
    Event(Event),
    NewAgent(AgentId, Outbox<ToAgent>),
    NewLocal(ConnectionId, ConnectionHandle),
    NewPort(WindowId, OpenPort),
    /// Answered by `Action::AnswerIde`.
    NewIdeQuestion(u64, oneshot::Sender<Option<IdeContext>>),
    WhenHandled(oneshot::Sender<()>),
}

struct Hub {
    core: Core,
    journal: Journal,
    edge: Edge,
    started: Instant,
    agents: HashMap<AgentId, Outbox<ToAgent>>,
    locals: HashMap<ConnectionId, ConnectionHandle>,
    ports: HashMap<WindowId, OpenPort>,
    ppxai_port: PpxaiPort,
    codex: CodexFollowers,
    terminals: Terminals,
    page: Arc<Page>,
    clients: ClientsFile,
}

impl Hub {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn handle_message(&mut self, message: LoopMessage) -> ControlFlow<()> {
        match message {
            LoopMessage::Event(event) => return self.handle_event(event),
            LoopMessage::NewAgent(id, outbox) => drop(self.agents.insert(id, outbox)),
            LoopMessage::NewLocal(id, to) => drop(self.locals.insert(id, to)),
            LoopMessage::NewPort(window, port) => drop(self.ports.insert(window, port)),
            LoopMessage::NewIdeQuestion(question, waiting) => self.codex.add_question(question, waiting),
            LoopMessage::WhenHandled(waiting) => drop(waiting.send(())),
        }
        ControlFlow::Continue(())
    }

    fn handle_event(&mut self, event: Event) -> ControlFlow<()> {
        match &event {
            Event::AgentClosed { agent, .. } | Event::ChildEnded { agent, .. } => {
                drop(self.agents.remove(agent))
            }
            Event::ConnectionClosed { connection: local } => drop(self.locals.remove(local)),
            _ => {}
        }
        let now_ms = self.now_ms();
        let mut actions = self.core.handle(now_ms, event);
        // Deadlines hold under load too: the timer of the loop fires only when the queue is empty.
        if self.core.next_deadline().is_some_and(|due| due <= now_ms) {
            actions.extend(self.core.handle(now_ms, Event::Tick));
        }
        self.carry_out(actions)
    }
}

/// The one loop: runs until the core stops the hub, then lets every connection send what is queued.
async fn run_loop(
    places: Places,
    config: Config,
    socket_file: Arc<Mutex<SocketFile>>,
    listener: UnixListener,
) -> Result<(), RunError> {
    let (inbox, mut messages) = mpsc::channel(QUEUE);
    let (alive, mut all_gone) = mpsc::channel(1);
    let limits = Arc::new(config.limits.clone());
    let budget = InflightBudget::new(limits.message_mib * 1024 * 1024);
    let edge = Edge {
        inbox,
        limits,
        places: Arc::new(places.clone()),
        socket_file: Arc::clone(&socket_file),
        budget,
        refusals: Arc::default(),
        _alive: alive,
    };

    let retention = Retention {
        days: config.journal_days,
        mib: config.journal_mib,
        runtime: Some(places.runtime.clone()),
    };
    // Holds the edge, so that shutting down waits for what is being recorded.
    let recorded = edge.clone();
    let (journal, remembered) = Journal::open(&places.journal(), &retention, move |reply| {
        let event = match reply {
            JournalReply::Review { review, step, result } => Event::Recorded { review, step, result },
            JournalReply::Window { window, result } => Event::WindowRemembered { window, result },
            JournalReply::History { ticket, result } => Event::HistoryRead { ticket, result },
            JournalReply::Chat { ticket, result } => Event::ChatRead { ticket, result },
            JournalReply::ChatsRemoved(chats) => Event::ChatsRemoved { chats },
            JournalReply::UndoBegun { ticket, result } => Event::UndoBegun { ticket, result },
        };
        // The whole edge: a closure that names one field captures only that field, and the rest would stay here.
        let edge = &recorded;
        let _ = edge.inbox.blocking_send(LoopMessage::Event(event));
    })?;
    let page_port = config.page.port;
    let identity = {
        let socket_file = socket_file.lock().unwrap_or_else(PoisonError::into_inner);
        startup::identity(&places, socket_file.socket())
    };
    let page_file = PageFile::new(&places.runtime, identity.port_space.clone());
    let (core, actions) = Core::new(identity, config, Box::new(|name| std::env::var_os(name)), remembered);
    let mut hub = Hub {
        core,
        journal,
        edge: edge.clone(),
        started: Instant::now(),
        agents: HashMap::new(),
        locals: HashMap::new(),
        ports: HashMap::new(),
        ppxai_port: PpxaiPort::default(),
        codex: CodexFollowers::default(),
        terminals: Terminals::default(),
        page: Page::new(page_file, page_port, &edge).await,
        clients: ClientsFile::new(places.clients_file()),
    };
    let _ = hub.carry_out(actions);
    let accepting = tokio::spawn(hub_socket::accept(listener, socket_file, edge.clone()));
    let signals = tokio::spawn(startup::Signals::new()?.watch(edge.clone()));
    let timer = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(timer);
    let mut armed: Option<u64> = None;
    loop {
        // Only ever moved earlier: most deadlines are cancelled before they are due, and each reset wakes the
        // runtime. Firing once with nothing due costs less than a reset for every call.
        if let Some(when) = hub.core.next_deadline().filter(|when| armed.is_none_or(|armed| *when < armed)) {
            timer.as_mut().reset((hub.started + Duration::from_millis(when)).into());
            armed = Some(when);
        }
        let flow = tokio::select! {
            biased;
            Some(message) = messages.recv() => hub.handle_message(message),
            () = &mut timer, if armed.is_some() => { armed = None; hub.handle_event(Event::Tick) }
        };
        if flow.is_break() {
            break;
        }
    }
    // Dropping the outboxes lets every task send what it has and end. A client that connects now must find no hub,
    // not one that does not answer.
    accepting.abort();
    signals.abort();
    hub.ppxai_port.stop();
    hub.page.shut_down();
    let ports = std::mem::take(&mut hub.ports).into_values().map(OpenPort::close);
    // With the messages that will not be handled: their senders may be waiting for a reply.
    drop((hub, edge, messages));
    futures_util::future::join_all(ports).await;
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, all_gone.recv()).await;
    Ok(())
}
