//! Jobs that the hub runs for agents without an editor: on another thread, with a deadline, and cancelled when their call
//! no longer waits. Also the text of files, cut to what fits.

use std::path::{Path, PathBuf};

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, Request, WorkspaceRequest};
use linkspan_review::AgentId;
use linkspan_workspace::{Cancel, Workspace, WorkspaceError, language_of};

use crate::core::Core;
use crate::core::contract::{Action, AgentJob, TerminalId};
use crate::core::files::Base;
use crate::core::pending::{Continuation, PendingJob, ToolCall};
use crate::core::windows::Window;

/// Jobs at the same time in one window; a program that wants more does not work with a person.
const JOBS_PER_WINDOW: usize = 32;

/// In all windows together: each has a thread.
const JOBS_IN_ALL: usize = 64;

/// A job that takes longer hangs.
const JOB_SECONDS: u64 = 60;

/// Hooks may run tests; git itself gives up before.
const COMMIT_SECONDS: u64 = 150;

/// More text than a model reads.
const LONGEST_TEXT: usize = 1024 * 1024;

/// Runs a request that needs no permission, or has it.
pub(super) fn work(core: &mut Core, tool: ToolCall) {
    let ToolCall { agent, call, request: Request::Workspace(work) } = tool else { return };
    let Some(window) = core.agents.get(&agent).and_then(|agent| core.windows.get(&agent.window)) else {
        return;
    };
    let workspace = workspace_of(core, window);
    let work = placed(work, window, &workspace);
    let seconds =
        if matches!(work, WorkspaceRequest::GitCommit { .. }) { COMMIT_SECONDS } else { JOB_SECONDS };
    run_tool(core, agent, call, AgentJob::Workspace { workspace, request: work }, None, seconds * 1000);
}

fn workspace_of(core: &Core, window: &Window) -> Workspace {
    let (folders, deny) = (window.folders.clone(), window.policy.globs());
    Workspace { folders, deny, kept: core.out.info.private_dirs.clone() }
}

/// Names the repository that is meant, so that the user is asked about that.
pub(super) fn in_its_place(core: &Core, agent: AgentId, request: Request) -> Request {
    let window = core.agents.get(&agent).and_then(|agent| core.windows.get(&agent.window));
    let (Some(window), Request::Workspace(work)) = (window, &request) else { return request };
    let main = || window.folders.first().cloned();
    Request::Workspace(match placed(work.clone(), window, &workspace_of(core, window)) {
        WorkspaceRequest::GitStage { folder, paths } => {
            WorkspaceRequest::GitStage { folder: folder.or_else(main), paths }
        }
        WorkspaceRequest::GitCommit { folder, message, all } => {
            WorkspaceRequest::GitCommit { folder: folder.or_else(main), message, all }
        }
        other => other,
    })
}

pub(super) fn run_tool(
    core: &mut Core,
    agent: AgentId,
    call: CallId,
    tool: AgentJob,
    terminal: Option<(TerminalId, String)>,
    within_ms: u64,
) {
    let Some(window) = core.agents.get(&agent).map(|agent| agent.window) else { return };
    let in_all = core.out.pending.count(|waiting| matches!(waiting, Continuation::Job(_)));
    let is_here = |waiting: &Continuation| matches!(waiting, Continuation::Job(job) if job.window == window);
    if core.out.pending.count(is_here) >= JOBS_PER_WINDOW || in_all >= JOBS_IN_ALL {
        let message = format!("{JOBS_PER_WINDOW} calls are running in this window; try again later");
        return core.agents.fail(&mut core.out, agent, call, FailureKind::Denied, message);
    }
    let cancel = Cancel::new();
    let job = PendingJob { agent, call, window, terminal, cancel: cancel.clone() };
    let ticket = core.out.wait_for(within_ms, Continuation::Job(job));
    core.out.push(Action::RunJob { ticket, job: tool, cancel });
}

/// What the agent receives of a file that was read.
pub(super) fn text(tool: &ToolCall, base: Result<Base, Failure>) -> Option<Answer> {
    let Request::ReadFile { path: asked, lines } = &tool.request else { return None };
    Some(match base {
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
    })
}

/// With real, absolute paths, and the folder whose repository is meant.
fn placed(work: WorkspaceRequest, window: &Window, workspace: &Workspace) -> WorkspaceRequest {
    let real = |path: Option<PathBuf>| path.map(|path| window.real_path(&path));
    let around = |folder: Option<PathBuf>, path: Option<&PathBuf>| {
        folder.or_else(|| Some(folder_around(workspace, path?)?.to_owned()))
    };
    match work {
        WorkspaceRequest::GitStatus { folder } => WorkspaceRequest::GitStatus { folder: real(folder) },
        WorkspaceRequest::GitDiff { folder, path, staged } => {
            let (folder, path) = (real(folder), real(path));
            WorkspaceRequest::GitDiff { folder: around(folder, path.as_ref()), path, staged }
        }
        WorkspaceRequest::GitLog { folder, path, limit } => {
            let (folder, path) = (real(folder), real(path));
            WorkspaceRequest::GitLog { folder: around(folder, path.as_ref()), path, limit }
        }
        WorkspaceRequest::GitStage { folder, paths } => {
            let paths: Vec<PathBuf> = paths.iter().map(|path| window.real_path(path)).collect();
            WorkspaceRequest::GitStage { folder: around(real(folder), paths.first()), paths }
        }
        WorkspaceRequest::GitCommit { folder, message, all } => {
            WorkspaceRequest::GitCommit { folder: real(folder), message, all }
        }
        other @ (WorkspaceRequest::ListFiles { .. } | WorkspaceRequest::SearchFiles { .. }) => other,
    }
}

/// The folder of the workspace that a path is in.
fn folder_around<'a>(workspace: &'a Workspace, path: &Path) -> Option<&'a Path> {
    workspace.folders.iter().map(AsRef::as_ref).find(|folder| path.starts_with(folder))
}

/// These lines; of a long text, the beginning.
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
    // Whole lines, unless there is only one.
    let end = beginning.rfind('\n').map_or(beginning.len(), |end| end + 1);
    (beginning.get(..end).unwrap_or_default().to_owned(), true)
}

pub(super) fn failure_of(error: &WorkspaceError) -> Failure {
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
