//! The life of an agent: how it is admitted to a window, its frames, and how it leaves. An agent on the port of a
//! window and one that joined on the hub's own socket differ only in their [`Transport`].

use std::collections::BTreeMap;

use linkspan_dialect::{
    ACP_PROXIED, AgentFrame, CallId, ChatCommand, Dialect, Endpoint, ExchangeId, FailureKind, OWN,
    ServerFacts, Session, Step,
};
use linkspan_editor_api::{AgentJoin, AgentJoinResult, Message, RequestId, RpcError, WindowEvent, errors};
use linkspan_review as review;
use linkspan_review::{AgentId, ReviewId, WindowId};

use crate::core::Core;
use crate::core::agents::{AdmitError, Agent, Transport, display_name, hooks};
use crate::core::contract::{Action, ConnectionId, ExchangeAnswer, Introduction, Refusal};

/// A word, not a text: it is part of the key of every review of its agent.
const LONGEST_SESSION: usize = 64;

/// Reviews and machine calls together: what an agent may have under way, each with its whole message in memory.
const OPEN_CALLS_PER_AGENT: usize = 512;

impl Core {
    pub(in crate::core) fn agent_opened(
        &mut self,
        id: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        name: Option<String>,
    ) {
        match admit(self, window, dialect, transport_of(dialect)) {
            Ok(mut agent) => {
                agent.introduced = name.is_some();
                if let Some(name) = name {
                    let name = display_name(&name);
                    agent.name = if name.is_empty() { dialect.name.to_owned() } else { name };
                }
                let introduced = agent.introduced;
                agent.session.begin();
                self.agents.insert(id, agent);
                self.agents.send_queued(&mut self.out, id);
                if introduced {
                    register_joined(self, id);
                }
            }
            Err(error) => reject(self, id, &error),
        }
    }

    /// `known`: an earlier hub admitted it under that name, and it may still wait for decisions.
    pub(in crate::core) fn session_opened(
        &mut self,
        id: AgentId,
        window: WindowId,
        dialect: &'static Dialect,
        key: String,
        known: Option<Introduction>,
    ) {
        let mut agent = match admit(self, window, dialect, transport_of(dialect)) {
            Ok(agent) => agent,
            Err(error) => return reject(self, id, &error),
        };
        agent.key = Some(key);
        agent.introduced = known.is_some();
        let again = known.is_some();
        agent.came_back = again;
        if let Some(Introduction { name, version }) = known {
            (agent.name, agent.version) = (name, version);
            agent.session.resume();
        }
        self.agents.insert(id, agent);
        self.agents.stream_closed(&mut self.out, id, 0);
        if again {
            register_joined(self, id);
            self.readopt_reviews(id);
        }
    }

    /// A connection on the hub's own socket becomes an agent.
    pub(in crate::core) fn join(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        join: AgentJoin,
    ) -> Result<(), RpcError> {
        self.connections.check_unbound(connection)?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let session = &join.session;
        if session.is_empty() || session.len() > LONGEST_SESSION || !session.bytes().all(is_word) {
            let message = format!("`session` must be 1 to {LONGEST_SESSION} letters, digits, `-` and `_`");
            return Err(RpcError::new(errors::INVALID_PARAMS, message));
        }
        let hook = join.hook.map(hooks::checked).transpose()?;
        let key = if hook.is_some() { hooks::session_key(session) } else { session.clone() };
        let window = window_named(self, &join.window)?;
        let name = display_name(&join.name);
        // The same agent may have come back before we saw it leave.
        let stale = self.agents.iter().find(|(_, other)| {
            other.window == window && other.name == name && other.key.as_ref() == Some(&key)
        });
        if let Some(stale) = stale.map(|(id, _)| *id) {
            self.hang_up(stale, 1001, "it has joined again");
        }
        let dialect = if join.acp_proxy { ACP_PROXIED } else { OWN };
        let mut agent = admit(self, window, dialect, Transport::Local(connection))
            .map_err(|error| join_refused(&error))?;
        agent.introduced = true;
        agent.name = name;
        agent.version = display_name(&join.version);
        agent.pid = join.pid;
        agent.receives = join.receives;
        agent.key = Some(key);
        agent.hook = hook;
        let id = self.agents.next_joined();
        self.connections.join(connection, id);
        self.out.push(Action::ThrottleConnection { connection });
        tracing::info!("agent {id} ({}) joined {window}", agent.name);
        self.agents.insert(id, agent);
        self.grants_agent_joined(id);
        let Some(home) = self.windows.get(&window) else { return Ok(()) };
        let result = AgentJoinResult {
            agent: id.to_string(),
            window: window.to_string(),
            editor: home.editor.clone(),
            folders: home.identity.folders.iter().map(|folder| folder.display().to_string()).collect(),
        };
        self.out.send(connection, &Message::response(request, &result));
        publish_joined(self, id);
        Ok(())
    }

    /// A frame on the hub's own socket.
    pub(in crate::core) fn joined_frame(&mut self, agent: AgentId, body: &[u8]) {
        match std::str::from_utf8(body) {
            Ok(text) => self.agent_frame(agent, text, None),
            Err(_) => self.agent_binary(agent),
        }
    }

    pub(in crate::core) fn agent_frame(&mut self, id: AgentId, text: &str, exchange: Option<ExchangeId>) {
        mark_alive(self, id);
        let Some(agent) = self.agents.get_mut(&id) else { return };
        let step = agent.session.receive_in(exchange, text);
        take_step(self, id, step, exchange);
        while let Some(step) = self.agents.get_mut(&id).and_then(|agent| agent.session.next_step()) {
            take_step(self, id, step, None);
        }
        self.agents.send_queued(&mut self.out, id);
    }

    pub(in crate::core) fn agent_binary(&mut self, id: AgentId) {
        mark_alive(self, id);
        if let Some(text) = self.agents.get(&id).and_then(|agent| agent.session.not_text()) {
            self.agents.send(&mut self.out, id, text);
        }
    }

    /// The connection answered a ping. A daemon confirms by its own messages what it received.
    pub(in crate::core) fn connection_pong(&mut self, id: AgentId, number: Option<u64>) {
        let daemon = self.agents.get(&id).is_some_and(|agent| matches!(agent.transport, Transport::Daemon));
        self.agent_pong(id, number.filter(|_| !daemon));
    }

    /// An agent that answers a ping has received everything that was sent before it.
    pub(in crate::core) fn agent_pong(&mut self, id: AgentId, number: Option<u64>) {
        if let Some(number) = number {
            for review in self.agents.take_confirmed(&mut self.out, id, number) {
                self.outcome_arrived(review);
            }
        }
        mark_alive(self, id);
    }

    /// Ends the connection, whatever the agent has open; that is not a goodbye of the agent, unless its process ends too.
    pub(in crate::core) fn hang_up(&mut self, id: AgentId, code: u16, reason: &'static str) {
        let Some(transport) = self.agents.get(&id).map(|agent| agent.transport) else { return };
        if !matches!(transport, Transport::Local(_)) {
            self.out.push(Action::CloseAgent { agent: id, code, reason });
        }
        end_session(self, id, transport, matches!(transport, Transport::Child));
    }

    pub(in crate::core) fn agent_closed(&mut self, id: AgentId, said_goodbye: bool) {
        for call in self.agents.patch_calls_of_acp(id) {
            self.patch_cancelled(id, call);
        }
        let Some(agent) = self.agents.remove(&id) else { return };
        if let Some(timer) = agent.stream_grace_timer {
            self.out.cancel(timer);
        }
        self.owner_gone(id, said_goodbye);
        self.agents.drop_bundles(id);
        self.agents.drop_patches(id);
        self.cancel_jobs(id, None);
        self.close_prompts(id, None);
        if said_goodbye {
            self.reviews.drop_permits(&agent.key());
        }
        // The next hook of the same session has what was allowed to this one.
        if agent.hook.is_none() {
            self.grants_agent_left(&agent.principal(), said_goodbye);
        }
        for (_, review) in agent.unconfirmed {
            self.outcome_arrived(review);
        }
        tracing::info!("agent {id} ({}) left {}", agent.name, agent.window);
        // Watchers do not know of an agent that has not introduced itself.
        if agent.introduced {
            let what = WindowEvent::AgentLeft { agent: id.to_string(), name: agent.name };
            self.connections.publish(&mut self.out, agent.window, what);
        }
        self.agent_seen(id);
    }

    /// No agent waits for these reviews any longer, unless it comes back.
    pub(in crate::core) fn owner_gone(&mut self, id: AgentId, said_goodbye: bool) {
        self.hand_over_reviews(id);
        let left: Vec<ReviewId> =
            self.reviews.iter().filter(|review| review.owner == Some(id)).map(|review| review.id).collect();
        self.apply(review::Event::OwnerGone { agent: id, said_goodbye });
        for review in left {
            self.reviews.orphan(&mut self.out, review);
            self.owner_changed(review);
        }
    }
}

/// An agent whose process the hub starts, when the user has allowed that.
pub(in crate::core) fn host(
    core: &mut Core,
    window: WindowId,
    dialect: &'static Dialect,
    name: &str,
    key: String,
) -> Result<AgentId, String> {
    let transport = transport_of(dialect);
    let mut agent = admit(core, window, dialect, transport).map_err(|error| error.reason().to_owned())?;
    agent.introduced = true;
    agent.name = display_name(name);
    agent.key = Some(key);
    let id = core.agents.next_joined();
    tracing::info!("agent {id} ({}) is hosted for {window}", agent.name);
    core.agents.insert(id, agent);
    register_joined(core, id);
    Ok(id)
}

/// The connection of a joined agent ended. Returns whether no other process asks again: a hook ends with its question,
/// and an agent ends with its proxy.
pub(in crate::core) fn left_with_connection(core: &mut Core, id: AgentId) -> bool {
    let Some(agent) = core.agents.get_mut(&id) else { return false };
    let is_proxied = agent.is_acp();
    let is_over = is_proxied || agent.hook.is_some();
    if is_proxied {
        agent.session.command(ChatCommand::Gone);
        take_steps(core, id);
    }
    is_over
}

/// Does what a command to a hosted agent, or an answer to it, leads to.
pub(in crate::core) fn take_steps(core: &mut Core, id: AgentId) {
    while let Some(step) = core.agents.get_mut(&id).and_then(|agent| agent.session.next_step()) {
        take_step(core, id, step, None);
    }
    core.agents.send_queued(&mut core.out, id);
}

fn transport_of(dialect: &Dialect) -> Transport {
    match dialect.endpoint {
        Endpoint::WebSocket { .. } | Endpoint::OpenWebSocket | Endpoint::Local => Transport::Port,
        Endpoint::Stream { .. } => Transport::Stream,
        Endpoint::SocketStream { .. } => Transport::SocketStream,
        Endpoint::HttpRpc { .. } => Transport::Calls,
        Endpoint::Daemon => Transport::Daemon,
        Endpoint::Child => Transport::Child,
    }
}

/// Does what a frame of an agent leads to.
fn take_step(core: &mut Core, id: AgentId, step: Step, exchange: Option<ExchangeId>) {
    let Some(agent) = core.agents.get_mut(&id) else { return };
    // Only an agent that takes itself for connected asks anything.
    if matches!(step, Step::Call { .. } | Step::Reply(_) | Step::Introduced { .. }) {
        agent.came_back = false;
    }
    let answered =
        matches!(step, Step::Call { .. } | Step::Reply(_) | Step::Malformed(_) | Step::Introduced { .. });
    if let Some(exchange) = exchange.filter(|_| !answered) {
        let answer = ExchangeAnswer::Nothing;
        core.out.push(Action::AnswerExchange { agent: id, exchange, answer });
    }
    match step {
        Step::Call { call, .. } if agent.session.open_calls().nth(OPEN_CALLS_PER_AGENT).is_some() => {
            let message =
                format!("{OPEN_CALLS_PER_AGENT} calls of this agent are open; wait for some answers");
            core.agents.fail(&mut core.out, id, call, FailureKind::Denied, message);
        }
        Step::Call { call, request } => {
            core.agents.begin_wait_limit(&mut core.out, id, call);
            core.handle_call(id, call, request);
        }
        Step::Reply(text) => {
            core.agents.send_frame(&mut core.out, id, AgentFrame { text, answers: exchange });
        }
        Step::Malformed(text) => match exchange {
            Some(exchange) => {
                let answer = ExchangeAnswer::Malformed(text);
                core.out.push(Action::AnswerExchange { agent: id, exchange, answer });
            }
            None => core.agents.send(&mut core.out, id, text),
        },
        Step::Introduced { name, version, reply } => {
            handle_introduction(core, id, &name, &version, reply, exchange);
        }
        Step::Pong(number) => core.agent_pong(id, Some(number)),
        Step::Goodbye => {
            let transport = agent.transport;
            end_session(core, id, transport, true);
        }
        Step::NeedsToken => {
            core.lifecycle.count_refusal(Refusal::NoToken);
            core.hang_up(id, 1008, "no token: send the authToken of the lock file in its header");
        }
        Step::Thread { thread, cwd } => {
            let here = core.windows.for_folder(&cwd, agent.session.dialect().name) == Some(agent.window);
            if here {
                agent.session.follow_thread(&thread);
            }
        }
        Step::Declined { call, applied } => core.patch_declined(id, call, applied),
        Step::Chat(event) => core.chat_said(id, *event),
        Step::Pid(pid) => agent.pid = Some(pid),
        Step::Cancelled(call) => handle_cancel(core, id, call),
        Step::Nothing => {}
    }
}

/// A new agent in that window, if it may be there.
fn admit(
    core: &mut Core,
    window: WindowId,
    dialect: &'static Dialect,
    transport: Transport,
) -> Result<Agent, AdmitError> {
    let home = core.windows.get(&window).ok_or(AdmitError::WindowClosed)?;
    // The guard knows the user's config; the workspace may allow less.
    if !home.config.dialect_enabled(dialect.name) {
        return Err(AdmitError::DialectOff);
    }
    let most = home.config.limits.connections;
    if core.agents.of_window(window).count() >= most {
        // An agent that introduces itself and never listens keeps no other out. It is restored when it comes back.
        let Some(idle) = core.agents.oldest_idle(window) else { return Err(AdmitError::TooMany) };
        core.hang_up(idle, 1013, "session evicted: idle while the agent limit was reached");
    }
    let home = core.windows.get(&window).ok_or(AdmitError::WindowClosed)?;
    let server = ServerFacts {
        version: core.out.info.version.to_owned(),
        editor_name: home.editor.name.clone(),
        capabilities: home.capabilities,
    };
    let mut session = Session::new(dialect, server);
    session.set_folders(&home.both_folders());
    Ok(Agent {
        window,
        transport,
        key: None,
        hook: None,
        sets: BTreeMap::new(),
        session,
        introduced: false,
        name: "unknown agent".to_owned(),
        version: String::new(),
        pid: None,
        receives: None,
        since_ms: core.out.now_ms,
        awaits_pong: false,
        came_back: false,
        stream: 0,
        stream_grace_timer: None,
        stream_lost: false,
        waiting: Vec::new(),
        unconfirmed: Vec::new(),
        pings: 0,
    })
}

fn reject(core: &mut Core, id: AgentId, error: &AdmitError) {
    let (code, reason) = (error.close_code(), error.reason());
    core.out.push(Action::CloseAgent { agent: id, code, reason });
}

fn join_refused(error: &AdmitError) -> RpcError {
    let code = match error {
        AdmitError::WindowClosed => errors::UNKNOWN_WINDOW,
        AdmitError::DialectOff | AdmitError::TooMany => errors::DENIED,
    };
    let remedy = match error {
        AdmitError::WindowClosed => "open it again",
        AdmitError::DialectOff => "see `dialects_off` in config.toml or .linkspan.toml",
        AdmitError::TooMany => "let one leave, or raise `limits.connections`",
    };
    RpcError::new(code, format!("{}: {remedy}", error.reason()))
}

fn window_named(core: &Core, name: &str) -> Result<WindowId, RpcError> {
    let known = core.windows.keys().copied().find(|window| window.to_string() == name);
    known.ok_or_else(|| {
        let windows = core.windows.iter().map(|(id, window)| {
            let folders = window.identity.folders.iter().map(|folder| folder.display().to_string());
            format!("{id} ({}, {})", window.editor.name, folders.collect::<Vec<_>>().join(", "))
        });
        let windows: Vec<String> = windows.collect();
        let there = match windows.as_slice() {
            [] => "there are none; open the folder in an editor, or run `linkspan serve`".to_owned(),
            windows => format!("there are {}", windows.join("; ")),
        };
        // A stranger chose this text: only its beginning is repeated.
        let name: String = name.chars().take(80).collect();
        RpcError::new(errors::UNKNOWN_WINDOW, format!("there is no window `{name}`: {there}"))
    })
}

/// It has introduced itself.
fn register_joined(core: &mut Core, id: AgentId) {
    core.grants_agent_joined(id);
    publish_joined(core, id);
}

fn publish_joined(core: &mut Core, id: AgentId) {
    let Some(agent) = core.agents.get(&id) else { return };
    let what = WindowEvent::AgentJoined {
        agent: id.to_string(),
        name: agent.name.clone(),
        version: agent.version.clone(),
        dialect: agent.session.dialect().name.to_owned(),
    };
    core.connections.publish(&mut core.out, agent.window, what);
}

fn handle_introduction(
    core: &mut Core,
    id: AgentId,
    name: &str,
    version: &str,
    reply: String,
    exchange: Option<ExchangeId>,
) {
    let Some(agent) = core.agents.get_mut(&id) else { return };
    let before = agent.introduced.then(|| agent.principal());
    // An agent that is found again by its name keeps it.
    if agent.key.is_none() || !agent.introduced {
        agent.name = display_name(name);
        agent.version = display_name(version);
    }
    agent.introduced = true;
    let who = Introduction { name: agent.name.clone(), version: agent.version.clone() };
    match exchange {
        Some(exchange) => {
            let answer = ExchangeAnswer::Introduced { text: reply, who };
            core.out.push(Action::AnswerExchange { agent: id, exchange, answer });
        }
        None => core.agents.send(&mut core.out, id, reply),
    }
    if let Some(before) = before {
        core.grants_agent_renamed(id, &before);
    }
    // An agent that the user reconnected begins a new session and forgets the old one, whose stream it keeps open. That
    // one is closed, so that the agent is not listed twice.
    if let Some(old) = core.agents.predecessor(id) {
        core.hang_up(old, 1001, "this agent has a newer session");
    }
    register_joined(core, id);
}

fn handle_cancel(core: &mut Core, id: AgentId, call: CallId) {
    core.patch_cancelled(id, call);
    let Some(agent) = core.agents.get(&id) else { return };
    let withdrawn = agent.waiting.iter().filter(|(_, waiting)| *waiting == call);
    let withdrawn: Vec<ReviewId> = withdrawn.map(|(review, _)| *review).collect();
    // Most dialects have closed the call by now, and drop its answer.
    let is_answered = agent.session.open_calls().any(|open| open == call);
    if withdrawn.is_empty() {
        core.close_prompts(id, Some(call));
        core.cancel_jobs(id, Some(call));
        core.agents.fail(&mut core.out, id, call, FailureKind::Withdrawn, "the call was cancelled");
    }
    for review in withdrawn {
        match is_answered || core.reviews.is_undecided(review) {
            // If the user decided first, the decision counts.
            true => core.withdraw_review(id, review),
            false => core.leave_decided_review(id, call, review),
        }
    }
}

/// It is alive. Whether it received what was sent before is not known: this may have crossed it on the way.
fn mark_alive(core: &mut Core, id: AgentId) {
    let Some(agent) = core.agents.get_mut(&id) else { return };
    agent.awaits_pong = false;
    core.agent_seen(id);
}

/// The agent is gone, and with it the connection that it was.
fn end_session(core: &mut Core, id: AgentId, transport: Transport, said_goodbye: bool) {
    core.agent_closed(id, said_goodbye);
    if let Transport::Local(connection) = transport {
        core.out.push(Action::CloseConnection { connection });
        core.connection_closed(connection);
    }
}
