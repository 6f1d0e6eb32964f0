//! A hub that has no file descriptors left, or hardly any, while the user decides: each decision is carried out
//! completely or refused with advice, and every file is either old or new.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use linkspan_testkit::agent::texts;
use linkspan_testkit::{Agent, HubSocket, Serve, World, eventually, paths};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use super::journal;
use crate::process::processor_time;
use crate::trials::Skipped;

const OLD: &str = "one\ntwo\n";
const NEW: &str = "one\n2\n";

/// More than it takes to replace a file: its folder, the file, a temporary file, and what the system calls need.
const ENOUGH: usize = 6;

/// The result of an accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AcceptResult {
    Written,
    /// The user was told why not, and the review is still pending.
    Pending,
    /// The user and the agent were told why not, and the review is over.
    Failed,
}

/// Everyone who was connected before descriptors ran out. Dropped from top to bottom.
struct DescriptorFixture {
    agent: Agent,
    socket: HubSocket,
    serve: Serve,
    hub: u32,
    world: World,
}

pub(super) fn none_left() -> Result<(), Skipped> {
    let mut fixture = DescriptorFixture::new();
    let mut result = BTreeSet::new();
    for spare in 0..=ENOUGH {
        let (old, new) = (format!("old-{spare}.txt"), format!("new-{spare}.txt"));
        fixture.holds_old(&old);
        for name in [old, new] {
            let (call, review) = fixture.is_asked(&name);
            let allowed = fixture.leave(spare);
            let decided = fixture.accepts(&name, call, &review);
            fixture.allow(allowed);
            result.insert(decided);
            fixture.goes_on(&name, call, &review, decided);
        }
    }
    assert_eq!(result.len(), 3, "the limits that were tried are not the narrow ones: {result:?}");
    fixture.is_flooded();
    Agent::claude(&fixture.world, fixture.serve.port).is_served();
    drop(fixture);
    Ok(())
}

impl DescriptorFixture {
    fn new() -> DescriptorFixture {
        let world = World::new();
        // New files get mode 0600.
        let mut start = world.program("sh");
        start.args(["-c", "umask 077; exec \"$0\" hub start"]).arg(paths::linkspan());
        assert!(start.output().unwrap().status.success());
        let serve = world.serve();
        let agent = Agent::nexus3(&world, serve.port);
        let (socket, hub) = (HubSocket::connect(&world), world.hub_pid().expect("a hub"));
        DescriptorFixture { agent, socket, serve, hub, world }
    }

    fn holds_old(&self, name: &str) {
        let path = self.world.file(name, OLD);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn is_asked(&mut self, name: &str) -> (i64, String) {
        let call = self.agent.propose(&self.world.path_str(name), NEW, name);
        (call, self.world.one_pending())
    }

    /// Strangers take the remaining descriptors: everyone who was connected before is served, decisions included, and
    /// the hub does not spin when it cannot accept a connection.
    fn is_flooded(&mut self) {
        let name = "flooded.txt";
        self.holds_old(name);
        let (call, review) = self.is_asked(name);
        let allowed = self.leave(8);
        let flood: Vec<TcpStream> =
            (0..64).filter_map(|_| TcpStream::connect(("127.0.0.1", self.serve.port)).ok()).collect();
        thread::sleep(Duration::from_millis(300));
        self.agent.is_served();
        assert!(is_quiet(self.hub), "it spins where it cannot accept");
        let decided = self.accepts(name, call, &review);
        drop(flood);
        self.allow(allowed);
        self.goes_on(name, call, &review, decided);
    }

    /// The user accepts while descriptors are short; every answer matches the file and the journal.
    #[track_caller]
    fn accepts(&mut self, name: &str, call: i64, review: &str) -> AcceptResult {
        let accept = json!({ "review": review, "decision": { "verdict": { "kind": "accept" } } });
        let answer = self.socket.request("reviews/decide", accept)["result"].clone();
        if answer["kind"] == "taken" {
            assert_eq!(self.agent.texts(call), ["FILE_SAVED"], "{name}");
            self.is_written(name);
            return AcceptResult::Written;
        }
        says_what_to_do(name, &answer["message"]);
        let before = (!name.starts_with("new")).then_some(OLD);
        assert_eq!(fs::read_to_string(self.world.path(name)).ok().as_deref(), before, "{name}");
        match self.agent.answer_within(call, Duration::from_millis(500)) {
            Some(answer) => {
                says_what_to_do(name, &answer["error"]["message"]);
                journal::is_decided(&self.world, &self.world.path_str(name), Some("failed"), 0);
                AcceptResult::Failed
            }
            None => {
                journal::is_decided(&self.world, &self.world.path_str(name), None, 0);
                AcceptResult::Pending
            }
        }
    }

    /// Descriptors are available again.
    #[track_caller]
    fn goes_on(&mut self, name: &str, call: i64, review: &str, result: AcceptResult) {
        if result == AcceptResult::Written {
            return;
        }
        let (call, review) =
            if result == AcceptResult::Pending { (call, review.to_owned()) } else { self.is_asked(name) };
        assert_eq!(self.world.one_pending(), review);
        self.world.run(&["accept", &review]).ok();
        assert_eq!(texts(&self.agent.answer(call)), ["FILE_SAVED"]);
        self.is_written(name);
    }

    #[track_caller]
    fn is_written(&self, name: &str) {
        let path = self.world.path(name);
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        assert_eq!((self.world.read_text(name).as_str(), format!("{mode:o}")), (NEW, "600".into()), "{name}");
        journal::is_decided(&self.world, &self.world.path_str(name), Some("accepted"), 1);
    }

    /// From now on the hub can open this many more descriptors; returns its previous limit.
    fn leave(&self, spare: usize) -> Rlimit {
        let mut open = self.descriptors();
        eventually("the hub has closed the connections of ended commands", || {
            thread::sleep(Duration::from_millis(20));
            let before = std::mem::replace(&mut open, self.descriptors());
            (before == open).then_some(())
        });
        let current = (0..).filter(|number| !open.contains(number)).nth(spare);
        let before = getrlimit(Resource::Nofile);
        self.allow(Rlimit { current, maximum: before.maximum });
        before
    }

    fn descriptors(&self) -> BTreeSet<u64> {
        let names = fs::read_dir(format!("/proc/{}/fd", self.hub)).unwrap();
        names.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    }

    fn allow(&self, limit: Rlimit) {
        prlimit(Pid::from_raw(i32::try_from(self.hub).unwrap()), Resource::Nofile, limit).unwrap();
    }
}

#[track_caller]
fn says_what_to_do(name: &str, message: &Value) {
    let message = message.as_str().unwrap_or_else(|| panic!("{name}: no reason: {message}"));
    assert!(message.contains("Too many open files") && message.contains("try again"), "{name}: {message}");
}

/// Uses less than half of the processor time of a second.
fn is_quiet(pid: u32) -> bool {
    let before = processor_time(pid);
    thread::sleep(Duration::from_secs(1));
    processor_time(pid) - before < Duration::from_millis(500)
}
