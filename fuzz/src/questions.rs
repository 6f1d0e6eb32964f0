//! Who has asked what and was not answered: an answer to anything else is one too many.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_editor_api::Message;
use linkspan_hub::core::ConnectionId;
use linkspan_review::AgentId;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asker {
    Connection(ConnectionId),
    Agent(AgentId),
}

/// By the id on the wire.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: BTreeMap<Asker, Vec<(Value, String)>>,
    /// They have said what we cannot read and the hub perhaps can.
    unread: BTreeSet<Asker>,
    gone: BTreeSet<Asker>,
}

impl Questions {
    /// Somebody says something, perhaps a question.
    pub(crate) fn heard(&mut self, who: Asker, body: &[u8]) {
        let method = match Message::parse(body) {
            Ok(Message::Response { .. }) => return,
            Ok(Message::Request { method, .. }) => method,
            Ok(Message::Notification { .. }) | Err(_) => String::new(),
        };
        if self.gone.contains(&who) {
            return;
        }
        let Ok(said) = serde_json::from_slice::<Value>(body) else {
            self.unread.insert(who);
            return;
        };
        // An invalid message with an id may be answered with an error under that id.
        if let Some(id) = said.get("id").filter(|id| id.is_number() || id.is_string()) {
            self.open.entry(who).or_default().push((id.clone(), method));
        }
    }

    /// Somebody is told something, perhaps an answer.
    pub(crate) fn told(&mut self, who: Asker, body: &[u8]) {
        let said: Value = serde_json::from_slice(body).expect("what we say is JSON");
        let Some(id) = said.get("id").filter(|id| !id.is_null() && said.get("method").is_none()) else {
            return;
        };
        let open = self.open.entry(who).or_default();
        let find =
            |real: bool| open.iter().position(|(asked, method)| asked == id && method.is_empty() != real);
        match find(true).or_else(|| find(false)) {
            Some(at) => drop(open.remove(at)),
            None => {
                assert!(self.unread.contains(&who), "{who:?} never asked, or was answered before: {said}")
            }
        }
    }

    pub(crate) fn gone(&mut self, who: Asker) {
        self.open.remove(&who);
        self.gone.insert(who);
    }

    /// The methods of real questions that are not answered.
    pub(crate) fn open(&self, who: Asker) -> Vec<&str> {
        let methods = self.open.get(&who).into_iter().flatten().map(|(_, method)| method.as_str());
        methods.filter(|method| !method.is_empty()).collect()
    }
}
