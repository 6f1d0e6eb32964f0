//! A hub with its own home, state, sockets and workspace, all on the disk of `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use linkspan_editor_api::Places;
use serde_json::Value;
use tempfile::TempDir;

/// No limit, or the hub would slow the benchmark down like any flood.
pub(crate) const CONFIG: &str = "[limits]\nmessages_per_second = 0\n";

/// Where an agent connects.
#[derive(Debug, Clone)]
pub(crate) struct AgentEndpoint {
    pub(crate) port: u16,
    pub(crate) token: String,
}

#[derive(Debug)]
pub(crate) struct BenchHub {
    root: TempDir,
    program: PathBuf,
    pub(crate) pid: u32,
}

impl BenchHub {
    /// Starts a hub without windows.
    pub(crate) fn start() -> Result<BenchHub> {
        BenchHub::start_with(CONFIG)
    }

    /// Like `start`, with another configuration.
    pub(crate) fn start_with(config: &str) -> Result<BenchHub> {
        let program = std::env::var_os("LINKSPAN_BIN").map(PathBuf::from);
        let program = program.context("LINKSPAN_BIN is not set: run `cargo xtask bench`")?;
        let hub = BenchHub { root: scratch()?, program, pid: 0 };
        for folder in ["home", "run", "state", "config/linkspan", "workspace"] {
            fs::create_dir_all(hub.path(folder))?;
        }
        fs::write(hub.path("config/linkspan/config.toml"), config)?;
        let mut hub = hub;
        hub.pid = hub.start_hub()?;
        Ok(hub)
    }

    /// The pid of the hub, which is started unless there is one.
    pub(crate) fn start_hub(&self) -> Result<u32> {
        let started = self.run(&["hub", "start", "--json"])?;
        let pid = started.get("pid").and_then(Value::as_u64).context("no pid in `hub start --json`")?;
        Ok(u32::try_from(pid)?)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// A command with this hub's environment.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(self.environment());
        command
    }

    fn environment(&self) -> [(&'static str, PathBuf); 5] {
        [
            ("HOME", self.path("home")),
            ("XDG_RUNTIME_DIR", self.path("run")),
            ("XDG_STATE_HOME", self.path("state")),
            ("XDG_CONFIG_HOME", self.path("config")),
            ("TMPDIR", self.path("run")),
        ]
    }

    /// Runs a command of ours; returns its JSON.
    pub(crate) fn run(&self, args: &[&str]) -> Result<Value> {
        let output = self.command(&self.program).args(args).stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "linkspan {args:?} ended with {}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// A one-time link to the browser page.
    pub(crate) fn link(&self) -> Result<String> {
        let made = self.run(&["page", "--json"])?;
        Ok(made.get("url").and_then(Value::as_str).context("no url in `page --json`")?.to_owned())
    }

    pub(crate) fn socket(&self) -> Result<PathBuf> {
        let environment = self.environment();
        let lookup = |name: &str| {
            environment
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, path)| path.clone().into_os_string())
        };
        Ok(Places::from_lookup(lookup, 0)?.socket()?)
    }

    pub(crate) fn lock_file(&self, port: u16) -> PathBuf {
        self.path("home").join(format!(".claude/ide/{port}.lock"))
    }

    /// Where agents find the window with this port.
    pub(crate) fn endpoint(&self, port: u16) -> Result<AgentEndpoint> {
        let file = self.lock_file(port);
        let lock: Value =
            serde_json::from_slice(&fs::read(&file).with_context(|| file.display().to_string())?)?;
        let token = lock.get("authToken").and_then(Value::as_str).context("no authToken")?.to_owned();
        Ok(AgentEndpoint { port, token })
    }
}

/// A temporary directory on the disk of `target`.
pub(crate) fn scratch() -> Result<TempDir> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).context("this program is not in a target directory")?;
    Ok(tempfile::Builder::new().prefix("bench-").tempdir_in(target)?)
}

impl Drop for BenchHub {
    fn drop(&mut self) {
        let _ = self.run(&["hub", "stop", "--force", "--json"]);
    }
}
