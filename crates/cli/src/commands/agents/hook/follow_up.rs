//! Later events about an edit that was decided: the agent's own permission question, and that its tool has run.

use std::path::{Path, PathBuf};

use linkspan_dialect::hooks::{EditCall, FileResult, HookAnswer};

use super::edit_plan::plan;
use super::{HookRun, report};

/// Allows an edit whose result is the one that the user accepted. About any other the agent asks as ever.
pub(super) fn permission(run: &HookRun, edit: &EditCall) -> HookAnswer {
    let Ok(files) = plan(edit) else { return HookAnswer::Pass };
    let results: Vec<(&Path, &FileResult)> =
        files.iter().map(|file| (file.path.as_path(), &file.result)).collect();
    if run.memory.allow_once(run.session_key(), &results) {
        HookAnswer::Allow { context: None }
    } else {
        HookAnswer::Pass
    }
}

/// The words of the user, for an agent that could not be told them before its tool ran.
pub(super) fn done(run: &HookRun, files: &[PathBuf]) -> HookAnswer {
    let words: Vec<String> =
        files.iter().filter_map(|file| run.memory.take_words(run.session_key(), file)).collect();
    report::send_in_time(run);
    if words.is_empty() {
        return HookAnswer::Pass;
    }
    HookAnswer::Context { text: words.join("\n\n") }
}
