//! JSON-RPC and MCP rules that hold in every dialect.

use linkspan_dialect::{Answer, EditorEvent, Step};
use serde_json::{Value, json};

use crate::support::{answered, call, call_frame, error_code, introduced, reply, session};

fn receive(frame: &str) -> Step {
    session("claude").receive(frame)
}

#[test]
fn what_is_not_json_is_a_parse_error_without_id() {
    for frame in ["", "{", "[1,", "nonsense", "{\"jsonrpc\":\"2.0\",}", "{\"a\":01}", "\u{feff}{}"] {
        let reply = reply(receive(frame));
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(-32700), &Value::Null), "{frame}");
        assert!(reply.as_object().unwrap().contains_key("id"));
    }
}

#[test]
fn json_that_is_no_message_is_an_invalid_request() {
    let twice = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#;
    for frame in ["[]", "3", "null", "\"ping\"", "{}", twice, r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#]
    {
        let reply = reply(receive(frame));
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(-32600), &Value::Null), "{frame}");
    }
}

#[test]
fn an_id_that_cannot_be_echoed_is_refused() {
    let long = format!("\"{}\"", "x".repeat(257));
    for id in ["null", "1.5", "1e3", "{}", "[]", "true", &long, "123456789012345678901234567890"] {
        let step = receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        let reply = reply(step);
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(-32600), &Value::Null), "{id}");
    }
}

#[test]
fn an_id_is_echoed_as_it_came() {
    let longest = "x".repeat(256);
    for id in [json!(0), json!(-3), json!(u64::MAX), json!(""), json!("é\n\""), json!(longest)] {
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
        assert_eq!(reply(receive(&frame)), json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
}

#[test]
fn another_jsonrpc_version_is_refused_with_its_id() {
    for version in ["\"1.0\"", "2.0", "null"] {
        let frame = format!(r#"{{"jsonrpc":{version},"id":77,"method":"tools/list"}}"#);
        let reply = reply(receive(&frame));
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(-32600), &json!(77)));
    }
    assert_eq!(error_code(receive(r#"{"id":77,"method":"tools/list"}"#)), -32600);
}

#[test]
fn an_unknown_method_is_an_error_for_requests_and_nothing_for_notifications() {
    for method in ["nope", "prompts/list", "resources/list", "notifications/initialized"] {
        let frame = json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string();
        assert_eq!(error_code(receive(&frame)), -32601);
    }
    for method in ["nope", "tools/call", "initialize"] {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": {"name": "closeAllDiffTabs"}});
        assert_eq!(receive(&frame.to_string()), Step::Nothing);
    }
}

#[test]
fn the_agents_own_answers_are_taken_quietly() {
    for answer in [r#""result":{}"#, r#""result":null"#, r#""error":{"code":1,"message":"no"}"#] {
        assert_eq!(receive(&format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#)), Step::Nothing);
    }
    assert_eq!(error_code(receive(r#"{"jsonrpc":"2.0","id":1}"#)), -32600);
}

#[test]
fn an_error_names_the_parameter_at_fault() {
    let message = |method: &str, params: Value| {
        let frame = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let reply = reply(receive(&frame));
        assert_eq!(reply["error"]["code"], -32602);
        reply["error"]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(message("initialize", json!({})), "protocolVersion is missing: expected a string");
    assert_eq!(message("initialize", json!([1])), "params is invalid: expected an object");
    let hello = json!({"protocolVersion": "2025-11-25", "clientInfo": 3});
    assert_eq!(message("initialize", hello), "clientInfo is invalid: expected an object");
    assert_eq!(message("tools/call", json!({})), "name is missing: expected a string");
    assert_eq!(message("tools/call", json!({"name": "doesNotExist"})), "unknown tool: doesNotExist");
    let listed = json!({"name": "openFile", "arguments": ["a"]});
    assert_eq!(message("tools/call", listed), "arguments is invalid: expected an object");
    let untold = json!({"name": "openFile"});
    assert_eq!(message("tools/call", untold), "filePath is missing: expected a string");
}

#[test]
fn a_string_that_is_no_text_is_refused_by_name() {
    let frame = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"openDiff","arguments":{"old_file_path":"/a","new_file_path":"/a","new_file_contents":"\ud800","tab_name":"t"}}}"#;
    assert_eq!(reply(receive(frame))["error"]["message"], "new_file_contents is invalid: expected a string");
}

#[test]
fn every_declared_argument_is_checked_as_the_schema_says() {
    for dialect in ["claude", "nexus3", "linkspan"] {
        let mut session = session(dialect);
        let list = reply(session.receive(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
        for tool in list["result"]["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            let good: Value = properties
                .iter()
                .map(|(argument, schema)| {
                    let value = match schema["type"].as_str().unwrap() {
                        "string" if schema["enum"].is_array() => schema["enum"][0].clone(),
                        "string" => json!("/x"),
                        "integer" => json!(3),
                        _ => json!(true),
                    };
                    (argument.clone(), value)
                })
                .collect();
            call(&mut session, name, &good);
            for argument in properties.keys() {
                let mut wrong = good.clone();
                wrong[argument] = json!([]);
                let refused = reply(session.receive(&call_frame(1, name, &wrong)));
                assert!(
                    refused["error"]["message"].as_str().unwrap().starts_with(argument.as_str()),
                    "{name}"
                );

                let mut without = good.clone();
                without.as_object_mut().unwrap().remove(argument);
                let required = tool["inputSchema"]["required"].as_array().into_iter().flatten();
                let step = session.receive(&call_frame(1, name, &without));
                if required.into_iter().any(|required| required == argument) {
                    assert!(reply(step)["error"]["message"].as_str().unwrap().starts_with(argument.as_str()));
                } else {
                    assert!(matches!(step, Step::Call { .. }), "{name} without {argument}");
                }
            }
        }
    }
}

#[test]
fn extra_arguments_are_tolerated_and_null_is_missing() {
    let arguments = json!({"filePath": "/a", "preview": null, "colour": {"deep": [1, 2]}});
    call(&mut session("claude"), "openFile", &arguments);
}

#[test]
fn a_call_is_answered_once() {
    let mut session = session("claude");
    let (first, _) = call(&mut session, "closeAllDiffTabs", &json!({}));
    let (second, _) = call(&mut session, "closeAllDiffTabs", &json!({}));
    assert_eq!(session.open_calls().collect::<Vec<_>>(), [first, second]);
    assert!(session.answer(first, &Answer::DiffsClosed(0)).is_some());
    assert_eq!(session.answer(first, &Answer::DiffsClosed(0)), None);
    assert_eq!(session.open_calls().collect::<Vec<_>>(), [second]);
}

#[test]
fn a_cancelled_call_is_not_answered() {
    let mut session = session("claude");
    let (cancelled, _) = call(&mut session, "getOpenEditors", &json!({}));
    let cancel = |id: Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            .to_string()
    };
    assert_eq!(session.receive(&cancel(json!("7"))), Step::Nothing);
    assert_eq!(session.receive(&cancel(json!(7))), Step::Cancelled(cancelled));
    assert_eq!(session.receive(&cancel(json!(7))), Step::Nothing);
    assert_eq!(session.answer(cancelled, &Answer::Editors(Vec::new())), None);
}

#[test]
fn nothing_is_told_before_the_handshake_is_over() {
    assert_eq!(session("claude").event(&EditorEvent::ToolsChanged), None);
    let told = introduced("claude", "claude-code", "2.1.325").event(&EditorEvent::ToolsChanged).unwrap();
    assert_eq!(told, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
}

#[test]
fn the_hello_names_us_and_the_editor() {
    let hello = |version: &str| {
        let params = json!({"protocolVersion": version, "capabilities": {}});
        let frame = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params});
        match receive(&frame.to_string()) {
            Step::Introduced { name, reply, .. } => (name, serde_json::from_str::<Value>(&reply).unwrap()),
            other => panic!("{other:?}"),
        }
    };
    let (name, reply) = hello("2025-11-25");
    assert_eq!(name, "unknown agent");
    assert_eq!(
        reply,
        json!({"jsonrpc": "2.0", "id": "a", "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "linkspan", "title": "Neovim", "version": "0.1.0"},
        }})
    );
    let (_, reply) = hello("2024-11-05");
    assert_eq!(reply["result"]["serverInfo"], json!({"name": "linkspan", "version": "0.1.0"}));
}

#[test]
fn calls_with_the_same_id_are_each_answered() {
    let mut session = session("claude");
    let (open, _) = call(&mut session, "getWorkspaceFolders", &json!({}));
    answered(&mut session, "closeAllDiffTabs", &json!({}), &Answer::DiffsClosed(1));
    assert!(session.answer(open, &Answer::Folders(Vec::new())).is_some());
}

#[test]
fn a_process_id_that_is_none_is_ignored() {
    for pid in [json!(-1), json!("3"), json!(null), json!(1e12)] {
        let frame = json!({"jsonrpc": "2.0", "method": "ide_connected", "params": {"pid": pid}}).to_string();
        assert_eq!(receive(&frame), Step::Nothing);
    }
}
