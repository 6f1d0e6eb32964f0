//! What the editor's language servers say of a file after it was changed.

use std::path::Path;
use std::time::Duration;

use linkspan_client::connection::Severity;

use super::foreign::lines;
use crate::tools::ToolContext;

/// How long language servers have to finish.
const WAIT: Duration = Duration::from_secs(2);
const MOST: usize = 20;

/// Errors and warnings of the file, as the end of a result. `None` without an editor that knows any.
pub(crate) fn diagnostics_after(context: &ToolContext, path: &Path) -> Option<String> {
    let config = context.bridge.config();
    if !config.enabled || !config.inject_diagnostics || context.cancelled.is_cancelled() {
        return None;
    }
    let connection = context.bridge.connection().filter(|connection| !connection.is_closed())?;
    // Other editors answer at once, with what they knew before the change.
    if !connection.is_hub() {
        return None;
    }
    let mut found = connection.diagnostics(Some(path), Some(WAIT)).ok()?;
    let is_unsettled = found.iter().any(|found| !found.settled);
    found.retain(|found| matches!(found.severity, Severity::Error | Severity::Warning));
    if found.is_empty() {
        return None;
    }
    let note = if is_unsettled { " (the language server is not done yet)" } else { "" };
    Some(format!("\nThe editor reports problems in this file{note}:\n{}", lines(&found, MOST)))
}
