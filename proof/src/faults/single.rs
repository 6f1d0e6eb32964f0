//! What goes wrong with a machine rather than with a party: its disk, its clock, its descriptors. The file keeps what
//! it held, whoever asked is told, and once the trouble is over everything goes on.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use linkspan_testkit::agent::texts;
use linkspan_testkit::disk::Disk;
use linkspan_testkit::{Agent, DEADLINE, World, eventually};
use rusqlite::Connection;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::trials::Trial;

const OLD: &str = "one\ntwo\n";
const NEW: &str = "one\n2\n";

const ALL: &[(&str, fn())] = &[
    ("single/full-disk-under-the-workspace", full_workspace),
    ("single/full-disk-under-the-journal", full_journal),
    ("single/read-only-directory", read_only),
    ("single/journal-damaged-in-a-record", damaged_record),
    ("single/wall-clock-jumped-back-over-a-restart", wall_clock),
    ("single/monotonic-clock-jumped-back-over-a-restart", monotonic_clock),
    ("single/no-descriptors-left", no_descriptors),
];

pub(super) fn trials() -> Vec<Trial> {
    ALL.iter().map(|(name, run)| Trial { name: (*name).to_owned(), run: Box::new(run) }).collect()
}

/// A change that is proposed, accepted and written, to show that all is well.
#[track_caller]
fn works(world: &World, agent: &mut Agent, path: &str) {
    let call = agent.propose(path, NEW, "tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(fs::read_to_string(path).unwrap(), NEW);
}

fn full_workspace() {
    unwritable(|disk| {
        let filling = disk.fill();
        Box::new(move || drop(filling))
    });
}

fn read_only() {
    unwritable(|disk| {
        disk.writable(false);
        Box::new(|| disk.writable(true))
    });
}

/// An accepted change cannot be written, until `spoil` is undone by what it gives.
fn unwritable(spoil: impl Fn(&Disk) -> Box<dyn FnOnce() + '_>) {
    let world = World::new();
    let Some(disk) = Disk::at(&world.workspace(), "64k") else { return };
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, &format!("{NEW}{}", "x\n".repeat(20_000)), "tab");
    let review = world.one_pending();
    let mend = spoil(&disk);
    assert_ne!(world.run(&["accept", &review]).code, 0, "an accept that cannot be written is no success");
    let answer = agent.answer(call);
    assert!(answer["error"]["message"].to_string().contains("could not be written"), "{answer}");
    assert_eq!(world.read_text("a.txt"), OLD);
    mend();
    works(&world, &mut agent, &path);
    drop((agent, serve));
}

fn full_journal() {
    let world = World::new();
    let Some(disk) = Disk::at(&world.root().join("s"), "1m") else { return };
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let filling = disk.fill();
    // Larger than what the write-ahead log may have left free.
    let call = agent.propose(&path, &"y\n".repeat(40_000), "tab");
    let answer = agent.answer(call);
    assert!(answer["error"]["message"].to_string().contains("could not be recorded"), "{answer}");
    assert_eq!(world.reviews().len(), 0, "shown though it is not on record");
    drop(filling);
    works(&world, &mut agent, &path);
    drop((agent, serve));
    // While its disk is there.
    world.run(&["hub", "stop", "--force"]).ok();
}

/// A decision that its agent has not heard of, and no hub.
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

/// The agent asks again, and is told what was decided without a second question.
#[track_caller]
fn is_told(world: &World, path: &str, port: u16) {
    let serve = world.serve();
    assert_eq!(serve.port, port, "the window has another port");
    let mut agent = Agent::nexus3(world, serve.port);
    let call = agent.propose(path, NEW, "tab");
    assert_eq!(texts(&agent.answer(call)), ["FILE_SAVED"]);
    assert_eq!((world.read_text("a.txt").as_str(), world.reviews().len()), (NEW, 0));
    drop((agent, serve));
}

fn damaged_record() {
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
    let call = agent.propose(&path, "anew\n", "tab");
    eventually("it is asked", || {
        let reviews = world.reviews();
        reviews.iter().any(|review| review["ownerGone"] == false).then_some(())
    });
    world.run(&["accept", "latest"]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "anew\n");
    drop((agent, serve));
}

/// What a clock that was set back leaves behind: records that are made in the future.
fn wall_clock() {
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
    is_told(&world, &path, port);
}

/// The first hub lives in a time of its own, years ahead of that of the second one.
fn monotonic_clock() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let ahead = ["--time", "--monotonic", "300000000", "--boottime", "300000000"];
    let mut start = world.program("unshare");
    start.args(ahead).arg("--fork").arg(linkspan_testkit::place::linkspan()).args(["hub", "start"]);
    let started = start.output();
    if !started.as_ref().is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: no time of its own for a process: {started:?}");
        return;
    }
    let port = undelivered(&world, &path);
    is_told(&world, &path, port);
}

fn no_descriptors() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, NEW, "tab");
    let review = world.one_pending();
    let hub = world.hub_pid().expect("a hub");
    let open = fs::read_dir(format!("/proc/{hub}/fd")).unwrap().count() as u64;
    let pid = Pid::from_raw(i32::try_from(hub).unwrap());
    let before = getrlimit(Resource::Nofile);
    let limit = |current| Rlimit { current, maximum: before.maximum };
    prlimit(pid, Resource::Nofile, limit(Some(open + 8))).unwrap();
    let flood: Vec<TcpStream> =
        (0..64).filter_map(|_| TcpStream::connect(("127.0.0.1", serve.port)).ok()).collect();
    std::thread::sleep(Duration::from_millis(300));
    agent.is_served();
    assert!(alive_and_quiet(hub), "it spins where it cannot accept");
    drop(flood);
    prlimit(pid, Resource::Nofile, before).unwrap();
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), NEW);
    let mut another = Agent::claude(&world, serve.port);
    another.is_served();
    drop((agent, another, serve));
}

/// Takes less than half of the time it is given.
fn alive_and_quiet(pid: u32) -> bool {
    let used = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = used();
    std::thread::sleep(DEADLINE / 10);
    // Ticks of a hundredth of a second.
    used() - before < 50
}
