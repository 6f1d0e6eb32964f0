//! A folder that turns into a symlink and back while files in it are read, written, listed and searched.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_editor_api as api;
use linkspan_testkit::{Agent, ppxai};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::endpoint::HubEndpoint;
use super::fixture::{AttackFixture, PPXAI_TOKEN, SECRET};
use super::{Attack, AttackResult, BY_AGENTS};
use crate::rng::Rng;

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "symlink race, writing", endpoints: "nexus3", run: writing, ..BY_AGENTS },
        Attack { name: "symlink race, reading", endpoints: "ppxai, nexus3", run: reading, ..BY_AGENTS },
        Attack { name: "symlink race, listing", endpoints: "ppxai", run: listing, ..BY_AGENTS },
    ]
}

const INSIDE: &str = "inside\n";

/// A name that no agent may learn.
const OUTSIDE: &str = "name-outside.txt";

/// Swaps `d`, a folder, with `l`, a symlink to the folder outside, until it is dropped.
struct SwapGuard<'s> {
    over: &'s AtomicBool,
    swaps: &'s AtomicUsize,
}

impl Drop for SwapGuard<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn swap(folder: &Path, link: &Path, mut rng: Rng, over: &AtomicBool, swaps: &AtomicUsize) {
    while !over.load(Ordering::Relaxed) || swaps.load(Ordering::Relaxed) % 2 == 1 {
        renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).expect("they change places");
        swaps.fetch_add(1, Ordering::Relaxed);
        // From less than one system call to more than several.
        let pause = u64::try_from(rng.below(400)).unwrap();
        thread::sleep(Duration::from_micros(pause));
    }
}

/// Runs `attack` while the two are swapped; returns how often they were.
fn while_swapping(fixture: &mut AttackFixture, attack: impl FnOnce(&mut AttackFixture)) -> usize {
    let world = &fixture.world;
    world.file("d/secret.txt", INSIDE);
    world.file("d/deep/er/here.txt", INSIDE);
    let (folder, link) = (world.path("d"), world.path("l"));
    std::os::unix::fs::symlink(fixture.outside(), &link).unwrap();
    let (over, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let rng = fixture.rng();
    thread::scope(|scope| {
        scope.spawn(|| swap(&folder, &link, rng, &over, &swaps));
        let swapping = SwapGuard { over: &over, swaps: &swaps };
        attack(fixture);
        assert!(swapping.swaps.load(Ordering::Relaxed) > 50, "they hardly changed places");
    });
    swaps.into_inner()
}

/// New files and changed ones, each accepted as soon as it is shown.
fn writing(fixture: &mut AttackFixture) -> AttackResult {
    let (mut tries, mut written, mut refused) = (0, 0, 0);
    let patience = Duration::from_secs(if fixture.all { 60 } else { 6 });
    let swaps = while_swapping(fixture, |fixture| {
        let mut agent = Agent::nexus3(&fixture.world, fixture.port);
        let begun = Instant::now();
        while begun.elapsed() < patience {
            tries += 1;
            let name = if tries % 3 == 0 { "d/secret.txt".to_owned() } else { format!("d/new-{tries}.txt") };
            let path = fixture.world.path_str(&name);
            let before = fixture.editor.state().shown.len();
            let call = agent.propose(&path, &format!("written {tries}\n"), &name);
            let mut answer = None;
            while answer.is_none() {
                answer = agent.answer_within(call, Duration::from_millis(2));
                let shown = fixture.editor.state().shown.get(before..).and_then(<[_]>::last).cloned();
                if let Some(shown) = shown.filter(|_| answer.is_none()) {
                    assert!(!shown.base.contains(SECRET), "the file outside was read");
                    let decided = fixture.editor.decide(&shown, api::Verdict::Accept);
                    // A review that is shown again is not answered: withdraw it.
                    if decided != api::ReviewDecidedResult::Taken {
                        agent.send_call("closeAllDiffTabs", json!({}));
                    }
                    answer = agent.answer_within(call, Duration::from_secs(2));
                    if answer.is_none() {
                        agent.send_call("closeAllDiffTabs", json!({}));
                    }
                }
                assert!(begun.elapsed() < patience + Duration::from_secs(20), "it is never answered");
            }
            if answer.is_some_and(|answer| answer["error"].is_null()) {
                written += 1;
            } else {
                refused += 1;
            }
        }
        agent.drop_socket();
    });
    fixture.assert_files_unchanged();
    assert!(written > 0, "nothing was written at all: the race was not run");
    AttackResult::new(
        tries,
        format!("{swaps} swaps; {written} written inside, {refused} refused, none outside"),
    )
}

fn reading(fixture: &mut AttackFixture) -> AttackResult {
    let (mut tries, mut read) = (0, 0);
    let patience = Duration::from_secs(if fixture.all { 60 } else { 6 });
    let swaps = while_swapping(fixture, |fixture| {
        let mut client =
            ppxai::Client::new(fixture.port).with(&HubEndpoint::Ppxai.token_line(PPXAI_TOKEN).unwrap());
        let begun = Instant::now();
        while begun.elapsed() < patience {
            for (tool, args) in [
                ("ide.read_file", json!({ "path": "d/secret.txt" })),
                ("ide.read_file", json!({ "path": "d/secret.txt" })),
                ("ide.search_files", json!({ "query": "s3cret-words" })),
            ] {
                let answer = client.call(tool, args).to_string();
                // The one in the workspace may be found.
                let elsewhere = answer.replace("confidential.txt", "");
                let leaked = tool == "ide.read_file" && answer.contains(SECRET)
                    || tool == "ide.search_files" && elsewhere.contains("secret.txt");
                assert!(!leaked, "{tool} after {tries} tries: {answer}");
                read += usize::from(answer.contains(INSIDE.trim_end()));
                tries += 1;
            }
        }
    });
    assert!(read > 0, "nothing was read at all: the race was not run");
    AttackResult::new(
        tries,
        format!("{swaps} swaps; {read} reads of the file inside, none of the one outside"),
    )
}

/// The folder outside contains names that no folder inside has, at every depth.
fn listing(fixture: &mut AttackFixture) -> AttackResult {
    let hidden = fixture.outside().join("deep/er");
    fs::create_dir_all(&hidden).unwrap();
    for folder in [fixture.outside(), fixture.outside().join("deep"), hidden] {
        fs::write(folder.join(OUTSIDE), SECRET).unwrap();
    }
    let (mut tries, mut listed) = (0, 0);
    let patience = Duration::from_secs(if fixture.all { 60 } else { 6 });
    let swaps = while_swapping(fixture, |fixture| {
        let mut client =
            ppxai::Client::new(fixture.port).with(&HubEndpoint::Ppxai.token_line(PPXAI_TOKEN).unwrap());
        let begun = Instant::now();
        while begun.elapsed() < patience {
            for (tool, args) in [
                ("ide.list_files", json!({})),
                ("ide.list_files", json!({ "pattern": "d/**" })),
                ("ide.search_files", json!({ "query": SECRET })),
            ] {
                let answer = client.call(tool, args).to_string();
                assert!(!answer.contains(OUTSIDE), "{tool} after {tries} tries: {answer}");
                listed += usize::from(answer.contains("d/deep/er/here.txt"));
                tries += 1;
            }
        }
    });
    for gone in [fixture.outside().join("deep"), fixture.outside().join(OUTSIDE)] {
        if gone.is_dir() { fs::remove_dir_all(gone).unwrap() } else { fs::remove_file(gone).unwrap() }
    }
    assert!(listed > 0, "nothing was listed at all: the race was not run");
    AttackResult::new(
        tries,
        format!("{swaps} swaps; {listed} lists of the folder inside, no name of the one outside"),
    )
}
