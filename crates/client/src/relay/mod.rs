//! Keeps an editor attached while hubs come and go. One loop owns everything and is fed by threads that only
//! read or only connect; what a frame leads to is decided in `ledger`.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod ledger;

use std::fmt;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api::{Decoder, FramingError, HubLost, Limits, Message, RpcError, encode, errors};

use crate::control::{Control, ControlError};
use crate::hub::ConnectError;
use ledger::{Frame, Ledger, Moves};

const READ_BYTES: usize = 64 * 1024;
/// Frames read and not yet handled; a peer that sends faster than the other reads has to wait.
const QUEUED: usize = 64;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A hub that lived this long has not failed to start.
const SOUND_LIFE: Duration = Duration::from_secs(5);
const WRITE_DEADLINE: Duration = Duration::from_secs(10);

/// Something a person may want to know; the relay goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The hub is of another version that still understands us.
    Version(String),
    /// The hub is gone.
    HubLost,
    /// There is no hub yet, and why.
    Waiting(String),
    /// The window is attached to a new hub.
    Reattached {
        /// Its port.
        port: u16,
        /// Port or environment are not what they were: terminals opened before do not find it.
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
                "attached again, but on port {port}: agents in terminals opened before have to be started anew"
            ),
        }
    }
}

/// Why the relay ended although the editor is there.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The editor's bytes are not framed.
    #[error("the editor sent something that is not a message: {0}")]
    Shim(#[source] FramingError),
    /// The hub's bytes are not framed.
    #[error("the hub sent something that is not a message: {0}")]
    Hub(#[source] FramingError),
    /// The hub is of a version that would misunderstand us.
    #[error("{0}")]
    Version(String),
    /// A new hub does not let the window in again.
    #[error("the hub does not let the window in again: {0}")]
    Refused(RpcError),
    /// There is no hub, and there will be none.
    #[error(transparent)]
    Connect(ConnectError),
}

enum Event {
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
            from_shim.send(Event::Shim(frame)).is_ok()
        });
        let _ = from_shim.send(Event::ShimClosed(closed));
    });
    let connector = Connector { connect: Arc::new(connect), role, events };
    connector.spawn(Duration::ZERO);
    let mut relay = Relay {
        ledger: Ledger::new(std::env::var("CLAUDE_CONFIG_DIR").ok()),
        connector,
        shim: shim_hears,
        hub: None,
        life: 0,
        pause: FIRST_PAUSE,
        up_since: Instant::now(),
    };
    let ended = relay.run(&inbox, &mut tell);
    relay.close_hub();
    ended
}

struct Relay<W> {
    ledger: Ledger,
    connector: Connector,
    shim: W,
    hub: Option<UnixStream>,
    life: u64,
    pause: Duration,
    up_since: Instant,
}

impl<W: Write> Relay<W> {
    fn run(&mut self, inbox: &Receiver<Event>, tell: &mut impl FnMut(Notice)) -> Result<(), RelayError> {
        while let Ok(event) = inbox.recv() {
            let moves = match event {
                Event::Shim(frame) => self.ledger.shim_said(frame),
                Event::ShimClosed(None) => break,
                Event::ShimClosed(Some(error)) => return Err(RelayError::Shim(error)),
                Event::Hub(life, frame) if life == self.life => {
                    self.ledger.hub_said(frame).map_err(refused)?
                }
                Event::HubClosed(life, error) if life == self.life => {
                    if let Some(error) = error {
                        return Err(RelayError::Hub(error));
                    }
                    self.lose_hub(tell);
                    continue;
                }
                // From a hub that we have left already.
                Event::Hub(..) | Event::HubClosed(..) => continue,
                Event::Connected(connection) => match self.meet_hub(*connection) {
                    Ok(()) => self.ledger.hub_up(),
                    Err(_) => {
                        self.lose_hub(tell);
                        continue;
                    }
                },
                Event::Notice(notice) => {
                    self.notice(notice, tell);
                    continue;
                }
                Event::Failed(error) => return Err(error),
            };
            if !self.carry_out(moves, tell) {
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
            let closed = read_frames(reader, decoder, |frame| events.send(Event::Hub(life, frame)).is_ok());
            let _ = events.send(Event::HubClosed(life, closed));
        });
        Ok(())
    }

    /// Its reader holds the socket too and ends by this; what it still says belongs to no life.
    fn close_hub(&mut self) {
        if let Some(hub) = self.hub.take() {
            let _ = hub.shutdown(Shutdown::Both);
        }
    }

    fn lose_hub(&mut self, tell: &mut impl FnMut(Notice)) {
        self.close_hub();
        self.life += 1;
        self.ledger.hub_down();
        self.pause = match self.up_since.elapsed() {
            long if long >= SOUND_LIFE => FIRST_PAUSE,
            _ => (self.pause * 2).min(LONGEST_PAUSE),
        };
        self.notice(Notice::HubLost, tell);
        self.connector.spawn(self.pause);
    }

    /// The editor is told too when there is no hub: it shows that to the person.
    fn notice(&mut self, notice: Notice, tell: &mut impl FnMut(Notice)) {
        if matches!(notice, Notice::HubLost | Notice::Waiting(_)) {
            let lost = Message::notification(&HubLost { reason: notice.to_string() });
            // One that hears nothing any more is noticed by its reader.
            let _ = self.say(&lost.to_bytes());
        }
        tell(notice);
    }

    fn say(&mut self, frame: &[u8]) -> io::Result<()> {
        self.shim.write_all(&encode(frame))?;
        self.shim.flush()
    }

    /// `false` when the editor does not hear any more.
    fn carry_out(&mut self, moves: Moves, tell: &mut impl FnMut(Notice)) -> bool {
        if let Some(notice) = moves.notice {
            tell(notice);
        }
        for frame in moves.to_shim {
            if self.say(&frame).is_err() {
                return false;
            }
        }
        for frame in moves.to_hub {
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
    events: SyncSender<Event>,
}

impl Connector {
    /// Connects after a pause, and again until it works or nobody listens any more.
    fn spawn(&self, pause: Duration) {
        let (connect, role, events) = (Arc::clone(&self.connect), self.role, self.events.clone());
        thread::spawn(move || {
            let mut pause = pause;
            let mut told = None;
            loop {
                thread::sleep(pause);
                pause = (pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
                let event = match attempt(&*connect, role, &events) {
                    Ok(connection) => Event::Connected(Box::new(connection)),
                    Err(Attempt::Hopeless(error)) => Event::Failed(error),
                    Err(Attempt::Again(why)) => {
                        let news = why.filter(|why| told.as_ref() != Some(why));
                        if let Some(why) = news {
                            told = Some(why.clone());
                            if events.send(Event::Notice(Notice::Waiting(why))).is_err() {
                                return;
                            }
                        }
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
    events: &SyncSender<Event>,
) -> Result<Control, Attempt> {
    let mut connection = connect().map_err(|error| match error {
        lasting if lasting.is_lasting() => Attempt::Hopeless(RelayError::Connect(lasting)),
        passing => Attempt::Again(Some(passing.to_string())),
    })?;
    match connection.hello(role) {
        Ok(hello) => {
            if let Some(notice) = hello.notice {
                let _ = events.send(Event::Notice(Notice::Version(notice)));
            }
            Ok(connection)
        }
        Err(ControlError::Version(text)) => Err(Attempt::Hopeless(RelayError::Version(text))),
        // It was leaving: nothing a person needs to know.
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

/// Cuts a stream into frames until it ends or `emit` says stop; gives what made the rest unreadable.
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
