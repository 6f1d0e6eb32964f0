//! Turns: one prompt at a time. A turn is over when the agent has ended it and everything in it is decided.

use linkspan_editor_api::{ChatAttachment, ChatPicture};
use serde_json::json;

use super::conversation::{AcpConversation, OwnRequest, SessionStage, TurnState};
use super::permission::{OpenQuestion, PermissionStage};
use super::{content, frames};
use crate::chat::{ChatEvent, TurnEnd};
use crate::conversation::{CallId, Step};

impl AcpConversation {
    /// The agent makes its next request, so it has read our no. What it streams says nothing: it may be older.
    pub(super) fn declines_are_known(&mut self) {
        for call in self.open.ids().collect::<Vec<_>>() {
            let permission = self.open.get_mut(call).and_then(|open| open.what.permission_mut());
            if let Some(permission) = permission
                && permission.stage == PermissionStage::Declining
            {
                permission.stage = PermissionStage::Declined;
                self.steps.push_back(Step::Declined { call, applied: false });
            }
        }
    }

    /// The tool call was carried out, or not.
    pub(super) fn tool_ended(&mut self, tool: &str, applied: bool) {
        for call in self.open.ids().collect::<Vec<_>>() {
            let permission = self.open.get_mut(call).and_then(|open| open.what.permission_mut());
            if let Some(stage) = permission.filter(|it| it.tool == tool).map(|it| &mut it.stage) {
                let was = *stage;
                self.settle(call, was, applied);
            }
        }
    }

    /// Nothing follows from our answer from now on.
    pub(super) fn settle(&mut self, call: CallId, was: PermissionStage, applied: bool) {
        match was {
            PermissionStage::Asked => {
                self.open.end(call);
                self.steps.push_back(Step::Cancelled(call));
            }
            PermissionStage::Declining => {
                let permission = self.open.get_mut(call).and_then(|open| open.what.permission_mut());
                if let Some(permission) = permission {
                    permission.stage = PermissionStage::Declined;
                }
                self.steps.push_back(Step::Declined { call, applied });
            }
            PermissionStage::Declined => {}
            PermissionStage::Answered => drop(self.open.end(call)),
        }
    }

    pub(super) fn settle_all(&mut self) {
        for call in self.open.ids().collect::<Vec<_>>() {
            let stage = self.open.get(call).and_then(|open| open.what.permission()).map(|it| it.stage);
            if let Some(stage) = stage {
                self.settle(call, stage, false);
            }
        }
    }

    pub(super) fn turn_over(&mut self, end: TurnEnd) {
        self.turn = TurnState::Over(end);
        self.settle_all();
        self.end_turn_if_decided();
    }

    pub(super) fn end_turn_if_decided(&mut self) {
        if !matches!(self.turn, TurnState::Over(_)) || self.open.find(OpenQuestion::is_undecided).is_some() {
            return;
        }
        let TurnState::Over(end) = std::mem::replace(&mut self.turn, TurnState::None) else { return };
        self.tools.clear();
        self.allowed_writes.clear();
        let follow_up = std::mem::take(&mut self.follow_up);
        let follow_up = (!follow_up.is_empty()).then(|| follow_up.join("\n\n"));
        self.say(ChatEvent::TurnEnded { end, follow_up });
    }

    pub(super) fn prompt(&mut self, words: &str, attachments: &[ChatAttachment], pictures: &[ChatPicture]) {
        if self.stage != SessionStage::Ready || self.turn != TurnState::None {
            return;
        }
        self.turn = TurnState::Running;
        let pictures = if self.takes_pictures { pictures } else { &[] };
        let prompt = content::prompt(words, attachments, pictures);
        let params = self.session_params(json!({ "prompt": prompt }));
        self.ask(OwnRequest::Prompt, "session/prompt", &params);
    }

    pub(super) fn cancel(&mut self) {
        if self.turn != TurnState::Running {
            return;
        }
        let params = self.session_params(json!({}));
        self.frames.push(frames::notification("session/cancel", &params));
        self.turn_cancelled();
    }

    /// The agent has been told: what it has asked is answered.
    pub(super) fn turn_cancelled(&mut self) {
        if self.turn != TurnState::Running {
            return;
        }
        self.turn = TurnState::Cancelling;
        for call in self.open.ids().collect::<Vec<_>>() {
            let Some(permission) = self.open.get(call).and_then(|open| open.what.permission()) else {
                continue;
            };
            if permission.stage == PermissionStage::Asked {
                self.frames.push(permission.cancelled());
                self.open.end(call);
                self.steps.push_back(Step::Cancelled(call));
            }
        }
    }
}
