//! The user of simulated conversations: starts them, says something, cancels turns, closes and forgets them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::hosted::HOSTED;
use super::simulation::{SimEvent, Simulation};
use super::wire::{Endpoint, Peer, ToHub, ToPeer, WireId};

/// Conversations in one window.
const MOST_CHATS: usize = 3;

#[derive(Default)]
pub(super) struct ChatUser {
    wire: Option<WireId>,
    /// A conversation is being started.
    starts: bool,
    pub(super) chats: BTreeSet<String>,
    next_id: i64,
    asked: std::collections::BTreeMap<i64, (&'static str, String)>,
    next_chat: usize,
}

impl Simulation {
    pub(super) fn chat_user_turn(&mut self, home: usize) {
        if self.leaving {
            if let Some(wire) = self.chat_users[home].wire.take() {
                self.send_to_hub(wire, ToHub::Closed);
            }
            return;
        }
        let pause = if self.calm { 1_500 } else { 200 + self.chance.below(4_000) as u64 };
        self.later(pause, SimEvent::Turn(Peer::ChatUser(home)));
        let Some(wire) = self.chat_users[home].wire else {
            if self.hub.is_up() {
                let wire = self.open(Peer::ChatUser(home), Endpoint::Socket);
                self.chat_users[home].wire = Some(wire);
                self.chat_asks(home, wire, "chat/list", &json!({}), "");
            }
            return;
        };
        let user = &mut self.chat_users[home];
        user.next_chat += 1;
        let chat = user.chats.iter().nth(user.next_chat % user.chats.len().max(1)).cloned();
        let has_room = user.chats.len() < MOST_CHATS && !user.starts;
        let Some(chat) = chat.filter(|_| self.calm || !has_room || self.chance.in_hundred(95)) else {
            if has_room && !self.calm {
                self.count("conversations started");
                self.chat_users[home].starts = true;
                let start = json!({ "agent": HOSTED, "folder": format!("/ws{home}") });
                self.chat_asks(home, wire, "chat/start", &start, "");
            }
            return;
        };
        let named = json!({ "chat": chat });
        match if self.calm { 0 } else { self.chance.below(100) } {
            0..70 => {
                let prompt = json!({ "chat": chat, "text": "please change it" });
                self.chat_asks(home, wire, "chat/prompt", &prompt, &chat);
            }
            70..76 => {
                self.count("turns cancelled by the user");
                self.chat_asks(home, wire, "chat/cancel", &named, &chat);
            }
            76..79 => {
                self.count("conversations closed");
                self.chat_asks(home, wire, "chat/close", &named, &chat);
            }
            79 => {
                self.count("conversations forgotten");
                let forget = json!({ "chat": chat, "forget": true });
                self.chat_users[home].chats.remove(&chat);
                self.chat_asks(home, wire, "chat/close", &forget, &chat);
            }
            _ => {}
        }
    }

    fn chat_asks(&mut self, home: usize, wire: WireId, method: &'static str, params: &Value, chat: &str) {
        let user = &mut self.chat_users[home];
        user.next_id += 1;
        let id = user.next_id;
        user.asked.insert(id, (method, chat.to_owned()));
        self.says_to_hub(wire, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    pub(super) fn chat_user_hears(&mut self, home: usize, wire: WireId, what: ToPeer) {
        let user = &mut self.chat_users[home];
        if user.wire != Some(wire) {
            return;
        }
        let frame = match what {
            ToPeer::Closed => {
                (user.wire, user.starts, user.next_id) = (None, false, 0);
                return user.asked.clear();
            }
            ToPeer::Ping(_) | ToPeer::Event(..) => return,
            ToPeer::Frame(frame) => frame,
        };
        let asked = frame["id"].as_i64().and_then(|id| user.asked.remove(&id));
        match asked {
            Some(("chat/start", _)) => {
                user.starts = false;
                user.chats.extend(frame["result"]["chat"].as_str().map(str::to_owned));
            }
            Some(("chat/list", _)) => {
                let all = frame["result"]["chats"].as_array().into_iter().flatten();
                let here = all.filter(|chat| chat["folder"] == format!("/ws{home}"));
                user.chats = here.filter_map(|chat| chat["chat"].as_str()).map(str::to_owned).collect();
            }
            // A hub that was killed may not have recorded that it began.
            Some((_, chat)) if frame["error"]["message"].as_str().is_some_and(is_unknown) => {
                user.chats.remove(&chat);
            }
            _ => {}
        }
    }
}

fn is_unknown(error: &str) -> bool {
    error.starts_with("there is no conversation")
}
