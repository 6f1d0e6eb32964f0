//! An editor that answers at once and reads no more of a message than it must, so that only the hub is measured.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use linkspan_editor_api::{
    Attach, AttachResult, Capabilities, Decision, Diagnostic, DiagnosticsGetResult, DocumentTextResult,
    DocumentsListResult, FileDiagnostics, Message, OpenDocument, PROTOCOL, Position, Range, RequestId,
    ReviewDecided, Selection, Severity, Verdict, encode,
};

const ANSWER_DEADLINE: Duration = Duration::from_secs(20);
/// The members that an editor needs are before this: the hub writes the id, the method and the review first.
const START: usize = 300;

type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// A review that was shown.
#[derive(Debug)]
pub(crate) struct ShownReview {
    pub(crate) review: String,
    pub(crate) revision: u32,
    pub(crate) at: Instant,
}

/// Attached, and served by its own thread until the hub disconnects.
pub(crate) struct Editor {
    pub(crate) port: u16,
    output: Output,
    shown: Receiver<ShownReview>,
    relay: Option<Child>,
}

impl Editor {
    /// Over the hub's own socket: what `linkspan attach` relays.
    pub(crate) fn on_socket(socket: &Path, folder: &Path) -> Result<Editor> {
        let stream = UnixStream::connect(socket)?;
        let input = stream.try_clone()?;
        Editor::join(folder, BufReader::new(input), Box::new(stream), None)
    }

    /// Through a `linkspan attach` process, like real editors.
    pub(crate) fn on_relay(mut attach: Command, folder: &Path) -> Result<Editor> {
        let mut child = attach.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdout.take().context("no output of attach")?;
        let output = child.stdin.take().context("no input of attach")?;
        Editor::join(folder, BufReader::new(input), Box::new(output), Some(child))
    }

    fn join(
        folder: &Path,
        mut input: impl BufRead + Send + 'static,
        mut output: Box<dyn Write + Send>,
        relay: Option<Child>,
    ) -> Result<Editor> {
        let attach = Attach {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            editor: linkspan_editor_api::Editor { name: "Bench".into(), version: "1".into() },
            pid: std::process::id(),
            folders: vec![folder.display().to_string()],
            window_id: None,
            claude_config_dir: None,
            capabilities: Capabilities {
                documents: true,
                selection: true,
                diagnostics: true,
                reviews: true,
                ..Capabilities::default()
            },
        };
        output.write_all(&encode(&Message::request(RequestId::Number(1), &attach).to_bytes()))?;
        output.flush()?;
        let mut body = Vec::new();
        read_body(&mut input, &mut body)?;
        let Message::Response { result: Ok(result), .. } = Message::parse(&body)? else {
            bail!("the hub refused the window: {}", String::from_utf8_lossy(&body));
        };
        let attached: AttachResult = serde_json::from_str(result.get())?;
        let output: Output = Arc::new(Mutex::new(output));
        let (shows, shown) = channel();
        let answers = Answers::new(folder)?;
        let writing = Arc::clone(&output);
        // Ends with the connection.
        thread::spawn(move || serve(&mut input, &writing, &answers, &shows));
        Ok(Editor { port: attached.port, output, shown, relay })
    }

    /// The next review that is shown.
    pub(crate) fn next_shown(&self) -> Result<ShownReview> {
        self.shown.recv_timeout(ANSWER_DEADLINE).context("no review was shown")
    }

    pub(crate) fn accept(&self, shown: &ShownReview) -> Result<()> {
        let decision = Decision { verdict: Verdict::Accept, comments: Vec::new(), write_here: false };
        let (review, revision) = (shown.review.clone(), shown.revision);
        let decided = ReviewDecided { review, revision, digest: None, decision };
        write(&self.output, &Message::request(RequestId::Number(2), &decided))
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if let Some(relay) = &mut self.relay {
            let _ = relay.kill();
            let _ = relay.wait();
        }
    }
}

fn write(output: &Output, message: &Message) -> Result<()> {
    write_bytes(output, &encode(&message.to_bytes()))
}

fn write_bytes(output: &Output, bytes: &[u8]) -> Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(bytes)?;
    Ok(output.flush()?)
}

fn read_body(input: &mut impl BufRead, body: &mut Vec<u8>) -> Result<()> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        ensure!(input.read_line(&mut line)? > 0, "the hub hung up");
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse()?,
            Some(_) => {}
            None => break,
        }
    }
    body.resize(length, 0);
    Ok(input.read_exact(body)?)
}

/// Results, ready to be sent except for their id.
pub(crate) struct Answers {
    documents: String,
    text: String,
    selection: String,
    diagnostics: String,
}

impl Answers {
    pub(crate) fn new(folder: &Path) -> Result<Answers> {
        let path = folder.join("src/main.rs").display().to_string();
        let range =
            Range { start: Position { line: 2, character: 4 }, end: Position { line: 2, character: 9 } };
        let selection =
            Selection { path: path.clone(), text: "value".into(), range, is_empty: false, reversed: false };
        let warning = Diagnostic {
            message: "unused variable: `value`".into(),
            severity: Severity::Warning,
            range,
            source: Some("rustc".into()),
            code: Some("unused_variables".into()),
        };
        let diagnostics =
            FileDiagnostics { path: path.clone(), version: None, settled: true, diagnostics: vec![warning] };
        let document = OpenDocument {
            path,
            label: "main.rs".into(),
            active: true,
            language: Some("rust".into()),
            ..OpenDocument::default()
        };
        Ok(Answers {
            documents: serde_json::to_string(&DocumentsListResult { documents: vec![document] })?,
            text: serde_json::to_string(&DocumentTextResult::default())?,
            selection: serde_json::to_string(&selection)?,
            diagnostics: serde_json::to_string(&DiagnosticsGetResult { files: vec![diagnostics] })?,
        })
    }

    pub(crate) fn to(&self, method: &str) -> &str {
        match method {
            "documents/list" => &self.documents,
            "document/text" => &self.text,
            "selection/current" => &self.selection,
            "diagnostics/get" => &self.diagnostics,
            _ => "null",
        }
    }
}

fn serve(input: &mut impl BufRead, output: &Output, answers: &Answers, shows: &Sender<ShownReview>) {
    let mut body = Vec::new();
    while read_body(input, &mut body).is_ok() {
        let at = Instant::now();
        let start = String::from_utf8_lossy(body.get(..body.len().min(START)).unwrap_or(&body));
        let (Some(id), Some(method)) = (value(&start, "id"), value(&start, "method")) else { continue };
        let method = method.trim_matches('"');
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, answers.to(method));
        if write_bytes(output, &encode(answer.as_bytes())).is_err() {
            return;
        }
        if method == "review/show"
            && let (Some(review), Some(revision)) = (value(&start, "review"), value(&start, "revision"))
        {
            let review = review.trim_matches('"').to_owned();
            let _ = shows.send(ShownReview { review, revision: revision.parse().unwrap_or_default(), at });
        }
    }
}

/// The plain value of a key, as it is in the text.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!("\"{key}\":"))?;
    after.split([',', '}']).next()
}
