//! Whatever comes in: no panic, and each request that can be answered is answered once or is one call.

use std::sync::LazyLock;

use linkspan_dialect::{Session, Step};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{conversations, session};

/// Checks one frame against what JSON itself says of it.
fn check(session: &mut Session, frame: &str) {
    let open_before = session.open_calls().count();
    let step = session.receive(frame);
    let opened = session.open_calls().count().saturating_sub(open_before);
    let parsed = serde_json::from_str::<Value>(frame).ok();
    let id = parsed
        .as_ref()
        .and_then(|value| value.get("id"))
        .filter(|id| id.is_i64() || id.is_u64() || id.as_str().is_some_and(|text| text.len() <= 256));
    let is_request =
        parsed.as_ref().is_some_and(|value| value["jsonrpc"] == "2.0" && value["method"].is_string());
    match &step {
        Step::Call { .. } => assert!(id.is_some() && opened == 1),
        Step::Reply(reply) | Step::Malformed(reply) | Step::Introduced { reply, .. } => {
            assert_eq!(opened, 0);
            let reply: Value = serde_json::from_str(reply).unwrap();
            assert_eq!(reply["jsonrpc"], "2.0");
            assert!(reply.get("result").is_some() != reply.get("error").is_some());
            if is_request && reply["error"]["code"] != -32600 {
                assert_eq!(Some(&reply["id"]), id);
            }
        }
        Step::Thread { .. } | Step::Declined { .. } => panic!("this is not a daemon"),
        // Only an agent of another dialect, which is let go.
        Step::NeedsToken => assert!(is_request),
        Step::Chat(_) | Step::Nothing | Step::Pid(_) | Step::Cancelled(_) | Step::Pong(_) | Step::Goodbye => {
            assert!(!(is_request && id.is_some()), "no answer to {frame}");
        }
    }
}

static CAPTURED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let frames = conversations().into_iter().flat_map(|(_, frames)| frames);
    frames.filter(|(from_agent, _)| *from_agent).map(|(_, frame)| frame.to_string()).collect()
});

/// Replaces the `at`-th value inside, counted depth first.
fn replace(value: &mut Value, at: &mut usize, with: &Value) {
    if *at == 0 {
        *value = with.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Object(map) => map.values_mut().for_each(|value| replace(value, at, with)),
        Value::Array(items) => items.iter_mut().for_each(|value| replace(value, at, with)),
        _ => {}
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}") {
        for dialect in ["claude", "nexus3", "copilot", "linkspan"] {
            check(&mut session(dialect), &text);
        }
    }

    #[test]
    fn arbitrary_json_never_panics(value in any_json()) {
        for dialect in ["claude", "linkspan"] {
            check(&mut session(dialect), &value.to_string());
        }
    }

    #[test]
    fn a_damaged_frame_never_panics(
        pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(), insert in ".{0,3}",
    ) {
        let chars: Vec<char> = pick.get(CAPTURED.as_slice()).chars().collect();
        let (from, to) = (at.index(chars.len()), cut.index(chars.len()));
        let damaged: String = chars[..from.min(to)].iter().copied().chain(insert.chars())
            .chain(chars[from.max(to)..].iter().copied()).collect();
        for dialect in ["claude", "nexus3", "copilot", "linkspan"] {
            check(&mut session(dialect), &damaged);
        }
    }

    #[test]
    fn a_frame_with_any_value_in_any_place_gets_one_answer(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..14, any_json()), 1..6),
    ) {
        let mut session = session("claude");
        for (pick, mut at, with) in picks {
            let mut frame: Value = serde_json::from_str(pick.get(CAPTURED.as_slice()).as_str()).unwrap();
            replace(&mut frame, &mut at, &with);
            check(&mut session, &frame.to_string());
        }
    }
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    for frame in [
        deep.clone(),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"openFile","arguments":{{"filePath":"/a","x":{deep}}}}}}}"#
        ),
    ] {
        assert_ne!(session("claude").receive(&frame), Step::Nothing);
    }
}
