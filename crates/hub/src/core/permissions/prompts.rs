//! Open prompts: what the user is asked before an agent does something. Plain state; where a prompt is shown, and what
//! follows from its answer, is decided in `approval`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_dialect::{CallId, Request, WorkspaceRequest};
use linkspan_editor_api as api;
use linkspan_editor_api::{AskOption, PermissionKind};
use linkspan_review::{AgentId, WindowId};

use crate::core::pending::ToolCall;
use crate::core::principal::AgentPrincipal;

/// The user reads each of them. A program that asks more often is not working with a user.
pub(super) const PROMPTS_PER_AGENT: usize = 16;

/// Counts closed prompts as well: an agent that asks, withdraws and asks again would wear the user down.
pub(super) const PROMPTS_PER_MINUTE: usize = 30;
const MINUTE_MS: u64 = 60_000;

/// Of all agents of a window together: a program may reconnect under ever new names.
pub(super) const PROMPTS_PER_WINDOW: usize = 90;

/// The permission that this request needs, and the text that the user is shown.
pub(in crate::core) fn permission_for(request: &Request) -> Option<(PermissionKind, Cow<'_, str>)> {
    match request {
        Request::RunInTerminal { command, .. } | Request::Permission { command } => {
            Some((PermissionKind::Command, command.into()))
        }
        Request::Start { command, folder } => {
            let folder = api::visible::name(&folder.display().to_string());
            Some((PermissionKind::Command, format!("{command}\n\nin {folder}").into()))
        }
        Request::Consent { what } => Some((PermissionKind::Command, what.into())),
        Request::ExecuteCode { code } => Some((PermissionKind::Code, code.into())),
        Request::Workspace(WorkspaceRequest::GitStage { folder, paths }) => {
            // One line each, whatever their names contain.
            let shown = |path: &PathBuf| api::visible::name(&path.display().to_string());
            let paths: Vec<String> = paths.iter().map(shown).collect();
            Some((PermissionKind::Git, format!("git{} add\n{}", within(folder), paths.join("\n")).into()))
        }
        Request::Workspace(WorkspaceRequest::GitCommit { folder, message, all }) => {
            let all = if *all { " --all" } else { "" };
            Some((PermissionKind::Git, format!("git{} commit{all}\n\n{message}", within(folder)).into()))
        }
        _ => None,
    }
}

/// Names the repository, as an option of git.
fn within(folder: &Option<PathBuf>) -> String {
    let named = folder.as_ref().map(|folder| api::visible::name(&folder.display().to_string()));
    named.map(|folder| format!(" -C {folder}")).unwrap_or_default()
}

/// An agent may call itself anything; its dialect is certain.
fn question(deed: PermissionKind, agent: &str, dialect: &str, request: &Request) -> String {
    let name = api::visible::name(agent);
    let agent = if name == dialect { name } else { format!("{name} ({dialect})") };
    match (deed, request) {
        (PermissionKind::Command, Request::RunInTerminal { cwd: Some(cwd), .. }) => {
            let cwd = api::visible::name(&cwd.display().to_string());
            format!("Allow {agent} to run this command in {cwd}?")
        }
        (PermissionKind::Command, Request::Permission { .. }) => {
            format!("Allow {agent} to run this command?")
        }
        (PermissionKind::Command, Request::Start { .. }) => {
            format!("Start {agent}? It runs as you, and asks before it changes files.")
        }
        (PermissionKind::Command, Request::Consent { .. }) => format!("Allow {agent} to do this?"),
        (PermissionKind::Command, _) => format!("Allow {agent} to run this command in a terminal?"),
        (PermissionKind::Code, _) => format!("Allow {agent} to execute this code in the active notebook?"),
        (PermissionKind::Edit, _) => format!("Allow {agent} to change files without a review?"),
        (PermissionKind::Git, Request::Workspace(WorkspaceRequest::GitStage { .. })) => {
            format!("Allow {agent} to stage this?")
        }
        (PermissionKind::Git, _) => format!("Allow {agent} to commit this?"),
    }
}

#[derive(Debug)]
pub(in crate::core) struct Prompt {
    pub(in crate::core) who: AgentPrincipal,
    pub(super) dialect: &'static str,
    pub(super) deed: PermissionKind,
    pub(super) tool: ToolCall,
    pub(super) ask: api::UserAsk,
    pub(super) asked_ms: u64,
}

/// Why an answer to a prompt does not count.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AnswerError {
    /// The prompt was answered before, or is no longer open.
    Closed,
    /// The prompt does not offer this answer.
    NotOffered,
}

#[derive(Debug)]
pub(super) struct Prompts {
    /// By number, oldest first.
    open: BTreeMap<u64, Prompt>,
    last: u64,
    /// Part of each id: a prompt of an earlier hub may still be on the screen, and must not have the id of another.
    instance_id: String,
    /// Who asked when, in the last minute.
    asked: Vec<(u64, AgentId, AgentPrincipal)>,
}

impl Prompts {
    pub(super) fn new(instance_id: &str) -> Prompts {
        Prompts { open: BTreeMap::new(), last: 0, instance_id: instance_id.to_owned(), asked: Vec::new() }
    }

    /// How many prompts there were in the last minute, by this agent or by one that cannot be told apart from it.
    pub(super) fn asked_lately(&mut self, agent: AgentId, who: &AgentPrincipal, now_ms: u64) -> usize {
        self.asked.retain(|(at, ..)| now_ms.saturating_sub(*at) < MINUTE_MS);
        self.asked.iter().filter(|(_, by, as_who)| *by == agent || as_who == who).count()
    }

    /// How many prompts there were in this window in the last minute, by any agent.
    pub(super) fn asked_here_lately(&self, window: WindowId, now_ms: u64) -> usize {
        let lately = |at: u64| now_ms.saturating_sub(at) < MINUTE_MS;
        self.asked.iter().filter(|(at, _, who)| lately(*at) && who.window == window).count()
    }

    /// The prompt that this call waits for.
    pub(super) fn of_call(&self, agent: AgentId, call: CallId) -> Option<&Prompt> {
        self.open.values().find(|prompt| prompt.tool.agent == agent && prompt.tool.call == call)
    }

    pub(super) fn open_of(&self, agent: AgentId) -> usize {
        self.open.values().filter(|prompt| prompt.tool.agent == agent).count()
    }

    /// Adds a prompt, to be shown to the user.
    pub(super) fn add(
        &mut self,
        who: AgentPrincipal,
        dialect: &'static str,
        tool: ToolCall,
        can_remember: bool,
        now_ms: u64,
    ) -> Option<&Prompt> {
        let (deed, text) = permission_for(&tool.request)?;
        let mut options = vec![AskOption::AllowOnce];
        // What one question is about says nothing about the next.
        if !matches!(tool.request, Request::Start { .. } | Request::Consent { .. }) {
            options.push(AskOption::AllowSession);
            options.extend(can_remember.then_some(AskOption::AllowAlways));
        }
        options.push(AskOption::Deny);
        self.last += 1;
        let ask = api::UserAsk {
            ask: format!("q-{}-{}", self.instance_id, self.last),
            question: question(deed, &who.name, dialect, &tool.request),
            detail: Some(api::visible::text(&text)),
            labels: options.iter().map(|option| api::labels::answer(*option, &who.name, deed)).collect(),
            options,
        };
        self.asked.push((now_ms, tool.agent, who.clone()));
        let prompt = Prompt { who, dialect, deed, tool, ask, asked_ms: now_ms };
        Some(self.open.entry(self.last).insert_entry(prompt).into_mut())
    }

    /// Oldest first.
    pub(super) fn open(&self) -> impl Iterator<Item = &Prompt> {
        self.open.values()
    }

    /// Removes the prompt that this answers; the first answer counts.
    pub(super) fn answer(
        &mut self,
        ask: &str,
        option: Option<AskOption>,
        may_answer: impl Fn(&Prompt) -> bool,
    ) -> Result<Prompt, AnswerError> {
        let meant = |prompt: &Prompt| prompt.ask.ask == ask && may_answer(prompt);
        let found = self.open.iter().find(|(_, prompt)| meant(prompt));
        let (number, prompt) = found.map(|(number, prompt)| (*number, prompt)).ok_or(AnswerError::Closed)?;
        if option.is_some_and(|option| !prompt.ask.options.contains(&option)) {
            return Err(AnswerError::NotOffered);
        }
        self.open.remove(&number).ok_or(AnswerError::Closed)
    }

    /// Removes the prompts of an agent that no longer waits: all, or that of one call.
    pub(super) fn drain_of(&mut self, agent: AgentId, call: Option<CallId>) -> Vec<Prompt> {
        let meant = |tool: &ToolCall| tool.agent == agent && call.is_none_or(|call| call == tool.call);
        self.drain(|prompt| meant(&prompt.tool))
    }

    pub(super) fn drain(&mut self, meant: impl Fn(&Prompt) -> bool) -> Vec<Prompt> {
        self.open.extract_if(.., |_, prompt| meant(prompt)).map(|(_, prompt)| prompt).collect()
    }
}
