//! The state of the editor as text for a model's prompt.

use linkspan_editor_api::DenyGlobs;

use super::Bridge;
use crate::context::{ContextInput, MAX_DIAGNOSTICS, format_ide_context};

impl Bridge {
    /// The text for a model's prompt, without denied files; `None` if there is nothing to report or no editor. Requests
    /// that the editor does not answer are left out.
    pub fn context(&self, deny: &DenyGlobs) -> Option<String> {
        let config = self.config();
        let connection = self.connection()?;
        let open_editors = if config.inject_open_editors { connection.open_editors().ok() } else { None };
        let diagnostics =
            if config.inject_diagnostics { connection.diagnostics(None, None).ok() } else { None };
        let candidate = connection.candidate();
        format_ide_context(&ContextInput {
            ide_name: &candidate.editor,
            open_editors: &open_editors.unwrap_or_default(),
            diagnostics: &diagnostics.unwrap_or_default(),
            selection: None,
            config,
            max_diagnostics: MAX_DIAGNOSTICS,
            deny,
            folders: &candidate.folders,
        })
    }
}
