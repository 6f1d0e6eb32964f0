//! Carries an HTTP wire: a line to our session, a thread for each exchange, and one for the stream of events where there
//! is one. A translator decides what is said; here it is only brought there and back.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use linkspan_editor_api::Message;

use super::super::transport::{Link, Listener, MAX_MESSAGE, Socket};
use crate::http::{Answer, Caller, Events, HttpError, Request, Stop};

/// Exchanges under way at once; more than any agent has.
const MOST: usize = 256;
/// Editors say something on their streams at least once a minute.
const SILENCE: Duration = Duration::from_secs(300);
/// A stream that ends so often without having brought anything is not opened again.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);

/// What an exchange is known by.
pub(super) type Tag = u64;

/// What shall be done, in this order.
#[derive(Debug)]
pub(super) enum Act {
    /// To our session.
    Tell(Message),
    /// To the editor; what comes of it comes back under this tag.
    Go(Tag, Request),
    /// Nobody wants the answer any more.
    Stop(Tag),
    /// From now on the events of this stream are heard.
    Listen(Request),
    /// The connection is over.
    Close,
}

/// One wire. Knows no sockets.
pub(super) trait Translator: Send + 'static {
    /// Our session says something.
    fn ours(&mut self, message: Message) -> Vec<Act>;
    /// An exchange is over.
    fn back(&mut self, tag: Tag, answer: Result<Answer, HttpError>) -> Vec<Act>;
    /// The stream is open, perhaps once more.
    fn listening(&mut self) -> Vec<Act> {
        vec![]
    }
    /// An event on the stream.
    fn heard(&mut self, _data: &str) -> Vec<Act> {
        vec![]
    }
}

#[derive(Debug)]
struct Gateway<T> {
    translator: Mutex<T>,
    session: OnceLock<Link>,
    /// None once the connection is over.
    under_way: Mutex<Option<UnderWay>>,
}

#[derive(Debug, Default)]
struct UnderWay {
    exchanges: HashMap<Tag, Stop>,
    stream: Option<Stop>,
}

pub(super) fn start(session: Socket, translator: impl Translator) -> io::Result<()> {
    let gateway = Arc::new(Gateway {
        translator: Mutex::new(translator),
        session: OnceLock::new(),
        under_way: Mutex::new(Some(UnderWay::default())),
    });
    let link = Link::start(session, Ears(Arc::clone(&gateway)))?;
    let _ = gateway.session.set(link);
    Ok(())
}

struct Ears<T>(Arc<Gateway<T>>);

impl<T: Translator> Listener for Ears<T> {
    fn text(&mut self, text: &[u8], link: &Link) {
        let _ = self.0.session.set(link.clone());
        if let Ok(message) = Message::parse(text) {
            self.0.act(|translator| translator.ours(message));
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

impl<T: Translator> Gateway<T> {
    fn under_way(&self) -> MutexGuard<'_, Option<UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In the order in which they are thought of: the lock is held until all is on its way.
    fn act(self: &Arc<Self>, think: impl FnOnce(&mut T) -> Vec<Act>) {
        let mut translator = self.translator.lock().unwrap_or_else(PoisonError::into_inner);
        let mut acts: std::collections::VecDeque<Act> = think(&mut translator).into();
        while let Some(act) = acts.pop_front() {
            match act {
                Act::Tell(message) => {
                    if let Some(session) = self.session.get() {
                        session.send(message.to_bytes());
                    }
                }
                Act::Go(tag, request) => {
                    if let Err(error) = self.go(tag, request) {
                        acts.extend(translator.back(tag, Err(error)));
                    }
                }
                Act::Stop(tag) => {
                    let stop =
                        self.under_way().as_mut().and_then(|under_way| under_way.exchanges.remove(&tag));
                    if let Some(stop) = stop {
                        stop.now();
                    }
                }
                Act::Listen(request) => self.listen(request),
                Act::Close => self.close(),
            }
        }
    }

    fn close(&self) {
        if let Some(session) = self.session.get() {
            session.close();
        }
    }

    fn go(self: &Arc<Self>, tag: Tag, request: Request) -> Result<(), HttpError> {
        let caller = Caller::new();
        match self.under_way().as_mut() {
            Some(under_way) if under_way.exchanges.len() < MOST => {
                under_way.exchanges.insert(tag, caller.stop());
            }
            Some(_) => return Err(HttpError::Broken(format!("{MOST} questions wait already"))),
            None => return Ok(()),
        }
        let gateway = Arc::clone(self);
        let errand = move || {
            let answer = caller.exchange(&request);
            let wanted = gateway.under_way().as_mut().is_some_and(|all| all.exchanges.remove(&tag).is_some());
            if wanted {
                gateway.act(|translator| translator.back(tag, answer));
            }
        };
        thread::Builder::new()
            .name("linkspan-errand".into())
            .spawn(errand)
            .map(drop)
            .map_err(|error| HttpError::Broken(error.to_string()))
    }

    /// Hears a stream, and opens it again where it was lost, from the last event on. When that fails for good, the
    /// connection is over.
    fn listen(self: &Arc<Self>, request: Request) {
        let gateway = Arc::clone(self);
        let hear = move || {
            let (mut last, mut failures) = (None, 0);
            while failures < ATTEMPTS {
                match gateway.hear(&request, &mut last) {
                    Heard::Something => failures = 0,
                    Heard::Nothing => failures += 1,
                    Heard::Refused => break,
                }
                if gateway.under_way().is_none() {
                    return;
                }
                thread::sleep(PAUSE * (1 << failures));
            }
            gateway.close();
        };
        if thread::Builder::new().name("linkspan-events".into()).spawn(hear).is_err() {
            self.close();
        }
    }

    fn hear(self: &Arc<Self>, request: &Request, last: &mut Option<String>) -> Heard {
        let caller = Caller::new();
        match self.under_way().as_mut() {
            Some(under_way) => under_way.stream = Some(caller.stop()),
            None => return Heard::Refused,
        }
        let mut request = request.clone();
        request.headers.extend(last.clone().map(|id| ("last-event-id", id)));
        let (answer, mut body) = match caller.stream(&request, SILENCE) {
            Ok(opened) => opened,
            Err(_) => return Heard::Nothing,
        };
        if !answer.is_success() || !answer.is_event_stream() {
            return if answer.status >= 500 { Heard::Nothing } else { Heard::Refused };
        }
        self.act(Translator::listening);
        let (mut events, mut heard) = (Events::new(MAX_MESSAGE), Heard::Nothing);
        let mut bytes = vec![0; 16 * 1024];
        loop {
            let length = match body.read(&mut bytes) {
                Ok(length @ 1..) => length,
                Ok(0) | Err(_) => return heard,
            };
            heard = Heard::Something;
            let Ok(arrived) = events.push(bytes.get(..length).unwrap_or_default()) else {
                return Heard::Refused;
            };
            for event in arrived {
                if event.id.is_some() {
                    *last = event.id;
                }
                self.act(|translator| translator.heard(&event.data));
            }
        }
    }
}

/// How a stream went before it ended.
enum Heard {
    Something,
    Nothing,
    /// Whoever is there will not have us again.
    Refused,
}
