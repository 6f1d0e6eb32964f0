//! What tests and proofs of the binary share: a world of its own for each, agents, editors, and waiting.
//! Knows the outside of Linkspan only: its commands, sockets and files. Says by a panic that something is not as it
//! should be, as tests do.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a panic is how a trial fails")]
#![expect(clippy::print_stdout, reason = "what was not tried is said as tests say it")]
#![expect(missing_debug_implementations, reason = "nobody prints a browser")]

pub mod agent;
pub mod browser;
pub mod claude;
pub mod disk;
pub mod editor;
pub mod foreign;
pub mod gemini;
pub mod installed;
pub mod line;
pub mod mcp;
pub mod model;
pub mod page_door;
pub mod pictures;
pub mod place;
pub mod ppxai;
pub mod proposer;
pub mod proxy;
pub mod raw;
pub mod real_agent;
pub mod site;
pub mod tty;
pub mod vscode;
pub mod workbench;
pub mod world;

use std::thread::sleep;
use std::time::{Duration, Instant};

pub use agent::{Agent, Dialect};
pub use browser::{Browser, Page};
pub use claude::{Claude, ClaudeVersion};
pub use editor::{Document, Editor, EditorBuilder};
pub use foreign::Foreign;
pub use line::{Line, OwnAgent};
pub use model::{Model, Turn};
pub use real_agent::RealAgent;
pub use tty::Tty;
pub use vscode::{Version, VsCode};
pub use workbench::Workbench;
pub use world::{Ran, Serve, World};

/// No machine takes longer than this; whatever does is a failure.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// Waits until `look` finds something.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "never: {what}");
        sleep(Duration::from_millis(10));
    }
}
