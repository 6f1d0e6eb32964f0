//! The state of the relay across restarts of the hub, and what to do with each frame. Pure: frames in, frames out; does
//! not know sockets, threads or a clock.

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

/// How many frames of the editor are kept while there is no hub. A user causes far fewer; only a runaway
/// stream of notifications loses its oldest.
const KEPT_FRAMES: usize = 4096;

/// The frames to send as the result of a frame.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) to_hub: Vec<Frame>,
    pub(super) to_shim: Vec<Frame>,
    pub(super) notice: Option<Notice>,
}

impl Output {
    fn to_hub(frame: Frame) -> Output {
        Output { to_hub: vec![frame], ..Output::default() }
    }

    fn to_shim(frame: Frame) -> Output {
        Output { to_shim: vec![frame], ..Output::default() }
    }
}

#[derive(Debug, Default)]
enum HubLink {
    #[default]
    Away,
    /// `attach` is sent. Frames of the shim wait until it is answered, because a hub that does not know the window
    /// would answer all of them with errors.
    Attaching(RequestId),
    Up,
}

/// The shim's `attach`.
#[derive(Debug)]
struct Attachment {
    params: Value,
    /// The id of the shim's request, while it is unanswered.
    asked: Option<RequestId>,
}

/// A request of a hub that the shim has not answered.
#[derive(Debug)]
struct HubRequest {
    life: u64,
    id: RequestId,
}

/// The state of the relay.
#[derive(Debug, Default)]
pub(super) struct RelayState {
    /// The value of `CLAUDE_CONFIG_DIR` here.
    claude_config_dir: Option<String>,
    link: HubLink,
    /// Counts the hubs, so that an answer meant for one does not reach the next.
    life: u64,
    attachment: Option<Attachment>,
    /// As the last hub reported it.
    window: Option<AttachResult>,
    /// Requests of the shim that this hub has not answered, oldest first.
    unanswered: VecDeque<(RequestId, Frame)>,
    /// Frames of the shim that wait for a hub, oldest first.
    waiting: VecDeque<Frame>,
    /// By the id that the shim knows.
    asked: HashMap<RequestId, HubRequest>,
}

/// The part of a message that the relay needs; a large text is not copied for it.
#[derive(Deserialize)]
struct MessageHead {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default)]
    method: Option<String>,
}

enum HeadKind {
    Request(RequestId, String),
    Notification(String),
    Response(RequestId),
    /// Passed on: the receiver answers with an error.
    Unreadable,
}

fn read_head(frame: &[u8]) -> HeadKind {
    match serde_json::from_slice(frame) {
        Ok(MessageHead { id: Some(id), method: Some(method) }) => HeadKind::Request(id, method),
        Ok(MessageHead { id: None, method: Some(method) }) => HeadKind::Notification(method),
        Ok(MessageHead { id: Some(id), method: None }) => HeadKind::Response(id),
        Ok(MessageHead { id: None, method: None }) | Err(_) => HeadKind::Unreadable,
    }
}

impl RelayState {
    pub(super) fn new(claude_config_dir: Option<String>) -> RelayState {
        RelayState { claude_config_dir, ..RelayState::default() }
    }

    /// Handles a frame of the shim.
    pub(super) fn shim_said(&mut self, frame: Frame) -> Output {
        match read_head(&frame) {
            HeadKind::Request(id, method) if method == Attach::METHOD => {
                let (frame, params) = self.with_config_dir(frame, &id);
                self.attachment = Some(Attachment { params, asked: Some(id) });
                // `hub_up` sends it to a later hub.
                if matches!(self.link, HubLink::Away) { Output::default() } else { Output::to_hub(frame) }
            }
            HeadKind::Request(id, _) if matches!(self.link, HubLink::Up) => {
                self.unanswered.push_back((id, frame.clone()));
                Output::to_hub(frame)
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

    /// An `attach` that also has the directory of Claude Code in the terminals of this editor.
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

    /// Never kept: the shim is about to close, and a hub that is gone has no window to detach.
    fn detach(&mut self, frame: Frame) -> Output {
        self.attachment = None;
        if matches!(self.link, HubLink::Away) { Output::default() } else { Output::to_hub(frame) }
    }

    fn send_or_keep(&mut self, frame: Frame) -> Output {
        if matches!(self.link, HubLink::Up) {
            return Output::to_hub(frame);
        }
        if self.waiting.len() >= KEPT_FRAMES {
            // A notification can be dropped; a request may be the user's decision.
            let news =
                self.waiting.iter().position(|frame| matches!(read_head(frame), HeadKind::Notification(_)));
            self.waiting.remove(news.unwrap_or(0));
        }
        self.waiting.push_back(frame);
        Output::default()
    }

    fn folders_changed(&mut self, frame: &[u8]) {
        let folders = params(frame).get_mut("folders").map(Value::take);
        if let (Some(attachment), Some(folders)) = (&mut self.attachment, folders)
            && let Value::Object(params) = &mut attachment.params
        {
            params.insert("folders".into(), folders);
        }
    }

    fn answered_by_shim(&mut self, id: RequestId, frame: Frame) -> Output {
        match self.asked.remove(&id) {
            Some(asked) if asked.life == self.life && !matches!(self.link, HubLink::Away) => {
                Output::to_hub(if asked.id == id { frame } else { with_id(frame, asked.id) })
            }
            // The hub that sent the request is gone; the current one does not know it.
            _ => Output::default(),
        }
    }

    /// A hub is connected.
    pub(super) fn hub_up(&mut self) -> Output {
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
        self.link = HubLink::Attaching(id);
        Output::to_hub(attach.to_bytes())
    }

    /// The hub is gone.
    pub(super) fn hub_down(&mut self) {
        self.link = HubLink::Away;
    }

    /// From now on frames pass; those that waited go first.
    fn open(&mut self) -> Output {
        self.link = HubLink::Up;
        let mut output = Output::default();
        for frame in std::mem::take(&mut self.waiting) {
            if let HeadKind::Request(id, _) = read_head(&frame) {
                self.unanswered.push_back((id, frame.clone()));
            }
            output.to_hub.push(frame);
        }
        output
    }

    /// Handles a frame of the hub. An error: it rejects the window.
    pub(super) fn hub_said(&mut self, frame: Frame) -> Result<Output, RpcError> {
        match read_head(&frame) {
            HeadKind::Request(id, _) => Ok(Output::to_shim(self.asked_by_hub(id, frame))),
            HeadKind::Response(id) => self.answered_by_hub(&id, frame),
            HeadKind::Notification(_) | HeadKind::Unreadable => Ok(Output::to_shim(frame)),
        }
    }

    /// A new hub counts ids from the start again. An id of an earlier hub that the shim has not answered yet must not
    /// be used twice.
    fn asked_by_hub(&mut self, id: RequestId, frame: Frame) -> Frame {
        let life = self.life;
        if self.asked.get(&id).is_none_or(|asked| asked.life == life) {
            self.asked.insert(id.clone(), HubRequest { life, id });
            return frame;
        }
        let name = match &id {
            RequestId::Number(number) => number.to_string(),
            RequestId::String(text) => text.clone(),
        };
        let shown = RequestId::String(format!("hub{life}-{name}"));
        self.asked.insert(shown.clone(), HubRequest { life, id });
        with_id(frame, shown)
    }

    fn answered_by_hub(&mut self, id: &RequestId, frame: Frame) -> Result<Output, RpcError> {
        let asked_by_shim =
            self.attachment.as_ref().is_some_and(|attachment| attachment.asked.as_ref() == Some(id));
        let ours = matches!(&self.link, HubLink::Attaching(attaching) if attaching == id);
        if !asked_by_shim && !ours {
            if let Some(at) = self.unanswered.iter().position(|(unanswered, _)| unanswered == id) {
                self.unanswered.remove(at);
            }
            return Ok(Output::to_shim(frame));
        }
        let window = match Message::parse(&frame) {
            Ok(Message::Response { result, .. }) => {
                result.map(|result| serde_json::from_str::<AttachResult>(result.get()).ok())
            }
            _ => Ok(None),
        };
        let mut output = if ours { self.open() } else { Output::default() };
        if asked_by_shim {
            if let Some(attachment) = &mut self.attachment {
                attachment.asked = None;
            }
            // A window that was rejected is not attached again by us.
            if window.is_err() {
                self.attachment = None;
            }
            self.window = window.ok().flatten();
            output.to_shim.push(frame);
            return Ok(output);
        }
        if let Some(after) = window? {
            let before = self.window.replace(after.clone());
            let moved = before
                .is_some_and(|before| before.port != after.port || before.environment != after.environment);
            output.notice = Some(Notice::Reattached { port: after.port, moved });
            output.to_shim.push(Message::notification(&HubBack(after)).to_bytes());
        }
        Ok(output)
    }
}

fn params(frame: &[u8]) -> Value {
    let mut message: Value = serde_json::from_slice(frame).unwrap_or_default();
    message.get_mut("params").map(Value::take).unwrap_or_default()
}

/// The message with another id; anything that is not a message is kept.
fn with_id(frame: Frame, id: RequestId) -> Frame {
    match Message::parse(&frame) {
        Ok(Message::Request { method, params, .. }) => Message::Request { id, method, params }.to_bytes(),
        Ok(Message::Response { result, .. }) => Message::Response { id: Some(id), result }.to_bytes(),
        _ => frame,
    }
}

#[cfg(test)]
#[path = "relay_state_tests.rs"]
mod tests;
