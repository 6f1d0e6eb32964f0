//! The state of a fake editor, everything it received, and its answers to the hub. Knows no process and no thread.

use std::collections::BTreeMap;

use linkspan_editor_api as api;
use linkspan_editor_api::{Message, Request, RequestId, RpcError, decode, errors};
use serde_json::Value;

/// A document that is open in the editor.
#[derive(Debug, Clone, Default)]
pub struct Document {
    pub text: String,
    pub dirty: bool,
    pub version: i64,
    pub diagnostics: Vec<api::Diagnostic>,
}

/// Everything that the editor has open and has received.
#[derive(Debug, Default)]
pub struct EditorState {
    pub documents: BTreeMap<String, Document>,
    pub active: Option<String>,
    pub selection: Option<api::Selection>,
    pub shown: Vec<api::ReviewShow>,
    pub hidden: Vec<api::ReviewHide>,
    pub opened: Vec<api::DocumentOpen>,
    pub applied: Vec<api::EditsApply>,
    /// The questions to the user, in order.
    pub questions: Vec<api::UserAsk>,
    /// Questions that were withdrawn.
    pub unasked: Vec<String>,
    /// The messages to the user, in order.
    pub messages: Vec<api::StatusMessage>,
    /// Commands that ran in the terminal; each prints its own text.
    pub ran: Vec<api::TerminalRun>,
    /// The method of every request of the hub, in order.
    pub asked: Vec<String>,
    /// The notifications of the hub, in order.
    pub told: Vec<(String, Value)>,
    /// Changes a text before it is saved, as a formatter does.
    pub save_rule: Option<fn(&str) -> String>,
    /// Documents have one line ending for all lines, as VS Code's do.
    pub uniform: bool,
    /// Methods that are answered with an error with this message.
    pub failing: BTreeMap<String, String>,
    /// Methods that are answered with exactly this value.
    pub scripted: BTreeMap<String, Value>,
    /// The requests of those methods, in order.
    pub scripted_asked: Vec<(String, Value)>,
    /// Methods that are ignored.
    pub silent: Vec<String>,
    /// Methods that are carried out and not answered.
    pub mute: Vec<String>,
    pub(super) answers: BTreeMap<i64, Result<String, RpcError>>,
    pub(super) ended: bool,
    /// The editor is stopped: it reads nothing.
    pub(super) stalled: bool,
}

pub(super) fn heard(state: &mut EditorState, message: Message) -> Option<Message> {
    match message {
        Message::Response { id: Some(RequestId::Number(id)), result } => {
            state.answers.insert(id, result.map(|raw| raw.get().to_owned()));
            None
        }
        Message::Request { id, method, params } => {
            state.asked.push(method.clone());
            if state.silent.contains(&method) {
                return None;
            }
            if let Some(answer) = state.scripted.get(&method).cloned() {
                state.scripted_asked.push((method, decode(&params).unwrap()));
                return Some(Message::response(id, &answer));
            }
            let reply = match state.failing.get(&method) {
                Some(why) => Message::error(Some(id), RpcError::new(errors::INTERNAL, why.clone())),
                None => state.reply(id, &method, &params),
            };
            (!state.mute.contains(&method)).then_some(reply)
        }
        Message::Notification { method, params } => {
            state.told.push((method, decode(&params).unwrap()));
            None
        }
        Message::Response { .. } => None,
    }
}

impl EditorState {
    fn reply(&mut self, id: RequestId, method: &str, params: &serde_json::value::RawValue) -> Message {
        match method {
            api::Ping::METHOD => Message::response(id, &()),
            api::ReviewShow::METHOD => {
                self.shown.push(decode(params).unwrap());
                Message::response(id, &())
            }
            api::ReviewHide::METHOD => {
                self.hidden.push(decode(params).unwrap());
                Message::response(id, &())
            }
            api::DocumentText::METHOD => {
                let asked: api::DocumentText = decode(params).unwrap();
                let found = self.documents.get(&asked.path);
                let result =
                    found.map_or_else(api::DocumentTextResult::default, |document| api::DocumentTextResult {
                        open: true,
                        dirty: document.dirty,
                        version: Some(document.version),
                        language: None,
                        text: Some(document.text.clone()),
                    });
                Message::response(id, &result)
            }
            api::DocumentsList::METHOD => Message::response(id, &self.list()),
            api::DocumentDirty::METHOD => {
                let asked: api::DocumentDirty = decode(params).unwrap();
                let found = self.documents.get(&asked.path);
                let dirty = found.is_some_and(|document| document.dirty);
                let result = api::DocumentDirtyResult { open: found.is_some(), dirty, untitled: false };
                Message::response(id, &result)
            }
            api::DocumentSave::METHOD => {
                let asked: api::DocumentSave = decode(params).unwrap();
                let open = self.save(&asked.path);
                Message::response(id, &api::DocumentSaveResult { open, saved: open, message: None })
            }
            api::DocumentOpen::METHOD => {
                let asked: api::DocumentOpen = decode(params).unwrap();
                self.opened.push(asked);
                let result = api::DocumentOpenResult {
                    language: Some("plaintext".into()),
                    line_count: Some(3),
                    selected: None,
                };
                Message::response(id, &result)
            }
            api::SelectionCurrent::METHOD | api::SelectionLatest::METHOD => {
                Message::response(id, &self.selection)
            }
            api::DiagnosticsGet::METHOD => {
                let asked: api::DiagnosticsGet = decode(params).unwrap();
                Message::response(id, &self.diagnostics(asked.path.as_deref()))
            }
            api::EditsApply::METHOD => {
                let asked: api::EditsApply = decode(params).unwrap();
                let result = self.apply(&asked);
                self.applied.push(asked);
                Message::response(id, &result)
            }
            api::UserAsk::METHOD => {
                self.questions.push(decode(params).unwrap());
                Message::response(id, &())
            }
            api::StatusMessage::METHOD => {
                self.messages.push(decode(params).unwrap());
                Message::response(id, &())
            }
            api::UserUnask::METHOD => {
                let api::UserUnask { ask } = decode(params).unwrap();
                self.unasked.push(ask);
                Message::response(id, &())
            }
            api::TerminalRun::METHOD => {
                let run: api::TerminalRun = decode(params).unwrap();
                let output = run.command.clone();
                self.ran.push(run);
                let (terminal, exit_code) = ("t1".into(), Some(3));
                Message::response(
                    id,
                    &api::TerminalRunResult { terminal, output, exit_code, timed_out: false },
                )
            }
            api::CodeExecute::METHOD => {
                let api::CodeExecute { code } = decode(params).unwrap();
                Message::response(id, &api::CodeExecuteResult { outputs: vec![code] })
            }
            _ => Message::error(Some(id), RpcError::new(errors::METHOD_NOT_FOUND, method)),
        }
    }

    fn list(&self) -> api::DocumentsListResult {
        let documents = self.documents.iter().map(|(path, document)| api::OpenDocument {
            path: path.clone(),
            label: path.rsplit('/').next().unwrap_or_default().to_owned(),
            active: self.active.as_ref() == Some(path),
            dirty: document.dirty,
            language: Some("plaintext".into()),
            line_count: Some(u32::try_from(document.text.lines().count()).unwrap()),
            version: Some(document.version),
            ..api::OpenDocument::default()
        });
        api::DocumentsListResult { documents: documents.collect() }
    }

    fn diagnostics(&self, path: Option<&str>) -> api::DiagnosticsGetResult {
        let files = self
            .documents
            .iter()
            .filter(|(known, document)| match path {
                Some(path) => known.as_str() == path,
                None => !document.diagnostics.is_empty(),
            })
            .map(|(path, document)| api::FileDiagnostics {
                path: path.clone(),
                version: Some(document.version),
                settled: true,
                diagnostics: document.diagnostics.clone(),
            });
        api::DiagnosticsGetResult { files: files.collect() }
    }

    fn save(&mut self, path: &str) -> bool {
        let Some(document) = self.documents.get_mut(path) else { return false };
        if let Some(rule) = self.save_rule {
            document.text = rule(&document.text);
        }
        std::fs::write(path, &document.text).unwrap();
        document.dirty = false;
        true
    }

    fn apply(&mut self, asked: &api::EditsApply) -> api::EditsApplyResult {
        let refused = |version| api::EditsApplyResult { version, ..api::EditsApplyResult::default() };
        let Some(document) = self.documents.get_mut(&asked.path) else { return refused(None) };
        if asked.version.is_some_and(|version| version != document.version) {
            return refused(Some(document.version));
        }
        let Some(text) = asked.edits.applied_to(&document.text) else {
            return refused(Some(document.version));
        };
        document.text = if self.uniform { text.replace("\r\n", "\n") } else { text.clone() };
        document.version += 1;
        document.dirty = true;
        let version = Some(document.version);
        let saved = asked.save && self.save(&asked.path);
        let holds = self.documents.get(&asked.path).map(|document| document.text.clone());
        let text = holds.filter(|holds| saved && *holds != text);
        api::EditsApplyResult { applied: true, version, saved, text }
    }
}
