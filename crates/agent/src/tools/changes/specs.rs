//! What the model is told of the six tools. Their arguments are read by `linkspan_client::proposal`.

use serde_json::{Value, json};

use crate::models::ToolSpec;
use crate::tools::arguments::ParameterKind::{Count, Flag, Other, Text, Word};
use crate::tools::arguments::{Parameter, optional, required, schema};

const PATH: Parameter = required("path", Text, "The file, relative to the working directory or absolute.");

struct ChangeTool {
    name: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
}

const TOOLS: [ChangeTool; 6] = [
    ChangeTool {
        name: "write_file",
        about: "Write a whole file; it is created with its folders if it does not exist.",
        parameters: &[PATH, required("content", Text, "The whole new text.")],
    },
    ChangeTool {
        name: "edit_file",
        about: "Replace a text in a file: `old_string` by `new_string`, or several replacements in `edits`, all or none. \
                The old text must occur exactly once, unless `replace_all` is set.",
        parameters: &[
            PATH,
            optional("old_string", Text, "The exact text to replace, with enough context to be unique."),
            optional("new_string", Text, "The text to put in its place."),
            optional("replace_all", Flag, "Replace every occurrence. Default false."),
            optional("edits", Other(edits), "Several replacements, made one after the other."),
        ],
    },
    ChangeTool {
        name: "edit_lines",
        about: "Replace whole lines of a file by number; empty `new_content` removes them.",
        parameters: &[
            PATH,
            required("start_line", Count, "The first line to replace, from 1."),
            optional("end_line", Count, "The last one, inclusive. Default: the first."),
            required("new_content", Text, "The new lines."),
        ],
    },
    ChangeTool {
        name: "append_file",
        about: "Add a text at the end of a file.",
        parameters: &[
            PATH,
            required("content", Text, "The text."),
            optional("newline", Flag, "Start it on a new line. Default true."),
        ],
    },
    ChangeTool {
        name: "regex_replace",
        about: "Replace what a regular expression matches in a file (no lookaround, no backreferences).",
        parameters: &[
            PATH,
            required("pattern", Text, "The regular expression."),
            required("replacement", Text, "With \\1 or \\g<name> for groups."),
            optional("count", Count, "The most replacements; 0 for all. Default 0."),
            optional("ignore_case", Flag, "Default false."),
            optional("multiline", Flag, "^ and $ match at every line. Default false."),
            optional("dotall", Flag, ". matches a line end too. Default false."),
        ],
    },
    ChangeTool {
        name: "patch",
        about: "Apply a unified diff to one file.",
        parameters: &[
            PATH,
            required("diff", Text, "The unified diff of this file."),
            optional(
                "mode",
                Word(&["strict", "tolerant", "fuzzy"]),
                "How exactly its context must match. Default strict.",
            ),
        ],
    },
];

const AFTERWARDS: &str =
    " The user may accept it, accept a part of it, edit it or reject it; the result says which.";

fn edits() -> Value {
    let edit = schema(&[
        required("old_string", Text, "The exact text to replace."),
        required("new_string", Text, "The text to put in its place."),
        optional("replace_all", Flag, "Replace every occurrence."),
    ]);
    json!({ "type": "array", "items": edit })
}

pub(crate) fn specs() -> impl Iterator<Item = ToolSpec> {
    TOOLS.iter().map(|tool| ToolSpec {
        name: tool.name.to_owned(),
        description: format!("{}{AFTERWARDS}", tool.about),
        schema: schema(tool.parameters),
    })
}

#[cfg(test)]
mod tests {
    use linkspan_client::proposal::FILE_TOOLS;

    use super::*;

    #[test]
    fn these_are_the_six_tools() {
        assert_eq!(TOOLS.map(|tool| tool.name), FILE_TOOLS);
    }
}
