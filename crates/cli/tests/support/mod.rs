//! What the tests of the binary share: a world of its own for each test, agents, editors, and waiting.
//! Knows the outside of Linkspan only: its commands, sockets and files.

#![expect(dead_code, reason = "each test file uses its own part of this")]
#![expect(unused_imports, reason = "each test file uses its own part of this")]
#![expect(unreachable_pub, reason = "each test file is a crate of its own")]

pub mod agent;
pub mod browser;
pub mod editor;
pub mod foreign;
pub mod gemini;
pub mod line;
pub mod pictures;
pub mod raw;
pub mod tty;
pub mod vscode;
pub mod workbench;
pub mod world;

use std::thread::sleep;
use std::time::{Duration, Instant};

pub use agent::{Agent, Dialect};
pub use browser::{Browser, Page};
pub use editor::{Document, Editor, EditorBuilder};
pub use foreign::Foreign;
pub use line::{Line, OwnAgent};
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
