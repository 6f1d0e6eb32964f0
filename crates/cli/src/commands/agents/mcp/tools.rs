//! The table of tools: names, descriptions for the model, and which of them are listed when. Their work is in `tool_calls`;
//! the names are those of the hub's own dialect where it has the same tool.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, MetaObject, Tool as Listing, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::Value;

use super::args;
use super::results;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    ProposeChange,
    ProposeChanges,
    CompareTexts,
    OpenFile,
    GetDiagnostics,
    GetCurrentSelection,
    GetLatestSelection,
    GetOpenEditors,
    GetWorkspaceFolders,
    GetContext,
    CheckDocumentDirty,
    SaveDocument,
    CloseTab,
    CloseAllDiffTabs,
    GetHover,
    GetDefinition,
    FindReferences,
    GetSymbols,
    GetVisibleRange,
    ExecuteCode,
}

/// What a tool does to the user's files and screen.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// Only reads.
    Reads,
    /// Changes what the user sees, but no file.
    Shows,
    /// Writes files, with the user's consent.
    Writes,
    /// Runs code.
    Runs,
}

pub(super) struct Row {
    pub(super) tool: Tool,
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    /// Listed only if the editor offers it.
    pub(super) if_offered: bool,
    input: fn() -> Option<Arc<JsonObject>>,
    output: fn() -> Arc<JsonObject>,
}

const fn row<I: JsonSchema + Any, O: JsonSchema + Any>(
    tool: Tool,
    name: &'static str,
    title: &'static str,
    effect: Effect,
    description: &'static str,
) -> Row {
    Row {
        tool,
        name,
        title,
        description,
        effect,
        if_offered: false,
        input: || schema_for_input::<I>().ok().map(|schema| without_formats(&schema)),
        output: || without_formats(&schema_for_output::<O>()),
    }
}

const fn offered(row: Row) -> Row {
    Row { if_offered: true, ..row }
}

pub(super) const ALL: &[Row] = &[
    row::<args::ProposedChange, results::Decision>(
        Tool::ProposeChange,
        "proposeChange",
        "Propose a change",
        Effect::Writes,
        "Shows a change of one file to the user in the editor, as a diff, and waits for the decision, however \
         long it takes. Give exactly one of newText, edits and patch. If the user accepts, the file is written for \
         you: do not write it again. The user may accept only some hunks, edit the text, or reject it with a reason \
         and comments on lines; see the answer. Use this instead of writing files yourself.",
    ),
    row::<args::ProposedChanges, results::Decisions>(
        Tool::ProposeChanges,
        "proposeChanges",
        "Propose several changes as one set",
        Effect::Writes,
        "Shows changes of several files to the user together, as one change set, and waits until all of them \
         are decided. Each file is decided separately, and may be accepted while another is rejected. Use it when \
         the changes belong together, such as a rename. Otherwise like proposeChange.",
    ),
    row::<args::TwoTexts, results::Decision>(
        Tool::CompareTexts,
        "compareTexts",
        "Ask about two texts",
        Effect::Shows,
        "Shows two texts side by side to the user and waits until they accept or reject. Reads and writes no \
         file: for something that is not on disk, such as an old version against a new one.",
    ),
    row::<args::FileToOpen, results::Opened>(
        Tool::OpenFile,
        "openFile",
        "Open a file in the editor",
        Effect::Shows,
        "Opens a file in the user's editor, optionally at a line. Lines and columns count from 1.",
    ),
    row::<args::DiagnosticsFilter, results::Diagnostics>(
        Tool::GetDiagnostics,
        "getDiagnostics",
        "Errors and warnings",
        Effect::Reads,
        "The errors and warnings of the editor's language servers, for one file or all, errors first. After an \
         accepted change pass waitMs (such as 3000), so that they refer to the new text. Lines and columns count \
         from 1.",
    ),
    row::<args::NoArguments, results::MaybeSelection>(
        Tool::GetCurrentSelection,
        "getCurrentSelection",
        "Selection in the active editor",
        Effect::Reads,
        "The user's selection in the active editor. Lines and columns count from 1.",
    ),
    row::<args::NoArguments, results::MaybeSelection>(
        Tool::GetLatestSelection,
        "getLatestSelection",
        "Latest selection",
        Effect::Reads,
        "The user's latest selection in any editor, even if a terminal has the focus now: what \"this\" means when \
         the user says \"fix this\". Lines and columns count from 1.",
    ),
    row::<args::NoArguments, results::OpenEditors>(
        Tool::GetOpenEditors,
        "getOpenEditors",
        "Open editors",
        Effect::Reads,
        "The files open in the editor, which of them is active, and which have unsaved changes.",
    ),
    row::<args::NoArguments, results::Folders>(
        Tool::GetWorkspaceFolders,
        "getWorkspaceFolders",
        "Workspace folders",
        Effect::Reads,
        "Which editor this is and the folders open in it. Changes can be proposed for files in these folders.",
    ),
    row::<args::NoArguments, results::Context>(
        Tool::GetContext,
        "getContext",
        "What the user is looking at",
        Effect::Reads,
        "A short summary of what the user works on: the active file, open files, errors and warnings. A good \
         first call.",
    ),
    row::<args::OneFile, results::Dirty>(
        Tool::CheckDocumentDirty,
        "checkDocumentDirty",
        "Unsaved changes?",
        Effect::Reads,
        "Whether a file has unsaved changes in the editor. If so, the file on disk differs from what the user sees.",
    ),
    row::<args::OneFile, results::Saved>(
        Tool::SaveDocument,
        "saveDocument",
        "Save a file",
        Effect::Writes,
        "Saves a file that is open in the editor, with the user's unsaved changes. Ask the user first.",
    ),
    row::<args::Tab, results::Done>(
        Tool::CloseTab,
        "closeTab",
        "Close a tab",
        Effect::Shows,
        "Closes a tab by its label. If it shows a pending change of yours, the change is withdrawn.",
    ),
    row::<args::NoArguments, results::Done>(
        Tool::CloseAllDiffTabs,
        "closeAllDiffTabs",
        "Close all diff tabs",
        Effect::Shows,
        "Closes the diffs of all your pending changes, which withdraws them.",
    ),
    offered(row::<args::TextPosition, results::Hover>(
        Tool::GetHover,
        "getHover",
        "Type and documentation",
        Effect::Reads,
        "Type and documentation of the name at a position, from the language server. Lines and columns count from 1.",
    )),
    offered(row::<args::TextPosition, results::Locations>(
        Tool::GetDefinition,
        "getDefinition",
        "Go to definition",
        Effect::Reads,
        "Where the name at a position is defined, from the language server. Lines and columns count from 1.",
    )),
    offered(row::<args::TextPosition, results::Locations>(
        Tool::FindReferences,
        "findReferences",
        "Find references",
        Effect::Reads,
        "Where the name at a position is used, from the language server. Lines and columns count from 1.",
    )),
    offered(row::<args::OneFile, results::Symbols>(
        Tool::GetSymbols,
        "getSymbols",
        "Symbols of a file",
        Effect::Reads,
        "The functions, types and other symbols of a file, from the language server. Lines count from 1.",
    )),
    offered(row::<args::OneFile, results::VisibleLines>(
        Tool::GetVisibleRange,
        "getVisibleRange",
        "Visible lines",
        Effect::Reads,
        "The lines of a file that are visible to the user. Lines count from 1.",
    )),
    offered(row::<args::Code, results::Executed>(
        Tool::ExecuteCode,
        "executeCode",
        "Run code in the notebook",
        Effect::Runs,
        "Runs code in the kernel of the user's active notebook. State is kept between calls.",
    )),
];

/// Removes `format` with names of Rust's number types: JSON Schema does not know them, and validators warn about each.
fn without_formats(schema: &JsonObject) -> Arc<JsonObject> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                // The value is an object if it is a property with that name.
                object.retain(|key, value| key != "format" || !value.is_string());
                object.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut schema = schema.clone();
    schema.values_mut().for_each(strip);
    Arc::new(schema)
}

pub(super) fn named(name: &str) -> Option<&'static Row> {
    ALL.iter().find(|row| row.name == name)
}

/// The tools to list for an editor that offers these.
pub(super) fn listed(offered: &BTreeSet<String>) -> Vec<Listing> {
    ALL.iter().filter(|row| !row.if_offered || offered.contains(row.name)).filter_map(Row::listing).collect()
}

impl Row {
    /// The arguments on one line, for a model that sent wrong ones.
    pub(super) fn takes(&self) -> String {
        let schema = (self.input)().unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let arguments = properties.into_iter().flatten().map(|(name, property)| {
            let kind = match property.get("type") {
                Some(Value::String(kind)) => kind,
                Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("any"),
                _ => "any",
            };
            let required = required.is_some_and(|required| required.iter().any(|other| other == name));
            format!("{name} ({kind}{})", if required { ", required" } else { "" })
        });
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        if arguments.is_empty() { "no arguments".into() } else { arguments }
    }

    /// Whether a model must see it from the start: otherwise it would write files by other means.
    fn is_for_every_model(&self) -> bool {
        matches!(self.tool, Tool::ProposeChange | Tool::ProposeChanges)
    }

    fn listing(&self) -> Option<Listing> {
        let (read_only, destructive, idempotent, open_world) = match self.effect {
            Effect::Reads => (true, false, true, false),
            Effect::Shows => (false, false, true, false),
            // Only after the user accepts, but then the previous content is replaced.
            Effect::Writes => (false, true, false, false),
            Effect::Runs => (false, true, false, true),
        };
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world);
        let listing = Listing::new(self.name, self.description, (self.input)()?)
            .with_title(self.title)
            .with_raw_output_schema((self.output)())
            .with_annotations(annotations);
        Some(if self.is_for_every_model() { listing.with_meta(always_loaded()) } else { listing })
    }
}

/// Claude Code shows a model only the names of most MCP tools until it searches for one. This requests an exception.
fn always_loaded() -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> Vec<Listing> {
        listed(&ALL.iter().map(|row| row.name.to_owned()).collect())
    }

    #[test]
    fn every_tool_can_be_listed_and_found_by_its_name() {
        assert_eq!(everything().len(), ALL.len());
        for row in ALL {
            assert_eq!(named(row.name).map(|found| found.tool), Some(row.tool));
        }
    }

    #[test]
    fn tools_that_the_editor_does_not_offer_are_not_listed() {
        let names = |offered: &BTreeSet<String>| {
            listed(offered).into_iter().map(|tool| tool.name.into_owned()).collect::<Vec<_>>()
        };
        assert!(!names(&BTreeSet::new()).contains(&"getHover".into()));
        assert!(names(&BTreeSet::from(["getHover".into()])).contains(&"getHover".into()));
        assert!(names(&BTreeSet::new()).contains(&"proposeChange".into()));
    }

    #[test]
    fn every_argument_has_a_description() {
        for tool in everything() {
            let properties = tool.input_schema.get("properties").and_then(|found| found.as_object());
            for (name, property) in properties.into_iter().flatten() {
                assert!(property.get("description").is_some(), "{}.{name} is not described", tool.name);
            }
        }
    }

    #[test]
    fn a_schema_is_json_schema_and_nothing_else() {
        for tool in everything() {
            let schemas = format!("{:?} {:?}", tool.input_schema, tool.output_schema);
            assert!(!schemas.contains("uint32"), "{}: {schemas}", tool.name);
        }
    }

    #[test]
    fn unknown_arguments_are_refused_by_the_schema_too() {
        for tool in everything() {
            assert_eq!(tool.input_schema.get("additionalProperties"), Some(&false.into()), "{}", tool.name);
        }
    }
}
