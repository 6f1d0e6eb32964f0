//! `linkspan serve`: a window without an editor. It speaks to the hub as any editor does, through the same
//! relay, and only says what it hears; reviews are decided elsewhere.

mod says;

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::{Notice, RelayError, relay};
use linkspan_editor_api::{
    Attach, AttachResult, Capabilities, Decoder, Detach, Editor, HubStatus, HubStatusResult, Limits, Message,
    PROTOCOL, Ping, Request, RequestId, ReviewHide, ReviewShow, RpcError, decode, encode, errors,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;
use says::Says;

const ATTACH_ID: RequestId = RequestId::Number(1);
const STATUS_ID: RequestId = RequestId::Number(2);
/// The hub hears that we leave within this time, or by our absence.
const LEAVE_DEADLINE: Duration = Duration::from_secs(2);

/// Open a window without an editor, for the agents working in these folders.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The workspace folders; the current one if none is given.
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
}

enum Event {
    Heard(Message),
    Notice(Notice),
    Ended(Result<(), RelayError>),
    Leave,
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    let folders = folders(&args.folders)?;
    let (events, inbox) = channel();
    leave_on_signal(events.clone())
        .map_err(|error| Failure::internal(format!("signals cannot be handled: {error}")))?;
    // Once by ourselves, because the relay would try for ever where a person wants to hear what is wrong.
    reach.greeted()?;
    let editor = attach_through_relay(reach, events)
        .map_err(|error| Failure::internal(format!("there is no socket to talk through: {error}")))?;
    let mut window = Window { editor, says: Says::new(folders, json), opening: None, leaving: None };
    window.say(&Message::request(ATTACH_ID, &attach(window.says.folders())));
    match window.run(&inbox) {
        Ok(()) => Ok(Report::default()),
        Err(Ended::Unheard(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            window.leave();
            let _ = window.run(&inbox);
            Ok(Report::default())
        }
        Err(Ended::Unheard(error)) => {
            Err(Failure::internal(format!("the output could not be written: {error}")))
        }
        Err(Ended::Failed(failure)) => Err(failure),
    }
}

fn folders(given: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let here = [PathBuf::from(".")];
    let given = if given.is_empty() { here.as_slice() } else { given };
    given.iter().map(|folder| canonical(folder)).collect()
}

fn canonical(folder: &Path) -> Result<String, Failure> {
    let wrong =
        |why: &str| Failure::usage(format!("{} cannot be a workspace folder: {why}", folder.display()));
    let path = folder.canonicalize().map_err(|error| wrong(&error.to_string()))?;
    if !path.is_dir() {
        return Err(wrong("it is not a directory"));
    }
    path.into_os_string().into_string().map_err(|_| wrong("its path is not UTF-8"))
}

fn attach(folders: &[String]) -> Attach {
    let version = env!("CARGO_PKG_VERSION");
    Attach {
        protocol: PROTOCOL,
        version: version.into(),
        editor: Editor { name: "Linkspan (headless)".into(), version: version.into() },
        pid: std::process::id(),
        folders: folders.to_vec(),
        window_id: None,
        // Only to hear of them: nobody is shown anything here.
        capabilities: Capabilities { reviews: true, ..Capabilities::default() },
    }
}

/// Listens before it returns, so that no signal is lost.
fn leave_on_signal(events: Sender<Event>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let listening = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    drop(listening);
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
        });
        let _ = events.send(Event::Leave);
    });
    Ok(())
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

enum Ended {
    Failed(Failure),
    Unheard(io::Error),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended::Failed(failure)
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Unheard(error)
    }
}

struct Window {
    editor: UnixStream,
    says: Says,
    opening: Option<Opening>,
    /// When to go at the latest, once we are leaving.
    leaving: Option<Instant>,
}

/// Between joining the hub and knowing where agents look: what is said about the window comes first.
struct Opening {
    window: AttachResult,
    held: Vec<Message>,
}

impl Window {
    fn run(&mut self, inbox: &Receiver<Event>) -> Result<(), Ended> {
        loop {
            let event = match self.leaving {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(deadline) => inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Heard(message)) if self.leaving.is_none() => self.heard(message)?,
                Ok(Event::Notice(notice)) if self.leaving.is_none() => self.says.notice(&notice)?,
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
    fn leave(&mut self) {
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

    fn heard(&mut self, message: Message) -> Result<(), Ended> {
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
                    self.says.listening(&window, &discovery_files(status, &window.window))?;
                    held.into_iter().try_for_each(|message| self.heard(message))?;
                }
            }
            Message::Request { ref method, .. }
                if self.opening.is_some() && method != <Ping as Request>::METHOD =>
            {
                self.opening.iter_mut().for_each(|opening| opening.held.push(message.clone()));
            }
            Message::Request { id, method, params } => {
                let reply = match method.as_str() {
                    ReviewShow::METHOD => decode(&params).map(|shown| self.says.shown(&shown)),
                    ReviewHide::METHOD => decode(&params).map(|hidden| self.says.hidden(&hidden)),
                    <Ping as Request>::METHOD => Ok(Ok(())),
                    _ => {
                        let message = format!("a window without an editor has no `{method}`");
                        Err(RpcError::new(errors::UNSUPPORTED, message))
                    }
                };
                let reply = match reply {
                    Ok(printed) => Message::response(id, &printed?),
                    Err(error) => Message::error(Some(id), error),
                };
                self.say(&reply);
            }
            Message::Response { .. } | Message::Notification { .. } => {}
        }
        Ok(())
    }
}

/// Where agents look, by dialect; what cannot be asked now is seen with `linkspan status`.
fn discovery_files(status: Option<HubStatusResult>, window: &str) -> Vec<(String, String)> {
    let windows = status.map(|status| status.windows).unwrap_or_default();
    let dialects =
        windows.into_iter().filter(|found| found.window == window).flat_map(|found| found.dialects);
    dialects.filter_map(|dialect| Some((dialect.name, dialect.discovery_file?))).collect()
}
