//! Git in real repositories: reading needs no permission; the prompt for writing shows the exact command.

use linkspan_editor_api as api;
use linkspan_editor_api::AskOption;
use serde_json::{Value, json};

use crate::support::ppxai::{Client, error, result};
use crate::support::*;

fn git(world: &World, args: &[&str]) {
    let mut git = world.program("git");
    git.args(["-c", "user.name=Me", "-c", "user.email=me@example.com"]).args(args);
    let ran = git.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

fn fixture() -> (World, Editor) {
    let world = World::new();
    git(&world, &["init", "-q", "-b", "main"]);
    git(&world, &["config", "user.name", "Me"]);
    git(&world, &["config", "user.email", "me@example.com"]);
    world.file("a.txt", "one\n");
    git(&world, &["add", "a.txt"]);
    git(&world, &["commit", "-q", "-m", "First\n\nWith a body"]);
    let capabilities = api::Capabilities { questions: true, ..api::Capabilities::default() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    (world, editor)
}

/// Asks and is allowed once; returns the answer and what the user was shown.
#[track_caller]
fn allowed(editor: &mut Editor, tool: &str, args: Value) -> (Value, api::UserAsk) {
    let asked = editor.state().questions.len();
    let waiting = Client::new(editor.port()).asking(tool, args);
    let question = editor.question(asked + 1);
    editor.reply(&question, Some(AskOption::AllowOnce));
    (waiting.join().unwrap(), question)
}

#[test]
fn status_diff_and_log_are_free() {
    let (world, editor) = fixture();
    world.file("a.txt", "two\n");
    world.file("sub/new.txt", "");
    world.file(".env", "SECRET");
    let mut client = Client::new(editor.port());
    let status = client.result("ide.git_status", json!({}));
    assert_eq!((&status["branch"], &status["detached"]), (&json!("main"), &json!(false)));
    assert_eq!((&status["modified"], &status["staged"]), (&json!(["a.txt"]), &json!([])));
    assert!(!status.to_string().contains(".env"), "{status}");
    let diff = client.result("ide.git_diff", json!({ "path": "a.txt" }));
    assert!(diff["diff"].as_str().unwrap().ends_with("-one\n+two\n"), "{diff}");
    assert_eq!(client.result("ide.git_diff", json!({ "staged": true })), json!({ "diff": "" }));
    let log = client.result("ide.git_log", json!({ "limit": 5, "path": "a.txt" }));
    assert_eq!((&log[0]["subject"], &log[0]["author"]), (&json!("First"), &json!("Me")));
    assert_eq!(log[0]["body"].as_str().unwrap().trim(), "With a body");
    assert!(editor.state().questions.is_empty());
}

#[test]
fn staging_and_committing_are_asked_about_with_what_exactly() {
    let (world, mut editor) = fixture();
    world.file("a.txt", "two\n");
    world.file("b.txt", "new\n");
    let (told, question) = allowed(&mut editor, "ide.git_stage", json!({ "paths": ["a.txt", "b.txt"] }));
    assert_eq!(result(told), json!({ "staged": ["a.txt", "b.txt"] }));
    assert_eq!(question.question, "Allow ppxai to stage this?");
    let folder = world.workspace().display().to_string();
    let expected = format!("git -C {folder} add\n{folder}/a.txt\n{folder}/b.txt");
    assert_eq!(question.detail, Some(expected));
    let (told, question) = allowed(&mut editor, "ide.git_commit", json!({ "message": "Second\n\nWhy" }));
    let commit = result(told);
    assert_eq!(question.detail, Some(format!("git -C {folder} commit\n\nSecond\n\nWhy")));
    assert_eq!((&commit["summary"], &commit["branch"]), (&json!("Second"), &json!("main")));
    let log = Client::new(editor.port()).result("ide.git_log", json!({}));
    assert_eq!((&log[0]["hash"], log.as_array().unwrap().len()), (&commit["hash"], 2));
    world.file("a.txt", "three\n");
    let (told, question) = allowed(&mut editor, "ide.git_commit", json!({ "message": "Third", "all": true }));
    assert_eq!(result(told)["summary"], "Third");
    assert!(question.detail.unwrap().starts_with(&format!("git -C {folder} commit --all")));
}

#[test]
fn a_refusal_of_the_person_of_a_hook_or_of_git_commits_nothing() {
    let (world, mut editor) = fixture();
    let waiting = Client::new(editor.port()).asking("ide.git_commit", json!({ "message": "x" }));
    editor.reply(&editor.question(1), Some(AskOption::Deny));
    assert_eq!(error(&waiting.join().unwrap()).0, "DENIED");
    let (told, _) = allowed(&mut editor, "ide.git_commit", json!({ "message": "x" }));
    let (code, message) = error(&told);
    assert_eq!(code, "FAILED");
    assert!(message.contains("nothing to commit"), "{message}");
    let hook = world.file(".git/hooks/pre-commit", "#!/bin/sh\necho not today\nexit 1\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(hook, mode).unwrap();
    world.file("a.txt", "two\n");
    let (told, _) = allowed(&mut editor, "ide.git_commit", json!({ "message": "x", "all": true }));
    let (code, message) = error(&told);
    assert_eq!(code, "FAILED");
    assert!(message.contains("not today"), "{message}");
    assert_eq!(Client::new(editor.port()).result("ide.git_log", json!({})).as_array().unwrap().len(), 1);
}

#[test]
fn wrong_paths_and_arguments_are_named_before_anyone_is_asked_for_more() {
    let (world, mut editor) = fixture();
    let mut client = Client::new(editor.port());
    for (tool, args) in [
        ("ide.git_stage", json!({})),
        ("ide.git_stage", json!({ "paths": [] })),
        ("ide.git_stage", json!({ "paths": "a.txt" })),
        ("ide.git_commit", json!({})),
        ("ide.git_log", json!({ "limit": -1 })),
        ("ide.git_diff", json!({ "staged": "yes" })),
    ] {
        assert_eq!(client.error(tool, args).0, "INVALID_ARGUMENT", "{tool}");
    }
    assert!(editor.state().questions.is_empty());
    assert_eq!(client.error("ide.git_diff", json!({ "path": "/etc/passwd" })).0, "OUTSIDE_WORKSPACE");
    assert_eq!(client.error("ide.git_log", json!({ "path": ".env" })).0, "DENIED");
    world.file(".env", "SECRET");
    let (told, _) = allowed(&mut editor, "ide.git_stage", json!({ "path": ".env" }));
    assert_eq!(error(&told).0, "DENIED");
    let (told, _) = allowed(&mut editor, "ide.git_commit", json!({ "message": " \n" }));
    assert_eq!(error(&told).0, "INVALID_ARGUMENT");
}

#[test]
fn where_there_is_no_repository_it_says_so_and_another_folder_can_be_named() {
    let world = World::new();
    world.file("repo/a.txt", "one\n");
    git(&world, &["init", "-q", "repo"]);
    let editor = Editor::attach(&world);
    let mut client = Client::new(editor.port());
    let (code, message) = client.error("ide.git_status", json!({}));
    assert_eq!(code, "NOT_FOUND");
    assert!(message.contains("git init"), "{message}");
    let status = client.result("ide.git_status", json!({ "folder": "repo" }));
    assert_eq!(status["untracked"], json!(["a.txt"]));
    assert_eq!(client.result("ide.git_log", json!({ "folder": "repo" })), json!([]));
}
