//! The shapes of answers. Where the seed shows one, it is that, to the key.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use linkspan_editor_api::{Position, Range, Severity};
use serde::Serialize;

use super::envelope::Told;
use super::tool::Context;
use crate::language::Known;
use crate::meaning::Answer;
use crate::work::Printed;

/// A language server that has more to say is not read to its end.
const MOST_DIAGNOSTICS: usize = 10_000;

#[derive(Serialize)]
pub(super) struct Workspace<'a> {
    name: Option<Cow<'a, str>>,
    folders: Vec<Folder<'a>>,
}

#[derive(Serialize)]
struct Folder<'a> {
    name: Cow<'a, str>,
    path: Cow<'a, str>,
}

pub(super) fn workspace(folders: &[PathBuf]) -> Workspace<'_> {
    fn name(path: &Path) -> Cow<'_, str> {
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
    }
    let shape = |path| Folder { name: name(path), path: path.to_string_lossy() };
    Workspace {
        name: folders.first().map(|folder| name(folder)),
        folders: folders.iter().map(PathBuf::as_path).map(shape).collect(),
    }
}

pub(super) fn info(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let Answer::Folders(folders) = answer else { return None };
    Some(Told::new(&workspace(folders)))
}

pub(super) fn data(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let Answer::Data { json, truncated } = answer else { return None };
    Some(Told::raw(json, *truncated))
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    content: &'a str,
    language: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dirty: bool,
}

pub(super) fn file(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let Answer::Text { text, language, dirty, truncated, .. } = answer else { return None };
    Some(Told::cut(&Text { path: None, content: text, language, dirty: *dirty }, *truncated))
}

pub(super) fn active_file(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    match answer {
        Answer::NoActiveFile => Some(Told::new(&())),
        Answer::Text { path, text, language, dirty, truncated } => {
            let path = Some(context.folders.relative(path));
            Some(Told::cut(&Text { path, content: text, language, dirty: *dirty }, *truncated))
        }
        _ => None,
    }
}

#[derive(Serialize)]
struct Open<'a> {
    path: String,
    language: Option<&'a str>,
    active: bool,
    dirty: bool,
}

pub(super) fn open_files(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    let Answer::Editors(documents) = answer else { return None };
    let shape =
        |document: &'_ linkspan_editor_api::OpenDocument| context.folders.relative(Path::new(&document.path));
    let open = documents.iter().map(|document| Open {
        path: shape(document),
        language: document.language.as_deref(),
        active: document.active,
        dirty: document.dirty,
    });
    Some(Told::new(&open.collect::<Vec<_>>()))
}

#[derive(Serialize)]
struct At {
    line: u32,
    column: u32,
}

impl From<Position> for At {
    fn from(position: Position) -> At {
        At { line: position.line, column: position.character }
    }
}

#[derive(Serialize)]
struct Selected<'a> {
    text: &'a str,
    file: String,
    start: At,
    end: At,
}

pub(super) fn selection(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    let Answer::Selection(selection) = answer else { return None };
    let shape = selection.as_ref().map(|selection| Selected {
        text: &selection.text,
        file: context.folders.relative(Path::new(&selection.path)),
        start: selection.range.start.into(),
        end: selection.range.end.into(),
    });
    Some(Told::new(&shape))
}

#[derive(Serialize)]
struct Visible {
    file: String,
    start: At,
    end: At,
}

pub(super) fn visible(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    match answer {
        Answer::NoActiveFile => Some(Told::new(&())),
        Answer::Known(Known::VisibleRange(path, visible)) => {
            let shape = visible.range.map(|Range { start, end }| Visible {
                file: context.folders.relative(path),
                start: start.into(),
                end: end.into(),
            });
            Some(Told::new(&shape))
        }
        _ => None,
    }
}

/// Whether there was an editor to open it in.
pub(super) fn opened(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    matches!(answer, Answer::Opened { .. }).then(|| Told::new(&context.capabilities.documents))
}

pub(super) fn revealed(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let Answer::Revealed(revealed) = answer else { return None };
    Some(Told::new(revealed))
}

#[derive(Serialize)]
struct Diagnosed<'a> {
    path: Cow<'a, str>,
    severity: &'static str,
    message: &'a str,
    line: u32,
    column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

pub(super) fn diagnostics(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    let Answer::Diagnostics(files) = answer else { return None };
    let mut found = Vec::new();
    for file in files {
        let relative = || context.folders.relative(Path::new(&file.path)).into();
        // As the seed has it: who asked for one file is told of it as he named it.
        let path: Cow<'_, str> = context.given.map_or_else(relative, Into::into);
        found.extend(file.diagnostics.iter().map(|diagnostic| Diagnosed {
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
    Some(Told::cut(&found, truncated))
}

#[derive(Serialize)]
struct Hover<'a> {
    contents: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<At>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<At>,
}

pub(super) fn hover(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let Answer::Known(Known::Hover(hover)) = answer else { return None };
    let shape = (!hover.contents.is_empty()).then(|| Hover {
        contents: &hover.contents,
        start: hover.range.map(|range| range.start.into()),
        end: hover.range.map(|range| range.end.into()),
    });
    Some(Told::new(&shape))
}

#[derive(Serialize)]
struct Defined {
    path: String,
    line: u32,
    column: u32,
}

pub(super) fn definition(answer: &Answer, context: &Context<'_>) -> Option<Told> {
    let Answer::Known(Known::Definition(found)) = answer else { return None };
    let shape = found.locations.iter().map(|location| Defined {
        path: context.folders.relative(Path::new(&location.path)),
        line: location.range.start.line.saturating_add(1),
        column: location.range.start.character,
    });
    Some(Told::new(&shape.collect::<Vec<_>>()))
}

#[derive(Serialize)]
struct Ran<'a> {
    terminal: &'a str,
    output: &'a str,
    exit_code: Option<i32>,
    timed_out: bool,
}

pub(super) fn ran(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let (terminal, output, exit_code, timed_out, truncated) = match answer {
        Answer::Ran(ran) => (&ran.terminal, &ran.output, ran.exit_code, ran.timed_out, false),
        Answer::Printed(Printed { terminal, output, running, exit_code, truncated }) => {
            (terminal, output, *exit_code, *running, *truncated)
        }
        _ => return None,
    };
    Some(Told::cut(&Ran { terminal, output, exit_code, timed_out }, truncated))
}

#[derive(Serialize)]
struct Shown<'a> {
    terminal: &'a str,
    output: &'a str,
    running: bool,
    exit_code: Option<i32>,
}

pub(super) fn printed(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let Answer::Printed(Printed { terminal, output, running, exit_code, truncated }) = answer else {
        return None;
    };
    Some(Told::cut(&Shown { terminal, output, running: *running, exit_code: *exit_code }, *truncated))
}

#[derive(Serialize)]
struct Made<'a> {
    terminal: &'a str,
    name: &'a str,
}

pub(super) fn terminal_made(answer: &Answer, _: &Context<'_>) -> Option<Told> {
    let Answer::TerminalMade { terminal, name } = answer else { return None };
    Some(Told::new(&Made { terminal, name }))
}
