//! The JSON of answers. If ppxai's own server shows an answer, ours has the same keys.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use linkspan_editor_api::{Position, Range, Severity};
use serde::Serialize;

use super::envelope::ToolOutput;
use super::tool::ToolContext;
use crate::answer::{Answer, TerminalContents};
use crate::language::LanguageAnswer;

/// More diagnostics of a language server are cut.
const MOST_DIAGNOSTICS: usize = 10_000;

#[derive(Serialize)]
pub(super) struct WorkspaceInfo<'a> {
    name: Option<Cow<'a, str>>,
    folders: Vec<FolderResult<'a>>,
}

#[derive(Serialize)]
struct FolderResult<'a> {
    name: Cow<'a, str>,
    path: Cow<'a, str>,
}

pub(super) fn workspace(folders: &[PathBuf]) -> WorkspaceInfo<'_> {
    fn name(path: &Path) -> Cow<'_, str> {
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
    }
    let shape = |path| FolderResult { name: name(path), path: path.to_string_lossy() };
    WorkspaceInfo {
        name: folders.first().map(|folder| name(folder)),
        folders: folders.iter().map(PathBuf::as_path).map(shape).collect(),
    }
}

pub(super) fn info(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Folders(folders) = answer else { return None };
    Some(ToolOutput::new(&workspace(folders)))
}

pub(super) fn data(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Data { json, truncated } = answer else { return None };
    Some(ToolOutput::raw(json, *truncated))
}

#[derive(Serialize)]
struct FileText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    content: &'a str,
    language: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dirty: bool,
}

pub(super) fn file(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Text { text, language, dirty, truncated, .. } = answer else { return None };
    Some(ToolOutput::cut(&FileText { path: None, content: text, language, dirty: *dirty }, *truncated))
}

pub(super) fn active_file(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    match answer {
        Answer::NoActiveFile => Some(ToolOutput::new(&())),
        Answer::Text { path, text, language, dirty, truncated } => {
            let path = Some(context.folders.relative(path));
            Some(ToolOutput::cut(&FileText { path, content: text, language, dirty: *dirty }, *truncated))
        }
        _ => None,
    }
}

#[derive(Serialize)]
struct OpenFile<'a> {
    path: String,
    language: Option<&'a str>,
    active: bool,
    dirty: bool,
}

pub(super) fn open_files(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Editors(documents) = answer else { return None };
    let shape =
        |document: &'_ linkspan_editor_api::OpenDocument| context.folders.relative(Path::new(&document.path));
    let open = documents.iter().map(|document| OpenFile {
        path: shape(document),
        language: document.language.as_deref(),
        active: document.active,
        dirty: document.dirty,
    });
    Some(ToolOutput::new(&open.collect::<Vec<_>>()))
}

#[derive(Serialize)]
struct LineColumn {
    line: u32,
    column: u32,
}

impl From<Position> for LineColumn {
    fn from(position: Position) -> LineColumn {
        LineColumn { line: position.line, column: position.character }
    }
}

#[derive(Serialize)]
struct PpxaiSelection<'a> {
    text: &'a str,
    file: String,
    start: LineColumn,
    end: LineColumn,
}

pub(super) fn selection(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Selection(selection) = answer else { return None };
    let shape = selection.as_ref().map(|selection| PpxaiSelection {
        text: &selection.text,
        file: context.folders.relative(Path::new(&selection.path)),
        start: selection.range.start.into(),
        end: selection.range.end.into(),
    });
    Some(ToolOutput::new(&shape))
}

#[derive(Serialize)]
struct VisibleResult {
    file: String,
    start: LineColumn,
    end: LineColumn,
}

pub(super) fn visible(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    match answer {
        Answer::NoActiveFile => Some(ToolOutput::new(&())),
        Answer::Language(LanguageAnswer::VisibleRange(path, visible)) => {
            let shape = visible.range.map(|Range { start, end }| VisibleResult {
                file: context.folders.relative(path),
                start: start.into(),
                end: end.into(),
            });
            Some(ToolOutput::new(&shape))
        }
        _ => None,
    }
}

/// Whether there was an editor to open it in.
pub(super) fn opened(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    matches!(answer, Answer::Opened { .. }).then(|| ToolOutput::new(&context.capabilities.documents))
}

pub(super) fn revealed(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Revealed(revealed) = answer else { return None };
    Some(ToolOutput::new(revealed))
}

#[derive(Serialize)]
struct DiagnosticResult<'a> {
    path: Cow<'a, str>,
    severity: &'static str,
    message: &'a str,
    line: u32,
    column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

pub(super) fn diagnostics(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Diagnostics(files) = answer else { return None };
    let mut found = Vec::new();
    for file in files {
        let relative = || context.folders.relative(Path::new(&file.path)).into();
        // As ppxai's own server does: a file that was requested by its path keeps that spelling.
        let path: Cow<'_, str> = context.given.map_or_else(relative, Into::into);
        found.extend(file.diagnostics.iter().map(|diagnostic| DiagnosticResult {
            path: path.clone(),
            severity: match diagnostic.severity {
                Severity::Error => "Error",
                Severity::Warning => "Warning",
                Severity::Info => "Information",
                Severity::Hint => "Hint",
            },
            message: &diagnostic.message,
            line: diagnostic.range.start.line.saturating_add(1),
            column: diagnostic.range.start.character,
            source: diagnostic.source.as_deref(),
        }));
    }
    let truncated = found.len() > MOST_DIAGNOSTICS;
    found.truncate(MOST_DIAGNOSTICS);
    Some(ToolOutput::cut(&found, truncated))
}

#[derive(Serialize)]
struct Hover<'a> {
    contents: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<LineColumn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<LineColumn>,
}

pub(super) fn hover(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Language(LanguageAnswer::Hover(hover)) = answer else { return None };
    let shape = (!hover.contents.is_empty()).then(|| Hover {
        contents: &hover.contents,
        start: hover.range.map(|range| range.start.into()),
        end: hover.range.map(|range| range.end.into()),
    });
    Some(ToolOutput::new(&shape))
}

#[derive(Serialize)]
struct DefinitionResult {
    path: String,
    line: u32,
    column: u32,
}

pub(super) fn definition(answer: &Answer, context: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::Language(LanguageAnswer::Definition(found)) = answer else { return None };
    let shape = found.locations.iter().map(|location| DefinitionResult {
        path: context.folders.relative(Path::new(&location.path)),
        line: location.range.start.line.saturating_add(1),
        column: location.range.start.character,
    });
    Some(ToolOutput::new(&shape.collect::<Vec<_>>()))
}

#[derive(Serialize)]
struct CommandResult<'a> {
    terminal: &'a str,
    output: &'a str,
    exit_code: Option<i32>,
    timed_out: bool,
}

pub(super) fn ran(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let (terminal, output, exit_code, timed_out, truncated) = match answer {
        Answer::Ran(ran) => (&ran.terminal, &ran.output, ran.exit_code, ran.timed_out, false),
        Answer::TerminalContents(TerminalContents { terminal, output, running, exit_code, truncated }) => {
            (terminal, output, *exit_code, *running, *truncated)
        }
        _ => return None,
    };
    Some(ToolOutput::cut(&CommandResult { terminal, output, exit_code, timed_out }, truncated))
}

#[derive(Serialize)]
struct TerminalResult<'a> {
    terminal: &'a str,
    output: &'a str,
    running: bool,
    exit_code: Option<i32>,
}

pub(super) fn printed(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::TerminalContents(TerminalContents { terminal, output, running, exit_code, truncated }) =
        answer
    else {
        return None;
    };
    Some(ToolOutput::cut(
        &TerminalResult { terminal, output, running: *running, exit_code: *exit_code },
        *truncated,
    ))
}

#[derive(Serialize)]
struct TerminalMade<'a> {
    terminal: &'a str,
    name: &'a str,
}

pub(super) fn terminal_made(answer: &Answer, _: &ToolContext<'_>) -> Option<ToolOutput> {
    let Answer::TerminalMade { terminal, name } = answer else { return None };
    Some(ToolOutput::new(&TerminalMade { terminal, name }))
}
