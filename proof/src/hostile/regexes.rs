//! Regular expressions that would take a core and all memory, from an agent that waits for the answer and from one
//! that disconnects at once.

use std::thread;
use std::time::{Duration, Instant};

use linkspan_testkit::ppxai;
use serde_json::{Value, json};

use super::endpoint::HubEndpoint;
use super::fixture::{AttackFixture, PPXAI_TOKEN};
use super::{Attack, AttackResult, BY_AGENTS};
use crate::process::processor_time;
use crate::rng::Rng;

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack { name: "endless regular expressions", endpoints: "ppxai", run: endless, ..BY_AGENTS }]
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

/// After this time, no work goes on for an agent that has disconnected.
const DISCONNECT_TIME: Duration = Duration::from_secs(6);

fn endless(fixture: &mut AttackFixture) -> AttackResult {
    let mut rng = Rng::new(fixture.seed);
    let mut letter = |others: &[u8]| others[rng.below(others.len())];
    let one_line: Vec<u8> = (0..4 << 20).map(|_| letter(b"abcabcabcabcabcabcabc d")).collect();
    let lines: Vec<u8> = (0..4 << 20).map(|_| letter(b"abcabcabcabcabcabcabc\nd")).collect();
    fixture.world.file("one-line.txt", one_line);
    fixture.world.file("lines.txt", lines);
    let client =
        || ppxai::Client::new(fixture.port).with(&HubEndpoint::Ppxai.token_line(PPXAI_TOKEN).unwrap());
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
    thread::sleep(DISCONNECT_TIME);
    let before = processor_time(fixture.memory.pid);
    thread::sleep(Duration::from_secs(1));
    let busy = processor_time(fixture.memory.pid) - before;
    assert!(
        busy < Duration::from_millis(500),
        "the hub works for an agent that is gone: {busy:?} of processor time in a second"
    );
    fixture.assert_bystanders_served();
    AttackResult::new(
        EXPRESSIONS.len() * 2,
        format!("each refused or answered within {longest:.1?}; work stops when the agent disconnects"),
    )
}

fn search(query: &str) -> Value {
    json!({ "query": query, "regex": true })
}
