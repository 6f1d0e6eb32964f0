//! Faults of the machine rather than of a party: its disk, its clock, its descriptors. The file keeps its content,
//! the agent gets an error, and once the fault is over everything works again.

use std::fs;
use std::os::unix::fs::FileExt;

use linkspan_testkit::agent::texts;
use linkspan_testkit::small_disk::{DiskScope, SmallDisk, large_text};
use linkspan_testkit::{Agent, World, eventually};
use rusqlite::Connection;

use super::{descriptors, recovery};
use crate::trials::{Skipped, Trial};

const OLD: &str = "one\ntwo\n";
const NEW: &str = "one\n2\n";

pub(super) type Outcome = Result<(), Skipped>;

pub(super) type Run = fn() -> Outcome;

const ALL: &[(&str, Run)] = &[
    ("single/full-disk-under-the-workspace", full_workspace),
    ("single/full-disk-under-the-journal", full_journal),
    ("single/read-only-directory", read_only),
    ("single/journal-damaged-in-a-record", damaged_record),
    ("single/wall-clock-jumped-back-over-a-restart", wall_clock),
    ("single/monotonic-clock-jumped-back-over-a-restart", monotonic_clock),
    ("single/no-descriptors-left", descriptors::none_left),
];

pub(super) fn trials() -> Vec<Trial> {
    ALL.iter()
        .chain(recovery::ALL)
        .map(|(name, run)| Trial { name: (*name).to_owned(), run: Box::new(run) })
        .collect()
}

/// A change that is proposed, accepted and written, to show that everything works.
#[track_caller]
fn works(world: &World, agent: &mut Agent, path: &str) {
    let call = agent.propose(path, NEW, "tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(fs::read_to_string(path).unwrap(), NEW);
}

fn full_workspace() -> Outcome {
    unwritable(|disk| {
        let filling = disk.fill();
        Box::new(move || drop(filling))
    })
}

fn read_only() -> Outcome {
    unwritable(|disk| {
        disk.writable(false);
        Box::new(|| disk.writable(true))
    })
}

/// An accepted change cannot be written until the returned closure undoes `spoil`.
fn unwritable(spoil: impl Fn(&SmallDisk) -> Box<dyn FnOnce() + '_>) -> Outcome {
    let world = World::with_small_disk(DiskScope::Workspace).map_err(Skipped)?;
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, &large_text(), "tab");
    let review = world.one_pending();
    let mend = spoil(world.disk());
    assert_ne!(world.run(&["accept", &review]).code, 0, "an accept that cannot be written is not a success");
    let answer = agent.answer(call);
    assert!(answer["error"]["message"].to_string().contains("could not be written"), "{answer}");
    assert_eq!(world.read_text("a.txt"), OLD);
    mend();
    works(&world, &mut agent, &path);
    drop((agent, serve));
    Ok(())
}

fn full_journal() -> Outcome {
    let world = World::with_small_disk(DiskScope::State).map_err(Skipped)?;
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let filling = world.disk().fill();
    let call = agent.propose(&path, &large_text(), "tab");
    let answer = agent.answer(call);
    assert!(answer["error"]["message"].to_string().contains("could not be recorded"), "{answer}");
    assert_eq!(world.reviews().len(), 0, "shown though it is not on record");
    drop(filling);
    works(&world, &mut agent, &path);
    drop((agent, serve));
    Ok(())
}

/// Leaves a decision whose outcome was not delivered, and no hub.
fn undelivered(world: &World, path: &str) -> u16 {
    let serve = world.serve();
    let mut agent = Agent::nexus3(world, serve.port);
    agent.propose(path, NEW, "tab");
    let review = world.one_pending();
    agent.freeze();
    world.run(&["accept", &review]).ok();
    agent.drop_socket();
    let port = serve.port;
    world.kill_hub();
    serve.kill();
    port
}

/// The agent repeats its request and gets the decision without a second review.
#[track_caller]
fn gets_the_decision(world: &World, path: &str, port: u16) {
    let serve = world.serve();
    assert_eq!(serve.port, port, "the window has another port");
    let mut agent = Agent::nexus3(world, serve.port);
    let call = agent.propose(path, NEW, "tab");
    assert_eq!(texts(&agent.answer(call)), ["FILE_SAVED"]);
    assert_eq!((world.read_text("a.txt").as_str(), world.reviews().len()), (NEW, 0));
    drop((agent, serve));
}

fn damaged_record() -> Outcome {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    undelivered(&world, &path);
    // The decision is in the log: its last page is torn, as by a power cut in the middle of a record.
    let log = world.state().join("journal.db-wal");
    let length = fs::metadata(&log).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&log).unwrap();
    file.write_all_at(&[0xA5; 512], length.saturating_sub(2_048)).unwrap();
    drop(file);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let now = world.read_text("a.txt");
    assert!(now == OLD || now == NEW, "neither old nor new: {now:?}");
    world.file("a.txt", OLD);
    let call = agent.propose(&path, "again\n", "tab");
    eventually("it is asked", || {
        let reviews = world.reviews();
        reviews.iter().any(|review| review["ownerGone"] == false).then_some(())
    });
    world.run(&["accept", "latest"]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "again\n");
    drop((agent, serve));
    Ok(())
}

/// What a clock that was set back leaves behind: records from the future.
fn wall_clock() -> Outcome {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let port = undelivered(&world, &path);
    let ten_years_ms: i64 = 10 * 365 * 24 * 3600 * 1000;
    let sql = format!(
        "UPDATE reviews SET proposed_at = proposed_at + {ten_years_ms}, decided_at = decided_at + {ten_years_ms},
                            ended_at = ended_at + {ten_years_ms};
         UPDATE windows SET seen_at = seen_at + {ten_years_ms};"
    );
    Connection::open(world.journal()).unwrap().execute_batch(&sql).unwrap();
    gets_the_decision(&world, &path, port);
    Ok(())
}

/// The first hub runs in a time namespace years ahead of the second one's.
fn monotonic_clock() -> Outcome {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let ahead = ["--time", "--monotonic", "300000000", "--boottime", "300000000"];
    let mut start = world.program("unshare");
    start.args(ahead).arg("--fork").arg(linkspan_testkit::paths::linkspan()).args(["hub", "start"]);
    let refused = |why: &str| Skipped(format!("no time namespace for a process: {}", why.trim()));
    let started = start.output().map_err(|error| refused(&error.to_string()))?;
    if !started.status.success() {
        return Err(refused(&String::from_utf8_lossy(&started.stderr)));
    }
    let port = undelivered(&world, &path);
    gets_the_decision(&world, &path, port);
    Ok(())
}
