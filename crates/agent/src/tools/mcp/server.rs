//! One server: started when it is wanted, its tools, and what happens when it is gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::confirm::Cancellation;
use serde_json::{Value, json};

use super::Report;
use super::config::ServerConfig;
use super::http::{HttpConnection, SESSION_ENDED};
use super::rpc::{self, RpcFailure};
use super::stdio::StdioConnection;
use crate::models::ToolSpec;
use crate::tools::ToolContext;
use crate::tools::answer::{Answer, ToolFailure};

const START_TIME: Duration = Duration::from_secs(30);
const CALL_TIME: Duration = Duration::from_secs(300);
/// A server that ended is started again by a call, but not more often than this.
const AGAIN: Duration = Duration::from_secs(10);
/// One that could not be started, and so has no tools to call, is tried again this often.
const LATER: Duration = Duration::from_secs(60);
const MOST_PAGES: usize = 50;
/// Of names, descriptions and schemas of all tools.
const MOST_BYTES: usize = 1024 * 1024;

pub(super) struct Server {
    name: String,
    config: ServerConfig,
    state: Mutex<State>,
    report: Arc<Mutex<Option<Report>>>,
}

#[derive(Default)]
struct State {
    phase: ServerPhase,
    /// Kept when the server is gone: its tools then say so.
    tools: Vec<ToolSpec>,
    ended: Option<Instant>,
    /// The user knows that it is gone.
    is_reported: bool,
}

#[derive(Default)]
enum ServerPhase {
    #[default]
    New,
    Starting,
    Ready(Arc<McpConnection>),
    Gone(String),
}

enum McpConnection {
    Stdio(StdioConnection),
    Http(HttpConnection),
}

impl McpConnection {
    fn request(
        &self,
        method: &str,
        params: &Value,
        time: Duration,
        cancelled: &Cancellation,
    ) -> Result<Value, RpcFailure> {
        match self {
            McpConnection::Stdio(connection) => connection.request(method, params, time, cancelled),
            McpConnection::Http(connection) => connection.request(method, params, time, cancelled),
        }
    }

    fn take_new_tools(&self) -> bool {
        match self {
            McpConnection::Stdio(connection) => connection.take_new_tools(),
            McpConnection::Http(_) => false,
        }
    }

    fn notify(&self, method: &str, params: &Value) {
        match self {
            McpConnection::Stdio(connection) => connection.notify(method, params),
            McpConnection::Http(connection) => connection.notify(method, params),
        }
    }
}

/// A request at the start, with an error for the user.
fn ask(connection: &McpConnection, method: &str, params: &Value) -> Result<Value, String> {
    let answer = connection.request(method, params, START_TIME, &Cancellation::new());
    answer.map_err(|failure| match failure {
        RpcFailure::Refused(why) => format!("it refused `{method}`: {why}"),
        RpcFailure::Lost(why) => why,
        RpcFailure::Late | RpcFailure::Cancelled => {
            format!("it did not answer `{method}` within {} s", START_TIME.as_secs())
        }
    })
}

impl Server {
    pub(super) fn new(name: String, config: ServerConfig, report: Arc<Mutex<Option<Report>>>) -> Server {
        Server { name, config, state: Mutex::default(), report }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In the background, if it was never started, or could not be and that was a while ago.
    pub(super) fn start(self: &Arc<Server>) {
        let is_wanted = {
            let state = self.locked();
            let is_due = state.ended.is_some_and(|ended| ended.elapsed() > LATER);
            match state.phase {
                ServerPhase::New => true,
                ServerPhase::Gone(_) => state.tools.is_empty() && is_due,
                ServerPhase::Starting | ServerPhase::Ready(_) => false,
            }
        };
        if is_wanted {
            self.launch();
        }
    }

    fn launch(self: &Arc<Server>) {
        {
            let mut state = self.locked();
            if matches!(state.phase, ServerPhase::Starting | ServerPhase::Ready(_)) {
                return;
            }
            state.phase = ServerPhase::Starting;
        }
        let server = Arc::clone(self);
        thread::spawn(move || {
            let opened = server.open();
            let mut state = server.locked();
            match opened {
                Ok((connection, tools)) => {
                    state.tools = tools;
                    state.phase = ServerPhase::Ready(Arc::new(connection));
                    state.is_reported = false;
                }
                Err(why) => {
                    drop(state);
                    server.gone(&why);
                }
            }
        });
    }

    fn open(&self) -> Result<(McpConnection, Vec<ToolSpec>), String> {
        self.config.check()?;
        let connection = match self.config.command {
            Some(_) => McpConnection::Stdio(StdioConnection::start(&self.config)?),
            None => McpConnection::Http(HttpConnection::new(&self.config)?),
        };
        ask(&connection, "initialize", &rpc::hello())?;
        connection.notify("notifications/initialized", &json!({}));
        let tools = self.list(&connection)?;
        Ok((connection, tools))
    }

    fn list(&self, connection: &McpConnection) -> Result<Vec<ToolSpec>, String> {
        let (mut tools, mut params) = (Vec::new(), json!({}));
        // All of them go to the model with each request.
        let mut left = MOST_BYTES;
        for _ in 0..MOST_PAGES {
            let (page, next) = rpc::tools(&self.name, &ask(connection, "tools/list", &params)?);
            for tool in page {
                let size = tool.name.len() + tool.description.len() + tool.schema.to_string().len();
                let Some(rest) = left.checked_sub(size) else {
                    self.report(&format!(
                        "The MCP server {} describes its tools with more than {} KiB: the model gets the first {} of \
                         them.",
                        self.name,
                        MOST_BYTES / 1024,
                        tools.len()
                    ));
                    return Ok(tools);
                };
                left = rest;
                tools.push(tool);
            }
            let Some(next) = next else { break };
            params = json!({ "cursor": next });
        }
        Ok(tools)
    }

    /// In the background, if the server said that it has other tools.
    fn list_again_if_changed(self: &Arc<Server>) {
        let connection = match &self.locked().phase {
            ServerPhase::Ready(connection) if connection.take_new_tools() => Arc::clone(connection),
            _ => return,
        };
        let server = Arc::clone(self);
        thread::spawn(move || {
            // A server that fails at this still has those from before.
            if let Ok(tools) = server.list(&connection) {
                server.locked().tools = tools;
            }
        });
    }

    /// Reports it, once.
    fn gone(&self, why: &str) {
        {
            let mut state = self.locked();
            if matches!(state.phase, ServerPhase::Gone(_)) {
                return;
            }
            state.phase = ServerPhase::Gone(why.to_owned());
            state.ended = Some(Instant::now());
            if std::mem::replace(&mut state.is_reported, true) {
                return;
            }
        }
        self.report(&format!("The MCP server {} is not available: {why}", self.name));
    }

    fn report(&self, line: &str) {
        let report = self.report.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(report) = report {
            report(line);
        }
    }

    pub(super) fn specs(self: &Arc<Server>) -> Vec<ToolSpec> {
        self.list_again_if_changed();
        self.locked().tools.clone()
    }

    pub(super) fn has(&self, tool: &str) -> bool {
        self.locked().tools.iter().any(|spec| {
            spec.name.strip_prefix(&self.name).and_then(|name| name.strip_prefix('.')) == Some(tool)
        })
    }

    pub(super) fn is_starting(&self) -> bool {
        matches!(self.locked().phase, ServerPhase::Starting)
    }

    pub(super) fn status(&self) -> String {
        let state = self.locked();
        match &state.phase {
            ServerPhase::New => "not started yet".to_owned(),
            ServerPhase::Starting => "starting".to_owned(),
            ServerPhase::Ready(_) => format!("{} tools", state.tools.len()),
            ServerPhase::Gone(why) => format!("not available: {why}"),
        }
    }

    pub(super) fn call(self: &Arc<Server>, tool: &str, arguments: &Value, context: &ToolContext) -> Answer {
        let connection = self.connection(context)?;
        let params = json!({ "name": tool, "arguments": arguments });
        match connection.request("tools/call", &params, CALL_TIME, &context.cancelled) {
            Ok(result) => match rpc::result_text(&result) {
                (text, false) => Ok(text),
                (text, true) => Err(ToolFailure::Error(text)),
            },
            Err(RpcFailure::Refused(why)) => {
                Err(ToolFailure::Error(format!("{} refused the call: {why}", self.name)))
            }
            Err(RpcFailure::Cancelled) => Err(ToolFailure::cancelled()),
            Err(RpcFailure::Late) => Err(ToolFailure::Error(format!(
                "{} did not answer within {} s; it is not known whether it did what was asked",
                self.name,
                CALL_TIME.as_secs()
            ))),
            Err(RpcFailure::Lost(why)) if why == SESSION_ENDED => {
                self.locked().phase = ServerPhase::New;
                self.launch();
                Err(ToolFailure::Error(format!(
                    "{} ended the session, so nothing was done; make the call again",
                    self.name
                )))
            }
            Err(RpcFailure::Lost(why)) => {
                // One request over HTTP that failed says nothing about the next.
                if matches!(&*connection, McpConnection::Stdio(_)) {
                    self.gone(&why);
                }
                Err(ToolFailure::Error(format!(
                    "the MCP server {} gave no answer: {why}; it is not known whether it did what was asked",
                    self.name
                )))
            }
        }
    }

    /// The connection; a server that ended a while ago is started again.
    fn connection(self: &Arc<Server>, context: &ToolContext) -> Result<Arc<McpConnection>, ToolFailure> {
        let until = Instant::now() + START_TIME;
        loop {
            let again = {
                let state = self.locked();
                match &state.phase {
                    ServerPhase::Ready(connection) => return Ok(Arc::clone(connection)),
                    ServerPhase::Starting => false,
                    ServerPhase::New => true,
                    ServerPhase::Gone(why) => {
                        if state.ended.is_some_and(|ended| ended.elapsed() < AGAIN) {
                            return Err(ToolFailure::Error(format!(
                                "the MCP server {} is not available: {why}; do it without this tool",
                                self.name
                            )));
                        }
                        true
                    }
                }
            };
            if again {
                self.launch();
            }
            if context.cancelled.wait_timeout(Duration::from_millis(20)) {
                return Err(ToolFailure::cancelled());
            }
            if Instant::now() > until {
                return Err(ToolFailure::Error(format!("the MCP server {} does not start", self.name)));
            }
        }
    }
}
