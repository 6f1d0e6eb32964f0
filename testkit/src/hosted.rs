//! Agents that the hub hosts, and the chat with them: `StandIn` is a process whose both ends the test holds, so that it
//! can say anything that an agent could say over the Agent Client Protocol.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use super::hosted_agents::{self, HostedProgram};
use super::model::{Model, Turn};
use super::{DEADLINE, HubSocket, Serve, World};

/// A connection that talks to hosted agents.
pub struct ChatClient {
    socket: HubSocket,
    next: u64,
    /// What came unasked: the changes of conversations.
    pub updates: Vec<Value>,
    /// A real agent is slower.
    pub patience: Duration,
}

impl ChatClient {
    pub fn connect(world: &World) -> ChatClient {
        ChatClient { socket: HubSocket::connect(world), next: 0, updates: Vec::new(), patience: DEADLINE }
    }

    /// The whole answer.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.socket.send(&request.to_string());
        loop {
            let message = self.socket.receive().expect("the hub closed the connection");
            if message["id"] == id {
                return message;
            }
            self.updates.push(message);
        }
    }

    /// Starts a conversation in the workspace, and allows it.
    #[track_caller]
    pub fn start(&mut self, world: &World, agent: &str) -> String {
        let folder = world.workspace();
        let answer = self.ask("chat/start", json!({ "agent": agent, "folder": folder }));
        let chat = answer["result"]["chat"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        self.ask("chat/open", json!({ "chat": chat }));
        self.allow(1);
        chat
    }

    /// Allows what is asked, once this many questions are open.
    #[track_caller]
    pub fn allow(&mut self, count: usize) {
        let asks = self.until("a question", |client| {
            let asks = client.ask("asks/list", json!({}))["result"]["asks"].as_array().cloned()?;
            (asks.len() == count).then_some(asks)
        });
        for ask in asks {
            self.ask("asks/answer", json!({ "ask": ask["ask"], "option": "allowOnce" }));
        }
    }

    #[track_caller]
    pub fn prompt(&mut self, chat: &str, text: &str) {
        let answer = self.ask("chat/prompt", json!({ "chat": chat, "text": text }));
        assert!(answer["error"].is_null(), "{answer}");
    }

    /// The conversation as it is now: `summary` and `items`.
    #[track_caller]
    pub fn open(&mut self, chat: &str) -> Value {
        self.ask("chat/open", json!({ "chat": chat }))["result"].clone()
    }

    #[track_caller]
    pub fn until<T>(&mut self, what: &str, mut look: impl FnMut(&mut ChatClient) -> Option<T>) -> T {
        let until = Instant::now() + self.patience;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            if Instant::now() >= until {
                let chats = self.ask("chat/list", json!({}));
                let items = self.open("t1")["items"].clone();
                panic!("waited in vain for {what}: {chats:#} {items:#}");
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Waits until the conversation is in this state.
    #[track_caller]
    pub fn is(&mut self, chat: &str, state: &str) -> Value {
        self.until(state, |client| {
            let now = client.open(chat);
            (now["summary"]["state"]["kind"] == state).then_some(now)
        })
    }

    /// The pending review of a tool call of the conversation.
    #[track_caller]
    pub fn review(&mut self, chat: &str) -> String {
        self.until("a review in the conversation", |client| {
            let items = client.open(chat)["items"].as_array().cloned()?;
            let review = items.iter().rev().find_map(|item| item["reviews"][0].as_str())?;
            Some(review.to_owned())
        })
    }

    /// All texts of one kind of item.
    #[track_caller]
    pub fn texts(&mut self, chat: &str, kind: &str) -> Vec<String> {
        let items = self.open(chat)["items"].as_array().cloned().unwrap_or_default();
        let texts = items.iter().filter(|item| item["kind"] == kind);
        texts.filter_map(|item| item["text"].as_str()).map(str::to_owned).collect()
    }
}

/// Adds an agent to `agents.toml`.
pub fn add_agent(world: &World, id: &str, command: &Path, args: &[&str], env: &[&str]) {
    let file = world.config_file().with_file_name("agents.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = fs::read_to_string(&file).unwrap_or_default();
    let entry =
        format!("[{id}]\ncommand = {:?}\nargs = {args:?}\nenv = {env:?}\n", command.display().to_string());
    fs::write(&file, before + &entry).unwrap();
}

/// Adds an engine to `agents.toml`, with the variable that has its token.
pub fn add_engine(world: &World, id: &str, url: &str, token: &str) {
    let file = world.config_file().with_file_name("agents.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, format!("{before}[{id}]\nengine = {url:?}\ntoken = {token:?}\n")).unwrap();
}

/// A real agent, hosted under its built-in name in a window on the workspace, with the model of the test.
#[track_caller]
pub fn real(world: &World, id: &str, script: impl IntoIterator<Item = Turn>) -> (Model, Serve) {
    let model = Model::start(script);
    let HostedProgram { program, args, variables } = hosted_agents::set_up(world, id, &model);
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    add_agent(world, id, Path::new(&program), &args, &names);
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let serve = world.serve_with(&[&world.workspace()], &variables);
    (model, serve)
}

/// An agent that the test plays.
pub struct StandIn {
    folder: PathBuf,
    to_hub: File,
    frames: Receiver<Value>,
    seen: Vec<Value>,
}

impl StandIn {
    pub const ID: &'static str = "stand-in";

    /// It is in `agents.toml`, and not started.
    pub fn new(world: &World) -> StandIn {
        let folder = world.home().join("stand-in");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("reader"), "none").unwrap();
        for name in ["to-agent", "to-hub"] {
            mknodat(CWD, folder.join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        let program = folder.join("run");
        // A reader that was killed together with the agent before this one may take what is meant for this one until it
        // is really gone: an open descriptor says that it is not.
        let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n\
                      while [ -e \"/proc/$(cat reader)/fd/0\" ]; do sleep 0.01; done\n\
                      echo $$ > pid\ncat to-hub &\necho $! > reader\n\
                      cat > to-agent\nkill \"$(cat reader)\"\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        add_agent(world, StandIn::ID, &program, &[], &[]);
        // Opened for both, so that neither end waits for the other.
        let open = |name: &str| OpenOptions::new().read(true).write(true).open(folder.join(name)).unwrap();
        let (from_hub, to_hub) = (open("to-agent"), open("to-hub"));
        let (sender, frames) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from_hub).lines().map_while(Result::ok) {
                if serde_json::from_str(&line).is_ok_and(|frame| sender.send(frame).is_err()) {
                    return;
                }
            }
        });
        StandIn { folder, to_hub, frames, seen: Vec::new() }
    }

    /// The program that it is.
    pub fn program(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// The process id of the one that was started last.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        fs::read_to_string(self.folder.join("pid")).unwrap().trim().parse().unwrap()
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.to_hub.write_all(bytes).unwrap();
        self.to_hub.flush().unwrap();
    }

    pub fn send(&mut self, frame: &Value) {
        self.send_bytes(format!("{frame}\n").as_bytes());
    }

    /// The next frame that fits.
    #[track_caller]
    pub fn receive(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + DEADLINE;
        loop {
            if let Some(at) = self.seen.iter().position(&fits) {
                return self.seen.remove(at);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.frames.recv_timeout(left) {
                Ok(frame) => self.seen.push(frame),
                Err(_) => panic!("the hub did not send {what}: {:?}", self.seen),
            }
        }
    }

    #[track_caller]
    pub fn request(&mut self, method: &str) -> Value {
        self.receive(method, |frame| frame["method"] == method)
    }

    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        self.receive("an answer", |frame| frame["method"].is_null() && frame["id"] == id)
    }

    #[track_caller]
    pub fn reply(&mut self, method: &str, result: Value) -> Value {
        let request = self.request(method);
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
        request
    }

    /// Answers until it waits for a prompt. It can load sessions, and takes pictures.
    #[track_caller]
    pub fn begins(&mut self) {
        let capabilities = json!({ "loadSession": true, "promptCapabilities": { "image": true } });
        self.reply("initialize", json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
        self.reply("session/new", json!({ "sessionId": "s1" }));
    }

    /// The text of the next prompt. The turn runs until [`StandIn::ends`] with its id.
    #[track_caller]
    pub fn prompted(&mut self) -> (Value, String) {
        let prompt = self.request("session/prompt");
        let text = prompt["params"]["prompt"][0]["text"].as_str().unwrap().to_owned();
        (prompt["id"].clone(), text)
    }

    pub fn ends(&mut self, prompt: &Value, reason: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": prompt, "result": { "stopReason": reason } }));
    }

    pub fn update(&mut self, update: Value) {
        let params = json!({ "sessionId": "s1", "update": update });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    /// Asks whether it may make this change.
    pub fn wants(&mut self, id: u64, path: &str, old: &str, new: &str) {
        let options = json!([
            { "optionId": "always", "name": "Always", "kind": "allow_always" },
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ]);
        let diff = json!({ "type": "diff", "path": path, "oldText": old, "newText": new });
        let call =
            json!({ "toolCallId": format!("e{id}"), "kind": "edit", "title": "Edit", "content": [diff] });
        let params = json!({ "sessionId": "s1", "toolCall": call, "options": options });
        self.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params,
        }));
    }

    /// The option that was chosen in the answer to this question.
    #[track_caller]
    pub fn option(&mut self, id: u64) -> Option<String> {
        self.answer(id)["result"]["outcome"]["optionId"].as_str().map(str::to_owned)
    }
}
