//! Why the input of a hook cannot be read, and why an edit cannot be made.

use std::path::PathBuf;

/// The input of the hook is not one that can be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error(
        "the hook's input has {size} bytes, and at most {limit} are read; the agent goes on as if there were no hook"
    )]
    TooLarge { size: usize, limit: usize },
    #[error(
        "the hook's input is not JSON: {detail}. `linkspan hook` is run by an agent, with JSON on its standard input"
    )]
    NotJson { detail: String },
    #[error("the hook's input is JSON but not an object")]
    NotAnObject,
    #[error("the hook's input has no member that names its event, so the agent that runs it is not known")]
    UnknownCaller,
    #[error("`{member}` is missing in the hook's input")]
    Missing { member: String },
    #[error("`{member}` in the hook's input is not {expected}")]
    WrongType { member: String, expected: &'static str },
    #[error("the folder `{0}` in the hook's input is not an absolute path")]
    RelativeFolder(String),
    #[error("the patch of the edit cannot be read: {0}")]
    Patch(String),
}

/// Why the agent's own tool would fail on the current text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("{path} does not exist")]
    NoFile { path: PathBuf },
    #[error("{path} exists already")]
    Exists { path: PathBuf },
    #[error("the text to replace is not in {path}")]
    NotFound { path: PathBuf },
    #[error("the text to replace is in {path} {count} times")]
    NotUnique { path: PathBuf, count: usize },
    #[error("the edit changes nothing in {path}")]
    NoChange { path: PathBuf },
    #[error("the edit of {path} would make a text of more than {limit} bytes")]
    TooLarge { path: PathBuf, limit: usize },
}
