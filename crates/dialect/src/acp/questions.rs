//! What the agent asks: permissions, files. Each request is answered once, unknown ones with an error.

use std::path::Path;

use serde_json::{Value, json};

use super::conversation::{AcpConversation, TurnState};
use super::frames::{self, text};
use super::permission::{OpenQuestion, Permission, PermissionStage};
use super::{tool_calls, words};
use crate::answer::{Answer, FailureKind};
use crate::chat::ChatEvent;
use crate::conversation::{CallId, Step};
use crate::request::Request;

/// Questions that wait at a time. A person answers each.
const OPEN_QUESTIONS: usize = 64;

/// Files that the agent was allowed to write in one turn, for the check of what it says it writes.
const ALLOWED_WRITES: usize = 256;

impl AcpConversation {
    pub(super) fn requested(&mut self, method: &str, id: Value, params: &Value) {
        // A second request of the same id cannot be told apart from the first.
        if self.open.find(|open| open.is_request(&id)).is_some() {
            return;
        }
        let is_known =
            matches!(method, "session/request_permission" | "fs/read_text_file" | "fs/write_text_file");
        if is_known && !self.is_ours(params) {
            return self.frames.push(frames::error(&id, frames::INVALID_PARAMS, "unknown sessionId"));
        }
        self.declines_are_known();
        match method {
            "session/request_permission" => self.permission_asked(id, params),
            "fs/read_text_file" => self.read_asked(id, params),
            "fs/write_text_file" => self.write_asked(&id, params),
            _ => self.frames.push(frames::error(&id, frames::METHOD_NOT_FOUND, "method not found")),
        }
    }

    pub(super) fn permission_asked(&mut self, id: Value, params: &Value) {
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let is_full = self.open.ids().count() >= OPEN_QUESTIONS;
        // Outside a turn, or after it was cancelled, nobody is asked.
        let merged = self.tools.merge(call).filter(|_| self.turn == TurnState::Running && !is_full);
        let Some((tool, call)) = merged else {
            return self.frames.push(frames::cancelled(&id));
        };
        let mut permission = Permission::new(id, params, tool);
        let event = ChatEvent::Tool(tool_calls::shown(tool, call));
        let tool = tool.to_owned();
        let files = match tool_calls::is_edit(call) {
            true => tool_calls::changes(call, &self.cwd),
            false => Vec::new(),
        };
        permission.paths = files.iter().map(|file| file.path.clone()).collect();
        let question = tool_calls::question(call);
        self.say(event);
        let (call, request) = match files.is_empty() {
            false => {
                let (cwd, set, can_apply) = (self.cwd.clone(), tool.clone(), permission.can_allow());
                let request = Request::Patch { files, cwd, set, can_apply };
                (self.open.begin(None, OpenQuestion::Edit(permission)), request)
            }
            true => {
                let request = Request::Consent { what: question };
                (self.open.begin(None, OpenQuestion::Other(permission)), request)
            }
        };
        self.say(ChatEvent::Asks { tool, call });
        self.steps.push_back(Step::Call { call, request });
    }

    pub(super) fn read_asked(&mut self, id: Value, params: &Value) {
        let Some(path) = text(params, "path").map(|path| self.cwd.join(path)) else {
            return self.frames.push(frames::error(&id, frames::INVALID_PARAMS, "`path` is missing"));
        };
        if self.open.ids().count() >= OPEN_QUESTIONS {
            return self.frames.push(frames::error(
                &id,
                frames::INTERNAL_ERROR,
                "too many requests are open",
            ));
        }
        let number =
            |name: &str| params.get(name).and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
        let first = number("line").map_or(0, |line| line.saturating_sub(1));
        let last = number("limit").map(|limit| first.saturating_add(limit.max(1) - 1));
        let open = OpenQuestion::Read { request: id, path: path.clone() };
        let call = self.open.begin(None, open);
        self.steps.push_back(Step::Call { call, request: Request::ReadFile { path, lines: (first, last) } });
    }

    /// We did not offer it. Some send it nevertheless and write by themselves, whatever the answer.
    pub(super) fn write_asked(&mut self, id: &Value, params: &Value) {
        let path = text(params, "path").map(|path| self.cwd.join(path)).unwrap_or_default();
        if self.allowed_writes.iter().any(|(allowed, _)| *allowed == path) {
            self.frames.push(frames::result(id, &json!({})));
        } else {
            let why = format!("the user did not accept a change of {}; nothing was written", path.display());
            self.frames.push(frames::error(id, frames::INTERNAL_ERROR, &why));
            self.notice(format!(
                "The agent asked to have {} written, which you did not accept. Linkspan wrote nothing.",
                path.display()
            ));
        }
    }

    pub(super) fn edit_answered(&mut self, call: CallId, answer: &Answer) -> Option<String> {
        let Some(OpenQuestion::Edit(permission)) = self.open.get_mut(call).map(|open| &mut open.what) else {
            return None;
        };
        let was = permission.stage;
        permission.stage = PermissionStage::Answered;
        let (frame, words) = match answer {
            Answer::Set(parts) => {
                let accepted = |answer: &Answer| matches!(answer, Answer::Accepted(accepted) if accepted.is_as_proposed());
                let as_proposed = parts.iter().all(|(_, answer)| accepted(answer));
                match was {
                    PermissionStage::Asked if as_proposed && permission.can_allow() => {
                        // The path as the hub knows it, and as the agent says it.
                        for ((path, answer), said) in parts.iter().zip(&permission.paths) {
                            let text = match answer {
                                Answer::Accepted(accepted) => accepted.text.clone(),
                                _ => None,
                            };
                            self.allowed_writes.extend([(path.clone(), text.clone()), (said.clone(), text)]);
                        }
                        (Some(permission.allowed()), words::after_accept(parts))
                    }
                    PermissionStage::Asked => (Some(permission.rejected()), words::after_decline(parts)),
                    _ => (None, words::after_decline(parts)),
                }
            }
            // Withdrawn by the agent itself, or by the end of the turn.
            Answer::Failed(failure) if failure.kind == FailureKind::Withdrawn => {
                (Some(permission.rejected()), None)
            }
            Answer::Failed(failure) => {
                let words = words::after_failure(&permission.paths, &failure.message);
                (Some(permission.rejected()), Some(words))
            }
            _ => (Some(permission.rejected()), None),
        };
        let frame = frame.filter(|_| was == PermissionStage::Asked);
        while self.allowed_writes.len() > ALLOWED_WRITES {
            self.allowed_writes.pop_front();
        }
        if let Answer::Failed(failure) = answer {
            self.notice(format!("A change could not be reviewed and was refused: {}.", failure.message));
        }
        if let Some(words) = words {
            self.follow_up.push(words);
            self.say(ChatEvent::Untold(self.follow_up.join("\n\n")));
        }
        // The agent's turn may be over: then it hears no more about this.
        if frame.is_none() {
            self.open.end(call);
        }
        frame
    }
}

/// The answer to `fs/read_text_file`.
pub(super) fn read_answer(request: &Value, path: &Path, answer: &Answer) -> String {
    match answer {
        Answer::Text { truncated: true, .. } => {
            let message =
                format!("{} is too large; read a part of it with `line` and `limit`", path.display());
            frames::error(request, frames::INTERNAL_ERROR, &message)
        }
        Answer::Text { text, .. } => frames::result(request, &json!({ "content": text })),
        Answer::Failed(failure) => {
            let code = match failure.kind {
                FailureKind::NotFound => frames::RESOURCE_NOT_FOUND,
                FailureKind::OutsideWorkspace | FailureKind::InvalidParams => frames::INVALID_PARAMS,
                _ => frames::INTERNAL_ERROR,
            };
            frames::error(request, code, &failure.message)
        }
        _ => frames::error(request, frames::INTERNAL_ERROR, "the file was not read"),
    }
}
