//! Reaching editors: finding them, connecting to one whatever it speaks, and asking it for a person's decision.
//! And reaching the hub: finding or starting it, asking it something, and keeping an editor attached to it.
//!
//! Blocking and without a runtime, so that a command costs no more than its answer. Nothing in this crate
//! prints, but for the terminal that a [`confirm::Console`] asks in.
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
//! [`discover()`] looks at the windows of the running hub (it starts none), at the lock files in
//! `$CLAUDE_CONFIG_DIR/ide` or `~/.claude/ide`, in `~/.nexus3/ide`, `$TMPDIR/gemini/ide`, `~/.qwen/ide` and
//! `~/.clio/ide`, and in WSL at those of the Windows side. A bridge of ppxai has no such file and is looked for only
//! where somebody asks, with [`ppxai_bridge`](discover::ppxai_bridge). Each
//! [`Candidate`] has a verdict: usable, or the [reason](discover::Reason) why not with a
//! [remedy](discover::Reason::remedy). The best comes first: the window whose terminal we run in (`LINKSPAN_WINDOW`,
//! `CLAUDE_CODE_SSE_PORT`, `CLIO_IDE_PORT` and the like), then the one with the nearest [folder](discover::Match) around the working directory,
//! then one with another worktree of the same repository, then one with a folder below.
//!
//! Usable means that the editor let us in with its token and said hello a moment ago; a process id means nothing.
//! Only editors that fit are spoken to. Lock files of other users are not trusted. Nobody's lock files are removed
//! but those that a killed hub of ours left behind.
//!
//! # Asking a person
//!
//! ```no_run
#![doc = include_str!("../examples/propose.rs")]
//! ```
//!
//! A [`Connection`] is the same over our hub and the protocols of Claude Code, NEXUS3, Gemini, Clio and ppxai, as far as
//! they have words for it ([`CallError::NotOnThisWire`]); what only the hub can tell
//! (hunks, comments, what the person changed) is missing from the others' [`Decided`]. Every call is answered within
//! ten seconds or fails; only a person may take longer. [`Decided::written`] says whether the file holds the accepted
//! text already: the hub and the editors of NEXUS3, Clio and ppxai write it, those of Claude Code and Gemini leave that
//! to the caller.
//!
//! A [`Bridge`] finds the editor by itself, goes back to it after a loss, and asks our hub again for a decision that was
//! under way. With a foreign editor such a decision cannot be known ([`BridgeError::Lost`]), and is asked for elsewhere.
//!
//! # Confirming a tool call
//!
//! [`proposal`] tells what a file would hold after `write_file`, `edit_file`, `edit_lines`, `append_file`,
//! `regex_replace` or `patch`, or why the edit cannot be made, for the model to read. [`confirm()`](confirm::confirm)
//! asks the person about it, in the editor and else in the terminal, and says who writes the file.
//! [`format_ide_context`] puts what the editor knows into words for a prompt.
//!
//! ```no_run
#![doc = include_str!("../examples/confirm.rs")]
//! ```

#![warn(missing_docs)]

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
    AgentInfo, CallError, Change, Connection, Decided, DiffOutcome, EditorEvent, OpenError,
};
pub use context::{ContextInput, MAX_DIAGNOSTICS, format_ide_context};
pub use control::{Control, ControlError, Hello};
pub use dial::DialError;
pub use discover::{Candidate, Discovery, Surroundings, discover};
pub use hub::{ConnectError, Hub, Start};
pub use linkspan_editor_api::visible;
pub use relay::{Notice, RelayError, relay};
pub use runtime_dir::RuntimeDirError;

/// The page for authors of agents shows code, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agents/library.md")]
struct LibraryPage;
