//! What needs the person's word: agents ask to run commands, she is asked in her editor, and nothing runs that she has
//! not allowed, in this life of the hub and to this agent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::wire::WireId;
use super::world::World;

#[derive(Default)]
pub(super) struct Consent {
    /// Which agent asks for which command. Each is another.
    wanted: BTreeMap<String, usize>,
    /// What each question is about.
    questions: BTreeMap<String, String>,
    /// Commands that she said yes to, and agents to all of whose she did.
    once: BTreeSet<(u64, String)>,
    session: BTreeSet<(u64, usize)>,
    ran: BTreeSet<String>,
}

impl World {
    /// A command that nobody has asked for before.
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
            (false, _) => Err(format!("`{command}` of agent {by:?} is run, and she never allowed it")),
            (_, false) => Err(format!("`{command}` is run twice")),
        };
        self.promises.look("2: no command runs without her word, and each once", result);
    }

    /// Her word reaches the hub.
    pub(super) fn look_at_her_word(&mut self, params: &Value) {
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

    /// She answers one of the questions on her screen.
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
            false => Err(format!("{left:?} are on a screen, and nobody waits for them")),
        };
        self.promises.look("7: no question is left on a screen", result);
    }
}
