//! AgentTools that read files: one file, lists of files, and searches. They see what is on disk; unsaved texts of the editor
//! are behind `ide.read_file`.

mod read;

use linkspan_workspace::{ListFiles, SearchFiles, list_files, search_files};

use super::ToolContext;
use super::answer::{Answer, cancellable};
use super::arguments::{ParameterKind, ToolArguments, optional, required};
use super::toolbox::{AgentTools, LocalTool};
use crate::permissions::ToolKind;

pub(crate) use read::read_text;

use ParameterKind::{Count, Flag, Text};

pub(crate) const TOOLS: &[LocalTool] = &[
    LocalTool {
        name: "read_file",
        kind: ToolKind::Read,
        about: "Read a text file, with line numbers. At most 2,000 lines at a time; ask for a range of a longer file.",
        parameters: &[
            required("path", Text, "The file, relative to the working directory or absolute."),
            optional("start_line", Count, "The first line, from 1."),
            optional("end_line", Count, "The last line, inclusive."),
        ],
        run: read::run,
    },
    LocalTool {
        name: "list_files",
        kind: ToolKind::Read,
        about: "List the files of the working directory, sorted. Respects ignore files; includes hidden files, but \
                not `.git` and links.",
        parameters: &[
            optional("pattern", Text, "Glob, such as `**/*.py` or `src/**`. Default: all files."),
            optional("exclude", Text, "Glob of files to skip."),
            optional("ignored", Flag, "Include files that ignore files exclude. Default false."),
            optional("limit", Count, "Maximum number of files. Default 1000."),
        ],
        run: list,
    },
    LocalTool {
        name: "search_files",
        kind: ToolKind::Read,
        about: "Search the files of the working directory for a text or a regular expression, line by line. The \
                result has `path:line: text`.",
        parameters: &[
            required("query", Text, "A text on one line, or a regular expression."),
            optional("regex", Flag, "The query is a regular expression. Default false."),
            optional("case_sensitive", Flag, "Default false."),
            optional("whole_word", Flag, "Default false."),
            optional("pattern", Text, "Glob of files to search. Default: all files."),
            optional("exclude", Text, "Glob of files to skip."),
            optional("ignored", Flag, "Include files that ignore files exclude. Default false."),
            optional("limit", Count, "Maximum number of lines. Default 200."),
            optional("context", Count, "Lines of context around each match, at most 10. Default 0."),
        ],
        run: search,
    },
];

fn owned(arguments: &ToolArguments<'_>, name: &str) -> Option<String> {
    arguments.text(name).map(str::to_owned)
}

fn list(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let asked = ListFiles {
        pattern: owned(arguments, "pattern"),
        exclude: owned(arguments, "exclude"),
        ignored: arguments.flag("ignored"),
        limit: arguments.count("limit").unwrap_or(1000),
    };
    let workspace = tools.workspace(context);
    let found = cancellable(context, |cancel| list_files(&workspace, &asked, cancel), || {})??;
    if found.paths.is_empty() {
        return Ok("No files match.".to_owned());
    }
    let more =
        if found.truncated { "\n[There are more files; narrow the pattern or raise `limit`.]" } else { "" };
    Ok(format!("{}{more}", found.paths.join("\n")))
}

fn search(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let asked = SearchFiles {
        query: arguments.needed("query").to_owned(),
        regex: arguments.flag("regex"),
        case_sensitive: arguments.flag("case_sensitive"),
        whole_word: arguments.flag("whole_word"),
        pattern: owned(arguments, "pattern"),
        exclude: owned(arguments, "exclude"),
        ignored: arguments.flag("ignored"),
        limit: arguments.count("limit").unwrap_or(200),
        context: arguments.count("context").unwrap_or(0),
    };
    let workspace = tools.workspace(context);
    let found = cancellable(context, |cancel| search_files(&workspace, &asked, cancel), || {})??;
    if found.matches.is_empty() {
        return Ok("Nothing matches.".to_owned());
    }
    let mut text = format!("{} matching lines in {} files:\n", found.matches.len(), found.files);
    for matched in &found.matches {
        let first = matched.line.saturating_sub(u32::try_from(matched.before.len()).unwrap_or(u32::MAX));
        for (number, line) in (first..).zip(&matched.before) {
            text += &format!("{}-{number}- {line}\n", matched.path);
        }
        text += &format!("{}:{}: {}\n", matched.path, matched.line, matched.text);
        for (number, line) in (matched.line.saturating_add(1)..).zip(&matched.after) {
            text += &format!("{}-{number}- {line}\n", matched.path);
        }
    }
    if found.truncated {
        text += "[There is more; narrow the search or raise `limit`.]";
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::permissions::PermissionMode;
    use crate::tools::testing::ToolScene;

    #[test]
    fn files_are_listed_and_searched_without_those_of_linkspan() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        scene.write("src/a.rs", "fn one() {}\nfn two() {}\n");
        scene.write("src/b.txt", "nothing\nTWO\n");
        scene.write("own/secret.rs", "two\n");
        let mut config = crate::tools::ToolsConfig::new(scene.context.bridge.clone());
        config.own = vec![scene.path("own")];
        let tools = crate::tools::AgentTools::new(config);
        let listed = scene.run_with(&tools, "list_files", json!({}));
        assert_eq!(listed.text, "src/a.rs\nsrc/b.txt");
        assert_eq!(scene.ok("list_files", json!({ "pattern": "*.md" })), "No files match.");
        let found = scene.run_with(&tools, "search_files", json!({ "query": "two", "context": 1 }));
        assert_eq!(
            found.text,
            "2 matching lines in 2 files:\nsrc/a.rs-1- fn one() {}\nsrc/a.rs:2: fn two() {}\n\
             src/b.txt-1- nothing\nsrc/b.txt:2: TWO\n"
        );
        let few = scene.ok("search_files", json!({ "query": "n", "limit": 1 }));
        assert!(few.contains("There is more"), "{few}");
        assert!(
            scene.fails("search_files", json!({ "query": "(", "regex": true })).contains("cannot search")
        );
        assert_eq!(scene.ok("search_files", json!({ "query": "zzz" })), "Nothing matches.");
    }
}
