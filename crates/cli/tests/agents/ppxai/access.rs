//! Which clients are admitted, and what is not a request.

use serde_json::{Value, json};

use crate::support::ppxai::Client;
use crate::support::*;

const INFO: &str = r#"{"id":1,"tool":"ide.get_workspace_info","args":{}}"#;

#[test]
fn a_body_that_is_no_request_is_answered_with_400_and_an_unknown_tool_with_the_nearest() {
    let world = World::new();
    let serve = world.serve();
    let mut client = Client::new(serve.port);
    let long = "x".repeat(300);
    for (body, id) in [
        ("{".to_owned(), Value::Null),
        ("[]".to_owned(), Value::Null),
        ("\u{1}".to_owned(), Value::Null),
        (r#"{"id":1}"#.to_owned(), Value::Null),
        (r#"{"id":1,"tool":7}"#.to_owned(), Value::Null),
        (r#"{"id":[],"tool":"ide.git_log"}"#.to_owned(), Value::Null),
        (format!(r#"{{"id":"{long}","tool":"ide.git_log"}}"#), Value::Null),
        (r#"{"id":"7","tool":"ide.git_log","args":[]}"#.to_owned(), json!("7")),
    ] {
        let (status, answer) = client.send("POST /ide/execute", &body);
        assert_eq!((status, &answer["id"], &answer["success"]), (400, &id, &json!(false)), "{body}");
        assert!(answer["error"].is_string(), "{answer}");
    }
    for id in [json!("é\n"), json!(-7), json!(1.5), json!(u64::MAX), Value::Null] {
        let (status, answer) = client.execute(&json!({ "id": id, "tool": "ide.get_workspace_info" }));
        assert_eq!((status, &answer["id"], &answer["success"]), (200, &id, &json!(true)), "{answer}");
    }
    let (code, message) = client.error("ide.read_fil", json!({}));
    assert_eq!(code, "UNKNOWN_TOOL");
    assert!(message.contains("did you mean `ide.read_file`?"), "{message}");
}

#[test]
fn only_the_right_way_of_asking_is_served() {
    let world = World::with_config("[limits]\nmessage_mib = 1\n");
    let serve = world.serve();
    let port = serve.port;
    for (first, header, body, status) in [
        ("GET /status", None, "", 200),
        ("POST /ide/execute", None, INFO, 200),
        ("POST /ide/execute", Some("Content-Type: application/json; charset=utf-8"), INFO, 200),
        ("POST /ide/execute", Some("Content-Type: text/plain"), INFO, 415),
        ("POST /status", None, INFO, 405),
        ("GET /ide/execute", None, "", 405),
        ("OPTIONS /ide/execute", None, "", 405),
        ("POST /ide/execute", Some("Origin: null"), INFO, 403),
        ("GET /status", Some("Origin: http://127.0.0.1"), "", 403),
        ("GET /status", Some("X-Ppxai-Token: wrong"), "", 401),
    ] {
        let mut client = Client::new(port);
        client.headers.extend(header.map(str::to_owned));
        assert_eq!(client.send(first, body).0, status, "{first} {header:?}");
    }
    let large = format!(r#"{{"id":"{}"}}"#, "x".repeat(2 * 1024 * 1024));
    let mut client = Client::new(port);
    assert_eq!(client.send("POST /ide/execute", &large).0, 413);
    let unknown = raw_http::exchange(
        port,
        &format!("GET /nothing HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"),
    );
    assert!(unknown.starts_with("HTTP/1.1 401") || unknown.starts_with("HTTP/1.1 404"), "{unknown}");
    let elsewhere = raw_http::exchange(
        port,
        "GET /status HTTP/1.1\r\nHost: evil.example:80\r\nConnection: close\r\n\r\n",
    );
    assert!(elsewhere.starts_with("HTTP/1.1 421"), "{elsewhere}");
}

#[test]
fn a_token_that_is_set_is_asked_for() {
    let world = World::new();
    let started = world.command(&["hub", "start"]).env("PPXAI_BRIDGE_TOKEN", "s3cret").status().unwrap();
    assert!(started.success());
    let editor = Editor::attach(&world);
    let port = editor.port();
    let status = |client: &mut Client| client.send("GET /status", "").0;
    assert_eq!(status(&mut Client::new(port)), 401);
    assert_eq!(status(&mut Client::new(port).with("X-Ppxai-Token: wrong")), 401);
    let mut client = Client::new(port).with("x-ppxai-token: s3cret");
    assert_eq!(status(&mut client), 200);
    assert_eq!(client.send("POST /ide/execute", INFO).0, 200);
    assert_eq!(Client::new(port).send("POST /ide/execute", INFO).0, 401);
}

#[test]
fn calls_on_one_connection_are_answered_in_their_order_and_on_two_by_themselves() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut client = Client::called(editor.port(), "one");
    for id in ["1", "2"] {
        client.write("POST /ide/execute", &INFO.replace("\"id\":1", &format!("\"id\":{id}")));
    }
    assert_eq!([client.read().1["id"].clone(), client.read().1["id"].clone()], [json!(1), json!(2)]);
    let waiting = Client::called(editor.port(), "one")
        .asking("ide.apply_edit", json!({ "path": "a.txt", "content": "two\n" }));
    let shown = editor.shown(&world.path_str("a.txt"));
    assert_eq!(client.result("ide.read_file", json!({ "path": "a.txt" }))["content"], "one\n");
    editor.accept(&shown);
    assert_eq!(waiting.join().unwrap()["result"]["applied"], true);
}

#[test]
fn a_client_is_called_by_its_name_and_not_by_its_librarys() {
    let world = World::new();
    let serve = world.serve();
    for (mut client, name) in
        [(Client::new(serve.port), "ppxai"), (Client::called(serve.port, "mybot"), "mybot")]
    {
        client.result("ide.get_workspace_info", json!({}));
        let status = world.status();
        let agents = status["windows"][0]["agents"].as_array().unwrap();
        assert!(agents.iter().any(|agent| agent["name"] == name), "{status}");
    }
}
