//! A model server on 127.0.0.1 that follows a script: real agents use it instead of their vendor's. It records every
//! request, so that a test can assert what the model received. It is also the proxy of those agents: it refuses and
//! records their requests to other servers.

mod anthropic;
mod gemini;
mod http;
mod ollama;
mod openai;
mod responses;

use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use http::Request;

/// A real agent on a busy machine is slower than ours.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The model's answer in one turn.
#[derive(Debug, Clone)]
pub enum Turn {
    /// A text, which ends the agent's turn.
    Says(String),
    /// A call of a tool of the agent.
    Calls { tool: String, input: Value },
    /// A text in two pieces. The second is sent after [`Model::go_on`].
    Streams { first: String, second: String },
    /// An error of the server.
    Refuses { status: u16, message: String },
}

impl Turn {
    /// The pieces of its text.
    fn pieces(&self) -> Vec<&str> {
        match self {
            Turn::Says(text) => vec![text],
            Turn::Streams { first, second } => vec![first, second],
            Turn::Calls { .. } | Turn::Refuses { .. } => Vec::new(),
        }
    }

    pub fn streams(first: &str, second: &str) -> Turn {
        Turn::Streams { first: first.to_owned(), second: second.to_owned() }
    }

    pub fn refuses(status: u16, message: &str) -> Turn {
        Turn::Refuses { status, message: message.to_owned() }
    }

    pub fn says(text: &str) -> Turn {
        Turn::Says(text.to_owned())
    }

    pub fn calls(tool: &str, input: Value) -> Turn {
        Turn::Calls { tool: tool.to_owned(), input }
    }
}

/// The result of a tool call, as the agent sent it to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub text: String,
    pub is_error: bool,
}

/// One text of the conversation, in the order in which the model received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelText {
    pub role: Role,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    System,
    Developer,
    User,
    Assistant,
    /// A call of a tool; its text is the name of the tool.
    Call,
    /// The result of a tool.
    Tool,
}

impl ModelText {
    pub fn new(role: Role, text: impl Into<String>) -> ModelText {
        ModelText { role, text: text.into() }
    }
}

/// One vendor's protocol. Add a file and a row in `APIS` for another.
trait Api: Sync {
    /// Whether requests to this path, without its query, are in this protocol.
    fn serves(&self, path: &str) -> bool;

    /// Whether this is the conversation with the user, and not another request such as one for a title.
    fn is_conversation(&self, path: &str, body: &Value) -> bool;

    /// The results of all calls so far, oldest first.
    fn results(&self, body: &Value) -> Vec<ToolResult>;

    /// Every text so far, oldest first.
    fn messages(&self, body: &Value) -> Vec<ModelText>;

    /// The body of the answer, and its content type. `number` makes ids that do not repeat.
    fn answer(&self, path: &str, body: &Value, turn: &Turn, number: usize) -> (String, &'static str);

    /// The body of an error.
    fn refusal(&self, status: u16, message: &str) -> Value {
        serde_json::json!({ "error": { "code": status, "message": message } })
    }
}

const APIS: [&dyn Api; 5] = [
    &anthropic::Messages,
    &gemini::GenerateContent,
    &ollama::OllamaChat,
    &openai::ChatCompletions,
    &responses::Responses,
];

#[derive(Default)]
struct SharedScript {
    script: VecDeque<Turn>,
    conversation: Vec<Value>,
    results: Vec<ToolResult>,
    messages: Vec<ModelText>,
    answers: usize,
    outside: Vec<String>,
    /// The keys of the conversation's requests, each with the name of its header.
    keys: Vec<String>,
    /// Whether the second piece of a text may be sent.
    goes_on: bool,
    /// Requests that no API serves, for the author of a new one.
    unknown: Vec<String>,
}

pub struct Model {
    port: u16,
    shared: Arc<Mutex<SharedScript>>,
}

impl Model {
    /// A model with these turns, one for each request of the conversation. After the last it answers "Done.".
    pub fn start(script: impl IntoIterator<Item = Turn>) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = SharedScript { script: script.into_iter().collect(), ..SharedScript::default() };
        let shared = Arc::new(Mutex::new(shared));
        let model = Model { port, shared: Arc::clone(&shared) };
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        model
    }

    /// Adds turns to the script.
    pub fn then(&self, turns: impl IntoIterator<Item = Turn>) {
        self.shared.lock().unwrap().script.extend(turns);
    }

    /// The address of the API, and of the proxy that refuses everything.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The variables that make this the only server that a program reaches.
    pub fn proxy_variables(&self) -> Vec<(&'static str, String)> {
        let mut variables: Vec<_> =
            ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map(|name| (name, self.url())).into();
        variables.extend(["NO_PROXY", "no_proxy"].map(|name| (name, "127.0.0.1,localhost".to_owned())));
        variables
    }

    /// Lets the second piece of a text follow the first.
    pub fn go_on(&self) {
        self.shared.lock().unwrap().goes_on = true;
    }

    /// The header with the key of each request of the conversation, such as `x-api-key: secret`.
    pub fn keys(&self) -> Vec<String> {
        self.shared.lock().unwrap().keys.clone()
    }

    /// The requests of the conversation so far.
    pub fn conversation(&self) -> Vec<Value> {
        self.shared.lock().unwrap().conversation.clone()
    }

    /// The results of tools in the newest request.
    pub fn results(&self) -> Vec<ToolResult> {
        self.shared.lock().unwrap().results.clone()
    }

    /// Other servers that the agent tried to reach.
    pub fn outside(&self) -> Vec<String> {
        self.shared.lock().unwrap().outside.clone()
    }

    /// Waits for the result of the call with this number, from 0.
    #[track_caller]
    pub fn result(&self, number: usize) -> ToolResult {
        self.waits(&format!("result {number} of a tool"), |shared| shared.results.get(number).cloned())
    }

    /// Waits for the result of the call with this number, from 0; returns every text that the model received after that
    /// call and before its own next one.
    #[track_caller]
    pub fn told_about(&self, number: usize) -> Vec<ModelText> {
        self.waits(&format!("result {number} of a tool"), |shared| {
            shared.results.get(number)?;
            let mut calls = shared.messages.iter().enumerate().filter(|(_, said)| said.role == Role::Call);
            let (call, _) = calls.nth(number)?;
            let after = shared.messages.iter().skip(call + 1);
            Some(
                after
                    .take_while(|said| !matches!(said.role, Role::Call | Role::Assistant))
                    .cloned()
                    .collect(),
            )
        })
    }

    /// Every text of the conversation so far.
    pub fn told(&self) -> Vec<ModelText> {
        self.shared.lock().unwrap().messages.clone()
    }

    /// Waits until the agent has asked for this many turns.
    #[track_caller]
    pub fn asked(&self, turns: usize) {
        self.waits(&format!("request {turns} of the agent"), |shared| {
            (shared.conversation.len() >= turns).then_some(())
        });
    }

    #[track_caller]
    fn waits<T>(&self, what: &str, look: impl Fn(&SharedScript) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            let shared = self.shared.lock().unwrap();
            if let Some(found) = look(&shared) {
                return found;
            }
            assert!(
                Instant::now() < until,
                "the model never got {what}; it got {} requests, the results {:?}, and for no API {:?}",
                shared.conversation.len(),
                shared.results,
                shared.unknown
            );
            drop(shared);
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Mutex<SharedScript>) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let Some(request) = http::read(&mut stream) else { return };
    if request.method == "CONNECT" || request.target.contains("://") {
        shared.lock().unwrap().outside.push(request.target);
        http::write(&mut stream, "403 Forbidden", "text/plain", "nothing is reached from here");
        return;
    }
    let path = request.target.split('?').next().unwrap_or_default().to_owned();
    let Some(api) = APIS.iter().find(|api| request.method == "POST" && api.serves(&path)) else {
        shared.lock().unwrap().unknown.push(format!("{} {}", request.method, request.target));
        http::write(&mut stream, "404 Not Found", "application/json", "{}");
        return;
    };
    let (turn, body, kind) = answer(*api, &path, &request, shared);
    match &turn {
        Turn::Refuses { status, message } => {
            let body = api.refusal(*status, message).to_string();
            http::write(&mut stream, &format!("{status} Refused"), "application/json", &body);
        }
        Turn::Streams { second, .. } => {
            let line = body.find(second).and_then(|at| body.get(..at)?.rfind('\n'));
            let (first, rest) = body.split_at(line.map_or(0, |at| at + 1));
            http::begin(&mut stream, "200 OK", kind, body.len());
            http::go_on(&mut stream, first);
            let until = Instant::now() + PATIENCE;
            while !shared.lock().unwrap().goes_on && Instant::now() < until {
                thread::sleep(Duration::from_millis(10));
            }
            http::go_on(&mut stream, rest);
        }
        Turn::Says(_) | Turn::Calls { .. } => http::write(&mut stream, "200 OK", kind, &body),
    }
}

fn answer(
    api: &dyn Api,
    path: &str,
    request: &Request,
    shared: &Mutex<SharedScript>,
) -> (Turn, String, &'static str) {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let mut shared = shared.lock().unwrap();
    shared.answers += 1;
    let number = shared.answers;
    let turn = if api.is_conversation(path, &body) {
        shared.results = api.results(&body);
        shared.messages = api.messages(&body);
        shared.conversation.push(body.clone());
        shared.keys.extend(request.key.clone());
        shared.script.pop_front().unwrap_or_else(|| Turn::says("Done."))
    } else {
        Turn::says("Beside the point")
    };
    drop(shared);
    let (body, kind) = api.answer(path, &body, &turn, number);
    (turn, body, kind)
}
