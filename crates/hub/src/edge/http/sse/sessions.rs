//! The sessions of one port or socket: which are open, how an id names one, and how one begins and ends. What they
//! exchange is `session`'s.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use linkspan_editor_api::wire_names;
use tokio::sync::{Mutex, watch};

use crate::core::contract::Refusal;
use crate::core::{Event, Introduction};
use crate::edge::Edge;
use crate::edge::http::guard;
use crate::edge::http::sse::session::{NewSession, Session};
use crate::edge::http::sse::session_id::SessionIds;
use crate::edge::http::sse::stream::StreamRequest;
use crate::token::Token;

static SESSION_ID: HeaderName = HeaderName::from_static(wire_names::header::MCP_SESSION_ID);
static CHOSEN_ID: HeaderName = HeaderName::from_static(wire_names::header::COPILOT_SESSION_ID);

/// Sessions that were ended by DELETE and are remembered for that.
const ENDED_SESSIONS: usize = 1024;

/// An id that an agent chooses is part of the key of each of its reviews.
const LONGEST_CHOSEN_ID: usize = 64;

#[derive(Debug)]
pub(crate) struct Sessions {
    naming: Naming,
    open: Mutex<OpenSessions>,
    /// How many streams are being served.
    pub(crate) streams: watch::Sender<usize>,
}

/// Who chooses the id of a session.
#[derive(Debug)]
enum Naming {
    /// The hub, so that the next hub recognises it.
    Hub(SessionIds),
    /// The agent, which begins again after a restart of the hub, with the same id.
    Agents,
}

#[derive(Debug, Default)]
struct OpenSessions {
    by_key: HashMap<String, Arc<Session>>,
    ended: VecDeque<String>,
}

/// Which session to open.
enum Opening {
    New,
    /// An earlier hub had it.
    Known(String, Introduction),
    /// Under an id of the agent's choice.
    Chosen(String),
}

impl Sessions {
    pub(crate) fn named_by_hub(token: &Token) -> Arc<Sessions> {
        Sessions::new(Naming::Hub(SessionIds::of(token)))
    }

    pub(crate) fn named_by_agents() -> Arc<Sessions> {
        Sessions::new(Naming::Agents)
    }

    fn new(naming: Naming) -> Arc<Sessions> {
        Arc::new(Sessions { naming, open: Mutex::default(), streams: watch::Sender::new(0) })
    }

    pub(super) fn are_named_by_agents(&self) -> bool {
        matches!(self.naming, Naming::Agents)
    }

    /// The id by which the agent continues a session that has begun.
    pub(super) fn id_of(&self, session: &Session, who: &Introduction) -> Option<HeaderValue> {
        let id = match &self.naming {
            Naming::Hub(ids) => ids.encode(&session.key, who),
            Naming::Agents => session.key.clone(),
        };
        HeaderValue::from_str(&id).ok()
    }

    /// The id that the agent chose for a session that it is about to begin.
    pub(super) fn chosen_id(&self, headers: &HeaderMap) -> Result<Option<String>, Refusal> {
        if !self.are_named_by_agents() || !headers.contains_key(&CHOSEN_ID) {
            return Ok(None);
        }
        let id = guard::single_value(headers, &CHOSEN_ID).and_then(|id| std::str::from_utf8(id).ok());
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let usable = |id: &&str| (1..=LONGEST_CHOSEN_ID).contains(&id.len()) && id.bytes().all(is_word);
        id.filter(usable).map(|id| Some(id.to_owned())).ok_or(Refusal::BadHead)
    }

    pub(super) async fn remove(&self, session: &Arc<Session>) {
        let mut open = self.open.lock().await;
        if open.by_key.get(&session.key).is_some_and(|known| Arc::ptr_eq(known, session)) {
            open.by_key.remove(&session.key);
        }
    }

    /// Its agent said goodbye.
    pub(super) async fn end_session(&self, session: &Arc<Session>, edge: &Edge) {
        {
            let mut open = self.open.lock().await;
            open.by_key.remove(&session.key);
            // An agent that chose the id may begin with it again.
            if !self.are_named_by_agents() {
                if open.ended.len() >= ENDED_SESSIONS {
                    open.ended.pop_front();
                }
                open.ended.push_back(session.key.clone());
            }
        }
        edge.send_event(Event::AgentClosed { agent: session.agent(), said_goodbye: true }).await;
        session.end();
    }
}

impl StreamRequest<'_> {
    /// The session that a request names, and its id. A session of an earlier hub is resumed, if the id proves it.
    pub(super) async fn session_of(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<(Arc<Session>, HeaderValue)>, Refusal> {
        let Some(id) = headers.get(&SESSION_ID) else { return Ok(None) };
        let name = guard::single_value(headers, &SESSION_ID).and_then(|id| std::str::from_utf8(id).ok());
        let name = name.ok_or(Refusal::UnknownSession)?;
        let session = match &self.sessions.naming {
            Naming::Hub(ids) => {
                let (key, who) = ids.verify(name).ok_or(Refusal::UnknownSession)?;
                self.open(Opening::Known(key, who)).await?
            }
            Naming::Agents => self.sessions.open.lock().await.by_key.get(name).cloned(),
        };
        Ok(Some((session.ok_or(Refusal::UnknownSession)?, id.clone())))
    }

    /// `None` when the hub is shutting down.
    pub(super) async fn begin_session(
        &self,
        chosen: Option<String>,
    ) -> Result<Option<Arc<Session>>, Refusal> {
        self.open(chosen.map_or(Opening::New, Opening::Chosen)).await
    }

    async fn open(&self, opening: Opening) -> Result<Option<Arc<Session>>, Refusal> {
        let mut open = self.sessions.open.lock().await;
        let (key, known) = match opening {
            Opening::Known(key, _) if open.ended.contains(&key) => return Ok(None),
            Opening::Known(key, who) => match open.by_key.get(&key) {
                Some(session) => return Ok(Some(Arc::clone(session))),
                None => (key, Some(who)),
            },
            Opening::Chosen(key) => {
                self.replace(&mut open, &key).await?;
                (key, None)
            }
            Opening::New => match random_id() {
                Some(key) => (key, None),
                None => return Ok(None),
            },
        };
        let Some(instance) = random_id() else { return Ok(None) };
        let arrival = NewSession {
            agent: (self.next_agent)(),
            window: self.window,
            dialect: self.dialect,
            key: key.clone(),
            known,
            instance: instance.chars().take(8).collect(),
        };
        let Some(session) = Session::open(arrival, self.sessions, self.edge).await else { return Ok(None) };
        open.by_key.insert(key, Arc::clone(&session));
        Ok(Some(session))
    }

    /// An agent that begins again has lost its earlier session. Not if someone listens there: that is another agent.
    async fn replace(&self, open: &mut OpenSessions, key: &str) -> Result<(), Refusal> {
        let Some(earlier) = open.by_key.get(key) else { return Ok(()) };
        if earlier.is_listened_to() {
            return Err(Refusal::SessionInUse);
        }
        let agent = earlier.agent();
        if let Some(earlier) = open.by_key.remove(key) {
            self.edge.send_event(Event::AgentClosed { agent, said_goodbye: false }).await;
            earlier.end();
        }
        Ok(())
    }
}

/// Unique, and impossible to guess.
fn random_id() -> Option<String> {
    Token::mint().ok().map(|token| token.secret().to_owned())
}
