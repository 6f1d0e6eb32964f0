//! The six tools that change one file: what the file would hold, the user's decision, the write, and what the model is
//! told. Asking is `linkspan_client::confirm`'s; the texts are in `change_result`.

mod change_result;
mod replace;
mod specs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use linkspan_client::confirm::{
    ConfirmQuestion, Confirmation, DecidedBy, FileChange, PermissionMode as Asking, Rules, confirm_unless,
};
use linkspan_client::connection::{AllowedBy, Change};
use linkspan_client::proposal::{Edit, FILE_TOOLS, FileEdit, Proposed, proposed};
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
    let file = File { tools, tool, path, name };
    match file.change(&edit, context)?.decide(None, context) {
        Some(answer) => answer,
        // The user typed in the editor before the write. In trusted mode they are asked about what they see now.
        None => loop {
            let change = file.change(&edit, context).map_err(|failure| file.typed_meanwhile(failure))?;
            if let Some(answer) = change.decide(Some(TYPED_MEANWHILE), context) {
                return answer;
            }
        },
    }
}

/// Why the user is asked a second time.
const TYPED_MEANWHILE: &str = "You changed the file in the editor after you were asked, so nothing was written yet. This is the change to what \
     the editor holds now.";

/// The file that a call changes.
struct File<'a> {
    tools: &'a AgentTools,
    tool: &'a str,
    path: PathBuf,
    name: String,
}

impl File<'_> {
    /// What the call makes of the file as it is now.
    fn change(&self, edit: &Edit, context: &ToolContext) -> Result<ComputedChange<'_>, ToolFailure> {
        let File { path, name, .. } = self;
        let current = replace::read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        let unsaved = self.unsaved_text()?;
        if unsaved.is_some() && context.mode != PermissionMode::Trusted {
            return Err(format!(
                "{name} has unsaved changes of the user in the editor, so it is not written; propose the change there \
                 with `ide.apply_edit`, or ask the user to save the file"
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
        let proposed = proposed(edit, base.as_deref()).map_err(|error| format!("{name}: {error}"))?;
        Ok(ComputedChange { file: self, current, proposed: Arc::new(proposed), is_unsaved })
    }

    fn unsaved_text(&self) -> Result<Option<String>, ToolFailure> {
        let text = self.tools.editor.unsaved_text(&self.path);
        text.map_err(|why| ToolFailure::Error(format!("{} {why}", self.name)))
    }

    fn typed_meanwhile(&self, failure: ToolFailure) -> ToolFailure {
        match failure {
            ToolFailure::Error(error) => ToolFailure::Error(format!(
                "The user changed {} in the editor in the meantime, so nothing was written, and the change cannot be \
                 made to what it holds now. {error}",
                self.name
            )),
            cancelled => cancelled,
        }
    }
}

/// A change that can be made.
struct ComputedChange<'a> {
    file: &'a File<'a>,
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
    /// Asks if the mode wants it, and writes. `None`: the editor has other unsaved text of the user by now, so nothing
    /// was written.
    fn decide(&self, note: Option<&str>, context: &ToolContext) -> Option<Answer> {
        let File { path, name, .. } = self.file;
        if self.proposed.is_unchanged() {
            return Some(Ok(format!("{name} already holds this text; nothing was changed.")));
        }
        let confirmation = match context.mode {
            PermissionMode::Yolo | PermissionMode::Sandboxed => Confirmation::NotAsked,
            PermissionMode::Trusted => self.ask(note, context),
        };
        let to_write = match &confirmation {
            Confirmation::NotAsked => Some(self.proposed.bytes()),
            Confirmation::AllowOnce { written: false, bytes, .. } => bytes.as_deref(),
            _ => None,
        };
        if let Some(bytes) = to_write {
            match self.file.unsaved_text() {
                Ok(None) => {}
                // Only the editor can write into a text that is not saved.
                Ok(Some(_)) if self.is_unsaved => {
                    return Some(Err(ToolFailure::Error(format!(
                        "{name} has unsaved changes of the user in the editor, so the change was not written although \
                         it was accepted; ask the user to save the file, then make the change again"
                    ))));
                }
                Ok(Some(_)) => return None,
                Err(failure) => return Some(Err(failure)),
            }
            self.record(&confirmation, context);
            if let Err(error) = self.write(bytes) {
                return Some(Err(ToolFailure::Error(self.not_written(&error))));
            }
        }
        let cancelled = context.cancelled.is_cancelled();
        let result = result_text(&DecidedChange {
            name,
            base: self.proposed.base(),
            proposed: self.proposed.text(),
            confirmation: &confirmation,
        });
        if result.is_written {
            let problems = diagnostics_after(context, path);
            return Some(Ok(result.text + &problems.unwrap_or_default()));
        }
        Some(Err(match confirmation {
            Confirmation::Undecided { .. } if cancelled => ToolFailure::Cancelled(result.text),
            _ => ToolFailure::Error(result.text),
        }))
    }

    fn ask(&self, note: Option<&str>, context: &ToolContext) -> Confirmation {
        let File { tool, path, .. } = self.file;
        let change = FileChange { path: path.clone(), proposed: Arc::clone(&self.proposed) };
        (context.propose)(&change);
        let question = ConfirmQuestion {
            tool: (*tool).to_owned(),
            change: Some(change),
            details: String::new(),
            note: note.map(str::to_owned),
            label: Some(label(&context.agent, path)),
        };
        // Only the editor can write into a text that is not saved; the terminal is asked if the editor is lost.
        let ask_both = !self.is_unsaved;
        let rules = Rules { config: *context.bridge.config(), ask_both, ..Rules::new(Asking::Trusted) };
        // It waits a moment for an editor that was just lost, and says at once if there is none.
        confirm_unless(&question, &rules, Some(&*context.bridge), &*context.prompt, &context.cancelled)
    }

    /// The hub, if there is one, has the change in its history before it is written, so that it can be undone.
    fn record(&self, confirmation: &Confirmation, context: &ToolContext) {
        let hub = context.bridge.connection().filter(|editor| editor.is_hub() && !editor.is_closed());
        let Some(hub) = hub.filter(|_| self.proposed.for_review().is_some()) else { return };
        let allowed_by = match context.mode {
            PermissionMode::Yolo => AllowedBy::Yolo,
            PermissionMode::Sandboxed => AllowedBy::Sandboxed,
            PermissionMode::Trusted => AllowedBy::Terminal,
        };
        let text = match confirmation {
            Confirmation::AllowOnce { text: Some(text), by: DecidedBy::Terminal, .. } => text,
            Confirmation::NotAsked => self.proposed.text(),
            _ => return,
        };
        let change = Change::new(&self.file.path, text).labelled(label(&context.agent, &self.file.path));
        // What the user allowed is written also if it is not in the history.
        let _ = hub.record(&change, allowed_by);
    }

    /// Writes, unless the file is not what the decision was about.
    fn write(&self, bytes: &[u8]) -> Result<(), ReplaceError> {
        match replace::replace(&self.file.path, self.current.as_deref(), bytes) {
            // The hub took the decision, was lost, and had written it.
            Err(ReplaceError::Moved) if replace::read(&self.file.path)?.as_deref() == Some(bytes) => Ok(()),
            written => written,
        }
    }

    fn not_written(&self, error: &ReplaceError) -> String {
        match error {
            ReplaceError::Moved => format!(
                "{} was changed by someone else in the meantime, so nothing was written; read it again and make the \
                 change on what it holds now",
                self.file.name
            ),
            ReplaceError::Links(links) => format!(
                "{} has {links} hard links, and replacing it would separate them, so nothing was written; change it \
                 with a command",
                self.file.name
            ),
            ReplaceError::Io(error) => format!("{} was not written: {error}", self.file.name),
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
