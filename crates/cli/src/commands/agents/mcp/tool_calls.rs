//! The tools that do not wait for a decision: arguments in, an answer or an error message out. Blocking.

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

use super::args;
use super::editor_session::{Caller, EditorSession};
use super::folders::absolute;
use super::guard::Guard;
use super::results::{self, from_one, shown};
use super::text::ToText;
use super::tools::{self, Row, Tool};

/// The longest wait for language servers: the call has a deadline of its own.
const MAX_WAIT: Duration = Duration::from_secs(8);

/// The answer of a tool, as text and as data.
#[derive(Debug)]
pub(super) struct ToolAnswer {
    pub(super) text: String,
    pub(super) data: Value,
}

impl ToolAnswer {
    pub(super) fn of<T: Serialize + ToText>(result: &T) -> Result<ToolAnswer, String> {
        let data = serde_json::to_value(result).map_err(|error| error.to_string())?;
        Ok(ToolAnswer { text: result.to_text(), data })
    }
}

/// Parses the arguments of a tool.
pub(super) fn arguments<T: DeserializeOwned>(tool: Tool, given: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(given)).map_err(|error| {
        let takes = tools::ALL.iter().find(|row| row.tool == tool).map(Row::takes).unwrap_or_default();
        format!("invalid arguments: {error}. Expected: {takes}")
    })
}

pub(super) fn perform(
    tool: Tool,
    given: Map<String, Value>,
    session: &Arc<EditorSession>,
    caller: &Caller,
) -> Result<ToolAnswer, String> {
    let ask = EditorCall { session, caller };
    let path = |named: &str| ask.path(named);
    match tool {
        Tool::ProposeChange | Tool::ProposeChanges | Tool::CompareTexts | Tool::ExecuteCode => {
            Err("this tool waits for a decision".into())
        }
        Tool::OpenFile => {
            let given: args::FileToOpen = arguments(tool, given)?;
            let at = position(&given)?;
            let path = path(&given.path)?;
            ask.answer(|editor| {
                editor.open_file(&path, at, given.preview)?;
                Ok(results::Opened { path: shown(&path) })
            })
        }
        Tool::GetDiagnostics => {
            let given: args::DiagnosticsFilter = arguments(tool, given)?;
            let path = given.path.as_deref().map(path).transpose()?;
            let wait = given.wait_ms.map(|wait| Duration::from_millis(wait.into()).min(MAX_WAIT));
            let guard = session.guard(caller)?;
            ask.answer(|editor| diagnostics(editor, &guard, path.as_deref(), wait))
        }
        Tool::GetCurrentSelection => {
            let args::NoArguments {} = arguments(tool, given)?;
            let guard = session.guard(caller)?;
            ask.answer(|editor| Ok(selection(&guard, editor.current_selection()?)))
        }
        Tool::GetLatestSelection => {
            let args::NoArguments {} = arguments(tool, given)?;
            let guard = session.guard(caller)?;
            ask.answer(|editor| Ok(selection(&guard, editor.latest_selection()?)))
        }
        Tool::GetOpenEditors => {
            let args::NoArguments {} = arguments(tool, given)?;
            let guard = session.guard(caller)?;
            ask.answer(|editor| {
                let mut editors = editor.open_editors()?;
                editors.retain(|editor| guard.allows(&editor.file_path));
                Ok(results::OpenEditors { editors: editors.into_iter().map(Into::into).collect() })
            })
        }
        Tool::GetWorkspaceFolders => {
            let args::NoArguments {} = arguments(tool, given)?;
            ask.answer(|editor| {
                let folders = editor.workspace_folders()?;
                let folders = folders.iter().map(|folder| shown(folder)).collect();
                Ok(results::Folders { editor: editor.candidate().editor.clone(), folders })
            })
        }
        Tool::GetContext => {
            let args::NoArguments {} = arguments(tool, given)?;
            let (deny, guard) = (session.deny(caller)?, session.guard(caller)?);
            ask.answer(|editor| context(editor, &guard, &deny))
        }
        Tool::CheckDocumentDirty => {
            let path = path(&arguments::<args::OneFile>(tool, given)?.path)?;
            ask.answer(|editor| Ok(results::Dirty { path: shown(&path), dirty: editor.is_dirty(&path)? }))
        }
        Tool::SaveDocument => {
            let path = path(&arguments::<args::OneFile>(tool, given)?.path)?;
            ask.answer(|editor| {
                editor.save(&path)?;
                Ok(results::Saved { path: shown(&path) })
            })
        }
        Tool::CloseTab => {
            let given: args::Tab = arguments(tool, given)?;
            ask.answer(|editor| {
                editor.close_tab(&given.label)?;
                Ok(results::Done { done: true })
            })
        }
        Tool::CloseAllDiffTabs => {
            let args::NoArguments {} = arguments(tool, given)?;
            ask.answer(|editor| {
                editor.close_all_diffs()?;
                Ok(results::Done { done: true })
            })
        }
        Tool::GetHover => ask.at_position(tool, "getHover", given, |found: api::LanguageHoverResult| {
            results::Hover { contents: found.contents }
        }),
        Tool::GetDefinition => {
            ask.at_position(tool, "getDefinition", given, |found: api::LanguageDefinitionResult| {
                locations(found.locations)
            })
        }
        Tool::FindReferences => {
            ask.at_position(tool, "findReferences", given, |found: api::LanguageReferencesResult| {
                locations(found.locations)
            })
        }
        Tool::GetSymbols => {
            let path = path(&arguments::<args::OneFile>(tool, given)?.path)?;
            ask.by_name("getSymbols", &json!({ "path": path }), |found: api::LanguageSymbolsResult| {
                results::Symbols { symbols: found.symbols.into_iter().map(Into::into).collect() }
            })
        }
        Tool::GetVisibleRange => {
            let path = path(&arguments::<args::OneFile>(tool, given)?.path)?;
            ask.by_name(
                "getVisibleRange",
                &json!({ "path": path }),
                |found: api::DocumentVisibleRangeResult| results::VisibleLines {
                    first_line: found.range.map(|range| from_one(range.start.line)),
                    last_line: found.range.map(|range| from_one(range.end.line)),
                },
            )
        }
    }
}

struct EditorCall<'a> {
    session: &'a Arc<EditorSession>,
    caller: &'a Caller,
}

impl EditorCall<'_> {
    /// The path that a model sends, if the agent may use the file.
    fn path(&self, named: &str) -> Result<PathBuf, String> {
        let path = absolute(named, &self.caller.folders)?;
        self.session.guard(self.caller)?.check(&path)?;
        Ok(path)
    }

    fn answer<T: Serialize + ToText>(
        &self,
        question: impl Fn(&Connection) -> Result<T, CallError>,
    ) -> Result<ToolAnswer, String> {
        ToolAnswer::of(&self.session.ask(self.caller, question)?)
    }

    /// Calls a tool of the hub that has no typed call, and parses its data.
    fn by_name<F: DeserializeOwned, T: Serialize + ToText>(
        &self,
        tool: &str,
        arguments: &Value,
        read: impl Fn(F) -> T,
    ) -> Result<ToolAnswer, String> {
        self.answer(|editor| {
            let answer = editor.call(tool, arguments)?;
            let Some(data) = answer.structured.clone().filter(|_| !answer.is_error) else {
                return Err(error_of(tool, &answer));
            };
            serde_json::from_value(data)
                .map(&read)
                .map_err(|error| CallError::Protocol { tool: tool.to_owned(), reason: error.to_string() })
        })
    }

    fn at_position<F: DeserializeOwned, T: Serialize + ToText>(
        &self,
        tool: Tool,
        name: &str,
        given: Map<String, Value>,
        read: impl Fn(F) -> T,
    ) -> Result<ToolAnswer, String> {
        let given: args::TextPosition = arguments(tool, given)?;
        let path = self.path(&given.path)?;
        let arguments =
            json!({ "path": path, "line": from_zero(given.line), "character": from_zero(given.column) });
        self.by_name(name, &arguments, read)
    }
}

fn error_of(tool: &str, answer: &ToolResult) -> CallError {
    let message = answer.texts().collect::<Vec<_>>().join("\n");
    if message.is_empty() {
        return CallError::Protocol { tool: tool.to_owned(), reason: "the error has no message".into() };
    }
    CallError::Tool { message, kind: None }
}

pub(super) fn text_of(answer: ToolResult) -> Result<String, CallError> {
    if answer.is_error {
        return Err(error_of("executeCode", &answer));
    }
    Ok(answer.texts().collect::<Vec<_>>().join("\n"))
}

fn position(given: &args::FileToOpen) -> Result<Option<OpenAt>, String> {
    let Some(line) = given.line else {
        return match given.column.or(given.end_line) {
            Some(_) => Err("column and endLine need a line".into()),
            None => Ok(None),
        };
    };
    if given.end_line.is_some_and(|end| end < line) {
        return Err("endLine is before line".into());
    }
    Ok(Some(OpenAt {
        line: from_zero(line),
        character: given.column.map_or(0, from_zero),
        end_line: given.end_line.map(from_zero),
    }))
}

fn diagnostics(
    editor: &Connection,
    guard: &Guard,
    path: Option<&Path>,
    wait: Option<Duration>,
) -> Result<results::Diagnostics, CallError> {
    let mut found = editor.diagnostics(path, wait)?;
    found.retain(|found| guard.allows(&found.file_path));
    let settled = found.iter().all(|found| found.settled);
    let mut diagnostics: Vec<results::Diagnostic> = found.iter().map(Into::into).collect();
    diagnostics.sort_by_key(|found| found.severity);
    Ok(results::Diagnostics { diagnostics, settled })
}

/// The state of the editor, as agents put it into their prompts.
fn context(editor: &Connection, guard: &Guard, deny: &DenyGlobs) -> Result<results::Context, CallError> {
    let (mut open_editors, mut diagnostics) = (editor.open_editors()?, editor.diagnostics(None, None)?);
    // Denied files are kept in the input: a diagnostic that mentions one is then left out.
    let inside = |path: &Path| guard.allows(path) || deny.denies(&editor.candidate().folders, path);
    open_editors.retain(|editor| inside(&editor.file_path));
    diagnostics.retain(|found| inside(&found.file_path));
    let input = ContextInput {
        ide_name: &editor.candidate().editor,
        open_editors: &open_editors,
        diagnostics: &diagnostics,
        selection: None,
        config: &BridgeConfig::default(),
        max_diagnostics: MAX_DIAGNOSTICS,
        deny,
        folders: &editor.candidate().folders,
    };
    Ok(results::Context { context: format_ide_context(&input) })
}

fn selection(
    guard: &Guard,
    found: Option<linkspan_client::connection::EditorSelection>,
) -> results::MaybeSelection {
    let allowed = found.filter(|found| guard.allows(&found.file_path));
    results::MaybeSelection { selection: allowed.map(Into::into) }
}

fn locations(found: Vec<api::Location>) -> results::Locations {
    results::Locations { locations: found.into_iter().map(Into::into).collect() }
}

fn from_zero(from_one: NonZeroU32) -> u32 {
    from_one.get() - 1
}
