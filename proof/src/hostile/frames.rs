//! WebSocket frames that never end, declare huge lengths, or are invalid.

use std::io::{Error, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use linkspan_testkit::DEADLINE;
use linkspan_testkit::raw_http::{Request, status};

use super::endpoint::HubEndpoint;
use super::fixture::AttackFixture;
use super::raw_socket::{
    BINARY, CLOSE, CONTINUE, LAST, PING, PONG, RepeatedWrite, TEXT, close_code, frame, head, open,
    until_closed,
};
use super::{Attack, AttackResult, BY_AGENTS, SMALL};

pub(super) fn attacks() -> Vec<Attack> {
    let endpoints = "claude, nexus3, clio, page's socket";
    vec![
        Attack { name: "endless fragments", endpoints, config: SMALL, run: fragments, ..BY_AGENTS },
        Attack { name: "huge declared lengths", endpoints, run: declared, ..BY_AGENTS },
        Attack { name: "invalid frames", endpoints, run: not_allowed, ..BY_AGENTS },
        Attack {
            name: "many unfinished messages",
            endpoints: "clio, ppxai, gemini",
            bound: BOUND_OF_MANY,
            run: unfinished,
            ..BY_AGENTS
        },
        Attack {
            name: "many large messages",
            endpoints: "clio",
            bound: BOUND_OF_MANY,
            run: large,
            ..BY_AGENTS
        },
        Attack {
            name: "ping and control frame floods",
            endpoints,
            config: SMALL,
            run: control_frames,
            ..BY_AGENTS
        },
    ]
}

const ENDPOINTS: [HubEndpoint; 4] =
    [HubEndpoint::Claude, HubEndpoint::Nexus3, HubEndpoint::Clio, HubEndpoint::PageSocket];

/// Closed with this code, which gives the reason.
#[track_caller]
fn is_closed(stream: &mut TcpStream, code: u16, what: &str) {
    // No more will be sent, so the hub need not wait for it.
    let _ = stream.shutdown(Shutdown::Write);
    let said = until_closed(stream, DEADLINE).unwrap_or_else(|| panic!("{what}: it is not closed"));
    assert_eq!(close_code(&said), Some(code), "{what}");
}

/// With `SMALL`: an agent's message, and from a page the largest file in its longest encoding.
fn largest(endpoint: HubEndpoint) -> usize {
    let mib = if endpoint == HubEndpoint::PageSocket { 4 } else { 1 };
    mib << 20
}

fn fragments(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in ENDPOINTS {
        for size in [0, 8, 1_000, 65_536] {
            let mut stream = open(&endpoint.request(fixture));
            let piece = frame(CONTINUE, &vec![b'x'; size]);
            stream.write_all(&frame(TEXT, b"x")).unwrap();
            // Just enough to be too large: after more, only a reset would come back. Empty fragments never are.
            let mut left = if size == 0 { 64 << 20 } else { largest(endpoint).div_ceil(size) };
            let (begun, patience) =
                (Instant::now(), if size == 0 { Duration::from_secs(1) } else { DEADLINE });
            while begun.elapsed() < patience && left > 0 {
                let many = left.min((262_144 / piece.len()).max(1));
                stream.write_all(&piece.repeat(many)).unwrap();
                left -= many;
            }
            if size > 0 {
                assert_eq!(left, 0, "{} pieces of {size} are not read", endpoint.name());
                is_closed(&mut stream, 1009, &format!("{} pieces of {size}", endpoint.name()));
            }
            tries += 1;
        }
        let mut stream = open(&endpoint.request(fixture));
        stream.write_all(&frame(TEXT, b"x")).unwrap();
        let (piece, begun) = (frame(CONTINUE, &[b'x'; 65_536]), Instant::now());
        // A peer that does not stop is not read forever.
        while stream.write_all(&piece).is_ok() {
            assert!(begun.elapsed() < DEADLINE, "{}: it is read forever", endpoint.name());
        }
        tries += 1;
        fixture.assert_bystanders_served();
    }
    AttackResult::new(tries, "1009 once `message_mib` is reached; smaller ones take long and no memory")
}

fn declared(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in ENDPOINTS {
        for length in [(64 << 20) + 1, 1 << 31, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, u64::MAX] {
            let mut stream = open(&endpoint.request(fixture));
            let _ = stream.write_all(&head(LAST | TEXT, length));
            let _ = stream.write_all(b"{");
            // A page may send larger messages: the largest is the user's own version of a file.
            if endpoint != HubEndpoint::PageSocket || length > 1 << 30 {
                is_closed(&mut stream, 1009, &format!("{} {length}", endpoint.name()));
            }
            tries += 1;
        }
    }
    // Permitted, declared by many, and never sent: no memory is reserved for bytes that did not arrive.
    let many = fixture.amount(100, 200);
    let held: Vec<TcpStream> = (0..many)
        .map(|_| {
            let mut stream = open(&HubEndpoint::Clio.request(fixture));
            stream.write_all(&head(LAST | TEXT, 60 << 20)).unwrap();
            stream.write_all(b"{").unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    fixture.assert_bystanders_served();
    drop(held);
    AttackResult::new(tries + many, "1009 at once; no memory is reserved for a declared length")
}

fn not_allowed(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    let unmasked = b"\x81\x01x".to_vec();
    let long_control = frame(LAST | PING, &[b'x'; 126]);
    let cases = [
        ("a continuation of nothing", frame(LAST | CONTINUE, b"x"), 1002),
        ("a second beginning", [frame(TEXT, b"x"), frame(TEXT, b"x")].concat(), 1002),
        ("an unmasked frame", unmasked, 1002),
        ("reserved bits", frame(LAST | 0x20 | TEXT, b"x"), 1002),
        ("a reserved kind", frame(LAST | 0x3, b"x"), 1002),
        ("a reserved control", frame(LAST | 0xb, b"x"), 1002),
        ("a control in pieces", frame(PING, b"x"), 1002),
        ("a long control", long_control, 1002),
        ("a close code of one byte", frame(LAST | CLOSE, b"x"), 1002),
        ("an invalid close code", frame(LAST | CLOSE, &[0, 1]), 1002),
        ("invalid UTF-8", frame(LAST | TEXT, b"\"\xff\""), 1007),
        ("a surrogate", frame(LAST | TEXT, b"\xed\xa0\x80"), 1007),
        ("invalid UTF-8, split", [frame(TEXT, b"\xe2\x82"), frame(LAST | CONTINUE, b"x")].concat(), 1007),
        ("invalid UTF-8 in a close", frame(LAST | CLOSE, b"\x03\xe8\xff"), 1007),
    ];
    for endpoint in ENDPOINTS {
        for (what, bytes, code) in &cases {
            let mut stream = open(&endpoint.request(fixture));
            stream.write_all(bytes).unwrap();
            is_closed(&mut stream, *code, &format!("{} {what}", endpoint.name()));
            tries += 1;
        }
    }
    AttackResult::new(tries, "1002 or 1007, for that connection only")
}

/// Four of the largest messages, which are 64 MiB each, and the rest of the hub.
const BOUND_OF_MANY: u64 = 400;

/// The limit of all unfinished messages: four of the default `message_mib`.
const LIMIT: usize = 4 * (64 << 20);
const LARGE: usize = 44 << 20;
const PART: usize = 40 << 20;

/// A peer that is silent for this long waits, or is being waited for.
const MOMENT: Duration = Duration::from_secs(1);

/// Sends part of a large message; returns whether the hub took all of it.
fn begin(fixture: &AttackFixture) -> (TcpStream, bool) {
    let mut stream = open(&HubEndpoint::Clio.request(fixture));
    stream.write_all(&head(LAST | BINARY, LARGE as u64)).unwrap();
    let taken = stream.write_all(&vec![b'x'; PART]).is_ok();
    (stream, taken)
}

fn says_something(stream: &mut TcpStream, patience: Duration) -> bool {
    stream.set_read_timeout(Some(patience)).unwrap();
    let waits = |error: &Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    !stream.peek(&mut [0]).as_ref().is_err_and(waits)
}

/// All connections together take no more than the limit, and those within it are served.
fn unfinished(fixture: &mut AttackFixture) -> AttackResult {
    let many = fixture.amount(10, 40);
    let mut held = Vec::new();
    for number in 0..many {
        let (mut stream, taken) = begin(fixture);
        // One that may be refused gets time for that.
        let fits = (number + 1) * PART <= LIMIT;
        if taken && !says_something(&mut stream, if fits { MOMENT } else { DEADLINE }) {
            held.push(stream);
        } else {
            assert!(!fits, "the limit permits {number} and one more");
        }
    }
    assert!(held.len() * PART <= LIMIT, "{} are held", held.len());
    let (mut stream, _) = begin(fixture);
    let said = until_closed(&mut stream, DEADLINE).expect("it is not closed");
    assert_eq!(close_code(&said), Some(1013), "it may retry later");
    for endpoint in [HubEndpoint::Gemini, HubEndpoint::Ppxai] {
        let declared = endpoint.request(fixture).with(format!("Content-Length: {LARGE}"));
        let said = Request { body: " ".repeat(PART), ..declared }.send();
        // Bytes in transit turn the close into a reset, which may lose the answer.
        assert!(said.is_empty() || status(&said) == 503, "{}: {said}", endpoint.name());
    }
    assert_eq!(fixture.refused("noRoom"), 2);
    let now = fixture.memory.now();
    fixture.assert_bystanders_served();
    // A message that is completed is handled, and its memory released.
    let (together, mut first) = (held.len(), held.remove(0));
    first.write_all(&vec![b'x'; LARGE - PART]).unwrap();
    assert!(says_something(&mut first, DEADLINE), "no answer");
    let (mut stream, taken) = begin(fixture);
    assert!(taken && !says_something(&mut stream, MOMENT), "no memory was released");
    let seen = format!("{together} at once take {now} MB; more are refused until later (1013 or 503)");
    AttackResult::new(many + 4, seen)
}

/// A message that was handled takes no memory, however long its connection stays open.
fn large(fixture: &mut AttackFixture) -> AttackResult {
    let many = fixture.amount(8, 40);
    let bytes = vec![b'x'; PART];
    let whole = frame(LAST | BINARY, &bytes);
    let pieces = [frame(BINARY, b"x"), frame(CONTINUE, &bytes), frame(LAST | CONTINUE, b"x")].concat();
    let held: Vec<TcpStream> = (0..many)
        .map(|number| {
            let mut stream = open(&HubEndpoint::Clio.request(fixture));
            stream.write_all(if number % 2 == 0 { &whole } else { &pieces }).unwrap();
            assert!(says_something(&mut stream, DEADLINE), "no answer");
            stream
        })
        .collect();
    fixture.assert_bystanders_served();
    let now = fixture.memory.now();
    assert!(now < 100, "{now} MB are kept for {many} idle connections");
    drop(held);
    AttackResult::new(many, format!("{now} MB once they are handled"))
}

fn control_frames(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    let long = fixture.amount(1_500, 10_000);
    for endpoint in ENDPOINTS {
        for (first, size) in [(LAST | PING, 125), (LAST | PONG, 0), (LAST | BINARY, 1), (LAST | TEXT, 0)] {
            let mut stream = open(&endpoint.request(fixture));
            stream.set_nonblocking(true).unwrap();
            let one = frame(first, &vec![b'x'; size]);
            let many = one.repeat(500);
            let (mut writes, begun) = (RepeatedWrite::of(&many), Instant::now());
            // Does not read any answer.
            while begun.elapsed() < Duration::from_millis(long as u64 / 4) {
                match writes.write_some(&mut stream) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Err(_) => break,
                }
            }
            tries += writes.taken / one.len();
            fixture.assert_bystanders_served();
        }
    }
    AttackResult::new(tries, "slowed down or disconnected; others are served in the meantime")
}
