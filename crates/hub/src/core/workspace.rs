//! What the hub does for agents without an editor: it runs elsewhere, with a deadline, and is cancelled when nobody
//! waits for it any more. Also the text of files, cut to what fits.

use std::path::PathBuf;

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, Request, Work};
use linkspan_review::{AgentId, WindowId};
use linkspan_workspace::{Cancel, Workspace, WorkspaceError, language_of};

use super::Core;
use super::base::Base;
use super::event::{Action, Ticket, Tool};
use super::terminals::TerminalId;
use super::timers::{Due, TimerId};
use super::tools::ToolCall;
use super::windows::Window;
use crate::work::{Done, folder_around};

/// What runs at the same time in one window; a program that wants more is not working with a person.
const TOOLS_PER_WINDOW: usize = 32;

/// In all windows together: each has a thread.
const TOOLS_IN_ALL: usize = 64;

/// Whatever takes longer hangs.
const TOOL_SECONDS: u64 = 60;

/// Hooks may run tests; git itself gives up before.
const COMMIT_SECONDS: u64 = 150;

/// More text than a model reads.
const LONGEST_TEXT: usize = 1024 * 1024;

/// Something that runs for an agent.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) agent: AgentId,
    pub(super) call: CallId,
    pub(super) window: WindowId,
    /// Where it runs, and by what name the agent knows that.
    pub(super) terminal: Option<(TerminalId, String)>,
    cancel: Cancel,
    timer: TimerId,
}

impl Core {
    /// What a person need not allow, or has allowed.
    pub(super) fn work(&mut self, tool: ToolCall) {
        let ToolCall { agent, call, request: Request::Work(work) } = tool else { return };
        let Some(window) = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window)) else {
            return;
        };
        let workspace = self.workspace_of(window);
        let work = placed(work, window, &workspace);
        let seconds = if matches!(work, Work::GitCommit { .. }) { COMMIT_SECONDS } else { TOOL_SECONDS };
        self.run_tool(agent, call, Tool::Work { workspace, work }, None, seconds * 1000);
    }

    fn workspace_of(&self, window: &Window) -> Workspace {
        let (folders, deny) = (window.folders.clone(), window.policy.globs());
        Workspace { folders, deny, kept: self.identity.own_places.clone() }
    }

    /// She is asked about the repository that is meant, by its name.
    pub(super) fn in_its_place(&self, agent: AgentId, request: Request) -> Request {
        let window = self.agents.get(&agent).and_then(|agent| self.windows.get(&agent.window));
        let (Some(window), Request::Work(work)) = (window, &request) else { return request };
        let main = || window.folders.first().cloned();
        Request::Work(match placed(work.clone(), window, &self.workspace_of(window)) {
            Work::GitStage { folder, paths } => Work::GitStage { folder: folder.or_else(main), paths },
            Work::GitCommit { folder, message, all } => {
                Work::GitCommit { folder: folder.or_else(main), message, all }
            }
            other => other,
        })
    }

    pub(super) fn run_tool(
        &mut self,
        agent: AgentId,
        call: CallId,
        tool: Tool,
        terminal: Option<(TerminalId, String)>,
        within_ms: u64,
    ) {
        let Some(window) = self.agents.get(&agent).map(|agent| agent.window) else { return };
        let here = self.running.values().filter(|running| running.window == window).count();
        if here >= TOOLS_PER_WINDOW || self.running.len() >= TOOLS_IN_ALL {
            let message = format!("{TOOLS_PER_WINDOW} calls are carried out in this window; ask again later");
            return self.fail(agent, call, FailureKind::Denied, message);
        }
        let ticket = self.ticket();
        let timer = self.timers.add(self.now_ms + within_ms, Due::Tool(ticket));
        let cancel = Cancel::new();
        let running = Running { agent, call, window, terminal, cancel: cancel.clone(), timer };
        self.running.insert(ticket, running);
        self.act(Action::RunTool { ticket, tool, cancel });
    }

    pub(super) fn tool_ran(&mut self, ticket: Ticket, result: Result<Done, WorkspaceError>) {
        // Nobody waits for it any more, if it is not there.
        let Some(running) = self.running.remove(&ticket) else { return };
        self.timers.cancel(running.timer);
        let answer = match result {
            Ok(Done::Data { json, truncated }) => Answer::Data { json, truncated },
            Ok(Done::Ran(ran)) => self.command_ran(&running, ran),
            Ok(Done::Printed(output)) => self.terminal_shows(&running, output),
            Err(error) => {
                self.terminal_idle(&running);
                Answer::Failed(failure_of(&error))
            }
        };
        self.answer(running.agent, running.call, &answer);
    }

    pub(super) fn tool_timed_out(&mut self, ticket: Ticket) {
        let Some(running) = self.running.remove(&ticket) else { return };
        running.cancel.cancel();
        self.terminal_idle(&running);
        self.fail(running.agent, running.call, FailureKind::Timeout, "it took too long and was given up");
    }

    /// Its agent is gone, or does not want that answer any more: what it asked for shall not go on.
    pub(super) fn cancel_tools(&mut self, agent: AgentId, call: Option<CallId>) {
        let meant =
            |running: &Running| running.agent == agent && call.is_none_or(|call| call == running.call);
        let theirs: Vec<Running> =
            self.running.extract_if(.., |_, running| meant(running)).map(|(_, running)| running).collect();
        for running in theirs {
            running.cancel.cancel();
            self.timers.cancel(running.timer);
            self.terminal_idle(&running);
        }
    }

    /// The file is read: what the agent hears of it.
    pub(super) fn text_read(&mut self, tool: &ToolCall, base: Result<Base, Failure>) {
        let Request::ReadFile { path: asked, lines } = &tool.request else { return };
        let answer = match base {
            Err(failure) => Answer::Failed(failure),
            Ok(Base { text: None, .. }) => {
                let message = format!("there is no file {}", asked.display());
                Answer::Failed(Failure::new(FailureKind::NotFound, message))
            }
            Ok(Base { path, text: Some(text), buffer, language }) => {
                let dirty = buffer.is_some_and(|buffer| buffer.dirty);
                let language = language.unwrap_or_else(|| language_of(&path).to_owned());
                let (text, truncated) = excerpt(text.text.into_string(), *lines);
                Answer::Text { path, text, language, dirty, truncated }
            }
        };
        self.answer(tool.agent, tool.call, &answer);
    }
}

/// With real, absolute paths, and the folder whose repository is meant.
fn placed(work: Work, window: &Window, workspace: &Workspace) -> Work {
    let real = |path: Option<PathBuf>| path.map(|path| window.real(&path));
    let around = |folder: Option<PathBuf>, path: Option<&PathBuf>| {
        folder.or_else(|| Some(folder_around(workspace, path?)?.to_owned()))
    };
    match work {
        Work::GitStatus { folder } => Work::GitStatus { folder: real(folder) },
        Work::GitDiff { folder, path, staged } => {
            let (folder, path) = (real(folder), real(path));
            Work::GitDiff { folder: around(folder, path.as_ref()), path, staged }
        }
        Work::GitLog { folder, path, limit } => {
            let (folder, path) = (real(folder), real(path));
            Work::GitLog { folder: around(folder, path.as_ref()), path, limit }
        }
        Work::GitStage { folder, paths } => {
            let paths: Vec<PathBuf> = paths.iter().map(|path| window.real(path)).collect();
            Work::GitStage { folder: around(real(folder), paths.first()), paths }
        }
        Work::GitCommit { folder, message, all } => Work::GitCommit { folder: real(folder), message, all },
        other @ (Work::ListFiles { .. } | Work::SearchFiles { .. }) => other,
    }
}

/// These lines, and of a long text the beginning.
fn excerpt(text: String, (first, last): (u32, Option<u32>)) -> (String, bool) {
    let lines = match (first, last) {
        (0, None) => text,
        (first, last) => {
            let skipped = usize::try_from(first).unwrap_or(usize::MAX);
            let wanted = last.map_or(u32::MAX, |last| last.saturating_sub(first).saturating_add(1));
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            text.split_inclusive('\n').skip(skipped).take(wanted).collect()
        }
    };
    if lines.len() <= LONGEST_TEXT {
        return (lines, false);
    }
    let beginning = lines.get(..lines.floor_char_boundary(LONGEST_TEXT)).unwrap_or_default();
    // Whole lines, unless there is but one.
    let end = beginning.rfind('\n').map_or(beginning.len(), |end| end + 1);
    (beginning.get(..end).unwrap_or_default().to_owned(), true)
}

fn failure_of(error: &WorkspaceError) -> Failure {
    let kind = match error {
        WorkspaceError::Cancelled => FailureKind::Withdrawn,
        WorkspaceError::NoFolder | WorkspaceError::NoRepository(_) => FailureKind::NotFound,
        WorkspaceError::BadGlob { .. } | WorkspaceError::BadQuery { .. } | WorkspaceError::EmptyMessage => {
            FailureKind::InvalidParams
        }
        WorkspaceError::Outside(_) => FailureKind::OutsideWorkspace,
        WorkspaceError::Denied(_) => FailureKind::Denied,
        WorkspaceError::NoGit
        | WorkspaceError::FilesElsewhere(_)
        | WorkspaceError::RepositoryElsewhere(_) => FailureKind::Unsupported,
        WorkspaceError::GitTooSlow { .. } => FailureKind::Timeout,
        WorkspaceError::GitTooMuch { .. } => FailureKind::TooLarge,
        _ => FailureKind::Io,
    };
    Failure::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_they_stand_and_beyond_the_end_there_is_nothing() {
        let text = "one\r\ntwo\nthree";
        for (lines, expected) in [
            ((0, None), text),
            ((1, None), "two\nthree"),
            ((1, Some(1)), "two\n"),
            ((0, Some(0)), "one\r\n"),
            ((2, Some(9)), "three"),
            ((3, None), ""),
            ((0, Some(u32::MAX)), text),
        ] {
            assert_eq!(excerpt(text.to_owned(), lines), (expected.to_owned(), false), "{lines:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_behind_a_line_or_a_character() {
        let line = "é".repeat(300) + "\n";
        let (cut, truncated) = excerpt(line.repeat(5000), (0, None));
        assert!(truncated && cut.len() <= LONGEST_TEXT && cut.len() % line.len() == 0, "{}", cut.len());
        let (cut, truncated) = excerpt("x".to_owned() + &"é".repeat(LONGEST_TEXT), (0, None));
        assert!(truncated && cut.len() == LONGEST_TEXT - 1);
        let exact = "x".repeat(LONGEST_TEXT);
        assert_eq!(excerpt(exact.clone(), (0, None)), (exact, false));
    }
}
