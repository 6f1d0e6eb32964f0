//! Permissions that are remembered, answers from anywhere, and taking back: nothing is done without a word for it.

use std::collections::BTreeSet;

use linkspan_editor_api::PermissionKind;
use linkspan_review::AgentId;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::own_dialect::{call, join, tool_result};
use super::permission_prompts::{AGENT, attached_hub, kind, questions, respond_to_prompt, run, runs};
use super::support::{COMMAND, EDITOR};
use crate::config::{ConsentConfig, WorkspaceConfig};
use crate::core::harness::CoreHarness;
use crate::core::{ConnectionId, Event};

fn command(hub: &mut CoreHarness, method: &str, params: Value) -> Value {
    let id = hub.request(COMMAND, method, params);
    hub.response_to(COMMAND, id).cloned().unwrap_or_default()
}

fn asks(hub: &mut CoreHarness) -> Vec<Value> {
    command(hub, "asks/list", json!({}))["result"]["asks"].as_array().unwrap().clone()
}

fn answer(hub: &mut CoreHarness, ask: &Value, option: &str) -> Value {
    command(hub, "asks/answer", json!({ "ask": ask["ask"], "option": option }))
}

fn watched(hub: &CoreHarness, kind: &str) -> Vec<Value> {
    let told = hub.to_connections.iter().filter(|(connection, _)| *connection == COMMAND);
    let what = told.map(|(_, message)| message["params"]["what"].clone());
    what.filter(|what| what["kind"] == kind).collect()
}

#[test]
fn a_prompt_is_answered_on_any_surface_and_closed_on_all() {
    let mut hub = attached_hub();
    command(&mut hub, "hub/watch", json!({}));
    join(&mut hub, AGENT, "k3y");
    run(&mut hub, json!({ "command": "ls", "cwd": "/ws/src" }));
    let asked = asks(&mut hub);
    assert_eq!(asked.len(), 1);
    assert_eq!(watched(&hub, "asked")[0]["asked"], asked[0]);
    assert_eq!((&asked[0]["deed"], &asked[0]["folders"]), (&json!("command"), &json!(["/ws"])));
    assert_eq!(questions(&hub), [asked[0]["ask"].as_str().unwrap()]);

    assert_eq!(answer(&mut hub, &asked[0], "allowOnce")["result"]["taken"], true);
    assert_eq!(answer(&mut hub, &asked[0], "allowOnce")["result"]["taken"], false);
    assert_eq!(runs(&hub), 1);
    assert_eq!(hub.requests_to_editor("user/unask").len(), 1);
    let over = &watched(&hub, "askOver")[0];
    assert_eq!((&over["ask"], &over["option"]), (&asked[0]["ask"], &json!("allowOnce")));

    run(&mut hub, json!({ "command": "ls" }));
    respond_to_prompt(&mut hub, "deny");
    assert_eq!(watched(&hub, "askOver")[1]["by"], "Editor");
    assert_eq!(hub.requests_to_editor("user/unask").len(), 1, "it knows");
}

#[test]
fn a_prompt_without_an_editor_waits_for_another_surface() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({ "terminal": true }));
    hub.event(Event::ConnectionOpened { connection: COMMAND });
    join(&mut hub, AGENT, "k3y");
    hub.editor_answers.insert("ping", json!({}));
    let waiting = run(&mut hub, json!({ "command": "ls" }));
    for _ in 0..3600 {
        hub.wait_seconds(1);
        hub.request(AGENT, "ping", json!({}));
    }
    assert_eq!((tool_result(&hub, AGENT, waiting), questions(&hub).len()), (None, 0));
    let asked = asks(&mut hub);
    answer(&mut hub, &asked[0], "allowOnce");
    assert_eq!(runs(&hub), 1);
    run(&mut hub, json!({ "command": "ls" }));
    hub.event(Event::ConnectionClosed { connection: AGENT });
    assert_eq!(asks(&mut hub), [] as [Value; 0]);
}

#[test]
fn always_is_remembered_for_the_next_agent_of_that_name_until_it_is_revoked() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    run(&mut hub, json!({ "command": "one" }));
    run(&mut hub, json!({ "command": "two" }));
    respond_to_prompt(&mut hub, "allowAlways");
    assert_eq!((runs(&hub), questions(&hub).len()), (2, 2), "both by the same word");
    hub.event(Event::ConnectionClosed { connection: AGENT });
    let other = ConnectionId(12);
    join(&mut hub, other, "0ther");
    call(&mut hub, other, "runInTerminal", json!({ "command": "three" }));
    assert_eq!(runs(&hub), 3);
    let listed = command(&mut hub, "clients/list", json!({}))["result"]["clients"].clone();
    assert_eq!(listed[0]["may"][0]["deed"], "command", "{listed}");
    assert!(listed[0]["may"][0]["since"].is_string() && listed[1].is_null(), "{listed}");

    let revoked = command(&mut hub, "clients/revoke", json!({ "name": "tester", "deeds": ["command"] }));
    assert_eq!(revoked["result"]["revoked"], 1);
    call(&mut hub, other, "runInTerminal", json!({ "command": "four" }));
    assert_eq!((runs(&hub), questions(&hub).len()), (3, 3));
}

#[test]
fn a_grant_that_cannot_be_remembered_counts_for_the_session() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    run(&mut hub, json!({ "command": "one" }));
    hub.clients = Err("the disk is full".into());
    respond_to_prompt(&mut hub, "allowAlways");
    run(&mut hub, json!({ "command": "two" }));
    assert_eq!((runs(&hub), questions(&hub).len()), (2, 1));
    let code = call(&mut hub, AGENT, "executeCode", json!({ "code": "1" }));
    let offered = asks(&mut hub)[0]["options"].clone();
    assert_eq!(offered, json!(["allowOnce", "allowSession", "deny"]), "not what would not be kept");
    let refused = asks(&mut hub)[0].clone();
    assert!(answer(&mut hub, &refused, "allowAlways")["error"].is_object());
    assert_eq!(tool_result(&hub, AGENT, code), None);
    let problem = command(&mut hub, "clients/list", json!({}))["result"]["problem"].clone();
    assert_eq!(problem, "the disk is full");
    assert!(command(&mut hub, "clients/revoke", json!({}))["error"].is_object());
    run(&mut hub, json!({ "command": "three" }));
    assert_eq!(runs(&hub), 2, "what was allowed for the session is revoked all the same");
}

#[test]
fn a_permission_that_is_ruled_out_is_neither_asked_for_nor_granted() {
    let mut hub = attached_hub();
    join(&mut hub, AGENT, "k3y");
    let waits = run(&mut hub, json!({ "command": "one" }));
    respond_to_prompt(&mut hub, "allowSession");
    assert_eq!((runs(&hub), tool_result(&hub, AGENT, waits)), (1, None));
    let consent = ConsentConfig { never: vec![PermissionKind::Command] };
    hub.workspace = vec![WorkspaceConfig { consent, ..WorkspaceConfig::default() }];
    hub.notify(EDITOR, "folders/changed", json!({ "folders": ["/ws"] }));
    let refused = run(&mut hub, json!({ "command": "two" }));
    assert_eq!(kind(&hub, refused), "denied");
    assert_eq!((runs(&hub), questions(&hub).len()), (1, 1));
}

#[test]
fn an_agent_is_allowed_something_by_command_before_it_asks() {
    let mut hub = attached_hub();
    let allow = |name: &str, more: Value| {
        let mut params = json!({ "name": name, "folder": "/ws", "deeds": ["command"] });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let unknown = command(&mut hub, "clients/allow", allow("tester", json!({})));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("dialect"), "{unknown}");
    for wrong in [
        allow("tester", json!({ "dialect": "klingon" })),
        allow("tester", json!({ "session": true })),
        allow("tester", json!({ "dialect": "linkspan", "folder": "ws" })),
        allow("tester", json!({ "dialect": "linkspan", "deeds": [] })),
    ] {
        assert!(command(&mut hub, "clients/allow", wrong.clone())["error"].is_object(), "{wrong}");
    }
    let allowed = command(&mut hub, "clients/allow", allow("tester", json!({ "dialect": "linkspan" })));
    assert!(allowed["error"].is_null(), "{allowed}");
    join(&mut hub, AGENT, "k3y");
    run(&mut hub, json!({ "command": "one" }));
    assert_eq!((runs(&hub), questions(&hub).len()), (1, 0));
}

#[test]
fn no_agent_gets_at_what_is_linkspans_own() {
    let mut hub = attached_hub();
    hub.files.insert("/ws/own/clients.toml".into(), Vec::new());
    join(&mut hub, AGENT, "k3y");
    for (tool, arguments) in [
        ("proposeChange", json!({ "path": "/ws/own/clients.toml", "newText": "x" })),
        ("proposeChange", json!({ "path": "/ws/own/new.toml", "newText": "x" })),
        ("openFile", json!({ "path": "/ws/own/clients.toml" })),
        ("runInTerminal", json!({ "command": "ls", "cwd": "/ws/own" })),
    ] {
        let refused = call(&mut hub, AGENT, tool, arguments);
        assert_eq!(kind(&hub, refused), "denied", "{tool}");
    }
    assert!(hub.reviews().is_empty());
}

/// What may happen to two agents that ask for commands.
#[derive(Debug, Clone)]
enum Step {
    /// The agent asks to run something.
    Run(usize),
    /// The oldest question of that agent is answered.
    Answer(usize, &'static str),
    Revoke(Option<usize>),
    /// It goes, with or without a goodbye, and is back at once.
    Return(usize, bool),
    Rename(usize),
    Cancel(usize),
    /// Longer than what is allowed for a session outlives its agent.
    StayAway(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let agent = 0..2_usize;
    let answers = prop::sample::select(vec!["allowOnce", "allowSession", "allowAlways", "deny"]);
    let step = prop_oneof![
        4 => agent.clone().prop_map(Step::Run),
        4 => (agent.clone(), answers).prop_map(|(agent, answer)| Step::Answer(agent, answer)),
        1 => prop::option::of(agent.clone()).prop_map(Step::Revoke),
        1 => (agent.clone(), any::<bool>()).prop_map(|(agent, goodbye)| Step::Return(agent, goodbye)),
        1 => agent.clone().prop_map(Step::Rename),
        1 => agent.clone().prop_map(Step::Cancel),
        1 => agent.prop_map(Step::StayAway),
    ];
    prop::collection::vec(step, 1..40)
}

/// Two agents on the window's port, which are known by their names alone, and what they were allowed by this book.
struct Play {
    hub: CoreHarness,
    agents: [AgentId; 2],
    names: [String; 2],
    next: u64,
    calls: i64,
    /// Calls that wait, oldest first, with the question of each.
    waiting: [Vec<(i64, String)>; 2],
    session: BTreeSet<String>,
    always: BTreeSet<String>,
    expected: usize,
}

impl Play {
    fn new() -> Play {
        let names = ["one", "two"].map(String::from);
        let mut play = Play {
            hub: attached_hub(),
            agents: [AgentId(1), AgentId(3)],
            names,
            next: 5,
            calls: 100,
            waiting: [Vec::new(), Vec::new()],
            session: BTreeSet::new(),
            always: BTreeSet::new(),
            expected: 0,
        };
        for of in 0..2 {
            play.open(of);
        }
        play
    }

    fn open(&mut self, of: usize) {
        let dialect = linkspan_dialect::by_name("claude").unwrap();
        let (agent, window) = (self.agents[of], linkspan_review::WindowId(1));
        self.hub.event(Event::AgentOpened { agent, window, dialect, called: None });
        self.introduce(of);
    }

    fn introduce(&mut self, of: usize) {
        let who = json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": self.names[of] } });
        let frame = json!({ "jsonrpc": "2.0", "id": "i", "method": "initialize", "params": who });
        self.hub.frame(self.agents[of], &frame);
    }

    fn is_allowed(&self, of: usize) -> bool {
        self.session.contains(&self.names[of]) || self.always.contains(&self.names[of])
    }

    fn executed(&self) -> usize {
        self.hub.requests_to_editor("code/execute").len()
    }

    fn go(&mut self, step: &Step) {
        match *step {
            Step::Run(of) => {
                self.calls += 1;
                self.hub.now_ms += 5_000;
                let before = questions(&self.hub).len();
                self.hub.call(self.agents[of], self.calls, "executeCode", json!({ "code": "1" }));
                let asked = questions(&self.hub);
                if self.is_allowed(of) {
                    self.expected += 1;
                } else if asked.len() > before {
                    self.waiting[of].push((self.calls, asked.last().unwrap().clone()));
                }
            }
            Step::Answer(of, option) => {
                if self.waiting[of].is_empty() {
                    return;
                }
                let (_, ask) = self.waiting[of].remove(0);
                let id = self.hub.request(COMMAND, "asks/answer", json!({ "ask": ask, "option": option }));
                assert_eq!(self.hub.response_to(COMMAND, id).unwrap()["result"]["taken"], true);
                self.expected += usize::from(option != "deny");
                let grants = match option {
                    "allowSession" => &mut self.session,
                    "allowAlways" => &mut self.always,
                    _ => return,
                };
                grants.insert(self.names[of].clone());
                self.expected += self.waiting[of].len();
                self.waiting[of].clear();
            }
            Step::Revoke(of) => {
                let name = of.map(|of| self.names[of].clone());
                self.hub.request(COMMAND, "clients/revoke", json!({ "name": name }));
                let stays = |known: &String| name.as_ref().is_some_and(|name| name != known);
                self.session.retain(stays);
                self.always.retain(stays);
            }
            Step::Return(of, said_goodbye) => {
                self.leave(of, said_goodbye);
                if said_goodbye {
                    self.session.remove(&self.names[of]);
                }
                self.open(of);
            }
            Step::StayAway(of) => {
                self.leave(of, false);
                self.hub.now_ms += 601_000;
                self.session.remove(&self.names[of]);
                self.open(of);
            }
            Step::Rename(of) => {
                self.session.remove(&self.names[of]);
                self.waiting[of].clear();
                self.names[of] = format!("{}x", self.names[of]);
                self.introduce(of);
            }
            Step::Cancel(of) => {
                if let Some((call, _)) = self.waiting[of].pop() {
                    let params = json!({ "requestId": call });
                    let frame =
                        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                    self.hub.frame(self.agents[of], &frame);
                }
            }
        }
    }

    fn leave(&mut self, of: usize, said_goodbye: bool) {
        self.hub.event(Event::AgentClosed { agent: self.agents[of], said_goodbye });
        self.waiting[of].clear();
        self.agents[of] = AgentId(self.next);
        self.next += 2;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_carried_out_without_a_word_for_it(steps in steps()) {
        let mut play = Play::new();
        for step in &steps {
            play.go(step);
            prop_assert_eq!(play.executed(), play.expected, "after {:?}", step);
            let open: usize = play.waiting.iter().map(Vec::len).sum();
            prop_assert_eq!(asks(&mut play.hub).len(), open, "after {:?}", step);
        }
    }
}
