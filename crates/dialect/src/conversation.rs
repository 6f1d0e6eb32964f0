//! One agent's conversation in any dialect: frames in, steps out; answers in, frames out. Knows what all dialects have
//! in common, and no wire format.

use std::fmt::Debug;
use std::path::PathBuf;

use linkspan_editor_api::Capabilities;

use crate::answer::{Answer, EditorEvent};
use crate::chat::{ChatCommand, ChatEvent};
use crate::dialect::Dialect;
use crate::folders::WindowFolders;
use crate::request::Request;

/// A pending call of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

/// The number of one HTTP request of an agent. Its answer goes back there, and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u64);

/// A frame for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFrame {
    pub text: String,
    /// The HTTP request it answers, on a wire that has them; none: it is sent on the socket or stream.
    pub answers: Option<ExchangeId>,
}

/// What the hub has to do for a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Answer it once, with [`Session::answer`].
    Call {
        call: CallId,
        request: Request,
    },
    /// Send this back, as the answer to this frame.
    Reply(String),
    /// It is not a frame of this dialect; send this error back.
    Malformed(String),
    /// The agent introduced itself; send the frame back.
    Introduced {
        name: String,
        version: String,
        reply: String,
    },
    /// The agent reported its process id.
    Pid(u32),
    /// The agent answered [`Session::ping`].
    Pong(u64),
    /// This agent speaks another dialect, one that needs a token. Close the connection without an answer.
    NeedsToken,
    /// The agent leaves, and withdraws its open calls.
    Goodbye,
    /// The agent no longer wants that answer. The call stays open only if the dialect answers it anyway.
    Cancelled(CallId),
    /// The agent works in this folder. If that is a folder of the window, answer with [`Session::follow_thread`].
    Thread {
        thread: String,
        cwd: PathBuf,
    },
    /// The agent has received [`Session::decline`]: what was accepted may be written now. If it was `applied`, somebody
    /// else was first and the agent wrote everything.
    Declined {
        call: CallId,
        applied: bool,
    },
    /// An agent that the hub has started says something.
    Chat(Box<ChatEvent>),
    Nothing,
}

/// How the session introduces our side.
#[derive(Debug, Clone)]
pub struct ServerFacts {
    pub version: String,
    pub editor_name: String,
    /// What the editor can do: tools that need more are not listed.
    pub capabilities: Capabilities,
}

/// The conversation of one dialect. Each call is answered once or not at all.
pub(crate) trait Conversation: Debug + Send {
    /// `exchange`: the HTTP request that this frame came with, on a wire that has them.
    fn receive(&mut self, frame: &str, exchange: Option<ExchangeId>) -> Step;

    /// The connection is open, in a dialect in which our side speaks first.
    fn begin(&mut self) {}

    /// What else the last frame leads to.
    fn next_step(&mut self) -> Option<Step> {
        None
    }

    /// Frames to send, in this order, after the answer that was returned last.
    fn take_frames(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The changes of that thread are for this window.
    fn follow_thread(&mut self, _thread: &str) {}

    /// Tells the agent not to apply its patch, before the hub writes the accepted part. The call stays open.
    fn decline(&mut self, _call: CallId) -> Option<AgentFrame> {
        None
    }

    /// The answer to a call whose change is pending now, in a dialect that sends the decision later.
    fn acknowledge_shown(&mut self, _call: CallId) -> Option<AgentFrame> {
        None
    }

    /// How long the agent waits for a decision. A change that is not decided by then is withdrawn: the agent would take
    /// a later decision for the answer to another request.
    fn wait_limit_ms(&self, _call: CallId) -> Option<u64> {
        None
    }

    /// Registers a change of this name that was proposed before this conversation was resumed: its call is answered,
    /// and the decision still has to be sent. None in a dialect that sends no decision later.
    fn readopt_call(&mut self, _name: &str) -> Option<CallId> {
        None
    }

    /// The agent no longer waits for that change: once its call is answered, no decision is sent.
    fn suppress_outcome(&mut self, _call: CallId) {}

    /// A call for the question whether the agent may be started, in a dialect whose agents the hub starts.
    fn ask_to_start(&mut self) -> Option<CallId> {
        None
    }

    /// In such a dialect: frames and steps follow.
    fn command(&mut self, _command: ChatCommand) {}

    /// The handshake took place with an earlier hub.
    fn resume(&mut self) {}

    /// None if the call is no longer open, or if this dialect has no answer to it.
    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame>;

    /// None if the dialect has no message for it, or not before the handshake.
    fn event(&self, event: &EditorEvent) -> Option<String>;

    /// A ping; the agent answers with [`Step::Pong`]. Numbers only grow.
    fn ping(&mut self, _number: u64) -> Option<String> {
        None
    }

    /// The answer to a frame that is not text, if it gets any.
    fn not_text(&self) -> Option<String>;

    /// Whether that changed the list of tools.
    fn set_capabilities(&mut self, _now: Capabilities) -> bool {
        false
    }

    /// The folders that paths are relative to, in a dialect with relative paths.
    fn set_folders(&mut self, _now: &WindowFolders) {}

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_>;

    /// Pending changes, with the name by which the agent withdraws each.
    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_>;

    /// Whether that HTTP request will be answered with the decision on a change.
    fn decides_in(&self, _exchange: ExchangeId) -> bool {
        false
    }
}

/// One agent's conversation.
#[derive(Debug)]
pub struct Session {
    dialect: &'static Dialect,
    conversation: Box<dyn Conversation>,
}

impl Session {
    pub fn new(dialect: &'static Dialect, server: ServerFacts) -> Session {
        Session { dialect, conversation: (dialect.converse)(dialect, server) }
    }

    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The connection is open: the first frames are ready if this dialect's agents do not speak first.
    pub fn begin(&mut self) {
        self.conversation.begin();
    }

    pub fn receive(&mut self, frame: &str) -> Step {
        self.conversation.receive(frame, None)
    }

    /// What else the last frame leads to, until none is returned.
    pub fn next_step(&mut self) -> Option<Step> {
        self.conversation.next_step()
    }

    /// Frames to send now. There may be some after every other call.
    pub fn take_frames(&mut self) -> Vec<String> {
        self.conversation.take_frames()
    }

    /// The answer to [`Step::Thread`], if this window is the one for it.
    pub fn follow_thread(&mut self, thread: &str) {
        self.conversation.follow_thread(thread);
    }

    /// Tells the agent not to apply its patch. [`Step::Declined`] follows, and then the call is answered.
    pub fn decline(&mut self, call: CallId) -> Option<AgentFrame> {
        self.conversation.decline(call)
    }

    /// Receives a frame that came as an HTTP request.
    pub fn receive_in(&mut self, exchange: Option<ExchangeId>, frame: &str) -> Step {
        self.conversation.receive(frame, exchange)
    }

    /// The frame for a change that is pending from now on; none if its call is answered with the decision.
    pub fn acknowledge_shown(&mut self, call: CallId) -> Option<AgentFrame> {
        self.conversation.acknowledge_shown(call)
    }

    /// How long the agent waits for a decision; none if it waits without limit.
    pub fn wait_limit_ms(&self, call: CallId) -> Option<u64> {
        self.conversation.wait_limit_ms(call)
    }

    /// A call for [`Request::Start`], whose answer is [`ChatEvent::MayStart`].
    pub fn ask_to_start(&mut self) -> Option<CallId> {
        self.conversation.ask_to_start()
    }

    /// Tells an agent that the hub has started what to do.
    pub fn command(&mut self, command: ChatCommand) {
        self.conversation.command(command);
    }

    /// Continues with an agent that was connected to an earlier hub.
    pub fn resume(&mut self) {
        self.conversation.resume();
    }

    /// Registers a change that was pending before [`Session::resume`], by the name by which the agent withdraws it.
    pub fn readopt_call(&mut self, name: &str) -> Option<CallId> {
        self.conversation.readopt_call(name)
    }

    /// Sends no decision about that change later. A call that is not answered yet still gets its answer.
    pub fn suppress_outcome(&mut self, call: CallId) {
        self.conversation.suppress_outcome(call);
    }

    /// The frame that answers the call; none when it is no longer open.
    pub fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame> {
        self.conversation.answer(call, answer)
    }

    /// The frame for an event; none before the handshake is complete, or if this dialect has no message for it.
    pub fn event(&self, event: &EditorEvent) -> Option<String> {
        self.conversation.event(event)
    }

    /// A ping, on a wire that has no pings of its own.
    pub fn ping(&mut self, number: u64) -> Option<String> {
        self.conversation.ping(number)
    }

    /// The answer to a frame that is not text, if it gets any.
    pub fn not_text(&self) -> Option<String> {
        self.conversation.not_text()
    }

    /// Whether that changed the list of tools.
    pub fn set_capabilities(&mut self, now: Capabilities) -> bool {
        self.conversation.set_capabilities(now)
    }

    /// The folders of the window.
    pub fn set_folders(&mut self, now: &WindowFolders) {
        self.conversation.set_folders(now);
    }

    pub fn open_calls(&self) -> impl Iterator<Item = CallId> + '_ {
        self.conversation.open_calls()
    }

    /// Pending changes, with the name by which the agent withdraws each.
    pub fn open_changes(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.conversation.open_changes()
    }

    /// Whether that HTTP request will be answered with the decision on a change.
    pub fn decides_in(&self, exchange: ExchangeId) -> bool {
        self.conversation.decides_in(exchange)
    }
}
