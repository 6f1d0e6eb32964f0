//! Messages in valid frames that are meant to harm: deep, huge, duplicated, or not text.

use std::io::Write;

use linkspan_testkit::DEADLINE;
use linkspan_testkit::gemini::Gemini;
use linkspan_testkit::raw_http::{Request, answer, connect, status};
use linkspan_testkit::{Agent, HubSocket};
use serde_json::{Value, json};

use super::endpoint::HubEndpoint;
use super::fixture::AttackFixture;
use super::tokens::reveals_nothing;
use super::{Attack, AttackResult, BY_AGENTS};

pub(super) fn attacks() -> Vec<Attack> {
    let endpoints = "claude, nexus3, clio, gemini, ppxai, the hub's socket";
    vec![
        Attack {
            name: "deep JSON",
            endpoints,
            run: |fixture| all_endpoints(fixture, &deep(), &ANY),
            ..BY_AGENTS
        },
        Attack {
            name: "huge ids",
            endpoints,
            run: |fixture| {
                all_endpoints(fixture, &huge_ids(), &[INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS])
            },
            ..BY_AGENTS
        },
        Attack {
            name: "duplicate keys",
            endpoints,
            run: |fixture| all_endpoints(fixture, &duplicates(), &[INVALID_REQUEST, METHOD_NOT_FOUND]),
            ..BY_AGENTS
        },
        Attack {
            name: "malformed messages",
            endpoints,
            run: |fixture| all_endpoints(fixture, &nonsense(), &[PARSE_ERROR, INVALID_REQUEST]),
            ..BY_AGENTS
        },
        Attack {
            name: "invalid UTF-8",
            endpoints: "gemini, ppxai, the hub's socket",
            run: no_text,
            ..BY_AGENTS
        },
    ]
}

/// The errors of JSON-RPC.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
/// The code that closes a WebSocket whose peer is not admitted.
const POLICY_VIOLATION: u16 = 1008;
const ANY: [i64; 4] = [PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS];

fn around(open: &str, close: &str, depth: usize) -> String {
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}

fn deep() -> Vec<String> {
    let mut bodies = Vec::new();
    for depth in [200, 10_000, 400_000] {
        let (list, object) = (around("[", "]", depth), around("{\"a\":", "}", depth));
        for inner in [&list, &object] {
            bodies.push(inner.clone());
            bodies.push(call("1", inner));
            bodies
                .push(format!(r#"{{"id":{inner},"jsonrpc":"2.0","method":"ping","tool":"ide.read_file"}}"#));
            bodies.push(format!(
                r#"{{"type":"propose_edit","file":{inner},"edits":{inner},"id":7,"tool":{inner}}}"#
            ));
        }
        bodies.push("[".repeat(depth));
        bodies.push("{\"a\":".repeat(depth));
    }
    bodies
}

/// A call in every dialect at once: each reads its own members.
fn call(id: &str, inner: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","tool":"ide.read_file","args":{{"path":{inner}}},"type":"propose_edit","file":{inner},"params":{{"name":"openDiff","arguments":{inner}}}}}"#
    )
}

fn huge_ids() -> Vec<String> {
    let long = "9".repeat(1_000_000);
    let ids = [
        long.clone(),
        format!("\"{long}\""),
        format!("-{long}"),
        format!("1e{}", "9".repeat(400)),
        "1e308".into(),
        "18446744073709551616".into(),
        "-9223372036854775809".into(),
        "1.5".into(),
        "null".into(),
        "true".into(),
        "[]".into(),
        "{}".into(),
        "\"\\u0000\"".into(),
        "\"\\ud800\"".into(),
    ];
    ids.iter().map(|id| call(id, "\"/nowhere\"")).collect()
}

fn duplicates() -> Vec<String> {
    let path = "\"/etc/passwd\"";
    vec![
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","tool":"ide.get_workspace_info"}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list","tool":"x","tool":"y"}"#.into(),
        call("1", path).replacen("\"params\"", "\"params\":{},\"params\"", 1),
        format!(r#"{{"id":1,"tool":"ide.read_file","args":{{"path":"a.txt","path":{path}}}}}"#),
        format!(r#"{{"type":"connect","type":"propose_edit","file":"a","file":{path},"edits":[]}}"#),
        format!("{{{}\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"no/such\"}}", "\"a\":1,".repeat(100_000)),
    ]
}

fn nonsense() -> Vec<String> {
    [
        "",
        " ",
        "{",
        "}",
        "nul",
        "\"",
        "42",
        "[]",
        "[{}]",
        "{}",
        "\u{0}",
        "\u{feff}{}",
        "{\"a\":\"\\ud800\"}",
        "\\",
        "'{}'",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Sends each body to each endpoint: answered with one of these errors, never executed.
fn all_endpoints(fixture: &mut AttackFixture, bodies: &[String], errors: &[i64]) -> AttackResult {
    let mut tries = 0;
    for endpoint in HubEndpoint::SOCKETS {
        for body in bodies {
            let header = endpoint
                .token_line(&fixture.token)
                .and_then(|line| line.split_once(": ").map(|(a, b)| (a.to_owned(), b.to_owned())));
            let headers: Vec<(&str, &str)> =
                header.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let mut agent = Agent::open(fixture.port, &headers).unwrap();
            agent.send_text(body.as_str());
            tries += 1;
            if endpoint == HubEndpoint::Clio && is_json_rpc(body) {
                // A program of another dialect without a token.
                assert_eq!(agent.end(), Some(POLICY_VIOLATION), "{}", shown(body));
                continue;
            }
            let said = agent.next_frame(DEADLINE);
            let said = said.unwrap_or_else(|| panic!("{} {}: silence", endpoint.name(), shown(body)));
            if endpoint == HubEndpoint::Clio {
                is_short(&said.to_string(), body);
                assert_eq!(
                    (&said["type"], &said["code"]),
                    (&json!("error"), &json!("BAD_MESSAGE")),
                    "{said}"
                );
            } else {
                is_error(&said, errors, body);
            }
        }
        fixture.assert_bystanders_served();
    }
    let gemini = Gemini::ready(&fixture.world, fixture.port);
    for body in bodies {
        let answer = gemini.post_text(body, &[]);
        let code = is_error(&json_of(&answer.body), errors, body);
        let expected = if [PARSE_ERROR, INVALID_REQUEST].contains(&code) { 400 } else { 200 };
        assert_eq!(answer.status, expected, "{} {answer:?}", shown(body));
        tries += 1;
    }
    for endpoint in [HubEndpoint::Ppxai, HubEndpoint::PpxaiPort] {
        let good = endpoint.request(fixture);
        for body in bodies {
            let request =
                Request { body: body.clone(), ..good.with(format!("Content-Length: {}", body.len())) };
            let said = request.send();
            reveals_nothing(&said, &shown(body));
            is_short(&said, body);
            let answer = json_of(said.rsplit("\r\n\r\n").next().unwrap());
            assert_eq!(answer["success"], false, "{} {said}", shown(body));
            // A call of a tool with invalid arguments, or not a call.
            let expected = if answer["code"] == "NO_REQUEST" { 400 } else { 200 };
            assert_eq!(status(&said), expected, "{} {said}", shown(body));
            tries += 1;
        }
    }
    for body in bodies {
        let mut socket = HubSocket::connect(&fixture.world);
        let said = socket.exchange(body).unwrap_or_else(|| panic!("{}: it hung up", shown(body)));
        is_error(&said, errors, body);
        tries += 1;
    }
    fixture.assert_nothing_was_done();
    AttackResult::new(tries, "an error of less than 10 kB from each")
}

/// Whether it is an object with that member: no body here has it deeper inside.
fn is_json_rpc(body: &str) -> bool {
    body.starts_with('{') && body.contains("\"jsonrpc\"")
}

fn shown(body: &str) -> String {
    body.chars().take(100).collect()
}

#[track_caller]
fn json_of(said: &str) -> Value {
    serde_json::from_str(said).unwrap_or_else(|error| panic!("not JSON ({error}): {}", shown(said)))
}

#[track_caller]
fn is_short(said: &str, body: &str) {
    let length = said.len();
    assert!(length < 10_000, "{}: an error repeats too much of what was sent: {length}", shown(body));
}

/// Returns which of these errors it is.
#[track_caller]
fn is_error(said: &Value, errors: &[i64], body: &str) -> i64 {
    is_short(&said.to_string(), body);
    let code = said["error"]["code"].as_i64().filter(|code| errors.contains(code));
    assert!(said.get("result").is_none(), "{}: {said}", shown(body));
    code.unwrap_or_else(|| panic!("{}: none of {errors:?}: {said}", shown(body)))
}

fn no_text(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    let invalid: [&[u8]; 4] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
        b"\xc0\xaf",
        b"{\"id\":1,\"tool\":\"ide.read_file\",\"args\":{\"path\":\"\xed\xa0\x80\"}}",
        b"\xfe\xff\x00{\x00}",
    ];
    let gemini = Gemini::ready(&fixture.world, fixture.port);
    let session = format!("Mcp-Session-Id: {}", gemini.session.as_ref().unwrap());
    for endpoint in [HubEndpoint::Gemini, HubEndpoint::Ppxai, HubEndpoint::PpxaiPort] {
        for body in invalid {
            let request = endpoint
                .request(fixture)
                .with(format!("Content-Length: {}", body.len()))
                .with(session.as_str());
            let mut stream = connect(request.port);
            stream.write_all(Request { body: String::new(), ..request }.text().as_bytes()).unwrap();
            stream.write_all(body).unwrap();
            let said = answer(&mut stream);
            assert_eq!(status(&said), 400, "{} {said}", endpoint.name());
            tries += 1;
        }
    }
    for body in invalid {
        let mut socket = HubSocket::connect(&fixture.world);
        socket.stream.write_all(&linkspan_editor_api::encode(body)).unwrap();
        let said = socket.receive().expect("it hung up");
        is_error(&said, &[PARSE_ERROR, INVALID_REQUEST], &String::from_utf8_lossy(body));
        tries += 1;
    }
    // File names are bytes: one that is not UTF-8 is not listed, and breaks nothing.
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"bad\xff\xfename.txt");
    std::fs::write(fixture.world.workspace().join(name), "one\n").unwrap();
    let mut client = linkspan_testkit::ppxai::Client::new(fixture.port)
        .with(&HubEndpoint::Ppxai.token_line(super::fixture::PPXAI_TOKEN).unwrap());
    let listed = client.call("ide.list_files", json!({}));
    assert_eq!(listed["success"], true, "{listed}");
    std::fs::remove_file(fixture.world.workspace().join(name)).unwrap();
    AttackResult::new(tries + 1, "400, or a parse error; a file name that is not UTF-8 breaks no listing")
}
