//! Helpers: agents that another agent starts with `spawn_agent`. They are agents of the pool like others, and are closed
//! when their turn is over.

use std::time::Duration;

use linkspan_client::confirm::Cancellation;
use tokio::runtime::Builder;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::contract::{AgentId, AgentSettings, HostCommand, HostEvent, HostHandle, Occurred};
use crate::conversation::{TurnEnd, TurnEvent};
use crate::tools::spawn::{Helper, Spawner};

/// Interval of looking whether the call was cancelled.
const LOOK: Duration = Duration::from_millis(100);

/// Starts helpers through the host's commands.
#[derive(Debug)]
pub struct HelperPool {
    host: HostHandle,
}

impl HelperPool {
    /// Of this host.
    pub fn new(host: HostHandle) -> HelperPool {
        HelperPool { host }
    }

    /// Waits for the end of the helper's turn. `None`: the call was cancelled, or the host ended.
    async fn end(
        &self,
        agent: AgentId,
        events: &mut UnboundedReceiver<HostEvent>,
        cancelled: &Cancellation,
    ) -> Option<(TurnEnd, String, Option<String>)> {
        let mut error = None;
        loop {
            if cancelled.is_cancelled() {
                return None;
            }
            let Ok(event) = timeout(LOOK, events.recv()).await else { continue };
            let HostEvent { agent: of, what } = event?;
            if of != Some(agent) {
                continue;
            }
            match what {
                Occurred::Shown(TurnEvent::Ended { end, text, .. }) => return Some((end, text, error)),
                Occurred::Shown(TurnEvent::Error(message)) => error = Some(message),
                Occurred::Closed => return None,
                _ => {}
            }
        }
    }

    async fn run(&self, helper: Helper<'_>, cancelled: &Cancellation) -> Result<String, String> {
        let gone = |ended: super::contract::HostEnded| ended.to_string();
        let status = self.host.ask(|reply| HostCommand::Status { reply }).await.map_err(gone)?;
        let parent = status.into_iter().find(|agent| agent.name == helper.parent);
        let settings = AgentSettings {
            servers: Default::default(),
            name: Some(helper.name.to_owned()),
            cwd: Some(helper.cwd.to_owned()),
            mode: Some(helper.mode),
            model: parent.map(|parent| parent.model),
            resume: None,
            is_helper: true,
        };
        let mut events = self.host.subscribe();
        let agent = self.host.ask(|reply| HostCommand::New { settings, reply }).await.map_err(gone)??;
        self.host.send(HostCommand::Prompt { agent, text: helper.prompt.to_owned() });
        let ended = self.end(agent, &mut events, cancelled).await;
        self.host.send(HostCommand::Close { agent });
        match ended {
            None => Err("it was cancelled".to_owned()),
            Some((TurnEnd::Done, text, _)) => Ok(text),
            Some((_, _, Some(error))) => Err(error),
            Some((end, text, None)) => Err(format!("its turn ended early ({end:?}). It said: {text}")),
        }
    }
}

impl Spawner for HelperPool {
    fn spawn(&self, helper: Helper<'_>, cancelled: &Cancellation) -> Result<String, String> {
        // A tool's thread is one on which may be waited, though not by the host's own runtime.
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| format!("there is no runtime for it: {error}"))?;
        runtime.block_on(self.run(helper, cancelled))
    }
}
