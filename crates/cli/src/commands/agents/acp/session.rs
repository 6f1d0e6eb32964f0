//! One session of the agent: its link to the hub, the requests that wait for a decision, and the turn. Pure.

use std::path::PathBuf;

use serde_json::{Value, json};

/// What the hub was told in one turn is told again to one that was started again, if it is not more than this.
const LOG: usize = 32 * 1024 * 1024;

/// Links that were lost in one turn. A hub that ends them at once is not asked further.
const LOST: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkStage {
    /// Nothing is reviewed: the client decides.
    Absent,
    Connecting,
    Ready,
}

/// A prompt that the agent has not answered.
#[derive(Debug, PartialEq)]
pub(super) enum Prompt {
    /// By its id.
    OfClient(Value),
    /// Ours tells the model what was decided, in the turn of the client's prompt, which the agent answered with this.
    Ours { id: Value, answered: TurnAnswer },
}

/// The answer to the client's prompt that is kept back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TurnAnswer {
    /// The id of the client's prompt.
    pub(super) id: Value,
    /// As the agent sent it.
    pub(super) line: Vec<u8>,
}

/// A request of the agent that waits for the hub.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: Value,
    pub(super) line: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct AcpSession {
    pub(super) cwd: PathBuf,
    /// Random; tells the hub that we are back.
    pub(super) key: String,
    pub(super) stage: LinkStage,
    /// The number of the newest link. Events of older ones are ignored.
    pub(super) link: u64,
    lost: u32,
    /// The messages of this turn for the hub, each with the request that it is about.
    log: Vec<(Option<Value>, Value)>,
    logged: usize,
    pub(super) held: Vec<Held>,
    pub(super) prompts: Vec<Prompt>,
    /// The agent has ended its turn; something in it may not be decided.
    pub(super) ended: Option<TurnAnswer>,
    /// Something was held in this turn.
    pub(super) reviewed: bool,
    /// The client has cancelled this turn.
    pub(super) cancelled: bool,
    /// The hub wants to know that the agent goes on after our answer.
    pub(super) watch_progress: bool,
    /// What the model is told with the next prompt.
    pub(super) words: Option<String>,
}

impl AcpSession {
    pub(super) fn new(cwd: PathBuf, key: String) -> AcpSession {
        AcpSession {
            cwd,
            key,
            stage: LinkStage::Absent,
            link: 0,
            lost: 0,
            log: Vec::new(),
            logged: 0,
            held: Vec::new(),
            prompts: Vec::new(),
            ended: None,
            reviewed: false,
            cancelled: false,
            watch_progress: false,
            words: None,
        }
    }

    /// A turn begins.
    pub(super) fn begin_turn(&mut self) {
        self.log.clear();
        self.logged = 0;
        self.lost = 0;
        (self.reviewed, self.cancelled, self.watch_progress) = (false, false, false);
    }

    /// Keeps a message for the hub; returns it if it can be sent now.
    pub(super) fn log(&mut self, request: Option<&Value>, message: Value) -> Option<Value> {
        let size = |message: &Value| message.to_string().len();
        self.logged += size(&message);
        self.log.push((request.cloned(), message.clone()));
        // The beginning is what can be missed most: tool calls that are long over.
        while self.logged > LOG && self.log.len() > 1 {
            let (_, oldest) = self.log.remove(0);
            self.logged = self.logged.saturating_sub(size(&oldest));
        }
        (self.stage == LinkStage::Ready).then_some(message)
    }

    /// All messages of this turn, for a hub that knows none.
    pub(super) fn replay(&self) -> Vec<Value> {
        self.log.iter().map(|(_, message)| message.clone()).collect()
    }

    /// It is decided, and not asked again.
    pub(super) fn forget(&mut self, request: &Value) {
        self.log.retain(|(of, _)| of.as_ref() != Some(request));
    }

    pub(super) fn take_held(&mut self, id: &Value) -> Option<Held> {
        let at = self.held.iter().position(|held| held.id == *id)?;
        Some(self.held.remove(at))
    }

    /// Whether something waits that only the hub can end.
    pub(super) fn waits(&self) -> bool {
        !self.held.is_empty() || self.ended.is_some()
    }

    /// The link is lost. Whether to connect again.
    pub(super) fn lost(&mut self) -> bool {
        self.lost += 1;
        // What never came up does not come up at once.
        let was_ready = self.stage == LinkStage::Ready;
        self.stage = LinkStage::Absent;
        was_ready && self.lost <= LOST && (self.waits() || !self.prompts.is_empty())
    }
}

/// The message for the hub about a frame of the client or of the agent.
pub(super) fn about(side: &str, frame: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": side, "params": { "frame": frame } })
}
