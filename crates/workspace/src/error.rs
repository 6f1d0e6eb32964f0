//! Errors of workspace operations, each with what to do about it.

use std::path::{Path, PathBuf};

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The request was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The window has no folder.
    #[error("the window has no folder open; open one and try again")]
    NoFolder,
    /// An invalid glob.
    #[error("`{glob}` is not a glob: {reason}. Globs look like `**/*.py`, `src/**` or `*.{{md,txt}}`")]
    BadGlob {
        /// The glob as given.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An invalid query.
    #[error("cannot search for `{query}`: {reason}")]
    BadQuery {
        /// The query as given, cut if it is long.
        query: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A path outside the workspace.
    #[error("{} is not inside the workspace; name a path in one of its folders", .0.display())]
    Outside(PathBuf),
    /// A path that the configuration denies to agents.
    #[error("{} is denied by the configuration; leave it out", .0.display())]
    Denied(PathBuf),
    /// There is no program called git.
    #[error("there is no `git` program; install git and make sure that it is on the PATH")]
    NoGit,
    /// A folder that git does not manage.
    #[error("{} is not in a git repository; run `git init` there, or name a folder that is in one", .0.display())]
    NoRepository(PathBuf),
    /// A repository whose files are somewhere else.
    #[error(
        "the repository of {} has its files elsewhere (core.worktree), so it is not used; name a folder that holds \
         its own files", .0.display()
    )]
    FilesElsewhere(PathBuf),
    /// A folder that points to a repository which does not point back.
    #[error(
        "{} points to a repository outside of the workspace that does not name this folder as its own, so it is not \
         used; if it is a worktree that was moved, run `git worktree repair`, else open the repository's folder too", .0.display()
    )]
    RepositoryElsewhere(PathBuf),
    /// A commit without a message.
    #[error("a commit needs a message; describe what it does and why")]
    EmptyMessage,
    /// An empty commit.
    #[error("there is nothing to commit; stage changes first, or commit all changes of tracked files")]
    NothingToCommit,
    /// An unfinished merge.
    #[error("these files have conflicts: {}. Resolve them, stage them, then commit", .0.join(", "))]
    Conflicts(Vec<String>),
    /// A hook refused the commit.
    #[error("a hook of the repository refused the commit; nothing was committed. Its output:\n{0}")]
    HookRefused(String),
    /// Git does not know who commits.
    #[error(
        "git does not know who commits; run `git config --global user.name \"Your Name\"` and \
         `git config --global user.email you@example.com`"
    )]
    NoIdentity,
    /// Git timed out.
    #[error(
        "`git {what}` took longer than {seconds} s and was stopped; run it in a terminal to see what it waits for"
    )]
    GitTooSlow {
        /// The subcommand.
        what: String,
        /// The time limit.
        seconds: u64,
    },
    /// The output of git exceeds the limit.
    #[error("the output of `git {what}` is too large; request less, for example one folder")]
    GitTooMuch {
        /// The subcommand.
        what: String,
    },
    /// Git failed.
    #[error("`git {what}` failed: {said}")]
    Git {
        /// The subcommand.
        what: String,
        /// Its output.
        said: String,
    },
    /// A terminal runs one command at a time.
    #[error("the terminal {name} still runs `{command}`; wait for it, stop it, or use another terminal")]
    Busy {
        /// The terminal's name.
        name: String,
        /// The running command.
        command: String,
    },
    /// A system call failed.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// The system's error.
        #[source]
        error: std::io::Error,
    },
}

impl WorkspaceError {
    pub(crate) fn system(what: impl Into<String>, error: impl Into<std::io::Error>) -> WorkspaceError {
        WorkspaceError::System { what: what.into(), error: error.into() }
    }

    pub(crate) fn outside(path: &Path) -> WorkspaceError {
        WorkspaceError::Outside(path.to_owned())
    }
}
