//! Positions in a text. Everything counts from 0, and columns are UTF-16 code units, because editors count them so.

use serde::{Deserialize, Serialize};

/// A position between two characters of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
pub struct Position {
    /// Line, from 0.
    pub line: u32,
    /// UTF-16 code units from the start of the line, from 0.
    pub character: u32,
}

/// A range of a document, from `start` up to but not including `end`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
pub struct Range {
    /// Where it begins.
    pub start: Position,
    /// Where it ends; never before `start`.
    pub end: Position,
}

impl Range {
    /// Whether it is empty: a bare cursor.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// Whole lines, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
pub struct LineRange {
    /// First line, from 0.
    pub first: u32,
    /// Last line, from 0, included.
    pub last: u32,
}

/// A range of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Absolute path of the file.
    pub path: String,
    /// Where in it.
    pub range: Range,
}
