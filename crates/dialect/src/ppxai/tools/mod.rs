//! All tools, by group, and the arguments that they share.

mod actions;
mod diagnostics;
mod editor;
mod git;
mod terminal;
mod workspace;

use std::path::PathBuf;

use linkspan_editor_api::Position;

use super::tool::{Argument, BadArguments, PpxaiTool, optional, required};
use crate::mcp::Arguments;

const GROUPS: [&[PpxaiTool]; 6] =
    [workspace::TOOLS, editor::TOOLS, diagnostics::TOOLS, actions::TOOLS, terminal::TOOLS, git::TOOLS];

pub(super) fn all() -> impl Iterator<Item = &'static PpxaiTool> {
    GROUPS.into_iter().flatten()
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|tool| tool.name)
}

pub(super) fn named(name: &str) -> Option<&'static PpxaiTool> {
    all().find(|tool| tool.name == name)
}

const PATH: Argument = required("path", "string", "The file: relative to its workspace folder, or absolute.");
const ANY_PATH: Argument = optional("path", "string", "The file. Default: the active file of the editor.");
const LINE: Argument = optional("line", "integer", "From 1.");
const COLUMN: Argument = optional("column", "integer", "From 0, in UTF-16 code units. Default 0.");

fn path_in(arguments: &Arguments<'_>, name: &'static str) -> Result<Option<PathBuf>, BadArguments> {
    Ok(arguments.optional_text(name)?.map(|path| PathBuf::from(path.into_owned())))
}

fn path(arguments: &Arguments<'_>) -> Result<PathBuf, BadArguments> {
    Ok(PathBuf::from(arguments.text("path")?.into_owned()))
}

fn optional_text(arguments: &Arguments<'_>, name: &'static str) -> Result<Option<String>, BadArguments> {
    Ok(arguments.optional_text(name)?.map(|text| text.into_owned()))
}

/// The wire counts lines from 1.
fn line_in(arguments: &Arguments<'_>, name: &'static str) -> Result<Option<u32>, BadArguments> {
    let first = || BadArguments(format!("{name} is invalid: lines count from 1"));
    arguments.count(name)?.map(|line| line.checked_sub(1).ok_or_else(first)).transpose()
}

/// A position in a file; `column` needs a line.
fn position(arguments: &Arguments<'_>) -> Result<Option<Position>, BadArguments> {
    let column = arguments.count("column")?;
    match line_in(arguments, "line")? {
        Some(line) => Ok(Some(Position { line, character: column.unwrap_or(0) })),
        None if column.is_some() => {
            Err(BadArguments("line is missing: `column` is a position in a line".to_owned()))
        }
        None => Ok(None),
    }
}
