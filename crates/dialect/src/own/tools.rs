//! The tools of the hub's own dialect. Paths are absolute; lines and characters count from 0, and characters are UTF-16
//! code units.

use std::borrow::Cow;
use std::path::PathBuf;

use linkspan_editor_api::Position;
use linkspan_review::Writer;

use crate::language::LanguageQuery;
use crate::mcp::standard_tools::{
    CHECK_DOCUMENT_DIRTY, CLOSE_ALL_DIFF_TABS, EXECUTE_CODE, GET_CURRENT_SELECTION, GET_LATEST_SELECTION,
    GET_OPEN_EDITORS, GET_WORKSPACE_FOLDERS, SAVE_DOCUMENT,
};
use crate::mcp::{Argument, ArgumentKind, Arguments, BadArgument, McpTool, Need};
use crate::request::{AllowedBy, OpenSelection, Request};

type Decoded = Result<Request, BadArgument>;

const PATH: Argument = Argument::required("path").about("Absolute path of the file");
const FILE: &[Argument] = &[PATH];
const LABEL: Argument = Argument::optional("label", ArgumentKind::Text)
    .about("Name of the change, shown to the user. Default: the path");
const SET: Argument = Argument::optional("set", ArgumentKind::Text)
    .about("Any string; changes with the same string are shown as one set");
const PLACE: &[Argument] = &[
    PATH,
    Argument::required_count("line").about("Line, from 0"),
    Argument::required_count("character").about("Offset in the line, in UTF-16 code units, from 0"),
];
const ALLOWED_BY: &[&str] = &["yolo", "sandboxed", "terminal"];
const WRITERS: &[&str] = &["hub", "agent"];

pub(super) static TOOLS: &[McpTool] = &[
    McpTool {
        name: "proposeChange",
        description: "Propose a new text for a file to the user and wait for the decision. If the user accepts, the \
                      file is written, unless `writer` is `agent`. The result has the final text, which may differ \
                      from the proposed one, and the user's comments",
        arguments: &[
            PATH,
            Argument::required("newText").about("The whole new text of the file"),
            LABEL,
            SET,
            Argument::optional("writer", ArgumentKind::Word(WRITERS))
                .about("Who writes the accepted file: `hub` (default), or `agent`, the caller"),
        ],
        needs: Need::Nothing,
        decode: propose_change,
    },
    McpTool {
        name: "compareTexts",
        description: "Show the user two texts under the name of a file and wait for the decision. Reads and writes \
                      no file",
        arguments: &[
            PATH,
            Argument::required("oldText").about("The text before"),
            Argument::required("newText").about("The text after"),
            LABEL,
            SET,
        ],
        needs: Need::Nothing,
        decode: compare_texts,
    },
    McpTool {
        name: "recordChange",
        description: "Record a new text for a file that you are about to write yourself, because the user allowed that \
                      elsewhere. It is not shown; it is in the history, and the user can undo it. Write the file when \
                      this is answered",
        arguments: &[
            PATH,
            Argument::required("newText").about("The whole new text of the file"),
            LABEL,
            Argument::required_word("allowedBy", ALLOWED_BY)
                .about("Where the user allowed it: `yolo` or `sandboxed`, a mode without questions, or `terminal`"),
        ],
        needs: Need::Nothing,
        decode: record_change,
    },
    McpTool {
        name: "openFile",
        description: "Open a file in the editor. Optionally move the cursor or select lines in it",
        arguments: &[
            PATH,
            Argument::optional("line", ArgumentKind::Count)
                .about("Line, from 0. Without `character`, the whole line is selected"),
            Argument::optional("character", ArgumentKind::Count)
                .about("Cursor position in that line, from 0"),
            Argument::optional("endLine", ArgumentKind::Count)
                .about("Select up to the end of this line, from 0"),
            Argument::optional("preview", ArgumentKind::Flag { default: false }),
            Argument::optional("focus", ArgumentKind::Flag { default: true }),
        ],
        needs: Need::Nothing,
        decode: open_file,
    },
    McpTool {
        name: "getDiagnostics",
        description: "List the errors and warnings of one file, or of all files that have any",
        arguments: &[
            Argument::optional("path", ArgumentKind::Text)
                .about("Absolute path of the file. Default: all files"),
            Argument::optional("waitMs", ArgumentKind::Count)
                .about("How long to wait for the language servers to finish, in milliseconds"),
        ],
        needs: Need::Nothing,
        decode: |arguments| {
            let path = arguments.optional_text("path")?.map(|path| PathBuf::from(path.into_owned()));
            Ok(Request::Diagnostics { path, wait_ms: arguments.count("waitMs")? })
        },
    },
    GET_CURRENT_SELECTION,
    GET_LATEST_SELECTION,
    GET_OPEN_EDITORS,
    GET_WORKSPACE_FOLDERS,
    CHECK_DOCUMENT_DIRTY
        .described("Check whether a file is open in the editor and has unsaved changes")
        .taking(FILE, |arguments| Ok(Request::CheckDirty { path: path(arguments)? })),
    SAVE_DOCUMENT.taking(FILE, |arguments| Ok(Request::Save { path: path(arguments)? })),
    McpTool {
        name: "closeTab",
        description: "Withdraw the changes of this agent that have this label",
        arguments: &[Argument::required("label")],
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::CloseTab { label: arguments.text("label")?.into_owned() }),
    },
    CLOSE_ALL_DIFF_TABS.described("Withdraw all changes of this agent"),
    EXECUTE_CODE,
    McpTool {
        name: "runInTerminal",
        description: "Run a command in a terminal of the editor, where the user sees it, and wait until it exits. \
                      The user is asked for permission first. The result has its output and its exit code",
        arguments: &[
            Argument::required("command").about("Command line for the shell"),
            Argument::optional("cwd", ArgumentKind::Text)
                .about("Absolute path of the workspace folder to run it in"),
            Argument::optional("waitMs", ArgumentKind::Count).about(
                "Return after this many milliseconds (default 60000, at most 120000). The command keeps running",
            ),
        ],
        needs: Need::Terminal,
        decode: |arguments| {
            let cwd = arguments.optional_text("cwd")?.map(|cwd| PathBuf::from(cwd.into_owned()));
            let command = arguments.text("command")?.into_owned();
            let wait_ms = arguments.count("waitMs")?;
            Ok(Request::RunInTerminal { command, cwd, wait_ms, terminal: None })
        },
    },
    McpTool {
        name: "requestPermission",
        description: "Ask the user whether you may run this command yourself, and wait for the answer. Nothing is \
                      run. The result says whether it is allowed",
        arguments: &[Argument::required("command").about("The whole command, as it would run")],
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::Permission { command: arguments.text("command")?.into_owned() }),
    },
    McpTool {
        name: "getHover",
        description: "Get the type and documentation of the symbol at a position, from the language server",
        arguments: PLACE,
        needs: Need::Language,
        decode: |arguments| asked_at(arguments, LanguageQuery::Hover),
    },
    McpTool {
        name: "getDefinition",
        description: "Find the definition of the symbol at a position",
        arguments: PLACE,
        needs: Need::Language,
        decode: |arguments| asked_at(arguments, LanguageQuery::Definition),
    },
    McpTool {
        name: "findReferences",
        description: "Find all references to the symbol at a position",
        arguments: PLACE,
        needs: Need::Language,
        decode: |arguments| asked_at(arguments, LanguageQuery::References),
    },
    McpTool {
        name: "getSymbols",
        description: "List the symbols that a file defines",
        arguments: FILE,
        needs: Need::Language,
        decode: |arguments| {
            Ok(Request::Language { path: path(arguments)?, question: LanguageQuery::Symbols })
        },
    },
    McpTool {
        name: "renameSymbol",
        description: "Propose a new name for the symbol at a position, in all files that use it, and wait for the \
                      decisions. The changes of the files are shown as one set; those that the user accepts are \
                      written. The result has the outcome of each file",
        arguments: &[
            PATH,
            Argument::required_count("line").about("Line, from 0"),
            Argument::required_count("character").about("Offset in the line, in UTF-16 code units, from 0"),
            Argument::required("newName").about("The new name"),
        ],
        needs: Need::Language,
        decode: rename_symbol,
    },
    McpTool {
        name: "getVisibleRange",
        description: "Get the range of a file that is visible in the editor",
        arguments: FILE,
        needs: Need::Documents,
        decode: |arguments| {
            Ok(Request::Language { path: path(arguments)?, question: LanguageQuery::VisibleRange })
        },
    },
];

fn path(arguments: &Arguments<'_>) -> Result<PathBuf, BadArgument> {
    Ok(PathBuf::from(arguments.text("path")?.into_owned()))
}

/// The user has to be able to tell changes apart, including those without a label.
fn label(arguments: &Arguments<'_>) -> Result<String, BadArgument> {
    let given = arguments.optional_text("label")?.filter(|label| !label.is_empty());
    Ok(given.map_or_else(|| arguments.text("path"), Ok)?.into_owned())
}

fn set(arguments: &Arguments<'_>) -> Result<Option<String>, BadArgument> {
    const LONGEST: usize = 256;
    let set = arguments.optional_text("set")?.filter(|set| !set.is_empty());
    if set.as_ref().is_some_and(|set| set.len() > LONGEST) {
        return Err(BadArgument::Wrong { name: "set", expected: "a string of at most 256 bytes" });
    }
    Ok(set.map(Cow::into_owned))
}

fn propose_change(arguments: &Arguments<'_>) -> Decoded {
    let writer = match arguments.word("writer", "`hub` or `agent`", WRITERS)? {
        Some("agent") => Writer::Agent,
        _ => Writer::Hub,
    };
    Ok(Request::Propose {
        path: path(arguments)?,
        compare_with: None,
        proposed: arguments.text("newText")?.into_owned(),
        label: label(arguments)?,
        set: set(arguments)?,
        writer: Some(writer),
    })
}

fn record_change(arguments: &Arguments<'_>) -> Decoded {
    let (name, expected) = ("allowedBy", "`yolo`, `sandboxed` or `terminal`");
    let allowed_by = match arguments.word(name, expected, ALLOWED_BY)? {
        Some("yolo") => AllowedBy::Yolo,
        Some("sandboxed") => AllowedBy::Sandboxed,
        Some(_) => AllowedBy::Terminal,
        None => return Err(BadArgument::Missing { name, expected }),
    };
    Ok(Request::Record {
        path: path(arguments)?,
        proposed: arguments.text("newText")?.into_owned(),
        label: label(arguments)?,
        allowed_by,
    })
}

fn compare_texts(arguments: &Arguments<'_>) -> Decoded {
    Ok(Request::Compare {
        path: path(arguments)?,
        before: arguments.text("oldText")?.into_owned(),
        after: arguments.text("newText")?.into_owned(),
        label: label(arguments)?,
        set: set(arguments)?,
    })
}

fn open_file(arguments: &Arguments<'_>) -> Decoded {
    let (line, end_line) = (arguments.count("line")?, arguments.count("endLine")?);
    let target = match (line, arguments.count("character")?) {
        (None, None) => end_line.map(|end| OpenSelection::Lines { start: 0, end: Some(end) }),
        (Some(start), None) => Some(OpenSelection::Lines { start, end: end_line }),
        (line, Some(character)) => {
            Some(OpenSelection::From { start: Position { line: line.unwrap_or(0), character }, end_line })
        }
    };
    Ok(Request::OpenFile {
        path: path(arguments)?,
        preview: arguments.flag("preview", false)?,
        focus: arguments.flag("focus", true)?,
        target,
    })
}

fn rename_symbol(arguments: &Arguments<'_>) -> Decoded {
    const LONGEST: usize = 256;
    let new_name = arguments.text("newName")?.into_owned();
    if new_name.trim().is_empty() || new_name.len() > LONGEST {
        return Err(BadArgument::Wrong { name: "newName", expected: "a name of at most 256 bytes" });
    }
    Ok(Request::Rename { path: path(arguments)?, position: position(arguments)?, new_name })
}

fn position(arguments: &Arguments<'_>) -> Result<Position, BadArgument> {
    let (line, character) = (arguments.required_count("line")?, arguments.required_count("character")?);
    Ok(Position { line, character })
}

fn asked_at(arguments: &Arguments<'_>, question: fn(Position) -> LanguageQuery) -> Decoded {
    Ok(Request::Language { path: path(arguments)?, question: question(position(arguments)?) })
}
