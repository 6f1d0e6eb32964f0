//! What is attacked: a hub with a window, its page and all its doors, and people and agents who mean well. Says after
//! each attack whether anything was read or done, and whether those others were served all the while.

use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_testkit::page_door::{self, Browser};
use linkspan_testkit::{Agent, Dialect, Editor, Line, World};
use serde_json::{Value, json};

use super::door::Door;
use super::memory::Memory;
use crate::chance::Chance;

/// What no attacker may read, wherever it stands.
pub(super) const SECRET: &str = "s3cret-words-of-the-person";

/// The token that the person has set for ppxai.
pub(super) const PPXAI_TOKEN: &str = "ppxai-token-of-the-person";

/// Those who mean well are answered within this, whatever goes on. A port that is full of strangers is free again
/// when their time for a head is over, which is five seconds; the rest is for a machine that has much else to do.
const IN_TIME: Duration = Duration::from_secs(30);

/// Those who were there before are not even slowed down.
const AT_ONCE: Duration = Duration::from_secs(3);

pub(super) struct Stage {
    /// Longer floods and races.
    pub(super) all: bool,
    pub(super) seed: u64,
    pub(super) port: u16,
    pub(super) well_known: u16,
    pub(super) page: u16,
    pub(super) token: String,
    pub(super) browser: Browser,
    pub(super) memory: Memory,
    bystander: Bystander,
    pub(super) editor: Editor,
    pub(super) world: World,
}

/// Connected before the attack began.
struct Bystander {
    agent: Agent,
    line: Line,
}

impl Stage {
    /// With these lines in `config.toml`.
    pub(super) fn new(config: &str, all: bool, seed: u64) -> Stage {
        let well_known = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let world = World::with_config(&format!("ppxai_port = {well_known}\n{config}"));
        world.file("confidential.txt", SECRET);
        fs::write(world.folder("outside").join("secret.txt"), SECRET).unwrap();
        let started = world.command(&["hub", "start"]).env("PPXAI_BRIDGE_TOKEN", PPXAI_TOKEN).output();
        assert!(started.unwrap().status.success());
        let editor = Editor::attach(&world);
        let port = editor.port();
        let token = Dialect::Claude.lock(&world, port)["authToken"].as_str().unwrap().to_owned();
        let (page, secret) = page_door::link(&world);
        let browser = Browser::with(page, &secret);
        let bystander = Bystander { agent: Agent::claude(&world, port), line: Line::to(&world) };
        let memory = Memory::of(world.hub_pid().unwrap());
        Stage { all, seed, port, well_known, page, token, browser, memory, bystander, editor, world }
    }

    /// So many in the bounded run, or so many in the long one.
    pub(super) fn so_many(&self, bounded: usize, long: usize) -> usize {
        if self.all { long } else { bounded }
    }

    pub(super) fn config_says(&self, word: &str) -> bool {
        fs::read_to_string(self.world.config_file()).unwrap().contains(word)
    }

    pub(super) fn chance(&self) -> Chance {
        Chance::new(self.seed)
    }

    pub(super) fn outside(&self) -> std::path::PathBuf {
        self.world.root().join("outside")
    }

    /// Those who were connected before are served while the attack goes on; gives how long that took.
    #[track_caller]
    pub(super) fn others_are_served(&mut self) -> Duration {
        let begun = Instant::now();
        self.bystander.agent.is_served();
        let answer = self.bystander.line.ask("ping", json!({}));
        assert!(answer["error"].is_null(), "{answer}");
        let took = begun.elapsed();
        assert!(took < AT_ONCE, "the hub was busy with the attack: others waited {took:?}");
        took
    }

    /// Whoever comes by any door is let in, in time.
    #[track_caller]
    pub(super) fn newcomers_are_served(&self) -> Duration {
        let begun = Instant::now();
        for door in Door::ALL.into_iter().filter(|door| door.is_open(self)) {
            while !door.lets_in(self) {
                assert!(begun.elapsed() < IN_TIME, "no newcomer is let in at {}", door.name());
                thread::sleep(Duration::from_millis(50));
            }
        }
        assert!(Line::to(&self.world).ask("ping", json!({}))["error"].is_null());
        begun.elapsed()
    }

    /// Nothing was proposed, asked, run or opened.
    #[track_caller]
    pub(super) fn nothing_was_done(&self) {
        assert_eq!(self.world.reviews(), Vec::<Value>::new(), "a review came into being");
        let desk = self.editor.desk();
        assert!(desk.shown.is_empty() && desk.questions.is_empty(), "{:?}", desk.asked);
        assert!(desk.ran.is_empty() && desk.opened.is_empty() && desk.applied.is_empty(), "{:?}", desk.asked);
    }

    /// Not one byte of what the attacker was after has changed.
    #[track_caller]
    pub(super) fn files_are_as_they_were(&self) {
        assert_eq!(self.world.read_text("confidential.txt"), SECRET);
        let outside: Vec<_> =
            fs::read_dir(self.outside()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(outside, [self.outside().join("secret.txt")], "something was made outside the workspace");
        assert_eq!(fs::read_to_string(&outside[0]).unwrap(), SECRET);
    }

    pub(super) fn refused(&self, name: &str) -> u64 {
        self.world.status()["refused"][name].as_u64().unwrap_or(0)
    }

    /// All refusals, of whatever kind.
    pub(super) fn refusals(&self) -> u64 {
        let refused = self.world.status()["refused"].clone();
        refused.as_object().unwrap().values().filter_map(Value::as_u64).sum()
    }

    pub(super) fn hub_is_the_same(&self) -> bool {
        self.world.hub_pid() == Some(self.memory.pid)
    }
}
