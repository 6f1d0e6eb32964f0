//! Connections on the hub's own socket and of browser pages: editors, commands, and agents that joined there.
//!
//! Owns each connection, who watches, and the status requests that wait for signs of life. A request to an editor has a
//! deadline and is resumed exactly once: by the answer, the deadline or the end of the connection. Knows windows and
//! agents only by their ids; `route` decides which part of the core a message is for.

mod page_methods;
pub(super) mod probes;
mod route;
mod watchers;

use std::collections::BTreeMap;

use linkspan_editor_api::{Message, Request, RequestId, RpcError, errors};
use linkspan_review::{AgentId, ReviewId, WindowId};

use crate::core::contract::{Action, ConnectionId, Ticket};
use crate::core::out::Out;
use crate::core::pending::{AfterAnswer, Continuation, EditorRequest};
use probes::Probe;

#[derive(Debug, Default)]
pub(super) struct Connections {
    open: BTreeMap<ConnectionId, Connection>,
    /// Connections that receive events, each of one window or of all.
    watchers: BTreeMap<ConnectionId, Option<WindowId>>,
    probes: Vec<Probe>,
}

#[derive(Debug, Default)]
pub(super) struct Connection {
    /// What it said it is, for the log and for "decided by".
    role: String,
    state: ConnectionState,
    is_page: bool,
    /// Requests that it has not answered, by their id on this connection.
    requests: BTreeMap<i64, Ticket>,
    next_id: i64,
    /// Decisions whose result it waits for, oldest first.
    decisions: Vec<(ReviewId, RequestId)>,
}

#[derive(Debug, Default)]
enum ConnectionState {
    /// A command, a page, or something that has not said what it is.
    #[default]
    Unbound,
    /// An editor whose window is being made ready.
    Attaching,
    Editor(WindowId),
    /// From now on every frame is the agent's.
    Agent(AgentId),
}

impl Connection {
    pub(super) fn role(&self) -> &str {
        &self.role
    }

    pub(super) fn window(&self) -> Option<WindowId> {
        match self.state {
            ConnectionState::Editor(window) => Some(window),
            _ => None,
        }
    }

    fn agent(&self) -> Option<AgentId> {
        match self.state {
            ConnectionState::Agent(agent) => Some(agent),
            _ => None,
        }
    }
}

impl Connections {
    pub(super) fn open(&mut self, id: ConnectionId) {
        self.open.insert(id, Connection::default());
    }

    /// A page has this role whatever it says it is.
    pub(super) fn open_page(&mut self, id: ConnectionId) {
        let page = Connection { role: "the browser page".to_owned(), is_page: true, ..Connection::default() };
        self.open.insert(id, page);
    }

    pub(super) fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.open.get(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn open_requests(&self) -> usize {
        self.open.values().map(|connection| connection.requests.len()).sum()
    }

    pub(super) fn any_page_or_attaching(&self) -> bool {
        let attaching = |connection: &Connection| matches!(connection.state, ConnectionState::Attaching);
        self.open.values().any(|connection| connection.is_page || attaching(connection))
    }

    /// The window whose editor this is.
    pub(super) fn attached(&self, id: ConnectionId) -> Result<WindowId, RpcError> {
        self.get(id)
            .and_then(Connection::window)
            .ok_or_else(|| RpcError::new(errors::NOT_ATTACHED, "send `attach` first"))
    }

    /// Checks that it is neither an editor's connection nor an agent's.
    pub(super) fn check_unbound(&self, id: ConnectionId) -> Result<(), RpcError> {
        match self.get(id) {
            Some(Connection { state: ConnectionState::Unbound, .. }) => Ok(()),
            _ => Err(RpcError::new(errors::INVALID_REQUEST, "this connection is attached already")),
        }
    }

    fn set_role(&mut self, id: ConnectionId, role: String) {
        if let Some(connection) = self.open.get_mut(&id).filter(|connection| !connection.is_page) {
            connection.role = role;
        }
    }

    pub(super) fn begin_attach(&mut self, id: ConnectionId) {
        self.set_state(id, ConnectionState::Attaching);
    }

    /// False if the connection is gone.
    pub(super) fn finish_attach(&mut self, id: ConnectionId, window: WindowId) -> bool {
        self.set_state(id, ConnectionState::Editor(window))
    }

    /// It is no longer an editor's, nor about to be. False if the connection is gone.
    pub(super) fn detach(&mut self, id: ConnectionId) -> bool {
        self.set_state(id, ConnectionState::Unbound)
    }

    /// All its frames are of the agent's dialect from now on.
    pub(super) fn join(&mut self, id: ConnectionId, agent: AgentId) {
        self.set_state(id, ConnectionState::Agent(agent));
        self.watchers.remove(&id);
    }

    fn set_state(&mut self, id: ConnectionId, state: ConnectionState) -> bool {
        match self.open.get_mut(&id) {
            Some(connection) => {
                connection.state = state;
                true
            }
            None => false,
        }
    }

    /// It waits for the result of a decision. `first`: its result is the next that is sent about this review.
    pub(super) fn add_decision(
        &mut self,
        id: ConnectionId,
        review: ReviewId,
        request: RequestId,
        first: bool,
    ) {
        if let Some(connection) = self.open.get_mut(&id) {
            let at = if first { 0 } else { connection.decisions.len() };
            connection.decisions.insert(at, (review, request));
        }
    }

    pub(super) fn take_decision(&mut self, id: ConnectionId, review: ReviewId) -> Option<RequestId> {
        let decisions = &mut self.open.get_mut(&id)?.decisions;
        let at = decisions.iter().position(|(decided, _)| *decided == review)?;
        Some(decisions.remove(at).1)
    }

    /// Registers a request that the caller sends itself; gives the continuation back if the connection is gone.
    pub(super) fn expect_answer(
        &mut self,
        out: &mut Out,
        id: ConnectionId,
        then: AfterAnswer,
        wait_ms: u32,
    ) -> Result<RequestId, Box<AfterAnswer>> {
        let Some(connection) = self.open.get_mut(&id) else { return Err(Box::new(then)) };
        connection.next_id += 1;
        let number = connection.next_id;
        let delay_ms = out.config.limits.call_seconds * 1000 + u64::from(wait_ms);
        let request = EditorRequest { connection: id, id: number, then };
        let ticket = out.wait_for(delay_ms, Continuation::Editor(request));
        connection.requests.insert(number, ticket);
        Ok(RequestId::Number(number))
    }

    /// Sends a request whose answer nothing depends on.
    pub(super) fn send_request<R: Request>(&mut self, out: &mut Out, id: ConnectionId, params: &R) {
        if let Ok(request) = self.expect_answer(out, id, AfterAnswer::Ignore, 0) {
            out.push(Action::SendMessage {
                connection: id,
                body: Message::request_bytes(&request, params, 0),
            });
        }
    }

    /// The request of this id has its answer, or will have none.
    fn take_request(&mut self, out: &mut Out, id: ConnectionId, number: i64) -> Option<AfterAnswer> {
        let ticket = self.open.get_mut(&id)?.requests.remove(&number)?;
        match out.resume(ticket) {
            Some(Continuation::Editor(request)) => Some(request.then),
            _ => None,
        }
    }

    fn close(&mut self, id: ConnectionId) -> Option<Connection> {
        self.watchers.remove(&id);
        self.open.remove(&id)
    }
}
