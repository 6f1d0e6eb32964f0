//! A server on the stdio of a child process: one message per line. A thread reads; a server that sends too much, or what
//! is not a message, is ended. Dropping the connection ends the server.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::confirm::Cancellation;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::config::ServerConfig;
use super::rpc::{self, Incoming, RpcFailure};

/// The most bytes of one message.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// Messages that nobody asked for, since the last answer.
const MOST_UNASKED: u32 = 10_000;
/// Of its standard error, for a message.
const KEPT_ERRORS: usize = 4096;
const TICK: Duration = Duration::from_millis(50);
/// How long a server has to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

type Reply = Result<Value, RpcFailure>;

pub(super) struct StdioConnection {
    shared: Arc<Shared>,
    last_id: AtomicI64,
    child: Mutex<Child>,
}

struct Shared {
    /// To the thread that writes; its end closes the server's input.
    outbox: Mutex<Option<Sender<String>>>,
    pending: Mutex<PendingCalls>,
    errors: Mutex<Vec<u8>>,
    /// It said that it has other tools now.
    has_new_tools: AtomicBool,
}

#[derive(Default)]
struct PendingCalls {
    calls: HashMap<i64, Sender<Reply>>,
    /// Why there will be no more answers.
    lost: Option<String>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StdioConnection {
    pub(super) fn start(config: &ServerConfig) -> Result<StdioConnection, String> {
        let program = config.command.as_deref().unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(&config.args)
            .envs(&config.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // So that Ctrl-C in our terminal does not end it, and it ends with all that it started.
            .process_group(0);
        if let Some(cwd) = &config.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (outbox, lines) = channel();
        let shared = Arc::new(Shared {
            outbox: Mutex::new(Some(outbox)),
            pending: Mutex::default(),
            errors: Mutex::default(),
            has_new_tools: AtomicBool::new(false),
        });
        if let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) {
            let (reader, writer, listener) = (Arc::clone(&shared), Arc::clone(&shared), Arc::clone(&shared));
            thread::spawn(move || reader.read(BufReader::new(stdout)));
            thread::spawn(move || writer.write(stdin, lines));
            thread::spawn(move || listener.keep_errors(stderr));
        }
        Ok(StdioConnection { shared, last_id: AtomicI64::new(0), child: Mutex::new(child) })
    }

    pub(super) fn request(
        &self,
        method: &str,
        params: &Value,
        time: Duration,
        cancelled: &Cancellation,
    ) -> Reply {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (say, heard) = channel();
        {
            let mut pending = locked(&self.shared.pending);
            if let Some(why) = &pending.lost {
                return Err(RpcFailure::Lost(why.clone()));
            }
            pending.calls.insert(id, say);
        }
        self.shared.send(&rpc::request(id, method, params));
        let until = Instant::now() + time;
        let failure = loop {
            match heard.recv_timeout(TICK) {
                Ok(reply) => return reply,
                Err(RecvTimeoutError::Disconnected) => break RpcFailure::Lost("it ended".to_owned()),
                Err(RecvTimeoutError::Timeout) if cancelled.is_cancelled() => break RpcFailure::Cancelled,
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => break RpcFailure::Late,
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        locked(&self.shared.pending).calls.remove(&id);
        self.notify("notifications/cancelled", &json!({ "requestId": id }));
        Err(failure)
    }

    /// Whether it said so since the last time.
    pub(super) fn take_new_tools(&self) -> bool {
        self.shared.has_new_tools.swap(false, Ordering::Relaxed)
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.shared.send(&rpc::notification(method, params));
    }
}

impl Shared {
    fn send(&self, message: &Value) {
        if let Some(outbox) = &*locked(&self.outbox) {
            // The thread may have ended with the server.
            let _ = outbox.send(format!("{message}\n"));
        }
    }

    /// A server that does not read holds up this thread, not the reader of its answers.
    fn write(&self, mut stdin: ChildStdin, lines: Receiver<String>) {
        for line in lines {
            if let Err(error) = stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()) {
                return self.lose(&format!("it reads no more: {error}"));
            }
        }
    }

    fn lose(&self, why: &str) {
        // It usually says why before it ends.
        thread::sleep(Duration::from_millis(20));
        let errors = String::from_utf8_lossy(&locked(&self.errors)).trim().to_owned();
        let why = if errors.is_empty() { why.to_owned() } else { format!("{why}; it wrote: {errors}") };
        let mut pending = locked(&self.pending);
        pending.lost.get_or_insert_with(|| why.clone());
        for (_, call) in pending.calls.drain() {
            let _ = call.send(Err(RpcFailure::Lost(why.clone())));
        }
    }

    fn read(&self, mut from: impl BufRead) {
        let mut unasked = 0;
        let why = loop {
            let mut line = Vec::new();
            let limit = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX) + 1;
            match (&mut from).take(limit).read_until(b'\n', &mut line) {
                Ok(0) => break "it ended".to_owned(),
                Ok(_) if line.len() > LONGEST_LINE => {
                    break "it sent a message of more than 16 MiB".to_owned();
                }
                Ok(_) => {}
                Err(error) => break format!("it cannot be read: {error}"),
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let message = serde_json::from_slice(&line).ok().and_then(rpc::read);
            match message {
                Some(Incoming::Answer { id, result }) => {
                    if let Some(call) = locked(&self.pending).calls.remove(&id) {
                        unasked = 0;
                        let _ = call.send(result.map_err(RpcFailure::Refused));
                        continue;
                    }
                }
                Some(Incoming::Reply(reply)) => self.send(&reply),
                Some(Incoming::Notice { method }) if method == rpc::NEW_TOOLS => {
                    self.has_new_tools.store(true, Ordering::Relaxed);
                }
                // Some servers print other things on their standard output.
                Some(Incoming::Notice { .. }) | None => {}
            }
            unasked += 1;
            if unasked > MOST_UNASKED {
                break format!("it sent {MOST_UNASKED} messages that nobody asked for");
            }
        };
        // Closes its input, which ends a server that is still there.
        *locked(&self.outbox) = None;
        self.lose(&why);
    }

    fn keep_errors(&self, mut from: impl Read) {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let mut errors = locked(&self.errors);
            errors.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let surplus = errors.len().saturating_sub(KEPT_ERRORS);
            errors.drain(..surplus);
        }
    }
}

impl Drop for StdioConnection {
    fn drop(&mut self) {
        *locked(&self.shared.outbox) = None;
        let mut child = locked(&self.child);
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let until = Instant::now() + PATIENCE;
        let mut signalled = false;
        while let Ok(None) = child.try_wait() {
            let signal = if Instant::now() >= until { Signal::KILL } else { Signal::TERM };
            if let Some(group) = group.filter(|_| signal == Signal::KILL || !signalled) {
                signalled = true;
                let _ = kill_process_group(group, signal);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}
