//! A real Neovim in a world with the plugin of this checkout: without a screen, or in a terminal. Keys and Lua go in over its
//! RPC. `cargo xtask neovim` installs it: `oldest/run`, `newest/run`.

use std::fs;
use std::io::{BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::world::signal;
use super::{Agent, DEADLINE, Tty, World, eventually, msgpack, paths, prerequisites};

/// The oldest Neovim that the plugin supports, and a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeovimVersion {
    Oldest,
    Newest,
}

impl NeovimVersion {
    fn folder(self) -> &'static str {
        match self {
            NeovimVersion::Oldest => "oldest",
            NeovimVersion::Newest => "newest",
        }
    }
}

/// A Neovim that is about to be started.
pub struct NeovimBuilder<'a> {
    world: &'a World,
    version: NeovimVersion,
    config: String,
    screen: Option<(u16, u16)>,
    args: Vec<String>,
    folder: PathBuf,
    waits: bool,
}

impl<'a> NeovimBuilder<'a> {
    /// Lua that the user has in `init.lua`.
    pub fn config(mut self, lua: &str) -> Self {
        lua.clone_into(&mut self.config);
        self
    }

    /// In a terminal of this size instead of without a screen.
    pub fn in_terminal(mut self, columns: u16, rows: u16) -> Self {
        self.screen = Some((columns, rows));
        self
    }

    /// Opens a file.
    pub fn file(mut self, name: &str) -> Self {
        // A file among the arguments would come after what is read from the standard input.
        self.args.extend(["-c".to_owned(), format!("edit {name}")]);
        self
    }

    /// A further argument.
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    /// Started there instead of in the workspace.
    pub fn at(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// The test itself sees whether the plugin connects.
    pub fn not_attached(mut self) -> Self {
        self.waits = false;
        self
    }

    #[track_caller]
    pub fn start(self) -> Neovim<'a> {
        let NeovimBuilder { world, version, config, screen, args, folder, waits } = self;
        let program = prerequisites::neovim().join(version.folder()).join("run");
        assert!(program.exists(), "missing: {}. `cargo xtask neovim` installs it", program.display());
        let settings = world.root().join("c/nvim");
        fs::create_dir_all(&settings).unwrap();
        fs::write(settings.join("init.lua"), config).unwrap();
        let socket =
            (0..).map(|number| world.root().join(format!("t/n{number}"))).find(|path| !path.exists());
        let socket = socket.unwrap();
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/nvim").canonicalize().unwrap();
        let mut command = world.program(program);
        command.arg("--cmd").arg(format!("set runtimepath^={}", plugin.display()));
        command.arg("--listen").arg(&socket).args(args).current_dir(folder);
        let binaries = paths::linkspan().parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([binaries].into_iter().chain(std::env::split_paths(&path))).unwrap();
        command.env("PATH", path).env("LANG", "C.UTF-8").env("SHELL", "/bin/bash");
        let process = match screen {
            Some((columns, rows)) => Process::InTerminal(Tty::start(&command, columns, rows, DEADLINE)),
            None => Process::Headless(headless(command)),
        };
        let connected = eventually("Neovim listens", || Some(Mutex::new(Rpc::connect(&socket)?)));
        let neovim = Neovim { world, process, rpc: connected };
        if waits {
            neovim.is_attached();
        }
        neovim
    }
}

fn headless(mut command: Command) -> Child {
    command
        .arg("--headless")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

enum Process {
    Headless(Child),
    InTerminal(Tty),
}

/// One connection to Neovim's RPC, with one request at a time.
struct Rpc {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
    next: u32,
}

impl Rpc {
    fn connect(socket: &Path) -> Option<Rpc> {
        let writer = UnixStream::connect(socket).ok()?;
        writer.set_read_timeout(Some(DEADLINE)).unwrap();
        let reader = BufReader::new(writer.try_clone().unwrap());
        Some(Rpc { writer, reader, next: 0 })
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.next += 1;
        let mut message = Vec::new();
        msgpack::write(&json!([0, self.next, method, params]), &mut message);
        self.writer.write_all(&message).map_err(|error| error.to_string())?;
        loop {
            let answer = msgpack::read(&mut self.reader).map_err(|error| format!("no answer: {error}"))?;
            // Notifications have no number.
            if answer[0] == 1 && answer[1] == self.next {
                return match &answer[2] {
                    Value::Null => Ok(answer[3].clone()),
                    error => Err(error.to_string()),
                };
            }
        }
    }
}

pub struct Neovim<'a> {
    world: &'a World,
    process: Process,
    rpc: Mutex<Rpc>,
}

impl<'a> Neovim<'a> {
    pub fn builder(world: &'a World, version: NeovimVersion) -> NeovimBuilder<'a> {
        let folder = world.workspace();
        let config = String::new();
        NeovimBuilder { world, version, config, screen: None, args: Vec::new(), folder, waits: true }
    }

    /// The terminal that it is in.
    pub fn tty(&mut self) -> &mut Tty {
        match &mut self.process {
            Process::InTerminal(tty) => tty,
            Process::Headless(_) => panic!("this Neovim has no screen"),
        }
    }

    /// Runs Lua and gives what it returns.
    #[track_caller]
    pub fn lua(&self, code: &str) -> Value {
        self.try_lua(code).unwrap_or_else(|error| panic!("{error}\n{code}\n{}", self.messages()))
    }

    pub fn try_lua(&self, code: &str) -> Result<Value, String> {
        self.rpc.lock().unwrap().request("nvim_exec_lua", &json!([code, []]))
    }

    /// Presses keys, as `nvim_input` names them.
    #[track_caller]
    pub fn presses(&self, keys: &str) {
        self.rpc.lock().unwrap().request("nvim_input", &json!([keys])).unwrap();
    }

    /// Runs an Ex command by typing it.
    #[track_caller]
    pub fn runs(&self, command: &str) {
        self.presses(&format!("<Cmd>{}<CR>", command.replace('<', "<lt>")));
    }

    /// Waits until Lua returns a value that is neither false nor nil.
    #[track_caller]
    pub fn sees(&self, what: &str, code: &str) -> Value {
        let mut last = Err(String::new());
        let until = std::time::Instant::now() + DEADLINE;
        while std::time::Instant::now() < until {
            last = self.try_lua(code);
            match &last {
                Ok(Value::Null | Value::Bool(false)) | Err(_) => {}
                Ok(found) => return found.clone(),
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("never seen in Neovim: {what}: {last:?}\n{}", self.messages());
    }

    /// What the plugin told the user, and Neovim's own messages.
    pub fn messages(&self) -> String {
        let code = "return table.concat(require('linkspan.notice').log, '\\n') .. '\\n' .. vim.fn.execute('messages')";
        self.try_lua(code).map_or_else(|error| error, |log| log.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the plugin has told the user this.
    #[track_caller]
    pub fn says(&self, text: &str) {
        let code = format!(
            "return table.concat(require('linkspan.notice').log, '\\n'):find({text:?}, 1, true) ~= nil"
        );
        self.sees(text, &code);
    }

    /// Waits until Neovim asks the user something: newer versions do that in the command line, older ones wait for a key.
    #[track_caller]
    pub fn asks(&self) {
        eventually("Neovim asks something", || {
            let mode = self.rpc.lock().unwrap().request("nvim_get_mode", &json!([])).unwrap();
            (mode["blocking"] == true || mode["mode"] == "c").then_some(())
        });
    }

    #[track_caller]
    pub fn is_attached(&self) {
        self.sees("the hub", "return require('linkspan.hub').state.kind == 'attached'");
    }

    pub fn port(&self) -> u16 {
        u16::try_from(self.lua("return require('linkspan.hub').state.port").as_u64().unwrap()).unwrap()
    }

    pub fn pid(&self) -> u32 {
        u32::try_from(self.lua("return vim.fn.getpid()").as_u64().unwrap()).unwrap()
    }

    pub fn claude(&self) -> Agent {
        Agent::claude(self.world, self.port())
    }

    pub fn nexus3(&self) -> Agent {
        Agent::nexus3(self.world, self.port())
    }

    /// Opens the next review that comes, or the one that is there, as the user does, and waits until a decision counts.
    #[track_caller]
    pub fn looks_at_review(&self) {
        self.sees("a review", "return #require('linkspan.reviews').pending() > 0");
        self.runs("Linkspan review");
        self.sees("its tab page", "return vim.startswith(vim.api.nvim_buf_get_name(0), 'linkspan://')");
    }

    /// Waits until no review is on the screen or in the list.
    #[track_caller]
    pub fn sees_no_review(&self) {
        self.sees(
            "no review",
            "if #require('linkspan.reviews').pending() > 0 then return false end
            for _, buf in ipairs(vim.api.nvim_list_bufs()) do
                if vim.api.nvim_buf_get_name(buf):find('^linkspan') then return false end
            end
            return true",
        );
    }

    /// The lines of the current buffer.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
        lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }

    /// Ends it as a crash would.
    pub fn kill(self) {
        signal(self.pid(), Signal::KILL);
    }
}

impl Drop for Neovim<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- Neovim\n{}\n---", self.messages());
        }
        if let Process::Headless(child) = &mut self.process {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
