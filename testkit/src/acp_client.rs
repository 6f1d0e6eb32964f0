//! An editor that speaks the Agent Client Protocol and starts its agent through `linkspan acp`. The test holds this end.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{DEADLINE, World};

pub struct AcpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
    stderr: Option<std::thread::JoinHandle<String>>,
    /// A real agent is slower.
    pub patience: Duration,
}

impl AcpClient {
    /// Starts this agent behind the proxy.
    #[track_caller]
    pub fn start<S: AsRef<OsStr>>(world: &World, agent: &[S]) -> AcpClient {
        let mut command = world.command(&["acp", "--"]);
        command.args(agent);
        AcpClient::start_command(command)
    }

    #[track_caller]
    pub fn start_command(mut command: Command) -> AcpClient {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("`linkspan acp` does not start");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = std::io::Read::read_to_end(&mut stderr, &mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        AcpClient { child, stdin, lines, seen: Vec::new(), stderr: Some(stderr), patience: DEADLINE }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    pub fn send(&mut self, frame: &Value) {
        self.send_line(&frame.to_string());
    }

    pub fn request(&mut self, id: u64, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// The next line that fits; those before it are kept.
    #[track_caller]
    pub fn line(&mut self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + self.patience;
        let mut at = 0;
        loop {
            if let Some(found) = self.seen.iter().skip(at).position(|line| fits(line)) {
                return self.seen.remove(at + found);
            }
            at = self.seen.len();
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.push(line),
                Err(_) => panic!("the client did not receive {what}: {:#?}", self.seen),
            }
        }
    }

    #[track_caller]
    pub fn receive(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let parsed = |line: &str| serde_json::from_str::<Value>(line);
        let line = self.line(what, |line| parsed(line).is_ok_and(|frame| fits(&frame)));
        parsed(&line).unwrap()
    }

    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        self.receive("an answer", |frame| frame["method"].is_null() && frame["id"] == id)
    }

    /// What came and nobody has asked for.
    pub fn rest(&mut self) -> Vec<String> {
        self.seen.extend(self.lines.try_iter());
        std::mem::take(&mut self.seen)
    }

    /// Waits for its end.
    #[track_caller]
    pub fn exit_code(&mut self) -> Option<i32> {
        let until = Instant::now() + self.patience;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < until, "`linkspan acp` does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Closes its end; returns the exit code and what the proxy and the agent said on standard error.
    #[track_caller]
    pub fn finish(mut self) -> (Option<i32>, String) {
        self.stdin = None;
        (self.exit_code(), self.stderr.take().map(|stderr| stderr.join().unwrap()).unwrap_or_default())
    }
}

impl Drop for AcpClient {
    fn drop(&mut self) {
        self.stdin = None;
        let until = Instant::now() + Duration::from_secs(3);
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
