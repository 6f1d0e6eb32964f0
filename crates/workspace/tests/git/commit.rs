//! Staging and committing, with hooks that refuse, change and hang.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_workspace::git::{Commit, commit, stage};
use linkspan_workspace::{Cancel, WorkspaceError};

use crate::read::conflicted;
use crate::scene::Scene;

fn staged(scene: &Scene, paths: &[&str]) -> Result<Vec<String>, WorkspaceError> {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    stage(&scene.workspace, &scene.root, &paths, &scene.cancel)
}

fn committed(scene: &Scene, message: &str, all: bool) -> Result<Commit, WorkspaceError> {
    commit(&scene.workspace, &scene.root, message, all, &scene.cancel)
}

#[test]
fn staged_changes_are_committed() {
    let scene = Scene::new();
    scene.write("b.txt", "b\n");
    scene.write("a.txt", "not this\n");
    assert_eq!(staged(&scene, &["b.txt"]).unwrap(), ["b.txt"]);
    let made = committed(&scene, "Second\n\n# not a comment", false).unwrap();
    assert_eq!(made.hash, scene.git(&["rev-parse", "HEAD"]));
    assert_eq!((made.summary.as_str(), made.branch.as_deref()), ("Second", Some("main")));
    assert_eq!(scene.git(&["log", "-1", "--format=%B"]), "Second\n\n# not a comment");
    assert_eq!(scene.status().unwrap().modified, ["a.txt"]);
}

#[test]
fn odd_names_are_staged_as_themselves() {
    let scene = Scene::new();
    let mut names = ["*", "-dash", ":(top)magic", "line\nbreak", "ünï"];
    names.sort_unstable();
    for name in names.iter().chain(&["other"]) {
        scene.write(name, "x\n");
    }
    assert_eq!(staged(&scene, &names).unwrap(), names);
    let status = scene.status().unwrap();
    assert_eq!(
        (status.staged, status.untracked),
        (names.map(str::to_owned).to_vec(), vec!["other".to_owned()])
    );
}

#[test]
fn a_folder_is_staged_without_its_denied_files() {
    let scene = Scene::new().denying(".env");
    for name in ["sub/.env", "sub/in.txt", "out.txt"] {
        scene.write(name, "x\n");
    }
    assert_eq!(staged(&scene, &["sub"]).unwrap(), ["sub/in.txt"]);
    assert_eq!(staged(&scene, &["."]).unwrap(), ["out.txt"]);
    assert_eq!(scene.git(&["ls-files"]), "a.txt\nout.txt\nsub/in.txt");
    assert!(matches!(staged(&scene, &["sub/.env"]), Err(WorkspaceError::Denied(_))));
    assert!(matches!(staged(&scene, &["../x"]), Err(WorkspaceError::Outside(_))));
}

#[test]
fn a_removed_file_can_be_staged_and_a_missing_one_is_named() {
    let scene = Scene::new();
    std::fs::remove_file(scene.root.join("a.txt")).unwrap();
    assert_eq!(staged(&scene, &["a.txt"]).unwrap(), ["a.txt"]);
    let error = staged(&scene, &["never.txt"]).unwrap_err().to_string();
    assert!(error.contains("never.txt"), "{error}");
}

#[test]
fn all_means_tracked_files_that_are_not_denied() {
    let scene = Scene::new().denying("secret");
    scene.write("secret", "one\n");
    scene.commit_all("Second");
    for name in ["a.txt", "secret", "new.txt"] {
        scene.write(name, "changed\n");
    }
    committed(&scene, "Third", true).unwrap();
    assert_eq!(scene.git(&["show", "--name-only", "--format="]), "a.txt");
    assert_eq!(scene.git(&["status", "--porcelain"]), "M secret\n?? new.txt");
}

#[test]
fn nothing_to_commit_and_no_message_are_told_apart() {
    let scene = Scene::new();
    assert!(matches!(committed(&scene, "Nothing", false), Err(WorkspaceError::NothingToCommit)));
    assert!(matches!(committed(&scene, "Nothing", true), Err(WorkspaceError::NothingToCommit)));
    assert!(matches!(committed(&scene, " \n", false), Err(WorkspaceError::EmptyMessage)));
}

#[test]
fn the_output_of_a_refusing_hook_is_returned_and_the_index_stays() {
    let scene = Scene::new();
    scene.hook("pre-commit", "echo 'line 3: too long' >&2; exit 1");
    scene.write("a.txt", "two\n");
    let error = committed(&scene, "Second", true).unwrap_err();
    assert!(matches!(&error, WorkspaceError::HookRefused(said) if said == "line 3: too long"), "{error:?}");
    assert_eq!(scene.git(&["rev-list", "--count", "HEAD"]), "1");
    assert!(scene.status().unwrap().staged.is_empty());
}

#[test]
fn a_message_changed_by_a_hook_is_returned() {
    let scene = Scene::new();
    scene.hook("commit-msg", "echo \"[checked] $(cat \"$1\")\" > \"$1\"; echo 'message mended'");
    scene.hook("pre-commit", "echo formatted > a.txt; git add '*.txt'");
    scene.write("b.txt", "b\n");
    staged(&scene, &["b.txt"]).unwrap();
    let made = committed(&scene, "Second", false).unwrap();
    assert_eq!(made.summary, "[checked] Second");
    assert!(made.output.contains("message mended"), "{made:?}");
    assert_eq!(scene.git(&["show", "HEAD:a.txt"]), "formatted");
}

#[test]
fn a_conflict_is_named_and_once_staged_can_be_committed() {
    let scene = conflicted();
    let error = committed(&scene, "Merge", true).unwrap_err();
    assert!(matches!(&error, WorkspaceError::Conflicts(paths) if paths == &["a.txt"]), "{error:?}");
    scene.write("a.txt", "both\n");
    staged(&scene, &["a.txt"]).unwrap();
    committed(&scene, "Merge", false).unwrap();
    assert_eq!(scene.git(&["log", "-1", "--format=%p"]).split(' ').count(), 2);
}

#[test]
fn a_commit_needs_an_identity() {
    let scene = Scene::new();
    scene.git(&["config", "--unset", "user.name"]);
    scene.git(&["config", "--unset", "user.email"]);
    scene.git(&["config", "user.useConfigOnly", "true"]);
    scene.write("a.txt", "two\n");
    let is_known_elsewhere = scene.try_git(&["var", "GIT_AUTHOR_IDENT"]).1;
    match committed(&scene, "Second", true) {
        Err(WorkspaceError::NoIdentity) => assert!(!is_known_elsewhere),
        other => assert!(is_known_elsewhere, "{other:?}"),
    }
}

#[test]
fn a_detached_head_can_be_committed_to() {
    let scene = Scene::new();
    scene.git(&["checkout", "--quiet", "--detach"]);
    scene.write("a.txt", "two\n");
    let made = committed(&scene, "Second", true).unwrap();
    assert_eq!((made.branch, made.hash), (None, scene.git(&["rev-parse", "HEAD"])));
}

#[test]
fn cancelling_ends_a_hook_that_hangs_and_leaves_no_lock() {
    let scene = Scene::new();
    scene.hook("pre-commit", "echo $$ > hook.pid; sleep 300");
    scene.write("a.txt", "two\n");
    let cancel = Cancel::new();
    let start = Instant::now();
    thread::scope(|scope| {
        let running = scope.spawn(|| commit(&scene.workspace, &scene.root, "Second", true, &cancel));
        while std::fs::read_to_string(scene.root.join("hook.pid")).unwrap_or_default().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(20), "the hook did not start");
            thread::sleep(Duration::from_millis(10));
        }
        cancel.cancel();
        assert!(matches!(running.join().unwrap(), Err(WorkspaceError::Cancelled)));
    });
    assert!(start.elapsed() < Duration::from_secs(20));
    let pid = std::fs::read_to_string(scene.root.join("hook.pid")).unwrap();
    assert!(!PathBuf::from(format!("/proc/{}", pid.trim())).exists());
    assert!(!scene.root.join(".git/index.lock").exists());
}

#[test]
fn a_process_left_behind_by_a_hook_does_not_block() {
    let scene = Scene::new();
    scene.hook("post-commit", "sleep 20 & echo left");
    scene.write("a.txt", "two\n");
    let start = Instant::now();
    committed(&scene, "Second", true).unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
