//! A process that a hub has started and that only relays its standard streams: what it says, the test says. Each
//! process has its own pipes, so that one that is about to end takes nothing from the next.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::super::hosted::add_agent;
use super::super::world::signal;
use super::World;

pub(super) const ID: &str = "proposer";

/// Its output has one writer, which can end while the process lives on.
const SCRIPT: &str = "#!/bin/sh\ncd \"$(dirname \"$0\")\" && mkdir $$ && cd $$ && mkfifo to-agent to-hub\n\
                      cat to-hub &\necho $! > writer.new && mv writer.new writer\nexec >&-\n\
                      cat > to-agent\nkill $!\n";

#[derive(Debug)]
pub struct HostedProcess {
    pid: u32,
    writer: u32,
    from_hub: File,
    to_hub: File,
    heard: Vec<u8>,
    ended: bool,
}

impl HostedProcess {
    /// The program is in `agents.toml`.
    pub(super) fn install(world: &World) -> PathBuf {
        let folder = world.home().join("proposer");
        let program = folder.join("run");
        if !program.exists() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&program, SCRIPT).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
            add_agent(world, ID, &program, &[], &[]);
        }
        folder
    }

    /// The process that was started and that nobody has taken yet.
    pub(super) fn take(folder: &Path) -> Option<HostedProcess> {
        let entries = fs::read_dir(folder).ok()?.flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        for pid in pids {
            let (own, taken) = (folder.join(pid.to_string()), folder.join(format!("{pid}.taken")));
            let Ok(writer) = fs::read_to_string(own.join("writer")) else { continue };
            if fs::rename(&own, &taken).is_err() {
                continue;
            }
            let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
            let from_hub =
                OpenOptions::new().read(true).custom_flags(nonblocking).open(taken.join("to-agent"));
            let to_hub = OpenOptions::new().read(true).write(true).open(taken.join("to-hub"));
            let (from_hub, to_hub) = (from_hub.unwrap(), to_hub.unwrap());
            let writer = writer.trim().parse().unwrap();
            return Some(HostedProcess { pid, writer, from_hub, to_hub, heard: Vec::new(), ended: false });
        }
        None
    }

    pub(super) fn send(&mut self, frame: &Value) {
        let _ = self.to_hub.write_all(format!("{frame}\n").as_bytes());
    }

    /// The begin of a frame whose rest never comes.
    pub(super) fn send_half(&mut self) {
        let _ = self.to_hub.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"resu");
    }

    /// The next frame; `None` if none arrives in time, or its input was closed.
    pub(super) fn receive(&mut self, patience: Duration) -> Option<Value> {
        let until = Instant::now() + patience;
        let mut buffer = [0; 4096];
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return serde_json::from_slice(&line).ok();
            }
            match self.from_hub.read(&mut buffer) {
                // Before its first frame, its own end may not be open yet.
                Ok(0) if super::super::world::alive(self.pid) && !self.ended => {}
                Ok(0) => self.ended = true,
                Ok(length) => self.heard.extend_from_slice(&buffer[..length]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            if self.heard.contains(&b'\n') {
                continue;
            }
            if self.ended || Instant::now() >= until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(3));
        }
    }

    /// Its input was closed, and everything in it is read.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let _ = pid.map(|pid| kill_process_group(pid, signal));
    }

    /// Its output ends; it lives on.
    pub(super) fn cut_off(&self) {
        signal(self.writer, Signal::KILL);
    }
}

impl Drop for HostedProcess {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
