//! `fs/write_text_file`, which a client obeys: it reaches the client only with a text that was accepted.

use serde_json::{Value, json};

use super::{PROMPT, Session, TEXT};
use crate::support::{eventually, world};

impl Session {
    fn asks_to_write(&mut self, id: u64, text: &str) {
        let params = json!({ "sessionId": "s1", "path": self.path, "content": text });
        self.agent
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "fs/write_text_file", "params": params }));
    }

    /// The client is asked to write, and does.
    fn client_writes(&mut self, id: u64) -> Value {
        let asked = self
            .client
            .receive("a write", |frame| frame["method"] == "fs/write_text_file" && frame["id"] == id);
        self.world.file("a.txt", asked["params"]["content"].as_str().unwrap());
        self.client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        asked
    }
}

#[test]
fn a_text_that_was_just_accepted_is_passed_on_without_a_second_question() {
    let mut session = Session::new();
    let new = TEXT.replace("two", "2");
    let (prompt, review) = session.wants(&new);
    let accept = session.world.command(&["accept", &review]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("yes"));
    session.asks_to_write(8, &new);
    session.client_writes(8);
    assert_eq!(session.agent.answer(8)["result"], json!({}));
    session.agent.ends(&prompt, "end_turn");
    session.client.answer(PROMPT);
    assert_eq!(world::finish(accept).code, 0);
    assert_eq!(session.world.read_text("a.txt"), new);
    assert!(session.world.reviews().is_empty());
}

#[test]
fn another_text_than_the_accepted_one_is_a_review_of_its_own() {
    let mut session = Session::new();
    let (_, review) = session.wants(&TEXT.replace("two", "2"));
    let accept = session.world.command(&["accept", &review]).spawn().unwrap();
    assert_eq!(session.agent.option(7).as_deref(), Some("yes"));
    session.asks_to_write(8, "something else\n");
    let second = eventually("a second review", || {
        let reviews = session.world.reviews();
        let other =
            reviews.iter().find(|other| other["review"] != review.as_str() && other["phase"] == "pending");
        Some(other?["review"].as_str()?.to_owned())
    });
    assert!(session.asked_of_client().is_empty());
    let reject = session.world.command(&["reject", &second]).spawn().unwrap();
    assert!(session.agent.answer(8)["error"]["message"].as_str().unwrap().contains("did not accept"));
    assert!(session.asked_of_client().is_empty());
    world::finish(reject);
    world::finish(accept);
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn a_write_without_a_question_is_reviewed_and_then_passed_on_as_it_came() {
    let mut session = Session::new();
    let prompt = session.prompt(PROMPT, "please change it");
    let new = TEXT.replace("two", "2");
    session.asks_to_write(8, &new);
    let review = session.world.one_pending();
    assert!(session.asked_of_client().is_empty());
    let accept = session.world.command(&["accept", &review]).spawn().unwrap();
    let asked = session.client_writes(8);
    assert_eq!(asked["params"]["content"], new);
    assert_eq!(session.agent.answer(8)["result"], json!({}));
    session.agent.ends(&prompt, "end_turn");
    session.client.answer(PROMPT);
    assert_eq!(world::finish(accept).code, 0);
    assert_eq!(session.world.read_text("a.txt"), new);
}

#[test]
fn one_hunk_of_a_write_is_written_by_the_hub_and_the_client_never_hears_of_it() {
    let mut session = Session::new();
    let prompt = session.prompt(PROMPT, "please change it");
    session.asks_to_write(8, &TEXT.replace("two", "2").replace("eight", "8"));
    let review = session.world.one_pending();
    let accept = session.world.command(&["accept", &review, "--hunk", "2"]).spawn().unwrap();
    assert!(session.agent.answer(8)["error"].is_object());
    eventually("the hunk is written", || {
        (session.world.read_text("a.txt") == TEXT.replace("eight", "8")).then_some(())
    });
    assert_eq!(world::finish(accept).code, 0);
    session.agent.ends(&prompt, "end_turn");
    let (ours, told) = session.agent.prompted();
    assert!(told.contains("1 of 2 hunks accepted and written"), "{told}");
    session.agent.ends(&ours, "end_turn");
    session.client.answer(PROMPT);
    assert!(session.asked_of_client().is_empty());
}
