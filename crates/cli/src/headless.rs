//! A window without an editor: it speaks to the hub as any editor does, through the same relay, and tells its
//! owner what it hears. Knows nothing of what is printed or who asked for it.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::{Notice, RelayError, relay};
use linkspan_editor_api::{
    Attach, AttachResult, Capabilities, Decoder, Detach, Editor, HubStatus, HubStatusResult, Limits, Message,
    PROTOCOL, Ping, Request, RequestId, ReviewHide, ReviewShow, ReviewWaiting, RpcError, StatusMessage,
    UserAsk, UserUnask, decode, encode, errors,
};

use crate::exit::Failure;
use crate::reach::Reach;

/// What it calls itself.
pub(crate) const NAME: &str = "Linkspan (headless)";

const ATTACH_ID: RequestId = RequestId::Number(1);
const STATUS_ID: RequestId = RequestId::Number(2);
/// The hub hears that we leave within this time, or by our absence.
const LEAVE_DEADLINE: Duration = Duration::from_secs(2);

/// What the owner of a window is told.
#[derive(Debug)]
pub(crate) enum Happening<'a> {
    /// Agents can come; by dialect, where they look.
    Open(&'a AttachResult, &'a [(String, String)]),
    Shown(&'a ReviewShow),
    Waiting(&'a ReviewWaiting),
    Hidden(&'a ReviewHide),
    Asked(&'a UserAsk),
    AskOver(&'a UserUnask),
    /// An agent, or the hub, has something to say.
    Message(&'a StatusMessage),
    Notice(&'a Notice),
}

/// Why a window ended by itself.
#[derive(Debug)]
pub(crate) enum Ended {
    Failed(Failure),
    /// The owner could not be told.
    Untold(io::Error),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended::Failed(failure)
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Untold(error)
    }
}

enum Event {
    Heard(Message),
    Notice(Notice),
    Ended(Result<(), RelayError>),
    Leave,
}

/// Tells a window to go; from any thread, more than once if need be.
#[derive(Debug, Clone)]
pub(crate) struct Leave(Sender<Event>);

impl Leave {
    pub(crate) fn now(&self) {
        // A window that does not hear has gone already.
        let _ = self.0.send(Event::Leave);
    }
}

#[derive(Debug)]
pub(crate) struct Headless {
    editor: UnixStream,
    events: Sender<Event>,
    inbox: Receiver<Event>,
    opening: Option<Opening>,
    /// When to go at the latest, once we are leaving.
    leaving: Option<Instant>,
}

/// Between joining the hub and knowing where agents look: what is said about the window comes first.
#[derive(Debug)]
struct Opening {
    window: AttachResult,
    held: Vec<Message>,
}

impl Headless {
    /// A window on these folders, which are absolute. It is open once `run` says so.
    pub(crate) fn open(reach: &Reach, folders: &[String]) -> Result<Headless, Failure> {
        // Once by ourselves, because the relay would try for ever where somebody wants to hear what is wrong.
        reach.greeted()?;
        let (events, inbox) = channel();
        let editor = attach_through_relay(reach, events.clone())
            .map_err(|error| Failure::internal(format!("there is no socket to talk through: {error}")))?;
        let mut window = Headless { editor, events, inbox, opening: None, leaving: None };
        window.say(&Message::request(ATTACH_ID, &attach(folders)));
        Ok(window)
    }

    pub(crate) fn leave_handle(&self) -> Leave {
        Leave(self.events.clone())
    }

    /// Is a window until it is told to leave.
    pub(crate) fn run(&mut self, tell: &mut dyn FnMut(Happening<'_>) -> io::Result<()>) -> Result<(), Ended> {
        loop {
            let event = match self.leaving {
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(deadline) => self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Heard(message)) if self.leaving.is_none() => self.heard(message, tell)?,
                Ok(Event::Notice(notice)) if self.leaving.is_none() => tell(Happening::Notice(&notice))?,
                Ok(Event::Heard(_) | Event::Notice(_)) => {}
                Ok(Event::Leave) => self.leave(),
                Ok(Event::Ended(Err(error))) if self.leaving.is_none() => {
                    return Err(Failure::from(error).into());
                }
                Ok(Event::Ended(_)) | Err(_) => return Ok(()),
            }
        }
    }

    /// Says goodbye; the relay passes it on and ends.
    pub(crate) fn leave(&mut self) {
        if self.leaving.is_none() {
            self.leaving = Some(Instant::now() + LEAVE_DEADLINE);
            self.say(&Message::notification(&Detach {}));
            let _ = self.editor.shutdown(Shutdown::Write);
        }
    }

    fn say(&mut self, message: &Message) {
        // A relay that does not hear has ended, which is an event of its own.
        let _ = self.editor.write_all(&encode(&message.to_bytes()));
    }

    fn heard(
        &mut self,
        message: Message,
        tell: &mut dyn FnMut(Happening<'_>) -> io::Result<()>,
    ) -> Result<(), Ended> {
        match message {
            Message::Response { id: Some(ATTACH_ID), result } => {
                let result = result.map_err(Failure::from)?;
                let window: AttachResult = decode(&result).map_err(Failure::from)?;
                // Asked on the same connection: the hub asks us for a sign of life before it answers.
                self.say(&Message::request(STATUS_ID, &HubStatus {}));
                self.opening = Some(Opening { window, held: Vec::new() });
            }
            Message::Response { id: Some(STATUS_ID), result } => {
                if let Some(Opening { window, held }) = self.opening.take() {
                    let status = result.and_then(|result| decode(&result)).ok();
                    tell(Happening::Open(&window, &discovery_files(status, &window.window)))?;
                    held.into_iter().try_for_each(|message| self.heard(message, tell))?;
                }
            }
            Message::Request { ref method, .. }
                if self.opening.is_some() && method != <Ping as Request>::METHOD =>
            {
                self.opening.iter_mut().for_each(|opening| opening.held.push(message.clone()));
            }
            Message::Request { id, method, params } => {
                let reply = match method.as_str() {
                    ReviewShow::METHOD => decode(&params).map(|shown| tell(Happening::Shown(&shown))),
                    ReviewWaiting::METHOD => {
                        decode(&params).map(|waiting| tell(Happening::Waiting(&waiting)))
                    }
                    ReviewHide::METHOD => decode(&params).map(|hidden| tell(Happening::Hidden(&hidden))),
                    UserAsk::METHOD => decode(&params).map(|asked| tell(Happening::Asked(&asked))),
                    UserUnask::METHOD => decode(&params).map(|over| tell(Happening::AskOver(&over))),
                    StatusMessage::METHOD => {
                        decode(&params).map(|message| tell(Happening::Message(&message)))
                    }
                    <Ping as Request>::METHOD => Ok(Ok(())),
                    _ => {
                        let message = format!("a window without an editor has no `{method}`");
                        Err(RpcError::new(errors::UNSUPPORTED, message))
                    }
                };
                let reply = match reply {
                    Ok(told) => Message::response(id, &told?),
                    Err(error) => Message::error(Some(id), error),
                };
                self.say(&reply);
            }
            Message::Response { .. } | Message::Notification { .. } => {}
        }
        Ok(())
    }
}

fn attach(folders: &[String]) -> Attach {
    let version = env!("CARGO_PKG_VERSION");
    Attach {
        protocol: PROTOCOL,
        version: version.into(),
        editor: Editor { name: NAME.into(), version: version.into() },
        pid: std::process::id(),
        folders: folders.to_vec(),
        window_id: None,
        claude_config_dir: None,
        // Only to hear of them: nobody is shown anything here.
        capabilities: Capabilities {
            reviews: true,
            questions: true,
            messages: true,
            ..Capabilities::default()
        },
    }
}

/// The editor's end of a relay that runs in this process.
fn attach_through_relay(reach: &Reach, events: Sender<Event>) -> io::Result<UnixStream> {
    let (editor, shim) = UnixStream::pair()?;
    let (shim_says, hears) = (shim.try_clone()?, editor.try_clone()?);
    let (reach, notices, ends) = (reach.clone(), events.clone(), events.clone());
    thread::spawn(move || {
        let connect = move || reach.connect_or_start();
        let ended = relay(connect, "serve", shim_says, shim, |notice| {
            let _ = notices.send(Event::Notice(notice));
        });
        let _ = ends.send(Event::Ended(ended));
    });
    thread::spawn(move || hear(hears, &events));
    Ok(editor)
}

fn hear(mut from: UnixStream, events: &Sender<Event>) {
    let mut decoder = Decoder::new(Limits::default());
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        decoder.push(buffer.get(..length).unwrap_or_default());
        while let Ok(Some(frame)) = decoder.next() {
            if let Ok(message) = Message::parse(&frame)
                && events.send(Event::Heard(message)).is_err()
            {
                return;
            }
        }
    }
}

/// Where agents look, by dialect; what cannot be asked now is seen with `linkspan status`.
fn discovery_files(status: Option<HubStatusResult>, window: &str) -> Vec<(String, String)> {
    let windows = status.map(|status| status.windows).unwrap_or_default();
    let dialects =
        windows.into_iter().filter(|found| found.window == window).flat_map(|found| found.dialects);
    let each = dialects.flat_map(|dialect| {
        dialect.discovery_files.into_iter().map(move |file| (dialect.name.clone(), file))
    });
    each.collect()
}
