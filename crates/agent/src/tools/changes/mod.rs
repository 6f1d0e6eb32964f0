//! The six tools that change one file: what the file would hold, the user's decision, the write, and what the model is
//! told. Asking is `linkspan_client::confirm`'s; the texts are in `change_result`.

mod change_result;
mod replace;
mod specs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use linkspan_client::confirm::{
    ConfirmQuestion, Confirmation, FileChange, PermissionMode as Asking, Rules, confirm_unless,
};
use linkspan_client::proposal::{FILE_TOOLS, FileEdit, Proposed, proposed};
use linkspan_review::{TextError, decode, to_file_conventions};
use serde_json::Value;

use super::ToolContext;
use super::answer::{Answer, ToolFailure};
use super::editor::diagnostics_after;
use super::paths::{FileAccess, resolve, shown};
use super::toolbox::AgentTools;
use crate::permissions::PermissionMode;
use change_result::{DecidedChange, result_text};
use replace::ReplaceError;

pub(crate) use specs::specs;

pub(crate) fn is_one(name: &str) -> bool {
    FILE_TOOLS.contains(&name)
}

pub(crate) fn run(tools: &AgentTools, tool: &str, arguments: &Value, context: &ToolContext) -> Answer {
    let FileEdit { path: given, edit } =
        FileEdit::from_call(tool, arguments).map_err(|error| error.to_string())?;
    let path = resolve(&given.to_string_lossy(), FileAccess::Write, &tools.own, context)?;
    let name = shown(&path, &context.cwd);
    if tools.config.deny.denies(&tools.workspace(context).folders, &path) {
        return Err(format!(
            "{name} is kept from agents by the configuration (`deny`); leave it to the user"
        )
        .into());
    }
    let _turn = tools.turn(path.clone(), context)?;
    let current = replace::read(&path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let unsaved = tools.editor.unsaved_text(&path).map_err(|why| format!("{name} {why}"))?;
    if unsaved.is_some() && context.mode != PermissionMode::Trusted {
        return Err(format!(
            "{name} has unsaved changes of the user in the editor, so it is not written; propose the change there with \
             `ide.apply_edit`, or ask the user to save the file"
        )
        .into());
    }
    let is_unsaved = unsaved.is_some();
    // The user's unsaved text is what the change is made to.
    let base = match unsaved {
        Some(text) => {
            Some(as_in_the_file(&text, current.as_deref()).map_err(|error| format!("{name}: {error}"))?)
        }
        None => current.clone(),
    };
    let proposed = proposed(&edit, base.as_deref()).map_err(|error| format!("{name}: {error}"))?;
    let change = ComputedChange { tool, path, name, current, proposed: Arc::new(proposed), is_unsaved };
    change.decide(context)
}

/// A change that can be made.
struct ComputedChange<'a> {
    tool: &'a str,
    path: PathBuf,
    name: String,
    /// The bytes of the file; `None` if it does not exist.
    current: Option<Vec<u8>>,
    proposed: Arc<Proposed>,
    /// It is made to a text that is only in the editor yet.
    is_unsaved: bool,
}

/// A text of the editor in the bytes of its file.
fn as_in_the_file(text: &str, file: Option<&[u8]>) -> Result<Vec<u8>, TextError> {
    match file.map(decode).transpose()? {
        Some(file) => file.format.encode(&to_file_conventions(Some(&file), text).0),
        None => Ok(text.as_bytes().to_vec()),
    }
}

impl ComputedChange<'_> {
    fn decide(&self, context: &ToolContext) -> Answer {
        if self.proposed.is_unchanged() {
            return Ok(format!("{} already holds this text; nothing was changed.", self.name));
        }
        let confirmation = match context.mode {
            PermissionMode::Yolo | PermissionMode::Sandboxed => Confirmation::NotAsked,
            PermissionMode::Trusted => self.ask(context),
        };
        let to_write = match &confirmation {
            Confirmation::NotAsked => Some(self.proposed.bytes()),
            Confirmation::AllowOnce { written: false, bytes, .. } => bytes.as_deref(),
            _ => None,
        };
        if let Some(bytes) = to_write {
            self.write(bytes).map_err(|error| ToolFailure::Error(self.not_written(&error)))?;
        }
        let cancelled = context.cancelled.is_cancelled();
        let result = result_text(&DecidedChange {
            name: &self.name,
            base: self.proposed.base(),
            proposed: self.proposed.text(),
            confirmation: &confirmation,
        });
        if result.is_written {
            let problems = diagnostics_after(context, &self.path);
            return Ok(result.text + &problems.unwrap_or_default());
        }
        Err(match confirmation {
            Confirmation::Undecided { .. } if cancelled => ToolFailure::Cancelled(result.text),
            _ => ToolFailure::Error(result.text),
        })
    }

    fn ask(&self, context: &ToolContext) -> Confirmation {
        let question = ConfirmQuestion {
            tool: self.tool.to_owned(),
            change: Some(FileChange { path: self.path.clone(), proposed: Arc::clone(&self.proposed) }),
            details: String::new(),
            note: None,
            label: Some(label(&context.agent, &self.path)),
        };
        // Only the editor can write into a text that is not saved; the terminal is asked if the editor is lost.
        let ask_both = !self.is_unsaved;
        let rules = Rules { config: *context.bridge.config(), ask_both, ..Rules::new(Asking::Trusted) };
        // It waits a moment for an editor that was just lost, and says at once if there is none.
        confirm_unless(&question, &rules, Some(&*context.bridge), &*context.prompt, &context.cancelled)
    }

    /// Writes, unless the file is not what the decision was about.
    fn write(&self, bytes: &[u8]) -> Result<(), ReplaceError> {
        replace::replace(&self.path, self.current.as_deref(), bytes)
    }

    fn not_written(&self, error: &ReplaceError) -> String {
        match error {
            ReplaceError::Moved => format!(
                "{} was changed by someone else in the meantime, so nothing was written; read it again and make the \
                 change on what it holds now",
                self.name
            ),
            ReplaceError::Links(links) => format!(
                "{} has {links} hard links, and replacing it would separate them, so nothing was written; change it \
                 with a command",
                self.name
            ),
            ReplaceError::Io(error) => format!("{} was not written: {error}", self.name),
        }
    }
}

/// The name of the change in the editor: whose it is, unless it is the only agent's.
fn label(agent: &str, path: &Path) -> String {
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    if agent.is_empty() { file.into_owned() } else { format!("{agent}: {file}") }
}

#[cfg(test)]
mod tests;
