//! An agent of a dialect other than JSON-RPC that sends anything at all: nothing breaks, what we say is JSON, and
//! no call is answered twice.

use linkspan_dialect::{ExchangeId, ServerFacts, Session, Step, by_name};
use linkspan_editor_api::Capabilities;
use serde_json::Value;

use crate::conversation::answer_to;

/// One frame per line.
pub(crate) fn messages(dialect: &str, data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let capabilities = Capabilities { documents: true, language: true, ..Capabilities::default() };
    let server = ServerFacts { version: "0.1.0".into(), editor_name: "Neovim".into(), capabilities };
    let mut session = Session::new(by_name(dialect).expect("a dialect"), server);
    for (number, frame) in (0..).zip(text.lines()) {
        let exchange = Some(ExchangeId(number));
        match session.receive_in(exchange, frame) {
            Step::Call { call, request } => {
                session.acknowledge_shown(call);
                let answer = answer_to(request);
                if let Some(frame) = session.answer(call, &answer) {
                    is_json(&frame.text);
                }
                assert_eq!(session.answer(call, &answer), None, "answered twice");
            }
            Step::Reply(reply) | Step::Malformed(reply) | Step::Introduced { reply, .. } => is_json(&reply),
            Step::Thread { .. }
            | Step::Declined { .. }
            | Step::NeedsToken
            | Step::Pid(_)
            | Step::Nothing
            | Step::Pong(_)
            | Step::Goodbye
            | Step::Cancelled(_)
            | Step::Chat(_) => {}
        }
        assert_eq!(session.open_calls().count(), 0);
    }
}

fn is_json(text: &str) {
    serde_json::from_str::<Value>(text).expect("what we say is JSON");
}
