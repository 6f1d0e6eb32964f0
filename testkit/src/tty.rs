//! A pseudo-terminal with a program in it, the binary or a real agent: keys go in, and a terminal emulator interprets the
//! output.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{DEADLINE, World, eventually};

/// Twice as long as a change has to be on the screen before keys decide about it, because a busy machine may draw it a
/// while before the program continues. Also longer than a key that has decided counts as held down.
const MOMENT: Duration = Duration::from_millis(800);

pub struct Tty {
    keys: File,
    child: Child,
    /// Feeds the output to the emulator until no process has the terminal open.
    reader: Option<JoinHandle<()>>,
    parser: Arc<Mutex<vt100::Parser>>,
    printed: Arc<Mutex<Vec<u8>>>,
    /// How long something may take to appear.
    patience: Duration,
}

impl Tty {
    /// Runs a command of the binary in a terminal of this size.
    pub fn run(world: &World, columns: u16, rows: u16, args: &[&str], variables: &[(&str, &str)]) -> Tty {
        let mut inside = world.command(args);
        inside.envs(variables.iter().copied());
        Tty::start(&inside, columns, rows, DEADLINE)
    }

    /// Runs any program of a world in a terminal of this size.
    pub fn start(inside: &Command, columns: u16, rows: u16, patience: Duration) -> Tty {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(slave).unwrap();

        // Makes it the session's own terminal, as a terminal window does.
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(inside.get_program()).args(inside.get_args()).env_clear();
        command.current_dir(inside.get_current_dir().unwrap());
        command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor");
        for (name, value) in inside.get_envs() {
            command.env(name, value.unwrap());
        }
        let copy = || Stdio::from(slave.try_clone().unwrap());
        let child = command.stdin(copy()).stdout(copy()).stderr(copy()).spawn().unwrap();

        let keys = File::from(master);
        let mut output = keys.try_clone().unwrap();
        let parser = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 2000)));
        let printed = Arc::<Mutex<Vec<u8>>>::default();
        let (emulated, kept) = (Arc::clone(&parser), Arc::clone(&printed));
        let reader = thread::spawn(move || {
            let mut buffer = [0; 64 * 1024];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..length]);
                emulated.lock().unwrap().process(&buffer[..length]);
            }
        });
        Tty { keys, child, reader: Some(reader), parser, printed, patience }
    }

    /// The reviewer, at the review it shows first.
    #[track_caller]
    pub fn review(world: &World, columns: u16, rows: u16, variables: &[(&str, &str)]) -> Tty {
        let tty = Tty::run(world, columns, rows, &["review"], variables);
        tty.sees("linkspan review");
        tty
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Every byte that was written to the terminal.
    pub fn raw(&self) -> Vec<u8> {
        self.printed.lock().unwrap().clone()
    }

    /// What the terminal shows.
    pub fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    pub fn with_screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.parser.lock().unwrap().screen())
    }

    /// Waits until the terminal shows this.
    #[track_caller]
    pub fn sees(&self, text: &str) {
        self.sees_that(text, |screen| screen.contains(text));
    }

    #[track_caller]
    pub fn sees_no(&self, text: &str) {
        self.sees_that(&format!("no {text}"), |screen| !screen.contains(text));
    }

    #[track_caller]
    pub fn sees_that(&self, what: &str, fits: impl Fn(&str) -> bool) {
        let until = std::time::Instant::now() + self.patience;
        while !fits(&self.text()) {
            assert!(std::time::Instant::now() < until, "never seen: {what}; the screen:\n{}", self.text());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The row, from 0, that shows this.
    #[track_caller]
    pub fn row_of(&self, text: &str) -> u16 {
        let screen = self.text();
        let row = screen.lines().position(|line| line.contains(text));
        u16::try_from(row.unwrap_or_else(|| panic!("no {text} in\n{screen}"))).unwrap()
    }

    /// Types at once.
    pub fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Types keys that decide, after the time that a change has to be on the screen.
    pub fn looks_and_types(&mut self, keys: &str) {
        thread::sleep(MOMENT);
        self.types(keys);
    }

    /// Clicks at a cell, from 0.
    pub fn clicks(&mut self, column: u16, row: u16) {
        let (column, row) = (column + 1, row + 1);
        self.types(&format!("\u{1b}[<0;{column};{row}M\u{1b}[<0;{column};{row}m"));
    }

    pub fn resizes(&mut self, columns: u16, rows: u16) {
        self.parser.lock().unwrap().screen_mut().set_size(rows, columns);
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keys, size).unwrap();
    }

    /// Waits for the end, and until all output is on the screen; returns the exit code.
    #[track_caller]
    pub fn ends(&mut self) -> i32 {
        let child = &mut self.child;
        let status = eventually("the command ends", || child.try_wait().unwrap());
        if let Some(reader) = self.reader.take() {
            eventually("all output has been read", || reader.is_finished().then_some(()));
            reader.join().unwrap();
        }
        status.code().unwrap_or(-1)
    }

    /// Whether the terminal is as it was: the usual screen, lines and echo, no mouse.
    #[track_caller]
    pub fn is_as_before(&self) {
        let given_back = || {
            let modes = rustix::termios::tcgetattr(&self.keys).unwrap().local_modes;
            let cooked =
                modes.contains(rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO);
            let plain = self.with_screen(|screen| {
                !screen.alternate_screen()
                    && !screen.hide_cursor()
                    && !screen.bracketed_paste()
                    && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
            });
            (cooked && plain).then_some(())
        };
        eventually("the terminal is given back", given_back);
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // It leads a session of its own; its children end with it.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
