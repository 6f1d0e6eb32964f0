//! The editor that is checked: its process, its folder, and the messages between its integration and us.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::{Attach, Capabilities, Decoder, Limits, PROTOCOL, Request, encode, errors};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::launch::{set_up, spawn};
use crate::cli::exit::Failure;
use crate::commands::scripts::conform::point::{Outcome, failed, skipped};
use crate::commands::scripts::conform::report::excerpt;

/// How long an editor may take to start, and to end.
const START: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

pub(super) struct EditorHost {
    files: TempDir,
    pub(super) folder: PathBuf,
    process: Child,
    connections: Receiver<UnixStream>,
    stream: Option<UnixStream>,
    messages: Receiver<Value>,
    /// Received while something else was awaited.
    unread: Vec<Value>,
    closed: bool,
    last_id: i64,
    pub(super) timeout: Duration,
    /// The parameters of `attach`, as they were sent.
    pub(super) attach: Option<Value>,
    pub(super) capabilities: Capabilities,
}

impl EditorHost {
    pub(super) fn start(
        command: &[String],
        program: &Path,
        timeout: Duration,
    ) -> Result<EditorHost, Failure> {
        let failed = |what: &str, error: std::io::Error| Failure::internal(format!("cannot {what}: {error}"));
        let files = TempDir::with_prefix("linkspan-conform-")
            .map_err(|error| failed("make a temporary folder", error))?;
        let root = files.path().canonicalize().map_err(|error| failed("use a temporary folder", error))?;
        let (folder, bin, socket) = (root.join("work"), root.join("bin"), root.join("hub.sock"));
        set_up(&folder, &bin, &socket, program).map_err(|error| failed("write the sample files", error))?;
        let listener = UnixListener::bind(&socket).map_err(|error| failed("listen for the editor", error))?;
        let (sender, connections) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if sender.send(stream).is_err() {
                    return;
                }
            }
        });
        let process = spawn(command, &folder, &bin)?;
        Ok(EditorHost {
            files,
            folder,
            process,
            connections,
            stream: None,
            messages: channel().1,
            unread: Vec::new(),
            closed: false,
            last_id: 0,
            timeout,
            attach: None,
            capabilities: Capabilities::default(),
        })
    }

    pub(super) fn path(&self, file_name: &str) -> String {
        self.folder.join(file_name).to_string_lossy().into_owned()
    }

    pub(super) fn holds(&self, file_name: &str) -> String {
        fs::read_to_string(self.folder.join(file_name)).unwrap_or_else(|error| format!("({error})"))
    }

    pub(super) fn editor_name(&self) -> Option<String> {
        let attach: Attach = serde_json::from_value(self.attach.clone()?).ok()?;
        Some(format!("{} {}", attach.editor.name, attach.editor.version))
    }

    /// Waits for a connection and its `attach`, and answers it.
    pub(super) fn attached(&mut self) -> Outcome<Value> {
        const EXPECTED: &str = "`attach` as the first message of `linkspan attach`";
        let until = Instant::now() + START;
        let stream = loop {
            match self.connections.recv_timeout(PAUSE) {
                Ok(stream) => break stream,
                Err(_) if Instant::now() >= until => {
                    return Err(failed(EXPECTED, format!("no `linkspan attach` was started{}", self.said())));
                }
                Err(_) => {
                    if let Ok(Some(status)) = self.process.try_wait() {
                        return Err(failed(EXPECTED, format!("the command ended: {status}{}", self.said())));
                    }
                }
            }
        };
        let (sender, messages) = channel();
        let reading = stream.try_clone().map_err(|error| skipped(error.to_string()))?;
        thread::spawn(move || read(reading, &sender));
        (self.stream, self.messages, self.closed) = (Some(stream), messages, false);
        self.unread.clear();
        let first = self.messages.recv_timeout(START).map_err(|_| failed(EXPECTED, "nothing"))?;
        if first.get("method") != Some(&json!("attach")) || first.get("id").is_none() {
            return Err(failed(EXPECTED, excerpt(&first)));
        }
        let params = first.get("params").cloned().unwrap_or_default();
        self.capabilities = params
            .get("capabilities")
            .and_then(|capabilities| serde_json::from_value(capabilities.clone()).ok())
            .unwrap_or_default();
        self.attach = Some(params.clone());
        let result = self.window();
        self.send(&json!({ "jsonrpc": "2.0", "id": first.get("id"), "result": result }))?;
        Ok(params)
    }

    /// The window that `attach` and `hub/back` describe.
    pub(super) fn window(&self) -> Value {
        json!({
            "window": "w1",
            "port": 9,
            "hubVersion": env!("CARGO_PKG_VERSION"),
            "protocol": PROTOCOL,
            "environment": { "LINKSPAN_WINDOW": "w1" },
            "pendingReviews": [],
        })
    }

    /// The last lines of what the editor printed on its standard error.
    fn said(&self) -> String {
        let text = fs::read_to_string(self.files.path().join("stderr")).unwrap_or_default();
        let mut lines: Vec<&str> = text.lines().rev().take(3).collect();
        lines.reverse();
        if lines.is_empty() { String::new() } else { format!("; it printed: {}", lines.join(" / ")) }
    }

    pub(super) fn send(&mut self, message: &Value) -> Outcome {
        self.send_text(&message.to_string())
    }

    /// A message that need not be what JSON libraries write.
    pub(super) fn send_text(&mut self, text: &str) -> Outcome {
        let stream = self.stream.as_mut().ok_or_else(|| skipped("needs a connection, and there is none"))?;
        let sent = stream.write_all(&encode(text.as_bytes()));
        sent.map_err(|error| failed("an open connection", format!("it was closed: {error}")))
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) -> Outcome {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// The first message that fits; the editor's own requests are answered meanwhile.
    pub(super) fn wait(&mut self, time: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(at) = self.unread.iter().position(&fits) {
            return Some(self.unread.remove(at));
        }
        let until = Instant::now() + time;
        loop {
            match self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    self.answer_request(&message);
                    if fits(&message) {
                        return Some(message);
                    }
                    self.unread.push(message);
                }
                Err(error) => {
                    self.closed |= error == std::sync::mpsc::RecvTimeoutError::Disconnected;
                    return None;
                }
            }
        }
    }

    /// As a hub without reviews answers.
    fn answer_request(&mut self, message: &Value) {
        let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str))
        else {
            return;
        };
        let answer = match method {
            "reviews/list" => json!({ "jsonrpc": "2.0", "id": id, "result": { "reviews": [] } }),
            "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": null }),
            _ => {
                let error =
                    json!({ "code": errors::METHOD_NOT_FOUND, "message": "this is a check, not a hub" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        let _ = self.send(&answer);
    }

    /// The whole answer, whether result or error.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let is_answer =
            |message: &Value| message.get("id") == Some(&json!(id)) && message.get("method").is_none();
        match self.wait(self.timeout, is_answer) {
            Some(answer) => Ok(answer),
            None if self.closed => Err(failed("an answer", "the connection was closed")),
            None => Err(failed("an answer", format!("nothing within {} s", self.timeout.as_secs()))),
        }
    }

    /// The result of a request, in its shape.
    pub(super) fn request<R: Request>(&mut self, params: &R) -> Outcome<R::Result> {
        let params = serde_json::to_value(params).map_err(|error| skipped(error.to_string()))?;
        let answer = self.ask(R::METHOD, &params)?;
        result::<R>(&answer)
    }

    /// Ends the connection, as `linkspan attach` would by ending.
    pub(super) fn cut_off(&mut self) {
        if let Some(stream) = self.stream.take() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Asks the editor's process group to end; whether it did.
    pub(super) fn end(&mut self) -> bool {
        self.signal(Signal::TERM);
        let until = Instant::now() + self.timeout;
        while Instant::now() < until {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(PAUSE);
        }
        false
    }

    /// Whether the connection ends.
    pub(super) fn is_closed(&mut self) -> bool {
        let time = self.timeout;
        self.wait(time, |_| false);
        self.closed
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.process.id()).ok().and_then(Pid::from_raw)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group() {
            let _ = kill_process_group(group, signal);
        }
    }

    /// What is left to do if the check is interrupted.
    pub(super) fn abandon(&self) -> impl FnOnce() + Send + 'static {
        let (group, files) = (self.group(), self.files.path().to_path_buf());
        move || {
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = fs::remove_dir_all(files);
        }
    }
}

impl Drop for EditorHost {
    fn drop(&mut self) {
        // Only the group that was started here, and only while its leader was not waited for.
        if matches!(self.process.try_wait(), Ok(None)) {
            self.signal(Signal::KILL);
            let _ = self.process.wait();
        }
    }
}

/// The result in an answer, in its shape.
pub(super) fn result<R: Request>(answer: &Value) -> Outcome<R::Result> {
    let expected = || format!("a result of `{}` as the protocol reference describes it", R::METHOD);
    let result = answer.get("result").ok_or_else(|| failed(expected(), excerpt(answer)))?;
    serde_json::from_value(result.clone())
        .map_err(|error| failed(expected(), format!("{}: {error}", excerpt(answer))))
}

/// Reads messages until the connection ends.
fn read(mut stream: UnixStream, messages: &Sender<Value>) {
    let mut decoder = Decoder::new(Limits::OF_AN_EDITOR);
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        decoder.push(buffer.get(..length).unwrap_or_default());
        while let Ok(Some(body)) = decoder.next() {
            let message = serde_json::from_slice(&body)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&body).into_owned()));
            if messages.send(message).is_err() {
                return;
            }
        }
    }
}
