//! A hub that has no descriptors left, or hardly any, while a person decides: each decision is carried out whole or
//! refused with a word on what to do, and no file is anything but old or new.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use linkspan_testkit::agent::texts;
use linkspan_testkit::{Agent, DEADLINE, Line, Serve, World, eventually, place};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use super::journal;
use crate::trials::NotTried;

const OLD: &str = "one\ntwo\n";
const NEW: &str = "one\n2\n";

/// More than it takes to replace a file: its folder, the file, a new one beside it, and what the system is asked.
const ENOUGH: usize = 6;

/// What became of an accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Became {
    Written,
    /// She was told why not, and is asked as before.
    Pending,
    /// She and the agent were told why not, and it is over.
    Failed,
}

/// All who were connected before it became tight. Dropped from top to bottom.
struct Desk {
    agent: Agent,
    line: Line,
    serve: Serve,
    hub: u32,
    world: World,
}

pub(super) fn none_left() -> Result<(), NotTried> {
    let mut desk = Desk::new();
    let mut became = BTreeSet::new();
    for spare in 0..=ENOUGH {
        let (old, new) = (format!("old-{spare}.txt"), format!("new-{spare}.txt"));
        desk.holds_old(&old);
        for name in [old, new] {
            let (call, review) = desk.is_asked(&name);
            let allowed = desk.leave(spare);
            let decided = desk.accepts(&name, call, &review);
            desk.allow(allowed);
            became.insert(decided);
            desk.goes_on(&name, call, &review, decided);
        }
    }
    assert_eq!(became.len(), 3, "the limits that were tried are not the narrow ones: {became:?}");
    desk.is_flooded();
    Agent::claude(&desk.world, desk.serve.port).is_served();
    drop(desk);
    Ok(())
}

impl Desk {
    fn new() -> Desk {
        let world = World::new();
        // What she makes is for her eyes only.
        let mut start = world.program("sh");
        start.args(["-c", "umask 077; exec \"$0\" hub start"]).arg(place::linkspan());
        assert!(start.output().unwrap().status.success());
        let serve = world.serve();
        let agent = Agent::nexus3(&world, serve.port);
        let (line, hub) = (Line::to(&world), world.hub_pid().expect("a hub"));
        Desk { agent, line, serve, hub, world }
    }

    fn holds_old(&self, name: &str) {
        let path = self.world.file(name, OLD);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn is_asked(&mut self, name: &str) -> (i64, String) {
        let call = self.agent.propose(&self.world.path_str(name), NEW, name);
        (call, self.world.one_pending())
    }

    /// Strangers have what is left: whoever was there before is served, decisions included, and the hub does not spin
    /// where it can let nobody in.
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

    /// She accepts while it is tight; what everybody is told is what the file and the journal hold.
    #[track_caller]
    fn accepts(&mut self, name: &str, call: i64, review: &str) -> Became {
        let accept = json!({ "review": review, "decision": { "verdict": { "kind": "accept" } } });
        let answer = self.line.ask("reviews/decide", accept)["result"].clone();
        if answer["kind"] == "taken" {
            assert_eq!(self.agent.texts(call), ["FILE_SAVED"], "{name}");
            self.is_written(name);
            return Became::Written;
        }
        says_what_to_do(name, &answer["message"]);
        let before = (!name.starts_with("new")).then_some(OLD);
        assert_eq!(fs::read_to_string(self.world.path(name)).ok().as_deref(), before, "{name}");
        match self.agent.answer_within(call, DEADLINE / 20) {
            Some(told) => {
                says_what_to_do(name, &told["error"]["message"]);
                journal::is_decided(&self.world, &self.world.path_str(name), Some("failed"), 0);
                Became::Failed
            }
            None => {
                journal::is_decided(&self.world, &self.world.path_str(name), None, 0);
                Became::Pending
            }
        }
    }

    /// There is room again.
    #[track_caller]
    fn goes_on(&mut self, name: &str, call: i64, review: &str, became: Became) {
        if became == Became::Written {
            return;
        }
        let (call, review) =
            if became == Became::Pending { (call, review.to_owned()) } else { self.is_asked(name) };
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

    /// From now on the hub can have so many descriptors more; gives what it was allowed before.
    fn leave(&self, spare: usize) -> Rlimit {
        let mut open = self.descriptors();
        eventually("the hub has let go of the commands that ended", || {
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
    let message = message.as_str().unwrap_or_else(|| panic!("{name}: no word on why: {message}"));
    assert!(message.contains("Too many open files") && message.contains("try again"), "{name}: {message}");
}

/// Takes less than half of the time it is given.
fn is_quiet(pid: u32) -> bool {
    let used = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = used();
    thread::sleep(DEADLINE / 10);
    // Ticks of a hundredth of a second.
    used() - before < 50
}
