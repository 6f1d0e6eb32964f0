//! Connects an HTTP wire to our session: one link to the session, a thread for each exchange, and one for the stream of
//! events if there is one. A translator decides what to send; this file only transports it.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use linkspan_editor_api::Message;
use linkspan_editor_api::wire_names::header;

use super::super::transport::{Listener, MAX_MESSAGE, Socket, SocketLink};
use crate::backoff::Backoff;
use crate::http::{Events, HttpCaller, HttpError, HttpRequest, HttpResponse, StopHandle};

/// The most exchanges at once; more than any agent has.
const MOST: usize = 256;
/// Editors send something on their streams at least once a minute.
const SILENCE: Duration = Duration::from_secs(300);
/// A stream that ends this often without data is not opened again.
const ATTEMPTS: u32 = 5;

/// The id of an exchange.
pub(super) type Tag = u64;

/// What to do, in this order.
#[derive(Debug)]
pub(super) enum HttpStep {
    /// Send this to our session.
    ToSession(Message),
    /// Send this to the editor; the answer has the same tag.
    Send(Tag, HttpRequest),
    /// Stop this exchange; its answer is no longer wanted.
    Stop(Tag),
    /// Receive the events of this stream from now on.
    Listen(HttpRequest),
    /// Close the connection.
    Close,
}

/// One wire. Does not know sockets.
pub(super) trait Translator: Send + 'static {
    /// Our session sends a message.
    fn ours(&mut self, message: Message) -> Vec<HttpStep>;
    /// An exchange is complete.
    fn back(&mut self, tag: Tag, answer: Result<HttpResponse, HttpError>) -> Vec<HttpStep>;
    /// The stream is open, perhaps again.
    fn listening(&mut self) -> Vec<HttpStep> {
        vec![]
    }
    /// An event on the stream.
    fn heard(&mut self, _data: &str) -> Vec<HttpStep> {
        vec![]
    }
}

#[derive(Debug)]
struct HttpGateway<T> {
    translator: Mutex<T>,
    session: OnceLock<SocketLink>,
    /// None once the connection is closed.
    under_way: Mutex<Option<UnderWay>>,
}

#[derive(Debug, Default)]
struct UnderWay {
    exchanges: HashMap<Tag, StopHandle>,
    stream: Option<StopHandle>,
}

pub(super) fn start(session: Socket, translator: impl Translator) -> io::Result<()> {
    let gateway = Arc::new(HttpGateway {
        translator: Mutex::new(translator),
        session: OnceLock::new(),
        under_way: Mutex::new(Some(UnderWay::default())),
    });
    let link = SocketLink::start(session, HttpSessionListener(Arc::clone(&gateway)))?;
    let _ = gateway.session.set(link);
    Ok(())
}

struct HttpSessionListener<T>(Arc<HttpGateway<T>>);

impl<T: Translator> Listener for HttpSessionListener<T> {
    fn text(&mut self, text: &[u8], link: &SocketLink) {
        let _ = self.0.session.set(link.clone());
        if let Ok(message) = Message::parse(text) {
            self.0.run(|translator| translator.ours(message));
        }
    }

    fn pong(&mut self, _id: i64) {}

    fn closed(&mut self) {
        let Some(under_way) = self.0.under_way().take() else { return };
        for stop in under_way.exchanges.into_values().chain(under_way.stream) {
            stop.now();
        }
    }
}

impl<T: Translator> HttpGateway<T> {
    fn under_way(&self) -> MutexGuard<'_, Option<UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the order of the steps: the lock is held until all of them are on their way.
    fn run(self: &Arc<Self>, think: impl FnOnce(&mut T) -> Vec<HttpStep>) {
        let mut translator = self.translator.lock().unwrap_or_else(PoisonError::into_inner);
        let mut steps: std::collections::VecDeque<HttpStep> = think(&mut translator).into();
        while let Some(step) = steps.pop_front() {
            match step {
                HttpStep::ToSession(message) => {
                    if let Some(session) = self.session.get() {
                        session.send(message.to_bytes());
                    }
                }
                HttpStep::Send(tag, request) => {
                    if let Err(error) = self.go(tag, request) {
                        steps.extend(translator.back(tag, Err(error)));
                    }
                }
                HttpStep::Stop(tag) => {
                    let stop =
                        self.under_way().as_mut().and_then(|under_way| under_way.exchanges.remove(&tag));
                    if let Some(stop) = stop {
                        stop.now();
                    }
                }
                HttpStep::Listen(request) => self.listen(request),
                HttpStep::Close => self.close(),
            }
        }
    }

    fn close(&self) {
        if let Some(session) = self.session.get() {
            session.close();
        }
    }

    fn go(self: &Arc<Self>, tag: Tag, request: HttpRequest) -> Result<(), HttpError> {
        let caller = HttpCaller::new();
        match self.under_way().as_mut() {
            Some(under_way) if under_way.exchanges.len() < MOST => {
                under_way.exchanges.insert(tag, caller.stop());
            }
            Some(_) => return Err(HttpError::Broken(format!("{MOST} calls are already pending"))),
            None => return Ok(()),
        }
        let gateway = Arc::clone(self);
        let exchange = move || {
            let answer = caller.exchange(&request);
            let wanted = gateway.under_way().as_mut().is_some_and(|all| all.exchanges.remove(&tag).is_some());
            if wanted {
                gateway.run(|translator| translator.back(tag, answer));
            }
        };
        thread::Builder::new()
            .name("linkspan-exchange".into())
            .spawn(exchange)
            .map(drop)
            .map_err(|error| HttpError::Broken(error.to_string()))
    }

    /// Reads a stream, and reopens it after a loss, from the last event on. If that keeps failing, the connection is
    /// closed.
    fn listen(self: &Arc<Self>, request: HttpRequest) {
        let gateway = Arc::clone(self);
        let hear = move || {
            let (mut last, mut failures, mut backoff) = (None, 0, Backoff::to_editor());
            while failures < ATTEMPTS {
                match gateway.hear(&request, &mut last) {
                    StreamEnd::Something => {
                        failures = 0;
                        backoff.reset();
                    }
                    StreamEnd::Nothing => failures += 1,
                    StreamEnd::Refused => break,
                }
                if gateway.under_way().is_none() {
                    return;
                }
                thread::sleep(backoff.pause());
            }
            gateway.close();
        };
        if thread::Builder::new().name("linkspan-events".into()).spawn(hear).is_err() {
            self.close();
        }
    }

    fn hear(self: &Arc<Self>, request: &HttpRequest, last: &mut Option<String>) -> StreamEnd {
        let caller = HttpCaller::new();
        match self.under_way().as_mut() {
            Some(under_way) => under_way.stream = Some(caller.stop()),
            None => return StreamEnd::Refused,
        }
        let mut request = request.clone();
        request.headers.extend(last.clone().map(|id| (header::LAST_EVENT_ID, id)));
        let (answer, mut body) = match caller.stream(&request, SILENCE) {
            Ok(opened) => opened,
            Err(_) => return StreamEnd::Nothing,
        };
        if !answer.is_success() || !answer.is_event_stream() {
            return if answer.status >= 500 { StreamEnd::Nothing } else { StreamEnd::Refused };
        }
        self.run(Translator::listening);
        let (mut events, mut heard) = (Events::new(MAX_MESSAGE), StreamEnd::Nothing);
        let mut bytes = vec![0; 16 * 1024];
        loop {
            let length = match body.read(&mut bytes) {
                Ok(length @ 1..) => length,
                Ok(0) | Err(_) => return heard,
            };
            heard = StreamEnd::Something;
            let Ok(arrived) = events.push(bytes.get(..length).unwrap_or_default()) else {
                return StreamEnd::Refused;
            };
            for event in arrived {
                if event.id.is_some() {
                    *last = event.id;
                }
                self.run(|translator| translator.heard(&event.data));
            }
        }
    }
}

/// How a stream ended.
enum StreamEnd {
    Something,
    Nothing,
    /// The server rejects us.
    Refused,
}
