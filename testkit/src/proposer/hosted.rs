//! An agent that the hub hosts and that speaks the Agent Client Protocol. The user asks it for the changes in a
//! conversation; when it or the hub is lost, the user asks again in the same conversation, and its session is loaded.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use linkspan_editor_api::{Decoder, Limits, encode};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::hosted_process::{HostedProcess, ID};
use super::{ProposalOutcome, ProposedChange, Proposer, World};

/// How long an answer of the hub may take, and the start of the process.
const ANSWER: Duration = Duration::from_secs(5);
const BEGIN: Duration = Duration::from_secs(10);
const MOMENT: Duration = Duration::from_millis(10);

pub(super) struct HostedAgent {
    socket: PathBuf,
    chat: String,
    process: HostedProcess,
    /// The turn that runs.
    prompt: Option<Value>,
    next_id: u64,
    /// Questions without an answer.
    asked: Vec<(u64, Vec<ProposedChange>)>,
    /// The answer was no: what follows says whether the hub has written it.
    declined: Vec<ProposedChange>,
    /// The words of the prompts of this process.
    told: String,
    outcomes: Vec<ProposalOutcome>,
}

impl HostedAgent {
    /// Its process runs, and its user has asked it for something.
    pub(super) fn connect(world: &World) -> Option<HostedAgent> {
        let (socket, folder) = (world.socket(), HostedProcess::install(world));
        let chat = conversation(&socket, world)?;
        let mut state = ask(&socket, "chat/open", json!({ "chat": chat }))?;
        // A process of an earlier attempt may be about to end.
        if state["summary"]["state"]["kind"] == "working" {
            return None;
        }
        if state["summary"]["state"]["kind"] != "starting" || state["summary"]["queued"] == 0 {
            state = ask(&socket, "chat/prompt", json!({ "chat": chat, "text": "please change it" }))?;
        }
        drop(state);
        let process = started(&socket, &folder)?;
        let mut agent = HostedAgent {
            socket,
            chat,
            process,
            prompt: None,
            next_id: 0,
            asked: Vec::new(),
            declined: Vec::new(),
            told: String::new(),
            outcomes: Vec::new(),
        };
        agent.is_prompted().then_some(agent)
    }

    /// Answers until a turn runs.
    fn is_prompted(&mut self) -> bool {
        let until = Instant::now() + BEGIN;
        while self.prompt.is_none() && !self.process.has_ended() && Instant::now() < until {
            if let Some(frame) = self.process.receive(MOMENT) {
                self.received(&frame);
            }
        }
        self.prompt.is_some()
    }

    fn received(&mut self, frame: &Value) {
        let reply = |result: Value| json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result });
        match frame["method"].as_str() {
            Some("initialize") => {
                let capabilities = json!({ "loadSession": true });
                self.process.send(&reply(json!({ "protocolVersion": 1, "agentCapabilities": capabilities })));
            }
            Some("session/new") => self.process.send(&reply(json!({ "sessionId": "s1" }))),
            Some("session/load") => self.process.send(&reply(json!({}))),
            Some("session/prompt") => {
                self.prompt = Some(frame["id"].clone());
                self.told += &frame["params"]["prompt"].to_string();
                let declined = std::mem::take(&mut self.declined);
                let left = self.without_told(declined);
                if self.told.contains("could not be reviewed") {
                    let why = std::mem::take(&mut self.told);
                    let failed = left.into_iter().map(|wanted| Some(wanted.path));
                    self.outcomes
                        .extend(failed.map(|path| ProposalOutcome::Failed { path, why: why.clone() }));
                } else {
                    self.declined = left;
                }
            }
            Some(_) => {}
            None => self.answered(frame),
        }
    }

    /// What the prompts call accepted is an outcome; returns the rest.
    fn without_told(&mut self, mut changes: Vec<ProposedChange>) -> Vec<ProposedChange> {
        let is_told =
            |wanted: &mut ProposedChange| self.told.contains(&wanted.path) && self.told.contains("accepted");
        let told = changes.extract_if(.., is_told);
        self.outcomes.extend(told.map(|wanted| ProposalOutcome::Accepted { path: wanted.path, text: None }));
        changes
    }

    fn answered(&mut self, frame: &Value) {
        let Some(at) = self.asked.iter().position(|(id, _)| frame["id"] == *id) else { return };
        let (id, changes) = self.asked.remove(at);
        let outcome = &frame["result"]["outcome"];
        let is_accepted = outcome["optionId"] == "yes";
        for wanted in changes {
            let ProposedChange { path, after, .. } = &wanted;
            if is_accepted {
                fs::write(path, after).unwrap();
                let (path, text) = (path.clone(), Some(after.clone()));
                self.outcomes.push(ProposalOutcome::Accepted { path, text });
            } else if outcome["optionId"] == "no" {
                self.declined.push(wanted);
            } else {
                let (path, why) = (Some(path.clone()), frame.to_string());
                self.outcomes.push(ProposalOutcome::Failed { path, why });
            }
        }
        let status = if is_accepted { "completed" } else { "failed" };
        let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": tool(id), "status": status });
        let params = json!({ "sessionId": "s1", "update": update });
        self.process.send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    /// Nothing more is wanted: the turn ends.
    fn end_turn(&mut self) {
        if let Some(prompt) = self.prompt.take_if(|_| self.asked.is_empty()) {
            let result = json!({ "stopReason": "end_turn" });
            self.process.send(&json!({ "jsonrpc": "2.0", "id": prompt, "result": result }));
        }
    }

    /// The turn is over and nothing was said about them: they were rejected.
    fn settle_declined(&mut self) {
        let state = ask(&self.socket, "chat/open", json!({ "chat": self.chat }));
        let is_idle = state.is_some_and(|state| state["summary"]["state"]["kind"] == "idle");
        if is_idle && self.process.receive(MOMENT).is_none_or(|frame| self.is_nothing(&frame)) {
            let declined = self.declined.drain(..);
            self.outcomes.extend(declined.map(|wanted| ProposalOutcome::Rejected { path: wanted.path }));
        }
    }

    /// Waits until a hub that runs knows that the process is gone: only then what it asked is withdrawn.
    fn is_missed(&self) {
        let until = Instant::now() + BEGIN;
        while Instant::now() < until
            && let Some(state) = ask(&self.socket, "chat/open", json!({ "chat": self.chat }))
            && state["summary"]["state"]["kind"] != "stopped"
        {
            std::thread::sleep(MOMENT);
        }
    }

    fn is_nothing(&mut self, frame: &Value) -> bool {
        self.received(frame);
        self.prompt.is_none()
    }
}

impl Proposer for HostedAgent {
    fn propose(&mut self, changes: &[ProposedChange]) {
        if self.prompt.is_none() {
            let prompt = json!({ "chat": self.chat, "text": "please change it again" });
            if ask(&self.socket, "chat/prompt", prompt).is_none() || !self.is_prompted() {
                return;
            }
        }
        let changes = self.without_told(changes.to_vec());
        if changes.is_empty() {
            return;
        }
        let diffs = changes.iter().map(|wanted| {
            let ProposedChange { path, before, after } = wanted;
            json!({ "type": "diff", "path": path, "oldText": before, "newText": after })
        });
        let options = json!([
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ]);
        self.next_id += 1;
        let content: Vec<Value> = diffs.collect();
        let call =
            json!({ "toolCallId": tool(self.next_id), "kind": "edit", "title": "Edit", "content": content });
        let params = json!({ "sessionId": "s1", "toolCall": call, "options": options });
        self.process.send(&json!({
            "jsonrpc": "2.0", "id": self.next_id, "method": "session/request_permission", "params": params,
        }));
        self.asked.push((self.next_id, changes));
    }

    fn hear(&mut self, patience: Duration) -> Option<ProposalOutcome> {
        let until = Instant::now() + patience;
        loop {
            if !self.outcomes.is_empty() {
                return Some(self.outcomes.remove(0));
            }
            if let Some(frame) = self.process.receive(MOMENT) {
                self.received(&frame);
                continue;
            }
            self.end_turn();
            if !self.declined.is_empty() && self.prompt.is_none() && !self.process.has_ended() {
                self.settle_declined();
            }
            if self.outcomes.is_empty() && (self.process.has_ended() || Instant::now() >= until) {
                return None;
            }
        }
    }

    fn has_lost_the_hub(&self) -> bool {
        self.process.has_ended() && self.outcomes.is_empty()
    }

    fn come_back(&mut self, world: &World, _port: u16, changes: &[ProposedChange]) -> bool {
        let Some(mut again) = HostedAgent::connect(world) else { return false };
        again.next_id = self.next_id;
        *self = again;
        self.propose(changes);
        true
    }

    fn freeze(&self) {
        self.process.signal(Signal::STOP);
    }

    fn thaw(&self) {
        self.process.signal(Signal::CONT);
    }

    fn cut_off(&mut self) {
        self.process.cut_off();
        self.is_missed();
    }
}

impl Drop for HostedAgent {
    fn drop(&mut self) {
        // Unless it was replaced.
        if !self.process.has_ended() {
            self.process.signal(Signal::KILL);
            self.is_missed();
        }
    }
}

/// A process that has begun to answer. `None` if the hub did not start it.
pub(super) fn half_open(world: &World) -> Option<HostedProcess> {
    let (socket, folder) = (world.socket(), HostedProcess::install(world));
    conversation(&socket, world)?;
    let mut process = started(&socket, &folder)?;
    process.send_half();
    Some(process)
}

fn tool(id: u64) -> String {
    format!("call-{id}")
}

/// The conversation with this agent, new or not.
fn conversation(socket: &PathBuf, world: &World) -> Option<String> {
    let chats = ask(socket, "chat/list", json!({}))?;
    if let Some(chat) = chats["chats"][0]["chat"].as_str() {
        return Some(chat.to_owned());
    }
    let start = json!({ "agent": ID, "folder": world.workspace() });
    Some(ask(socket, "chat/start", start)?["chat"].as_str()?.to_owned())
}

/// Its process, once the user has allowed that.
fn started(socket: &PathBuf, folder: &std::path::Path) -> Option<HostedProcess> {
    let until = Instant::now() + BEGIN;
    while Instant::now() < until {
        if let Some(process) = HostedProcess::take(folder) {
            return Some(process);
        }
        for open in ask(socket, "asks/list", json!({}))?["asks"].as_array()? {
            ask(socket, "asks/answer", json!({ "ask": open["ask"], "option": "allowOnce" }));
        }
        std::thread::sleep(MOMENT);
    }
    None
}

/// The result of one request on a connection of its own; `None` if there is no hub, or it refuses.
fn ask(socket: &PathBuf, method: &str, params: Value) -> Option<Value> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    stream.write_all(&encode(request.to_string().as_bytes())).ok()?;
    let (mut decoder, mut buffer) = (Decoder::new(Limits::default()), [0; 4096]);
    loop {
        while let Some(body) = decoder.next().ok()? {
            let message: Value = serde_json::from_slice(&body).ok()?;
            if message["id"] == 1 && message["method"].is_null() {
                return message.get("result").cloned();
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            length => decoder.push(&buffer[..length]),
        }
    }
}
