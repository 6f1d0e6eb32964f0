//! Keeps an editor attached across restarts of the hub. One loop owns everything and is fed by threads that only read
//! or only connect; `relay_state` decides what to do with a frame. Must not know what the messages mean, except
//! attaching.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod relay_state;

use std::fmt;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::wire_names::env::CLAUDE_CONFIG_DIR;
use linkspan_editor_api::{Decoder, FramingError, HubLost, Limits, Message, RpcError, encode, errors};

use crate::backoff::Backoff;
use crate::control::{Control, ControlError};
use crate::hub::ConnectError;
use relay_state::{Frame, Output, RelayState};

const READ_BYTES: usize = 64 * 1024;
/// Frames that are read and not yet handled; a peer that sends faster than the other reads has to wait.
const QUEUED: usize = 64;
/// A hub that lived this long has not failed to start.
const SOUND_LIFE: Duration = Duration::from_secs(5);
const WRITE_DEADLINE: Duration = Duration::from_secs(10);

/// A notice for the user; the relay continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The hub has a different version, which is compatible.
    Version(String),
    /// The hub is gone.
    HubLost,
    /// There is no hub yet; the reason.
    Waiting(String),
    /// The window is attached to a new hub.
    Reattached {
        /// Its port.
        port: u16,
        /// Port or environment changed: terminals that were opened before do not find it.
        moved: bool,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Version(text) => f.write_str(text),
            Notice::HubLost => f.write_str("the hub is gone: starting it again"),
            Notice::Waiting(why) => write!(f, "{why}; trying again"),
            Notice::Reattached { port, moved: false } => write!(f, "attached again on port {port}"),
            Notice::Reattached { port, moved: true } => write!(
                f,
                "attached again, but on port {port}: restart agents in terminals that were opened before"
            ),
        }
    }
}

/// Why the relay ended although the editor is connected.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The editor's bytes are not framed.
    #[error("the editor sent something that is not a message: {0}")]
    Shim(#[source] FramingError),
    /// The hub's bytes are not framed.
    #[error("the hub sent something that is not a message: {0}")]
    Hub(#[source] FramingError),
    /// The hub has an incompatible version.
    #[error("{0}")]
    Version(String),
    /// A new hub rejects the window.
    #[error("the hub rejects the window: {0}")]
    Refused(RpcError),
    /// There is no hub, and trying again will not help.
    #[error(transparent)]
    Connect(ConnectError),
}

enum RelayEvent {
    Shim(Frame),
    ShimClosed(Option<FramingError>),
    Hub(u64, Frame),
    HubClosed(u64, Option<FramingError>),
    Connected(Box<Control>),
    Notice(Notice),
    Failed(RelayError),
}

type Connect = Arc<dyn Fn() -> Result<Control, ConnectError> + Send + Sync>;

/// Passes frames between an editor and the hub until the editor closes its side. `connect` is called on other
/// threads, whenever there is no hub; `role` names us in the hub's log.
pub fn relay(
    connect: impl Fn() -> Result<Control, ConnectError> + Send + Sync + 'static,
    role: &'static str,
    shim_says: impl Read + Send + 'static,
    shim_hears: impl Write,
    mut tell: impl FnMut(Notice),
) -> Result<(), RelayError> {
    let (events, inbox) = sync_channel(QUEUED);
    let from_shim = events.clone();
    thread::spawn(move || {
        let closed = read_frames(shim_says, Decoder::new(Limits::OF_A_HUB), |frame| {
            from_shim.send(RelayEvent::Shim(frame)).is_ok()
        });
        let _ = from_shim.send(RelayEvent::ShimClosed(closed));
    });
    let connector = Connector { connect: Arc::new(connect), role, events };
    let backoff = Backoff::to_hub();
    connector.spawn(Duration::ZERO, backoff.clone());
    let mut relay = Relay {
        state: RelayState::new(std::env::var(CLAUDE_CONFIG_DIR).ok()),
        connector,
        shim: shim_hears,
        hub: None,
        life: 0,
        backoff,
        up_since: Instant::now(),
    };
    let ended = relay.run(&inbox, &mut tell);
    relay.close_hub();
    ended
}

struct Relay<W> {
    state: RelayState,
    connector: Connector,
    shim: W,
    hub: Option<UnixStream>,
    life: u64,
    backoff: Backoff,
    up_since: Instant,
}

impl<W: Write> Relay<W> {
    fn run(&mut self, inbox: &Receiver<RelayEvent>, tell: &mut impl FnMut(Notice)) -> Result<(), RelayError> {
        while let Ok(event) = inbox.recv() {
            let output = match event {
                RelayEvent::Shim(frame) => self.state.shim_said(frame),
                RelayEvent::ShimClosed(None) => break,
                RelayEvent::ShimClosed(Some(error)) => return Err(RelayError::Shim(error)),
                RelayEvent::Hub(life, frame) if life == self.life => {
                    self.state.hub_said(frame).map_err(refused)?
                }
                RelayEvent::HubClosed(life, error) if life == self.life => {
                    if let Some(error) = error {
                        return Err(RelayError::Hub(error));
                    }
                    self.lose_hub(tell);
                    continue;
                }
                // From a hub that we are no longer connected to.
                RelayEvent::Hub(..) | RelayEvent::HubClosed(..) => continue,
                RelayEvent::Connected(connection) => match self.meet_hub(*connection) {
                    Ok(()) => self.state.hub_up(),
                    Err(_) => {
                        self.lose_hub(tell);
                        continue;
                    }
                },
                RelayEvent::Notice(notice) => {
                    self.notice(notice, tell);
                    continue;
                }
                RelayEvent::Failed(error) => return Err(error),
            };
            if !self.carry_out(output, tell) {
                break;
            }
        }
        Ok(())
    }

    fn meet_hub(&mut self, connection: Control) -> io::Result<()> {
        let (stream, decoder) = connection.into_parts();
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(Some(WRITE_DEADLINE))?;
        let reader = stream.try_clone()?;
        self.life += 1;
        self.up_since = Instant::now();
        self.hub = Some(stream);
        let (life, events) = (self.life, self.connector.events.clone());
        thread::spawn(move || {
            let closed =
                read_frames(reader, decoder, |frame| events.send(RelayEvent::Hub(life, frame)).is_ok());
            let _ = events.send(RelayEvent::HubClosed(life, closed));
        });
        Ok(())
    }

    /// Its reader holds the socket too and ends by this; frames that it still sends are ignored.
    fn close_hub(&mut self) {
        if let Some(hub) = self.hub.take() {
            let _ = hub.shutdown(Shutdown::Both);
        }
    }

    fn lose_hub(&mut self, tell: &mut impl FnMut(Notice)) {
        self.close_hub();
        self.life += 1;
        self.state.hub_down();
        if self.up_since.elapsed() >= SOUND_LIFE {
            self.backoff.reset();
        }
        let pause = self.backoff.pause();
        self.notice(Notice::HubLost, tell);
        self.connector.spawn(pause, self.backoff.clone());
    }

    /// Also notifies the editor when there is no hub: it shows that to the user.
    fn notice(&mut self, notice: Notice, tell: &mut impl FnMut(Notice)) {
        if matches!(notice, Notice::HubLost | Notice::Waiting(_)) {
            let lost = Message::notification(&HubLost { reason: notice.to_string() });
            // The reader notices an editor that is gone.
            let _ = self.say(&lost.to_bytes());
        }
        tell(notice);
    }

    fn say(&mut self, frame: &[u8]) -> io::Result<()> {
        self.shim.write_all(&encode(frame))?;
        self.shim.flush()
    }

    /// `false` if the editor is gone.
    fn carry_out(&mut self, output: Output, tell: &mut impl FnMut(Notice)) -> bool {
        if let Some(notice) = output.notice {
            tell(notice);
        }
        for frame in output.to_shim {
            if self.say(&frame).is_err() {
                return false;
            }
        }
        for frame in output.to_hub {
            let Some(hub) = &mut self.hub else { break };
            if hub.write_all(&encode(&frame)).is_err() {
                self.lose_hub(tell);
                break;
            }
        }
        true
    }
}

struct Connector {
    connect: Connect,
    role: &'static str,
    events: SyncSender<RelayEvent>,
}

impl Connector {
    /// Connects after a pause, and tries again until it succeeds or the relay is gone.
    fn spawn(&self, first_pause: Duration, mut backoff: Backoff) {
        let (connect, role, events) = (Arc::clone(&self.connect), self.role, self.events.clone());
        thread::spawn(move || {
            let mut told = None;
            thread::sleep(first_pause);
            loop {
                let event = match attempt(&*connect, role, &events) {
                    Ok(connection) => RelayEvent::Connected(Box::new(connection)),
                    Err(Attempt::Hopeless(error)) => RelayEvent::Failed(error),
                    Err(Attempt::Again(why)) => {
                        let news = why.filter(|why| told.as_ref() != Some(why));
                        if let Some(why) = news {
                            told = Some(why.clone());
                            if events.send(RelayEvent::Notice(Notice::Waiting(why))).is_err() {
                                return;
                            }
                        }
                        thread::sleep(backoff.pause());
                        continue;
                    }
                };
                let _ = events.send(event);
                return;
            }
        });
    }
}

enum Attempt {
    Again(Option<String>),
    Hopeless(RelayError),
}

fn attempt(
    connect: &dyn Fn() -> Result<Control, ConnectError>,
    role: &str,
    events: &SyncSender<RelayEvent>,
) -> Result<Control, Attempt> {
    let mut connection = connect().map_err(|error| match error {
        lasting if lasting.is_lasting() => Attempt::Hopeless(RelayError::Connect(lasting)),
        passing => Attempt::Again(Some(passing.to_string())),
    })?;
    match connection.hello(role) {
        Ok(hello) => {
            if let Some(notice) = hello.notice {
                let _ = events.send(RelayEvent::Notice(Notice::Version(notice)));
            }
            Ok(connection)
        }
        Err(ControlError::Version(text)) => Err(Attempt::Hopeless(RelayError::Version(text))),
        // It was shutting down: the user does not need to know.
        Err(ControlError::Closed) => Err(Attempt::Again(None)),
        Err(error) => Err(Attempt::Again(Some(error.to_string()))),
    }
}

fn refused(error: RpcError) -> RelayError {
    if error.code == errors::VERSION {
        RelayError::Version(error.message)
    } else {
        RelayError::Refused(error)
    }
}

/// Cuts a stream into frames until it ends or `emit` returns false; returns the error that made the rest unreadable.
fn read_frames(
    mut source: impl Read,
    mut decoder: Decoder,
    mut emit: impl FnMut(Frame) -> bool,
) -> Option<FramingError> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        loop {
            match decoder.next() {
                Ok(Some(frame)) => {
                    if !emit(frame) {
                        return None;
                    }
                }
                Ok(None) => break,
                Err(error) => return Some(error),
            }
        }
        match source.read(&mut buffer) {
            Ok(0) => return None,
            Ok(length) => decoder.push(buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests;
