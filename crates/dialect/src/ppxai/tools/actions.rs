//! Changes. Each is shown to the person, who decides, unless she has allowed this client to edit without.

use linkspan_review::{Place, Splice, Writer};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::decided;
use super::super::tool::{Argument, Group, Tool, Wrong, optional, required};
use super::{ANY_PATH, COLUMN, PATH, optional_text, path, path_in, position};
use crate::mcp::Arguments;
use crate::meaning::{FileEdit, Request};
use crate::work::Active;

const DECIDED: &str = "Decided";
const TEXT: Argument = required("text", "string", "What to put there.");
const DESCRIPTION: Argument =
    optional("description", "string", "What it is for, in a few words for the person.");

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "ide.apply_edit",
        group: Group::Actions,
        about: "Proposes changes to one file (`path` with `edits`, or with its whole new `content`) or to several \
                (`files`, at most 64), all of them or none. The files are written once they are accepted.",
        arguments: &[
            optional("path", "string", "The file, which need not exist."),
            optional("edits", "Edit[]", "Replacements, all by places in the text before."),
            optional("content", "string", "The whole new text."),
            optional("files", "{ path: string, edits?: Edit[], content?: string }[]", "Several files."),
            DESCRIPTION,
        ],
        result: "Decided, or with `files` of more than one { applied: boolean, accepted: boolean, files: Decided[] }",
        decode: apply_edit,
        encode: decided::changed,
    },
    Tool {
        name: "ide.insert_text",
        group: Group::Actions,
        about: "Proposes to insert a text.",
        arguments: &[
            TEXT,
            ANY_PATH,
            optional("line", "integer", "From 1. Required with `path`; without both, where the cursor is."),
            COLUMN,
            DESCRIPTION,
        ],
        result: DECIDED,
        decode: insert_text,
        encode: decided::changed,
    },
    Tool {
        name: "ide.replace_selection",
        group: Group::Actions,
        about: "Proposes to replace what is selected in the active editor.",
        arguments: &[TEXT, DESCRIPTION],
        result: DECIDED,
        decode: |arguments| {
            let label = optional_text(arguments, "description")?
                .unwrap_or_else(|| "Replace the selection".to_owned());
            let text = arguments.text("text")?.into_owned();
            Ok(Request::Active(Active::ReplaceSelection { text, label }))
        },
        encode: decided::changed,
    },
    Tool {
        name: "ide.show_diff",
        group: Group::Actions,
        about: "Shows a change and waits for the person's word; nothing is written, `applied` is always false. Once \
                she has accepted it, `ide.apply_edit` with exactly that text is not asked about again.",
        arguments: &[
            PATH,
            optional("content", "string", "The new text of the file; or"),
            optional("original", "string", "the text before and"),
            optional("modified", "string", "the text after."),
            DESCRIPTION,
        ],
        result: DECIDED,
        decode: show_diff,
        encode: decided::changed,
    },
    Tool {
        name: "ide.format_document",
        group: Group::Actions,
        about: "Proposes what the editor's formatter would change. Where that is nothing, `reason` says so.",
        arguments: &[ANY_PATH],
        result: DECIDED,
        decode: |arguments| {
            Ok(match path_in(arguments, "path")? {
                Some(path) => Request::Format { path },
                None => Request::Active(Active::Format),
            })
        },
        encode: decided::changed,
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    edits: Option<Vec<Edit>>,
    content: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    range: Range,
    #[serde(rename = "newText", alias = "new_text")]
    new_text: String,
    #[serde(rename = "oldText", alias = "old_text")]
    old_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    start: At,
    end: At,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct At {
    line: u32,
    #[serde(alias = "column")]
    character: u32,
}

impl From<At> for Place {
    fn from(At { line, character }: At) -> Place {
        Place { line, character }
    }
}

fn apply_edit(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    let files = match arguments.raw("files") {
        Some(files) => {
            if ["path", "edits", "content"].iter().any(|name| arguments.raw(name).is_some()) {
                return Err(Wrong(
                    "files is wrong: `path`, `edits` and `content` belong inside it".to_owned(),
                ));
            }
            read::<Vec<File>>("files", files)?
        }
        None => vec![File {
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
        return Err(Wrong(format!(
            "files is wrong: {} is in it twice; put its edits together",
            twice.display()
        )));
    }
    Ok(Request::Edit { files, label, direct: true, inline: false, may_be_made: false })
}

fn read<'a, T: Deserialize<'a>>(name: &str, raw: &'a RawValue) -> Result<T, Wrong> {
    serde_json::from_str(raw.get()).map_err(|error| Wrong(format!("{name} is wrong: {error}")))
}

fn file_edit(file: File) -> Result<FileEdit, Wrong> {
    let File { path, edits, content } = file;
    let edits = match (edits, content) {
        (Some(edits), None) if edits.is_empty() => {
            return Err(Wrong(format!("{path} has no `edits`; send some")));
        }
        (Some(edits), None) => edits.into_iter().map(splice).collect(),
        (None, Some(content)) => vec![whole(content)],
        (Some(_), Some(_)) => {
            return Err(Wrong(format!("{path} has both `edits` and `content`; send one of them")));
        }
        (None, None) => {
            return Err(Wrong(format!("{path} has neither `edits` nor `content`; send one of them")));
        }
    };
    Ok(FileEdit { path: path.into(), edits, may_create: true })
}

fn splice(Edit { range: Range { start, end }, new_text, old_text }: Edit) -> Splice {
    Splice { from: start.into(), to: end.into(), text: new_text, expects: old_text }
}

/// Everything, however much there is.
fn whole(text: String) -> Splice {
    let (from, to) = (Place { line: 0, character: 0 }, Place { line: u32::MAX, character: 0 });
    Splice { from, to, text, expects: None }
}

fn insert_text(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    let text = arguments.text("text")?.into_owned();
    let label = optional_text(arguments, "description")?.unwrap_or_else(|| "Insert text".to_owned());
    match (path_in(arguments, "path")?, position(arguments)?) {
        (None, at) => Ok(Request::Active(Active::Insert { text, at, label })),
        (Some(_), None) => Err(Wrong("line is missing: say before which line of the file".to_owned())),
        (Some(path), Some(at)) => {
            let place = Place { line: at.line, character: at.character };
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

fn show_diff(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
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
        _ => Err(Wrong("send `content`, or `original` and `modified`".to_owned())),
    }
}
