//! A real Emacs in a world with `linkspan.el` of this checkout, in a terminal: keys go in as a user types them, and Emacs
//! Lisp over the socket of its server. `cargo xtask emacs` installs it as `emacs/run`.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::world::signal;
use super::{Agent, DEADLINE, Tty, World, eventually, paths, prerequisites};

/// What turns a value into JSON, in digits: the server's own encoding depends on the language.
const JSON: &str = "(mapconcat (lambda (byte) (format \"%02x\" byte)) (encode-coding-string (json-encode value) 'utf-8) \"\")";

/// An Emacs that is about to be started.
pub struct EmacsBuilder<'a> {
    world: &'a World,
    config: String,
    size: (u16, u16),
    files: Vec<String>,
    folder: PathBuf,
    waits: bool,
}

impl<'a> EmacsBuilder<'a> {
    /// Emacs Lisp that the user has in their init file, before `linkspan-mode`.
    pub fn config(mut self, lisp: &str) -> Self {
        lisp.clone_into(&mut self.config);
        self
    }

    /// In a terminal of this size.
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    /// Opens a file.
    pub fn file(mut self, name: &str) -> Self {
        self.files.push(name.to_owned());
        self
    }

    /// Started there instead of in the workspace.
    pub fn at(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// The test itself sees whether Emacs connects.
    pub fn not_attached(mut self) -> Self {
        self.waits = false;
        self
    }

    #[track_caller]
    pub fn start(self) -> Emacs<'a> {
        let EmacsBuilder { world, config, size: (columns, rows), files, folder, waits } = self;
        let program = prerequisites::emacs().join("run");
        assert!(program.exists(), "missing: {}. `cargo xtask emacs` installs it", program.display());
        // The server refuses a folder that others may read.
        let sockets =
            (0..).map(|number| world.root().join(format!("t/e{number}"))).find(|path| !path.exists());
        let sockets = sockets.unwrap();
        fs::create_dir(&sockets).unwrap();
        fs::set_permissions(&sockets, fs::Permissions::from_mode(0o700)).unwrap();
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/emacs").canonicalize().unwrap();
        let init = sockets.join("init.el");
        // An Emacs with a compiler would translate its own libraries for each new home, and keep every core busy.
        let init_text = format!(
            "(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)\n(setq inhibit-startup-screen t frame-background-mode 'dark server-socket-dir {sockets:?} server-name \"emacs\")\n\
             (require 'server)\n(require 'json)\n(server-start)\n(load {:?} nil t)\n{config}\n(linkspan-mode 1)\n",
            plugin.join("linkspan.el")
        );
        fs::write(&init, init_text).unwrap();
        let mut command = world.program(program);
        command.args(["-Q", "-nw", "-l"]).arg(&init).args(files).current_dir(folder);
        let binaries = paths::linkspan().parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([binaries].into_iter().chain(std::env::split_paths(&path))).unwrap();
        command.env("PATH", path).env("LANG", "C.UTF-8").env("SHELL", "/bin/bash");
        let tty = Tty::start(&command, columns, rows, DEADLINE);
        let emacs = Emacs { world, tty, socket: sockets.join("emacs") };
        emacs.sees("the mode", "linkspan-mode");
        if waits {
            emacs.is_attached();
        }
        emacs
    }
}

pub struct Emacs<'a> {
    world: &'a World,
    tty: Tty,
    socket: PathBuf,
}

impl<'a> Emacs<'a> {
    pub fn builder(world: &'a World) -> EmacsBuilder<'a> {
        let (config, files) = (String::new(), Vec::new());
        EmacsBuilder { world, config, size: (110, 30), files, folder: world.workspace(), waits: true }
    }

    /// The terminal that it is in.
    pub fn tty(&mut self) -> &mut Tty {
        &mut self.tty
    }

    /// Evaluates Emacs Lisp in the buffer that the user sees, and gives its value.
    #[track_caller]
    pub fn lisp(&self, code: &str) -> Value {
        self.try_lisp(code).unwrap_or_else(|error| panic!("{error}\n{code}\n{}", self.report()))
    }

    /// As `emacsclient --eval` does it.
    pub fn try_lisp(&self, code: &str) -> Result<Value, String> {
        let form =
            format!("(let ((value (with-current-buffer (window-buffer (selected-window)) {code}))) {JSON})");
        let quoted = form.replace('&', "&&").replace('-', "&-").replace('\n', "&n").replace(' ', "&_");
        let mut socket = UnixStream::connect(&self.socket).map_err(|error| error.to_string())?;
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        let sent = socket.write_all(format!("-current-frame -eval {quoted} \n").as_bytes());
        let mut answer = String::new();
        sent.and_then(|()| socket.read_to_string(&mut answer)).map_err(|error| error.to_string())?;
        let mut digits = String::new();
        for line in answer.lines() {
            if let Some(part) = line.strip_prefix("-print ").or_else(|| line.strip_prefix("-print-nonl ")) {
                digits.push_str(part.trim_matches('"'));
            } else if let Some(error) = line.strip_prefix("-error ") {
                return Err(error.replace("&_", " ").replace("&-", "-").replace("&n", "\n"));
            }
        }
        let digits: Vec<u8> =
            digits.chars().filter_map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
        let bytes: Vec<u8> =
            digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
        serde_json::from_slice(&bytes).map_err(|error| format!("{error}: {answer}"))
    }

    /// Types text at once.
    pub fn types(&mut self, text: &str) {
        self.tty.types(text);
    }

    /// Presses keys, named as Emacs does: `C-x C-s`, `M-x`, `RET`; anything else is typed as it is.
    pub fn presses(&mut self, keys: &str) {
        let mut typed = String::new();
        for key in keys.split(' ') {
            let (is_meta, key) = key.strip_prefix("M-").map_or((false, key), |key| (true, key));
            if is_meta {
                typed.push('\u{1b}');
            }
            match (key, key.strip_prefix("C-").and_then(|key| key.chars().next())) {
                ("RET", _) => typed.push('\r'),
                ("SPC", _) => typed.push(' '),
                (_, Some(' ')) => typed.push('\0'),
                ("C-SPC", _) => typed.push('\0'),
                (_, Some(letter)) => typed.push(char::from(u8::try_from(letter).unwrap() & 0x1f)),
                _ => typed.push_str(key),
            }
        }
        self.tty.types(&typed);
    }

    /// Runs a command by its name, as a user does.
    pub fn runs(&mut self, command: &str) {
        self.types(&format!("\u{1b}x{command}\r"));
    }

    /// Waits until Emacs Lisp gives a value that is not nil.
    #[track_caller]
    pub fn sees(&self, what: &str, code: &str) -> Value {
        let until = Instant::now() + DEADLINE;
        let mut last = Err(String::new());
        while Instant::now() < until {
            last = self.try_lisp(code);
            match &last {
                Ok(Value::Null | Value::Bool(false)) | Err(_) => {}
                Ok(found) => return found.clone(),
            }
            std::thread::sleep(Duration::from_millis(15));
        }
        panic!("never seen in Emacs: {what}: {last:?}\n{}", self.report());
    }

    /// What the user was told.
    pub fn messages(&self) -> String {
        let code = "(with-current-buffer (messages-buffer) (buffer-string))";
        self.try_lisp(code).map_or_else(|error| error, |log| log.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the user has been told this.
    #[track_caller]
    pub fn says(&self, text: &str) {
        let code = format!(
            "(with-current-buffer (messages-buffer) (save-excursion (goto-char (point-min)) (and (search-forward {text:?} nil t) t)))"
        );
        self.sees(text, &code);
    }

    #[track_caller]
    pub fn is_attached(&self) {
        self.sees("the hub", "(eq linkspan--state 'attached)");
    }

    pub fn port(&self) -> u16 {
        u16::try_from(self.lisp("(plist-get linkspan--window :port)").as_u64().unwrap()).unwrap()
    }

    pub fn pid(&self) -> u32 {
        u32::try_from(self.lisp("(emacs-pid)").as_u64().unwrap()).unwrap()
    }

    pub fn claude(&self) -> Agent {
        Agent::claude(self.world, self.port())
    }

    pub fn nexus3(&self) -> Agent {
        Agent::nexus3(self.world, self.port())
    }

    /// Opens the next review that comes, or the one that is there, as the user does.
    #[track_caller]
    pub fn looks_at_review(&mut self) {
        self.sees("a review", "(and linkspan--reviews t)");
        self.runs("linkspan-review");
        self.sees("its buffer", "(and (derived-mode-p 'linkspan-review-mode) (> (buffer-size) 0) t)");
    }

    /// Waits until no review is on the screen or in the list.
    #[track_caller]
    pub fn sees_no_review(&self) {
        self.sees(
            "no review",
            "(not (or linkspan--reviews (seq-some (lambda (buffer) (buffer-local-value 'linkspan--kind buffer)) (buffer-list))))",
        );
    }

    /// The text of the buffer that the user sees.
    pub fn text(&self) -> String {
        let text = self.lisp("(buffer-substring-no-properties (point-min) (point-max))");
        text.as_str().unwrap().to_owned()
    }

    /// Moves point to this text in the buffer that the user sees.
    #[track_caller]
    pub fn goes_to(&mut self, text: &str) {
        let found = self.sees(
            text,
            &format!(
                "(progn (goto-char (point-min)) (when (search-forward {text:?} nil t) (goto-char (match-beginning 0))
                   (set-window-point (selected-window) (point)) t))"
            ),
        );
        assert_eq!(found, true);
    }

    /// The screen, the state and the messages.
    fn report(&self) -> String {
        let mut report = format!("--- the screen\n{}\n", self.tty.text());
        let _ = write!(report, "--- the messages\n{}", self.messages());
        report
    }

    /// Ends it as a crash would.
    pub fn kill(self) {
        signal(self.pid(), Signal::KILL);
        eventually("Emacs has ended", || UnixStream::connect(&self.socket).is_err().then_some(()));
    }
}

impl Drop for Emacs<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- Emacs\n{}\n---", self.report());
        }
    }
}
