//! An isolated home for one test: home, runtime, state and config directories, a workspace, and every process started in
//! it. Leaves nothing behind, and checks that Linkspan does not either.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::small_disk::{DiskScope, SmallDisk};
use super::{DEADLINE, eventually, paths};

/// Dropped from top to bottom: a folder cannot be removed while a disk is mounted there.
pub struct World {
    disk: Option<SmallDisk>,
    root: TempDir,
    check_leftovers: bool,
    /// How often it was reset; each time the workspace is another folder.
    resets: u32,
}

/// The output and exit code of a command.
#[derive(Debug)]
pub struct CommandResult {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl CommandResult {
    fn of(output: Output) -> CommandResult {
        CommandResult {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn ok(self) -> CommandResult {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }
}

impl World {
    #[expect(clippy::new_without_default, reason = "every world is a new folder")]
    pub fn new() -> World {
        // Short, because sockets cannot have long paths, whatever TMPDIR the tests run with.
        let root = tempfile::Builder::new().prefix("lk").rand_bytes(8).tempdir_in("/tmp").unwrap();
        let root_path = root.path().canonicalize().unwrap();
        for folder in ["h", "r", "s", "c", "t", "w"] {
            fs::create_dir(root_path.join(folder)).unwrap();
        }
        World { disk: None, root, check_leftovers: true, resets: 0 }
    }

    /// A world with this `config.toml`.
    pub fn with_config(toml: &str) -> World {
        let world = World::new();
        world.config(toml);
        world
    }

    /// A world with one part on a small disk of its own; the error says why mounting failed.
    pub fn with_small_disk(part: DiskScope) -> Result<World, String> {
        let mut world = World::new();
        let folder = match part {
            DiskScope::Workspace => world.workspace(),
            DiskScope::State => world.root().join("s"),
        };
        world.disk = Some(SmallDisk::at(&folder)?);
        Ok(world)
    }

    /// The small disk.
    pub fn disk(&self) -> &SmallDisk {
        self.disk.as_ref().expect("no world with a disk of its own")
    }

    pub fn config(&self, toml: &str) {
        let path = self.config_file();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, toml).unwrap();
    }

    /// For tests that end with a killed hub, which cannot clean up.
    pub fn may_leave_files(&mut self) {
        self.check_leftovers = false;
    }

    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("h")
    }

    /// Where the socket and the locks are.
    pub fn runtime(&self) -> PathBuf {
        self.root().join("r/linkspan")
    }

    pub fn socket(&self) -> PathBuf {
        self.runtime().join("hub.sock")
    }

    /// Where the journal and the log are.
    pub fn state(&self) -> PathBuf {
        self.root().join("s/linkspan")
    }

    pub fn journal(&self) -> PathBuf {
        self.state().join("journal.db")
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.state().join("hub.log")).unwrap_or_default()
    }

    pub fn config_file(&self) -> PathBuf {
        self.root().join("c/linkspan/config.toml")
    }

    pub fn workspace(&self) -> PathBuf {
        self.root().join(workspace_name(self.resets))
    }

    /// Stops the hub and removes everything that Linkspan and its users wrote; the workspace is a new, empty folder. For
    /// several scenarios one after the other with an editor that is slow to start.
    pub fn reset(&mut self) {
        self.stop_hub();
        for folder in [self.home(), self.root().join("s"), self.root().join("c"), self.workspace()] {
            fs::remove_dir_all(&folder).unwrap();
        }
        self.resets += 1;
        for folder in [self.home(), self.root().join("s"), self.root().join("c"), self.workspace()] {
            fs::create_dir(&folder).unwrap();
        }
    }

    /// Also checks that it left nothing behind.
    fn stop_hub(&self) {
        let stopped = self.run(&["hub", "stop", "--force"]);
        assert_eq!(stopped.code, 0, "{stopped:?}");
        if self.check_leftovers {
            // The socket is removed a moment after the hub has answered.
            eventually("the hub has removed its socket", || (!self.socket().exists()).then_some(()));
            assert_eq!(self.leftovers(), Vec::<PathBuf>::new(), "left behind");
        }
    }

    /// The absolute path of a file of the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    pub fn path_str(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file into the workspace and returns its absolute path.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    #[track_caller]
    pub fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Another folder next to the workspace.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// A command of the binary in this world.
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.program(paths::linkspan());
        command.args(args);
        command
    }

    /// Any program, with the directories of this world and no other environment.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let root = self.root();
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.workspace()).stdin(Stdio::null());
        for name in ["PATH", "RUST_BACKTRACE", "LINKSPAN_LOG"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", root.join("h"))
            .env("XDG_RUNTIME_DIR", root.join("r"))
            .env("XDG_STATE_HOME", root.join("s"))
            .env("XDG_CONFIG_HOME", root.join("c"))
            .env("TMPDIR", root.join("t"));
        command
    }

    pub fn run(&self, args: &[&str]) -> CommandResult {
        CommandResult::of(self.command(args).output().unwrap())
    }

    /// Runs a command with `--json` that has to succeed.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        self.run(&args).ok().json()
    }

    pub fn status(&self) -> Value {
        self.json(&["status"])
    }

    /// The process id of the running hub.
    pub fn hub_pid(&self) -> Option<u32> {
        self.status()["pid"].as_u64().map(|pid| u32::try_from(pid).unwrap())
    }

    /// Ends the hub as a crash would.
    pub fn kill_hub(&self) {
        let pid = self.hub_pid().expect("no hub to kill");
        signal(pid, Signal::KILL);
        eventually("the hub is dead", || (!alive(pid)).then_some(()));
    }

    /// A headless window on the workspace, ready for agents.
    pub fn serve(&self) -> Serve {
        self.serve_folders(&[&self.workspace()])
    }

    pub fn serve_folders(&self, folders: &[&Path]) -> Serve {
        self.serve_with(folders, &[])
    }

    /// With additional environment variables.
    pub fn serve_with(&self, folders: &[&Path], variables: &[(&str, &str)]) -> Serve {
        let mut command = self.command(&["serve"]);
        command.envs(variables.iter().copied());
        command.args(folders).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        let readers = [
            collect_output(child.stdout.take().unwrap(), &output),
            collect_output(child.stderr.take().unwrap(), &output),
        ];
        let mut serve = Serve { child, output, readers, port: 0 };
        serve.port = eventually("the window is there", || {
            if let Some(status) = serve.child.try_wait().unwrap() {
                panic!("serve ended with {status}: {}", serve.output());
            }
            let status = self.status();
            let window = status["windows"].as_array()?.iter().find(|window| {
                window["editorPid"] == serve.child.id() && window["attached"] == Value::Bool(true)
            })?;
            u16::try_from(window["port"].as_u64()?).ok()
        });
        serve
    }

    /// The pending reviews, as `linkspan reviews --json` lists them.
    pub fn reviews(&self) -> Vec<Value> {
        self.json(&["reviews"])["reviews"].as_array().unwrap().clone()
    }

    /// Waits until this many reviews are pending; returns their ids, oldest first.
    #[track_caller]
    pub fn pending(&self, count: usize) -> Vec<String> {
        eventually(&format!("{count} pending reviews"), || {
            let reviews = self.reviews();
            let pending: Vec<String> = reviews
                .iter()
                .filter(|review| review["phase"] == "pending" || review["phase"] == "conflict")
                .map(|review| review["review"].as_str().unwrap().to_owned())
                .collect();
            (pending.len() == count).then_some(pending)
        })
    }

    /// The id of the one pending review.
    #[track_caller]
    pub fn one_pending(&self) -> String {
        self.pending(1).remove(0)
    }

    /// The lock files that exist now.
    pub fn discovery_files(&self) -> Vec<PathBuf> {
        [".claude/ide", ".nexus3/ide"]
            .iter()
            .filter_map(|folder| fs::read_dir(self.home().join(folder)).ok())
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// The discovery files of Gemini CLI and Qwen Code.
    pub fn gemini_files(&self) -> Vec<PathBuf> {
        [self.root().join("t/gemini/ide"), self.home().join(".qwen/ide")]
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// The Unix sockets of windows.
    pub fn agent_sockets(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.runtime().join("agents")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The processes that live in this world, as `/proc` knows them.
    pub fn processes(&self) -> Vec<u32> {
        let home = format!("HOME={}", self.home().display());
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let here = pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
        });
        here.filter(|pid| alive(*pid)).collect()
    }

    /// Every file under the root that Linkspan should have removed.
    fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = self.discovery_files();
        found.extend(self.gemini_files());
        // Some tests put one of another editor there.
        let is_ours =
            |path: &PathBuf| fs::read_to_string(path).is_ok_and(|lock| lock.contains("\"linkspan\""));
        found.extend(super::copilot::locks(self).into_iter().filter(is_ours));
        found.extend(self.agent_sockets());
        let bridge = self.home().join(".clio/ide/bridge.json");
        found.extend([self.socket(), bridge].into_iter().filter(|path| path.exists()));
        let mut folders = vec![self.home(), self.workspace(), self.root().join("t")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                } else if entry.file_name().to_string_lossy().starts_with(".linkspan-") {
                    found.push(entry.path());
                }
            }
        }
        found
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- hub.log\n{}\n---", self.log());
            // Some of them may be stopped, and do not react to a request.
            self.processes().into_iter().for_each(|pid| signal(pid, Signal::KILL));
            return;
        }
        self.stop_hub();
    }
}

fn workspace_name(resets: u32) -> String {
    if resets == 0 { "w".to_owned() } else { format!("w{resets}") }
}

/// A running `linkspan serve`.
pub struct Serve {
    child: Child,
    output: Arc<Mutex<String>>,
    /// Each ends with what it reads.
    readers: [JoinHandle<()>; 2],
    pub port: u16,
}

impl Serve {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything that it has printed so far.
    pub fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    /// Ends it as a crash would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it as Ctrl-C would; returns the exit code.
    pub fn interrupt(mut self) -> i32 {
        signal(self.child.id(), Signal::INT);
        self.wait()
    }

    /// Ends it as Ctrl-C would; returns everything that it printed.
    pub fn interrupt_and_read(mut self) -> String {
        signal(self.child.id(), Signal::INT);
        self.wait();
        eventually("all output of serve has been read", || {
            self.readers.iter().all(JoinHandle::is_finished).then_some(())
        });
        self.output()
    }

    fn wait(&mut self) -> i32 {
        let child = &mut self.child;
        eventually("serve has ended", || child.try_wait().unwrap()).code().unwrap_or(-1)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return;
        }
        if thread::panicking() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        } else {
            signal(self.child.id(), Signal::TERM);
            self.wait();
        }
    }
}

fn collect_output(mut from: impl Read + Send + 'static, output: &Arc<Mutex<String>>) -> JoinHandle<()> {
    let output = Arc::clone(output);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            output.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    })
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = kill_process(pid, signal);
}

/// Whether a process exists and is not a zombie.
pub fn alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// Runs a child to its end within the deadline, or fails.
#[track_caller]
pub fn finish(mut child: Child) -> CommandResult {
    let until = std::time::Instant::now() + DEADLINE;
    while child.try_wait().unwrap().is_none() {
        if std::time::Instant::now() > until {
            let _ = child.kill();
            panic!("a command does not end");
        }
        thread::sleep(std::time::Duration::from_millis(10));
    }
    CommandResult::of(child.wait_with_output().unwrap())
}
