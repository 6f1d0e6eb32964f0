//! The target of an attack: a hub with a window, its page and all its endpoints, and a well-behaved user and agents.
//! Checks after each attack whether anything was read or done, and whether the others were served all the time.

use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_testkit::page_client::{self, PageSession};
use linkspan_testkit::{Agent, Editor, HubSocket, World, WsDialect};
use serde_json::{Value, json};

use super::endpoint::HubEndpoint;
use super::memory::Memory;
use crate::rng::Rng;

/// What no attacker may read, wherever it is.
pub(super) const SECRET: &str = "s3cret-words-of-the-user";

/// The token that the user has configured for ppxai.
pub(super) const PPXAI_TOKEN: &str = "ppxai-token-of-the-user";

/// Well-behaved clients are answered within this time, whatever happens. A port that is full of strangers is free
/// again when their time for a request head is over, which is five seconds; the rest is for a busy machine.
const IN_TIME: Duration = Duration::from_secs(30);

/// Clients that were connected before are not even slowed down.
const AT_ONCE: Duration = Duration::from_secs(3);

pub(super) struct AttackFixture {
    /// Longer floods and races.
    pub(super) all: bool,
    pub(super) seed: u64,
    pub(super) port: u16,
    pub(super) ppxai_port: u16,
    pub(super) page: u16,
    pub(super) token: String,
    pub(super) browser: PageSession,
    pub(super) memory: Memory,
    bystander: Bystander,
    pub(super) editor: Editor,
    pub(super) world: World,
}

/// Connected before the attack started.
struct Bystander {
    agent: Agent,
    socket: HubSocket,
}

impl AttackFixture {
    /// With these lines in `config.toml`.
    pub(super) fn new(config: &str, all: bool, seed: u64) -> AttackFixture {
        let ppxai_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let world = World::with_config(&format!("ppxai_port = {ppxai_port}\n{config}"));
        world.file("confidential.txt", SECRET);
        fs::write(world.folder("outside").join("secret.txt"), SECRET).unwrap();
        let started = world.command(&["hub", "start"]).env("PPXAI_BRIDGE_TOKEN", PPXAI_TOKEN).output();
        assert!(started.unwrap().status.success());
        let editor = Editor::attach(&world);
        let port = editor.port();
        let token = WsDialect::Claude.lock(&world, port)["authToken"].as_str().unwrap().to_owned();
        let (page, secret) = page_client::link(&world);
        let browser = PageSession::with(page, &secret);
        let bystander = Bystander { agent: Agent::claude(&world, port), socket: HubSocket::connect(&world) };
        let memory = Memory::of(world.hub_pid().unwrap());
        AttackFixture { all, seed, port, ppxai_port, page, token, browser, memory, bystander, editor, world }
    }

    /// How many in the bounded run, and how many in the long one.
    pub(super) fn amount(&self, bounded: usize, long: usize) -> usize {
        if self.all { long } else { bounded }
    }

    pub(super) fn config_says(&self, word: &str) -> bool {
        fs::read_to_string(self.world.config_file()).unwrap().contains(word)
    }

    pub(super) fn rng(&self) -> Rng {
        Rng::new(self.seed)
    }

    pub(super) fn outside(&self) -> std::path::PathBuf {
        self.world.root().join("outside")
    }

    /// Clients that were connected before are served during the attack; returns how long that took.
    #[track_caller]
    pub(super) fn assert_bystanders_served(&mut self) -> Duration {
        let begun = Instant::now();
        self.bystander.agent.is_served();
        let answer = self.bystander.socket.request("ping", json!({}));
        assert!(answer["error"].is_null(), "{answer}");
        let took = begun.elapsed();
        assert!(took < AT_ONCE, "the hub was busy with the attack: others waited {took:?}");
        took
    }

    /// New clients are admitted at every endpoint, in time.
    #[track_caller]
    pub(super) fn assert_newcomers_admitted(&self) -> Duration {
        let begun = Instant::now();
        for endpoint in HubEndpoint::ALL.into_iter().filter(|endpoint| endpoint.is_open(self)) {
            while !endpoint.admits(self) {
                assert!(begun.elapsed() < IN_TIME, "no newcomer is admitted at {}", endpoint.name());
                thread::sleep(Duration::from_millis(50));
            }
        }
        assert!(HubSocket::connect(&self.world).request("ping", json!({}))["error"].is_null());
        begun.elapsed()
    }

    /// Nothing was proposed, asked, run or opened.
    #[track_caller]
    pub(super) fn assert_nothing_was_done(&self) {
        assert_eq!(self.world.reviews(), Vec::<Value>::new(), "a review was created");
        let editor = self.editor.state();
        assert!(editor.shown.is_empty() && editor.questions.is_empty(), "{:?}", editor.asked);
        assert!(
            editor.ran.is_empty() && editor.opened.is_empty() && editor.applied.is_empty(),
            "{:?}",
            editor.asked
        );
    }

    /// Not one byte of what the attacker wanted has changed.
    #[track_caller]
    pub(super) fn assert_files_unchanged(&self) {
        assert_eq!(self.world.read_text("confidential.txt"), SECRET);
        let outside: Vec<_> =
            fs::read_dir(self.outside()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(
            outside,
            [self.outside().join("secret.txt")],
            "something was created outside the workspace"
        );
        assert_eq!(fs::read_to_string(&outside[0]).unwrap(), SECRET);
    }

    pub(super) fn refused(&self, name: &str) -> u64 {
        self.world.status()["refused"][name].as_u64().unwrap_or(0)
    }

    /// All refusals, of any kind.
    pub(super) fn refusals(&self) -> u64 {
        let refused = self.world.status()["refused"].clone();
        refused.as_object().unwrap().values().filter_map(Value::as_u64).sum()
    }

    pub(super) fn is_same_hub(&self) -> bool {
        self.world.hub_pid() == Some(self.memory.pid)
    }
}
