//! Agents that the hub has started, or that are behind `linkspan acp`, and that mean harm: the hub stays, nothing is
//! written, and their processes end with them.

use std::fs;
use std::time::Duration;

use linkspan_testkit::world::alive;
use linkspan_testkit::{AcpClient, ChatClient, StandIn, eventually, hosted};
use serde_json::{Value, json};

use super::fixture::{AttackFixture, SECRET};
use super::{Attack, AttackResult, BY_AGENTS};

const TEXT: &str = "one\ntwo\nthree\n";

/// The words of a conversation are kept, up to 32 MiB of them, and wait for its readers.
const FLOODED: u64 = 250;

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack {
            name: "hosted agent that floods",
            endpoints: "acp",
            bound: FLOODED,
            run: floods,
            ..BY_AGENTS
        },
        Attack { name: "hosted agent with hostile frames", endpoints: "acp", run: frames, ..BY_AGENTS },
        Attack { name: "hosted agent that hangs and forks", endpoints: "acp", run: hangs, ..BY_AGENTS },
        Attack { name: "agent behind a proxy", endpoints: "acp", run: behind_proxy, ..BY_AGENTS },
    ]
}

/// A conversation whose agent was asked for something.
struct Hosted {
    client: ChatClient,
    agent: StandIn,
    chat: String,
    prompt: Value,
}

impl Hosted {
    fn working(fixture: &AttackFixture) -> Hosted {
        let mut agent = StandIn::new(&fixture.world);
        let mut client = ChatClient::connect(&fixture.world);
        let chat = client.start(&fixture.world, StandIn::ID);
        agent.begins();
        client.is(&chat, "idle");
        client.prompt(&chat, "please change it");
        let (prompt, _) = agent.prompted();
        Hosted { client, agent, chat, prompt }
    }

    fn ends(&mut self) {
        self.agent.ends(&self.prompt.clone(), "end_turn");
        self.client.is(&self.chat.clone(), "idle");
    }
}

/// Words, tool calls and requests without end: others are served, and the conversation has a limit.
fn floods(fixture: &mut AttackFixture) -> AttackResult {
    let many = fixture.amount(20_000, 200_000);
    let path = fixture.world.file("a.txt", TEXT);
    let mut hosted = Hosted::working(fixture);
    let words = "x".repeat(500);
    for number in 0..many {
        let update = match number % 2 {
            0 => {
                json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": words } })
            }
            _ => json!({ "sessionUpdate": "tool_call", "toolCallId": format!("t{number}"), "title": words }),
        };
        hosted.agent.update(update);
        if number % 2_000 == 0 {
            fixture.assert_bystanders_served();
        }
    }
    let asked = fixture.amount(300, 3_000);
    for number in 0..asked {
        hosted.agent.wants(1_000_000 + number as u64, &path, TEXT, &format!("{number}\n"));
    }
    let refused = hosted.agent.receive("a refusal of what is too much", |frame| {
        frame["result"]["outcome"]["outcome"] == "cancelled" && frame["id"].as_u64() > Some(1_000_000)
    });
    assert!(refused["id"].as_u64().is_some());
    let open = fixture.world.reviews().len();
    assert!(open <= 64, "{open} reviews are open");
    fixture.assert_bystanders_served();
    // The first reader did not keep up and was disconnected.
    hosted.client = ChatClient::connect(&fixture.world);
    hosted.ends();
    eventually("the end of the turn withdraws all", || fixture.world.reviews().is_empty().then_some(()));
    let items = hosted.client.open(&hosted.chat.clone())["items"].as_array().map_or(0, Vec::len);
    assert!(items <= 10_010, "{items} items are kept");
    hosted.client.ask("chat/close", json!({ "chat": hosted.chat, "forget": true }));
    assert_eq!(fixture.world.read_text("a.txt"), TEXT);
    AttackResult::new(many + asked, format!("{items} items kept, {open} reviews open, the rest refused"))
}

/// Garbage, duplicate ids, methods that do not exist, other people's files, questions after the end.
fn frames(fixture: &mut AttackFixture) -> AttackResult {
    let path = fixture.world.file("a.txt", TEXT);
    let mut hosted = Hosted::working(fixture);
    let mut rng = fixture.rng();
    let mut tries = 0;
    let garbage = fixture.amount(300, 5_000);
    for _ in 0..garbage {
        let length = rng.below(200);
        let mut line: Vec<u8> = (0..length).map(|_| rng.next().to_le_bytes()[0]).collect();
        line.push(b'\n');
        hosted.agent.send_bytes(&line);
        tries += 1;
    }
    hosted.agent.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"fs/write_te");
    hosted.agent.send_bytes(b"xt_file\"}\n");
    let kinds = ["plan", "usage_update", "tool_call", "no_such", "current_mode_update"];
    for (kind, value) in kinds.iter().flat_map(|kind| {
        [json!(null), json!([[[]]]), json!("\u{1b}]0;x\u{7}"), json!({ "type": "text", "text": 1 })]
            .map(|it| (kind, it))
    }) {
        hosted.agent.update(
            json!({ "sessionUpdate": kind, "content": value, "entries": value, "toolCallId": value }),
        );
        tries += 1;
    }
    let secret = fixture.outside().join("secret.txt").display().to_string();
    let paths = [secret.as_str(), "../outside/secret.txt", "/etc/passwd", "\0", "", "a\u{202e}txt"];
    for (number, path) in (100..).zip(paths) {
        hosted.agent.wants(number, path, SECRET, "mine");
        for (id, method) in [(number + 100, "fs/read_text_file"), (number + 200, "fs/write_text_file")] {
            let params = json!({ "sessionId": "s1", "path": path, "content": "mine" });
            let frame = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            hosted.agent.send(&frame);
            let answer = hosted.agent.answer(id);
            assert!(!answer.to_string().contains(SECRET), "{path}: {answer}");
            tries += 1;
        }
    }
    // Two edits of one file, the second with the id of the first.
    hosted.agent.wants(7, &path, TEXT, "mine\n");
    hosted.agent.wants(7, &path, TEXT, "yours\n");
    hosted.agent.wants(8, &path, TEXT, "theirs\n");
    hosted.client.ask("chat/cancel", json!({ "chat": hosted.chat }));
    for id in [7, 8] {
        assert_eq!(hosted.agent.answer(id)["result"]["outcome"]["outcome"], "cancelled");
    }
    hosted.agent.wants(19, &path, TEXT, "late\n");
    assert_eq!(hosted.agent.answer(19)["result"]["outcome"]["outcome"], "cancelled");
    hosted.ends();
    hosted.agent.wants(10, &path, TEXT, "outside of a turn\n");
    assert_eq!(hosted.agent.answer(10)["result"]["outcome"]["outcome"], "cancelled");
    assert!(fixture.world.reviews().is_empty(), "{:?}", fixture.world.reviews());
    assert_eq!(fixture.world.read_text("a.txt"), TEXT);
    AttackResult::new(tries, "each request answered once, nothing written, no secret told")
}

/// They ignore signals, start others, and never answer: closing the conversations ends them all. At the same time,
/// because each end takes as long as the hub is patient.
fn hangs(fixture: &mut AttackFixture) -> AttackResult {
    let many = fixture.amount(2, 30);
    let pids = fixture.world.path("pids");
    let script = format!(
        "#!/bin/sh\ntrap '' TERM HUP INT\nfor _ in 1 2 3; do (trap '' TERM; exec sleep 600) & echo $! >> {0}; done\n\
         echo $$ >> {0}\nwhile :; do sleep 600; done\n",
        pids.display()
    );
    let program = fixture.world.file("hangs", script);
    fixture.world.program("chmod").args(["700", &program]).status().unwrap();
    hosted::add_agent(&fixture.world, "hangs", program.as_ref(), &[], &[]);
    let mut client = ChatClient::connect(&fixture.world);
    let folder = fixture.world.workspace();
    let chats: Vec<Value> = (0..many)
        .map(|_| {
            let answer = client.ask("chat/start", json!({ "agent": "hangs", "folder": folder }));
            let chat = answer["result"]["chat"].clone();
            // The command is asked about once in this folder.
            if client.open(chat.as_str().unwrap())["summary"]["state"]["kind"] == "starting"
                && client.ask("asks/list", json!({}))["result"]["asks"][0].is_object()
            {
                client.allow(1);
            }
            chat
        })
        .collect();
    let started = || fs::read_to_string(&pids).unwrap_or_default().lines().count() == 4 * many;
    eventually("their processes", || started().then_some(()));
    fixture.assert_bystanders_served();
    for chat in chats {
        client.ask("chat/close", json!({ "chat": chat, "forget": true }));
    }
    for pid in fs::read_to_string(&pids).unwrap().lines().filter_map(|line| line.parse().ok()) {
        eventually("their processes have ended", || (!alive(pid)).then_some(()));
    }
    fixture.assert_bystanders_served();
    AttackResult::new(many, "all four processes of each ended")
}

/// Everything that changes files waits for a decision, whatever else it sends; a client that obeys is not reached.
fn behind_proxy(fixture: &mut AttackFixture) -> AttackResult {
    let path = fixture.world.file("a.txt", TEXT);
    let mut agent = StandIn::new(&fixture.world);
    let mut client = AcpClient::start(&fixture.world, &[agent.program()]);
    client.request(1, "session/new", json!({ "cwd": fixture.world.workspace(), "mcpServers": [] }));
    agent.reply("session/new", json!({ "sessionId": "s1" }));
    client.answer(1);
    client.request(
        2,
        "session/prompt",
        json!({ "sessionId": "s1", "prompt": [{ "type": "text", "text": "x" }] }),
    );
    let (prompt, _) = agent.prompted();
    let mut tries = 0;
    let write = |id: u64, path: &str, text: &str| {
        let params = json!({ "sessionId": "s1", "path": path, "content": text });
        json!({ "jsonrpc": "2.0", "id": id, "method": "fs/write_text_file", "params": params })
    };
    let many = fixture.amount(40, 60) as u64;
    for number in 0..many {
        let frame = write(number, &path, &format!("{number}\n"));
        match number % 3 {
            0 => agent.send(&frame),
            1 => agent.send(&json!([frame, { "jsonrpc": "2.0", "method": "$/x" }])),
            // Twice the same id, and the name of the method in another spelling.
            _ => {
                let spelled = frame.to_string().replace("fs/write", "\\u0066s\\/write");
                agent.send_bytes(format!("{spelled}\n{frame}\n").as_bytes());
            }
        }
        agent.send_bytes(b"\xff\xfe{\n{\"id\":null}\n[]\n");
        tries += 1;
    }
    eventually("the writes are reviews", || (fixture.world.reviews().len() as u64 == many).then_some(()));
    fixture.assert_bystanders_served();
    std::thread::sleep(Duration::from_millis(300));
    let reached = client.rest().into_iter().filter(|line| line.contains("write_text_file")).count();
    assert_eq!(reached, 0, "a write reached the client");
    agent.ends(&prompt, "end_turn");
    eventually("all are withdrawn", || fixture.world.reviews().is_empty().then_some(()));
    assert_eq!(fixture.world.read_text("a.txt"), TEXT);
    AttackResult::new(tries, "each write a review, none reached the client")
}
