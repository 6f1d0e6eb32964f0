//! A window without an editor. It attaches to the hub as an editor does, through the same relay, and passes what it
//! receives to its owner as events. Knows nothing about output or about the command that opened it.

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

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;

/// The name of the editor that it attaches as.
pub(crate) const NAME: &str = "Linkspan (headless)";

const ATTACH_ID: RequestId = RequestId::Number(1);
const STATUS_ID: RequestId = RequestId::Number(2);
/// After this time the process ends without waiting for the hub, which notices the closed connection.
const DETACH_DEADLINE: Duration = Duration::from_secs(2);

/// What happens in the window.
#[derive(Debug)]
pub(crate) enum HeadlessEvent<'a> {
    /// Agents can connect. The pairs are dialect and discovery file.
    Open(&'a AttachResult, &'a [(String, String)]),
    Shown(&'a ReviewShow),
    Waiting(&'a ReviewWaiting),
    Hidden(&'a ReviewHide),
    PermissionAsked(&'a UserAsk),
    PermissionClosed(&'a UserUnask),
    /// A message for the user, from an agent or the hub.
    Message(&'a StatusMessage),
    Notice(&'a Notice),
}

/// Why a window ended without being told to.
#[derive(Debug)]
pub(crate) enum HeadlessError {
    Failed(Failure),
    /// The owner's callback failed to write its output.
    Output(io::Error),
}

impl From<Failure> for HeadlessError {
    fn from(failure: Failure) -> HeadlessError {
        HeadlessError::Failed(failure)
    }
}

impl From<io::Error> for HeadlessError {
    fn from(error: io::Error) -> HeadlessError {
        HeadlessError::Output(error)
    }
}

/// What the loop of the window waits for.
enum Input {
    Received(Message),
    Notice(Notice),
    RelayEnded(Result<(), RelayError>),
    Close,
}

/// Closes a window; works from any thread, and more than once.
#[derive(Debug, Clone)]
pub(crate) struct CloseHandle(Sender<Input>);

impl CloseHandle {
    pub(crate) fn close(&self) {
        // A loop that no longer receives has ended already.
        let _ = self.0.send(Input::Close);
    }
}

#[derive(Debug)]
pub(crate) struct Headless {
    editor: UnixStream,
    inputs: Sender<Input>,
    inbox: Receiver<Input>,
    opening: Option<Opening>,
    /// When to end at the latest, once the window is closing.
    closing: Option<Instant>,
}

/// Attached, but the discovery files are not known yet: `Open` must be the first event, so requests are queued.
#[derive(Debug)]
struct Opening {
    window: AttachResult,
    queued: Vec<Message>,
}

impl Headless {
    /// Attaches a window on these folders, which are absolute. It is open when `run` reports `Open`.
    pub(crate) fn open(cli: &CliContext, folders: &[String]) -> Result<Headless, Failure> {
        // Connect once ourselves: the relay retries without end, and the user must see why it does not work.
        cli.greeted()?;
        let (inputs, inbox) = channel();
        let editor = attach_through_relay(cli, inputs.clone())
            .map_err(|error| Failure::internal(format!("cannot make a socket pair: {error}")))?;
        let mut window = Headless { editor, inputs, inbox, opening: None, closing: None };
        window.send(&Message::request(ATTACH_ID, &attach(folders)));
        Ok(window)
    }

    pub(crate) fn close_handle(&self) -> CloseHandle {
        CloseHandle(self.inputs.clone())
    }

    /// Runs the window until it is closed.
    pub(crate) fn run(
        &mut self,
        notify: &mut dyn FnMut(HeadlessEvent<'_>) -> io::Result<()>,
    ) -> Result<(), HeadlessError> {
        loop {
            let input = match self.closing {
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(deadline) => self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            };
            match input {
                Ok(Input::Received(message)) if self.closing.is_none() => self.received(message, notify)?,
                Ok(Input::Notice(notice)) if self.closing.is_none() => {
                    notify(HeadlessEvent::Notice(&notice))?
                }
                Ok(Input::Received(_) | Input::Notice(_)) => {}
                Ok(Input::Close) => self.close(),
                Ok(Input::RelayEnded(Err(error))) if self.closing.is_none() => {
                    return Err(Failure::from(error).into());
                }
                Ok(Input::RelayEnded(_)) | Err(_) => return Ok(()),
            }
        }
    }

    /// Detaches; the relay passes that on and ends.
    pub(crate) fn close(&mut self) {
        if self.closing.is_none() {
            self.closing = Some(Instant::now() + DETACH_DEADLINE);
            self.send(&Message::notification(&Detach {}));
            let _ = self.editor.shutdown(Shutdown::Write);
        }
    }

    fn send(&mut self, message: &Message) {
        // A relay that no longer reads has ended, which is an input of its own.
        let _ = self.editor.write_all(&encode(&message.to_bytes()));
    }

    fn received(
        &mut self,
        message: Message,
        notify: &mut dyn FnMut(HeadlessEvent<'_>) -> io::Result<()>,
    ) -> Result<(), HeadlessError> {
        match message {
            Message::Response { id: Some(ATTACH_ID), result } => {
                let result = result.map_err(Failure::from)?;
                let window: AttachResult = decode(&result).map_err(Failure::from)?;
                // On the same connection: before it answers, the hub pings its windows, and this one must reply.
                self.send(&Message::request(STATUS_ID, &HubStatus {}));
                self.opening = Some(Opening { window, queued: Vec::new() });
            }
            Message::Response { id: Some(STATUS_ID), result } => {
                if let Some(Opening { window, queued }) = self.opening.take() {
                    let status = result.and_then(|result| decode(&result)).ok();
                    notify(HeadlessEvent::Open(&window, &discovery_files(status, &window.window)))?;
                    queued.into_iter().try_for_each(|message| self.received(message, notify))?;
                }
            }
            Message::Request { ref method, .. }
                if self.opening.is_some() && method != <Ping as Request>::METHOD =>
            {
                self.opening.iter_mut().for_each(|opening| opening.queued.push(message.clone()));
            }
            Message::Request { id, method, params } => {
                let reply = match method.as_str() {
                    ReviewShow::METHOD => decode(&params).map(|shown| notify(HeadlessEvent::Shown(&shown))),
                    ReviewWaiting::METHOD => {
                        decode(&params).map(|waiting| notify(HeadlessEvent::Waiting(&waiting)))
                    }
                    ReviewHide::METHOD => {
                        decode(&params).map(|hidden| notify(HeadlessEvent::Hidden(&hidden)))
                    }
                    UserAsk::METHOD => {
                        decode(&params).map(|asked| notify(HeadlessEvent::PermissionAsked(&asked)))
                    }
                    UserUnask::METHOD => {
                        decode(&params).map(|closed| notify(HeadlessEvent::PermissionClosed(&closed)))
                    }
                    StatusMessage::METHOD => {
                        decode(&params).map(|message| notify(HeadlessEvent::Message(&message)))
                    }
                    <Ping as Request>::METHOD => Ok(Ok(())),
                    _ => {
                        let message = format!("a window without an editor does not support `{method}`");
                        Err(RpcError::new(errors::UNSUPPORTED, message))
                    }
                };
                let reply = match reply {
                    Ok(done) => Message::response(id, &done?),
                    Err(error) => Message::error(Some(id), error),
                };
                self.send(&reply);
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
        // To be notified of them; nothing is displayed here.
        capabilities: Capabilities {
            reviews: true,
            questions: true,
            messages: true,
            ..Capabilities::default()
        },
    }
}

/// The editor's end of a relay that runs in this process.
fn attach_through_relay(cli: &CliContext, inputs: Sender<Input>) -> io::Result<UnixStream> {
    let (editor, shim) = UnixStream::pair()?;
    let (shim_input, incoming) = (shim.try_clone()?, editor.try_clone()?);
    let (cli, notices, ends) = (cli.clone(), inputs.clone(), inputs.clone());
    thread::spawn(move || {
        let connect = move || cli.connect_or_start();
        let ended = relay(connect, "serve", shim_input, shim, |notice| {
            let _ = notices.send(Input::Notice(notice));
        });
        let _ = ends.send(Input::RelayEnded(ended));
    });
    thread::spawn(move || receive(incoming, &inputs));
    Ok(editor)
}

fn receive(mut from: UnixStream, inputs: &Sender<Input>) {
    let mut decoder = Decoder::new(Limits::default());
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        decoder.push(buffer.get(..length).unwrap_or_default());
        while let Ok(Some(frame)) = decoder.next() {
            if let Ok(message) = Message::parse(&frame)
                && inputs.send(Input::Received(message)).is_err()
            {
                return;
            }
        }
    }
}

/// Dialect and path of each discovery file of the window; none if the status is missing (`linkspan status` shows them).
fn discovery_files(status: Option<HubStatusResult>, window: &str) -> Vec<(String, String)> {
    let windows = status.map(|status| status.windows).unwrap_or_default();
    let dialects =
        windows.into_iter().filter(|found| found.window == window).flat_map(|found| found.dialects);
    let each = dialects.flat_map(|dialect| {
        dialect.discovery_files.into_iter().map(move |file| (dialect.name.clone(), file))
    });
    each.collect()
}
