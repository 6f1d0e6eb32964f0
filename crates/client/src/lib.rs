//! The agent's side as a library: finding editors, connecting to one in any protocol, and asking the user for a
//! decision. And the way to the hub: finding or starting it, sending it requests, and keeping an editor attached to it.
//!
//! Blocking and without a runtime, so that a command costs no more than its answer. Nothing in this crate prints,
//! except in the terminal of a [`confirm::Console`].
//!
//! # Finding an editor
//!
//! ```no_run
//! use linkspan_client::{Surroundings, discover};
//!
//! let here = Surroundings::of_this_process(".".as_ref())?;
//! let found = discover(&here);
//! match found.best() {
//!     Some(editor) => println!("{} has this folder", editor.editor),
//!     None => {
//!         for candidate in &found.candidates {
//!             println!("{}: {:?}", candidate.editor, candidate.verdict);
//!         }
//!     }
//! }
//! # Ok::<(), linkspan_client::discover::SurroundingsError>(())
//! ```
//!
//! [`discover()`] reads the windows of the running hub (it starts none), the lock files in
//! `$CLAUDE_CONFIG_DIR/ide` or `~/.claude/ide`, in `~/.nexus3/ide`, `$TMPDIR/gemini/ide`, `~/.qwen/ide` and
//! `~/.clio/ide`, and in WSL those of the Windows side. A bridge of ppxai has no such file; look for it with
//! [`ppxai_bridge`](discover::ppxai_bridge). Each
//! [`Candidate`] has a verdict: usable, or the [reason](discover::Reason) why not with a
//! [remedy](discover::Reason::remedy). The best comes first: the window whose terminal we run in (`LINKSPAN_WINDOW`,
//! `CLAUDE_CODE_SSE_PORT`, `CLIO_IDE_PORT` and the like), then the one with the nearest [folder](discover::Match)
//! around the working directory, then one with another worktree of the same repository, then one with a folder below.
//!
//! Usable means that the editor just accepted our token and answered; a process id proves nothing. Only editors that
//! fit are contacted. Lock files of other users are not trusted. Only lock files that a killed hub of ours left behind
//! are removed.
//!
//! # Asking the user
//!
//! ```no_run
#![doc = include_str!("../examples/propose.rs")]
//! ```
//!
//! A [`Connection`] is the same over our hub and over the protocols of Claude Code, NEXUS3, Gemini, Clio and ppxai, as
//! far as they support it ([`CallError::NotOnThisWire`]). Only the hub reports hunks, comments and the user's edits;
//! the others leave them out of their [`ChangeOutcome`]. Every call is answered within ten seconds or fails; only the
//! user may take longer. [`ChangeOutcome::written`] says whether the file holds the accepted text already: the hub and
//! the editors of NEXUS3, Clio and ppxai write it, those of Claude Code and Gemini leave that to the caller.
//!
//! A [`Bridge`] finds the editor by itself, reconnects after a loss, and asks our hub again for a pending decision.
//! After the loss of a foreign editor such a decision is unknown ([`BridgeError::Lost`]); ask for it elsewhere.
//!
//! # Confirming a tool call
//!
//! [`proposal`] computes what a file would hold after `write_file`, `edit_file`, `edit_lines`, `append_file`,
//! `regex_replace` or `patch`, or why the edit cannot be made, for the model to read. [`confirm()`](confirm::confirm)
//! asks the user about it, in the editor or else in the terminal, and says who writes the file.
//! [`format_ide_context`] formats the state of the editor for a prompt.
//!
//! ```no_run
#![doc = include_str!("../examples/confirm.rs")]
//! ```

#![warn(missing_docs)]

pub mod backoff;
pub mod bridge;
pub mod confirm;
pub mod connection;
mod context;
mod control;
mod dial;
pub mod discover;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod http;
mod hub;
pub mod ppxai;
pub mod proposal;
mod relay;
mod runtime_dir;

pub use bridge::{Bridge, BridgeConfig, BridgeError};
pub use connection::{
    AgentInfo, CallError, Change, ChangeOutcome, Connection, DiffOutcome, EditorEvent, OpenError,
    PermissionAnswer,
};
pub use context::{ContextInput, MAX_DIAGNOSTICS, format_ide_context};
pub use control::{Control, ControlError, Hello};
pub use dial::DialError;
pub use discover::{Candidate, Discovery, Surroundings, discover, discover_hub_windows};
pub use hub::{ConnectError, HubLauncher, Start};
pub use linkspan_editor_api::{HookJoin, HookReport, HookReportKind, HookReportResult, visible};
pub use relay::{Notice, RelayError, relay};
pub use runtime_dir::RuntimeDirError;

/// The page for authors of agents shows code, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agents/library.md")]
struct LibraryPage;
