//! What agents and watchers receive about a window: selections, mentions, diagnostics, and where the user is.

use std::path::PathBuf;

use linkspan_dialect::EditorEvent;
use linkspan_editor_api as api;
use linkspan_editor_api::{
    DocumentVersion, Mentioned, OpenDocument, RpcError, Selection, WindowEvent, errors,
};
use linkspan_review::{AgentId, WindowId};

use crate::core::Core;
use crate::core::agents::{Transport, changed_diagnostics};
use crate::core::pending::{AfterAnswer, NoAnswer};

impl Core {
    pub(in crate::core) fn selection_changed(&mut self, window: WindowId, selection: Selection) {
        if !self.windows.may_leave(window, &selection.path) {
            return;
        }
        let what = WindowEvent::Selection { selection: selection.clone() };
        self.connections.publish(&mut self.out, window, what);
        self.windows.set_selection(window, selection.clone());
        self.context_changed(window);
        self.agents.notify_window(&mut self.out, window, &EditorEvent::SelectionChanged(selection));
    }

    pub(in crate::core) fn mentioned(&mut self, window: WindowId, mentioned: Mentioned) {
        let Mentioned { path, lines } = mentioned;
        if !self.windows.may_leave(window, &path) {
            tracing::warn!("a mention of {path} was not passed on: `deny` covers it");
            return;
        }
        let what = WindowEvent::Mentioned { path: path.clone(), lines };
        self.connections.publish(&mut self.out, window, what);
        let lines = lines.map(|lines| (lines.first, lines.last));
        let event = EditorEvent::Mentioned { path: path.into(), lines };
        self.agents.notify_window(&mut self.out, window, &event);
    }

    /// The same for those who want to know who received it.
    pub(in crate::core) fn mention(
        &mut self,
        window: WindowId,
        mention: api::AgentsMention,
    ) -> Result<api::AgentsMentionResult, RpcError> {
        let api::AgentsMention { path, lines, agent } = mention;
        if !self.windows.may_leave(window, &path) {
            let message = format!("{path} was not sent: `deny` in config.toml covers it");
            return Err(RpcError::new(errors::DENIED, message));
        }
        let what = WindowEvent::Mentioned { path: path.clone(), lines };
        self.connections.publish(&mut self.out, window, what);
        let lines = lines.map(|lines| (lines.first, lines.last));
        let event = EditorEvent::Mentioned { path: path.into(), lines };
        let mut agents = Vec::new();
        for id in self.agents.in_window(window) {
            let is_meant = agent.as_ref().is_none_or(|wanted| *wanted == id.to_string());
            if is_meant && self.agents.notify(&mut self.out, id, &event) {
                agents.extend(self.agents.get(&id).map(|agent| agent.name.clone()));
            }
        }
        Ok(api::AgentsMentionResult { agents })
    }

    pub(in crate::core) fn diagnostics_changed(&mut self, window: WindowId, files: Vec<DocumentVersion>) {
        let mut paths: Vec<PathBuf> = files.into_iter().map(|file| PathBuf::from(file.path)).collect();
        paths.retain(|path| self.windows.may_leave(window, path));
        if !paths.is_empty() {
            let named = paths.iter().map(|path| path.display().to_string()).collect();
            self.connections.publish(&mut self.out, window, WindowEvent::Diagnostics { paths: named });
            changed_diagnostics::add(self, window, &paths);
            let event = EditorEvent::DiagnosticsChanged { paths };
            self.agents.notify_window(&mut self.out, window, &event);
        }
    }

    pub(in crate::core) fn changed_diagnostics_known(
        &mut self,
        window: WindowId,
        answer: Result<api::DiagnosticsGetResult, NoAnswer>,
    ) {
        changed_diagnostics::known(self, window, answer);
    }

    /// Files were opened or closed, or the user moved. Only agents with a stream follow that.
    pub(in crate::core) fn context_changed(&mut self, window: WindowId) {
        if self.agents.of_window(window).any(|(_, agent)| agent.has_stream()) {
            self.windows.context_changed(&mut self.out, window);
        }
    }

    pub(in crate::core) fn context_due(&mut self, window: WindowId) {
        match self.windows.context_at_rest(window) {
            Some(editor) => {
                self.ask(editor, &api::SelectionCurrent {}, AfterAnswer::ContextSelection(window));
            }
            None => list_documents(self, window),
        }
    }

    pub(in crate::core) fn context_selected(
        &mut self,
        window: WindowId,
        answer: Result<Option<Selection>, NoAnswer>,
    ) {
        if let Ok(Some(selection)) = answer
            && self.windows.set_first_selection(window, selection)
        {
            for id in self.agents.in_window(window) {
                greet_with_selection(self, id);
            }
        }
        list_documents(self, window);
    }

    pub(in crate::core) fn context_listed(
        &mut self,
        window: WindowId,
        answer: Result<api::DocumentsListResult, NoAnswer>,
    ) {
        // An editor that does not answer has not closed its files.
        if let Ok(listed) = answer {
            update_context(self, window, &listed.documents);
        }
    }

    /// Sends what the other agents know at once, and what changed while no agent listened soon after.
    pub(super) fn greet_with_context(&mut self, id: AgentId) {
        let Some(window) = self.agents.get(&id).map(|agent| agent.window) else { return };
        if let Some(event) = self.windows.last_context(window) {
            self.agents.notify(&mut self.out, id, &event);
        }
        greet_with_selection(self, id);
        self.context_changed(window);
    }
}

/// An agent that receives selections, and not the open files, on its stream.
fn greet_with_selection(core: &mut Core, id: AgentId) {
    let agent = core.agents.get(&id).filter(|agent| matches!(agent.transport, Transport::SocketStream));
    let Some(window) = agent.map(|agent| agent.window) else { return };
    if let Some(selection) = core.windows.last_selection(window) {
        core.agents.notify(&mut core.out, id, &EditorEvent::SelectionChanged(selection));
    }
}

fn list_documents(core: &mut Core, id: WindowId) {
    let Some(window) = core.windows.get(&id) else { return };
    match window.connection.filter(|_| window.capabilities.documents) {
        Some(editor) => core.ask(editor, &api::DocumentsList {}, AfterAnswer::ContextDocuments(id)),
        None => update_context(core, id, &[]),
    }
}

fn update_context(core: &mut Core, id: WindowId, documents: &[OpenDocument]) {
    if let Some(event) = core.windows.update_context(&core.out, id, documents) {
        core.agents.notify_window(&mut core.out, id, &event);
    }
}
