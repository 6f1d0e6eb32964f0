//! What needs the user's permission: agents ask to run commands, the user is asked in an editor, and nothing runs
//! that the user has not allowed, to this agent and during this run of the hub.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::simulation::Simulation;
use super::wire::WireId;

#[derive(Default)]
pub(super) struct Permissions {
    /// Which agent asks for which command. Each is another.
    wanted: BTreeMap<String, usize>,
    /// What each question is about.
    questions: BTreeMap<String, String>,
    /// Commands that the user allowed, and agents for which all commands are allowed.
    once: BTreeSet<(u64, String)>,
    session: BTreeSet<(u64, usize)>,
    ran: BTreeSet<String>,
}

impl Simulation {
    /// A command that was not asked for before.
    pub(super) fn new_command(&mut self, number: usize) -> Value {
        self.count("commands that agents want to run");
        let command = format!("make {}", self.word());
        self.promises.consent.wanted.insert(command.clone(), number);
        json!({ "command": command })
    }

    /// What the hub asks an editor that has to do with it.
    pub(super) fn look_at_question(&mut self, method: &str, params: &Value) {
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        match method {
            "user/ask" => drop(self.promises.consent.questions.insert(text("ask"), text("detail"))),
            "terminal/run" => self.look_at_command(&text("command")),
            _ => {}
        }
    }

    fn look_at_command(&mut self, command: &str) {
        let (life, consent) = (self.hub.life, &mut self.promises.consent);
        let by = consent.wanted.get(command).copied();
        let allowed = consent.once.contains(&(life, command.to_owned()))
            || by.is_some_and(|agent| consent.session.contains(&(life, agent)));
        let first = consent.ran.insert(command.to_owned());
        let result = match (allowed, first) {
            (true, true) => Ok(()),
            (false, _) => Err(format!("`{command}` of agent {by:?} is run, but was never allowed")),
            (_, false) => Err(format!("`{command}` is run twice")),
        };
        self.promises.look("2: no command runs without permission, and each runs once", result);
    }

    /// The user's answer reaches the hub.
    pub(super) fn check_permission_answer(&mut self, params: &Value) {
        let (life, consent) = (self.hub.life, &mut self.promises.consent);
        let Some(command) = consent.questions.get(params["ask"].as_str().unwrap_or_default()).cloned() else {
            return;
        };
        match params["result"]["option"].as_str() {
            Some("allowOnce") => drop(consent.once.insert((life, command))),
            Some("allowSession") => {
                if let Some(agent) = consent.wanted.get(&command) {
                    consent.session.insert((life, *agent));
                }
                consent.once.insert((life, command));
            }
            _ => {}
        }
    }

    /// The user answers one of the open prompts.
    pub(super) fn person_answers(&mut self, number: usize, wire: WireId) {
        let open: Vec<String> = self.editors[number].asks.iter().cloned().collect();
        if open.is_empty() {
            return;
        }
        let ask = open[self.chance.below(open.len())].clone();
        let (result, counted) = match self.chance.below(100) {
            0..40 => (json!({ "kind": "answered", "option": "allowOnce" }), "questions answered with yes"),
            40..50 => {
                (json!({ "kind": "answered", "option": "allowSession" }), "questions answered for a session")
            }
            50..90 => (json!({ "kind": "answered", "option": "deny" }), "questions answered with no"),
            _ => (json!({ "kind": "dismissed" }), "questions closed without an answer"),
        };
        self.count(counted);
        self.editors[number].asks.remove(&ask);
        self.editor_answers_question(number, wire, &json!({ "ask": ask, "result": result }));
    }

    /// When everything is settled: what is on a screen is what the hub still waits for.
    pub(super) fn look_for_unasked(&mut self) {
        let left: Vec<&String> = self.editors.iter().flat_map(|editor| &editor.asks).collect();
        let result = match left.is_empty() {
            true => Ok(()),
            false => Err(format!("{left:?} are on a screen, but no agent waits for them")),
        };
        self.promises.look("7: no question is left on a screen", result);
    }
}
