//! What can go wrong in a workspace, each with what to do about it.

use std::path::{Path, PathBuf};

/// Why a request could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The request was taken back.
    #[error("cancelled")]
    Cancelled,
    /// Nothing is open.
    #[error("the window has no folder open; open one and try again")]
    NoFolder,
    /// A glob that is none.
    #[error("`{glob}` is not a glob: {reason}. Globs look like `**/*.py`, `src/**` or `*.{{md,txt}}`")]
    BadGlob {
        /// As it was written.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A query that cannot be searched for.
    #[error("cannot search for `{query}`: {reason}")]
    BadQuery {
        /// As it was written, cut where it is long.
        query: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A path that leads out of the workspace.
    #[error("{} is not inside the workspace; name a path in one of its folders", .0.display())]
    Outside(PathBuf),
    /// A path that the person keeps from agents.
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
    /// A folder that points to a repository which knows nothing of it.
    #[error(
        "{} points to a repository outside of the workspace that does not name this folder as its own, so it is not \
         used; if it is a worktree that was moved, run `git worktree repair`, else open the repository's folder too", .0.display()
    )]
    RepositoryElsewhere(PathBuf),
    /// A commit without a message.
    #[error("a commit needs a message; say what it does and why")]
    EmptyMessage,
    /// A commit that would hold nothing.
    #[error("there is nothing to commit; stage what is to be in it, or commit all changes of tracked files")]
    NothingToCommit,
    /// A merge that is not finished.
    #[error("these files have conflicts: {}. Resolve them, stage them, then commit", .0.join(", "))]
    Conflicts(Vec<String>),
    /// A hook said no.
    #[error("a hook of the repository refused the commit, nothing was committed. It said:\n{0}")]
    HookRefused(String),
    /// Git does not know who commits.
    #[error(
        "git does not know who commits; run `git config --global user.name \"Your Name\"` and \
         `git config --global user.email you@example.com`"
    )]
    NoIdentity,
    /// Git took longer than it may.
    #[error(
        "`git {what}` took longer than {seconds} s and was stopped; try it in a terminal to see what it waits for"
    )]
    GitTooSlow {
        /// The subcommand.
        what: String,
        /// How long it had.
        seconds: u64,
    },
    /// Git said more than is read.
    #[error("`git {what}` had more to say than is read here; ask for less, for example for one folder")]
    GitTooMuch {
        /// The subcommand.
        what: String,
    },
    /// Git failed in its own way.
    #[error("`git {what}` failed: {said}")]
    Git {
        /// The subcommand.
        what: String,
        /// Its own words.
        said: String,
    },
    /// A terminal runs one command at a time.
    #[error("the terminal {name} still runs `{command}`; wait for it, stop it, or use another terminal")]
    Busy {
        /// Of the terminal.
        name: String,
        /// What it runs.
        command: String,
    },
    /// The system said no.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
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
