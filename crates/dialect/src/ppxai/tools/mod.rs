//! All tools, group by group, and what their arguments have in common.

mod actions;
mod diagnostics;
mod editor;
mod git;
mod terminal;
mod workspace;

use std::path::PathBuf;

use linkspan_editor_api::Position;

use super::tool::{Argument, Tool, Wrong, optional, required};
use crate::mcp::Arguments;

const GROUPS: [&[Tool]; 6] =
    [workspace::TOOLS, editor::TOOLS, diagnostics::TOOLS, actions::TOOLS, terminal::TOOLS, git::TOOLS];

pub(super) fn all() -> impl Iterator<Item = &'static Tool> {
    GROUPS.into_iter().flatten()
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|tool| tool.name)
}

pub(super) fn named(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

const PATH: Argument = required("path", "string", "The file, from its workspace folder or absolute.");
const ANY_PATH: Argument =
    optional("path", "string", "The file; without it, the one that is active in the editor.");
const LINE: Argument = optional("line", "integer", "From 1.");
const COLUMN: Argument = optional("column", "integer", "From 0, in UTF-16 code units. Default 0.");

fn path_in(arguments: &Arguments<'_>, name: &'static str) -> Result<Option<PathBuf>, Wrong> {
    Ok(arguments.optional_text(name)?.map(|path| PathBuf::from(path.into_owned())))
}

fn path(arguments: &Arguments<'_>) -> Result<PathBuf, Wrong> {
    Ok(PathBuf::from(arguments.text("path")?.into_owned()))
}

fn optional_text(arguments: &Arguments<'_>, name: &'static str) -> Result<Option<String>, Wrong> {
    Ok(arguments.optional_text(name)?.map(|text| text.into_owned()))
}

/// The wire counts lines from 1.
fn line_in(arguments: &Arguments<'_>, name: &'static str) -> Result<Option<u32>, Wrong> {
    let first = || Wrong(format!("{name} is wrong: lines count from 1"));
    arguments.count(name)?.map(|line| line.checked_sub(1).ok_or_else(first)).transpose()
}

/// A place in a file; `column` means nothing without a line.
fn position(arguments: &Arguments<'_>) -> Result<Option<Position>, Wrong> {
    let column = arguments.count("column")?;
    match line_in(arguments, "line")? {
        Some(line) => Ok(Some(Position { line, character: column.unwrap_or(0) })),
        None if column.is_some() => Err(Wrong("line is missing: `column` is a place in a line".to_owned())),
        None => Ok(None),
    }
}
