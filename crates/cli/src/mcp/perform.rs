//! What each tool does, for those that wait for no person: arguments in, an answer or a refusal in words out.
//! Blocking.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use linkspan_client::connection::{CallError, Connection, OpenAt, ToolResult};
use linkspan_client::{BridgeConfig, ContextInput, MAX_DIAGNOSTICS, format_ide_context};
use linkspan_editor_api::{self as api, DenyGlobs};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::arguments as takes;
use super::desk::{Caller, Desk};
use super::folders::absolute;
use super::guard::Guard;
use super::results::{self as gives, from_one, shown};
use super::tools::{self, Row, Tool};
use super::wording::Words;

/// Language servers are waited for at most this long: the call has a deadline of its own.
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// The answer of a tool: for a model, and for a program.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) data: Value,
}

impl Answer {
    pub(super) fn of<T: Serialize + Words>(result: &T) -> Result<Answer, String> {
        let data = serde_json::to_value(result).map_err(|error| error.to_string())?;
        Ok(Answer { text: result.words(), data })
    }
}

/// What a model gave, as the tool takes it.
pub(super) fn arguments<T: DeserializeOwned>(tool: Tool, given: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(given)).map_err(|error| {
        let takes = tools::ALL.iter().find(|row| row.tool == tool).map(Row::takes).unwrap_or_default();
        format!("the arguments are wrong: {error}. It takes: {takes}")
    })
}

pub(super) fn perform(
    tool: Tool,
    given: Map<String, Value>,
    desk: &Arc<Desk>,
    caller: &Caller,
) -> Result<Answer, String> {
    let ask = Ask { desk, caller };
    let path = |named: &str| ask.path(named);
    match tool {
        Tool::ProposeChange | Tool::ProposeChanges | Tool::CompareTexts | Tool::ExecuteCode => {
            Err("this tool waits for a person".into())
        }
        Tool::OpenFile => {
            let asked: takes::FileToOpen = arguments(tool, given)?;
            let at = place(&asked)?;
            let path = path(&asked.path)?;
            ask.answer(|editor| {
                editor.open_file(&path, at, asked.preview)?;
                Ok(gives::Opened { path: shown(&path) })
            })
        }
        Tool::GetDiagnostics => {
            let asked: takes::DiagnosticsWanted = arguments(tool, given)?;
            let path = asked.path.as_deref().map(path).transpose()?;
            let wait = asked.wait_ms.map(|wait| Duration::from_millis(wait.into()).min(LONGEST_WAIT));
            let guard = desk.guard(caller)?;
            ask.answer(|editor| diagnostics(editor, &guard, path.as_deref(), wait))
        }
        Tool::GetCurrentSelection => {
            let takes::Nothing {} = arguments(tool, given)?;
            let guard = desk.guard(caller)?;
            ask.answer(|editor| Ok(selection(&guard, editor.current_selection()?)))
        }
        Tool::GetLatestSelection => {
            let takes::Nothing {} = arguments(tool, given)?;
            let guard = desk.guard(caller)?;
            ask.answer(|editor| Ok(selection(&guard, editor.latest_selection()?)))
        }
        Tool::GetOpenEditors => {
            let takes::Nothing {} = arguments(tool, given)?;
            let guard = desk.guard(caller)?;
            ask.answer(|editor| {
                let mut editors = editor.open_editors()?;
                editors.retain(|editor| guard.may_tell(&editor.file_path));
                Ok(gives::OpenEditors { editors: editors.into_iter().map(Into::into).collect() })
            })
        }
        Tool::GetWorkspaceFolders => {
            let takes::Nothing {} = arguments(tool, given)?;
            ask.answer(|editor| {
                let folders = editor.workspace_folders()?;
                let folders = folders.iter().map(|folder| shown(folder)).collect();
                Ok(gives::Folders { editor: editor.candidate().editor.clone(), folders })
            })
        }
        Tool::GetContext => {
            let takes::Nothing {} = arguments(tool, given)?;
            let (deny, guard) = (desk.deny(caller)?, desk.guard(caller)?);
            ask.answer(|editor| context(editor, &guard, &deny))
        }
        Tool::CheckDocumentDirty => {
            let path = path(&arguments::<takes::OneFile>(tool, given)?.path)?;
            ask.answer(|editor| Ok(gives::Dirty { path: shown(&path), dirty: editor.is_dirty(&path)? }))
        }
        Tool::SaveDocument => {
            let path = path(&arguments::<takes::OneFile>(tool, given)?.path)?;
            ask.answer(|editor| {
                editor.save(&path)?;
                Ok(gives::Saved { path: shown(&path) })
            })
        }
        Tool::CloseTab => {
            let asked: takes::Tab = arguments(tool, given)?;
            ask.answer(|editor| {
                editor.close_tab(&asked.label)?;
                Ok(gives::Done { done: true })
            })
        }
        Tool::CloseAllDiffTabs => {
            let takes::Nothing {} = arguments(tool, given)?;
            ask.answer(|editor| {
                editor.close_all_diffs()?;
                Ok(gives::Done { done: true })
            })
        }
        Tool::GetHover => ask.at_place(tool, "getHover", given, |found: api::LanguageHoverResult| {
            gives::Hover { contents: found.contents }
        }),
        Tool::GetDefinition => {
            ask.at_place(tool, "getDefinition", given, |found: api::LanguageDefinitionResult| {
                locations(found.locations)
            })
        }
        Tool::FindReferences => {
            ask.at_place(tool, "findReferences", given, |found: api::LanguageReferencesResult| {
                locations(found.locations)
            })
        }
        Tool::GetSymbols => {
            let path = path(&arguments::<takes::OneFile>(tool, given)?.path)?;
            ask.by_name("getSymbols", &json!({ "path": path }), |found: api::LanguageSymbolsResult| {
                gives::Symbols { symbols: found.symbols.into_iter().map(Into::into).collect() }
            })
        }
        Tool::GetVisibleRange => {
            let path = path(&arguments::<takes::OneFile>(tool, given)?.path)?;
            ask.by_name(
                "getVisibleRange",
                &json!({ "path": path }),
                |found: api::DocumentVisibleRangeResult| gives::VisibleLines {
                    first_line: found.range.map(|range| from_one(range.start.line)),
                    last_line: found.range.map(|range| from_one(range.end.line)),
                },
            )
        }
    }
}

struct Ask<'a> {
    desk: &'a Arc<Desk>,
    caller: &'a Caller,
}

impl Ask<'_> {
    /// The file that a model names, if it may.
    fn path(&self, named: &str) -> Result<PathBuf, String> {
        let path = absolute(named, &self.caller.folders)?;
        self.desk.guard(self.caller)?.check(&path)?;
        Ok(path)
    }

    fn answer<T: Serialize + Words>(
        &self,
        question: impl Fn(&Connection) -> Result<T, CallError>,
    ) -> Result<Answer, String> {
        Answer::of(&self.desk.ask(self.caller, question)?)
    }

    /// Asks a tool of the hub that has no typed call, and reads its data.
    fn by_name<F: DeserializeOwned, T: Serialize + Words>(
        &self,
        tool: &str,
        arguments: &Value,
        read: impl Fn(F) -> T,
    ) -> Result<Answer, String> {
        self.answer(|editor| {
            let answer = editor.call(tool, arguments)?;
            let Some(data) = answer.structured.clone().filter(|_| !answer.is_error) else {
                return Err(complaint(tool, &answer));
            };
            serde_json::from_value(data)
                .map(&read)
                .map_err(|error| CallError::Protocol { tool: tool.to_owned(), reason: error.to_string() })
        })
    }

    fn at_place<F: DeserializeOwned, T: Serialize + Words>(
        &self,
        tool: Tool,
        name: &str,
        given: Map<String, Value>,
        read: impl Fn(F) -> T,
    ) -> Result<Answer, String> {
        let asked: takes::Place = arguments(tool, given)?;
        let path = self.path(&asked.path)?;
        let arguments =
            json!({ "path": path, "line": from_zero(asked.line), "character": from_zero(asked.column) });
        self.by_name(name, &arguments, read)
    }
}

fn complaint(tool: &str, answer: &ToolResult) -> CallError {
    let message = answer.texts().collect::<Vec<_>>().join("\n");
    if message.is_empty() {
        return CallError::Protocol { tool: tool.to_owned(), reason: "it is empty".into() };
    }
    CallError::Tool { message, kind: None }
}

pub(super) fn said(answer: ToolResult) -> Result<String, CallError> {
    if answer.is_error {
        return Err(complaint("executeCode", &answer));
    }
    Ok(answer.texts().collect::<Vec<_>>().join("\n"))
}

fn place(asked: &takes::FileToOpen) -> Result<Option<OpenAt>, String> {
    let Some(line) = asked.line else {
        return match asked.column.or(asked.end_line) {
            Some(_) => Err("column and endLine need a line".into()),
            None => Ok(None),
        };
    };
    if asked.end_line.is_some_and(|end| end < line) {
        return Err("endLine is before line".into());
    }
    Ok(Some(OpenAt {
        line: from_zero(line),
        character: asked.column.map_or(0, from_zero),
        end_line: asked.end_line.map(from_zero),
    }))
}

fn diagnostics(
    editor: &Connection,
    guard: &Guard,
    path: Option<&Path>,
    wait: Option<Duration>,
) -> Result<gives::Diagnostics, CallError> {
    let mut found = editor.diagnostics(path, wait)?;
    found.retain(|found| guard.may_tell(&found.file_path));
    let settled = found.iter().all(|found| found.settled);
    let mut diagnostics: Vec<gives::Diagnostic> = found.iter().map(Into::into).collect();
    diagnostics.sort_by_key(|found| found.severity);
    Ok(gives::Diagnostics { diagnostics, settled })
}

/// What the person works on: the selection, and what an agent's prompt would be told.
fn context(editor: &Connection, guard: &Guard, deny: &DenyGlobs) -> Result<gives::Context, CallError> {
    let (mut open_editors, mut diagnostics) = (editor.open_editors()?, editor.diagnostics(None, None)?);
    // Those that are denied stay: what is told of others may mention them, and is then withheld.
    let inside = |path: &Path| guard.may_tell(path) || deny.denies(&editor.candidate().folders, path);
    open_editors.retain(|editor| inside(&editor.file_path));
    diagnostics.retain(|found| inside(&found.file_path));
    let input = ContextInput {
        ide_name: &editor.candidate().editor,
        open_editors: &open_editors,
        diagnostics: &diagnostics,
        config: &BridgeConfig::default(),
        max_diagnostics: MAX_DIAGNOSTICS,
        deny,
        folders: &editor.candidate().folders,
    };
    Ok(gives::Context { context: format_ide_context(&input) })
}

fn selection(guard: &Guard, found: Option<linkspan_client::connection::Selection>) -> gives::MaybeSelection {
    let told = found.filter(|found| guard.may_tell(&found.file_path));
    gives::MaybeSelection { selection: told.map(Into::into) }
}

fn locations(found: Vec<api::Location>) -> gives::Locations {
    gives::Locations { locations: found.into_iter().map(Into::into).collect() }
}

fn from_zero(from_one: NonZeroU32) -> u32 {
    from_one.get() - 1
}
