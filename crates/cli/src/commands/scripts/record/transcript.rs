//! The transcript of a recording: one JSON object per line, in the format of testdata/wire, written immediately and
//! without secrets.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::http1::{Head, Side};
use super::secrets::Secrets;

/// The transcript that all connections write to.
pub(crate) struct Transcript {
    started: Instant,
    inner: Mutex<TranscriptState>,
}

struct TranscriptState {
    out: Box<dyn Write + Send>,
    secrets: Secrets,
    connections: u64,
    /// Writing has failed, and that was reported.
    failed: bool,
}

impl Transcript {
    /// `secrets` are those that are known from the start.
    pub(crate) fn new(out: Box<dyn Write + Send>, secrets: Secrets) -> Transcript {
        let inner = TranscriptState { out, secrets, connections: 0, failed: false };
        Transcript { started: Instant::now(), inner: Mutex::new(inner) }
    }

    /// Returns the number of a new connection.
    pub(crate) fn open(&self) -> u64 {
        let conn = {
            let mut inner = self.locked();
            inner.connections += 1;
            inner.connections
        };
        self.event(conn, "open");
        conn
    }

    pub(crate) fn event(&self, conn: u64, event: &str) {
        self.write(conn, None, Map::from_iter([("ev".to_owned(), json!(event))]));
    }

    pub(crate) fn head(&self, conn: u64, side: Side, head: &Head) {
        let (line, headers) = {
            let secrets = &mut self.locked().secrets;
            let headers: Vec<String> = head.headers.iter().map(|header| secrets.header(header)).collect();
            (secrets.addresses(&head.line), headers)
        };
        let fields = [("http".to_owned(), json!(line)), ("headers".to_owned(), json!(headers))];
        self.write(conn, Some(side), Map::from_iter(fields));
    }

    pub(crate) fn line(&self, conn: u64, side: Side, fields: Map<String, Value>) {
        self.write(conn, Some(side), fields);
    }

    fn write(&self, conn: u64, side: Option<Side>, fields: Map<String, Value>) {
        let mut inner = self.locked();
        let mut line = Map::new();
        let at = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        line.insert("at_ms".into(), json!(at));
        line.insert("conn".into(), json!(conn));
        if let Some(side) = side {
            line.insert("dir".into(), json!(direction(side)));
        }
        line.extend(fields);
        let mut line = Value::Object(line);
        inner.secrets.message(&mut line);
        inner.secrets.hide(&mut line);
        let written = writeln!(inner.out, "{line}").and_then(|()| inner.out.flush());
        if let Err(error) = written {
            inner.fail(&error);
        }
    }

    fn locked(&self) -> MutexGuard<'_, TranscriptState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TranscriptState {
    fn fail(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.failed, true) {
            crate::cli::output::warn(&format!(
                "cannot write the transcript: {error}; the rest is not recorded"
            ));
        }
    }
}

pub(crate) fn direction(side: Side) -> &'static str {
    match side {
        Side::Request => "cli->ide",
        Side::Response => "ide->cli",
    }
}
