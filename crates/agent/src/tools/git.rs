//! Git, through the user's own program: status, diff and log are read; staging and committing are asked about.

use std::path::{Path, PathBuf};

use linkspan_workspace::git;

use super::ToolContext;
use super::answer::{Answer, cancellable};
use super::arguments::{ParameterKind, ToolArguments, optional, required};
use super::toolbox::{AgentTools, LocalTool};
use crate::permissions::ToolKind;

use ParameterKind::{Count, Flag, Text, Texts};

pub(crate) const TOOLS: &[LocalTool] = &[
    LocalTool {
        name: "git_status",
        kind: ToolKind::Read,
        about: "Show the branch and the changed files of the working directory's repository.",
        parameters: &[],
        run: status,
    },
    LocalTool {
        name: "git_diff",
        kind: ToolKind::Read,
        about: "Show the changes of the working directory as a diff.",
        parameters: &[
            optional("path", Text, "One file or folder. Default: everything."),
            optional("staged", Flag, "Show what is staged instead of what is not. Default false."),
        ],
        run: diff,
    },
    LocalTool {
        name: "git_log",
        kind: ToolKind::Read,
        about: "List the last commits, the newest first.",
        parameters: &[
            optional("limit", Count, "How many. Default 10, at most 200."),
            optional("path", Text, "Only commits that changed this file or folder."),
        ],
        run: log,
    },
    LocalTool {
        name: "git_stage",
        kind: ToolKind::GitWrite,
        about: "Stage files, or all changes in folders, for the next commit.",
        parameters: &[required("paths", Texts, "Files and folders, relative to the working directory.")],
        run: stage,
    },
    LocalTool {
        name: "git_commit",
        kind: ToolKind::GitWrite,
        about: "Commit what is staged. The repository's hooks run.",
        parameters: &[
            required("message", Text, "What it does and why."),
            optional("all", Flag, "Also commit all changes of tracked files. Default false."),
        ],
        run: commit,
    },
];

fn here(context: &ToolContext, tools: &AgentTools) -> (linkspan_workspace::Workspace, PathBuf) {
    let workspace = tools.workspace(context);
    let folder = workspace.folders.first().cloned().unwrap_or_default();
    (workspace, folder)
}

fn status(tools: &AgentTools, _: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let (workspace, folder) = here(context, tools);
    let status = cancellable(context, |cancel| git::status(&workspace, &folder, cancel), || {})??;
    let mut text = match (&status.branch, &status.head) {
        (Some(branch), Some(head)) => format!("Branch {branch} at {}\n", short(head)),
        (Some(branch), None) => format!("Branch {branch}, no commit yet\n"),
        (None, Some(head)) => format!("No branch, at {}\n", short(head)),
        (None, None) => "No branch and no commit\n".to_owned(),
    };
    if let (Some(upstream), Some(ahead), Some(behind)) = (&status.upstream, status.ahead, status.behind) {
        text += &format!("{ahead} ahead and {behind} behind {upstream}\n");
    }
    let groups = [
        ("Staged", &status.staged),
        ("Changed, not staged", &status.modified),
        ("Untracked", &status.untracked),
        ("In conflict", &status.conflicted),
    ];
    for (title, paths) in groups.iter().filter(|(_, paths)| !paths.is_empty()) {
        text += &format!("{title}:\n");
        for path in *paths {
            text += &format!("  {path}\n");
        }
    }
    if groups.iter().all(|(_, paths)| paths.is_empty()) {
        text += "Nothing is changed.";
    }
    Ok(text)
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn diff(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let (workspace, folder) = here(context, tools);
    let (path, staged) = (arguments.text("path").map(Path::new), arguments.flag("staged"));
    let run = |cancel: &_| git::diff(&workspace, &folder, path, staged, cancel);
    let diff = cancellable(context, run, || {})??;
    let more = if diff.truncated { "[There is more; ask for one file or folder.]" } else { "" };
    Ok(if diff.text.is_empty() { "There are no changes.".to_owned() } else { diff.text + more })
}

fn log(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let (workspace, folder) = here(context, tools);
    let limit = arguments.count("limit").unwrap_or(10).min(200);
    let path = arguments.text("path").map(Path::new);
    let entries = cancellable(context, |cancel| git::log(&workspace, &folder, limit, path, cancel), || {})??;
    if entries.is_empty() {
        return Ok("There are no commits.".to_owned());
    }
    let lines = entries.iter().map(|entry| {
        let body = if entry.body.is_empty() {
            String::new()
        } else {
            format!("\n    {}", entry.body.replace('\n', "\n    "))
        };
        format!("{} {} ({}){body}\n", short(&entry.hash), entry.subject, entry.author)
    });
    Ok(lines.collect())
}

fn stage(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let (workspace, folder) = here(context, tools);
    let paths: Vec<PathBuf> = arguments.texts("paths").into_iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        return Err("`paths` is empty; name the files to stage".into());
    }
    let staged = cancellable(context, |cancel| git::stage(&workspace, &folder, &paths, cancel), || {})??;
    Ok(match staged.as_slice() {
        [] => "There was nothing to stage.".to_owned(),
        staged => format!("Staged:\n  {}", staged.join("\n  ")),
    })
}

fn commit(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let (workspace, folder) = here(context, tools);
    let (message, all) = (arguments.needed("message"), arguments.flag("all"));
    let run = |cancel: &_| git::commit(&workspace, &folder, message, all, cancel);
    let made = cancellable(context, run, || {})??;
    let branch = made.branch.map_or_else(String::new, |branch| format!(" on {branch}"));
    Ok(format!("Committed {}{branch}: {}", short(&made.hash), made.summary))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::json;

    use crate::permissions::PermissionMode;
    use crate::tools::testing::ToolScene;

    #[test]
    fn a_change_is_seen_staged_and_committed() {
        let scene = ToolScene::new(PermissionMode::Yolo);
        assert!(scene.fails("git_status", json!({})).contains("not in a git repository"));
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "A"],
            &["config", "user.email", "a@example.com"],
            &["config", "commit.gpgsign", "false"],
        ] {
            let run = Command::new("git").args(arguments).current_dir(scene.folder.path()).status().unwrap();
            assert!(run.success());
        }
        scene.write("a.txt", "one\n");
        assert_eq!(scene.ok("git_status", json!({})), "Branch main, no commit yet\nUntracked:\n  a.txt\n");
        assert_eq!(scene.ok("git_log", json!({})), "There are no commits.");
        assert!(scene.fails("git_commit", json!({ "message": "x" })).contains("nothing to commit"));
        assert_eq!(scene.ok("git_stage", json!({ "paths": ["a.txt"] })), "Staged:\n  a.txt");
        assert!(scene.ok("git_diff", json!({ "staged": true })).contains("+one"));
        let said = scene.ok("git_commit", json!({ "message": "First\n\nBecause." }));
        assert!(said.starts_with("Committed ") && said.ends_with(" on main: First"), "{said}");
        let log = scene.ok("git_log", json!({ "limit": 5 }));
        assert!(log.ends_with(" First (A)\n    Because.\n"), "{log}");
        assert_eq!(scene.ok("git_diff", json!({})), "There are no changes.");
        assert!(scene.fails("git_stage", json!({ "paths": ["../x"] })).contains("not inside"));
        assert!(scene.fails("git_stage", json!({ "paths": [] })).contains("empty"));
    }
}
