//! WebSocket frames that never end, claim to be huge, or are not allowed.

use std::io::{Error, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use linkspan_testkit::DEADLINE;
use linkspan_testkit::raw::{Request, status};

use super::door::Door;
use super::stage::Stage;
use super::wire::{
    BINARY, CLOSE, CONTINUE, LAST, PING, PONG, Pouring, TEXT, close_code, frame, head, open, until_closed,
};
use super::{Attack, OF_AGENTS, SMALL, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    let doors = "claude, nexus3, clio, page's socket";
    vec![
        Attack { name: "fragments without end", doors, config: SMALL, run: fragments, ..OF_AGENTS },
        Attack { name: "huge declared lengths", doors, run: declared, ..OF_AGENTS },
        Attack { name: "frames that are not allowed", doors, run: not_allowed, ..OF_AGENTS },
        Attack {
            name: "many unfinished messages",
            doors: "clio, ppxai, gemini",
            bound: BOUND_OF_MANY,
            run: unfinished,
            ..OF_AGENTS
        },
        Attack { name: "many large messages", doors: "clio", bound: BOUND_OF_MANY, run: large, ..OF_AGENTS },
        Attack {
            name: "ping and control frame floods",
            doors,
            config: SMALL,
            run: control_frames,
            ..OF_AGENTS
        },
    ]
}

const DOORS: [Door; 4] = [Door::Claude, Door::Nexus3, Door::Clio, Door::PageSocket];

/// With this code, by which it is known why.
#[track_caller]
fn is_closed(stream: &mut TcpStream, code: u16, what: &str) {
    // Nothing more is coming, so that the hub need not wait for it.
    let _ = stream.shutdown(Shutdown::Write);
    let said = until_closed(stream, DEADLINE).unwrap_or_else(|| panic!("{what}: it is not closed"));
    assert_eq!(close_code(&said), Some(code), "{what}");
}

/// With `SMALL`: an agent's message, and from a page the largest file in the longest way to write it.
fn largest(door: Door) -> usize {
    let mib = if door == Door::PageSocket { 4 } else { 1 };
    mib << 20
}

fn fragments(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in DOORS {
        for size in [0, 8, 1_000, 65_536] {
            let mut stream = open(&door.request(stage));
            let piece = frame(CONTINUE, &vec![b'x'; size]);
            stream.write_all(&frame(TEXT, b"x")).unwrap();
            // Just so many that it is too large: of more, a reset would be all that comes back. Empty ones never are.
            let mut left = if size == 0 { 64 << 20 } else { largest(door).div_ceil(size) };
            let (begun, patience) = (Instant::now(), if size == 0 { DEADLINE / 10 } else { DEADLINE });
            while begun.elapsed() < patience && left > 0 {
                let many = left.min((262_144 / piece.len()).max(1));
                stream.write_all(&piece.repeat(many)).unwrap();
                left -= many;
            }
            if size > 0 {
                assert_eq!(left, 0, "{} pieces of {size} are not read", door.name());
                is_closed(&mut stream, 1009, &format!("{} pieces of {size}", door.name()));
            }
            tries += 1;
        }
        let mut stream = open(&door.request(stage));
        stream.write_all(&frame(TEXT, b"x")).unwrap();
        let (piece, begun) = (frame(CONTINUE, &[b'x'; 65_536]), Instant::now());
        // Whoever does not stop is not listened to.
        while stream.write_all(&piece).is_ok() {
            assert!(begun.elapsed() < DEADLINE, "{}: it goes on and is read for ever", door.name());
        }
        tries += 1;
        stage.others_are_served();
    }
    Seen::new(tries, "1009 once `message_mib` is reached; what is smaller takes long and fills nothing")
}

fn declared(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in DOORS {
        for length in [(64 << 20) + 1, 1 << 31, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, u64::MAX] {
            let mut stream = open(&door.request(stage));
            let _ = stream.write_all(&head(LAST | TEXT, length));
            let _ = stream.write_all(b"{");
            // What an open page may send is less: its largest is a person's own version of a file.
            if door != Door::PageSocket || length > 1 << 30 {
                is_closed(&mut stream, 1009, &format!("{} {length}", door.name()));
            }
            tries += 1;
        }
    }
    // Allowed, announced by many, and never sent: room is not made for what did not come.
    let many = stage.so_many(100, 200);
    let held: Vec<TcpStream> = (0..many)
        .map(|_| {
            let mut stream = open(&Door::Clio.request(stage));
            stream.write_all(&head(LAST | TEXT, 60 << 20)).unwrap();
            stream.write_all(b"{").unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    stage.others_are_served();
    drop(held);
    Seen::new(tries + many, "1009 at once; no room is made for what was only announced")
}

fn not_allowed(stage: &mut Stage) -> Seen {
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
        ("a close code that is none", frame(LAST | CLOSE, &[0, 1]), 1002),
        ("no UTF-8", frame(LAST | TEXT, b"\"\xff\""), 1007),
        ("a surrogate", frame(LAST | TEXT, b"\xed\xa0\x80"), 1007),
        ("no UTF-8, split", [frame(TEXT, b"\xe2\x82"), frame(LAST | CONTINUE, b"x")].concat(), 1007),
        ("no UTF-8 in a close", frame(LAST | CLOSE, b"\x03\xe8\xff"), 1007),
    ];
    for door in DOORS {
        for (what, bytes, code) in &cases {
            let mut stream = open(&door.request(stage));
            stream.write_all(bytes).unwrap();
            is_closed(&mut stream, *code, &format!("{} {what}", door.name()));
            tries += 1;
        }
    }
    Seen::new(tries, "1002 or 1007, for that connection only")
}

/// Four of the largest messages, which are 64 MiB each, and what a hub takes besides.
const BOUND_OF_MANY: u64 = 400;

/// What all that is unfinished may take: four messages of the default `message_mib`.
const ROOM: usize = 4 * (64 << 20);
const LARGE: usize = 44 << 20;
const PART: usize = 40 << 20;

/// Who is silent for so long is waited for, or waits for more.
const MOMENT: Duration = Duration::from_secs(1);

/// Sends a part of a large message; whether the hub took all of that.
fn begin(stage: &Stage) -> (TcpStream, bool) {
    let mut stream = open(&Door::Clio.request(stage));
    stream.write_all(&head(LAST | BINARY, LARGE as u64)).unwrap();
    let taken = stream.write_all(&vec![b'x'; PART]).is_ok();
    (stream, taken)
}

fn says_something(stream: &mut TcpStream, patience: Duration) -> bool {
    stream.set_read_timeout(Some(patience)).unwrap();
    let waits = |error: &Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    !stream.peek(&mut [0]).as_ref().is_err_and(waits)
}

/// Over all connections they fill so much and no more, and whoever keeps to that is served.
fn unfinished(stage: &mut Stage) -> Seen {
    let many = stage.so_many(10, 40);
    let mut held = Vec::new();
    for number in 0..many {
        let (mut stream, taken) = begin(stage);
        // One that may be told no is given time for that.
        let fits = (number + 1) * PART <= ROOM;
        if taken && !says_something(&mut stream, if fits { MOMENT } else { DEADLINE }) {
            held.push(stream);
        } else {
            assert!(!fits, "there is room for {number} and one more");
        }
    }
    assert!(held.len() * PART <= ROOM, "{} are held", held.len());
    let (mut stream, _) = begin(stage);
    let said = until_closed(&mut stream, DEADLINE).expect("it is not closed");
    assert_eq!(close_code(&said), Some(1013), "it is told that it may come later");
    for door in [Door::Gemini, Door::Ppxai] {
        let declared = door.request(stage).with(format!("Content-Length: {LARGE}"));
        let said = Request { body: " ".repeat(PART), ..declared }.send();
        // Bytes that were on their way make a reset of the close; the answer may be lost by it.
        assert!(said.is_empty() || status(&said) == 503, "{}: {said}", door.name());
    }
    assert_eq!(stage.refused("noRoom"), 2);
    let now = stage.memory.now();
    stage.others_are_served();
    // Whoever goes on is heard, and makes room.
    let (together, mut first) = (held.len(), held.remove(0));
    first.write_all(&vec![b'x'; LARGE - PART]).unwrap();
    assert!(says_something(&mut first, DEADLINE), "no answer");
    let (mut stream, taken) = begin(stage);
    assert!(taken && !says_something(&mut stream, MOMENT), "no room was made");
    let seen = format!("{together} at once fill {now} MB; more are told to come later (1013 or 503)");
    Seen::new(many + 4, seen)
}

/// A message that was heard takes no room any more, however long its connection stays.
fn large(stage: &mut Stage) -> Seen {
    let many = stage.so_many(8, 40);
    let bytes = vec![b'x'; PART];
    let whole = frame(LAST | BINARY, &bytes);
    let pieces = [frame(BINARY, b"x"), frame(CONTINUE, &bytes), frame(LAST | CONTINUE, b"x")].concat();
    let held: Vec<TcpStream> = (0..many)
        .map(|number| {
            let mut stream = open(&Door::Clio.request(stage));
            stream.write_all(if number % 2 == 0 { &whole } else { &pieces }).unwrap();
            assert!(says_something(&mut stream, DEADLINE), "no answer");
            stream
        })
        .collect();
    stage.others_are_served();
    let now = stage.memory.now();
    assert!(now < 100, "{now} MB are kept for {many} connections that say nothing");
    drop(held);
    Seen::new(many, format!("{now} MB once they are heard"))
}

fn control_frames(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    let long = stage.so_many(1_500, 10_000);
    for door in DOORS {
        for (first, size) in [(LAST | PING, 125), (LAST | PONG, 0), (LAST | BINARY, 1), (LAST | TEXT, 0)] {
            let mut stream = open(&door.request(stage));
            stream.set_nonblocking(true).unwrap();
            let one = frame(first, &vec![b'x'; size]);
            let many = one.repeat(500);
            let (mut pouring, begun) = (Pouring::of(&many), Instant::now());
            // Reads nothing of what it is answered.
            while begun.elapsed() < Duration::from_millis(long as u64 / 4) {
                match pouring.pour(&mut stream) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Err(_) => break,
                }
            }
            tries += pouring.taken / one.len();
            stage.others_are_served();
        }
    }
    Seen::new(tries, "slowed down or let go; others are answered meanwhile")
}
