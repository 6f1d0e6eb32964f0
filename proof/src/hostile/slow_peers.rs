//! Peers that take forever: heads, bodies and frames that drip, and answers that are not read.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use linkspan_testkit::page_client::{body_lines, link};
use linkspan_testkit::raw_http::{Request, connect};
use linkspan_testkit::{Agent, DEADLINE};
use serde_json::json;

use super::endpoint::HubEndpoint;
use super::fixture::AttackFixture;
use super::raw_socket::{LAST, RepeatedWrite, TEXT, drip, head, open, until_closed};
use super::{Attack, AttackResult, BY_AGENTS, BY_STRANGERS, SMALL};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "slow bodies", endpoints: "gemini, ppxai, page", run: bodies, ..BY_STRANGERS },
        Attack {
            name: "slow heads",
            endpoints: "window's port, ppxai's own port, page",
            run: heads,
            ..BY_STRANGERS
        },
        Attack {
            name: "slow frames",
            endpoints: "claude, nexus3, clio, page's socket",
            config: "[limits]\nheartbeat_seconds = 2\n",
            run: frames,
            ..BY_AGENTS
        },
        Attack {
            name: "slow on the hub's socket",
            endpoints: "the hub's socket",
            run: own_socket,
            ..BY_STRANGERS
        },
        Attack {
            name: "unread answers",
            endpoints: "claude, nexus3, ppxai, the hub's socket",
            config: SMALL,
            run: unread,
            ..BY_AGENTS
        },
    ]
}

const PAUSE: Duration = Duration::from_millis(250);

/// Runs all of them at once, and checks that others are served in the meantime.
fn all_at_once<T: Send>(fixture: &mut AttackFixture, work: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    thread::scope(|scope| {
        let workers: Vec<_> = work.into_iter().map(|work| scope.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            fixture.assert_bystanders_served();
            thread::sleep(PAUSE);
        }
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.map(|ended| ended.unwrap_or_else(|why| std::panic::resume_unwind(why))).collect()
    })
}

fn heads(fixture: &mut AttackFixture) -> AttackResult {
    let each = fixture.amount(8, 60);
    let requests: Vec<Request> =
        HubEndpoint::PORTS.iter().map(|endpoint| endpoint.request(fixture)).collect();
    let many = requests.len() * each;
    let drips = (0..many).map(|number| {
        let request = requests[number % requests.len()].clone();
        move || {
            let mut stream = connect(request.port);
            // Some have sent a part, some everything but the last line, some nothing.
            let said = [
                request.text().chars().take(20).collect(),
                request.text().trim_end().to_owned(),
                String::new(),
            ];
            let _ = stream.write_all(said[number % said.len()].as_bytes());
            drip(&mut stream, b"\r\nX-A: b", PAUSE, DEADLINE)
        }
    });
    let took = all_at_once(fixture, drips.collect());
    let longest = took.into_iter().map(|took| took.expect("a slow head is waited for")).max().unwrap();
    AttackResult::new(many, format!("each closed within {longest:.1?}; others are served in the meantime"))
}

fn bodies(fixture: &mut AttackFixture) -> AttackResult {
    let (port, secret) = link(&fixture.world);
    let body = json!({ "secret": secret }).to_string();
    let page = Request {
        port,
        socket: None,
        first: "POST /session HTTP/1.1".into(),
        lines: body_lines(port, &body),
        body,
    };
    let agents = [HubEndpoint::Gemini, HubEndpoint::Ppxai, HubEndpoint::PpxaiPort]
        .map(|endpoint| endpoint.request(fixture));
    // An agent's body has a minute.
    let (all, mut requests) = (fixture.all, vec![page]);
    if all {
        requests.extend(agents.clone());
    } else {
        // Opened, and dropped without more.
        for request in &agents {
            let mut stream = connect(request.port);
            let request = request.with("Content-Length: 100000");
            stream.write_all(request.text().as_bytes()).unwrap();
            drop(stream);
        }
    }
    let tries = requests.len() + agents.len();
    let drips = requests.into_iter().map(|request| {
        move || {
            let mut stream = connect(request.port);
            let request = request.with("Content-Length: 900");
            stream.write_all(request.text().as_bytes()).unwrap();
            let patience = if all { Duration::from_secs(70) } else { DEADLINE };
            drip(&mut stream, b" ", PAUSE, patience)
        }
    });
    let took = all_at_once(fixture, drips.collect());
    let longest = took.into_iter().map(|took| took.expect("a slow body is waited for")).max().unwrap();
    let minute = if all { "" } else { "; that an agent's body has a minute is tested with `--all`" };
    AttackResult::new(tries, format!("closed within {longest:.1?}{minute}"))
}

/// A frame that drips cannot be interrupted to answer a ping, so its sender is disconnected by the heartbeat.
fn frames(fixture: &mut AttackFixture) -> AttackResult {
    let endpoints = [HubEndpoint::Claude, HubEndpoint::Nexus3, HubEndpoint::Clio, HubEndpoint::PageSocket];
    let requests: Vec<Request> = endpoints.iter().map(|endpoint| endpoint.request(fixture)).collect();
    let drips = requests.into_iter().map(|request| {
        move || {
            let mut stream = open(&request);
            stream.write_all(&head(LAST | TEXT, 100_000)).unwrap();
            drip(&mut stream, b" ", PAUSE, DEADLINE)
        }
    });
    let took = all_at_once(fixture, drips.collect());
    let longest = took.into_iter().map(|took| took.expect("a slow frame is waited for")).max().unwrap();
    AttackResult::new(
        endpoints.len(),
        format!("disconnected by the heartbeat (here 2 s) within {longest:.1?}"),
    )
}

fn own_socket(fixture: &mut AttackFixture) -> AttackResult {
    let many = fixture.amount(60, 400);
    let path = fixture.world.socket();
    let mut held: Vec<UnixStream> = (0..many).map(|_| UnixStream::connect(&path).unwrap()).collect();
    for (number, stream) in held.iter_mut().enumerate() {
        let said = ["", "Content-Le", "Content-Length: 100000000\r\n\r\n{", "Content-Length: 50\r\n"];
        stream.write_all(said[number % said.len()].as_bytes()).unwrap();
    }
    let rounds = fixture.amount(8, 40);
    for _ in 0..rounds {
        for stream in &mut held {
            let _ = stream.write_all(b" ");
        }
        fixture.assert_bystanders_served();
        thread::sleep(PAUSE / 4);
    }
    fixture.assert_newcomers_admitted();
    AttackResult::new(many, "they only block themselves: others are served in the meantime")
}

/// Sends requests and reads no answer, with all the buffer space that the kernel provides.
fn unread(fixture: &mut AttackFixture) -> AttackResult {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let mut tries = 0;
    for endpoint in [HubEndpoint::Claude, HubEndpoint::Nexus3] {
        let mut agent = open(&endpoint.request(fixture));
        let frame = super::raw_socket::frame(LAST | TEXT, list.as_bytes());
        tries += pour(&mut agent, &frame, fixture);
    }
    let mut kept = connect(fixture.port);
    let call = HubEndpoint::Ppxai.request(fixture).without("Connection").text();
    tries += pour(&mut kept, call.as_bytes(), fixture);
    let mut local = UnixStream::connect(fixture.world.socket()).unwrap();
    local.set_nonblocking(true).unwrap();
    let status = json!({ "jsonrpc": "2.0", "id": 1, "method": "hub/status", "params": {} }).to_string();
    let framed = linkspan_editor_api::encode(status.as_bytes());
    let many = framed.repeat(50);
    let mut writes = RepeatedWrite::of(&many);
    for round in 0..200 {
        if writes.write_some(&mut local).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        if round % 20 == 0 {
            fixture.assert_bystanders_served();
        }
    }
    tries += writes.taken / framed.len();
    let mut reader = Agent::claude(&fixture.world, fixture.port);
    reader.is_served();
    drop(until_closed(&mut kept, Duration::from_millis(10)));
    AttackResult::new(tries, "no more is read from it than it reads, or it is disconnected")
}

/// For a moment, sends as many of these messages as are taken; returns how many that were.
fn pour(stream: &mut TcpStream, message: &[u8], fixture: &mut AttackFixture) -> usize {
    stream.set_nonblocking(true).unwrap();
    let many = message.repeat(50);
    let (mut writes, begun) = (RepeatedWrite::of(&many), std::time::Instant::now());
    while begun.elapsed() < Duration::from_secs(if fixture.all { 15 } else { 2 }) {
        match writes.write_some(stream) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(20));
                fixture.assert_bystanders_served();
            }
            Err(_) => break,
        }
    }
    stream.set_nonblocking(false).unwrap();
    writes.taken / message.len()
}
