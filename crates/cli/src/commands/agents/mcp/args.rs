//! The arguments of the tools. The schemas that a model reads are generated from these types, so the doc comments on the
//! fields are written for the model. Lines and columns count from 1, as in compilers and a model's other tools.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;

/// A change to one file: exactly one of `newText`, `edits` and `patch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProposedChange {
    /// The file, absolute or relative to the project folder. It may not exist yet.
    pub(super) path: String,
    /// The complete new content. For new files, or when most of a file changes.
    pub(super) new_text: Option<String>,
    /// Replacements in the file as it is on disk, applied in this order. For small changes to large files.
    pub(super) edits: Option<Vec<Replacement>>,
    /// A unified diff of this one file, with at least one line of context where the file has any.
    pub(super) patch: Option<String>,
    /// A few words that tell the user what the change is for.
    pub(super) label: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Replacement {
    /// The text to replace, exactly as it is in the file, with enough context to occur only once.
    pub(super) old_string: String,
    /// The replacement.
    pub(super) new_string: String,
    /// Replace every occurrence instead of exactly one.
    #[serde(default)]
    pub(super) replace_all: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProposedChanges {
    /// The changes, one for each file.
    #[schemars(length(min = 1, max = 100))]
    pub(super) changes: Vec<ProposedChange>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TwoTexts {
    /// The file the texts are about, absolute or relative to the project folder. It is not read or written.
    pub(super) path: String,
    /// The text before.
    pub(super) old_text: String,
    /// The text after.
    pub(super) new_text: String,
    /// A few words that tell the user what is asked.
    pub(super) label: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileToOpen {
    /// The file, absolute or relative to the project folder.
    pub(super) path: String,
    /// Line to go to, counting from 1.
    pub(super) line: Option<NonZeroU32>,
    /// Column to go to, counting from 1 in UTF-16 units.
    pub(super) column: Option<NonZeroU32>,
    /// Select from `line` to the end of this line, counting from 1.
    pub(super) end_line: Option<NonZeroU32>,
    /// Open it as a preview that the next preview replaces.
    #[serde(default)]
    pub(super) preview: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DiagnosticsFilter {
    /// One file, absolute or relative to the project folder; all files if omitted.
    pub(super) path: Option<String>,
    /// Wait up to this many milliseconds for the language server to finish, for example after a change.
    #[schemars(range(max = 8000))]
    pub(super) wait_ms: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OneFile {
    /// The file, absolute or relative to the project folder.
    pub(super) path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TextPosition {
    /// The file, absolute or relative to the project folder.
    pub(super) path: String,
    /// Line of the name in question, counting from 1.
    pub(super) line: NonZeroU32,
    /// Column of its first character, counting from 1 in UTF-16 units.
    pub(super) column: NonZeroU32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Tab {
    /// The label of the tab, as it was given or as the editor shows it.
    pub(super) label: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Code {
    /// The code to run in the notebook's kernel.
    pub(super) code: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NoArguments {}
