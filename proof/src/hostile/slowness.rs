//! Peers that take for ever: heads, bodies and frames that drip, and answers that nobody takes.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use linkspan_testkit::page_door::{body_lines, link};
use linkspan_testkit::raw::{Request, connect};
use linkspan_testkit::{Agent, DEADLINE};
use serde_json::json;

use super::door::Door;
use super::stage::Stage;
use super::wire::{LAST, Pouring, TEXT, drip, head, open, until_closed};
use super::{Attack, OF_AGENTS, OF_STRANGERS, SMALL, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "slow bodies", doors: "gemini, ppxai, page", run: bodies, ..OF_STRANGERS },
        Attack {
            name: "slow heads",
            doors: "window's port, ppxai's own port, page",
            run: heads,
            ..OF_STRANGERS
        },
        Attack {
            name: "slow frames",
            doors: "claude, nexus3, clio, page's socket",
            config: "[limits]\nheartbeat_seconds = 2\n",
            run: frames,
            ..OF_AGENTS
        },
        Attack {
            name: "slow on the hub's socket",
            doors: "the hub's socket",
            run: own_socket,
            ..OF_STRANGERS
        },
        Attack {
            name: "answers that nobody takes",
            doors: "claude, nexus3, ppxai, the hub's socket",
            config: SMALL,
            run: unread,
            ..OF_AGENTS
        },
    ]
}

const PAUSE: Duration = Duration::from_millis(250);

/// Runs all of them at once, and has others served meanwhile.
fn all_at_once<T: Send>(stage: &mut Stage, work: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    thread::scope(|scope| {
        let workers: Vec<_> = work.into_iter().map(|work| scope.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            stage.others_are_served();
            thread::sleep(PAUSE);
        }
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.map(|ended| ended.unwrap_or_else(|why| std::panic::resume_unwind(why))).collect()
    })
}

fn heads(stage: &mut Stage) -> Seen {
    let each = stage.so_many(8, 60);
    let requests: Vec<Request> = Door::PORTS.iter().map(|door| door.request(stage)).collect();
    let many = requests.len() * each;
    let drips = (0..many).map(|number| {
        let request = requests[number % requests.len()].clone();
        move || {
            let mut stream = connect(request.port);
            // Some have begun, some have said all but the last line, some say nothing.
            let said = [
                request.text().chars().take(20).collect(),
                request.text().trim_end().to_owned(),
                String::new(),
            ];
            let _ = stream.write_all(said[number % said.len()].as_bytes());
            drip(&mut stream, b"\r\nX-A: b", PAUSE, DEADLINE)
        }
    });
    let took = all_at_once(stage, drips.collect());
    let longest = took.into_iter().map(|took| took.expect("a slow head is waited for")).max().unwrap();
    Seen::new(many, format!("each closed within {longest:.1?}; others are answered meanwhile"))
}

fn bodies(stage: &mut Stage) -> Seen {
    let (port, secret) = link(&stage.world);
    let body = json!({ "secret": secret }).to_string();
    let page = Request { port, first: "POST /session HTTP/1.1".into(), lines: body_lines(port, &body), body };
    let agents = [Door::Gemini, Door::Ppxai, Door::WellKnown].map(|door| door.request(stage));
    // Theirs have a minute.
    let (all, mut requests) = (stage.all, vec![page]);
    if all {
        requests.extend(agents.clone());
    } else {
        // Held, and let go without a word.
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
    let took = all_at_once(stage, drips.collect());
    let longest = took.into_iter().map(|took| took.expect("a slow body is waited for")).max().unwrap();
    let minute = if all { "" } else { "; that an agent's ends after a minute is tried with `--all`" };
    Seen::new(tries, format!("closed within {longest:.1?}{minute}"))
}

/// A frame that drips cannot be interrupted to answer a ping, so its sender is given up by heartbeat.
fn frames(stage: &mut Stage) -> Seen {
    let doors = [Door::Claude, Door::Nexus3, Door::Clio, Door::PageSocket];
    let requests: Vec<Request> = doors.iter().map(|door| door.request(stage)).collect();
    let drips = requests.into_iter().map(|request| {
        move || {
            let mut stream = open(&request);
            stream.write_all(&head(LAST | TEXT, 100_000)).unwrap();
            drip(&mut stream, b" ", PAUSE, DEADLINE)
        }
    });
    let took = all_at_once(stage, drips.collect());
    let longest = took.into_iter().map(|took| took.expect("a slow frame is waited for")).max().unwrap();
    Seen::new(doors.len(), format!("given up by heartbeat (here 2 s) within {longest:.1?}"))
}

fn own_socket(stage: &mut Stage) -> Seen {
    let many = stage.so_many(60, 400);
    let path = stage.world.socket();
    let mut held: Vec<UnixStream> = (0..many).map(|_| UnixStream::connect(&path).unwrap()).collect();
    for (number, stream) in held.iter_mut().enumerate() {
        let said = ["", "Content-Le", "Content-Length: 100000000\r\n\r\n{", "Content-Length: 50\r\n"];
        stream.write_all(said[number % said.len()].as_bytes()).unwrap();
    }
    let rounds = stage.so_many(8, 40);
    for _ in 0..rounds {
        for stream in &mut held {
            let _ = stream.write_all(b" ");
        }
        stage.others_are_served();
        thread::sleep(PAUSE / 4);
    }
    stage.newcomers_are_served();
    Seen::new(many, "they wait for themselves only: others are answered meanwhile")
}

/// Asks and asks and reads nothing, with all the room that the kernel gives.
fn unread(stage: &mut Stage) -> Seen {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let mut tries = 0;
    for door in [Door::Claude, Door::Nexus3] {
        let mut agent = open(&door.request(stage));
        let frame = super::wire::frame(LAST | TEXT, list.as_bytes());
        tries += pour(&mut agent, &frame, stage);
    }
    let mut kept = connect(stage.port);
    let call = Door::Ppxai.request(stage).without("Connection").text();
    tries += pour(&mut kept, call.as_bytes(), stage);
    let mut local = UnixStream::connect(stage.world.socket()).unwrap();
    local.set_nonblocking(true).unwrap();
    let status = json!({ "jsonrpc": "2.0", "id": 1, "method": "hub/status", "params": {} }).to_string();
    let framed = linkspan_editor_api::encode(status.as_bytes());
    let many = framed.repeat(50);
    let mut pouring = Pouring::of(&many);
    for round in 0..200 {
        if pouring.pour(&mut local).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        if round % 20 == 0 {
            stage.others_are_served();
        }
    }
    tries += pouring.taken / framed.len();
    let mut reader = Agent::claude(&stage.world, stage.port);
    reader.is_served();
    drop(until_closed(&mut kept, Duration::from_millis(10)));
    Seen::new(tries, "no more is read from it than it takes, or it is let go")
}

/// For a moment, as many of these messages as are taken; gives how many that were.
fn pour(stream: &mut TcpStream, message: &[u8], stage: &mut Stage) -> usize {
    stream.set_nonblocking(true).unwrap();
    let many = message.repeat(50);
    let (mut pouring, begun) = (Pouring::of(&many), std::time::Instant::now());
    while begun.elapsed() < Duration::from_secs(if stage.all { 15 } else { 2 }) {
        match pouring.pour(stream) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(20));
                stage.others_are_served();
            }
            Err(_) => break,
        }
    }
    stream.set_nonblocking(false).unwrap();
    pouring.taken / message.len()
}
