//! Too many of everything: connections, refused requests, messages, proposals.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use linkspan_testkit::Agent;
use linkspan_testkit::agent::diff;
use linkspan_testkit::gemini::Gemini;
use linkspan_testkit::raw_http::status;
use serde_json::json;

use super::endpoint::HubEndpoint;
use super::fixture::AttackFixture;
use super::tokens::is_refused;
use super::{Attack, AttackResult, BY_AGENTS, BY_STRANGERS, PATIENT};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack {
            name: "connection flood",
            endpoints: "window's port, ppxai's own port, page, the hub's socket",
            run: connections,
            ..BY_STRANGERS
        },
        Attack {
            name: "flood of refused requests",
            endpoints: "all endpoints",
            run: refused,
            ..BY_STRANGERS
        },
        Attack { name: "message flood", endpoints: "claude, nexus3", run: messages, ..BY_AGENTS },
        Attack { name: "proposal flood", endpoints: "claude", config: PATIENT, run: proposals, ..BY_AGENTS },
        Attack { name: "session flood", endpoints: "gemini", run: sessions, ..BY_AGENTS },
    ]
}

/// More connections than any port accepts, kept open for as long as the hub permits.
fn connections(fixture: &mut AttackFixture) -> AttackResult {
    let each = fixture.amount(300, 1_500);
    let mut held: Vec<TcpStream> = Vec::new();
    let mut tries = 0;
    for endpoint in HubEndpoint::PORTS {
        let port = endpoint.port(fixture);
        for number in 0..each {
            held.extend(TcpStream::connect(("127.0.0.1", port)));
            if number % 200 == 0 {
                fixture.assert_bystanders_served();
            }
        }
        tries += each;
    }
    fixture.assert_bystanders_served();
    let path = fixture.world.socket();
    let local: Vec<UnixStream> = (0..each / 2).filter_map(|_| UnixStream::connect(&path).ok()).collect();
    fixture.assert_bystanders_served();
    tries += local.len();
    // Silent connections are closed when their time for a head is over.
    let took = fixture.assert_newcomers_admitted();
    drop((held, local));
    AttackResult::new(
        tries,
        format!(
            "connected clients are served; newcomers are admitted when silent connections are closed: after {took:.1?}"
        ),
    )
}

fn refused(fixture: &mut AttackFixture) -> AttackResult {
    let each = fixture.amount(150, 3_000);
    let before = fixture.refusals();
    for endpoint in HubEndpoint::ALL {
        let request = endpoint.request(fixture).with("Host: evil.example");
        for _ in 0..each {
            is_refused(&request, &[421], endpoint.name());
        }
        fixture.assert_bystanders_served();
    }
    let tries = each * HubEndpoint::ALL.len();
    let counted = fixture.refusals() - before;
    assert_eq!(counted, tries as u64, "every one is counted");
    let logged = fixture.world.log().matches("refused a connection: wrongHost").count();
    assert!((1..20).contains(&logged), "{logged} lines in the log");
    AttackResult::new(tries, format!("421, each counted, {logged} lines in the log"))
}

fn messages(fixture: &mut AttackFixture) -> AttackResult {
    let many = fixture.amount(10_000, 200_000);
    let port = fixture.port;
    for connect in [Agent::claude, Agent::nexus3] {
        let mut agent = connect(&fixture.world, port);
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
                fixture.assert_bystanders_served();
                thread::sleep(Duration::from_millis(50));
            }
            sending.join().unwrap().drop_socket();
        });
    }
    AttackResult::new(2 * many, "slowed down to `messages_per_second`; others are served in the meantime")
}

/// Every change takes memory until it is decided: their number is limited.
fn proposals(fixture: &mut AttackFixture) -> AttackResult {
    let (many, text) = (fixture.amount(400, 2_000), "y\n".repeat(10_000));
    let path = fixture.world.file("a.txt", "one\n");
    let mut agent = Agent::claude(&fixture.world, fixture.port);
    for number in 0..many {
        agent.send_call("openDiff", diff(&path, &format!("{number}\n{text}"), &format!("tab {number}")));
    }
    let mut refused = 0;
    while refused < many - 256 {
        let answer = agent.next_frame(Duration::from_secs(20)).expect("each over the limit is answered");
        // 256 may be pending; while their files are still being read, 512 calls may be open.
        let says = |limit| answer["error"]["message"].as_str().is_some_and(|said| said.contains(limit));
        assert!(says("256") || says("512"), "{answer}");
        refused += 1;
    }
    fixture.assert_bystanders_served();
    let pending = fixture.world.pending(256).len();
    agent.send_call("closeAllDiffTabs", json!({}));
    fixture.world.pending(0);
    agent.goodbye();
    assert_eq!(fixture.world.read_text("a.txt"), "one\n");
    AttackResult::new(many, format!("{pending} pending, {refused} refused as too many"))
}

/// A client with the token can begin as many sessions as it likes: they take no slot of those that listen or wait.
fn sessions(fixture: &mut AttackFixture) -> AttackResult {
    let many = fixture.amount(400, 3_000);
    let hello = HubEndpoint::Gemini.request(fixture);
    let mut begun = Vec::new();
    for number in 0..many {
        let said = hello.send();
        assert_eq!(status(&said), 200, "{said}");
        let id = said.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        begun.push(id.unwrap().to_owned());
        if number % 100 == 0 {
            fixture.assert_bystanders_served();
        }
    }
    let kept = many - fixture.world.log().matches("(attacker) left").count();
    assert!(kept <= 256, "{kept} sessions are kept");
    let took = fixture.assert_newcomers_admitted();
    assert!(took < Duration::from_secs(10), "newcomers had to wait for the end of the flood: {took:?}");
    let mut gemini = Gemini::find(&fixture.world, fixture.port);
    for session in [begun.first(), begun.last()] {
        gemini.session = session.cloned();
        assert_eq!(gemini.delete().status, 200, "an evicted session may come back");
    }
    AttackResult::new(
        many,
        format!("all begun, {kept} kept; newcomers are admitted at every endpoint after {took:.1?}"),
    )
}
