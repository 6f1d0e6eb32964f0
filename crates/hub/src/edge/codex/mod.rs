//! The user's Codex daemon: for each window that wants it, a task that connects as soon as there is one, and again when
//! it was lost; and the socket on which Codex asks where the user is. What is said there is decided in the core.

mod daemon_socket;
mod ide_socket;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use linkspan_dialect::{CODEX, IdeContext};
use linkspan_review::WindowId;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tokio_websockets::{ClientBuilder, Limits};

use crate::core::Event;
use crate::edge::http::listen::next_agent;
use crate::edge::ws::agent;
use crate::edge::{Edge, LoopMessage, outbox};

/// How often the socket is looked for: at first, and when there was none for long.
const FIRST_LOOK: Duration = Duration::from_secs(2);
const LAST_LOOK: Duration = Duration::from_secs(30);

/// How long the daemon may take to accept a connection.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// A connection that lasted this long was a good one: the next loss is looked at quickly again.
const LASTED: Duration = Duration::from_secs(30);

/// The windows that are connected to the daemon, or wait for one. A task ends when its sender is dropped.
#[derive(Debug, Default)]
pub(crate) struct CodexFollowers {
    windows: HashMap<WindowId, watch::Sender<()>>,
    /// The socket for `/ide`, as long as there is a window.
    ide: Option<watch::Sender<()>>,
    questions: HashMap<u64, oneshot::Sender<Option<IdeContext>>>,
}

impl CodexFollowers {
    pub(crate) fn set(&mut self, edge: &Edge, window: WindowId, on: bool) {
        self.windows.remove(&window);
        if on {
            let (sender, stop) = watch::channel(());
            self.windows.insert(window, sender);
            tokio::spawn(follow(edge.clone(), window, stop));
        }
        match self.windows.is_empty() {
            true => self.ide = None,
            false if self.ide.is_none() => {
                let (sender, stop) = watch::channel(());
                self.ide = Some(sender);
                tokio::spawn(ide_socket::serve(edge.clone(), stop));
            }
            false => {}
        }
    }

    pub(crate) fn add_question(&mut self, question: u64, waiting: oneshot::Sender<Option<IdeContext>>) {
        self.questions.insert(question, waiting);
    }

    pub(crate) fn answer_question(&mut self, question: u64, context: Option<Box<IdeContext>>) {
        if let Some(waiting) = self.questions.remove(&question) {
            // Codex may have given up.
            let _ = waiting.send(context.map(|context| *context));
        }
    }
}

async fn follow(edge: Edge, window: WindowId, mut stop: watch::Receiver<()>) {
    let mut wait = FIRST_LOOK;
    loop {
        let begun = Instant::now();
        if connect(&edge, window, &mut stop).await && begun.elapsed() > LASTED {
            wait = FIRST_LOOK;
        }
        tokio::select! {
            _ = stop.changed() => return,
            () = tokio::time::sleep(wait) => wait = (wait * 2).min(LAST_LOOK),
        }
    }
}

/// Talks to the daemon until the connection ends. False if there was none.
async fn connect(edge: &Edge, window: WindowId, stop: &mut watch::Receiver<()>) -> bool {
    let Some(path) = daemon_socket::path() else { return false };
    let connecting = async {
        let stream = daemon_socket::connect(&path).await?;
        let limits = Limits::default().max_payload_len(Some(edge.limits.message_mib * 1024 * 1024));
        let client = ClientBuilder::new().uri("ws://localhost/").ok()?.limits(limits);
        // Codex says nothing before it is greeted, so no byte is left in the buffer that is dropped here.
        Some(client.connect_on(stream).await.ok()?.0.into_inner())
    };
    let Ok(Some(stream)) = timeout(CONNECT_DEADLINE, connecting).await else { return false };
    let agent = next_agent();
    let (outbox, inbox) = outbox::new(2 * edge.limits.message_mib * 1024 * 1024);
    if edge.inbox.send(LoopMessage::NewAgent(agent, outbox)).await.is_err() {
        return false;
    }
    tracing::info!("connected to the Codex daemon for {window}");
    edge.send_event(Event::AgentOpened { agent, window, dialect: CODEX, called: None }).await;
    tokio::select! {
        () = agent::attend_daemon(agent, stream, inbox, edge) => {}
        _ = stop.changed() => {}
    }
    // It may come back with everything that it waits for: that is never a goodbye.
    edge.send_event(Event::AgentClosed { agent, said_goodbye: false }).await;
    true
}
