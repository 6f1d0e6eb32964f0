//! One agent's conversation, whatever it speaks: frames in, steps out; answers in, frames out. Knows what all
//! dialects have in common, and no wire.

use std::fmt::Debug;

use linkspan_editor_api::Capabilities;

use crate::dialect::Dialect;
use crate::folders::Folders;
use crate::meaning::{Answer, EditorEvent, Request};

/// A call of a session that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

/// One HTTP request of an agent: what answers it goes back there, and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exchange(pub u64);

/// What goes to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub text: String,
    /// The request it answers, where the wire has such; none: it goes out by itself.
    pub answers: Option<Exchange>,
}

/// What a frame asks of the hub.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// To be answered once, with [`Session::answer`].
    Call {
        call: CallId,
        request: Request,
    },
    /// Send this back, as the answer to this frame.
    Reply(String),
    /// It is no frame of this dialect; send this back, which says why.
    Malformed(String),
    /// The agent said who it is; send the frame back.
    Introduced {
        name: String,
        version: String,
        reply: String,
    },
    /// The agent said which process it is.
    Pid(u32),
    /// The agent answered [`Session::ping`].
    Pong(u64),
    /// This agent speaks another dialect, one that asks for a token. It is let go without an answer.
    NeedsToken,
    /// The agent leaves, and takes back what is open.
    Goodbye,
    /// The agent no longer wants that answer. The call is open only where the dialect answers it all the same.
    Cancelled(CallId),
    Nothing,
}

/// What the session says about our side.
#[derive(Debug, Clone)]
pub struct Server {
    pub version: String,
    pub editor_name: String,
    /// What the editor can do: tools that it has no use for are not listed.
    pub capabilities: Capabilities,
}

/// What a dialect's conversation has to do. Each call is answered once or not at all.
pub(crate) trait Conversation: Debug + Send {
    /// `exchange`: the request that this frame came with, on a wire that has such.
    fn receive(&mut self, frame: &str, exchange: Option<Exchange>) -> Step;

    /// Said once a proposed change waits for a person, where the dialect answers the call then and tells the
    /// decision later.
    fn shown(&mut self, _call: CallId) -> Option<Frame> {
        None
    }

    /// How long the agent waits for a person. A change that is not decided by then is taken back: told later, the
    /// decision would be taken for the answer to something else.
    fn patience_ms(&self, _call: CallId) -> Option<u64> {
        None
    }

    /// A change of this name that was proposed before this conversation was taken up again: its call is answered, and
    /// the decision is still to be told. None where the dialect has no such word.
    fn adopt(&mut self, _name: &str) -> Option<CallId> {
        None
    }

    /// The agent waits for that change no more: once its call is answered, nothing is told later.
    fn hush(&mut self, _call: CallId) {}

    /// The handshake was made with an earlier hub.
    fn resume(&mut self) {}

    /// None when the call is not open any more, or when this dialect says nothing to it.
    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<Frame>;

    /// None where the dialect has no word for it, or not yet.
    fn event(&self, event: &EditorEvent) -> Option<String>;

    /// A question of ours that only a living agent answers, with [`Step::Pong`]. Numbers only grow.
    fn ping(&mut self, _number: u64) -> Option<String> {
        None
    }

    /// The answer to a frame that is not text.
    fn not_text(&self) -> String;

    /// Whether that changed what tools there are.
    fn set_capabilities(&mut self, _now: Capabilities) -> bool {
        false
    }

    /// What paths are written from, in a dialect that has them relative.
    fn set_folders(&mut self, _now: &Folders) {}

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_>;

    /// Proposed changes that wait for their answer, with the name that the agent takes each back by.
    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_>;
}

/// One agent's conversation.
#[derive(Debug)]
pub struct Session {
    dialect: &'static Dialect,
    conversation: Box<dyn Conversation>,
}

impl Session {
    pub fn new(dialect: &'static Dialect, server: Server) -> Session {
        Session { dialect, conversation: (dialect.converse)(dialect, server) }
    }

    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    pub fn receive(&mut self, frame: &str) -> Step {
        self.conversation.receive(frame, None)
    }

    /// The same for a frame that came as an HTTP request.
    pub fn receive_in(&mut self, exchange: Option<Exchange>, frame: &str) -> Step {
        self.conversation.receive(frame, exchange)
    }

    /// The frame for a change that waits for a person from now on; none where its call is answered only later.
    pub fn shown(&mut self, call: CallId) -> Option<Frame> {
        self.conversation.shown(call)
    }

    /// How long the agent waits for a person, where it does not wait for ever.
    pub fn patience_ms(&self, call: CallId) -> Option<u64> {
        self.conversation.patience_ms(call)
    }

    /// Goes on with an agent that an earlier hub knew.
    pub fn resume(&mut self) {
        self.conversation.resume();
    }

    /// A change that an agent waits for since before [`Session::resume`], by the name it takes it back by.
    pub fn adopt(&mut self, name: &str) -> Option<CallId> {
        self.conversation.adopt(name)
    }

    /// What becomes of that change is of no use to the agent any more; a call that is not answered yet still is.
    pub fn hush(&mut self, call: CallId) {
        self.conversation.hush(call);
    }

    /// The frame that answers the call; none when it is no longer open.
    pub fn answer(&mut self, call: CallId, answer: &Answer) -> Option<Frame> {
        self.conversation.answer(call, answer)
    }

    /// The frame that tells of the event; none before the handshake is over, or when this dialect has no word for it.
    pub fn event(&self, event: &EditorEvent) -> Option<String> {
        self.conversation.event(event)
    }

    /// A question of ours, on a wire that has no pings of its own.
    pub fn ping(&mut self, number: u64) -> Option<String> {
        self.conversation.ping(number)
    }

    /// The answer to a frame that is not text.
    pub fn not_text(&self) -> String {
        self.conversation.not_text()
    }

    /// Whether that changed what tools there are.
    pub fn set_capabilities(&mut self, now: Capabilities) -> bool {
        self.conversation.set_capabilities(now)
    }

    /// The folders of the window.
    pub fn set_folders(&mut self, now: &Folders) {
        self.conversation.set_folders(now);
    }

    pub fn open_calls(&self) -> impl Iterator<Item = CallId> + '_ {
        self.conversation.open_calls()
    }

    /// Proposed changes that wait for their answer, with the name that the agent takes each back by.
    pub fn open_changes(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.conversation.open_changes()
    }
}
