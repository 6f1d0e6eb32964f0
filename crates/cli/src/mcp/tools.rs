//! The tools: names, what a model is told about them, and which of them exist when. What they do is in
//! `perform`; the names are those of the hub's own dialect wherever it has the same tool.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, MetaObject, Tool as Listing, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::Value;

use super::arguments as takes;
use super::results as gives;

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

/// What a client may think of a tool before it asks.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// Looks only.
    Reads,
    /// Changes what the person sees, no file.
    Shows,
    /// Writes files that the person said yes to.
    Writes,
    /// Runs what it is given.
    Runs,
}

pub(super) struct Row {
    pub(super) tool: Tool,
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    /// Only where the editor offers it.
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
    row::<takes::ProposedChange, gives::Decision>(
        Tool::ProposeChange,
        "proposeChange",
        "Propose a change",
        Effect::Writes,
        "Shows a change of one file to the person in the editor, as a diff, and waits for the decision, however \
         long it takes. Give exactly one of newText, edits and patch. On yes the file is written for you: do not \
         write it again. The person may take only some hunks, edit the text, or say no with a reason and comments \
         on lines; the answer tells. Use this instead of writing files yourself.",
    ),
    row::<takes::ProposedChanges, gives::Decisions>(
        Tool::ProposeChanges,
        "proposeChanges",
        "Propose several changes as one set",
        Effect::Writes,
        "Shows changes of several files to the person together, as one change set, and waits until all of them \
         are decided. Each file is decided by itself, and may be accepted while another is rejected. Use it when \
         the changes belong together, such as a rename; otherwise as proposeChange.",
    ),
    row::<takes::TwoTexts, gives::Decision>(
        Tool::CompareTexts,
        "compareTexts",
        "Ask about two texts",
        Effect::Shows,
        "Shows two texts side by side to the person and waits for yes or no. Reads and writes no file: for \
         something that is not on disk, such as an old version against a new one.",
    ),
    row::<takes::FileToOpen, gives::Opened>(
        Tool::OpenFile,
        "openFile",
        "Open a file in the editor",
        Effect::Shows,
        "Opens a file in the person's editor, at a line if you like. Lines and columns count from 1.",
    ),
    row::<takes::DiagnosticsWanted, gives::Diagnostics>(
        Tool::GetDiagnostics,
        "getDiagnostics",
        "Errors and warnings",
        Effect::Reads,
        "The errors and warnings the editor's language servers know of, for one file or all, errors first. After \
         an accepted change give waitMs (such as 3000), so that they are about the new text. Lines and columns \
         count from 1.",
    ),
    row::<takes::Nothing, gives::MaybeSelection>(
        Tool::GetCurrentSelection,
        "getCurrentSelection",
        "Selection in the active editor",
        Effect::Reads,
        "What the person has selected in the active editor. Lines and columns count from 1.",
    ),
    row::<takes::Nothing, gives::MaybeSelection>(
        Tool::GetLatestSelection,
        "getLatestSelection",
        "Latest selection",
        Effect::Reads,
        "What the person selected last in any editor, also when a terminal has the focus now: what \"this\" means \
         when the person says \"fix this\". Lines and columns count from 1.",
    ),
    row::<takes::Nothing, gives::OpenEditors>(
        Tool::GetOpenEditors,
        "getOpenEditors",
        "Open editors",
        Effect::Reads,
        "The files open in the editor, which of them the person looks at, and which have unsaved changes.",
    ),
    row::<takes::Nothing, gives::Folders>(
        Tool::GetWorkspaceFolders,
        "getWorkspaceFolders",
        "Workspace folders",
        Effect::Reads,
        "Which editor this is and the folders open in it. Changes can be proposed for files in these folders.",
    ),
    row::<takes::Nothing, gives::Context>(
        Tool::GetContext,
        "getContext",
        "What the person is looking at",
        Effect::Reads,
        "A short summary of what the person works on: the active file, the selection, open files, errors. A good \
         first call.",
    ),
    row::<takes::OneFile, gives::Dirty>(
        Tool::CheckDocumentDirty,
        "checkDocumentDirty",
        "Unsaved changes?",
        Effect::Reads,
        "Whether a file has unsaved changes in the editor. If so, what is on disk is not what the person sees.",
    ),
    row::<takes::OneFile, gives::Saved>(
        Tool::SaveDocument,
        "saveDocument",
        "Save a file",
        Effect::Writes,
        "Saves a file that is open in the editor, with the person's unsaved changes. Ask the person first.",
    ),
    row::<takes::Tab, gives::Done>(
        Tool::CloseTab,
        "closeTab",
        "Close a tab",
        Effect::Shows,
        "Closes a tab by its label. The tab of a change of yours that waits is closed without a decision.",
    ),
    row::<takes::Nothing, gives::Done>(
        Tool::CloseAllDiffTabs,
        "closeAllDiffTabs",
        "Close all diff tabs",
        Effect::Shows,
        "Closes all diffs that wait for a decision on changes of yours, without a decision.",
    ),
    offered(row::<takes::Place, gives::Hover>(
        Tool::GetHover,
        "getHover",
        "Type and documentation",
        Effect::Reads,
        "Type and documentation of the name at a place, from the language server. Counts from 1.",
    )),
    offered(row::<takes::Place, gives::Locations>(
        Tool::GetDefinition,
        "getDefinition",
        "Go to definition",
        Effect::Reads,
        "Where the name at a place is defined, from the language server. Counts from 1.",
    )),
    offered(row::<takes::Place, gives::Locations>(
        Tool::FindReferences,
        "findReferences",
        "Find references",
        Effect::Reads,
        "Where the name at a place is used, from the language server. Counts from 1.",
    )),
    offered(row::<takes::OneFile, gives::Symbols>(
        Tool::GetSymbols,
        "getSymbols",
        "Symbols of a file",
        Effect::Reads,
        "The functions, types and other symbols of a file, from the language server. Counts from 1.",
    )),
    offered(row::<takes::OneFile, gives::VisibleLines>(
        Tool::GetVisibleRange,
        "getVisibleRange",
        "Visible lines",
        Effect::Reads,
        "Which lines of a file the person sees now. Counts from 1.",
    )),
    offered(row::<takes::Code, gives::Executed>(
        Tool::ExecuteCode,
        "executeCode",
        "Run code in the notebook",
        Effect::Runs,
        "Runs code in the kernel of the person's active notebook. State stays between calls.",
    )),
];

/// Names of Rust's number types are no formats of JSON Schema: validators warn of each of them.
fn without_formats(schema: &JsonObject) -> Arc<JsonObject> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                // Of a property that is called so the value is an object.
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

/// Those that can be called on an editor that offers these.
pub(super) fn listed(offered: &BTreeSet<String>) -> Vec<Listing> {
    ALL.iter().filter(|row| !row.if_offered || offered.contains(row.name)).filter_map(Row::listing).collect()
}

impl Row {
    /// What it takes, in a line, for a model that got it wrong.
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

    /// Whether a model has to see it from the start: it would write files by other means if it did not.
    fn is_for_every_model(&self) -> bool {
        matches!(self.tool, Tool::ProposeChange | Tool::ProposeChanges)
    }

    fn listing(&self) -> Option<Listing> {
        let (read_only, destructive, idempotent, open_world) = match self.effect {
            Effect::Reads => (true, false, true, false),
            Effect::Shows => (false, false, true, false),
            // Only the person's yes writes, but what was there before is then gone from the file.
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

/// Claude Code shows a model only the names of most MCP tools, until the model searches for one. This asks for an
/// exception.
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
    fn what_the_editor_does_not_offer_is_not_listed() {
        let names = |offered: &BTreeSet<String>| {
            listed(offered).into_iter().map(|tool| tool.name.into_owned()).collect::<Vec<_>>()
        };
        assert!(!names(&BTreeSet::new()).contains(&"getHover".into()));
        assert!(names(&BTreeSet::from(["getHover".into()])).contains(&"getHover".into()));
        assert!(names(&BTreeSet::new()).contains(&"proposeChange".into()));
    }

    #[test]
    fn every_argument_says_what_it_is() {
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
