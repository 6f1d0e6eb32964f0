//! Carries out what the core decided: one arm for each `Action`. Knows how each is done, never why.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use linkspan_review::AgentId;

use super::http::listen::WindowAddress;
use super::ws::agent::ToAgent;
use super::{Hub, LoopMessage, children, discovery, disk, engine, http};
use crate::config::WorkspaceConfig;
use crate::core::contract::{ChatPeer, ReviewRecord};
use crate::core::{Action, ConnectionId, Event, Listen, PreparedWindow, Ticket};

/// Bytes that may wait for a watcher: thousands of events. One that has not read them is disconnected, and
/// connects again.
const WATCHER_BYTES: usize = 4 * 1024 * 1024;

impl Hub {
    pub(super) fn carry_out(&mut self, actions: Vec<Action>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        let mut follows = Vec::new();
        for action in actions {
            match action {
                Action::SendAgent { agent, text } => self.to_agent(agent, ToAgent::Text(text)),
                Action::AnswerExchange { agent, exchange, answer } => {
                    self.to_agent(agent, ToAgent::Answer { exchange, answer });
                }
                Action::SendMessage { connection: local, body } => {
                    if let Some(to) = self.locals.get(&local) {
                        let size = body.len();
                        to.outbox.send(body, size);
                    }
                }
                Action::ThrottleConnection { connection: local } => {
                    if let Some(to) = self.locals.get(&local) {
                        to.rate_limited.store(true, Ordering::Relaxed);
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
                Action::CloseConnection { connection: local } => drop(self.locals.remove(&local)),
                Action::PrepareWindow { ticket, folders, listen } => {
                    self.prepare_window(ticket, folders, listen)
                }
                Action::ClosePort { window } => {
                    if let Some(port) = self.ports.remove(&window) {
                        tokio::spawn(port.close());
                    }
                }
                Action::ServePpxaiPort { listen } => {
                    let (open, edge) = (self.ppxai_port.serve(&self.edge, listen), self.edge.clone());
                    tokio::spawn(async move {
                        edge.send_event(Event::PpxaiPortServed { open }).await;
                    });
                }
                Action::FollowCodex { window, on } => self.codex.set(&self.edge, window, on),
                Action::AnswerIde { question, context } => self.codex.answer_question(question, context),
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
                Action::CheckDiscovery { ticket, paths } => {
                    self.blocking(move || Event::DiscoveryChecked {
                        ticket,
                        missing: paths.into_iter().filter(|path| !path.exists()).collect(),
                    });
                }
                Action::ReadFile { ticket, folders, path, want } => {
                    self.blocking(move || Event::FileRead {
                        ticket,
                        result: disk::look(&folders, &path, want),
                    });
                }
                Action::RunJob { ticket, job, cancel } => {
                    let job = self.terminals.job(job, cancel);
                    let edge = self.edge.clone();
                    // A thread of its own: commands and searches take long, and reads of files must not wait for them.
                    let thread = std::thread::Builder::new().name("linkspan-tool".to_owned());
                    let spawned = thread.spawn(move || {
                        let event = Event::JobDone { ticket, result: job() };
                        let _ = edge.inbox.blocking_send(LoopMessage::Event(event));
                    });
                    if let Err(error) = spawned {
                        tracing::error!("cannot start a thread for a job of an agent: {error}");
                    }
                }
                Action::CloseTerminal { terminal } => self.terminals.close(terminal),
                Action::WriteFile { review, replacement } => {
                    self.blocking(move || Event::FileWritten { review, result: disk::replace(&replacement) });
                }
                Action::Record { review, step, by, size, origin } => {
                    self.journal.record(ReviewRecord { review: *review, step, by, size, origin })
                }
                Action::RecordOnDisk { review } => self.journal.record_on_disk(review),
                Action::RememberWindow { window } => self.journal.remember_window(window),
                Action::Publish { to, body } => {
                    let behind = self.publish(to, &body).into_iter();
                    follows.extend(behind.map(|local| Event::ConnectionClosed { connection: local }));
                }
                Action::ReadHistory { ticket, query } => self.journal.ask(ticket, query),
                Action::BeginUndo { ticket, change } => self.journal.begin_undo(ticket, change),
                Action::RestoreFile { ticket, restoration } => {
                    self.blocking(move || Event::FileRestored {
                        ticket,
                        result: disk::restore(&restoration),
                    });
                }
                Action::SweepTemporary { review, folders, path } => {
                    tokio::task::spawn_blocking(move || disk::remove_leftovers(&folders, &path, review));
                }
                Action::EndUndo { undo, done, mode } => self.journal.end_undo(undo, done, mode),
                Action::LinkPage { connection: local, request } => {
                    let (page, edge) = (Arc::clone(&self.page), self.edge.clone());
                    tokio::spawn(async move {
                        let result = page.link(&edge).await;
                        edge.send_event(Event::PageLinked { connection: local, request, result }).await;
                    });
                }
                Action::RevokePage { connection: local, request } => {
                    let (result, edge) = (self.page.revoke(), self.edge.clone());
                    tokio::spawn(async move {
                        edge.send_event(Event::PageRevoked { connection: local, request, result }).await;
                    });
                }
                Action::ReloadClients => {
                    follows.push(Event::ClientsReloaded { found: self.clients.reload_if_changed() });
                }
                Action::ChangeClients { ticket, change } => {
                    let result = self.clients.change(&change);
                    follows.push(Event::ClientsChanged { ticket, result });
                }
                Action::FindAgents { ticket } => {
                    let file = self.edge.places.agents_file();
                    self.blocking(move || Event::AgentsFound {
                        ticket,
                        result: children::table::read(&file),
                    });
                }
                Action::StartChild { agent, peer } => {
                    let outbox = match peer {
                        ChatPeer::Process(command) => children::start(&self.edge, agent, command),
                        ChatPeer::Engine(engine) => engine::start(&self.edge, agent, engine),
                    };
                    self.agents.insert(agent, outbox);
                }
                Action::RecordChat { record } => self.journal.record_chat(record),
                Action::ForgetChat { chat } => self.journal.forget_chat(chat),
                Action::ReadChat { ticket, chat, places, most_bytes } => {
                    self.journal.read_chat(ticket, chat, places, most_bytes)
                }
                Action::Stop => flow = ControlFlow::Break(()),
            }
        }
        for event in follows {
            if self.handle_event(event).is_break() {
                flow = ControlFlow::Break(());
            }
        }
        flow
    }

    /// Sends a notification to watchers; returns those that were disconnected because they do not read.
    fn publish(&self, to: Vec<ConnectionId>, body: &[u8]) -> Vec<ConnectionId> {
        let mut behind = Vec::new();
        for local in to {
            match self.locals.get(&local) {
                Some(to) if to.outbox.unread_notifications() > WATCHER_BYTES => {
                    tracing::warn!("disconnecting a watcher that does not read its notifications");
                    to.outbox.cut_off();
                    behind.push(local);
                }
                Some(to) => to.outbox.send_notification(body.to_vec(), body.len()),
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

    /// Runs `work` on a blocking thread, never on the loop's own: files may be on a disk that hangs.
    fn blocking(&self, work: impl FnOnce() -> Event + Send + 'static) {
        let edge = self.edge.clone();
        tokio::spawn(async move {
            if let Ok(event) = tokio::task::spawn_blocking(work).await {
                edge.send_event(event).await;
            }
        });
    }

    fn prepare_window(&self, ticket: Ticket, folders: Vec<PathBuf>, listen: Option<Listen>) {
        let edge = self.edge.clone();
        tokio::spawn(async move {
            let read = tokio::task::spawn_blocking(move || read_folders(&folders)).await;
            let result = match read {
                Ok(Ok((folders, workspace))) => match listen {
                    None => Ok(PreparedWindow { folders, workspace, endpoint: None, socket: None }),
                    Some(listen) => http::listen::open(&edge, listen)
                        .await
                        .map(|WindowAddress { port, token, socket }| PreparedWindow {
                            folders,
                            workspace,
                            endpoint: Some((port, token)),
                            socket,
                        })
                        .map_err(|error| format!("cannot open a port on 127.0.0.1: {error}")),
                },
                Ok(Err(error)) => Err(error),
                Err(_) => Err("reading the folders failed".to_owned()),
            };
            edge.send_event(Event::WindowPrepared { ticket, result }).await;
        });
    }
}

/// A folder that does not exist (yet) is skipped. A broken workspace file is an error that keeps the window out,
/// because the file may have been meant to forbid something.
fn read_folders(folders: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<WorkspaceConfig>), String> {
    let real: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let workspace = real.iter().map(|folder| WorkspaceConfig::load(folder)).collect::<Result<_, _>>();
    Ok((real, workspace.map_err(|error| error.to_string())?))
}
