//! Shared by tests and proofs of the binary: an isolated home for each, agents, editors, browsers, and waiting.
//! Uses Linkspan only from outside: its commands, sockets and files. Fails by a panic, as tests do.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(missing_debug_implementations, reason = "a browser has nothing to print")]

pub mod acp_client;
pub mod agent;
pub mod agent_programs;
pub mod agent_terminal;
pub mod browser;
pub mod claude;
pub mod codex_daemon;
pub mod conformance;
pub mod copilot;
pub mod editor;
pub mod emacs;
pub mod foreign_editor;
pub mod foreign_site;
pub mod gemini;
pub mod hosted;
pub mod hosted_agents;
pub mod hub_socket;
pub mod mcp;
pub mod model;
pub mod msgpack;
pub mod neovim;
pub mod own_agent;
pub mod page_client;
pub mod paths;
pub mod ppxai;
pub mod prerequisites;
pub mod proposer;
pub mod proxy;
pub mod raw_http;
pub mod real_agent;
pub mod review_page;
pub mod small_disk;
pub mod transcript;
pub mod tty;
pub mod vscode;
pub mod vscode_session;
pub mod workbench;
pub mod world;

use std::thread::sleep;
use std::time::{Duration, Instant};

pub use acp_client::AcpClient;
pub use agent::{Agent, WsDialect};
pub use browser::{Browser, Page};
pub use claude::{Claude, ClaudeVersion};
pub use codex_daemon::{CodexDaemon, DaemonClient};
pub use copilot::Copilot;
pub use editor::{Document, Editor, EditorBuilder};
pub use emacs::Emacs;
pub use foreign_editor::ForeignEditor;
pub use hosted::{ChatClient, StandIn};
pub use hub_socket::HubSocket;
pub use model::{Model, Turn};
pub use neovim::{Neovim, NeovimVersion};
pub use own_agent::OwnAgent;
pub use real_agent::RealAgent;
pub use transcript::Transcript;
pub use tty::Tty;
pub use vscode::{Version, VsCode};
pub use vscode_session::{EditorWindow, VsCodeSession};
pub use workbench::Workbench;
pub use world::{CommandResult, Serve, World};

/// How long a test waits for something that must happen. Far longer than any step takes, because tests are not retried
/// and a busy machine may stop for many seconds.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Waits until `look` finds something.
#[track_caller]
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    eventually_within(DEADLINE, what, look)
}

/// For what takes longer, such as the start of a real agent.
#[track_caller]
pub fn eventually_within<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "never: {what}");
        sleep(Duration::from_millis(10));
    }
}
