//! What was accepted of a hosted agent reaches the unsaved text, whatever happens between the no to the agent and the
//! write.

use super::*;

const LIVE: &str = "zero\none\ntwo\n";
const CHANGED: &str = "zero\none\n2\n";

fn unsaved(version: i64) -> Value {
    json!({ "open": true, "dirty": true, "text": LIVE, "version": version })
}

impl CoreHarness {
    fn editor_comes(&mut self, version: i64) {
        self.editor_answers.insert("document/text", unsaved(version));
        self.editor_answers.remove("edits/apply");
        self.attach(EDITOR, json!({ "documents": true, "edits": true }));
    }

    fn editor_leaves(&mut self) {
        self.event(Event::ConnectionClosed { connection: EDITOR });
    }

    fn accepts(&mut self) {
        let decision = json!({ "review": "r1", "decision": { "verdict": { "kind": "accept" } } });
        self.request(READER, "reviews/decide", decision);
    }

    /// It is asked for its text once the decision is recorded, and does not answer.
    fn accepts_while_the_editor_hangs(&mut self) {
        self.hold_records = true;
        self.accepts();
        self.editor_answers.remove("document/text");
        self.hold_records = false;
        self.release_records(Ok(()));
    }

    #[track_caller]
    fn comes_back_and_takes_it(&mut self, agent: AgentId) {
        self.editor_comes(7);
        assert_eq!(self.option(agent, 5), Some("no"));
        self.knows_the_no(agent);
        self.is_written_in_the_editor(agent, 7);
    }

    fn knows_the_no(&mut self, agent: AgentId) {
        let failed = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e1", "status": "failed" });
        self.says(agent, failed);
    }

    /// The editor was asked once to change its text, at this version; it does so, and the model hears of it.
    #[track_caller]
    fn is_written_in_the_editor(&mut self, agent: AgentId, version: i64) {
        let asked = self.requests_to_editor("edits/apply");
        let [apply] = asked[..] else { panic!("{asked:?}; {:?}", self.reviews()) };
        assert_eq!(apply["params"]["version"], version);
        assert_eq!(apply["params"]["edits"]["text"], CHANGED);
        let id = apply["id"].clone();
        self.respond(EDITOR, &id, json!({ "applied": true, "version": version + 1 }));
        self.ends_turn(agent);
        assert!(self.prompted(agent).contains("written"), "{}", self.prompted(agent));
        assert_eq!((self.file(), self.writes), (&b"one\ntwo\n"[..], 0), "the file behind it is left alone");
    }
}

/// A change of unsaved text, which the agent would write without it.
fn proposed() -> (CoreHarness, AgentId) {
    let mut hub = CoreHarness::new();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.editor_comes(1);
    hub.event(Event::ConnectionOpened { connection: READER });
    let agent = hub.ready_chat();
    hub.say("go");
    hub.wants(agent, 5, edit(&[("/ws/a.txt", LIVE, CHANGED)]));
    (hub, agent)
}

#[test]
fn an_editor_that_restarts_before_the_agent_knows_the_no_is_asked_about_its_text_again() {
    let (mut hub, agent) = proposed();
    hub.accepts();
    assert_eq!(hub.option(agent, 5), Some("no"));
    hub.editor_leaves();
    hub.editor_comes(7);
    hub.knows_the_no(agent);
    hub.is_written_in_the_editor(agent, 7);
}

#[test]
fn an_editor_that_leaves_before_its_text_is_read_again_is_waited_for() {
    let (mut hub, agent) = proposed();
    hub.hold_records = true;
    hub.accepts();
    hub.editor_leaves();
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(hub.option(agent, 5), None, "what its text is now is not known");
    hub.comes_back_and_takes_it(agent);
}

#[test]
fn an_editor_that_leaves_while_it_is_asked_for_its_text_is_waited_for() {
    let (mut hub, agent) = proposed();
    hub.accepts_while_the_editor_hangs();
    hub.editor_leaves();
    hub.comes_back_and_takes_it(agent);
}

#[test]
fn an_editor_that_hangs_for_a_moment_is_asked_for_its_text_again() {
    let (mut hub, agent) = proposed();
    hub.accepts_while_the_editor_hangs();
    hub.wait_seconds(6);
    hub.editor_answers.insert("document/text", unsaved(1));
    hub.wait_seconds(6);
    assert_eq!(hub.option(agent, 5), Some("no"), "{:?}", hub.answers(agent, 5));
    hub.editor_answers.remove("document/text");
    hub.knows_the_no(agent);
    hub.wait_seconds(6);
    hub.editor_answers.insert("document/text", unsaved(1));
    hub.wait_seconds(6);
    hub.is_written_in_the_editor(agent, 1);
}

#[test]
fn a_hub_that_was_killed_before_the_write_writes_when_the_editor_is_back() {
    let (mut hub, agent) = proposed();
    hub.accepts();
    assert_eq!(hub.option(agent, 5), Some("no"));
    let mut hub = hub.restart();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.event(Event::ConnectionOpened { connection: READER });
    assert_eq!(hub.writes, 0);
    hub.editor_comes(7);
    let apply = hub.requests_to_editor("edits/apply")[0].clone();
    assert_eq!(apply["params"]["version"], 7, "{apply}");
    hub.respond(EDITOR, &apply["id"], json!({ "applied": true, "version": 8 }));
    assert_eq!(hub.writes, 0);
    hub.say("again");
    let next = hub.begins();
    assert!(hub.prompted(next).contains("written"), "{}", hub.prompted(next));
}
