//! What simulated agents ask for, again if need be, and what they make of the answers.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::agent::{Agent, Ask, AskState, Call, Part};
use super::file_contents::{INSERTED, MARK};
use super::lines::changed;
use super::messages::{self, Received};
use super::simulation::{SimEvent, Simulation};
use super::wire::WireId;

impl Simulation {
    pub(super) fn agent_proposes(&mut self, number: usize, wire: WireId) {
        let ask = self.new_ask(number);
        self.agents[number].asks.push(ask);
        let ask = self.agents[number].asks.len() - 1;
        self.agent_asks(number, wire, ask);
    }

    /// What the hook of this agent asks for right now, or the agent of this hook: one change, asked for twice.
    fn asked_by_partner(&mut self, number: usize) -> Option<Ask> {
        let is_its_hook = |agent: &Agent| agent.hook_of == Some(number);
        let partner = self.agents[number].hook_of.or_else(|| self.agents.iter().position(is_its_hook))?;
        let wanted = *self.agents[partner].wanted().last()?;
        let ask = &self.agents[partner].asks[wanted];
        let known = self.agents[number].asks.iter().any(|own| own.parts[0].text == ask.parts[0].text);
        let copy = Ask { times: 0, asked: 0, since: self.now, ..ask.clone() };
        (!known && self.chance.in_hundred(60)).then_some(copy)
    }

    pub(super) fn new_ask(&mut self, number: usize) -> Ask {
        if let Some(ask) = self.asked_by_partner(number) {
            self.count("changes asked for by a hook and its agent");
            return ask;
        }
        let home = self.agents[number].home;
        let dialect = self.agents[number].dialect;
        let mut names = ["lf", "crlf", "bom", "open", ""];
        self.chance.shuffle(&mut names);
        let own_tool = self.agents[number].own_tool;
        let several =
            if dialect == "ppxai" && self.chance.in_hundred(60) { 2 + self.chance.below(2) } else { 1 };
        let parts = names.into_iter().take(several).map(|name| match name {
            "" => format!("/ws{home}/new-{}.txt", self.chance.below(50)).into(),
            name => format!("/ws{home}/{name}.txt").into(),
        });
        let paths: Vec<PathBuf> = parts.collect();
        let by_place = dialect == "ppxai" && self.chance.in_hundred(50);
        let parts = paths.into_iter().map(|path| self.part(path, by_place)).collect();
        let by_agent = match dialect {
            "claude" | "gemini" => true,
            "nexus3" => own_tool,
            "linkspan" if self.agents[number].hook_of.is_some() => true,
            "linkspan" => self.chance.in_hundred(30),
            _ => false,
        };
        let is_hook = self.agents[number].hook_of.is_some();
        let in_set = dialect == "linkspan" && !is_hook && self.chance.in_hundred(50);
        let set = in_set.then(|| format!("set {}", self.chance.below(3)));
        self.count("proposals");
        if several > 1 {
            self.count("sets proposed by one call");
        } else if set.is_some() {
            self.count("proposals of a named set");
        }
        Ask { parts, set, state: AskState::Wanted, times: 0, asked: 0, by_agent, since: self.now }
    }

    fn part(&mut self, path: PathBuf, by_place: bool) -> Part {
        if by_place && self.disk.contains_key(&path) {
            self.count("edits by place");
            let text = format!("{}\n", self.word().replace("line", INSERTED));
            let before_line = u32::try_from(self.chance.below(6)).ok();
            return Part { path, text, before_line };
        }
        let bytes = self.disk.get(&path).cloned().unwrap_or_default();
        let held = String::from_utf8(bytes).expect("all files are UTF-8");
        let held = held.trim_start_matches('\u{feff}');
        let held = if self.chance.in_hundred(50) { held.replace("\r\n", "\n") } else { held.to_owned() };
        Part { path, text: self.changed(&held), before_line: None }
    }

    pub(super) fn changed(&mut self, text: &str) -> String {
        let mut chance = self.chance.clone();
        let text = changed(text, &mut chance, || self.word());
        self.chance = chance;
        text
    }

    pub(super) fn agent_asks(&mut self, number: usize, wire: WireId, at: usize) {
        let agent = &mut self.agents[number];
        let ask = &mut agent.asks[at];
        ask.times += 1;
        let (tool, arguments) = messages::proposal(agent.dialect, ask, at);
        self.agent_call(number, wire, tool, &arguments, Call::Ask(at));
    }

    fn agent_call(&mut self, number: usize, wire: WireId, tool: &str, arguments: &Value, call: Call) {
        let agent = &mut self.agents[number];
        agent.next_id += 1;
        let id = agent.next_id;
        agent.calls.insert(id, call);
        let frame = messages::call(agent.dialect, id, tool, arguments);
        self.agent_says(wire, &frame);
    }

    pub(super) fn agent_calls(&mut self, number: usize, wire: WireId) {
        self.count("calls of machines");
        let path = format!("/ws{}/lf.txt", self.agents[number].home);
        let runs = match self.agents[number].dialect {
            "ppxai" => Some("ide.run_in_terminal"),
            "linkspan" if self.agents[number].hook_of.is_none() => Some("runInTerminal"),
            _ => None,
        };
        if let Some(tool) = runs.filter(|_| self.chance.in_hundred(60)) {
            let command = self.new_command(number);
            return self.agent_call(number, wire, tool, &command, Call::Machine);
        }
        let (tool, arguments) = match (self.agents[number].dialect, self.chance.below(4)) {
            ("ppxai", 0) => ("ide.get_open_files", json!({})),
            ("ppxai", 1) => ("ide.get_diagnostics", json!({})),
            ("ppxai", 2) => ("ide.get_workspace_info", json!({})),
            ("ppxai", _) => ("ide.read_file", json!({ "path": path })),
            (_, 0) => ("getOpenEditors", json!({})),
            (_, 1) => ("getDiagnostics", json!({})),
            (_, 2) => ("getWorkspaceFolders", json!({})),
            ("linkspan", _) => ("checkDocumentDirty", json!({ "path": path })),
            _ => ("checkDocumentDirty", json!({ "filePath": path })),
        };
        self.agent_call(number, wire, tool, &arguments, Call::Machine);
    }

    pub(super) fn agent_takes_back(&mut self, number: usize, wire: WireId, ask: usize) {
        let of = |call: &Call| matches!(call, Call::Ask(at) if *at == ask);
        let open = self.agents[number].calls.iter().filter(|(_, call)| of(call));
        let open: Vec<i64> = open.map(|(id, _)| *id).collect();
        if open.is_empty() {
            return;
        }
        self.count("proposals taken back");
        self.agents[number].asks[ask].state = AskState::Dropped;
        for id in open {
            let params = json!({ "requestId": id });
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            self.call_cancelled(wire, id);
            self.agent_says(wire, &cancel);
        }
    }

    pub(super) fn agent_told(&mut self, number: usize, at: usize, frame: &Value) {
        let agent = &mut self.agents[number];
        let ask = &mut agent.asks[at];
        let heard = match messages::heard(agent.dialect, frame) {
            Received::Set(parts) => {
                ask.state = AskState::Answered;
                self.count("sets told");
                parts.into_iter().map(|(_, part)| part).collect()
            }
            // It may be there, and then must not be made again.
            Received::Failed(_) if ask.is_by_place() => {
                ask.state = AskState::Dropped;
                return self.count("edits by place that failed");
            }
            Received::Failed(why) if why.contains("decide in the agent's terminal") => {
                ask.state = AskState::Dropped;
                return self.count("changes left to the agent's terminal");
            }
            Received::Failed(_) | Received::Other => {
                ask.times = ask.times.saturating_sub(1);
                return self.count("changes that failed");
            }
            one => {
                ask.state =
                    if ask.state == AskState::Dropped { AskState::Dropped } else { AskState::Answered };
                vec![one]
            }
        };
        for heard in heard {
            self.agent_told_one(number, at, heard);
        }
    }

    fn agent_told_one(&mut self, number: usize, at: usize, heard: Received) {
        match heard {
            Received::Accepted { text } => {
                self.count("changes told to be accepted");
                let ask = &self.agents[number].asks[at];
                let part = ask.parts.first().filter(|_| ask.by_agent);
                let path = part.map(|part| part.path.clone());
                let own = part.filter(|_| self.agents[number].own_tool).map(|part| part.text.clone());
                if let Some((path, text)) = path.zip(text.or(own)) {
                    let delay = self.delay();
                    self.later(delay, SimEvent::AgentWrites(number, path, text));
                }
            }
            Received::Rejected => self.count("changes told to be rejected"),
            // It is not asked for alone: what the agent makes of a set that failed in part is its own affair.
            Received::Failed(_) | Received::Other | Received::Set(_) => {
                self.count("parts of sets that failed")
            }
        }
    }

    /// In its dialect the agent is the one who writes; an answer that it receives once, it writes once.
    pub(super) fn agent_writes(&mut self, number: usize, path: PathBuf, text: &str) {
        // A hook leaves that to its agent, which writes it once, even if both were told.
        let writer = self.agents[number].hook_of.unwrap_or(number);
        let written = text.strip_prefix(MARK).unwrap_or(text).to_owned();
        if self.agents[writer].wrote.insert((path.clone(), written)) {
            self.count("writes of agents");
            self.trace.tell(self.now, || format!("agent{number} writes {}", path.display()));
            // Only Linkspan's own agents know that a mark is not part of the text. The others write what they are told.
            let marked = self.disk.get(&path).is_some_and(|bytes| bytes.starts_with(MARK.as_bytes()));
            let mark = if marked && self.agents[number].dialect == "linkspan" { MARK } else { "" };
            self.overwritten(&path);
            self.puts(path, Some(format!("{mark}{text}").into_bytes()));
        }
    }
}
