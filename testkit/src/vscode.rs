//! A real VS Code in a world: its server with the extension installed, and what is on disk for it. What a person does
//! in its window is `workbench.rs`'s. Where it comes from, by `cargo xtask vscode`, in `LINKSPAN_TEST_VSCODE`:
//!
//! `<version>/node`, `<version>/server/out/server-main.js`: what runs; `extensions-<version>`: the extension as that
//! VS Code installed it; `linkspan.vsix`: the extension.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::browser::PATIENCE;
use super::world::{alive, signal};
use super::{World, eventually};

/// Runs a program until nobody holds the other end of its input any more, however that came.
const UNTIL_WE_END: &str = "\"$@\" & cat; kill -KILL 0";

/// The two ends of what we support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Oldest,
    Newest,
}

impl Version {
    pub fn number(self) -> &'static str {
        match self {
            Version::Oldest => "1.100.3",
            Version::Newest => "1.139.1",
        }
    }
}

/// Where `cargo xtask vscode` put everything; none, with a word about it, where it did not.
pub fn found() -> Option<PathBuf> {
    let found = std::env::var_os("LINKSPAN_TEST_VSCODE").map(PathBuf::from);
    if found.is_none() {
        println!(
            "skipped: LINKSPAN_TEST_VSCODE is not set; `cargo xtask test` sets it, `cargo xtask vscode` says it"
        );
    }
    found
}

/// A VS Code that is about to be started.
pub struct VsCodeBuilder<'a> {
    world: &'a World,
    home: PathBuf,
    version: Version,
    settings: Value,
    extensions: Option<PathBuf>,
    args: Vec<String>,
}

impl VsCodeBuilder<'_> {
    /// Settings of the person, beside those that keep VS Code to itself.
    pub fn settings(mut self, settings: &Value) -> Self {
        merge(&mut self.settings, settings);
        self
    }

    /// Another folder of extensions than the one that all tests share and none changes.
    pub fn extensions(mut self, folder: PathBuf) -> Self {
        self.extensions = Some(folder);
        self
    }

    /// A further argument of the server.
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    #[track_caller]
    pub fn start(self) -> VsCode {
        let data = self.world.folder("vscode");
        let user = data.join("data/User");
        fs::create_dir_all(&user).unwrap();
        fs::write(user.join("settings.json"), self.settings.to_string()).unwrap();
        let extensions = self.extensions.unwrap_or_else(|| extensions(&self.home, self.version));
        let home = self.home.join(self.version.number());
        let mut command = self.world.program("sh");
        command
            .args(["-c", UNTIL_WE_END, "sh"])
            .arg(home.join("node"))
            .arg(home.join("server/out/server-main.js"));
        command.args(["--host", "127.0.0.1", "--port", "0", "--without-connection-token"]);
        command.args(["--accept-server-license-terms", "--telemetry-level", "off"]).args(&self.args);
        command.arg("--server-data-dir").arg(&data).arg("--extensions-dir").arg(extensions);
        // A shell that is what it is on every machine, and says when a command begins and ends.
        command.env("SHELL", "/bin/bash").env("LANG", "C.UTF-8");
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("could not start VS Code");
        let (said, lines) = channel();
        listen(child.stderr.take().unwrap(), said.clone());
        listen(child.stdout.take().unwrap(), said);
        let mut vscode = VsCode { child, version: self.version, port: 0, root: self.world.root() };
        let mut all = String::new();
        vscode.port = loop {
            let Ok(line) = lines.recv_timeout(PATIENCE) else { panic!("VS Code does not start: {all}") };
            if let Some(port) = line.strip_prefix("Extension host agent listening on ") {
                break port.trim().parse().unwrap();
            }
            all.push_str(&line);
            all.push('\n');
        };
        vscode
    }
}

pub struct VsCode {
    child: Child,
    pub version: Version,
    pub port: u16,
    /// Of the world it is in.
    root: PathBuf,
}

impl VsCode {
    /// `None` where there is no VS Code.
    pub fn installed(world: &World, version: Version) -> Option<VsCodeBuilder<'_>> {
        let settings = json!({
            "security.workspace.trust.enabled": false,
            "workbench.startupEditor": "none",
            "workbench.secondarySideBar.defaultVisibility": "hidden",
            "workbench.tips.enabled": false,
            "workbench.reduceMotion": "on",
            "chat.disableAIFeatures": true,
            "extensions.autoUpdate": false,
            "extensions.autoCheckUpdates": false,
            "extensions.ignoreRecommendations": true,
            "git.enabled": false,
            "typescript.disableAutomaticTypeAcquisition": true,
            "typescript.tsserver.experimental.enableProjectDiagnostics": false,
            "terminal.integrated.gpuAcceleration": "off",
            "editor.minimap.enabled": false,
            // What is typed is what arrives.
            "editor.quickSuggestions": false,
            "editor.wordBasedSuggestions": "off",
            "editor.autoClosingBrackets": "never",
            "editor.autoClosingQuotes": "never",
            "files.autoSave": "off",
        });
        Some(VsCodeBuilder { world, home: found()?, version, settings, extensions: None, args: Vec::new() })
    }

    /// The address of a window on a folder.
    pub fn window(&self, folder: &Path) -> String {
        format!("http://127.0.0.1:{}/?folder={}", self.port, folder.to_str().unwrap())
    }

    /// The address of a window without a folder.
    pub fn empty_window(&self) -> String {
        format!("http://127.0.0.1:{}/?ew=true", self.port)
    }

    /// The processes of this world that were started with that word among their arguments, such as `attach`.
    pub fn processes(&self, word: &str) -> Vec<u32> {
        let with_word = |pid: &u32| {
            let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            arguments.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
        };
        in_world(&self.root).into_iter().filter(with_word).collect()
    }
}

impl Drop for VsCode {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
        // Shells are in sessions of their own. The hub is ended by its world.
        let others: Vec<u32> = in_world(&self.root).into_iter().filter(|pid| !is_ours(*pid)).collect();
        others.iter().for_each(|pid| signal(*pid, Signal::KILL));
        if !thread::panicking() {
            eventually("VS Code has ended", || (!others.iter().any(|pid| alive(*pid))).then_some(()));
        }
    }
}

/// The extension as this version of VS Code installed it.
pub fn extensions(home: &Path, version: Version) -> PathBuf {
    home.join(format!("extensions-{}", version.number()))
}

/// Every process whose runtime directory is that of this world.
fn in_world(root: &Path) -> Vec<u32> {
    let mark = format!("XDG_RUNTIME_DIR={}\0", root.join("r").display()).into_bytes();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_in = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|part| part == mark)
    };
    pids.filter(is_in).collect()
}

fn is_ours(pid: u32) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| program.ends_with("linkspan"))
}

fn merge(into: &mut Value, from: &Value) {
    let (Some(into), Some(from)) = (into.as_object_mut(), from.as_object()) else {
        panic!("settings are an object")
    };
    into.extend(from.clone());
}

fn listen(from: impl Read + Send + 'static, said: Sender<String>) {
    let lines = BufReader::new(from).lines().map_while(Result::ok);
    thread::spawn(move || {
        for line in lines {
            // Nobody listens any more once it runs; it has to be read all the same.
            let _ = said.send(line);
        }
    });
}
