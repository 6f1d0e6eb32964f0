//! The six tools that change one file: what the file would hold, the user's decision, the write, and what the model is
//! told. Asking is `linkspan_client::confirm`'s; the texts are in `change_result`.

mod change_result;
mod replace;
mod specs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use linkspan_client::confirm::{
    ConfirmQuestion, Confirmation, FileChange, PermissionMode as Asking, Reviewer, Rules, confirm_unless,
};
use linkspan_client::proposal::{FILE_TOOLS, FileEdit, Proposed, proposed};
use serde_json::Value;

use super::ToolContext;
use super::answer::{Answer, Failure};
use super::editor::diagnostics_after;
use super::paths::{Purpose, resolve, shown};
use super::toolbox::Tools;
use crate::permissions::PermissionMode;
use change_result::{DecidedChange, result_text};
use replace::ReplaceError;

pub(crate) use specs::specs;

pub(crate) fn is_one(name: &str) -> bool {
    FILE_TOOLS.contains(&name)
}

pub(crate) fn run(tools: &Tools, tool: &str, arguments: &Value, context: &ToolContext) -> Answer {
    let FileEdit { path: given, edit } =
        FileEdit::from_call(tool, arguments).map_err(|error| error.to_string())?;
    let path = resolve(&given.to_string_lossy(), Purpose::Write, &tools.own, context)?;
    let name = shown(&path, &context.cwd);
    if tools.config.deny.denies(&tools.workspace(context).folders, &path) {
        return Err(format!(
            "{name} is kept from agents by the configuration (`deny`); leave it to the user"
        )
        .into());
    }
    let _turn = tools.turn(path.clone(), context)?;
    let current = replace::read(&path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let proposed = proposed(&edit, current.as_deref()).map_err(|error| format!("{name}: {error}"))?;
    let change = Proposal { tool, path, name, current, proposed: Arc::new(proposed) };
    change.decide(context)
}

/// A change that can be made.
struct Proposal<'a> {
    tool: &'a str,
    path: PathBuf,
    name: String,
    /// The bytes of the file; `None` if it does not exist.
    current: Option<Vec<u8>>,
    proposed: Arc<Proposed>,
}

impl Proposal<'_> {
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
            self.write(bytes).map_err(|error| Failure::Error(self.not_written(&error)))?;
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
            Confirmation::Undecided { .. } if cancelled => Failure::Cancelled(result.text),
            _ => Failure::Error(result.text),
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
        let rules = Rules { config: *context.bridge.config(), ask_both: true, ..Rules::new(Asking::Trusted) };
        // A lost editor is being looked for again, and is asked if it comes back in time.
        let editor = context.bridge.connection().map(|_| &*context.bridge as &dyn Reviewer);
        confirm_unless(&question, &rules, editor, &*context.prompt, &context.cancelled)
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
