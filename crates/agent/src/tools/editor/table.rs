//! The names, arguments and kinds of the editor's tools. The first 26 are ppxai's, with the arguments that our hub
//! takes; see docs/reference/ppxai-tools.md.

use serde_json::{Value, json};

use crate::permissions::ToolKind::{self, Change, Command, Editor, GitWrite, Read};
use crate::tools::arguments::ParameterKind::{Count, Flag, Other, Text, Texts};
use crate::tools::arguments::{Parameter, optional, required};

pub(super) struct EditorTool {
    pub(super) name: &'static str,
    pub(super) kind: ToolKind,
    pub(super) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Its name in the hub's own protocol, for a tool that bridges do not have.
    pub(super) of_hub: Option<&'static str>,
}

const PATH: Parameter = required("path", Text, "The file: relative to its workspace folder, or absolute.");
const ANY_PATH: Parameter = optional("path", Text, "The file. Default: the active file of the editor.");
const LINE: Parameter = optional("line", Count, "The line, from 1.");
const COLUMN: Parameter = optional("column", Count, "The column, from 0, in UTF-16 code units. Default 0.");
const FOLDER: Parameter = optional("folder", Text, "A workspace folder. Default: the first.");
const DESCRIPTION: Parameter = optional("description", Text, "Short description, which the user sees.");
const EXCLUDE: Parameter = optional("exclude", Text, "Glob of files to skip.");
const LIMIT: Parameter = optional("limit", Count, "The most results.");
const CWD: Parameter = optional("cwd", Text, "The folder to run it in. Default: the first workspace folder.");

fn edits() -> Value {
    let place = json!({
        "type": "object",
        "properties": { "line": { "type": "integer" }, "character": { "type": "integer" } },
        "required": ["line", "character"],
    });
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "range": { "type": "object", "properties": { "start": place, "end": place }, "required": ["start", "end"] },
                "newText": { "type": "string" },
                "oldText": { "type": "string", "description": "The expected text at the range." },
            },
            "required": ["range", "newText"],
        },
    })
}

fn files() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "path": { "type": "string" }, "content": { "type": "string" }, "edits": edits() },
            "required": ["path"],
        },
    })
}

const fn tool(
    name: &'static str,
    kind: ToolKind,
    about: &'static str,
    parameters: &'static [Parameter],
) -> EditorTool {
    EditorTool { name, kind, about, parameters, of_hub: None }
}

const fn hub_tool(
    name: &'static str,
    of_hub: &'static str,
    kind: ToolKind,
    about: &'static str,
    parameters: &'static [Parameter],
) -> EditorTool {
    EditorTool { name, kind, about, parameters, of_hub: Some(of_hub) }
}

pub(super) const TABLE: &[EditorTool] = &[
    tool("ide.get_workspace_info", Read, "Show the name and the folders of the editor's workspace.", &[]),
    tool(
        "ide.list_files",
        Read,
        "List the files of the editor's workspace that match a glob.",
        &[optional("pattern", Text, "Glob, such as `**/*.py`. Default: all files."), EXCLUDE, LIMIT],
    ),
    tool(
        "ide.read_file",
        Read,
        "Read a file as the editor has it, with the user's unsaved changes.",
        &[
            PATH,
            optional("start_line", Count, "The first line, from 1."),
            optional("end_line", Count, "The last line, inclusive."),
        ],
    ),
    tool(
        "ide.search_files",
        Read,
        "Search the files of the editor's workspace for a text or a regular expression.",
        &[
            required("query", Text, "A text on one line, or a regular expression."),
            optional("regex", Flag, "The query is a regular expression. Default false."),
            optional("case_sensitive", Flag, "Default false."),
            optional("pattern", Text, "Glob of files to search. Default: all files."),
            EXCLUDE,
            LIMIT,
        ],
    ),
    tool("ide.get_open_files", Read, "List the tabs of the editor, in their order.", &[]),
    tool("ide.get_active_file", Read, "Read the active file of the editor, with its unsaved changes.", &[]),
    tool("ide.get_selection", Read, "Read what the user selected in the active editor.", &[]),
    tool("ide.get_visible_range", Read, "Show which lines of a file are visible.", &[ANY_PATH]),
    tool(
        "ide.open_file",
        Editor,
        "Open a file in the editor for the user, optionally at a line.",
        &[PATH, LINE, COLUMN],
    ),
    tool(
        "ide.reveal_line",
        Editor,
        "Scroll to a line for the user.",
        &[required("line", Count, "The line, from 1."), ANY_PATH],
    ),
    tool(
        "ide.get_diagnostics",
        Read,
        "List the errors and warnings that the editor knows, of one file or of all.",
        &[optional("path", Text, "The file. Default: all files that have any.")],
    ),
    tool(
        "ide.get_hover_info",
        Read,
        "Show type and documentation of the symbol at a position.",
        &[ANY_PATH, LINE, COLUMN],
    ),
    tool(
        "ide.get_definition",
        Read,
        "Find the definition of the symbol at a position.",
        &[ANY_PATH, LINE, COLUMN],
    ),
    tool(
        "ide.apply_edit",
        Change,
        "Propose changes to one file (`path` with `edits` or with the whole new `content`) or to several (`files`), to \
         be reviewed in the editor. Lines and characters in ranges count from 0.",
        &[
            optional("path", Text, "The file."),
            optional("edits", Other(edits), "Replacements; all ranges refer to the text before."),
            optional("content", Text, "The whole new text."),
            optional("files", Other(files), "Several files."),
            DESCRIPTION,
        ],
    ),
    tool(
        "ide.insert_text",
        Change,
        "Propose to insert a text, at the cursor or at a position.",
        &[required("text", Text, "The text."), ANY_PATH, LINE, COLUMN, DESCRIPTION],
    ),
    tool(
        "ide.replace_selection",
        Change,
        "Propose to replace what the user selected.",
        &[required("text", Text, "The new text."), DESCRIPTION],
    ),
    tool(
        "ide.show_diff",
        Editor,
        "Show the user a change without making it, and wait for the decision.",
        &[
            PATH,
            optional("content", Text, "The new text of the file. Or:"),
            optional("original", Text, "The text before, together with `modified`."),
            optional("modified", Text, "The text after."),
            DESCRIPTION,
        ],
    ),
    tool("ide.format_document", Change, "Propose the changes of the editor's formatter.", &[ANY_PATH]),
    tool(
        "ide.run_in_terminal",
        Command,
        "Run a command in a terminal of the editor, where the user sees it, and wait until it exits.",
        &[
            required("command", Text, "The command line."),
            CWD,
            optional("wait_seconds", Count, "How long to wait for it. Default 60, at most 120."),
            optional("terminal", Text, "A terminal that was created for this agent. Default: a new one."),
        ],
    ),
    tool(
        "ide.create_terminal",
        Editor,
        "Open a terminal in the editor for later commands.",
        &[optional("name", Text, "Title of its tab."), CWD],
    ),
    tool(
        "ide.get_terminal_output",
        Read,
        "Read what a terminal of this agent printed.",
        &[optional("terminal", Text, "Default: the last one that was used.")],
    ),
    tool(
        "ide.git_status",
        Read,
        "Show the branch and the changed files, as the editor sees them.",
        &[FOLDER],
    ),
    tool(
        "ide.git_diff",
        Read,
        "Show changes as a diff of git, as the editor sees them.",
        &[
            optional("path", Text, "One file or folder. Default: everything."),
            optional("staged", Flag, "Show what is staged. Default false."),
            FOLDER,
        ],
    ),
    tool(
        "ide.git_stage",
        GitWrite,
        "Stage files through the editor.",
        &[optional("paths", Texts, "Files and folders."), optional("path", Text, "A single one."), FOLDER],
    ),
    tool(
        "ide.git_commit",
        GitWrite,
        "Commit what is staged through the editor.",
        &[
            required("message", Text, "What it does and why."),
            optional("all", Flag, "Also commit all changes of tracked files. Default false."),
            FOLDER,
        ],
    ),
    tool(
        "ide.git_log",
        Read,
        "List the last commits, as the editor sees them.",
        &[LIMIT, optional("path", Text, "Only commits that changed this file or folder."), FOLDER],
    ),
    hub_tool(
        "ide.find_references",
        "findReferences",
        Read,
        "Find all references to the symbol at a position.",
        &[PATH, required("line", Count, "The line, from 1."), COLUMN],
    ),
    hub_tool("ide.get_symbols", "getSymbols", Read, "List the symbols that a file defines.", &[PATH]),
    hub_tool(
        "ide.rename_symbol",
        "renameSymbol",
        Change,
        "Propose a new name for the symbol at a position, in all files that use it; the editor's language server finds \
         them. The user decides about each file, and those that are accepted are written.",
        &[
            PATH,
            required("line", Count, "The line of the symbol, from 1."),
            required("column", Count, "Its column, from 0, in UTF-16 code units."),
            required("new_name", Text, "The new name."),
        ],
    ),
    hub_tool(
        "ide.is_modified",
        "checkDocumentDirty",
        Read,
        "Check whether a file has unsaved changes in the editor.",
        &[PATH],
    ),
];
