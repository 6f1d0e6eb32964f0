//! ppxai's engine as a client sees it: what each frame leads to, and that no frame harms.

use linkspan_dialect::{ChatCommand, ChatEvent, ENGINE, ServerFacts, Session, Step, TurnEnd};
use linkspan_editor_api::{Capabilities, ChatToolState};
use proptest::prelude::*;
use serde_json::{Value, json};

struct Engine {
    session: Session,
    events: Vec<ChatEvent>,
}

impl Engine {
    fn new() -> Engine {
        let server = ServerFacts {
            version: "1".into(),
            editor_name: "test".into(),
            capabilities: Capabilities::default(),
        };
        Engine { session: Session::new(ENGINE, server), events: Vec::new() }
    }

    /// It waits for a message.
    fn ready() -> Engine {
        let mut engine = Engine::new();
        let asked = engine.command(ChatCommand::Begin {
            cwd: "/w".into(),
            resume: Some("engine".into()),
            mode: None,
        });
        assert_eq!((&asked["method"], &asked["path"]), (&json!("GET"), &json!("/health")));
        engine.says(&json!({ "id": asked["id"], "status": 200, "body": { "status": "ok" } }));
        let asked = engine.frame();
        assert_eq!(
            (&asked["path"], &asked["body"]),
            (&json!("/context/working_dir"), &json!({ "path": "/w" }))
        );
        engine.says(&json!({ "id": asked["id"], "status": 200, "body": {} }));
        assert!(matches!(engine.events.pop(), Some(ChatEvent::Ready { .. })));
        engine
    }

    /// The number of the request.
    fn prompted(&mut self) -> Value {
        let asked = self.command(ChatCommand::Prompt {
            text: "hello".into(),
            attachments: Vec::new(),
            pictures: Vec::new(),
        });
        assert_eq!((&asked["path"], &asked["body"]), (&json!("/chat"), &json!({ "message": "hello" })));
        asked["id"].clone()
    }

    fn frame(&mut self) -> Value {
        serde_json::from_str(&self.session.take_frames().pop().unwrap()).unwrap()
    }

    fn command(&mut self, command: ChatCommand) -> Value {
        self.session.command(command);
        self.frame()
    }

    fn says(&mut self, frame: &Value) {
        let mut step = Some(self.session.receive(&frame.to_string()));
        while let Some(now) = step {
            if let Step::Chat(event) = now {
                self.events.push(*event);
            }
            step = self.session.next_step();
        }
    }

    fn event(&mut self, id: &Value, kind: &str, data: Value) {
        self.says(&json!({ "id": id, "event": { "type": kind, "data": data } }));
    }
}

#[test]
fn a_turn_is_shown_as_it_comes() {
    let mut engine = Engine::ready();
    let id = engine.prompted();
    engine.event(&id, "stream_start", json!({ "model": "m" }));
    engine.event(&id, "stream_chunk", json!("Hel"));
    engine.event(&id, "tool_call", json!({ "tool": "read_file", "arguments": { "path": "a" } }));
    engine.event(&id, "new_kind", json!(1));
    engine.event(&id, "tool_error", json!({ "tool": "read_file", "error": "no such file" }));
    engine.event(&id, "stream_end", json!("Hello"));
    engine.says(&json!({ "id": id, "end": null }));
    let [text, call, failed, end] = engine.events.as_slice() else { panic!("{:?}", engine.events) };
    assert_eq!(*text, ChatEvent::Text("Hel".into()));
    let (ChatEvent::Tool(call), ChatEvent::Tool(failed)) = (call, failed) else { panic!("no calls") };
    assert_eq!((&call.id, call.state), (&failed.id, ChatToolState::Running));
    assert_eq!((failed.output.as_str(), failed.state), ("no such file", ChatToolState::Failed));
    assert_eq!(*end, ChatEvent::TurnEnded { end: TurnEnd::Done, follow_up: None });
}

#[test]
fn a_cancelled_stream_an_error_and_a_loss_end_the_turn_each_in_its_way() {
    let mut engine = Engine::ready();
    let id = engine.prompted();
    assert_eq!(engine.command(ChatCommand::Cancel), json!({ "cancel": id }));
    engine.says(&json!({ "id": id, "end": null }));
    let id = engine.prompted();
    engine.event(&id, "error", json!("no key"));
    engine.says(&json!({ "id": id, "end": null }));
    let id = engine.prompted();
    engine.says(&json!({ "id": id, "end": "it broke off" }));
    let id = engine.prompted();
    engine.says(&json!({ "id": id, "status": 503, "body": { "detail": "no engine" } }));
    let ends = engine.events.iter().map(|event| match event {
        ChatEvent::TurnEnded { end, .. } => end.clone(),
        other => panic!("{other:?}"),
    });
    let other = |why: &str| TurnEnd::Other(why.to_owned());
    let refused = other("the engine refused it: no engine (503)");
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [TurnEnd::Cancelled, other("no key"), other("it broke off"), refused]
    );
}

proptest! {
    #[test]
    fn no_frame_panics(kind in "[a-z_]{1,16}", data in ".{0,40}", id in 0u64..4) {
        let mut engine = Engine::ready();
        engine.prompted();
        for data in [json!(data), json!({ "tool": data }), json!([data]), Value::Null] {
            engine.event(&json!(id), &kind, data);
        }
        engine.says(&json!({ "id": id, "status": data.len() }));
    }
}
