//! Starting a host: its parts, its thread and its end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linkspan_client::{Bridge, Surroundings};
use tokio::sync::mpsc;

use super::contract::{HostCommand, HostHandle};
use super::event_loop::HostLoop;
use super::prompt_context::PromptContext;
use crate::config::Config;
use crate::models::Providers;
use crate::session::SessionStore;
use crate::tools::Toolbox;

/// Tools block their threads; further calls wait.
const MOST_BLOCKING: usize = 256;
/// For threads that do not end although they were told to.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// What a host is made of.
pub struct HostSetup {
    /// The configuration.
    pub config: Config,
    /// Where models come from.
    pub providers: Providers,
    /// Where sessions are kept.
    pub sessions: SessionStore,
    /// Where the pool is remembered; nowhere if there is none.
    pub pool: Option<PathBuf>,
    /// The folder of agents that name none.
    pub cwd: PathBuf,
    /// Where to look for an editor that the user names.
    pub surroundings: Surroundings,
    /// The one bridge to the editor.
    pub bridge: Arc<Bridge>,
    /// Under which id the hub knows this process. A session records it, so that a killed agent that is continued gets the
    /// answer to the change that was pending.
    pub bridge_id: Option<String>,
    /// What models may call.
    pub toolbox: Arc<dyn Toolbox>,
    /// What goes into prompts.
    pub context: Arc<dyn PromptContext>,
}

impl std::fmt::Debug for HostSetup {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("HostSetup").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// A running host: a thread with a loop of its own, so that a frontend may block.
#[derive(Debug)]
pub struct Host {
    handle: HostHandle,
    thread: JoinHandle<()>,
}

impl HostHandle {
    /// A handle, and the commands that a host will receive from it. Parts of the host's setup may need the handle.
    pub fn channel() -> (HostHandle, mpsc::UnboundedReceiver<HostCommand>) {
        let (sender, commands) = mpsc::unbounded_channel();
        (HostHandle::new(sender), commands)
    }
}

impl Host {
    /// Starts a host on a thread of its own.
    pub fn start(
        setup: HostSetup,
        handle: HostHandle,
        commands: mpsc::UnboundedReceiver<HostCommand>,
    ) -> io::Result<Host> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(MOST_BLOCKING)
            .thread_name("linkspan-tool")
            .build()?;
        let thread = thread::Builder::new().name("linkspan-host".to_owned()).spawn(move || {
            runtime.block_on(HostLoop::new(setup).run(commands));
            runtime.shutdown_timeout(LAST_MOMENT);
        })?;
        Ok(Host { handle, thread })
    }

    /// For frontends.
    pub fn handle(&self) -> HostHandle {
        self.handle.clone()
    }

    /// Ends it in good order: turns are cancelled, reviews withdrawn, sessions complete.
    pub fn quit(self) {
        self.handle.send(HostCommand::Quit);
        // A panic was reported by its hook.
        let _ = self.thread.join();
    }
}
