//! The conversations of an engine: one for requests without a `session`, and one for each name. Owns which agent of the
//! host each is, and that only one turn of it runs at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::StatusCode;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::reply::Problem;
use crate::host::{AgentId, AgentSettings, AgentSummary, HostCommand, HostHandle};

/// No engine has more.
const MOST: usize = 32;
const LONGEST_NAME: usize = 64;

/// One conversation.
#[derive(Debug, Clone)]
pub(super) struct EngineConversation {
    pub(super) agent: AgentId,
    /// Held while a turn runs.
    turn: Arc<Mutex<()>>,
    pub(super) tools_enabled: bool,
    pub(super) inject_context: bool,
}

impl EngineConversation {
    /// The right to start a turn.
    pub(super) fn turn(&self) -> Result<OwnedMutexGuard<()>, Problem> {
        Arc::clone(&self.turn).try_lock_owned().map_err(|_| {
            let why =
                "a turn of this conversation is running: wait for its end, or close its stream to cancel it";
            Problem::new(StatusCode::CONFLICT, why)
        })
    }
}

/// All of them.
pub(super) struct Conversations {
    host: HostHandle,
    settings: AgentSettings,
    /// `None` is the one for requests without a session.
    open: Mutex<BTreeMap<Option<String>, EngineConversation>>,
}

impl Conversations {
    pub(super) fn new(host: HostHandle, settings: AgentSettings) -> Conversations {
        Conversations { host, settings, open: Mutex::default() }
    }

    /// The conversation of this name; it begins with its first request.
    pub(super) async fn get(&self, session: Option<&str>) -> Result<EngineConversation, Problem> {
        check(session)?;
        let mut open = self.open.lock().await;
        let key = session.map(str::to_owned);
        if let Some(conversation) = open.get(&key) {
            return Ok(conversation.clone());
        }
        if open.len() >= MOST {
            let why =
                format!("there are {MOST} conversations already: use one of them, or start the engine again");
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why));
        }
        let mut settings = self.settings.clone();
        if session.is_some() {
            // The session of the command line is continued by one conversation only.
            (settings.name, settings.resume) = (key.clone(), None);
        }
        let conversation = self.begin(settings).await?.map_err(Problem::bad)?;
        open.insert(key, conversation.clone());
        Ok(conversation)
    }

    async fn begin(&self, settings: AgentSettings) -> Result<Result<EngineConversation, String>, Problem> {
        let agent = self.host.ask(|reply| HostCommand::New { settings, reply }).await?;
        Ok(agent.map(|agent| EngineConversation {
            agent,
            turn: Arc::default(),
            tools_enabled: true,
            inject_context: true,
        }))
    }

    /// Remembers what was set.
    pub(super) async fn change(&self, agent: AgentId, change: impl FnOnce(&mut EngineConversation)) {
        if let Some(found) = self.open.lock().await.values_mut().find(|found| found.agent == agent) {
            change(found);
        }
    }

    /// Continues a saved session in the place of this conversation.
    pub(super) async fn load(&self, session: Option<&str>, name: &str) -> Result<(), Problem> {
        let now = self.get(session).await?;
        let _no_turn = now.turn()?;
        let status = self.status(now.agent).await?;
        if status.session == name {
            return Ok(());
        }
        let settings = AgentSettings { resume: Some(name.to_owned()), ..self.settings.clone() };
        let unknown = |why| Problem::new(StatusCode::NOT_FOUND, why);
        let loaded = self.begin(settings).await?.map_err(unknown)?;
        self.open.lock().await.insert(session.map(str::to_owned), loaded);
        self.host.send(HostCommand::Close { agent: now.agent });
        Ok(())
    }

    pub(super) async fn status(&self, agent: AgentId) -> Result<AgentSummary, Problem> {
        let all = self.host.ask(|reply| HostCommand::Status { reply }).await?;
        all.into_iter().find(|status| status.agent == agent).ok_or_else(|| {
            Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "this conversation has ended: start the engine again",
            )
        })
    }
}

/// A name is shown in reviews and lists.
fn check(session: Option<&str>) -> Result<(), Problem> {
    let Some(name) = session else { return Ok(()) };
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if is_plain && (1..=LONGEST_NAME).contains(&name.len()) {
        return Ok(());
    }
    let why =
        format!("a session is named with 1 to {LONGEST_NAME} letters, digits, dots, dashes and underscores");
    Err(Problem::bad(why))
}
