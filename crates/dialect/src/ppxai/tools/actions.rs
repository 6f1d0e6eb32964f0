//! Changes. Each is shown to the user for review, unless this client has the permission to edit without review.

use linkspan_review::{Splice, TextPosition, Writer};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::outcome;
use super::super::tool::{Argument, BadArguments, Group, PpxaiTool, optional, required};
use super::{ANY_PATH, COLUMN, PATH, optional_text, path, path_in, position};
use crate::mcp::Arguments;
use crate::request::{ActiveFileRequest, FileEdit, Request};

const DECIDED: &str = "Decided";
const TEXT: Argument = required("text", "string", "The new text.");
const DESCRIPTION: Argument =
    optional("description", "string", "Short description of the change, shown to the user.");

pub(super) const TOOLS: &[PpxaiTool] = &[
    PpxaiTool {
        name: "ide.apply_edit",
        group: Group::Actions,
        about: "Proposes changes to one file (`path` with `edits` or with the whole new `content`) or to several \
                (`files`, at most 64). All of them are proposed or none. Accepted files are written.",
        arguments: &[
            optional("path", "string", "The file. It does not have to exist."),
            optional("edits", "Edit[]", "Replacements; all ranges refer to the text before."),
            optional("content", "string", "The whole new text."),
            optional("files", "{ path: string, edits?: Edit[], content?: string }[]", "Several files."),
            DESCRIPTION,
        ],
        result: "Decided, or for more than one of `files` { applied: boolean, accepted: boolean, files: Decided[] }",
        decode: apply_edit,
        encode: outcome::changed,
    },
    PpxaiTool {
        name: "ide.insert_text",
        group: Group::Actions,
        about: "Proposes to insert text.",
        arguments: &[
            TEXT,
            ANY_PATH,
            optional(
                "line",
                "integer",
                "From 1. Required with `path`. Default without `path`: the line of the cursor.",
            ),
            COLUMN,
            DESCRIPTION,
        ],
        result: DECIDED,
        decode: insert_text,
        encode: outcome::changed,
    },
    PpxaiTool {
        name: "ide.replace_selection",
        group: Group::Actions,
        about: "Proposes to replace the selection in the active editor.",
        arguments: &[TEXT, DESCRIPTION],
        result: DECIDED,
        decode: |arguments| {
            let label = optional_text(arguments, "description")?
                .unwrap_or_else(|| "Replace the selection".to_owned());
            let text = arguments.text("text")?.into_owned();
            Ok(Request::ActiveFile(ActiveFileRequest::ReplaceSelection { text, label }))
        },
        encode: outcome::changed,
    },
    PpxaiTool {
        name: "ide.show_diff",
        group: Group::Actions,
        about: "Shows a change and waits for the decision. Writes nothing; `applied` is always false. After an accept, \
                `ide.apply_edit` with exactly that text needs no second decision.",
        arguments: &[
            PATH,
            optional("content", "string", "The new text of the file. Or:"),
            optional("original", "string", "The text before, together with `modified`."),
            optional("modified", "string", "The text after."),
            DESCRIPTION,
        ],
        result: DECIDED,
        decode: show_diff,
        encode: outcome::changed,
    },
    PpxaiTool {
        name: "ide.format_document",
        group: Group::Actions,
        about: "Proposes the changes of the editor's formatter. If there are none, `reason` says so.",
        arguments: &[ANY_PATH],
        result: DECIDED,
        decode: |arguments| {
            Ok(match path_in(arguments, "path")? {
                Some(path) => Request::Format { path },
                None => Request::ActiveFile(ActiveFileRequest::Format),
            })
        },
        encode: outcome::changed,
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFile {
    path: String,
    edits: Option<Vec<WireEdit>>,
    content: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireEdit {
    range: WireRange,
    #[serde(rename = "newText", alias = "new_text")]
    new_text: String,
    #[serde(rename = "oldText", alias = "old_text")]
    old_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRange {
    start: WirePosition,
    end: WirePosition,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WirePosition {
    line: u32,
    #[serde(alias = "column")]
    character: u32,
}

impl From<WirePosition> for TextPosition {
    fn from(WirePosition { line, character }: WirePosition) -> TextPosition {
        TextPosition { line, character }
    }
}

fn apply_edit(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    let files = match arguments.raw("files") {
        Some(files) => {
            if ["path", "edits", "content"].iter().any(|name| arguments.raw(name).is_some()) {
                return Err(BadArguments(
                    "files is invalid: put `path`, `edits` and `content` inside it".to_owned(),
                ));
            }
            read::<Vec<WireFile>>("files", files)?
        }
        None => vec![WireFile {
            path: arguments.text("path")?.into_owned(),
            edits: arguments.raw("edits").map(|edits| read("edits", edits)).transpose()?,
            content: optional_text(arguments, "content")?,
        }],
    };
    let label = match (optional_text(arguments, "description")?, files.as_slice()) {
        (Some(label), _) => label,
        (None, [file]) => file.path.clone(),
        (None, files) => format!("{} files", files.len()),
    };
    let files = files.into_iter().map(file_edit).collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<_> = files.iter().map(|file| &file.path).collect();
    paths.sort_unstable();
    if let Some(twice) =
        paths.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair.first())?)
    {
        return Err(BadArguments(format!(
            "files is invalid: {} is in it twice; merge its edits",
            twice.display()
        )));
    }
    Ok(Request::Edit { files, label, direct: true, inline: false, may_be_made: false })
}

fn read<'a, T: Deserialize<'a>>(name: &str, raw: &'a RawValue) -> Result<T, BadArguments> {
    serde_json::from_str(raw.get()).map_err(|error| BadArguments(format!("{name} is invalid: {error}")))
}

fn file_edit(file: WireFile) -> Result<FileEdit, BadArguments> {
    let WireFile { path, edits, content } = file;
    let edits = match (edits, content) {
        (Some(edits), None) if edits.is_empty() => {
            return Err(BadArguments(format!("{path} has no `edits`; send some")));
        }
        (Some(edits), None) => edits.into_iter().map(splice).collect(),
        (None, Some(content)) => vec![whole(content)],
        (Some(_), Some(_)) => {
            return Err(BadArguments(format!("{path} has both `edits` and `content`; send one of them")));
        }
        (None, None) => {
            return Err(BadArguments(format!("{path} has neither `edits` nor `content`; send one of them")));
        }
    };
    Ok(FileEdit { path: path.into(), edits, may_create: true })
}

fn splice(WireEdit { range: WireRange { start, end }, new_text, old_text }: WireEdit) -> Splice {
    Splice { from: start.into(), to: end.into(), text: new_text, expects: old_text }
}

/// Replaces the whole file, whatever its length.
fn whole(text: String) -> Splice {
    let (from, to) = (TextPosition { line: 0, character: 0 }, TextPosition { line: u32::MAX, character: 0 });
    Splice { from, to, text, expects: None }
}

fn insert_text(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    let text = arguments.text("text")?.into_owned();
    let label = optional_text(arguments, "description")?.unwrap_or_else(|| "Insert text".to_owned());
    match (path_in(arguments, "path")?, position(arguments)?) {
        (None, at) => Ok(Request::ActiveFile(ActiveFileRequest::Insert { text, at, label })),
        (Some(_), None) => {
            Err(BadArguments("line is missing: send the line together with `path`".to_owned()))
        }
        (Some(path), Some(at)) => {
            let place = TextPosition { line: at.line, character: at.character };
            let edits = vec![Splice { from: place, to: place, text, expects: None }];
            Ok(Request::Edit {
                files: vec![FileEdit { path, edits, may_create: true }],
                label,
                direct: true,
                inline: false,
                may_be_made: false,
            })
        }
    }
}

fn show_diff(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    let path = path(arguments)?;
    let label = optional_text(arguments, "description")?.unwrap_or_else(|| path.display().to_string());
    let texts = ["content", "original", "modified"].map(|name| optional_text(arguments, name));
    match texts {
        [Err(wrong), ..] | [_, Err(wrong), _] | [.., Err(wrong)] => Err(wrong),
        [Ok(Some(proposed)), Ok(None), Ok(None)] => Ok(Request::Propose {
            path,
            compare_with: None,
            proposed,
            label,
            set: None,
            writer: Some(Writer::Nobody),
        }),
        [Ok(None), Ok(Some(before)), Ok(Some(after))] => {
            Ok(Request::Compare { path, before, after, label, set: None })
        }
        _ => Err(BadArguments("send `content`, or `original` and `modified`".to_owned())),
    }
}
