//! Regular expressions that would take a core and all memory, from an agent that waits for the answer and from one that
//! leaves at once.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_testkit::ppxai;
use serde_json::{Value, json};

use super::door::Door;
use super::stage::{PPXAI_TOKEN, Stage};
use super::{Attack, OF_AGENTS, Seen};
use crate::chance::Chance;

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack { name: "expressions without end", doors: "ppxai", run: endless, ..OF_AGENTS }]
}

const EXPRESSIONS: [&str; 7] = [
    "(?:a?){100000}a{100000}",
    r"\w{1000}{1000}",
    "(a?){60000}",
    "(?:a?b?c?){3000}[abc]{3000}z",
    "(?:[abc ]?d?){200}[a-d ]*a[a-d ]{500}d$",
    r"(?:\w?){30}[a-d ]*a[a-d ]{200}d.{30}$",
    "[a-d ]*a[a-d ]{1000}d",
];

/// After this, nothing is done any more for an agent that has left.
const LEFT_ALONE: Duration = Duration::from_secs(6);

fn endless(stage: &mut Stage) -> Seen {
    let mut chance = Chance::new(stage.seed);
    let mut letter = |others: &[u8]| others[chance.below(others.len())];
    let one_line: Vec<u8> = (0..4 << 20).map(|_| letter(b"abcabcabcabcabcabcabc d")).collect();
    let lines: Vec<u8> = (0..4 << 20).map(|_| letter(b"abcabcabcabcabcabcabc\nd")).collect();
    stage.world.file("one-line.txt", one_line);
    stage.world.file("lines.txt", lines);
    let client = || ppxai::Client::new(stage.port).with(&Door::Ppxai.token_line(PPXAI_TOKEN).unwrap());
    let mut longest = Duration::ZERO;
    for query in EXPRESSIONS {
        let begun = Instant::now();
        let answer = client().call("ide.search_files", search(query));
        assert!(answer["success"].is_boolean(), "{query}: {answer}");
        longest = longest.max(begun.elapsed());
    }
    for query in EXPRESSIONS {
        let request = json!({ "id": "7", "tool": "ide.search_files", "args": search(query) });
        client().write("POST /ide/execute", &request.to_string());
    }
    thread::sleep(LEFT_ALONE);
    let before = worked(stage.memory.pid);
    thread::sleep(Duration::from_secs(1));
    let busy = worked(stage.memory.pid) - before;
    assert!(
        busy < Duration::from_millis(500),
        "the hub goes on for nobody: {busy:?} of processor time in a second"
    );
    stage.others_are_served();
    Seen::new(
        EXPRESSIONS.len() * 2,
        format!("each refused or answered within {longest:.1?}; nothing goes on for nobody"),
    )
}

fn search(query: &str) -> Value {
    json!({ "query": query, "regex": true })
}

/// How long the processor has worked for that process. The kernel counts hundredths of a second.
fn worked(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the hub is gone");
    let (_, fields) = stat.rsplit_once(") ").expect("no fields");
    let ticks = |field: usize| fields.split(' ').nth(field).and_then(|ticks| ticks.parse::<u64>().ok());
    // From the state on, which is the third: utime is the 14th, stime the 15th.
    let both = ticks(11).zip(ticks(12)).map(|(user, system)| user + system).expect("no times");
    Duration::from_millis(both * 10)
}
