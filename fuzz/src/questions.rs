//! Who has asked what and was not answered: an answer to anything else is one too many.

use std::collections::BTreeMap;

use linkspan_editor_api::Message;
use linkspan_hub::core::LocalId;
use linkspan_review::AgentId;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    Local(LocalId),
    Agent(AgentId),
}

/// By the id on the wire, in the words of JSON.
#[derive(Debug, Default)]
pub struct Questions(BTreeMap<Asker, Vec<(String, String)>>);

impl Questions {
    /// Somebody says something, perhaps a question.
    pub fn heard(&mut self, who: Asker, body: &[u8]) {
        let asked = match Message::parse(body) {
            Ok(Message::Request { id, method, .. }) => (id_of(&id), method),
            // What is no message, but has an id, is told so under that id.
            Err(error) => match Message::parse(&error.to_message().to_bytes()) {
                Ok(Message::Response { id: Some(id), .. }) => (id_of(&id), String::new()),
                _ => return,
            },
            Ok(_) => return,
        };
        self.0.entry(who).or_default().push(asked);
    }

    /// Somebody is told something, perhaps an answer.
    pub fn told(&mut self, who: Asker, body: &[u8]) {
        let said: Value = serde_json::from_slice(body).expect("what we say is JSON");
        let Some(id) = said.get("id").filter(|id| !id.is_null() && said.get("method").is_none()) else {
            return;
        };
        let open = self.0.entry(who).or_default();
        let at = open.iter().position(|(asked, _)| *asked == id.to_string());
        open.remove(at.unwrap_or_else(|| panic!("{who:?} never asked, or was answered before: {said}")));
    }

    pub fn gone(&mut self, who: Asker) {
        self.0.remove(&who);
    }

    /// The methods of what is not answered.
    pub fn open(&self, who: Asker) -> Vec<&str> {
        self.0.get(&who).into_iter().flatten().map(|(_, method)| method.as_str()).collect()
    }
}

fn id_of(id: &linkspan_editor_api::RequestId) -> String {
    serde_json::to_string(id).expect("an id is JSON")
}
