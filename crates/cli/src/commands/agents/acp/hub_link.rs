//! The connections to the hub, one for each session of the agent: a window for its folder is found or opened, the agent
//! joins it, and messages pass. Connecting happens in a thread; nothing here waits for it. Does not know what the messages
//! say.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::Candidate;
use linkspan_client::discover::Wire;
use linkspan_editor_api::{AgentJoin, AgentLeave, Decoder, Message, encode};
use serde_json::{Value, json};

use super::{Inputs, ProxyInput, spawn};
use crate::cli::context::CliContext;
use crate::cli::temporary_window::TemporaryWindow;
use crate::commands::agents::hook;

/// A hub that reads no more is gone.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);

/// How long a window may take to find a hub that was started again.
const WINDOW_BACK: Duration = Duration::from_secs(6);
const PAUSE: Duration = Duration::from_millis(50);

/// Who is behind a session.
#[derive(Debug, Clone)]
pub(super) struct Begin {
    /// The agent's own id of it.
    pub(super) acp_session: String,
    pub(super) cwd: PathBuf,
    pub(super) name: String,
    pub(super) version: String,
    /// Random; the same after a reconnect.
    pub(super) key: String,
    /// It was connected before: its window may be about to come back, with the hub.
    pub(super) again: bool,
}

#[derive(Debug)]
pub(super) enum LinkEvent {
    Message(Value),
    /// It was connected, or was about to be, and is no longer.
    Lost(String),
}

/// The windows that were opened because no editor has the folder.
type Windows = Arc<Mutex<BTreeMap<PathBuf, TemporaryWindow>>>;

#[derive(Debug)]
pub(super) struct HubLinks {
    cli: CliContext,
    inputs: Inputs,
    streams: Arc<Mutex<BTreeMap<String, (u64, UnixStream)>>>,
    windows: Windows,
}

impl HubLinks {
    pub(super) fn new(cli: CliContext, inputs: Inputs) -> HubLinks {
        HubLinks { cli, inputs, streams: Arc::default(), windows: Arc::default() }
    }

    /// Events of this link carry its number.
    pub(super) fn connect(&self, session: String, number: u64, begin: Begin) {
        let (cli, inputs) = (self.cli.clone(), self.inputs.clone());
        let (streams, windows) = (Arc::clone(&self.streams), Arc::clone(&self.windows));
        let of = session.clone();
        let work = move || {
            let notify = |event| drop(inputs.send(ProxyInput::Link(session.clone(), number, event)));
            let joined = join(&cli, &begin, &windows);
            let why = match joined.and_then(|(stream, decoder)| {
                let writer = stream.try_clone().map_err(|error| error.to_string())?;
                lock(&streams).insert(session.clone(), (number, writer));
                receive(stream, decoder, |message| notify(LinkEvent::Message(message)))
            }) {
                Ok(()) => "the hub closed the connection".to_owned(),
                Err(why) => why,
            };
            let mut streams = lock(&streams);
            if streams.get(&session).is_some_and(|(of, _)| *of == number) {
                streams.remove(&session);
            }
            drop(streams);
            notify(LinkEvent::Lost(why));
        };
        if let Err(failure) = spawn("linkspan-hub", work) {
            let lost = LinkEvent::Lost(failure.message);
            drop(self.inputs.send(ProxyInput::Link(of, number, lost)));
        }
    }

    pub(super) fn send(&self, session: &str, message: &Value) {
        if let Some((_, stream)) = lock(&self.streams).get_mut(session)
            && stream.write_all(&encode(message.to_string().as_bytes())).is_err()
        {
            // Its reader notices that.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Everything that is pending is withdrawn.
    pub(super) fn leave(&self, session: &str) {
        if let Some((_, mut stream)) = lock(&self.streams).remove(session) {
            let _ = stream.write_all(&encode(&Message::notification(&AgentLeave {}).to_bytes()));
        }
    }

    pub(super) fn leave_all(&self) {
        let sessions: Vec<String> = lock(&self.streams).keys().cloned().collect();
        sessions.iter().for_each(|session| self.leave(session));
        std::mem::take(&mut *lock(&self.windows)).into_values().for_each(TemporaryWindow::close);
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the hub if none runs.
fn join(cli: &CliContext, begin: &Begin, windows: &Windows) -> Result<(UnixStream, Decoder), String> {
    drop(cli.greeted().map_err(|failure| failure.message)?);
    let window = window_for(cli, begin, windows)?;
    let Wire::Hub { window, .. } = window.wire else {
        return Err("the window of this folder does not belong to Linkspan's hub".to_owned());
    };
    let join = AgentJoin {
        window,
        session: begin.key.clone(),
        name: begin.name.clone(),
        version: begin.version.clone(),
        pid: Some(std::process::id()),
        receives: None,
        hook: None,
        acp_proxy: true,
    };
    let control = cli.connect().map_err(|error| error.to_string())?;
    let (mut stream, decoder) = control.join(&join).map_err(|error| error.to_string())?;
    let begin = json!({ "jsonrpc": "2.0", "method": "begin", "params": {
        "session": begin.acp_session, "cwd": begin.cwd,
    } });
    stream
        .set_write_timeout(Some(WRITE_DEADLINE))
        .and_then(|()| stream.set_read_timeout(None))
        .and_then(|()| stream.write_all(&encode(begin.to_string().as_bytes())))
        .map_err(|error| error.to_string())?;
    Ok((stream, decoder))
}

/// The window with the folder, or one without an editor.
fn window_for(cli: &CliContext, begin: &Begin, windows: &Windows) -> Result<Candidate, String> {
    let folder = &begin.cwd;
    let until = Instant::now() + if begin.again { WINDOW_BACK } else { Duration::ZERO };
    loop {
        if let Some(found) = hook::window_for(cli, folder) {
            return Ok(found);
        }
        if Instant::now() >= until {
            break;
        }
        thread::sleep(PAUSE);
    }
    let mut windows = lock(windows);
    if let Some(open) = windows.get(folder) {
        return Ok(open.candidate().clone());
    }
    let opened = TemporaryWindow::open(cli, &[folder.to_owned()]).map_err(|failure| failure.message)?;
    let candidate = opened.candidate().clone();
    windows.insert(folder.to_owned(), opened);
    Ok(candidate)
}

/// Until the connection ends.
fn receive(mut stream: UnixStream, mut decoder: Decoder, mut take: impl FnMut(Value)) -> Result<(), String> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        while let Some(frame) = decoder.next().map_err(|error| error.to_string())? {
            if let Ok(message) = serde_json::from_slice(&frame) {
                take(message);
            }
        }
        match stream.read(&mut buffer) {
            Ok(length @ 1..) => decoder.push(buffer.get(..length).unwrap_or_default()),
            Ok(0) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("the connection to the hub failed: {error}")),
        }
    }
}
