//! What does not change files passes as it is, in both directions; and how the proxy ends.

use serde_json::{Value, json};

use super::{PROMPT, Session, TEXT};
use crate::support::{AcpClient, StandIn, World, world};

#[test]
fn everything_else_passes_byte_for_byte() {
    let mut session = Session::new();
    let lines = [
        r#"{"jsonrpc":"2.0","method":"_auth/status_update", "params":{"b":1,"a":1.0e3}}"#,
        r#"{"jsonrpc":"2.0","id":"x-1","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/a"}}"#,
        r#"[{"jsonrpc":"2.0","id":3,"method":"craft/unknown"},{"jsonrpc":"2.0","method":"$/y","params":[]}]"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"_meta":{"z":null},"sessionId":"s1","update":{"sessionUpdate":"new_kind"}}}"#,
        "this is not JSON \u{1b}[31m",
        r#"{"jsonrpc":"2.0","id":99,"result":{"to":"nothing"}}"#,
    ];
    for line in lines {
        session.agent.send_bytes(format!("{line}\n").as_bytes());
        session.client.line(line, |came| came == line);
    }
    let to_agent = [
        r#"{"jsonrpc":"2.0","id":77,"method":"session/set_mode","params":{"sessionId":"s1", "modeId":"m","_meta":{}}}"#,
        r#"{"jsonrpc":"2.0","id":"x-1","result":{"content":"text"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4}}"#,
    ];
    for line in to_agent {
        session.client.send_line(line);
        let sent: Value = serde_json::from_str(line).unwrap();
        session.agent.receive(line, |frame| *frame == sent);
    }
}

#[test]
fn a_question_that_is_not_about_an_edit_goes_to_the_client() {
    let mut session = Session::new();
    let prompt = session.prompt(PROMPT, "run it");
    let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }]);
    let call =
        json!({ "toolCallId": "c1", "kind": "execute", "title": "rm -rf /", "rawInput": { "command": "x" } });
    let params = json!({ "sessionId": "s1", "toolCall": call, "options": options });
    let request =
        json!({ "jsonrpc": "2.0", "id": 5, "method": "session/request_permission", "params": params });
    session.agent.send(&request);
    let came = session.client.receive("the question", |frame| frame["id"] == 5);
    assert_eq!(came, request);
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "yes" } });
    session.client.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": outcome }));
    assert_eq!(session.agent.option(5).as_deref(), Some("yes"));
    session.agent.ends(&prompt, "end_turn");
    session.client.answer(PROMPT);
    assert!(session.world.reviews().is_empty());
}

#[test]
fn an_edit_outside_the_folder_is_left_to_the_client() {
    let mut session = Session::new();
    session.prompt(PROMPT, "change another file");
    let other = session.world.root().join("other.txt");
    std::fs::write(&other, TEXT).unwrap();
    session.agent.wants(7, other.to_str().unwrap(), TEXT, "x");
    session.client.receive("the question", |frame| frame["id"] == 7);
    assert!(session.world.reviews().is_empty());
}

#[test]
fn a_batch_with_a_write_does_not_get_past_the_review() {
    let mut session = Session::new();
    session.prompt(PROMPT, "please change it");
    let params = json!({ "sessionId": "s1", "path": session.path, "content": "x" });
    let write = json!({ "jsonrpc": "2.0", "id": 8, "method": "fs/write_text_file", "params": params });
    session.agent.send(&json!([{ "jsonrpc": "2.0", "method": "$/other" }, write]));
    session.client.line("the rest of the batch", |line| line.contains("$/other"));
    session.world.one_pending();
    assert!(session.asked_of_client().is_empty());
}

/// The runtime directory is a file: no hub can be started.
#[test]
fn without_a_hub_the_client_decides_and_standard_error_says_so() {
    let world = World::new();
    let path = world.file("a.txt", TEXT);
    let mut agent = StandIn::new(&world);
    let mut command = world.command(&["acp", "--"]);
    let nowhere = world.root().join("nowhere");
    std::fs::write(&nowhere, "").unwrap();
    command.arg(agent.program()).env("XDG_RUNTIME_DIR", &nowhere);
    let mut client = AcpClient::start_command(command);
    client.request(1, "session/new", json!({ "cwd": world.workspace(), "mcpServers": [] }));
    agent.reply("session/new", json!({ "sessionId": "s1" }));
    client.answer(1);
    client.request(2, "session/prompt", json!({ "sessionId": "s1", "prompt": [] }));
    let prompt = agent.request("session/prompt")["id"].clone();
    agent.wants(7, &path, TEXT, "x");
    client.receive("the question", |frame| frame["id"] == 7);
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "no" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 7, "result": outcome }));
    assert_eq!(agent.option(7).as_deref(), Some("no"));
    agent.ends(&prompt, "end_turn");
    client.answer(2);
    let (code, said) = client.finish();
    assert_eq!(code, Some(0));
    assert!(said.contains("changes are not reviewed in Linkspan now"), "{said}");
}

/// The proxy may have no further memory for the stack of a thread.
#[test]
fn without_a_thread_for_the_hub_the_client_decides() {
    let world = World::new();
    let path = world.file("a.txt", TEXT);
    let mut agent = StandIn::new(&world);
    let mut client = AcpClient::start(&world, &[agent.program()]);
    client.request(0, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
    agent.reply("initialize", json!({ "protocolVersion": 1 }));
    client.answer(0);
    let status = std::fs::read_to_string(format!("/proc/{}/statm", client.pid())).unwrap();
    let pages: u64 = status.split(' ').next().unwrap().parse().unwrap();
    let most = Some(pages * rustix::param::page_size() as u64 + 1024 * 1024);
    let pid = rustix::process::Pid::from_raw(client.pid().cast_signed());
    let limit = rustix::process::Rlimit { current: most, maximum: most };
    rustix::process::prlimit(pid, rustix::process::Resource::As, limit).unwrap();
    client.request(1, "session/new", json!({ "cwd": world.workspace(), "mcpServers": [] }));
    agent.reply("session/new", json!({ "sessionId": "s1" }));
    client.answer(1);
    client.request(2, "session/prompt", json!({ "sessionId": "s1", "prompt": [] }));
    let prompt = agent.request("session/prompt")["id"].clone();
    agent.wants(7, &path, TEXT, "x");
    client.receive("the question", |frame| frame["id"] == 7);
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "no" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 7, "result": outcome }));
    agent.ends(&prompt, "end_turn");
    client.answer(2);
    let (_, said) = client.finish();
    assert!(said.contains("cannot start a thread"), "{said}");
}

#[test]
fn the_exit_code_and_signals_are_those_of_the_agent() {
    let world = World::new();
    let run = |script: &str| AcpClient::start(&world, &["sh", "-c", script]);
    assert_eq!(run("exit 23").finish().0, Some(23));
    let (code, said) = run("echo trouble >&2; kill -TERM $$").finish();
    assert_eq!((code, said.as_str()), (Some(128 + 15), "trouble\n"));
    let mut told = run("trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done");
    told.line("up", |line| line == "up");
    world::signal(told.pid(), rustix::process::Signal::TERM);
    assert_eq!(told.finish().0, Some(5));
    let (code, said) = AcpClient::start(&world, &["/no/such/agent"]).finish();
    assert_eq!(code, Some(70));
    assert!(said.contains("cannot start the agent /no/such/agent"), "{said}");
}

#[test]
fn the_last_words_of_an_agent_arrive_although_its_child_keeps_the_output_open() {
    let world = World::new();
    let mut client =
        AcpClient::start(&world, &["sh", "-c", "sleep 30 2>/dev/null & echo '{\"last\":1}'; exit 3"]);
    client.line("the last words", |line| line == "{\"last\":1}");
    let began = std::time::Instant::now();
    assert_eq!(client.finish().0, Some(3));
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
}
