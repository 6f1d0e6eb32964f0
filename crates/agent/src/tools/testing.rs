//! For the tests of the tools: a folder, a context without an editor, and a terminal that answers what it is told.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use linkspan_client::confirm::{Cancellation, ConfirmQuestion, TerminalAnswer, TerminalPrompt};
use linkspan_client::{AgentInfo, Bridge, BridgeConfig, Surroundings};
use linkspan_editor_api::Places;
use serde_json::Value;
use tempfile::TempDir;

use super::{AgentTools, ToolContext, Toolbox, ToolsConfig};
use crate::message::{CallArguments, ModelCall, ToolResult};
use crate::permissions::PermissionMode;

pub(crate) struct ToolScene {
    pub(crate) folder: TempDir,
    pub(crate) context: ToolContext,
    pub(crate) answers: Arc<ScriptedTerminal>,
    pub(crate) output: Arc<Mutex<String>>,
}

/// A terminal. Without an answer it waits until the question is cancelled.
#[derive(Default)]
pub(crate) struct ScriptedTerminal {
    pub(crate) next: Mutex<Vec<TerminalAnswer>>,
    pub(crate) asked: Mutex<Vec<ConfirmQuestion>>,
}

impl TerminalPrompt for ScriptedTerminal {
    fn ask(&self, question: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer {
        self.asked.lock().unwrap().push(question.clone());
        loop {
            if cancelled.is_cancelled() {
                return TerminalAnswer::Cancelled;
            }
            let mut next = self.next.lock().unwrap();
            if !next.is_empty() {
                return next.remove(0);
            }
            drop(next);
            cancelled.wait_timeout(Duration::from_millis(2));
        }
    }
}

impl ToolScene {
    pub(crate) fn new(mode: PermissionMode) -> ToolScene {
        let folder = tempfile::tempdir().unwrap();
        let surroundings = surroundings(folder.path());
        let bridge = Bridge::new(BridgeConfig::default(), AgentInfo::new("test", "1"), surroundings);
        let (answers, output) = (Arc::<ScriptedTerminal>::default(), Arc::<Mutex<String>>::default());
        let heard = Arc::clone(&output);
        let context = ToolContext {
            cwd: folder.path().to_owned(),
            agent: "main".to_owned(),
            bridge: Arc::new(bridge),
            prompt: answers.clone(),
            cancelled: Arc::new(Cancellation::new()),
            mode,
            propose: Arc::new(|_| {}),
            output: Arc::new(move |text| heard.lock().unwrap().push_str(text)),
        };
        ToolScene { folder, context, answers, output }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn will_answer(&self, answer: TerminalAnswer) {
        self.answers.next.lock().unwrap().push(answer);
    }

    pub(crate) fn tools(&self) -> AgentTools {
        AgentTools::new(ToolsConfig::new(Arc::clone(&self.context.bridge)))
    }

    pub(crate) fn run(&self, tool: &str, arguments: Value) -> ToolResult {
        self.run_with(&self.tools(), tool, arguments)
    }

    pub(crate) fn run_with(&self, tools: &AgentTools, tool: &str, arguments: Value) -> ToolResult {
        let call = ModelCall {
            id: "1".to_owned(),
            name: tool.to_owned(),
            arguments: CallArguments::Json(arguments),
            opaque: None,
        };
        tools.run(&call, &self.context)
    }

    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> String {
        let result = self.run(tool, arguments);
        assert!(!result.is_error && !result.cancelled, "{result:?}");
        result.text
    }

    #[track_caller]
    pub(crate) fn fails(&self, tool: &str, arguments: Value) -> String {
        let result = self.run(tool, arguments);
        assert!(result.is_error, "{result:?}");
        result.text
    }
}

/// A home of its own, in which no hub runs.
pub(crate) fn surroundings(home: &std::path::Path) -> Surroundings {
    let own = |name: &str| home.join(".own").join(name);
    Surroundings {
        cwd: home.to_owned(),
        places: Places { home: own("h"), runtime: own("r"), state: own("s"), config: own("c") },
        variables: std::collections::BTreeMap::new(),
        uid: rustix::process::geteuid().as_raw(),
        wsl: None,
    }
}
