//! Requests of agents about a window, answered by its editor, or by the hub if they need no editor.
//!
//! Owns the terminals of agents. A request goes to the file of its group; a file that it names is checked first.

mod active_file;
mod editor_answers;
mod hook_reports;
pub(super) mod ide_context;
mod language;
mod notices;
mod tabs;
pub(super) mod terminals;
mod workspace;

use std::path::{Path, PathBuf};

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, OpenSelection, Request};
use linkspan_editor_api as api;
use linkspan_editor_api::{RequestId, RpcError};
use linkspan_review::{AgentId, Format, Text, Writer};
use linkspan_workspace::WorkspaceError;
use serde_json::value::RawValue;

use crate::core::Core;
use crate::core::agents::Agent;
use crate::core::chats;
use crate::core::contract::{ConnectionId, JobOutput, Ticket};
use crate::core::convert::unanswered;
use crate::core::files::Base;
use crate::core::pending::{AfterAnswer, Continuation, IdeQuestion, NoAnswer, ReadPurpose, ToolCall};
use crate::core::permissions::permission_for;
use crate::core::reviews::patches;
use crate::core::reviews::propose::{ProposedChange, submit_proposal};

/// How long the code of a notebook may run before its answer is given up.
const CODE_WAIT_MS: u32 = 60_000;

/// How long an agent may let an editor wait for its language servers, or for a command.
pub(super) const LONGEST_WAIT_MS: u32 = 120_000;

impl Core {
    pub(super) fn handle_call(&mut self, agent: AgentId, call: CallId, request: Request) {
        let Some(window) = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window)) else {
            return;
        };
        let has = window.capabilities;
        match request {
            Request::WorkspaceFolders => {
                let folders = Answer::Folders(window.identity.folders.clone());
                self.agents.answer(&mut self.out, agent, call, &folders);
            }
            Request::EditorInfo => {
                let api::Editor { name, version } = window.editor.clone();
                self.agents.answer(&mut self.out, agent, call, &Answer::EditorInfo { name, version });
            }
            Request::NameSession { .. } => {
                self.agents.answer(&mut self.out, agent, call, &Answer::SessionNamed)
            }
            Request::CloseTab { label } => tabs::close(self, agent, call, &label),
            Request::CloseAllDiffs => tabs::close_all(self, agent, call),
            Request::Edit { direct: true, .. } => {
                self.permissions.request(&mut self.out, ToolCall { agent, call, request })
            }
            Request::Edit { .. } => self.edit(ToolCall { agent, call, request }),
            Request::Patch { .. } => patches::patch(self, ToolCall { agent, call, request }),
            Request::Message { text, level } => {
                notices::notify_user(self, agent, &text, level);
                self.agents.answer(&mut self.out, agent, call, &Answer::MessageShown);
            }
            Request::Propose { compare_with: Some(ref other), .. } => {
                let other = other.clone();
                self.read_base(ReadPurpose::CompareWith(ToolCall { agent, call, request }), other);
            }
            Request::Propose { ref path, .. } | Request::Record { ref path, .. } => {
                let path = path.clone();
                let tool = ToolCall { agent, call, request };
                self.read_base(ReadPurpose::Proposal { tool, again: false, left: None }, path);
            }
            Request::ReadFile { ref path, .. } => {
                let path = path.clone();
                self.read_base(ReadPurpose::Text(ToolCall { agent, call, request }), path);
            }
            Request::ActiveFile(_) => {
                active_file::ask_for_active(self, ToolCall { agent, call, request }, has)
            }
            Request::Workspace(_) if permission_for(&request).is_none() => {
                workspace::work(self, ToolCall { agent, call, request })
            }
            Request::CreateTerminal { cwd: None, .. } => {
                terminals::create_terminal(self, ToolCall { agent, call, request })
            }
            Request::TerminalOutput { .. } => {
                terminals::terminal_output(self, ToolCall { agent, call, request })
            }
            // These name a file: first check that agents may access it.
            Request::OpenFile { ref path, .. }
            | Request::CheckDirty { ref path }
            | Request::Save { ref path }
            | Request::Compare { ref path, .. }
            | Request::Language { ref path, .. }
            | Request::Reveal { ref path, .. }
            | Request::Format { ref path }
            | Request::Rename { ref path, .. }
            | Request::CreateTerminal { cwd: Some(ref path), .. }
            | Request::RunInTerminal { cwd: Some(ref path), .. }
            | Request::Diagnostics { path: Some(ref path), .. } => {
                let path = path.clone();
                self.read_base(ReadPurpose::Path(ToolCall { agent, call, request }), path);
            }
            Request::Diagnostics { path: None, wait_ms } if has.diagnostics => {
                ask_for_diagnostics(self, ToolCall { agent, call, request }, None, wait_ms);
            }
            Request::Diagnostics { path: None, .. } => {
                self.agents.answer(&mut self.out, agent, call, &Answer::Diagnostics(Vec::new()))
            }
            Request::CurrentSelection if has.selection => {
                ask_editor(self, ToolCall { agent, call, request }, &api::SelectionCurrent {});
            }
            Request::LatestSelection if has.selection => {
                ask_editor(self, ToolCall { agent, call, request }, &api::SelectionLatest {});
            }
            Request::CurrentSelection | Request::LatestSelection => {
                self.agents.answer(&mut self.out, agent, call, &Answer::Selection(None))
            }
            Request::OpenEditors if has.documents => {
                ask_editor(self, ToolCall { agent, call, request }, &api::DocumentsList {});
            }
            Request::OpenEditors => {
                self.agents.answer(&mut self.out, agent, call, &Answer::Editors(Vec::new()))
            }
            Request::RunInTerminal { cwd: None, .. } => {
                terminals::run_in_terminal(self, ToolCall { agent, call, request });
            }
            Request::Permission { .. } | Request::Start { .. } | Request::Consent { .. } => {
                self.permissions.request(&mut self.out, ToolCall { agent, call, request });
            }
            Request::ExecuteCode { .. } | Request::Workspace(_) => {
                let request = workspace::in_its_place(self, agent, request);
                self.permissions.request(&mut self.out, ToolCall { agent, call, request });
            }
        }
    }

    /// The file of a call is inside the workspace: `place` is its real path.
    pub(super) fn path_checked(&mut self, tool: ToolCall, result: Result<(PathBuf, bool), Failure>) {
        let (place, exists) = match result {
            Ok(checked) => checked,
            Err(failure) => {
                return self.agents.answer(&mut self.out, tool.agent, tool.call, &Answer::Failed(failure));
            }
        };
        let ToolCall { agent, call, .. } = tool;
        let Some(window) = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window)) else {
            return;
        };
        let has = window.capabilities;
        let path = window.editor_path(&place).display().to_string();
        match &tool.request {
            Request::OpenFile { .. } if !exists => {
                self.agents.fail(
                    &mut self.out,
                    agent,
                    call,
                    FailureKind::NotFound,
                    format!("there is no file {path}"),
                );
            }
            Request::OpenFile { preview, focus, target, .. } if has.documents => {
                let open = api::DocumentOpen {
                    path,
                    preview: *preview,
                    focus: *focus,
                    target: target.as_ref().map(open_target),
                };
                ask_editor(self, tool, &open);
            }
            // Without an editor there is no tab to open; it is enough that the file exists.
            Request::OpenFile { .. } => {
                self.agents.answer(
                    &mut self.out,
                    agent,
                    call,
                    &Answer::Opened { path: place, language: None, line_count: None },
                );
            }
            Request::CheckDirty { .. } if has.documents => {
                ask_editor(self, tool, &api::DocumentDirty { path })
            }
            Request::CheckDirty { .. } => {
                self.agents.answer(
                    &mut self.out,
                    agent,
                    call,
                    &Answer::Dirty { path: place, open: false, dirty: false, untitled: false },
                );
            }
            Request::Save { .. } if has.documents => ask_editor(self, tool, &api::DocumentSave { path }),
            Request::Save { .. } => {
                self.agents.answer(
                    &mut self.out,
                    agent,
                    call,
                    &Answer::Saved { path: place, saved: false, open: false },
                );
            }
            Request::Diagnostics { wait_ms, .. } if has.diagnostics => {
                let wait_ms = *wait_ms;
                ask_for_diagnostics(self, tool, Some(path), wait_ms);
            }
            Request::Compare { .. } => compare(self, tool, place),
            Request::RunInTerminal { .. } | Request::CreateTerminal { .. } if !exists => {
                self.agents.fail(
                    &mut self.out,
                    agent,
                    call,
                    FailureKind::NotFound,
                    format!("there is no folder {path}"),
                );
            }
            Request::RunInTerminal { command, wait_ms, terminal, .. } => {
                let (command, terminal) = (command.clone(), terminal.clone());
                let (cwd, wait_ms) = (Some(path.into()), *wait_ms);
                let request = Request::RunInTerminal { command, cwd, wait_ms, terminal };
                terminals::run_in_terminal(self, ToolCall { agent, call, request });
            }
            Request::CreateTerminal { name, .. } => {
                let request = Request::CreateTerminal { name: name.clone(), cwd: Some(path.into()) };
                terminals::create_terminal(self, ToolCall { agent, call, request });
            }
            Request::Reveal { .. } | Request::Format { .. } | Request::Rename { .. } if !exists => {
                self.agents.fail(
                    &mut self.out,
                    agent,
                    call,
                    FailureKind::NotFound,
                    format!("there is no file {path}"),
                );
            }
            Request::Reveal { line, .. } if has.documents => {
                let at = api::Position { line: *line, character: 0 };
                let range = api::Range { start: at, end: at };
                ask_editor(self, tool, &api::DocumentReveal { path, range });
            }
            Request::Format { .. } if has.format => {
                ask_editor(self, tool, &api::DocumentFormat { path, range: None });
            }
            Request::Rename { position, new_name, .. } if has.language => {
                let (position, new_name) = (*position, new_name.clone());
                ask_editor(self, tool, &api::LanguageRename { path, position, new_name });
            }
            Request::Reveal { .. } | Request::Format { .. } | Request::Rename { .. } => {
                self.agents.fail(
                    &mut self.out,
                    agent,
                    call,
                    FailureKind::Unsupported,
                    "this editor does not support that",
                );
            }
            Request::Language { question, .. } => {
                let question = *question;
                language::ask_about(self, tool, path, question, has);
            }
            _ => self.agents.answer(&mut self.out, agent, call, &Answer::Diagnostics(Vec::new())),
        }
    }

    pub(super) fn call_answered(&mut self, tool: ToolCall, answer: Result<&RawValue, NoAnswer>) {
        match &tool.request {
            Request::ActiveFile(_) => return active_file::active_known(self, tool, answer),
            Request::Format { .. } => return active_file::formatted(self, tool, answer),
            Request::Rename { .. } => return language::renamed(self, tool, answer),
            _ => {}
        }
        let Some(window) = self.agents.get(&tool.agent).and_then(|agent| self.windows.get(&agent.window))
        else {
            return;
        };
        let answer = editor_answers::encode(&tool.request, answer, window)
            .unwrap_or_else(|no_answer| Answer::Failed(unanswered(&no_answer)));
        if let Answer::Ran(api::TerminalRunResult { terminal, .. }) | Answer::TerminalMade { terminal, .. } =
            &answer
            && let Some(who) = self.agents.get(&tool.agent).map(Agent::principal)
        {
            self.terminals.add_of_editor(&mut self.out, who, terminal);
        }
        self.agents.answer(&mut self.out, tool.agent, tool.call, &answer);
    }

    /// Carries out what the user has allowed.
    pub(super) fn run_permitted(&mut self, tool: ToolCall) {
        match &tool.request {
            Request::ExecuteCode { code } => {
                let execute = api::CodeExecute { code: code.clone() };
                ask_editor_within(self, tool, &execute, CODE_WAIT_MS);
            }
            Request::RunInTerminal { .. } => terminals::run_command(self, tool),
            Request::Permission { .. } | Request::Start { .. } | Request::Consent { .. } => {
                let allowed = Answer::Permission { allowed: true, message: None };
                self.agents.answer(&mut self.out, tool.agent, tool.call, &allowed);
            }
            Request::Workspace(_) => workspace::work(self, tool),
            _ => {}
        }
    }

    /// An agent reports an event of its hooks.
    pub(super) fn hook_reported(
        &mut self,
        connection: ConnectionId,
        request: RequestId,
        report: api::HookReport,
    ) -> Result<(), RpcError> {
        hook_reports::handle(self, connection, request, report)
    }

    /// The editor told what is selected, for Codex's terminal program.
    pub(super) fn ide_selected(
        &mut self,
        waiting: IdeQuestion,
        answer: Result<Option<api::Selection>, NoAnswer>,
    ) {
        ide_context::selected(self, waiting, answer);
    }

    /// The editor told what is open, for Codex's terminal program.
    pub(super) fn ide_listed(
        &mut self,
        waiting: IdeQuestion,
        selection: Option<Box<api::Selection>>,
        answer: Result<api::DocumentsListResult, NoAnswer>,
    ) {
        ide_context::listed(self, waiting, selection, answer);
    }

    /// Tells the user once that a change is too large to be proposed.
    pub(super) fn notify_too_large(&mut self, agent: AgentId, path: &Path, failure: &Failure) {
        notices::notify_too_large(self, agent, path, failure);
    }

    /// The file is read: the agent receives its text.
    pub(super) fn text_read(&mut self, tool: &ToolCall, base: Result<Base, Failure>) {
        let Some(answer) = workspace::text(tool, base) else { return };
        self.agents.answer(&mut self.out, tool.agent, tool.call, &answer);
    }

    pub(super) fn job_done(&mut self, ticket: Ticket, result: Result<JobOutput, WorkspaceError>) {
        if chats::files_found(self, ticket, &result) {
            return;
        }
        // Its call no longer waits if it is not there.
        let Some(Continuation::Job(job)) = self.out.resume(ticket) else { return };
        let answer = match result {
            Ok(JobOutput::Data { json, truncated }) => Answer::Data { json, truncated },
            Ok(JobOutput::Ran(ran)) => self.terminals.command_ran(&job, ran),
            Ok(JobOutput::Printed(output)) => self.terminals.shows(&job, output),
            Err(error) => {
                self.terminals.set_idle(&job);
                Answer::Failed(workspace::failure_of(&error))
            }
        };
        self.agents.answer(&mut self.out, job.agent, job.call, &answer);
    }

    pub(super) fn job_timed_out(&mut self, ticket: Ticket) {
        let Some(Continuation::Job(job)) = self.out.resume(ticket) else { return };
        job.cancel.cancel();
        self.terminals.set_idle(&job);
        let message = "the call timed out and was cancelled";
        self.agents.fail(&mut self.out, job.agent, job.call, FailureKind::Timeout, message);
    }

    /// The agent is gone, or does not want that answer any longer: its jobs must not continue.
    pub(super) fn cancel_jobs(&mut self, agent: AgentId, call: Option<CallId>) {
        let is_theirs = |waiting: &Continuation| matches!(waiting, Continuation::Job(job) if job.agent == agent && call.is_none_or(|call| call == job.call));
        for continuation in self.out.take_pending(is_theirs) {
            let Continuation::Job(job) = continuation else { continue };
            job.cancel.cancel();
            self.terminals.set_idle(&job);
        }
    }
}

/// Both sides are given: nothing is read, and the path is only a name.
fn compare(core: &mut Core, tool: ToolCall, place: PathBuf) {
    let ToolCall { agent, call, request: Request::Compare { before, after, label, set, .. } } = tool else {
        return;
    };
    let window = core.agents.get(&agent).and_then(|agent| core.windows.get(&agent.window));
    let limit_mib = window.map_or(0, |window| window.config.limits.file_mib);
    if before.len().max(after.len()) > limit_mib * 1024 * 1024 {
        let message = format!("a text is larger than the {limit_mib} MiB that `limits.file_mib` allows");
        let failure = Failure::new(FailureKind::TooLarge, message);
        core.notify_too_large(agent, &place, &failure);
        return core.agents.answer(&mut core.out, agent, call, &Answer::Failed(failure));
    }
    let change = ProposedChange {
        path: place,
        label,
        set,
        writer: Writer::Nobody,
        direct: false,
        allowed_by: None,
        inline: false,
        base: Some(Text { format: Format::UTF8, text: before.into() }),
        buffer: None,
        left: None,
        proposed: after,
        asked: None,
    };
    submit_proposal(core, agent, call, change);
}

/// The editor answers after the time that it is asked to wait.
fn ask_for_diagnostics(core: &mut Core, tool: ToolCall, path: Option<String>, wait_ms: Option<u32>) {
    let wait_ms = wait_ms.map(|wait_ms| wait_ms.min(LONGEST_WAIT_MS));
    let get = api::DiagnosticsGet { path, wait_ms };
    ask_editor_within(core, tool, &get, wait_ms.unwrap_or(0));
}

fn ask_editor<R: api::Request>(core: &mut Core, tool: ToolCall, params: &R) {
    ask_editor_within(core, tool, params, 0);
}

fn ask_editor_within<R: api::Request>(core: &mut Core, tool: ToolCall, params: &R, wait_ms: u32) {
    match editor_of(core, tool.agent) {
        Some(connection) => core.ask_and_wait(connection, params, AfterAnswer::Call(tool), wait_ms),
        None => core.call_answered(tool, Err(NoAnswer::Gone)),
    }
}

fn editor_of(core: &Core, agent: AgentId) -> Option<ConnectionId> {
    core.agents
        .get(&agent)
        .and_then(|agent| core.windows.get(&agent.window))
        .and_then(|window| window.connection)
}

fn open_target(target: &OpenSelection) -> api::OpenTarget {
    match target {
        OpenSelection::Lines { start, end } => {
            let end = end.unwrap_or(*start).max(*start);
            let range = api::Range {
                start: api::Position { line: *start, character: 0 },
                // Up to the start of the next line, so that the last line is selected as a whole.
                end: api::Position { line: end.saturating_add(1), character: 0 },
            };
            api::OpenTarget::Range { range }
        }
        OpenSelection::From { start, end_line } => {
            let end = end_line.filter(|end| *end >= start.line);
            let end = end.map_or(*start, |end| api::Position { line: end.saturating_add(1), character: 0 });
            api::OpenTarget::Range { range: api::Range { start: *start, end } }
        }
        OpenSelection::Text { start, end, to_end_of_line } => {
            api::OpenTarget::Text { start: start.clone(), end: end.clone(), to_end_of_line: *to_end_of_line }
        }
    }
}
