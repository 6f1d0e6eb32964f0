//! A ppxai client that sends anything at all: each request is answered once, under its own id.

use std::collections::BTreeMap;

use linkspan_dialect::{Answer, CallId, Request, ServerFacts, Session, Step, WindowFolders, by_name};
use linkspan_editor_api::Capabilities;
use serde_json::Value;

use crate::conversation::answer_to;

/// One request per line.
pub(crate) fn requests(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let capabilities = Capabilities::default();
    let server = ServerFacts { version: "0.1.0".into(), editor_name: "Neovim".into(), capabilities };
    let mut session = Session::new(by_name("ppxai").expect("a dialect"), server);
    session.set_folders(&WindowFolders { named: vec!["/w".into()], real: vec!["/r".into()] });
    let mut open: BTreeMap<CallId, (Option<Value>, Request)> = BTreeMap::new();
    for frame in text.lines() {
        let sent = serde_json::from_str::<Value>(frame).ok();
        match session.receive(frame) {
            Step::Call { call, request } => {
                let id = sent.map(|sent| sent["id"].clone());
                assert!(open.insert(call, (id, request)).is_none(), "a call id came twice");
            }
            Step::Reply(reply) | Step::Malformed(reply) => {
                assert_eq!(valid(&reply)["success"], false);
            }
            other => panic!("{frame} is {other:?}"),
        }
        assert!(session.open_calls().eq(open.keys().copied()));
    }
    for (call, (id, request)) in open {
        let frame = session.answer(call, &answer_to(request)).expect("an open call can be answered");
        let reply = valid(&frame.text);
        if reply.get("status").is_none() {
            assert!(id.is_none_or(|id| reply["id"] == id), "{reply}");
        }
        assert_eq!(session.answer(call, &Answer::MessageShown), None, "answered twice");
    }
    assert_eq!(session.open_calls().count(), 0);
}

fn valid(reply: &str) -> Value {
    let reply: Value = serde_json::from_str(reply).expect("a reply is JSON");
    let [result, error, status] = ["result", "error", "status"].map(|key| reply.get(key).is_some());
    // What was not written says why, and may say more beside it.
    let fits = match reply["success"].as_bool() {
        Some(true) => result && !error && !status,
        Some(false) => error && !status,
        None => status && !result && !error,
    };
    assert!(fits, "{reply}");
    reply
}
