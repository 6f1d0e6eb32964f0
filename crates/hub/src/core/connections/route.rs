//! Messages of connections: which part of the core each is for, and what continues when an editor answers.

use linkspan_editor_api as api;
use linkspan_editor_api::Notification as _;
use linkspan_editor_api::{
    DiagnosticsChanged, FoldersChanged, HubHelloResult, HubStopResult, Mentioned, Message, MessageRef,
    PROTOCOL, Ping, Request, RequestId, ReviewsListResult, RpcError, SelectionChanged, decode, errors,
};
use linkspan_review as review;
use linkspan_review::SurfaceId;
use serde_json::value::RawValue;

use crate::core::agents::session;
use crate::core::connections::page_methods;
use crate::core::contract::{Action, ConnectionId, Ticket};
use crate::core::pending::{AfterAnswer, Continuation, EditorRequest, LATE_WRITE_MS, NoAnswer, read_answer};
use crate::core::{Core, chats, convert};

impl Core {
    /// Sends a request to an editor; `then` is carried out exactly once.
    pub(in crate::core) fn ask<R: Request>(
        &mut self,
        connection: ConnectionId,
        params: &R,
        then: AfterAnswer,
    ) {
        self.ask_and_wait(connection, params, then, 0);
    }

    /// As [`Core::ask`], with so much more time: the editor itself was asked to wait for something.
    pub(in crate::core) fn ask_and_wait<R: Request>(
        &mut self,
        connection: ConnectionId,
        params: &R,
        then: AfterAnswer,
        wait_ms: u32,
    ) {
        if let Some(id) = self.expect_answer(connection, then, wait_ms) {
            let body = Message::request_bytes(&id, params, 0);
            self.out.push(Action::SendMessage { connection, body });
        }
    }

    /// The caller sends the request of that id.
    pub(in crate::core) fn expect_answer(
        &mut self,
        connection: ConnectionId,
        then: AfterAnswer,
        wait_ms: u32,
    ) -> Option<RequestId> {
        match self.connections.expect_answer(&mut self.out, connection, then, wait_ms) {
            Ok(id) => Some(id),
            Err(then) => {
                resume(self, *then, Err(NoAnswer::Gone));
                None
            }
        }
    }

    pub(in crate::core) fn connection_message(&mut self, connection: ConnectionId, body: &[u8]) {
        // Sent before the peer saw that we had hung up, or after its own goodbye.
        let Some(peer) = self.connections.get(connection) else { return };
        let (agent, is_page) = (peer.agent(), peer.is_page);
        self.editor_seen(connection);
        if let Some(agent) = agent {
            return self.joined_frame(agent, body);
        }
        match MessageRef::parse(body) {
            Ok(MessageRef::Request { id, method, .. }) if is_page && !page_methods::is_allowed(&method) => {
                let error = RpcError::new(errors::METHOD_NOT_FOUND, format!("no `{method}` for the page"));
                self.out.send(connection, &Message::error(Some(id), error));
            }
            Ok(MessageRef::Notification { .. }) if is_page => {}
            Ok(MessageRef::Request { id, method, params }) => {
                if let Err(error) = handle_request(self, connection, &id, &method, &params) {
                    self.out.send(connection, &Message::error(Some(id), error));
                }
            }
            Ok(MessageRef::Notification { method, params }) => {
                if let Err(error) = handle_notification(self, connection, &method, &params) {
                    tracing::warn!("{method} from an editor: {error}");
                }
            }
            Ok(MessageRef::Response { id, result }) => handle_response(self, connection, id, result),
            Err(error) => self.out.send(connection, &error.to_message()),
        }
    }

    pub(in crate::core) fn editor_timed_out(&mut self, ticket: Ticket) {
        let Some(Continuation::Editor(request)) = self.out.pending.get(ticket) else { return };
        let EditorRequest { connection, id, .. } = *request;
        if wait_for_late_write(self, ticket) {
            return;
        }
        let Some(then) = self.connections.take_request(&mut self.out, connection, id) else { return };
        let dead = matches!(then, AfterAnswer::Heartbeat);
        resume(self, then, Err(NoAnswer::TimedOut));
        if dead {
            // The socket may look alive as long as it likes; the editor behind it does not answer.
            self.out.push(Action::CloseConnection { connection });
            self.connection_closed(connection);
        }
    }

    pub(in crate::core) fn connection_closed(&mut self, connection: ConnectionId) {
        let Some(closed) = self.connections.close(connection) else { return };
        self.chats.connection_closed(connection);
        // First, so that what continues without an answer finds an editor that is away, and not one without the
        // document.
        if let Some(window) = closed.window() {
            self.window_away(window);
        }
        let agent = closed.agent();
        for ticket in closed.requests.into_values() {
            if let Some(Continuation::Editor(request)) = self.out.resume(ticket) {
                resume(self, request.then, Err(NoAnswer::Gone));
            }
        }
        if let Some(agent) = agent {
            let is_over = session::left_with_connection(self, agent);
            self.agent_closed(agent, is_over);
        }
        self.apply(review::Event::SurfaceGone { surface: SurfaceId(connection.0) });
        self.editor_seen(connection);
    }
}

fn handle_request(
    core: &mut Core,
    connection: ConnectionId,
    id: &RequestId,
    method: &str,
    params: &RawValue,
) -> Result<(), RpcError> {
    match method {
        api::Attach::METHOD => core.attach(connection, id.clone(), decode(params)?),
        api::AgentsMention::METHOD => {
            let window = core.connections.attached(connection)?;
            let result = core.mention(window, decode(params)?)?;
            core.out.send(connection, &Message::response(id.clone(), &result));
        }
        api::ReviewCompare::METHOD => {
            let api::ReviewCompare { review, text } = decode(params)?;
            let review = core.reviews.get(core.reviews.named(&review)?);
            let hunks = review.map(|review| convert::compared(review, &text)).unwrap_or_default();
            core.out.send(connection, &Message::response(id.clone(), &api::ReviewCompareResult { hunks }));
        }
        api::AgentJoin::METHOD => core.join(connection, id.clone(), decode(params)?)?,
        api::HookReport::METHOD => core.hook_reported(connection, id.clone(), decode(params)?)?,
        api::ReviewDecided::METHOD => {
            let decided: api::ReviewDecided = decode(params)?;
            core.connections.attached(connection)?;
            let seen = (Some(decided.revision), decided.digest);
            core.decide(connection, id.clone(), &decided.review, seen, decided.decision)?;
        }
        api::ReviewEdited::METHOD => {
            let edited = decode(params)?;
            core.connections.attached(connection)?;
            core.edited(connection, id.clone(), edited)?;
        }
        api::UserAnswered::METHOD => {
            let result = core.person_answered(connection, &decode(params)?)?;
            core.out.send(connection, &Message::response(id.clone(), &result));
        }
        api::ReviewsDecide::METHOD => {
            let decide: api::ReviewsDecide = decode(params)?;
            let seen = (decide.revision, decide.digest);
            core.decide(connection, id.clone(), &decide.review, seen, decide.decision)?;
        }
        Ping::METHOD => core.out.send(connection, &Message::response(id.clone(), &())),
        _ => handle_command(core, connection, id.clone(), method, params)?,
    }
    Ok(())
}

/// What commands and pages ask.
fn handle_command(
    core: &mut Core,
    connection: ConnectionId,
    id: RequestId,
    method: &str,
    params: &RawValue,
) -> Result<(), RpcError> {
    if method.starts_with("chat/") && chats::requests::handle(core, connection, &id, method, params)? {
        return Ok(());
    }
    match method {
        api::HubHello::METHOD => {
            let hello: api::HubHello = decode(params)?;
            core.connections.set_role(connection, hello.role);
            let result = HubHelloResult {
                version: core.out.info.version.to_owned(),
                protocol: PROTOCOL,
                pid: core.out.info.pid,
                started_at_ms: core.out.info.started_at_ms,
            };
            core.out.send(connection, &Message::response(id, &result));
        }
        api::HubStatus::METHOD => {
            let agents = core.agents.keys().copied().collect();
            core.begin_status(connection, id, Some(agents));
        }
        api::HubWindows::METHOD => core.begin_status(connection, id, None),
        api::HubStop::METHOD => {
            let api::HubStop { force } = decode(params)?;
            let pending = convert::pending_count(core.reviews.iter());
            let stopped = force || pending == 0;
            let reason = (!stopped).then(|| {
                format!(
                    "{pending} pending review{} would be interrupted",
                    if pending == 1 { "" } else { "s" }
                )
            });
            core.out.send(connection, &Message::response(id, &HubStopResult { stopped, reason, pending }));
            if stopped {
                core.stop();
            }
        }
        api::ReviewsList::METHOD => {
            let api::ReviewsList { all } = decode(params)?;
            let listed = core.reviews.iter().filter(|review| all || review.is_open());
            let reviews = listed
                .map(|review| {
                    let age = core.reviews.age_of(core.out.now_ms, review);
                    convert::summary(review, age, core.agents.receives_of(review))
                })
                .collect();
            core.out.send(connection, &Message::response(id, &ReviewsListResult { reviews }));
        }
        api::ReviewsGet::METHOD => {
            let get: api::ReviewsGet = decode(params)?;
            let review = core.reviews.named(&get.review)?;
            let Some(review) = core.reviews.get(review) else { return Ok(()) };
            let mut result = convert::whole(review, core.agents.receives_of(review));
            result.shown.origin = core.reviews.origin_of(review.id).cloned();
            core.out.send(connection, &Message::response(id, &result));
        }
        api::HubWatch::METHOD => {
            let watch: api::HubWatch = decode(params)?;
            let window = watch.window.as_deref().map(convert::window_id).transpose()?;
            core.connections.watch(connection, window);
            core.out.send(connection, &Message::response(id, &()));
        }
        api::HistoryList::METHOD => core.history_list(connection, id, decode(params)?)?,
        api::HistoryShow::METHOD => core.history_show(connection, id, &decode(params)?)?,
        api::HistoryUndo::METHOD => core.history_undo(connection, id, &decode(params)?)?,
        api::HistoryUndoTurn::METHOD => core.history_undo_turn(connection, id, &decode(params)?)?,
        api::AsksList::METHOD => {
            let api::AsksList {} = decode(params)?;
            let result = api::AsksListResult { asks: core.asks() };
            core.out.send(connection, &Message::response(id, &result));
        }
        api::AsksAnswer::METHOD => {
            let api::AsksAnswer { ask, option } = decode(params)?;
            let result = core.answer_prompt(connection, &ask, Some(option), None)?;
            core.out.send(connection, &Message::response(id, &result));
        }
        api::ClientsList::METHOD => core.list_clients(connection, id),
        api::ClientsAllow::METHOD => core.clients_allow(connection, id, decode(params)?)?,
        api::ClientsRevoke::METHOD => core.clients_revoke(connection, id, decode(params)?),
        api::PageLink::METHOD => core.out.push(Action::LinkPage { connection, request: id }),
        api::PageRevoke::METHOD => core.out.push(Action::RevokePage { connection, request: id }),
        _ => return Err(RpcError::new(errors::METHOD_NOT_FOUND, format!("unknown method `{method}`"))),
    }
    Ok(())
}

fn handle_notification(
    core: &mut Core,
    connection: ConnectionId,
    method: &str,
    params: &RawValue,
) -> Result<(), RpcError> {
    let window = core.connections.attached(connection)?;
    match method {
        api::Detach::METHOD => {
            core.connections.detach(connection);
            core.detached(window);
        }
        FoldersChanged::METHOD => {
            let changed: FoldersChanged = decode(params)?;
            core.folders_changed(window, changed.folders);
        }
        SelectionChanged::METHOD => {
            let changed: SelectionChanged = decode(params)?;
            core.selection_changed(window, changed.selection);
        }
        Mentioned::METHOD => core.mentioned(window, decode(params)?),
        DiagnosticsChanged::METHOD => {
            let changed: DiagnosticsChanged = decode(params)?;
            core.diagnostics_changed(window, changed.files);
        }
        api::ReviewShown::METHOD => {
            let shown: api::ReviewShown = decode(params)?;
            let review = core.reviews.named(&shown.review)?;
            core.tell_watchers_of(review, api::ReviewChange::Shown { revision: shown.revision });
        }
        api::FocusChanged::METHOD => {
            let changed: api::FocusChanged = decode(params)?;
            if changed.focused {
                core.windows.focus(&mut core.out, window);
            }
        }
        api::DocumentsChanged::METHOD => core.context_changed(window),
        // Known, and nothing follows from it: a closed tab is not a decision.
        api::ReviewClosed::METHOD => {}
        _ => {
            return Err(RpcError::new(errors::METHOD_NOT_FOUND, format!("unknown notification `{method}`")));
        }
    }
    Ok(())
}

fn handle_response(
    core: &mut Core,
    connection: ConnectionId,
    id: Option<RequestId>,
    result: Result<&RawValue, RpcError>,
) {
    let Some(RequestId::Number(id)) = id else { return };
    match core.connections.take_request(&mut core.out, connection, id) {
        Some(then) => resume(core, then, result.map_err(NoAnswer::Error)),
        // Its request timed out, or was never sent; but if it asked for an undo, that is over now.
        None => core.answered_late(connection, id),
    }
}

/// Whether this asks for a write that may yet happen: then its answer is waited for, and the file is read meanwhile.
fn wait_for_late_write(core: &mut Core, ticket: Ticket) -> bool {
    let Some(Continuation::Editor(EditorRequest {
        then: AfterAnswer::EditsApplied { review, save, late },
        ..
    })) = core.out.pending.get_mut(ticket)
    else {
        return false;
    };
    let (review, save) = (*review, *save);
    if !late.waits_longer(core.out.now_ms) {
        return false;
    }
    core.out.wait_longer(ticket, LATE_WRITE_MS);
    core.look_whether_written(review, save);
    true
}

fn resume(core: &mut Core, then: AfterAnswer, answer: Result<&RawValue, NoAnswer>) {
    match then {
        AfterAnswer::Call(call) => core.call_answered(call, answer),
        AfterAnswer::LiveText { purpose, disk } => core.live_text(purpose, disk, read_answer(answer)),
        AfterAnswer::EditsApplied { review, save, .. } => {
            core.edits_applied(review, save, read_answer(answer));
        }
        AfterAnswer::EditsRestored(ticket) => core.edits_restored(ticket, read_answer(answer)),
        AfterAnswer::ContextSelection(window) => core.context_selected(window, read_answer(answer)),
        AfterAnswer::IdeSelection(waiting) => core.ide_selected(waiting, read_answer(answer)),
        AfterAnswer::IdeDocuments(waiting, selection) => {
            core.ide_listed(waiting, selection, read_answer(answer));
        }
        AfterAnswer::ContextDocuments(window) => core.context_listed(window, read_answer(answer)),
        AfterAnswer::ChangedDiagnostics(window) => {
            core.changed_diagnostics_known(window, read_answer(answer));
        }
        AfterAnswer::ChatSymbols { reader, request, window } => {
            chats::symbols_known(core, reader, request, window, read_answer(answer));
        }
        AfterAnswer::Heartbeat | AfterAnswer::Ignore => {}
    }
}
