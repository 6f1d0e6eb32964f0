//! Too many of everything: connections, refused requests, messages, proposals.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use linkspan_testkit::Agent;
use linkspan_testkit::agent::diff;
use linkspan_testkit::gemini::Gemini;
use linkspan_testkit::raw::status;
use serde_json::json;

use super::door::Door;
use super::stage::Stage;
use super::tokens::is_refused;
use super::{Attack, OF_AGENTS, OF_STRANGERS, PATIENT, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack {
            name: "connection flood",
            doors: "window's port, ppxai's own port, page, the hub's socket",
            run: connections,
            ..OF_STRANGERS
        },
        Attack { name: "flood of refused requests", doors: "all TCP doors", run: refused, ..OF_STRANGERS },
        Attack { name: "message flood", doors: "claude, nexus3", run: messages, ..OF_AGENTS },
        Attack { name: "proposal flood", doors: "claude", config: PATIENT, run: proposals, ..OF_AGENTS },
        Attack { name: "session flood", doors: "gemini", run: sessions, ..OF_AGENTS },
    ]
}

/// More than any door has places, held for as long as the hub lets them.
fn connections(stage: &mut Stage) -> Seen {
    let each = stage.so_many(300, 1_500);
    let mut held: Vec<TcpStream> = Vec::new();
    let mut tries = 0;
    for door in Door::PORTS {
        let port = door.port(stage);
        for number in 0..each {
            held.extend(TcpStream::connect(("127.0.0.1", port)));
            if number % 200 == 0 {
                stage.others_are_served();
            }
        }
        tries += each;
    }
    stage.others_are_served();
    let path = stage.world.socket();
    let local: Vec<UnixStream> = (0..each / 2).filter_map(|_| UnixStream::connect(&path).ok()).collect();
    stage.others_are_served();
    tries += local.len();
    // Those who say nothing make room within their time for a head.
    let took = stage.newcomers_are_served();
    drop((held, local));
    Seen::new(
        tries,
        format!("who was there goes on; newcomers are let in when the silent are cut off: after {took:.1?}"),
    )
}

fn refused(stage: &mut Stage) -> Seen {
    let each = stage.so_many(150, 3_000);
    let before = stage.refusals();
    for door in Door::ALL {
        let request = door.request(stage).with("Host: evil.example");
        for _ in 0..each {
            is_refused(&request, &[421], door.name());
        }
        stage.others_are_served();
    }
    let tries = each * Door::ALL.len();
    let counted = stage.refusals() - before;
    assert_eq!(counted, tries as u64, "every one is counted");
    let logged = stage.world.log().matches("refused a connection: wrongHost").count();
    assert!((1..20).contains(&logged), "{logged} lines in the log");
    Seen::new(tries, format!("421, each counted, {logged} lines in the log"))
}

fn messages(stage: &mut Stage) -> Seen {
    let many = stage.so_many(10_000, 200_000);
    let port = stage.port;
    for connect in [Agent::claude, Agent::nexus3] {
        let mut agent = connect(&stage.world, port);
        let note =
            json!({ "jsonrpc": "2.0", "method": "no/such", "params": { "x": "y".repeat(200) } }).to_string();
        thread::scope(|scope| {
            let sending = scope.spawn(move || {
                for _ in 0..many {
                    agent.send_text(note.as_str());
                }
                agent
            });
            while !sending.is_finished() {
                stage.others_are_served();
                thread::sleep(Duration::from_millis(50));
            }
            sending.join().unwrap().drop_socket();
        });
    }
    Seen::new(2 * many, "slowed down to `messages_per_second`; others are answered meanwhile")
}

/// Every change takes memory until it is decided: only so many may wait.
fn proposals(stage: &mut Stage) -> Seen {
    let (many, text) = (stage.so_many(400, 2_000), "y\n".repeat(10_000));
    let path = stage.world.file("a.txt", "one\n");
    let mut agent = Agent::claude(&stage.world, stage.port);
    for number in 0..many {
        agent.send_call("openDiff", diff(&path, &format!("{number}\n{text}"), &format!("tab {number}")));
    }
    let mut refused = 0;
    while refused < many - 256 {
        let answer = agent.next_frame(Duration::from_secs(20)).expect("each over the limit is answered");
        assert!(answer["error"]["message"].as_str().is_some_and(|said| said.contains("256")), "{answer}");
        refused += 1;
    }
    stage.others_are_served();
    let pending = stage.world.pending(256).len();
    agent.send_call("closeAllDiffTabs", json!({}));
    stage.world.pending(0);
    agent.goodbye();
    assert_eq!(stage.world.read_text("a.txt"), "one\n");
    Seen::new(many, format!("{pending} wait, {refused} are told that these are too many"))
}

/// Whoever holds the token can begin as many as it likes: they take no place of those who listen or wait.
fn sessions(stage: &mut Stage) -> Seen {
    let many = stage.so_many(400, 3_000);
    let hello = Door::Gemini.request(stage);
    let mut begun = Vec::new();
    for number in 0..many {
        let said = hello.send();
        assert_eq!(status(&said), 200, "{said}");
        let id = said.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        begun.push(id.unwrap().to_owned());
        if number % 100 == 0 {
            stage.others_are_served();
        }
    }
    let kept = many - stage.world.log().matches("(attacker) left").count();
    assert!(kept <= 256, "{kept} sessions are kept");
    let took = stage.newcomers_are_served();
    assert!(took < Duration::from_secs(10), "newcomers had to wait for the flood to go: {took:?}");
    let mut gemini = Gemini::find(&stage.world, stage.port);
    for session in [begun.first(), begun.last()] {
        gemini.session = session.cloned();
        assert_eq!(gemini.delete().status, 200, "whoever had to go may come back");
    }
    Seen::new(many, format!("all begun, {kept} kept; newcomers by every door are let in after {took:.1?}"))
}
