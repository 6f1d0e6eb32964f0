//! What the relay remembers between two lives of the hub, and what follows from each frame. Pure: frames in,
//! frames out; it knows no sockets, threads or clock.

use std::collections::{HashMap, VecDeque};

use linkspan_editor_api::{
    Attach, AttachResult, Detach, FoldersChanged, HubBack, Message, Notification, Request, RequestId,
    RpcError,
};
use serde::Deserialize;
use serde_json::{Value, value::to_raw_value};

use super::Notice;

/// A message without its header.
pub(super) type Frame = Vec<u8>;

/// How many frames of the editor are kept while there is no hub. A person makes far fewer; only a runaway
/// stream of notifications loses its oldest.
const KEPT_FRAMES: usize = 4096;

/// What follows from a frame.
#[derive(Debug, Default)]
pub(super) struct Moves {
    pub(super) to_hub: Vec<Frame>,
    pub(super) to_shim: Vec<Frame>,
    pub(super) notice: Option<Notice>,
}

impl Moves {
    fn to_hub(frame: Frame) -> Moves {
        Moves { to_hub: vec![frame], ..Moves::default() }
    }

    fn to_shim(frame: Frame) -> Moves {
        Moves { to_shim: vec![frame], ..Moves::default() }
    }
}

#[derive(Debug, Default)]
enum Link {
    #[default]
    Away,
    /// `attach` is sent; what the shim says waits until it is answered, because a hub that does not know the
    /// window would answer all of it with errors.
    Attaching(RequestId),
    Up,
}

/// The shim's `attach`.
#[derive(Debug)]
struct Attachment {
    params: Value,
    /// The shim's id, while it has no answer.
    asked: Option<RequestId>,
}

/// A request of a hub that the shim has not answered.
#[derive(Debug)]
struct Asked {
    life: u64,
    id: RequestId,
}

/// What the relay remembers.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// What `CLAUDE_CONFIG_DIR` says here.
    claude_config_dir: Option<String>,
    link: Link,
    /// Counts the hubs, so that an answer meant for one does not reach the next.
    life: u64,
    attachment: Option<Attachment>,
    /// As the last hub gave it.
    window: Option<AttachResult>,
    /// Requests of the shim that this hub has not answered, oldest first.
    unanswered: VecDeque<(RequestId, Frame)>,
    /// What the shim said while nobody could hear it, oldest first.
    waiting: VecDeque<Frame>,
    /// By the id that the shim knows.
    asked: HashMap<RequestId, Asked>,
}

/// As much of a message as the relay needs; a large text is not copied for it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default)]
    method: Option<String>,
}

enum HeadKind {
    Request(RequestId, String),
    Notification(String),
    Response(RequestId),
    /// Not ours to judge: whoever gets it answers with an error.
    Unreadable,
}

fn read_head(frame: &[u8]) -> HeadKind {
    match serde_json::from_slice(frame) {
        Ok(Head { id: Some(id), method: Some(method) }) => HeadKind::Request(id, method),
        Ok(Head { id: None, method: Some(method) }) => HeadKind::Notification(method),
        Ok(Head { id: Some(id), method: None }) => HeadKind::Response(id),
        Ok(Head { id: None, method: None }) | Err(_) => HeadKind::Unreadable,
    }
}

impl Ledger {
    pub(super) fn new(claude_config_dir: Option<String>) -> Ledger {
        Ledger { claude_config_dir, ..Ledger::default() }
    }

    /// The shim said something.
    pub(super) fn shim_said(&mut self, frame: Frame) -> Moves {
        match read_head(&frame) {
            HeadKind::Request(id, method) if method == Attach::METHOD => {
                let (frame, params) = self.with_config_dir(frame, &id);
                self.attachment = Some(Attachment { params, asked: Some(id) });
                // A hub that comes later is told by `hub_up`.
                if matches!(self.link, Link::Away) { Moves::default() } else { Moves::to_hub(frame) }
            }
            HeadKind::Request(id, _) if matches!(self.link, Link::Up) => {
                self.unanswered.push_back((id, frame.clone()));
                Moves::to_hub(frame)
            }
            HeadKind::Response(id) => self.answered_by_shim(id, frame),
            HeadKind::Notification(method) => {
                if method == FoldersChanged::METHOD {
                    self.folders_changed(&frame);
                }
                if method == Detach::METHOD {
                    return self.detach(frame);
                }
                self.send_or_keep(frame)
            }
            HeadKind::Request(..) | HeadKind::Unreadable => self.send_or_keep(frame),
        }
    }

    /// An `attach` that also says where Claude Code looks in the terminals of this editor.
    fn with_config_dir(&self, frame: Frame, id: &RequestId) -> (Frame, Value) {
        let mut params = params(&frame);
        let Some(dir) = &self.claude_config_dir else { return (frame, params) };
        if let Value::Object(members) = &mut params {
            members.entry("claudeConfigDir").or_insert_with(|| Value::String(dir.clone()));
            if let Ok(raw) = to_raw_value(&params) {
                let method = Attach::METHOD.to_owned();
                return (Message::Request { id: id.clone(), method, params: raw }.to_bytes(), params);
            }
        }
        (frame, params)
    }

    /// Never kept: the shim is about to close, and a hub that is gone has no window to leave.
    fn detach(&mut self, frame: Frame) -> Moves {
        self.attachment = None;
        if matches!(self.link, Link::Away) { Moves::default() } else { Moves::to_hub(frame) }
    }

    fn send_or_keep(&mut self, frame: Frame) -> Moves {
        if matches!(self.link, Link::Up) {
            return Moves::to_hub(frame);
        }
        if self.waiting.len() >= KEPT_FRAMES {
            // A notification is news, a request may be a person's decision.
            let news =
                self.waiting.iter().position(|frame| matches!(read_head(frame), HeadKind::Notification(_)));
            self.waiting.remove(news.unwrap_or(0));
        }
        self.waiting.push_back(frame);
        Moves::default()
    }

    fn folders_changed(&mut self, frame: &[u8]) {
        let folders = params(frame).get_mut("folders").map(Value::take);
        if let (Some(attachment), Some(folders)) = (&mut self.attachment, folders)
            && let Value::Object(params) = &mut attachment.params
        {
            params.insert("folders".into(), folders);
        }
    }

    fn answered_by_shim(&mut self, id: RequestId, frame: Frame) -> Moves {
        match self.asked.remove(&id) {
            Some(asked) if asked.life == self.life && !matches!(self.link, Link::Away) => {
                Moves::to_hub(if asked.id == id { frame } else { with_id(frame, asked.id) })
            }
            // The hub that asked is gone; the one there now knows nothing of it.
            _ => Moves::default(),
        }
    }

    /// A hub is there.
    pub(super) fn hub_up(&mut self) -> Moves {
        self.life += 1;
        let unanswered = std::mem::take(&mut self.unanswered).into_iter().map(|(_, frame)| frame);
        self.waiting = unanswered.chain(std::mem::take(&mut self.waiting)).collect();
        let Some(attachment) = &self.attachment else {
            return self.open();
        };
        let id = attachment
            .asked
            .clone()
            .unwrap_or_else(|| RequestId::String(format!("linkspan-reattach-{}", self.life)));
        let Ok(params) = to_raw_value(&attachment.params) else {
            return self.open();
        };
        let attach = Message::Request { id: id.clone(), method: Attach::METHOD.into(), params };
        self.link = Link::Attaching(id);
        Moves::to_hub(attach.to_bytes())
    }

    /// The hub is gone.
    pub(super) fn hub_down(&mut self) {
        self.link = Link::Away;
    }

    /// From here on frames pass; those that waited go first.
    fn open(&mut self) -> Moves {
        self.link = Link::Up;
        let mut moves = Moves::default();
        for frame in std::mem::take(&mut self.waiting) {
            if let HeadKind::Request(id, _) = read_head(&frame) {
                self.unanswered.push_back((id, frame.clone()));
            }
            moves.to_hub.push(frame);
        }
        moves
    }

    /// The hub said something. An error: it does not let the window in again.
    pub(super) fn hub_said(&mut self, frame: Frame) -> Result<Moves, RpcError> {
        match read_head(&frame) {
            HeadKind::Request(id, _) => Ok(Moves::to_shim(self.asked_by_hub(id, frame))),
            HeadKind::Response(id) => self.answered_by_hub(&id, frame),
            HeadKind::Notification(_) | HeadKind::Unreadable => Ok(Moves::to_shim(frame)),
        }
    }

    /// A new hub counts from the start again: an id that the shim still owes an earlier hub an answer for
    /// must not be used twice.
    fn asked_by_hub(&mut self, id: RequestId, frame: Frame) -> Frame {
        let life = self.life;
        if self.asked.get(&id).is_none_or(|asked| asked.life == life) {
            self.asked.insert(id.clone(), Asked { life, id });
            return frame;
        }
        let name = match &id {
            RequestId::Number(number) => number.to_string(),
            RequestId::String(text) => text.clone(),
        };
        let shown = RequestId::String(format!("hub{life}-{name}"));
        self.asked.insert(shown.clone(), Asked { life, id });
        with_id(frame, shown)
    }

    fn answered_by_hub(&mut self, id: &RequestId, frame: Frame) -> Result<Moves, RpcError> {
        let asked_by_shim =
            self.attachment.as_ref().is_some_and(|attachment| attachment.asked.as_ref() == Some(id));
        let ours = matches!(&self.link, Link::Attaching(attaching) if attaching == id);
        if !asked_by_shim && !ours {
            if let Some(at) = self.unanswered.iter().position(|(unanswered, _)| unanswered == id) {
                self.unanswered.remove(at);
            }
            return Ok(Moves::to_shim(frame));
        }
        let window = match Message::parse(&frame) {
            Ok(Message::Response { result, .. }) => {
                result.map(|result| serde_json::from_str::<AttachResult>(result.get()).ok())
            }
            _ => Ok(None),
        };
        let mut moves = if ours { self.open() } else { Moves::default() };
        if asked_by_shim {
            if let Some(attachment) = &mut self.attachment {
                attachment.asked = None;
            }
            // A window that was not let in is not attached again by us.
            if window.is_err() {
                self.attachment = None;
            }
            self.window = window.ok().flatten();
            moves.to_shim.push(frame);
            return Ok(moves);
        }
        if let Some(after) = window? {
            let before = self.window.replace(after.clone());
            let moved = before
                .is_some_and(|before| before.port != after.port || before.environment != after.environment);
            moves.notice = Some(Notice::Reattached { port: after.port, moved });
            moves.to_shim.push(Message::notification(&HubBack(after)).to_bytes());
        }
        Ok(moves)
    }
}

fn params(frame: &[u8]) -> Value {
    let mut message: Value = serde_json::from_slice(frame).unwrap_or_default();
    message.get_mut("params").map(Value::take).unwrap_or_default()
}

/// The same message under another id; one that is no message stays as it is.
fn with_id(frame: Frame, id: RequestId) -> Frame {
    match Message::parse(&frame) {
        Ok(Message::Request { method, params, .. }) => Message::Request { id, method, params }.to_bytes(),
        Ok(Message::Response { result, .. }) => Message::Response { id: Some(id), result }.to_bytes(),
        _ => frame,
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
