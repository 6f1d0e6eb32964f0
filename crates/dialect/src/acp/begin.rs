//! The beginning of a conversation: initialize, a session that is new or continued, the mode in which the agent asks;
//! and what the agent answers to our requests.

use serde_json::{Value, json};

use super::conversation::{AcpConversation, OwnRequest, SessionStage, VERSION};
use super::frames::{self, name, text};
use super::updates;
use crate::chat::{ChatEvent, TurnEnd};

impl AcpConversation {
    pub(super) fn response(&mut self, frame: &Value) {
        let id = frame.get("id").and_then(Value::as_u64);
        let Some(asked) = id.and_then(|id| self.asked.remove(&id)) else { return };
        let outcome = match (frame.get("result"), frame.get("error")) {
            (_, Some(error)) if !error.is_null() => Err(error),
            (result, _) => Ok(result.unwrap_or(&Value::Null)),
        };
        match (asked, outcome) {
            (OwnRequest::Initialize, Ok(result)) => self.initialized(result),
            (OwnRequest::New, Ok(result)) => match name(result, "sessionId") {
                Some(session) => {
                    self.session = Some(session.to_owned());
                    let forgot = self.resume.is_some();
                    self.begun(result, forgot);
                }
                None => self.fail("it began no session".to_owned()),
            },
            (OwnRequest::Load, Ok(result)) => self.begun(result, false),
            // It has forgotten the session: a new one begins.
            (OwnRequest::Load, Err(_)) => {
                self.session = None;
                self.stage = SessionStage::Beginning;
                self.begin_session(None);
            }
            (OwnRequest::Initialize | OwnRequest::New, Err(error)) => {
                let message = said_error(error);
                self.fail(message);
            }
            (OwnRequest::FirstMode { ready }, outcome) => {
                if let Err(error) = outcome {
                    let message = format!(
                        "the agent was not put into the mode in which it asks before it edits: {}",
                        said_error(error)
                    );
                    self.fail(message);
                } else {
                    self.stage = SessionStage::Ready;
                    let mut ready = *ready;
                    if let ChatEvent::Ready { mode, .. } = &mut ready {
                        *mode = self.first_mode.clone();
                    }
                    self.say(ready);
                }
            }
            (OwnRequest::Mode(mode), Ok(_)) => self.say(ChatEvent::Mode(mode)),
            (OwnRequest::Mode(_), Err(error)) => {
                let message = format!("The agent did not change its mode: {}.", said_error(error));
                self.notice(message);
            }
            (OwnRequest::Prompt, Ok(result)) => {
                let end = match text(result, "stopReason") {
                    Some("cancelled") => TurnEnd::Cancelled,
                    Some("max_tokens") => TurnEnd::Other("the model reached its limit of tokens".to_owned()),
                    Some("max_turn_requests") => {
                        TurnEnd::Other("the model reached its limit of requests in one turn".to_owned())
                    }
                    Some("refusal") => TurnEnd::Other("the model refused to go on".to_owned()),
                    _ => TurnEnd::Done,
                };
                self.turn_over(end);
            }
            (OwnRequest::Prompt, Err(error)) => {
                let message = said_error(error);
                self.turn_over(TurnEnd::Other(message));
            }
        }
    }

    pub(super) fn initialized(&mut self, result: &Value) {
        if result.get("protocolVersion").and_then(Value::as_u64) != Some(VERSION) {
            return self.fail("it speaks another version of the Agent Client Protocol than 1".to_owned());
        }
        let capabilities = result.get("agentCapabilities").unwrap_or(&Value::Null);
        let can_load = capabilities.get("loadSession").and_then(Value::as_bool) == Some(true);
        let can_resume = capabilities.get("sessionCapabilities").and_then(|all| all.get("resume"));
        let pictures = capabilities.get("promptCapabilities").and_then(|prompt| prompt.get("image"));
        self.takes_pictures = pictures.and_then(Value::as_bool) == Some(true);
        let method = match (can_resume.is_some_and(|can| !can.is_null()), can_load) {
            (true, _) => Some("session/resume"),
            (false, true) => Some("session/load"),
            (false, false) => None,
        };
        self.begin_session(method);
    }

    pub(super) fn begin_session(&mut self, continues: Option<&str>) {
        let mut params = json!({ "cwd": self.cwd, "mcpServers": [] });
        match (continues, self.resume.clone()) {
            (Some(method), Some(session)) => {
                params["sessionId"] = json!(session);
                self.session = Some(session);
                self.stage = SessionStage::Replaying;
                self.ask(OwnRequest::Load, method, &params);
            }
            _ => self.ask(OwnRequest::New, "session/new", &params),
        }
    }

    pub(super) fn begun(&mut self, result: &Value, forgot: bool) {
        let (mode, modes) = updates::modes(result);
        let session = self.session.clone().unwrap_or_default();
        let ready =
            ChatEvent::Ready { session, modes, mode: mode.clone(), pictures: self.takes_pictures, forgot };
        self.tools.clear();
        match self.first_mode.clone().filter(|wanted| mode.as_ref() != Some(wanted)) {
            Some(wanted) => {
                let params = self.session_params(json!({ "modeId": wanted }));
                self.ask(OwnRequest::FirstMode { ready: Box::new(ready) }, "session/set_mode", &params);
            }
            None => {
                self.stage = SessionStage::Ready;
                self.say(ready);
            }
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        self.stage = SessionStage::Failed;
        self.say(ChatEvent::CannotBegin(why));
    }
}

/// What an error says to a person.
fn said_error(error: &Value) -> String {
    let message = text(error, "message").unwrap_or("an error without a message");
    let detail = error.get("data").and_then(|data| data.as_str().or_else(|| text(data, "details")));
    let message = match detail {
        Some(detail) => format!("{message}: {detail}"),
        None => message.to_owned(),
    };
    let message: String = message.chars().take(2000).collect();
    match error.get("code").and_then(Value::as_i64) {
        Some(frames::AUTH_REQUIRED) => {
            format!(
                "{message}. Log in with the agent's own program in a terminal, then send the message again"
            )
        }
        _ => message,
    }
}
