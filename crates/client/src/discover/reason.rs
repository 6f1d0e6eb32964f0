//! Why an editor cannot be used, and the remedy: all texts about it are here.

/// Why an editor cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The port is closed.
    #[error("nothing listens on its port")]
    NothingListens,
    /// The port is open, but nothing answers.
    #[error("it does not answer")]
    NoAnswer,
    /// It answers, but not like an editor.
    #[error("the program on its port is not an editor: {0}")]
    NotAnEditor(String),
    /// It rejects the token of the lock file.
    #[error("it rejects the token of its lock file")]
    BadToken,
    /// A bridge of ppxai needs a token.
    #[error("it needs a token")]
    WantsToken,
    /// It has other folders.
    #[error("it has other folders open")]
    OtherWorkspace,
    /// The lock file, or its directory, belongs to another user.
    #[error("its lock file belongs to user {uid}")]
    OtherOwner {
        /// The owner.
        uid: u32,
    },
    /// The lock file cannot be read.
    #[error("its lock file cannot be read: {0}")]
    Unreadable(String),
    /// The lock file is invalid.
    #[error("its lock file is invalid: {0}")]
    Malformed(String),
    /// Its transport is not supported.
    #[error("its transport `{0}` is not supported, only WebSockets are")]
    UnknownTransport(String),
    /// The hub keeps the window for an editor that is not connected.
    #[error("its editor is away")]
    EditorAway,
    /// The lock file belongs to a window of our hub.
    #[error("it is window {window} of the hub")]
    SameAs {
        /// The window.
        window: String,
    },
    /// It runs on Windows, and its port cannot be reached.
    #[error("it runs on Windows, and its port cannot be reached from WSL")]
    OnWindows,
    /// There were too many to ask.
    #[error("it was not asked, because too many others did not answer")]
    NotAsked,
}

impl Reason {
    /// The remedy for the user, as a sentence that follows the reason.
    pub fn remedy(&self) -> &'static str {
        match self {
            Reason::NothingListens => {
                "If the editor is closed, delete the lock file; if it is open, reload its window."
            }
            Reason::NoAnswer => "Reload the editor's window.",
            Reason::NotAnEditor(_) => {
                "Another program has the port now: delete the lock file if the editor is closed, or reload its window."
            }
            Reason::BadToken => {
                "The lock file is left over from an earlier start: delete it if the editor is closed, or reload its window."
            }
            Reason::WantsToken => "Set `PPXAI_BRIDGE_TOKEN` to the token that the bridge was started with.",
            Reason::OtherWorkspace => {
                "Open this folder in the editor, go to one of its folders, or name the window with `--window`."
            }
            Reason::OtherOwner { .. } => {
                "Run the agent as the user who runs the editor; a lock file of another user is not trusted."
            }
            Reason::Unreadable(_) => "Give yourself read permission, or delete the lock file.",
            Reason::Malformed(_) => {
                "Delete the lock file and reload the editor's window; it writes a new one."
            }
            Reason::UnknownTransport(_) => "Update the editor's extension, or install Linkspan's.",
            Reason::EditorAway => "Open the editor again: its window is kept for a while.",
            Reason::SameAs { .. } => "Nothing to do: the window itself is used.",
            Reason::OnWindows => {
                "Set `networkingMode=mirrored` in .wslconfig and run `wsl --shutdown`, or open the folder with the editor's WSL extension."
            }
            Reason::NotAsked => "Delete lock files of editors that are closed.",
        }
    }
}
