//! A real VS Code in a world: its server with the extension installed, and its files on disk. Actions of the user in its
//! window are in `workbench.rs`. `cargo xtask vscode` installs it:
//!
//! `<version>/node`, `<version>/server/out/server-main.js`: the server; `extensions-<version>`: the extension as that
//! VS Code installed it; `linkspan.vsix`: the extension.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::browser::PATIENCE;
use super::world::{alive, signal};
use super::{World, eventually, prerequisites};

/// How long a window may take to end after its page was closed.
const UNLOAD: Duration = Duration::from_secs(2);

/// Runs a program until its standard input is closed, by us or by our death.
const UNTIL_STDIN_CLOSES: &str = "\"$@\" & cat; kill -KILL 0";

/// The oldest and the newest VS Code that we support.
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

/// A VS Code that is about to be started.
pub struct VsCodeBuilder<'a> {
    world: &'a World,
    home: PathBuf,
    version: Version,
    extensions: Option<PathBuf>,
    args: Vec<String>,
}

impl VsCodeBuilder<'_> {
    /// A folder of extensions instead of the one that all tests share and none changes.
    pub fn extensions(mut self, folder: PathBuf) -> Self {
        self.extensions = Some(folder);
        self
    }

    /// An additional argument of the server.
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    #[track_caller]
    pub fn start(self) -> VsCode {
        let data = self.world.folder("vscode");
        write_settings(&data, &json!({}));
        let extensions = self.extensions.unwrap_or_else(|| extensions(&self.home, self.version));
        let home = self.home.join(self.version.number());
        let mut command = self.world.program("sh");
        command
            .args(["-c", UNTIL_STDIN_CLOSES, "sh"])
            .arg(home.join("node"))
            .arg(home.join("server/out/server-main.js"));
        command.args(["--host", "127.0.0.1", "--port", "0", "--without-connection-token"]);
        command.args(["--accept-server-license-terms", "--telemetry-level", "off"]).args(&self.args);
        command.arg("--server-data-dir").arg(&data).arg("--extensions-dir").arg(extensions);
        // The workspace may be removed while the server runs.
        command.current_dir(&data);
        // The same shell on every machine, one with shell integration.
        command.env("SHELL", "/bin/bash").env("LANG", "C.UTF-8");
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("could not start VS Code");
        let (sender, lines) = channel();
        forward_lines(child.stderr.take().unwrap(), sender.clone());
        forward_lines(child.stdout.take().unwrap(), sender);
        let mut vscode = VsCode { child, data, port: 0, root: self.world.root() };
        let mut output = String::new();
        vscode.port = loop {
            let Ok(line) = lines.recv_timeout(PATIENCE) else { panic!("VS Code does not start: {output}") };
            if let Some(port) = line.strip_prefix("Extension host agent listening on ") {
                break port.trim().parse().unwrap();
            }
            output.push_str(&line);
            output.push('\n');
        };
        vscode
    }
}

pub struct VsCode {
    child: Child,
    data: PathBuf,
    pub port: u16,
    /// Of the world it is in.
    root: PathBuf,
}

impl VsCode {
    #[track_caller]
    pub fn installed(world: &World, version: Version) -> VsCodeBuilder<'_> {
        VsCodeBuilder { world, home: prerequisites::vscode(), version, extensions: None, args: Vec::new() }
    }

    /// The user's settings for windows that are opened from now on.
    pub fn set_settings(&self, settings: &Value) {
        write_settings(&self.data, settings);
    }

    /// The program in the settings of the machine; with an empty path, the one inside the extension.
    pub fn set_program(&self, program: &Path) {
        let settings = json!({ "linkspan.binary": program });
        let folder = self.data.join("data/Machine");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    }

    /// The address of a window on a folder.
    pub fn window(&self, folder: &Path) -> String {
        format!("http://127.0.0.1:{}/?folder={}", self.port, folder.to_str().unwrap())
    }

    /// The address of a window without a folder.
    pub fn empty_window(&self) -> String {
        format!("http://127.0.0.1:{}/?ew=true", self.port)
    }

    /// Ends all windows whose pages are closed, as far as they are left: VS Code keeps one for hours, since a page may
    /// come back.
    #[track_caller]
    pub fn close_windows(&self) {
        let attached = || !self.processes("attach").is_empty();
        let until = Instant::now() + UNLOAD;
        while attached() && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
        }
        if attached() {
            let hosts = self.processes("--type=extensionHost");
            hosts.into_iter().for_each(|pid| signal(pid, Signal::KILL));
        }
        eventually("the windows are closed", || (!attached()).then_some(()));
    }

    /// The processes of this world with that word among their arguments, such as `attach`.
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
        // Shells are in sessions of their own. The world stops the hub.
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

fn write_settings(data: &Path, more: &Value) {
    let mut settings = json!({
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
        // The text that is typed is the text that arrives.
        "editor.quickSuggestions": false,
        "editor.wordBasedSuggestions": "off",
        "editor.autoClosingBrackets": "never",
        "editor.autoClosingQuotes": "never",
        "files.autoSave": "off",
    });
    let (Some(all), Some(more)) = (settings.as_object_mut(), more.as_object()) else {
        panic!("settings are not an object: {more}")
    };
    all.extend(more.clone());
    let user = data.join("data/User");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("settings.json"), settings.to_string()).unwrap();
}

fn forward_lines(from: impl Read + Send + 'static, to: Sender<String>) {
    let lines = BufReader::new(from).lines().map_while(Result::ok);
    thread::spawn(move || {
        for line in lines {
            // Read to the end although the receiver is dropped after the start: a full pipe would block the server.
            let _ = to.send(line);
        }
    });
}
