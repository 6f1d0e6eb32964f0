//! Parses the arguments of a tool call as an edit, for the six editing tools of NEXUS3. Errors name the invalid
//! argument. An unknown argument is an error: to ignore it would be to do something else than was asked.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::error::ProposalError;
use super::{Edit, PatchMode, TextReplacement, patch};

/// The tools that change one file in a way that can be shown beforehand.
pub const FILE_TOOLS: [&str; 6] =
    ["write_file", "edit_file", "edit_lines", "append_file", "regex_replace", "patch"];

/// An edit and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// As in the tool call: perhaps relative.
    pub path: PathBuf,
    /// The edit.
    pub edit: Edit,
}

/// Why a tool call is not an edit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArgumentsError {
    /// Another tool.
    #[error("`{tool}` is not one of the tools that edit a file ({})", FILE_TOOLS.join(", "))]
    OtherTool {
        /// Its name.
        tool: String,
    },
    /// A required argument is missing.
    #[error("`{tool}` needs `{argument}`, {expected}")]
    Missing {
        /// The tool.
        tool: String,
        /// The argument.
        argument: &'static str,
        /// The expected value.
        expected: &'static str,
    },
    /// An argument has the wrong type.
    #[error("`{argument}` of `{tool}` must be {expected}, but is {found}")]
    Wrong {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
        /// The expected value.
        expected: &'static str,
        /// The actual value.
        found: String,
    },
    /// An unknown argument.
    #[error("`{tool}` has no argument `{argument}`; leave it out")]
    Unknown {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
    },
    /// The diff is invalid, or not about this file.
    #[error(transparent)]
    Diff(#[from] ProposalError),
}

impl FileEdit {
    /// From the name and the arguments of a tool call.
    pub fn from_call(tool: &str, arguments: &Value) -> Result<FileEdit, ArgumentsError> {
        if !FILE_TOOLS.contains(&tool) {
            return Err(ArgumentsError::OtherTool { tool: tool.to_owned() });
        }
        let Value::Object(arguments) = arguments else {
            return Err(wrong(tool, "arguments", "an object", arguments));
        };
        let mut arguments = Arguments { tool, left: arguments.clone() };
        let file_edit = arguments.file_edit()?;
        // Some models send null to omit an argument.
        match arguments.left.into_iter().find(|(_, value)| !value.is_null()) {
            Some((argument, _)) => Err(ArgumentsError::Unknown { tool: tool.to_owned(), argument }),
            None => Ok(file_edit),
        }
    }
}

struct Arguments<'t> {
    tool: &'t str,
    left: Map<String, Value>,
}

const TEXT: &str = "a string";
const LINE: &str = "a whole number from 1";
const COUNT: &str = "a whole number from 0";
const FLAG: &str = "true or false";
const MODE: &str = "\"strict\", \"tolerant\" or \"fuzzy\"";

impl Arguments<'_> {
    fn file_edit(&mut self) -> Result<FileEdit, ArgumentsError> {
        let path = match self.text("path")?.filter(|path| !path.is_empty()) {
            Some(path) => path,
            None if self.tool == "patch" => {
                let target = self.text("target")?.filter(|target| !target.is_empty());
                target.ok_or_else(|| self.missing("path", "the file to patch"))?
            }
            None => return Err(self.missing("path", "the file to edit")),
        };
        let path = PathBuf::from(path);
        let edit = match self.tool {
            "write_file" => Edit::WriteFile { content: self.needed_text("content")? },
            "edit_file" => self.edit_file()?,
            "edit_lines" => {
                let start_line = self.number("start_line", LINE)?;
                let start_line = start_line.ok_or_else(|| self.missing("start_line", LINE))?;
                let end_line = self.number("end_line", LINE)?.unwrap_or(start_line);
                Edit::EditLines { start_line, end_line, new_content: self.needed_text("new_content")? }
            }
            "append_file" => Edit::AppendFile {
                content: self.needed_text("content")?,
                newline: self.flag("newline")?.unwrap_or(true),
            },
            "regex_replace" => Edit::RegexReplace {
                pattern: self.needed_text("pattern")?,
                replacement: self.needed_text("replacement")?,
                count: self.number("count", COUNT)?.unwrap_or(0),
                ignore_case: self.flag("ignore_case")?.unwrap_or(false),
                multiline: self.flag("multiline")?.unwrap_or(false),
                dotall: self.flag("dotall")?.unwrap_or(false),
            },
            _ => {
                let diff = patch::for_file(&self.needed_text("diff")?, &path)?;
                Edit::Patch { diff, mode: self.mode()? }
            }
        };
        Ok(FileEdit { path, edit })
    }

    fn edit_file(&mut self) -> Result<Edit, ArgumentsError> {
        let edits = match self.take("edits") {
            None => {
                let TextReplacement { old_string, new_string, replace_all } = self.replacement()?;
                return Ok(Edit::EditFile { old_string, new_string, replace_all });
            }
            Some(Value::Array(edits)) if !edits.is_empty() => edits,
            Some(other) => return Err(wrong(self.tool, "edits", "a list that is not empty", &other)),
        };
        let edits = edits.into_iter().map(|edit| {
            let Value::Object(left) = edit else {
                return Err(wrong(self.tool, "edits", "a list of objects", &edit));
            };
            Arguments { tool: self.tool, left }.replacement()
        });
        Ok(Edit::EditFileBatch { edits: edits.collect::<Result<_, _>>()? })
    }

    fn replacement(&mut self) -> Result<TextReplacement, ArgumentsError> {
        Ok(TextReplacement {
            old_string: self.needed_text("old_string")?,
            new_string: self.needed_text("new_string")?,
            replace_all: self.flag("replace_all")?.unwrap_or(false),
        })
    }

    fn mode(&mut self) -> Result<PatchMode, ArgumentsError> {
        match self.text("mode")?.as_deref() {
            None | Some("strict") => Ok(PatchMode::Strict),
            Some("tolerant") => Ok(PatchMode::Tolerant),
            Some("fuzzy") => Ok(PatchMode::Fuzzy),
            Some(other) => Err(wrong(self.tool, "mode", MODE, &Value::from(other))),
        }
    }

    fn take(&mut self, argument: &str) -> Option<Value> {
        self.left.remove(argument).filter(|value| !value.is_null())
    }

    fn text(&mut self, argument: &str) -> Result<Option<String>, ArgumentsError> {
        match self.take(argument) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(self.tool, argument, TEXT, &other)),
        }
    }

    fn needed_text(&mut self, argument: &'static str) -> Result<String, ArgumentsError> {
        self.text(argument)?.ok_or_else(|| self.missing(argument, TEXT))
    }

    fn flag(&mut self, argument: &str) -> Result<Option<bool>, ArgumentsError> {
        match self.take(argument) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(wrong(self.tool, argument, FLAG, &other)),
        }
    }

    fn number(&mut self, argument: &str, expected: &'static str) -> Result<Option<usize>, ArgumentsError> {
        let Some(value) = self.take(argument) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| wrong(self.tool, argument, expected, &value))
    }

    fn missing(&self, argument: &'static str, expected: &'static str) -> ArgumentsError {
        ArgumentsError::Missing { tool: self.tool.to_owned(), argument, expected }
    }
}

fn wrong(tool: &str, argument: &str, expected: &'static str, found: &Value) -> ArgumentsError {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    ArgumentsError::Wrong { tool: tool.to_owned(), argument: argument.to_owned(), expected, found }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edit(tool: &str, arguments: Value) -> Edit {
        FileEdit::from_call(tool, &arguments).unwrap().edit
    }

    fn refused(tool: &str, arguments: Value) -> String {
        FileEdit::from_call(tool, &arguments).unwrap_err().to_string()
    }

    #[test]
    fn each_tool_has_its_arguments_and_defaults() {
        let content = || "x".to_owned();
        assert_eq!(
            edit("write_file", json!({"path": "f", "content": "x"})),
            Edit::WriteFile { content: content() }
        );
        let append = Edit::AppendFile { content: content(), newline: true };
        assert_eq!(edit("append_file", json!({"path": "f", "content": "x"})), append);
        let lines = Edit::EditLines { start_line: 3, end_line: 3, new_content: content() };
        assert_eq!(edit("edit_lines", json!({"path": "f", "start_line": 3, "new_content": "x"})), lines);
        let one =
            edit("edit_file", json!({"path": "f", "old_string": "a", "new_string": "", "replace_all": null}));
        assert!(matches!(one, Edit::EditFile { replace_all: false, .. }));
        let batch =
            edit("edit_file", json!({"path": "f", "edits": [{"old_string": "a", "new_string": "b"}]}));
        assert!(matches!(batch, Edit::EditFileBatch { edits } if edits.len() == 1));
        let diff = "@@ -1 +1 @@\n-a\n+b\n";
        let patch = edit("patch", json!({"target": "f", "diff": diff, "mode": "fuzzy"}));
        assert_eq!(patch, Edit::Patch { diff: diff.to_owned(), mode: PatchMode::Fuzzy });
        let regex = edit(
            "regex_replace",
            json!({"path": "f", "pattern": "a", "replacement": "b", "multiline": true}),
        );
        assert!(matches!(regex, Edit::RegexReplace { count: 0, multiline: true, dotall: false, .. }));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert_eq!(refused("write_file", json!({"path": "f"})), "`write_file` needs `content`, a string");
        assert!(refused("edit_file", json!({"old_string": "a"})).contains("`path`"));
        let error = refused("edit_lines", json!({"path": "f", "start_line": "3", "new_content": ""}));
        assert_eq!(
            error,
            "`start_line` of `edit_lines` must be a whole number from 1, but is the string \"3\""
        );
        assert!(
            refused("edit_lines", json!({"path": "f", "start_line": -1, "new_content": ""})).contains("-1")
        );
        assert!(
            refused("patch", json!({"path": "f", "diff": "@@\n-a\n", "mode": "loose"})).contains("tolerant")
        );
        assert!(refused("write_file", json!("x")).contains("an object"));
        assert!(refused("exec", json!({})).contains("write_file"));
    }

    #[test]
    fn an_argument_nobody_knows_is_not_ignored() {
        let error = refused("patch", json!({"path": "f", "diff": "@@\n-a\n", "dry_run": true}));
        assert_eq!(error, "`patch` has no argument `dry_run`; leave it out");
    }
}
