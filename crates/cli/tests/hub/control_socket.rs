//! The hub's own socket under bad input: framing, methods, parameters, decisions about unknown reviews.

#[cfg(test)]
mod tests {
    use std::io::Write;

    use linkspan_editor_api::errors;
    use serde_json::{Value, json};

    use crate::support::*;

    #[test]
    fn bytes_that_are_no_frames_end_that_connection_only() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let mut bystander = HubSocket::connect(&world);
        for bytes in [
            &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
            b"Content-Length: 99999999999999999999\r\n\r\n",
            b"Content-Length: 4294967296\r\n\r\n",
            b"Content-Length: -1\r\n\r\n",
            b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
            b"\r\n\r\n",
            &[0xff; 70_000],
        ] {
            let mut socket = HubSocket::connect(&world);
            let _ = socket.stream.write_all(bytes);
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]);
            assert_eq!(socket.receive(), None, "{shown}");
            assert!(bystander.request("ping", json!({}))["error"].is_null());
        }
        assert!(world.log().contains("closing a connection on the hub's socket"));
    }

    #[test]
    fn a_body_that_is_no_message_is_answered_and_the_next_one_is_served() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let mut socket = HubSocket::connect(&world);
        for (body, code) in [
            ("", errors::PARSE),
            ("{", errors::PARSE),
            ("\u{1}", errors::PARSE),
            ("[]", errors::INVALID_REQUEST),
            ("7", errors::INVALID_REQUEST),
            ("{}", errors::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, errors::INVALID_REQUEST),
            (&"[".repeat(100_000), errors::PARSE),
        ] {
            let answer = socket.exchange(body).unwrap();
            let shown: String = body.chars().take(60).collect();
            assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        }
        assert!(socket.request("ping", json!({}))["error"].is_null());
    }

    #[test]
    fn unknown_methods_and_wrong_parameters_are_errors_that_say_so() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let mut socket = HubSocket::connect(&world);
        let accept = json!({ "verdict": { "kind": "accept" } });
        let deep: Value = (0..100).fold(json!(1), |inner, _| json!([inner]));
        for (method, params, code) in [
            ("no/such", json!({}), errors::METHOD_NOT_FOUND),
            ("reviews/list", json!({ "all": "yes" }), errors::INVALID_PARAMS),
            ("reviews/list", deep, errors::INVALID_PARAMS),
            ("reviews/get", json!({}), errors::INVALID_PARAMS),
            ("reviews/get", json!({ "review": "r99" }), errors::UNKNOWN_REVIEW),
            ("reviews/get", json!({ "review": "latest" }), errors::UNKNOWN_REVIEW),
            ("reviews/decide", json!({ "review": "r99", "decision": accept }), errors::UNKNOWN_REVIEW),
            ("reviews/decide", json!({ "review": 7, "decision": accept }), errors::INVALID_PARAMS),
            (
                "reviews/decide",
                json!({ "review": "r1", "decision": { "verdict": { "kind": "maybe" } } }),
                errors::INVALID_PARAMS,
            ),
            (
                "review/decided",
                json!({ "review": "r1", "revision": 0, "decision": accept }),
                errors::NOT_ATTACHED,
            ),
            ("attach", json!({}), errors::INVALID_PARAMS),
            ("attach", attach(&world, json!({ "protocol": 9999 })), errors::VERSION),
            ("attach", attach(&world, json!({ "folders": ["relative"] })), errors::INVALID_PARAMS),
        ] {
            let answer = socket.request(method, params.clone());
            assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
            assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
        }
    }

    fn attach(world: &World, change: Value) -> Value {
        let mut attach = json!({
            "protocol": linkspan_editor_api::PROTOCOL, "version": "0.1.0", "pid": 1,
            "editor": { "name": "x", "version": "1" }, "folders": [world.workspace()],
        });
        attach.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        attach
    }

    #[test]
    fn a_decision_on_hunks_or_a_revision_that_are_not_shown_changes_nothing() {
        let world = World::new();
        let path = world.file("a.txt", "one\ntwo\n");
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        let call = agent.propose(&path, "one\n2\n", "tab");
        let review = world.one_pending();
        let mut socket = HubSocket::connect(&world);
        let hunks = |ids: Value| json!({ "kind": "acceptHunks", "hunks": ids });
        let shown = socket.request("reviews/get", json!({ "review": review }))["result"]["shown"].clone();
        let known = shown["hunks"][0]["id"].clone();
        let mut unknown = known.as_str().unwrap().to_owned();
        let last = if unknown.ends_with('0') { "1" } else { "0" };
        unknown.replace_range(unknown.len() - 1.., last);
        for (verdict, revision) in [
            (hunks(json!([unknown])), None),
            (hunks(json!([])), None),
            (hunks(json!([known, known])), None),
            (hunks(json!(["not a hunk"])), None),
            (json!({ "kind": "accept" }), Some(7)),
        ] {
            let decision = json!({ "verdict": verdict });
            let answer = socket.request(
                "reviews/decide",
                json!({ "review": review, "revision": revision, "decision": decision }),
            );
            let kind = answer["result"]["kind"].as_str().unwrap_or("error");
            assert!(["refused", "stale", "error"].contains(&kind), "{verdict}: {answer}");
        }
        assert_eq!(
            (world.pending(1), world.read_text("a.txt").as_str()),
            (vec![review.clone()], "one\ntwo\n")
        );
        world.run(&["accept", &review]).ok();
        assert_eq!(agent.texts(call), ["FILE_SAVED"]);
        drop((agent, serve));
    }
}
