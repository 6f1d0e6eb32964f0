//! The tools. Paths are absolute; lines and characters count from 0, and characters are UTF-16 code units.

use std::borrow::Cow;
use std::path::PathBuf;

use linkspan_editor_api::Position;
use linkspan_review::Writer;

use crate::language::Question;
use crate::mcp::{Argument, Arguments, BadArgument, Kind, Need, Tool};
use crate::meaning::{Request, Target};

type Decoded = Result<Request, BadArgument>;

const NO_ARGUMENTS: &[Argument] = &[];
const PATH: Argument = Argument::required("path").about("Absolute path of the file");
const FILE: &[Argument] = &[PATH];
const LABEL: Argument =
    Argument::optional("label", Kind::Text).about("A name for people; without it, the path");
const SET: Argument =
    Argument::optional("set", Kind::Text).about("Any word: changes with the same word are shown as one set");
const PLACE: &[Argument] = &[
    PATH,
    Argument::required_count("line").about("Line, from 0"),
    Argument::required_count("character").about("UTF-16 characters from the start of the line, from 0"),
];
const WRITERS: &[&str] = &["hub", "agent"];

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "proposeChange",
        description: "Show the person a new text for a file and wait for the decision. Once accepted the file is \
                      written, unless `writer` is `agent`. The answer has the final text, which may differ from \
                      the proposed one, and what the person said",
        arguments: &[
            PATH,
            Argument::required("newText").about("The whole new text of the file"),
            LABEL,
            SET,
            Argument::optional("writer", Kind::Word(WRITERS))
                .about("Who writes the file once it is accepted: `hub` (default) or `agent`, the caller"),
        ],
        needs: Need::Nothing,
        decode: propose_change,
    },
    Tool {
        name: "compareTexts",
        description: "Show the person two texts under the name of a file and wait for the decision. Nothing is \
                      read from or written to the disk",
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
    Tool {
        name: "openFile",
        description: "Open a file in the editor and, if asked, go to a place or select lines in it",
        arguments: &[
            PATH,
            Argument::optional("line", Kind::Count)
                .about("Line, from 0; selected as a whole without `character`"),
            Argument::optional("character", Kind::Count).about("Where in that line the cursor goes, from 0"),
            Argument::optional("endLine", Kind::Count).about("Select up to the end of this line, from 0"),
            Argument::optional("preview", Kind::Flag { default: false }),
            Argument::optional("focus", Kind::Flag { default: true }),
        ],
        needs: Need::Nothing,
        decode: open_file,
    },
    Tool {
        name: "getDiagnostics",
        description: "Errors and warnings of one file, or of all files that have any",
        arguments: &[
            Argument::optional("path", Kind::Text).about("Absolute path of the file; without it, all files"),
            Argument::optional("waitMs", Kind::Count)
                .about("Wait at most this long for the language servers to come to rest"),
        ],
        needs: Need::Nothing,
        decode: |arguments| {
            let path = arguments.optional_text("path")?.map(|path| PathBuf::from(path.into_owned()));
            Ok(Request::Diagnostics { path, wait_ms: arguments.count("waitMs")? })
        },
    },
    Tool {
        name: "getCurrentSelection",
        description: "The selection in the active editor",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::CurrentSelection),
    },
    Tool {
        name: "getLatestSelection",
        description: "The latest selection, even if no editor is active now",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::LatestSelection),
    },
    Tool {
        name: "getOpenEditors",
        description: "The files that are open in the editor",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::OpenEditors),
    },
    Tool {
        name: "getWorkspaceFolders",
        description: "The folders of the editor's workspace",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::WorkspaceFolders),
    },
    Tool {
        name: "checkDocumentDirty",
        description: "Whether a file is open in the editor and has unsaved changes",
        arguments: FILE,
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::CheckDirty { path: path(arguments)? }),
    },
    Tool {
        name: "saveDocument",
        description: "Save an open file",
        arguments: FILE,
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::Save { path: path(arguments)? }),
    },
    Tool {
        name: "closeTab",
        description: "Take back the changes of this agent that have this label",
        arguments: &[Argument::required("label")],
        needs: Need::Nothing,
        decode: |arguments| Ok(Request::CloseTab { label: arguments.text("label")?.into_owned() }),
    },
    Tool {
        name: "closeAllDiffTabs",
        description: "Take back all changes of this agent",
        arguments: NO_ARGUMENTS,
        needs: Need::Nothing,
        decode: |_| Ok(Request::CloseAllDiffs),
    },
    Tool {
        name: "executeCode",
        description: "Execute code in the kernel of the active notebook, once the person allows it",
        arguments: &[Argument::required("code")],
        needs: Need::ExecuteCode,
        decode: |arguments| Ok(Request::ExecuteCode { code: arguments.text("code")?.into_owned() }),
    },
    Tool {
        name: "runInTerminal",
        description: "Run a command in a terminal of the editor, where the person sees it, once she allows it, and \
                      wait for its end. The answer has what it printed and its exit code",
        arguments: &[
            Argument::required("command").about("The command, as the shell reads it"),
            Argument::optional("cwd", Kind::Text)
                .about("Absolute path of a folder of the workspace to run it in"),
            Argument::optional("waitMs", Kind::Count).about(
                "Answer at the latest after this time (default 60000, at most 120000); the command goes on",
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
    Tool {
        name: "getHover",
        description: "What the editor's language server knows about the thing at a place",
        arguments: PLACE,
        needs: Need::Language,
        decode: |arguments| asked_at(arguments, Question::Hover),
    },
    Tool {
        name: "getDefinition",
        description: "Where the thing at a place is defined",
        arguments: PLACE,
        needs: Need::Language,
        decode: |arguments| asked_at(arguments, Question::Definition),
    },
    Tool {
        name: "findReferences",
        description: "Where the thing at a place is used",
        arguments: PLACE,
        needs: Need::Language,
        decode: |arguments| asked_at(arguments, Question::References),
    },
    Tool {
        name: "getSymbols",
        description: "What a file defines",
        arguments: FILE,
        needs: Need::Language,
        decode: |arguments| Ok(Request::Language { path: path(arguments)?, question: Question::Symbols }),
    },
    Tool {
        name: "getVisibleRange",
        description: "Which part of a file is on the person's screen",
        arguments: FILE,
        needs: Need::Documents,
        decode: |arguments| {
            Ok(Request::Language { path: path(arguments)?, question: Question::VisibleRange })
        },
    },
];

fn path(arguments: &Arguments<'_>) -> Result<PathBuf, BadArgument> {
    Ok(PathBuf::from(arguments.text("path")?.into_owned()))
}

/// People have to be able to tell changes apart, also those whose agent gave them no name.
fn label(arguments: &Arguments<'_>) -> Result<String, BadArgument> {
    let given = arguments.optional_text("label")?.filter(|label| !label.is_empty());
    Ok(given.map_or_else(|| arguments.text("path"), Ok)?.into_owned())
}

fn set(arguments: &Arguments<'_>) -> Result<Option<String>, BadArgument> {
    const LONGEST: usize = 256;
    let set = arguments.optional_text("set")?.filter(|set| !set.is_empty());
    if set.as_ref().is_some_and(|set| set.len() > LONGEST) {
        return Err(BadArgument::Wrong { name: "set", expected: "a word of at most 256 bytes" });
    }
    Ok(set.map(Cow::into_owned))
}

fn propose_change(arguments: &Arguments<'_>) -> Decoded {
    let writer = match arguments.word("writer", "`hub` or `agent`", WRITERS)? {
        Some("agent") => Writer::Agent,
        _ => Writer::Editor,
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
        (None, None) => end_line.map(|end| Target::Lines { start: 0, end: Some(end) }),
        (Some(start), None) => Some(Target::Lines { start, end: end_line }),
        (line, Some(character)) => {
            Some(Target::From { start: Position { line: line.unwrap_or(0), character }, end_line })
        }
    };
    Ok(Request::OpenFile {
        path: path(arguments)?,
        preview: arguments.flag("preview", false)?,
        focus: arguments.flag("focus", true)?,
        target,
    })
}

fn asked_at(arguments: &Arguments<'_>, question: fn(Position) -> Question) -> Decoded {
    let path = path(arguments)?;
    let (line, character) = (arguments.required_count("line")?, arguments.required_count("character")?);
    Ok(Request::Language { path, question: question(Position { line, character }) })
}
