//! Every target on its seeds and on inputs near them, with the ordinary build: the bounded run of the test command.
//! It has no coverage to guide it; `cargo xtask fuzz` has.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "this is a test, with functions that several tests share"
)]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linkspan_fuzz::{Mutator, names, run};

/// Inputs near the seeds of one target. Always the same ones: a failure is there the next time, too.
const MUTATIONS: usize = 2_000;
/// A target whose inputs are slow stops here; the seeds are always run, all of them.
const LONGEST: Duration = Duration::from_secs(4);

macro_rules! targets {
    ($($name:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            examine(stringify!($name));
        })*
    };
}

targets! {
    addresses
    agent_request
    client_answers
    config
    decisions
    decode
    encodings
    event_stream
    framing
    gateways
    hooks
    hub_socket
    hunks
    lifecycle
    lock_files
    merge
    model_answers
    page_file
    page_request
    proposal
    relay
    rpc
    session_claude
    session_clio
    session_copilot
    session_gemini
    session_linkspan
    session_nexus3
    session_ppxai
}

#[test]
fn every_target_has_a_test() {
    assert_eq!(names().collect::<Vec<_>>(), TESTED);
}

fn examine(name: &str) {
    let seeds = seeds(name);
    for seed in &seeds {
        attempt(name, seed);
    }
    let mut mutator = Mutator::new(seeds.iter().map(Vec::len).sum::<usize>() as u64);
    let until = Instant::now() + LONGEST;
    for at in 0..MUTATIONS {
        if Instant::now() > until {
            println!("stopped after {at} of {MUTATIONS} inputs near the seeds: the time is over");
            break;
        }
        let (seed, other) = (&seeds[at % seeds.len()], &seeds[(at / seeds.len()) % seeds.len()]);
        attempt(name, &mutator.mutate(seed, other));
    }
}

/// Keeps an input that breaks a promise, so that it can be run again.
fn attempt(name: &str, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(name, input))) {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("broken-{name}"));
        fs::write(&path, input).unwrap();
        eprintln!(
            "the input is in {0}; run it again with `cargo xtask fuzz {name} --input {0}`. Make it a test of the crate, \
             and put it into fuzz/corpus/{name}",
            path.display()
        );
        std::panic::resume_unwind(panic);
    }
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has no seeds", folder.display());
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}
