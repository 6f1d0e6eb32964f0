//! The hub's dealings with the world. Turns sockets, files and time into events for `core`, and its actions
//! into I/O. Decides nothing.

pub(crate) mod agent;
mod calls;
mod clients;
mod discovery;
mod doorstep;
pub(crate) mod entry;
mod left;
mod listen;
pub(crate) mod local;
mod locks;
pub(crate) mod metered;
pub(crate) mod outbox;
pub(crate) mod pace;
mod refusals;
pub(crate) mod room;
mod sent;
mod session;
pub(crate) mod session_id;
mod startup;
mod stream;
mod tools;
mod watched;
mod well_known;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use linkspan_editor_api::Places;
use linkspan_review::{AgentId, WindowId};
use tokio::net::UnixListener;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::config::{Config, Limits, WorkspaceConfig};
use crate::core::{Action, Core, Event, Listen, LocalId, Prepared, Ticket};
use crate::files;
use crate::guard::Refusal;
use crate::journal::{Entry, Journal, Keeping, Recorded};
use crate::page::Page;
use crate::page::kept::Kept;
pub(crate) use discovery::private_file;
pub use startup::{RunError, run};

use agent::ToAgent;
use clients::ClientsFile;
use doorstep::Doorstep;
use listen::Port;
use local::ToLocal;
use outbox::Outbox;
use refusals::Refusals;
use room::Room;
use tools::Terminals;
use well_known::WellKnown;

/// Events wait here for the core; a full queue makes the senders wait, which is what slows a flood down.
const QUEUE: usize = 1024;

/// What may wait for a watcher: thousands of events. One that has not read them is let go, and asks again.
const WATCHER_BYTES: usize = 4 * 1024 * 1024;

/// How long those who are connected get to take their last messages.
const FAREWELL: Duration = Duration::from_millis(500);

/// What every connection's task needs.
#[derive(Clone)]
pub(crate) struct Edge {
    inbox: mpsc::Sender<Happening>,
    pub(crate) limits: Arc<Limits>,
    /// For messages of agents that are on their way.
    room: Arc<Room>,
    refusals: Arc<Mutex<Refusals>>,
    /// Held by each task; when the last is gone, everything has been sent.
    _alive: mpsc::Sender<()>,
}

impl Edge {
    /// False when the hub is leaving.
    pub(crate) async fn tell(&self, event: Event) -> bool {
        // Nearly always there is room, and then waiting for it costs more than the rest.
        match self.inbox.try_send(Happening::Event(event)) {
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

    /// Waits until the core has handled what it was told before.
    pub(crate) async fn caught_up(&self) {
        let (reached, wait) = oneshot::channel();
        if self.inbox.send(Happening::CaughtUp(reached)).await.is_ok() {
            // A hub that leaves says nothing, and there is nothing to wait for.
            let _ = wait.await;
        }
    }
}

/// What the loop waits for: one queue, so that a connection is known before its first message.
pub(crate) enum Happening {
    Event(Event),
    NewAgent(AgentId, Outbox<ToAgent>),
    NewLocal(LocalId, ToLocal),
    NewPort(WindowId, Port),
    CaughtUp(oneshot::Sender<()>),
}

struct Hub {
    core: Core,
    journal: Journal,
    edge: Edge,
    started: Instant,
    agents: HashMap<AgentId, Outbox<ToAgent>>,
    locals: HashMap<LocalId, ToLocal>,
    ports: HashMap<WindowId, Port>,
    well_known: WellKnown,
    terminals: Terminals,
    page: Arc<Page>,
    clients: ClientsFile,
}

impl Hub {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn happened(&mut self, happening: Happening) -> Leave {
        match happening {
            Happening::Event(event) => return self.event(event),
            Happening::NewAgent(id, outbox) => drop(self.agents.insert(id, outbox)),
            Happening::NewLocal(id, to) => drop(self.locals.insert(id, to)),
            Happening::NewPort(window, port) => drop(self.ports.insert(window, port)),
            Happening::CaughtUp(waiting) => drop(waiting.send(())),
        }
        Leave::No
    }

    fn event(&mut self, event: Event) -> Leave {
        match &event {
            Event::AgentClosed { agent, .. } => drop(self.agents.remove(agent)),
            Event::LocalClosed { local } => drop(self.locals.remove(local)),
            _ => {}
        }
        let now_ms = self.now_ms();
        let mut actions = self.core.handle(now_ms, event);
        // Deadlines hold under load too: the alarm rings only when the queue is empty.
        if self.core.next_deadline().is_some_and(|due| due <= now_ms) {
            actions.extend(self.core.handle(now_ms, Event::Tick));
        }
        self.carry_out(actions)
    }

    fn carry_out(&mut self, actions: Vec<Action>) -> Leave {
        let mut leave = Leave::No;
        let mut follows = Vec::new();
        for action in actions {
            match action {
                Action::SendAgent { agent, text } => self.to_agent(agent, ToAgent::Text(text)),
                Action::AnswerExchange { agent, exchange, answer } => {
                    self.to_agent(agent, ToAgent::Answer { exchange, answer });
                }
                Action::SendLocal { local, body } => {
                    if let Some(to) = self.locals.get(&local) {
                        let size = body.len();
                        to.outbox.send(body, size);
                    }
                }
                Action::PaceLocal { local } => {
                    if let Some(to) = self.locals.get(&local) {
                        to.paced.store(true, Ordering::Relaxed);
                    }
                }
                Action::PingAgent { agent, number } => self.to_agent(agent, ToAgent::Ping { number }),
                Action::NameOutcome { agent, review } => self.to_agent(agent, ToAgent::Outcome { review }),
                Action::ConfirmAgent { agent, number } => {
                    self.to_agent(agent, ToAgent::Confirmed { number });
                }
                Action::CloseAgent { agent, code, reason } => {
                    self.to_agent(agent, ToAgent::Close { code, reason });
                    self.agents.remove(&agent);
                }
                Action::CloseLocal { local } => drop(self.locals.remove(&local)),
                Action::PrepareWindow { ticket, folders, listen } => {
                    self.prepare_window(ticket, folders, listen)
                }
                Action::ClosePort { window } => {
                    if let Some(port) = self.ports.remove(&window) {
                        tokio::spawn(port.close());
                    }
                }
                Action::ServeWellKnown { listen } => {
                    let (open, edge) = (self.well_known.serve(&self.edge, listen), self.edge.clone());
                    tokio::spawn(async move {
                        edge.tell(Event::WellKnownServed { open }).await;
                    });
                }
                Action::WriteDiscovery { file } => {
                    let written = discovery::write(&file);
                    let result = written.as_ref().map_err(ToString::to_string).copied();
                    follows.push(Event::DiscoveryWritten { path: file.path(), result });
                    if let Err(error) = written {
                        tracing::error!(
                            "agents will not find this window: {}: {error}",
                            file.path().display()
                        );
                    }
                }
                Action::RemoveDiscovery { path, token } => discovery::remove(&path, &token),
                Action::LookForDiscovery { ticket, paths } => {
                    self.blocking(move || Event::DiscoveryLookedFor {
                        ticket,
                        missing: paths.into_iter().filter(|path| !path.exists()).collect(),
                    });
                }
                Action::ReadFile { ticket, folders, path, want } => {
                    self.blocking(move || Event::FileRead {
                        ticket,
                        result: files::look(&folders, &path, want),
                    });
                }
                Action::RunTool { ticket, tool, cancel } => {
                    let job = self.terminals.job(tool, cancel);
                    let edge = self.edge.clone();
                    // A thread of its own: commands and searches take long, and reading files must not wait for them.
                    let thread = std::thread::Builder::new().name("linkspan-tool".to_owned());
                    let spawned = thread.spawn(move || {
                        let event = Event::ToolRan { ticket, result: job() };
                        let _ = edge.inbox.blocking_send(Happening::Event(event));
                    });
                    if let Err(error) = spawned {
                        tracing::error!("no thread for a tool: {error}");
                    }
                }
                Action::CloseTerminal { terminal } => self.terminals.close(terminal),
                Action::WriteFile { review, replacement } => {
                    self.blocking(move || Event::FileWritten {
                        review,
                        result: files::replace(&replacement),
                    });
                }
                Action::Record { review, step, by, size } => {
                    self.journal.record(Entry { review: *review, step, by, size })
                }
                Action::RecordOnDisk { review } => self.journal.record_on_disk(review),
                Action::RememberWindow { window } => self.journal.remember_window(window),
                Action::Publish { to, body } => {
                    let behind = self.publish(to, &body).into_iter();
                    follows.extend(behind.map(|local| Event::LocalClosed { local }));
                }
                Action::ReadHistory { ticket, question } => self.journal.ask(ticket, question),
                Action::BeginUndo { ticket, change } => self.journal.begin_undo(ticket, change),
                Action::RestoreFile { ticket, restoration } => {
                    self.blocking(move || Event::FileRestored {
                        ticket,
                        result: files::restore(&restoration),
                    });
                }
                Action::SweepBeside { review, folders, path } => {
                    tokio::task::spawn_blocking(move || files::sweep(&folders, &path, review));
                }
                Action::EndUndo { undo, done, mode } => self.journal.end_undo(undo, done, mode),
                Action::LinkPage { local, request } => {
                    let (page, edge) = (Arc::clone(&self.page), self.edge.clone());
                    tokio::spawn(async move {
                        let result = page.link(&edge).await;
                        edge.tell(Event::PageLinked { local, request, result }).await;
                    });
                }
                Action::RevokePage { local, request } => {
                    let (result, edge) = (self.page.revoke(), self.edge.clone());
                    tokio::spawn(async move {
                        edge.tell(Event::PageRevoked { local, request, result }).await;
                    });
                }
                Action::LookAtClients => {
                    follows.push(Event::ClientsLookedAt { found: self.clients.look() });
                }
                Action::ChangeClients { ticket, change } => {
                    let result = self.clients.change(&change);
                    follows.push(Event::ClientsChanged { ticket, result });
                }
                Action::Stop => leave = Leave::Yes,
            }
        }
        for event in follows {
            if self.event(event) == Leave::Yes {
                leave = Leave::Yes;
            }
        }
        leave
    }

    /// Gives those who do not read.
    fn publish(&self, to: Vec<LocalId>, body: &[u8]) -> Vec<LocalId> {
        let mut behind = Vec::new();
        for local in to {
            match self.locals.get(&local) {
                Some(to) if to.outbox.unread_news() > WATCHER_BYTES => {
                    tracing::warn!("a watcher does not read what it asked for, and is let go");
                    to.outbox.cut_off();
                    behind.push(local);
                }
                Some(to) => to.outbox.send_news(body.to_vec(), body.len()),
                None => {}
            }
        }
        behind
    }

    fn to_agent(&self, agent: AgentId, message: ToAgent) {
        if let Some(outbox) = self.agents.get(&agent) {
            let size = message.size();
            outbox.send(message, size);
        }
    }

    /// Files may be on a disk that hangs: never on the loop's own thread.
    fn blocking(&self, work: impl FnOnce() -> Event + Send + 'static) {
        let edge = self.edge.clone();
        tokio::spawn(async move {
            if let Ok(event) = tokio::task::spawn_blocking(work).await {
                edge.tell(event).await;
            }
        });
    }

    fn prepare_window(&self, ticket: Ticket, folders: Vec<PathBuf>, listen: Option<Listen>) {
        let edge = self.edge.clone();
        tokio::spawn(async move {
            let looked = tokio::task::spawn_blocking(move || look_at_folders(&folders)).await;
            let result = match looked {
                Ok(Ok((folders, workspace))) => match listen {
                    None => Ok(Prepared { folders, workspace, door: None }),
                    Some(listen) => listen::open(&edge, listen)
                        .await
                        .map(|door| Prepared { folders, workspace, door: Some(door) })
                        .map_err(|error| format!("no port on 127.0.0.1 can be opened: {error}")),
                },
                Ok(Err(error)) => Err(error),
                Err(_) => Err("the folders could not be looked at".to_owned()),
            };
            edge.tell(Event::WindowPrepared { ticket, result }).await;
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leave {
    No,
    Yes,
}

/// A folder that is not there (yet) belongs to nobody; a broken workspace file keeps the window out, because
/// it may have been meant to forbid something.
fn look_at_folders(folders: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<WorkspaceConfig>), String> {
    let real: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let workspace = real.iter().map(|folder| WorkspaceConfig::load(folder)).collect::<Result<_, _>>();
    Ok((real, workspace.map_err(|error| error.to_string())?))
}

/// The one loop.
async fn live(
    places: Places,
    config: Config,
    doorstep: Arc<Mutex<Doorstep>>,
    listener: UnixListener,
) -> Result<(), RunError> {
    let (inbox, mut happenings) = mpsc::channel(QUEUE);
    let (alive, mut all_gone) = mpsc::channel(1);
    let limits = Arc::new(config.limits.clone());
    let room = Room::new(limits.message_mib * 1024 * 1024);
    let edge = Edge { inbox, limits, room, refusals: Arc::default(), _alive: alive };

    let keeping =
        Keeping { days: config.journal_days, mib: config.journal_mib, runtime: Some(places.runtime.clone()) };
    // Holds the edge, so that leaving waits for what is being recorded.
    let recorded = edge.clone();
    let (journal, remembered) = Journal::open(&places.journal(), &keeping, move |done| {
        let event = match done {
            Recorded::Review { review, step, result } => Event::Recorded { review, step, result },
            Recorded::Window { window, result } => Event::WindowRemembered { window, result },
            Recorded::History { ticket, result } => Event::HistoryRead { ticket, result },
            Recorded::UndoBegun { ticket, result } => Event::UndoBegun { ticket, result },
        };
        // All of it: a closure that names one field captures only that one, and the rest would stay here.
        let edge = &recorded;
        let _ = edge.inbox.blocking_send(Happening::Event(event));
    })?;
    let page_port = config.page.port;
    let identity = {
        let doorstep = doorstep.lock().unwrap_or_else(PoisonError::into_inner);
        startup::identity(&places, doorstep.socket())
    };
    let kept = Kept::new(&places.runtime, identity.port_space.clone());
    let (core, actions) = Core::new(identity, config, Box::new(|name| std::env::var_os(name)), remembered);
    let mut hub = Hub {
        core,
        journal,
        edge: edge.clone(),
        started: Instant::now(),
        agents: HashMap::new(),
        locals: HashMap::new(),
        ports: HashMap::new(),
        well_known: WellKnown::default(),
        terminals: Terminals::default(),
        page: Page::new(kept, page_port, &edge).await,
        clients: ClientsFile::new(places.clients_file()),
    };
    hub.carry_out(actions);
    let door = tokio::spawn(local::accept(listener, doorstep, edge.clone()));
    let signals = tokio::spawn(startup::Signals::new()?.watch(edge.clone()));
    let alarm = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(alarm);
    let mut armed: Option<u64> = None;
    loop {
        // Never set later: most deadlines are taken back before they come, and each setting wakes the
        // runtime up. Ringing once with nothing due costs less than that for every call.
        if let Some(when) = hub.core.next_deadline().filter(|when| armed.is_none_or(|armed| *when < armed)) {
            alarm.as_mut().reset((hub.started + Duration::from_millis(when)).into());
            armed = Some(when);
        }
        let leave = tokio::select! {
            biased;
            Some(happening) = happenings.recv() => hub.happened(happening),
            () = &mut alarm, if armed.is_some() => { armed = None; hub.event(Event::Tick) }
        };
        if leave == Leave::Yes {
            break;
        }
    }
    // Dropping the outboxes lets every task send what it has and end. Whoever comes now shall not find a hub that
    // answers no more, but none.
    door.abort();
    signals.abort();
    hub.well_known.stop();
    hub.page.leave();
    let ports = std::mem::take(&mut hub.ports).into_values().map(Port::close);
    // With all that nobody handles any more, and that somebody may wait for.
    drop((hub, edge, happenings));
    futures_util::future::join_all(ports).await;
    let _ = tokio::time::timeout(FAREWELL, all_gone.recv()).await;
    Ok(())
}
