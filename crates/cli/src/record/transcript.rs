//! The file that a recording becomes: one JSON object a line, in the shape of the captured conversations, written as it
//! happens and without secrets.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::http1::{Head, Side};
use super::secrets::Secrets;

/// A transcript under way. All connections write into it.
pub(crate) struct Transcript {
    begun: Instant,
    inner: Mutex<Inner>,
}

struct Inner {
    out: Box<dyn Write + Send>,
    secrets: Secrets,
    connections: u64,
    /// Nothing can be written any more, and somebody was told.
    failed: bool,
}

impl Transcript {
    /// `secrets` are known before anything is heard.
    pub(crate) fn new(out: Box<dyn Write + Send>, secrets: Secrets) -> Transcript {
        let inner = Inner { out, secrets, connections: 0, failed: false };
        Transcript { begun: Instant::now(), inner: Mutex::new(inner) }
    }

    /// A new connection's number.
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
        let at = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
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

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn fail(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.failed, true) {
            crate::output::warn(&format!("the transcript cannot be written any more: {error}"));
        }
    }
}

pub(crate) fn direction(side: Side) -> &'static str {
    match side {
        Side::Request => "cli->ide",
        Side::Response => "ide->cli",
    }
}
