//! The editor that registered with the engine: from then on, calls of tools named `ide.*` go to its callback instead of
//! our own bridge. A [`Toolbox`] around the real one; knows nothing of HTTP routes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use linkspan_client::ppxai::{Callback, CallbackError, TOOLS, ToolRequest};
use serde_json::{Value, json};

use crate::message::{CallArguments, ModelCall, ToolResult};
use crate::models::ToolSpec;
use crate::permissions::{PermissionMode, ToolKind};
use crate::tools::{ToolContext, Toolbox, kind_elsewhere};

const PREFIX: &str = "ide.";
/// Interval of looking whether the call was cancelled.
const LOOK: Duration = Duration::from_millis(100);
/// A longer result would fill the model's context.
const LONGEST_RESULT: usize = 200_000;

/// The callback that is registered, shared by the engine and its tools. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct IdeCallback {
    callback: Arc<Mutex<Option<Callback>>>,
}

impl IdeCallback {
    /// Replaces the registration.
    pub(super) fn register(&self, callback: Callback) {
        *self.callback.lock().unwrap_or_else(PoisonError::into_inner) = Some(callback);
    }

    fn get(&self) -> Option<Callback> {
        self.callback.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// These tools, with those of the editor going to the callback while one is registered.
    pub fn around(&self, inner: Arc<dyn Toolbox>) -> Arc<dyn Toolbox> {
        Arc::new(CallbackTools { callback: self.clone(), inner, next: AtomicU64::new(1) })
    }
}

struct CallbackTools {
    callback: IdeCallback,
    inner: Arc<dyn Toolbox>,
    next: AtomicU64,
}

impl Toolbox for CallbackTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.inner.specs();
        if self.callback.get().is_some() {
            let missing: Vec<_> =
                TOOLS.into_iter().filter(|(name, _)| !specs.iter().any(|spec| spec.name == *name)).collect();
            specs.extend(missing.into_iter().map(|(name, description)| ToolSpec {
                name: name.to_owned(),
                description: description.to_owned(),
                schema: json!({ "type": "object", "additionalProperties": true }),
            }));
        }
        specs
    }

    fn kind(&self, name: &str) -> Option<ToolKind> {
        // Another editor than the hub's may run a command without asking its user.
        let known = TOOLS.iter().any(|(tool, _)| *tool == name);
        match self.callback.get() {
            Some(_) if known => kind_elsewhere(name),
            _ => self.inner.kind(name),
        }
    }

    fn run(&self, call: &ModelCall, context: &ToolContext) -> ToolResult {
        let callback = if call.name.starts_with(PREFIX) { self.callback.get() } else { None };
        let Some(callback) = callback else { return self.inner.run(call, context) };
        let result = |text: String, is_error, cancelled| ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            text,
            is_error,
            cancelled,
        };
        if context.mode == PermissionMode::Sandboxed && self.kind(&call.name) == Some(ToolKind::Command) {
            let why =
                "this runs outside the sandbox, so it does not run in sandboxed mode; use `run_command`";
            return result(why.to_owned(), true, false);
        }
        let CallArguments::Json(args) = &call.arguments else {
            return result("the arguments are not valid JSON".to_owned(), true, false);
        };
        let id = format!("call-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let request = ToolRequest { id, tool: call.name.clone(), args: args.clone() };
        // A thread of its own: a user who is asked in the editor may never answer, and the turn can still be cancelled.
        let (sender, answer) = mpsc::channel();
        thread::spawn(move || sender.send(callback.call(&request)));
        loop {
            return match answer.recv_timeout(LOOK) {
                Ok(Ok(value)) => result(shown(value), false, false),
                Ok(Err(error)) => result(explained(&error), true, false),
                Err(RecvTimeoutError::Timeout) if context.cancelled.is_cancelled() => {
                    result("cancelled; the editor may still carry it out".to_owned(), true, true)
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    result("the call of the editor failed".to_owned(), true, false)
                }
            };
        }
    }
}

fn shown(value: Value) -> String {
    let text = match value {
        Value::String(text) => text,
        other => serde_json::to_string_pretty(&other).unwrap_or_default(),
    };
    match text.char_indices().nth(LONGEST_RESULT) {
        Some((end, _)) => format!("{}\n… cut here", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn explained(error: &CallbackError) -> String {
    match error {
        CallbackError::Tool(why) => why.clone(),
        other => format!("{other}. The editor may be closed; without it, use the tools for files"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::path::Path;

    use linkspan_client::bridge::BridgeConfig;
    use linkspan_client::confirm::{Cancellation, NoTerminal};
    use linkspan_client::ppxai::RegisterIdeCallback;
    use linkspan_client::{AgentInfo, Bridge, Surroundings};

    use super::*;

    struct NoTools;

    impl Toolbox for NoTools {
        fn specs(&self) -> Vec<ToolSpec> {
            let schema = json!({ "type": "object" });
            vec![ToolSpec { name: "ide.read_file".into(), description: "ours".into(), schema }]
        }
        fn kind(&self, name: &str) -> Option<ToolKind> {
            (name == "ide.read_file").then_some(ToolKind::Read)
        }
        fn run(&self, _: &ModelCall, _: &ToolContext) -> ToolResult {
            panic!("not called")
        }
    }

    #[test]
    fn a_registered_editor_adds_the_tools_that_are_missing() {
        let shared = IdeCallback::default();
        let tools = shared.around(Arc::new(NoTools));
        assert_eq!((tools.specs().len(), tools.kind("ide.git_log")), (1, None));
        let registered = RegisterIdeCallback {
            callback_url: "http://127.0.0.1:1/ide/execute".into(),
            capabilities: vec![],
        };
        shared.register(Callback::new(registered, None).unwrap());
        let specs = tools.specs();
        assert_eq!((specs.len(), specs[0].description.as_str()), (26, "ours"));
        assert_eq!(tools.kind("ide.git_log"), Some(ToolKind::Read));
        assert_eq!(tools.kind("ide.open_file"), Some(ToolKind::Editor));
        assert_eq!(tools.kind("ide.read_file"), Some(ToolKind::Read));
        assert_eq!(tools.kind("ide.no_such_tool"), None);
    }

    /// An editor that answers one call with this.
    fn editor(reply: Value) -> (Callback, mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let callback_url = format!("http://{}/ide/execute", listener.local_addr().unwrap());
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut seen = String::new();
            let mut piece = [0; 4096];
            while !seen.ends_with('}') {
                let length = stream.read(&mut piece).unwrap();
                seen.push_str(std::str::from_utf8(&piece[..length]).unwrap());
            }
            tell.send(seen).unwrap();
            let body = reply.to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}",
                body.len()
            );
            stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
        });
        let registered = RegisterIdeCallback { callback_url, capabilities: vec![] };
        (Callback::new(registered, Some("secret".into())).unwrap(), told)
    }

    fn context() -> ToolContext {
        let surroundings = Surroundings::of_this_process(Path::new("/")).unwrap();
        let bridge = Bridge::new(BridgeConfig::default(), AgentInfo::new("test", "1"), surroundings);
        ToolContext {
            cwd: "/".into(),
            agent: "test".into(),
            bridge: Arc::new(bridge),
            prompt: Arc::new(NoTerminal),
            cancelled: Arc::new(Cancellation::new()),
            mode: PermissionMode::Trusted,
            propose: Arc::new(|_| {}),
            output: Arc::new(|_| {}),
        }
    }

    fn run(reply: Value) -> (ToolResult, mpsc::Receiver<String>) {
        let shared = IdeCallback::default();
        let (callback, told) = editor(reply);
        shared.register(callback);
        let arguments = CallArguments::Json(json!({ "path": "a" }));
        let call = ModelCall { id: "c1".into(), name: "ide.read_file".into(), arguments, opaque: None };
        (shared.around(Arc::new(NoTools)).run(&call, &context()), told)
    }

    #[test]
    fn a_call_of_the_editors_tools_goes_to_the_callback() {
        let (result, told) = run(json!({ "id": "call-1", "success": true, "result": { "content": "x" } }));
        assert_eq!((result.text.as_str(), result.is_error), ("{\n  \"content\": \"x\"\n}", false));
        let told = told.recv().unwrap();
        assert!(told.contains("POST /ide/execute") && told.contains("x-ppxai-token: secret"), "{told}");
        let body: Value = serde_json::from_str(told.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(body, json!({ "id": "call-1", "tool": "ide.read_file", "args": { "path": "a" } }));
    }

    #[test]
    fn a_failure_of_the_editor_is_told_to_the_model() {
        let (result, _) = run(json!({ "id": "call-1", "success": false, "error": "no such file" }));
        assert_eq!((result.text.as_str(), result.is_error), ("no such file", true));
        let (result, _) = run(json!({ "id": "another", "success": true, "result": 1 }));
        assert!(result.is_error && result.text.contains("answered another call"), "{}", result.text);
    }

    #[test]
    fn a_long_result_is_cut_and_a_structured_one_is_readable() {
        assert_eq!(shown(json!("text")), "text");
        assert_eq!(shown(json!({ "a": 1 })), "{\n  \"a\": 1\n}");
        let cut = shown(json!("é".repeat(LONGEST_RESULT + 1)));
        assert!(cut.ends_with("é\n… cut here"), "{}", cut.len());
    }

    /// The tools of a process that is connected to the hub, too, which asks its user itself.
    struct WithHub;

    impl Toolbox for WithHub {
        fn specs(&self) -> Vec<ToolSpec> {
            Vec::new()
        }
        fn kind(&self, name: &str) -> Option<ToolKind> {
            name.starts_with(PREFIX).then_some(ToolKind::Editor)
        }
        fn run(&self, _: &ModelCall, _: &ToolContext) -> ToolResult {
            panic!("not called")
        }
    }

    #[test]
    fn a_command_in_the_editors_terminal_is_asked_about_and_never_leaves_the_sandbox() {
        let shared = IdeCallback::default();
        let (callback, told) = editor(json!({ "id": "call-1", "success": true, "result": "ran" }));
        shared.register(callback);
        let tools = shared.around(Arc::new(WithHub));
        let arguments = CallArguments::Json(json!({ "command": "touch /outside" }));
        let call = ModelCall { id: "c1".into(), name: "ide.run_in_terminal".into(), arguments, opaque: None };
        let result = tools.run(&call, &ToolContext { mode: PermissionMode::Sandboxed, ..context() });
        assert!(result.is_error && result.text.contains("sandboxed"), "{result:?}");
        assert!(told.try_recv().is_err(), "the editor was called");
        assert_eq!(tools.kind("ide.run_in_terminal"), Some(ToolKind::Command));
        assert_eq!(tools.kind("ide.git_commit"), Some(ToolKind::GitWrite));
    }
}
