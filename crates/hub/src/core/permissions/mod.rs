//! What agents may do only with the user's permission: run commands, execute code, change files without a review, stage
//! and commit.
//!
//! Owns the grants, the open prompts, and what waits until `clients.toml` was read again. The file itself is read and
//! changed by the edge.
//!
//! Must not know: how an allowed request is carried out (`requests`, `reviews`).
//!
//! Invariants: nothing runs without a grant or an answer to its own prompt; the first answer counts; if the remembered
//! grants cannot be read, none of them counts.

pub(super) mod approval;
pub(super) mod clients;
mod grants;
mod prompts;

pub(super) use prompts::permission_for;

use linkspan_dialect::CallId;
use linkspan_editor_api as api;
use linkspan_editor_api::{AskOption, RequestId, RpcError};
use linkspan_review::{AgentId, WindowId};

use crate::core::Core;
use crate::core::contract::ConnectionId;
use crate::core::out::Out;
use crate::core::pending::ToolCall;
use crate::core::permissions::clients::AfterReload;
use crate::core::permissions::grants::Grants;
use crate::core::permissions::prompts::Prompts;
use crate::core::principal::AgentPrincipal;

#[derive(Debug)]
pub(super) struct Permissions {
    grants: Grants,
    prompts: Prompts,
    /// What continues once `clients.toml` was read again.
    after_reload: Vec<AfterReload>,
}

impl Permissions {
    pub(super) fn new(instance_id: &str) -> Permissions {
        Permissions {
            grants: Grants::default(),
            prompts: Prompts::new(instance_id),
            after_reload: Vec::new(),
        }
    }

    /// Runs the request if it is allowed, once the remembered grants are read again; else the user is asked.
    pub(super) fn request(&mut self, out: &mut Out, tool: ToolCall) {
        self.reload(out, AfterReload::Tool(tool));
    }

    /// Grants in a window end with it.
    pub(super) fn window_closed(&mut self, window: WindowId) {
        self.grants.window_closed(window);
    }

    /// The id of the prompt that this call waits for.
    pub(super) fn prompt_of(&self, agent: AgentId, call: CallId) -> Option<String> {
        self.prompts.of_call(agent, call).map(|prompt| prompt.ask.ask.clone())
    }

    pub(super) fn open_prompts(&self) -> usize {
        self.prompts.open().count()
    }
}

/// What other parts of the core start.
impl Core {
    /// The open prompts, oldest first.
    pub(super) fn asks(&self) -> Vec<api::AskSummary> {
        approval::summaries(self)
    }

    /// An answer in an editor counts for the agents of its window. Returns whether the prompt was still open.
    pub(super) fn person_answered(
        &mut self,
        connection: ConnectionId,
        answered: &api::UserAnswered,
    ) -> Result<api::UserAnsweredResult, RpcError> {
        let window = self.connections.attached(connection)?;
        let option = match answered.result {
            api::UserAskResult::Answered { option } => Some(option),
            api::UserAskResult::Dismissed => None,
        };
        self.answer_prompt(connection, &answered.ask, option, Some(window))
    }

    /// `prompting`: it was answered in the prompt that the editor of this window shows, and not in a list of all.
    pub(super) fn answer_prompt(
        &mut self,
        connection: ConnectionId,
        ask: &str,
        option: Option<AskOption>,
        prompting: Option<WindowId>,
    ) -> Result<api::UserAnsweredResult, RpcError> {
        approval::answer_prompt(self, connection, ask, option, prompting)
    }

    /// The editor of this window is back, or another one attached: it shows the open prompts.
    pub(super) fn show_prompts(&mut self, window: WindowId) {
        approval::show_prompts(self, window);
    }

    /// The agent no longer waits for this call, or for any.
    pub(super) fn close_prompts(&mut self, agent: AgentId, call: Option<CallId>) {
        approval::close_prompts(self, agent, call);
    }

    /// The agent introduced itself.
    pub(super) fn grants_agent_joined(&mut self, id: AgentId) {
        if let Some(agent) = self.agents.get(&id) {
            let grace_ms = self.out.config.agent_grace_seconds * 1000;
            self.permissions.grants.agent_joined(&agent.principal(), self.out.now_ms, grace_ms);
        }
    }

    /// The agent is no longer there: its connection ended, or it changed its name.
    pub(super) fn grants_agent_left(&mut self, gone: &AgentPrincipal, said_goodbye: bool) {
        approval::agent_left(self, gone, said_goodbye);
    }

    pub(super) fn grants_agent_renamed(&mut self, id: AgentId, before: &AgentPrincipal) {
        approval::agent_renamed(self, id, before);
    }

    pub(super) fn list_clients(&mut self, connection: ConnectionId, request: RequestId) {
        self.permissions.reload(&mut self.out, AfterReload::List { connection, request });
    }

    pub(super) fn clients_allow(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        allow: api::ClientsAllow,
    ) -> Result<(), RpcError> {
        clients::allow(self, connection, request, allow)
    }

    /// Effective immediately.
    pub(super) fn clients_revoke(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        revoke: api::ClientsRevoke,
    ) {
        clients::revoke(self, connection, request, revoke);
    }
}
