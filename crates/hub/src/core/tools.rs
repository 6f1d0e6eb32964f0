//! What agents ask of a window, answered by its editor, or by the hub where the editor has no say.

use std::path::{Path, PathBuf};

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, Printed, Request, Target};
use linkspan_editor_api as api;
use linkspan_review as review;
use linkspan_review::{AgentId, Format, ReviewId, Text, Writer};
use serde_json::value::RawValue;

use super::Core;
use super::base::{BaseWanted, Change};
use super::consent::deed_of;
use super::diagnosed;
use super::editor::{NoAnswer, Resume, read_answer};
use super::event::LocalId;
use super::language::known;
use super::policy::Policy;
use super::windows::Window;
use crate::files::FileError;

/// How long an agent may let an editor wait for its language servers, or for a command.
pub(super) const LONGEST_WAIT_MS: u32 = 120_000;

/// A call that waits for its editor.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) agent: AgentId,
    pub(super) call: CallId,
    pub(super) request: Request,
}

impl Core {
    pub(super) fn tool_called(&mut self, agent: AgentId, call: CallId, request: Request) {
        let Some(window) = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window)) else {
            return;
        };
        let has = window.capabilities;
        match request {
            Request::WorkspaceFolders => {
                let folders = Answer::Folders(window.identity.folders.clone());
                self.answer(agent, call, &folders);
            }
            Request::CloseTab { label } => self.close_tab(agent, call, &label),
            Request::CloseAllDiffs => self.close_all_diffs(agent, call),
            Request::Edit { direct: true, .. } => self.with_consent(ToolCall { agent, call, request }),
            Request::Edit { .. } => self.edit(ToolCall { agent, call, request }),
            Request::Message { text, level } => {
                self.tell_person(agent, &text, level);
                self.answer(agent, call, &Answer::Told);
            }
            Request::Propose { compare_with: Some(ref other), .. } => {
                let other = other.clone();
                self.read_base(BaseWanted::CompareWith(ToolCall { agent, call, request }), other);
            }
            Request::Propose { ref path, .. } => {
                let path = path.clone();
                let tool = ToolCall { agent, call, request };
                self.read_base(BaseWanted::Proposal { tool, again: false, left: None }, path);
            }
            Request::ReadFile { ref path, .. } => {
                let path = path.clone();
                self.read_base(BaseWanted::Text(ToolCall { agent, call, request }), path);
            }
            Request::Active(_) => self.ask_for_active(ToolCall { agent, call, request }, has),
            Request::Work(_) if deed_of(&request).is_none() => self.work(ToolCall { agent, call, request }),
            Request::CreateTerminal { cwd: None, .. } => {
                self.create_terminal(ToolCall { agent, call, request })
            }
            Request::TerminalOutput { .. } => self.terminal_output(ToolCall { agent, call, request }),
            // These name a file: first see that it may be spoken of at all.
            Request::OpenFile { ref path, .. }
            | Request::CheckDirty { ref path }
            | Request::Save { ref path }
            | Request::Compare { ref path, .. }
            | Request::Language { ref path, .. }
            | Request::Reveal { ref path, .. }
            | Request::Format { ref path }
            | Request::CreateTerminal { cwd: Some(ref path), .. }
            | Request::RunInTerminal { cwd: Some(ref path), .. }
            | Request::Diagnostics { path: Some(ref path), .. } => {
                let path = path.clone();
                self.read_base(BaseWanted::Path(ToolCall { agent, call, request }), path);
            }
            Request::Diagnostics { path: None, wait_ms } if has.diagnostics => {
                self.ask_for_diagnostics(ToolCall { agent, call, request }, None, wait_ms);
            }
            Request::Diagnostics { path: None, .. } => {
                self.answer(agent, call, &Answer::Diagnostics(Vec::new()))
            }
            Request::CurrentSelection if has.selection => {
                self.ask_for(ToolCall { agent, call, request }, &api::SelectionCurrent {});
            }
            Request::LatestSelection if has.selection => {
                self.ask_for(ToolCall { agent, call, request }, &api::SelectionLatest {});
            }
            Request::CurrentSelection | Request::LatestSelection => {
                self.answer(agent, call, &Answer::Selection(None))
            }
            Request::OpenEditors if has.documents => {
                self.ask_for(ToolCall { agent, call, request }, &api::DocumentsList {});
            }
            Request::OpenEditors => self.answer(agent, call, &Answer::Editors(Vec::new())),
            Request::RunInTerminal { cwd: None, .. } => {
                self.run_in_terminal(ToolCall { agent, call, request });
            }
            Request::ExecuteCode { .. } | Request::Work(_) => {
                let request = self.in_its_place(agent, request);
                self.with_consent(ToolCall { agent, call, request });
            }
        }
    }

    /// The file of a call is inside the workspace: `place` is where it really is.
    pub(super) fn path_checked(&mut self, tool: ToolCall, result: Result<(PathBuf, bool), Failure>) {
        let (place, exists) = match result {
            Ok(checked) => checked,
            Err(failure) => return self.answer(tool.agent, tool.call, &Answer::Failed(failure)),
        };
        let ToolCall { agent, call, .. } = tool;
        let Some(window) = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window)) else {
            return;
        };
        let has = window.capabilities;
        let path = window.as_named(&place).display().to_string();
        match &tool.request {
            Request::OpenFile { .. } if !exists => {
                self.fail(agent, call, FailureKind::NotFound, format!("there is no file {path}"));
            }
            Request::OpenFile { preview, focus, target, .. } if has.documents => {
                let open = api::DocumentOpen {
                    path,
                    preview: *preview,
                    focus: *focus,
                    target: target.as_ref().map(open_target),
                };
                self.ask_for(tool, &open);
            }
            // Without an editor there is no tab to open; the file is where the agent says, and that is all.
            Request::OpenFile { .. } => {
                self.answer(agent, call, &Answer::Opened { path: place, language: None, line_count: None });
            }
            Request::CheckDirty { .. } if has.documents => self.ask_for(tool, &api::DocumentDirty { path }),
            Request::CheckDirty { .. } => {
                self.answer(
                    agent,
                    call,
                    &Answer::Dirty { path: place, open: false, dirty: false, untitled: false },
                );
            }
            Request::Save { .. } if has.documents => self.ask_for(tool, &api::DocumentSave { path }),
            Request::Save { .. } => {
                self.answer(agent, call, &Answer::Saved { path: place, saved: false, open: false });
            }
            Request::Diagnostics { wait_ms, .. } if has.diagnostics => {
                let wait_ms = *wait_ms;
                self.ask_for_diagnostics(tool, Some(path), wait_ms);
            }
            Request::Compare { .. } => self.compare(tool, place),
            Request::RunInTerminal { .. } | Request::CreateTerminal { .. } if !exists => {
                self.fail(agent, call, FailureKind::NotFound, format!("there is no folder {path}"));
            }
            Request::RunInTerminal { command, wait_ms, terminal, .. } => {
                let (command, terminal) = (command.clone(), terminal.clone());
                let (cwd, wait_ms) = (Some(path.into()), *wait_ms);
                let request = Request::RunInTerminal { command, cwd, wait_ms, terminal };
                self.run_in_terminal(ToolCall { agent, call, request });
            }
            Request::CreateTerminal { name, .. } => {
                let request = Request::CreateTerminal { name: name.clone(), cwd: Some(path.into()) };
                self.create_terminal(ToolCall { agent, call, request });
            }
            Request::Reveal { .. } | Request::Format { .. } if !exists => {
                self.fail(agent, call, FailureKind::NotFound, format!("there is no file {path}"));
            }
            Request::Reveal { line, .. } if has.documents => {
                let at = api::Position { line: *line, character: 0 };
                let range = api::Range { start: at, end: at };
                self.ask_for(tool, &api::DocumentReveal { path, range });
            }
            Request::Format { .. } if has.format => {
                self.ask_for(tool, &api::DocumentFormat { path, range: None });
            }
            Request::Reveal { .. } | Request::Format { .. } => {
                self.fail(agent, call, FailureKind::Unsupported, "this editor cannot do that");
            }
            Request::Language { question, .. } => {
                let question = *question;
                self.ask_about(tool, path, question, has);
            }
            _ => self.answer(agent, call, &Answer::Diagnostics(Vec::new())),
        }
    }

    /// Both sides are given: nothing is read, and the path is only a name.
    fn compare(&mut self, tool: ToolCall, place: PathBuf) {
        let ToolCall { agent, call, request: Request::Compare { before, after, label, set, .. } } = tool
        else {
            return;
        };
        let window = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window));
        let limit_mib = window.map_or(0, |window| window.config.limits.file_mib);
        if before.len().max(after.len()) > limit_mib * 1024 * 1024 {
            let message = format!("a text is larger than the {limit_mib} MiB that `limits.file_mib` allows");
            let failure = Failure::new(FailureKind::TooLarge, message);
            self.tell_too_large(agent, &place, &failure);
            return self.answer(agent, call, &Answer::Failed(failure));
        }
        let base = Some(Text { format: Format::UTF8, text: before.into() });
        let writer = Writer::Nobody;
        let (direct, inline) = (false, false);
        let (path, proposed, asked) = (place, after, None);
        let left = None;
        let change = Change { path, label, set, writer, direct, inline, base, left, proposed, asked };
        self.enter(agent, call, change);
    }

    /// The editor waits as long as it is told to, and answers then.
    fn ask_for_diagnostics(&mut self, tool: ToolCall, path: Option<String>, wait_ms: Option<u32>) {
        let wait_ms = wait_ms.map(|wait_ms| wait_ms.min(LONGEST_WAIT_MS));
        let get = api::DiagnosticsGet { path, wait_ms };
        self.ask_for_in(tool, &get, wait_ms.unwrap_or(0));
    }

    pub(super) fn ask_for<R: api::Request>(&mut self, tool: ToolCall, params: &R) {
        self.ask_for_in(tool, params, 0);
    }

    pub(super) fn ask_for_in<R: api::Request>(&mut self, tool: ToolCall, params: &R, wait_ms: u32) {
        match self.editor_of(tool.agent) {
            Some(local) => self.ask_and_wait(local, params, Resume::Tool(tool), wait_ms),
            None => self.tool_answered(tool, Err(NoAnswer::Gone)),
        }
    }

    fn editor_of(&self, agent: AgentId) -> Option<LocalId> {
        self.agents
            .get(&agent)
            .and_then(|agent| self.windows.get(&agent.window))
            .and_then(|window| window.local)
    }

    pub(super) fn tool_answered(&mut self, tool: ToolCall, answer: Result<Box<RawValue>, NoAnswer>) {
        match &tool.request {
            Request::Active(_) => return self.active_known(tool, answer),
            Request::Format { .. } => return self.formatted(tool, answer),
            _ => {}
        }
        let Some(window) = self.agents.get(&tool.agent).and_then(|agent| self.windows.get(&agent.window))
        else {
            return;
        };
        let answer = encode(&tool.request, answer, window)
            .unwrap_or_else(|no_answer| Answer::Failed(unanswered(&no_answer)));
        if let Answer::Ran(api::TerminalRunResult { terminal, .. }) | Answer::TerminalMade { terminal, .. } =
            &answer
        {
            self.terminal_in_editor(&tool, terminal);
        }
        self.answer(tool.agent, tool.call, &answer);
    }

    /// Closing the tab of a change is how an agent takes it back; other tabs are none of its business.
    fn close_tab(&mut self, agent: AgentId, call: CallId, label: &str) {
        let Some(asker) = self.agents.get(&agent) else { return };
        // By what the agent called it: the review has that only shortened.
        let named: Vec<CallId> =
            asker.session.open_changes().filter(|(_, named)| *named == label).map(|(call, _)| call).collect();
        let waiting = asker.waiting.iter().filter(|(_, waiting)| named.contains(waiting));
        let theirs: Vec<ReviewId> = waiting.map(|(review, _)| *review).collect();
        let text = theirs.last().and_then(|review| self.state.review(*review));
        let text = text.map(|review| review.as_sent(review.side()).into_owned());
        for review in theirs {
            self.apply(review::Event::Withdrawn { review });
        }
        self.take_back_unread(agent, |named| named == label);
        self.answer(agent, call, &Answer::TabClosed { text });
    }

    fn close_all_diffs(&mut self, agent: AgentId, call: CallId) {
        let theirs = self.open_reviews_of(agent);
        let mut count = theirs.len();
        for review in theirs {
            self.apply(review::Event::Withdrawn { review });
        }
        count += self.take_back_unread(agent, |_| true);
        self.answer(agent, call, &Answer::DiffsClosed(count));
    }

    /// Changes whose file is still being read are no reviews yet; gives how many were meant.
    fn take_back_unread(&mut self, id: AgentId, meant: impl Fn(&str) -> bool) -> usize {
        let Some(agent) = self.agents.get(&id) else { return 0 };
        let unread = agent.session.open_changes().filter(|(call, label)| {
            meant(label) && !agent.waiting.iter().any(|(_, waiting)| waiting == call)
        });
        let unread: Vec<CallId> = unread.map(|(call, _)| call).collect();
        for call in &unread {
            self.fail(id, *call, FailureKind::Withdrawn, "the change was withdrawn before anyone decided");
        }
        unread.len()
    }

    fn open_reviews_of(&self, agent: AgentId) -> Vec<ReviewId> {
        let open = self.state.reviews().filter(|review| review.owner == Some(agent) && review.is_open());
        open.map(|review| review.id).collect()
    }
}

/// The editor's answer in the agent's terms, without what may not leave the window.
fn encode(
    request: &Request,
    answer: Result<Box<RawValue>, NoAnswer>,
    window: &Window,
) -> Result<Answer, NoAnswer> {
    Ok(match request {
        Request::OpenFile { path, .. } => {
            let opened: api::DocumentOpenResult = read_answer(answer)?;
            Answer::Opened { path: path.clone(), language: opened.language, line_count: opened.line_count }
        }
        Request::Diagnostics { .. } => {
            let mut found: api::DiagnosticsGetResult = read_answer(answer)?;
            found.files.retain(|file| !window.policy.denies(&file.path));
            diagnosed::bounded(&mut found.files);
            Answer::Diagnostics(found.files)
        }
        Request::CurrentSelection | Request::LatestSelection => {
            let selection: Option<api::Selection> = read_answer(answer)?;
            Answer::Selection(selection.filter(|selection| !window.policy.denies(&selection.path)))
        }
        Request::OpenEditors => {
            let mut open: api::DocumentsListResult = read_answer(answer)?;
            open.documents.retain(|document| !window.policy.denies(&document.path));
            Answer::Editors(open.documents)
        }
        Request::CheckDirty { path } => {
            let api::DocumentDirtyResult { open, dirty, untitled } = read_answer(answer)?;
            Answer::Dirty { path: path.clone(), open, dirty, untitled }
        }
        Request::Save { path } => {
            let saved: api::DocumentSaveResult = read_answer(answer)?;
            match saved.message {
                Some(message) if !saved.saved => Answer::Failed(Failure::new(FailureKind::Io, message)),
                _ => Answer::Saved { path: path.clone(), saved: saved.saved, open: saved.open },
            }
        }
        Request::ExecuteCode { .. } => {
            let executed: api::CodeExecuteResult = read_answer(answer)?;
            Answer::Executed(executed.outputs.join("\n"))
        }
        Request::RunInTerminal { .. } => Answer::Ran(read_answer(answer)?),
        Request::CreateTerminal { name, .. } => {
            let api::TerminalCreateResult { terminal } = read_answer(answer)?;
            let name = name.clone().unwrap_or_else(|| terminal.clone());
            Answer::TerminalMade { terminal, name }
        }
        Request::TerminalOutput { terminal } => {
            let api::TerminalOutputResult { output, running, exit_code } = read_answer(answer)?;
            let terminal = terminal.clone().unwrap_or_default();
            Answer::Printed(Printed { terminal, output, running, exit_code, truncated: false })
        }
        Request::Reveal { .. } => {
            let api::DocumentRevealResult { revealed } = read_answer(answer)?;
            Answer::Revealed(revealed)
        }
        Request::Language { path, question } => Answer::Known(known(path, *question, answer, window)?),
        Request::Active(_)
        | Request::Format { .. }
        | Request::ReadFile { .. }
        | Request::Work(_)
        | Request::Propose { .. }
        | Request::Edit { .. }
        | Request::Message { .. }
        | Request::Compare { .. }
        | Request::WorkspaceFolders
        | Request::CloseTab { .. }
        | Request::CloseAllDiffs => {
            Answer::Failed(Failure::new(FailureKind::Internal, "no editor answers this"))
        }
    })
}

fn open_target(target: &Target) -> api::OpenTarget {
    match target {
        Target::Lines { start, end } => {
            let end = end.unwrap_or(*start).max(*start);
            let range = api::Range {
                start: api::Position { line: *start, character: 0 },
                // Up to the start of the next line: the whole of the last one.
                end: api::Position { line: end.saturating_add(1), character: 0 },
            };
            api::OpenTarget::Range { range }
        }
        Target::From { start, end_line } => {
            let end = end_line.filter(|end| *end >= start.line);
            let end = end.map_or(*start, |end| api::Position { line: end.saturating_add(1), character: 0 });
            api::OpenTarget::Range { range: api::Range { start: *start, end } }
        }
        Target::Text { start, end, to_end_of_line } => {
            api::OpenTarget::Text { start: start.clone(), end: end.clone(), to_end_of_line: *to_end_of_line }
        }
    }
}

/// What an agent is told when an editor did not do what it was asked.
pub(super) fn unanswered(no_answer: &NoAnswer) -> Failure {
    let kind = match no_answer {
        NoAnswer::TimedOut => FailureKind::Timeout,
        NoAnswer::Gone => FailureKind::EditorGone,
        NoAnswer::Misunderstood(_) => FailureKind::Io,
        NoAnswer::Error(error) => kind_of(error.code),
    };
    Failure::new(kind, no_answer.message())
}

fn kind_of(code: i64) -> FailureKind {
    match code {
        api::errors::NOT_FOUND => FailureKind::NotFound,
        api::errors::UNSUPPORTED | api::errors::METHOD_NOT_FOUND => FailureKind::Unsupported,
        api::errors::INVALID_PARAMS => FailureKind::InvalidParams,
        api::errors::DENIED => FailureKind::Denied,
        api::errors::TIMEOUT => FailureKind::Timeout,
        api::errors::TOO_LARGE => FailureKind::TooLarge,
        _ => FailureKind::Io,
    }
}

/// What an agent is told when a file cannot be had.
pub(super) fn failure_of(error: &FileError) -> Failure {
    let kind = match error {
        FileError::Relative(_) | FileError::Nul(_) => FailureKind::InvalidParams,
        FileError::Outside(_) | FileError::Dangling(_) => FailureKind::OutsideWorkspace,
        FileError::Folder(_) | FileError::Special(_) => FailureKind::NotText,
        FileError::NoFolder(_) => FailureKind::NotFound,
        FileError::TooLarge { .. } => FailureKind::TooLarge,
        FileError::Io { .. } | FileError::Linked { .. } | FileError::NotKept { .. } => FailureKind::Io,
    };
    Failure::new(kind, error.to_string())
}

pub(super) fn denied(path: &Path) -> Failure {
    Failure::new(FailureKind::Denied, Policy::denied(path))
}
