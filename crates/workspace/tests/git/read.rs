//! Status, diff and log.

use std::fs;
use std::path::Path;

use linkspan_workspace::WorkspaceError;
use linkspan_workspace::git::{Renamed, diff, log, status};

use crate::scene::Scene;

#[test]
fn a_status_tells_staged_modified_untracked_and_renamed_files_apart() {
    let scene = Scene::new();
    scene.write("moved.txt", "a text that is long enough to be recognised\n");
    scene.commit_all("Second");
    scene.git(&["mv", "moved.txt", "new name.txt"]);
    scene.write("a.txt", "two\n");
    scene.write("staged.txt", "s\n");
    scene.git(&["add", "staged.txt"]);
    scene.write("deep/er/untracked.txt", "u\n");
    let status = scene.status().unwrap();
    assert_eq!(status.branch.as_deref(), Some("main"));
    assert_eq!(status.head, Some(scene.git(&["rev-parse", "HEAD"])));
    assert_eq!(status.staged, ["new name.txt", "staged.txt"]);
    assert_eq!(status.modified, ["a.txt"]);
    assert_eq!(status.untracked, ["deep/er/untracked.txt"]);
    let renamed = Renamed { path: "new name.txt".into(), from: Some("moved.txt".into()) };
    assert_eq!(status.renamed, [renamed]);
    assert!(status.conflicted.is_empty() && !status.detached);
}

#[test]
fn an_upstream_is_named_with_the_distance_to_it() {
    let (theirs, ours) = (Scene::new(), Scene::bare_folder());
    ours.git(&["clone", "--quiet", theirs.root.to_str().unwrap(), "."]);
    ours.git(&[
        "-c",
        "user.name=Bob",
        "-c",
        "user.email=b@x",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "Mine",
    ]);
    let status = ours.status().unwrap();
    assert_eq!(
        (status.upstream.as_deref(), status.ahead, status.behind),
        (Some("origin/main"), Some(1), Some(0))
    );
}

#[test]
fn a_detached_head_is_reported() {
    let scene = Scene::new();
    scene.git(&["checkout", "--quiet", "--detach"]);
    let status = scene.status().unwrap();
    assert!(status.detached && status.branch.is_none() && status.head.is_some());
}

#[test]
fn a_repository_without_a_commit_has_a_status_and_no_history() {
    let scene = Scene::empty();
    scene.write("a.txt", "one\n");
    let status = scene.status().unwrap();
    assert_eq!((status.branch.as_deref(), status.head.as_deref()), (Some("main"), None));
    assert_eq!(status.untracked, ["a.txt"]);
    assert_eq!(log(&scene.workspace, &scene.root, 10, None, &scene.cancel).unwrap(), []);
    assert_eq!(diff(&scene.workspace, &scene.root, None, true, &scene.cancel).unwrap().text, "");
}

#[test]
fn a_folder_without_a_repository_says_what_to_do() {
    let scene = Scene::bare_folder();
    let error = scene.status().unwrap_err();
    assert!(matches!(error, WorkspaceError::NoRepository(_)), "{error:?}");
    assert!(error.to_string().contains("git init"));
}

#[test]
fn names_of_any_kind_are_preserved() {
    let scene = Scene::new();
    let names = ["-dash", "line\nbreak", "quote\"d", "sp ace", "tab\there", "ünïcödé", ":(top)magic", "*"];
    for name in names {
        scene.write(name, "x\n");
    }
    let mut expected = names.map(str::to_owned).to_vec();
    expected.sort();
    let mut untracked = scene.status().unwrap().untracked;
    untracked.sort();
    assert_eq!(untracked, expected);
}

#[test]
fn conflicts_are_listed_separately() {
    let scene = conflicted();
    let status = scene.status().unwrap();
    assert_eq!(status.conflicted, ["a.txt"]);
    assert!(status.modified.is_empty() && status.staged.is_empty());
}

pub(crate) fn conflicted() -> Scene {
    let scene = Scene::new();
    scene.git(&["checkout", "--quiet", "-b", "other"]);
    scene.write("a.txt", "theirs\n");
    scene.commit_all("Theirs");
    scene.git(&["checkout", "--quiet", "main"]);
    scene.write("a.txt", "ours\n");
    scene.commit_all("Ours");
    assert!(!scene.try_git(&["merge", "other"]).1);
    scene
}

#[test]
fn a_diff_is_gits_own() {
    let scene = Scene::new();
    scene.write("a.txt", "two\n");
    scene.write("b.txt", "b\n");
    scene.git(&["add", "b.txt"]);
    let asked = |path: Option<&Path>, staged| {
        diff(&scene.workspace, &scene.root, path, staged, &scene.cancel).unwrap()
    };
    assert_eq!(asked(None, false).text.trim(), scene.git(&["diff"]));
    assert_eq!(asked(None, true).text.trim(), scene.git(&["diff", "--cached"]));
    assert_eq!(asked(Some(Path::new("b.txt")), false).text, "");
    assert_eq!(asked(Some(&scene.root.join("a.txt")), false).text, asked(None, false).text);
}

#[test]
fn a_long_diff_ends_with_a_whole_line_and_says_that_there_is_more() {
    let scene = Scene::new();
    scene.write("a.txt", &"a line of some length\n".repeat(200_000));
    let long = diff(&scene.workspace, &scene.root, None, false, &scene.cancel).unwrap();
    assert!(long.truncated && long.text.ends_with("a line of some length\n"));
    assert!(long.text.len() <= 1024 * 1024);
}

#[test]
fn denied_files_are_in_no_status_and_no_diff() {
    let scene = Scene::new().denying("secret");
    for name in ["secret/key", "sub/secret", "plain"] {
        scene.write(name, "before\n");
    }
    scene.commit_all("Second");
    for name in ["secret/key", "sub/secret", "plain", "secret/new"] {
        scene.write(name, "after\n");
    }
    assert_eq!(scene.status().unwrap().modified, ["plain"]);
    assert!(scene.status().unwrap().untracked.is_empty());
    let shown = diff(&scene.workspace, &scene.root, None, false, &scene.cancel).unwrap().text;
    assert!(shown.contains("plain") && !shown.contains("secret"), "{shown}");
    let error = diff(&scene.workspace, &scene.root, Some(Path::new("sub/secret")), false, &scene.cancel);
    assert!(matches!(error, Err(WorkspaceError::Denied(_))), "{error:?}");
}

#[test]
fn private_files_are_in_no_status_and_no_diff() {
    let mut scene = Scene::new();
    scene.workspace.kept = vec![scene.root.join("own")];
    scene.write("own/key", "new\n");
    scene.write("own2", "new\n");
    scene.git(&["add", "--all"]);
    scene.write("own/key", "later\n");
    scene.write("own/new", "new\n");
    let status = scene.status().unwrap();
    assert_eq!((status.staged, status.modified, status.untracked), (vec!["own2".into()], vec![], vec![]));
    let shown = diff(&scene.workspace, &scene.root, None, true, &scene.cancel).unwrap().text;
    assert!(shown.contains("own2") && !shown.contains("own/"), "{shown}");
    let named = Some(Path::new("own/key"));
    let error = diff(&scene.workspace, &scene.root, named, false, &scene.cancel);
    assert!(matches!(error, Err(WorkspaceError::Denied(_))), "{error:?}");
}

#[test]
fn a_denied_file_does_not_show_by_being_renamed() {
    let scene = Scene::new().denying("secret.txt");
    scene.write("secret.txt", "a text that is long enough to be recognised\n");
    scene.commit_all("Second");
    scene.git(&["mv", "secret.txt", "open.txt"]);
    let renamed = scene.status().unwrap().renamed;
    assert_eq!(renamed, [Renamed { path: "open.txt".into(), from: None }]);
    let shown = diff(&scene.workspace, &scene.root, None, true, &scene.cancel).unwrap().text;
    assert!(!shown.contains("secret.txt"), "{shown}");
}

#[test]
fn a_folder_inside_a_repository_sees_only_itself() {
    let mut scene = Scene::new();
    scene.write("part/in.txt", "in\n");
    scene.commit_all("Second");
    scene.write("part/in.txt", "more\n");
    scene.write("a.txt", "outside\n");
    let part = scene.root.join("part");
    scene.workspace.folders = vec![part.clone()];
    let status = status(&scene.workspace, &part, &scene.cancel).unwrap();
    assert_eq!(status.modified, ["in.txt"]);
    let shown = diff(&scene.workspace, &part, None, false, &scene.cancel).unwrap().text;
    assert!(shown.contains("+more") && !shown.contains("outside"), "{shown}");
    let entries = log(&scene.workspace, &part, 10, None, &scene.cancel).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.subject.as_str()).collect::<Vec<_>>(), ["Second"]);
    for path in ["../a.txt", "/etc/passwd"] {
        let error = diff(&scene.workspace, &part, Some(Path::new(path)), false, &scene.cancel);
        assert!(matches!(error, Err(WorkspaceError::Outside(_))), "{path}: {error:?}");
    }
}

#[test]
fn a_log_has_subject_body_author_and_time() {
    let scene = Scene::new();
    scene.write("b.txt", "b\n");
    scene.commit_all("Second: ünïcode\n\nWhy,\nand how.");
    let entries = log(&scene.workspace, &scene.root, 10, None, &scene.cancel).unwrap();
    let (newest, first) = (entries.first().unwrap(), entries.last().unwrap());
    assert_eq!(entries.len(), 2);
    assert_eq!(newest.hash, scene.git(&["rev-parse", "HEAD"]));
    assert_eq!((newest.author.as_str(), newest.email.as_str()), ("Ann", "ann@example.com"));
    assert_eq!((newest.subject.as_str(), newest.body.as_str()), ("Second: ünïcode", "Why,\nand how."));
    assert_eq!(newest.time.to_string(), scene.git(&["log", "-1", "--format=%at"]));
    assert_eq!((first.subject.as_str(), first.body.as_str()), ("First", ""));
    let of_b = log(&scene.workspace, &scene.root, 10, Some(Path::new("b.txt")), &scene.cancel).unwrap();
    assert_eq!(of_b.len(), 1);
    assert_eq!(log(&scene.workspace, &scene.root, 1, None, &scene.cancel).unwrap().len(), 1);
}

#[test]
fn changes_inside_a_submodule_are_not_reported() {
    let (inner, outer) = (Scene::new(), Scene::new());
    let from = inner.root.to_str().unwrap();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    outer.commit_all("With a submodule");
    outer.write("sub/a.txt", "changed inside\n");
    fs::write(outer.root.join("sub/new.txt"), "new\n").unwrap();
    let status = outer.status().unwrap();
    assert!(status.modified.is_empty() && status.untracked.is_empty(), "{status:?}");
}

#[test]
fn a_cancelled_request_is_not_answered() {
    let scene = Scene::new();
    scene.cancel.cancel();
    assert!(matches!(scene.status(), Err(WorkspaceError::Cancelled)));
}
