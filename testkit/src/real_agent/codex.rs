//! Codex in a terminal and as a command, without an account; and the processes that it leaves running, which have to be
//! ended by their ids.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use super::{RealAgent, Screen};
use crate::model::{Model, Turn};
use crate::world::{alive, signal};
use crate::{World, agent_programs, eventually};

/// It has the tool `apply_patch` only with a model that it knows.
const MODEL: &str = "gpt-5.5";

/// Runs hooks that the user never trusted. With it, the terminal program uses no server.
const BYPASS: &str = "--dangerously-bypass-hook-trust";

/// What Codex may write without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Nothing: it asks about every patch.
    ReadOnly,
    WorkspaceWrite,
}

/// Who runs the conversation of the terminal program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodexServer {
    /// The terminal program itself.
    None,
    /// An app server that was started before, on the socket of the user's daemon.
    AppServer,
    /// The daemon that the terminal program starts, from a copy of itself in its home (436 MB).
    Daemon,
}

impl RealAgent {
    /// Codex. Without a server it runs hooks that the user never trusted; with one, see `trusts_hooks`.
    pub fn codex(
        world: &World,
        sandbox: Sandbox,
        server: CodexServer,
        script: impl IntoIterator<Item = Turn>,
    ) -> RealAgent {
        let model = Model::start(script);
        let processes = match server {
            CodexServer::None => None,
            CodexServer::AppServer => Some(CodexProcesses::start(world, &model)),
            CodexServer::Daemon => Some(CodexProcesses { home: home(world), app_server: None }),
        };
        let mut command = command(world, &model, sandbox);
        command.args(["--ask-for-approval", "on-request"]);
        if server == CodexServer::None {
            command.args(["--no-daemon", BYPASS]);
        }
        let screen = Screen { name: "Codex", ready: "Ask Codex to do anything" };
        let mut agent = RealAgent::start(screen, command, model);
        agent._server = processes;
        agent
    }

    /// The user trusts the hooks that Codex asks about when it starts.
    #[track_caller]
    pub fn trusts_hooks(&mut self) {
        self.tty.sees("Trust all and continue");
        self.types_until("\u{1b}[B", |screen| screen.contains("› 2. Trust all and continue"));
        self.types_until("\r", |screen| !screen.contains("Trust all and continue"));
    }
}

/// `codex exec` with this prompt, which runs every hook without asking whether it is trusted.
pub fn codex_exec(world: &World, model: &Model, sandbox: Sandbox, prompt: &str) -> Command {
    let mut command = command(world, model, sandbox);
    command.args(["exec", "--skip-git-repo-check", BYPASS, prompt]);
    command.envs(model.proxy_variables());
    command
}

fn command(world: &World, model: &Model, sandbox: Sandbox) -> Command {
    let mut command = program(world, model);
    let sandbox = match sandbox {
        Sandbox::ReadOnly => "read-only",
        Sandbox::WorkspaceWrite => "workspace-write",
    };
    command.args(["--sandbox", sandbox]);
    command
}

/// Also answers in advance the questions to a new user: whether the folder is trusted, and about newer models.
fn program(world: &World, model: &Model) -> Command {
    codex_home(world, model);
    agent_programs::command(world, "codex-0.166.0")
}

/// Its configuration, with that model.
pub fn codex_home(world: &World, model: &Model) {
    let config = format!(
        r#"
model = "{MODEL}"
model_provider = "test"
check_for_update_on_startup = false

[model_providers.test]
name = "test"
base_url = "{}/v1"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0

[projects."{}"]
trust_level = "trusted"

[notice.model_migrations]
"{MODEL}" = "gpt-6-sol"
"#,
        model.url(),
        world.workspace().display(),
    );
    fs::create_dir_all(home(world)).unwrap();
    fs::write(home(world).join("config.toml"), config).unwrap();
}

fn home(world: &World) -> PathBuf {
    world.home().join(".codex")
}

/// The app server or the daemon of a world. Dropped, they end, and their sockets outside of the world are removed.
pub(super) struct CodexProcesses {
    home: PathBuf,
    app_server: Option<Child>,
}

impl CodexProcesses {
    #[track_caller]
    fn start(world: &World, model: &Model) -> CodexProcesses {
        let mut command = program(world, model);
        command.args(["app-server", "--listen", "unix://"]).envs(model.proxy_variables());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let processes = CodexProcesses { home: home(world), app_server: Some(child) };
        eventually("Codex listens", || control_socket(&processes.home).exists().then_some(()));
        processes
    }
}

impl Drop for CodexProcesses {
    fn drop(&mut self) {
        let records = self.home.join("app-server-daemon");
        // The updater starts the daemon again.
        let mut pids: Vec<u32> =
            ["daemon-updater.pid", "daemon.pid"].iter().filter_map(|name| pid(&records.join(name))).collect();
        let sockets = [control_socket(&self.home), records.join("daemon-updater.sock")];
        let sockets: Vec<PathBuf> = sockets.iter().filter_map(|link| fs::read_link(link).ok()).collect();
        pids.extend(self.app_server.as_ref().map(Child::id));
        pids.iter().for_each(|pid| signal(*pid, Signal::KILL));
        if let Some(server) = &mut self.app_server {
            let _ = server.wait();
        }
        eventually("Codex's processes have ended", || (!pids.iter().any(|pid| alive(*pid))).then_some(()));
        for socket in sockets {
            let _ = fs::remove_file(&socket);
            let _ = fs::remove_file(socket.with_extension("lock"));
        }
    }
}

fn control_socket(home: &Path) -> PathBuf {
    home.join("app-server-control/app-server-control.sock")
}

fn pid(record: &Path) -> Option<u32> {
    let record: Value = serde_json::from_slice(&fs::read(record).ok()?).ok()?;
    u32::try_from(record["pid"].as_u64()?).ok()
}
