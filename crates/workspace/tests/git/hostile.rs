//! A repository made by someone else, including its configuration: reading it runs none of its code.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use linkspan_workspace::WorkspaceError;
use linkspan_workspace::git::{diff, log};

use crate::scene::{Scene, program};

#[test]
fn reading_a_repository_runs_none_of_its_programs() {
    let scene = Scene::new();
    let (trap, mark) = (scene.root.join(".git/trap"), scene.root.join(".git/sprung"));
    program(&trap, &format!("echo \"$0 $*\" >> '{}'; cat", mark.display()));
    let trap = trap.to_str().unwrap();
    for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-commit"] {
        scene.hook(hook, &format!("exec {trap}"));
    }
    let settings = [
        ("core.fsmonitor", trap),
        ("core.pager", trap),
        ("diff.external", trap),
        ("diff.x.textconv", trap),
        ("diff.x.command", trap),
        ("filter.x.clean", trap),
        ("filter.x.process", trap),
        ("filter.x.required", "true"),
        ("filter.odd = [name].clean", trap),
        ("gpg.program", trap),
        ("log.showSignature", "true"),
        ("pager.log", trap),
    ];
    for (key, value) in settings {
        scene.git(&["config", key, value]);
    }
    // A name that is not valid text.
    let mut config = fs::read(scene.root.join(".git/config")).unwrap();
    config.extend_from_slice(b"[filter \"\xff\"]\n\tclean = ");
    config.extend_from_slice(trap.as_bytes());
    fs::write(scene.root.join(".git/config"), config).unwrap();
    scene.write("b.txt", "one\n");
    scene.try_git(&["-c", "core.hooksPath=/dev/null", "update-index", "--add", "b.txt"]);
    let _ = fs::remove_file(&mark);
    scene.write("b.txt", "two\n");
    fs::write(scene.root.join(".gitattributes"), b"*.txt filter=x diff=x\nb.txt filter=\xff\n").unwrap();
    // Of the same length, so that git has to read it.
    scene.write("a.txt", "two\n");

    let status = scene.status().unwrap();
    assert_eq!(status.modified, ["a.txt", "b.txt"]);
    for staged in [false, true] {
        let shown =
            diff(&scene.workspace, &scene.root, Some(Path::new("a.txt")), staged, &scene.cancel).unwrap();
        assert_eq!(shown.text.contains("+two"), !staged);
    }
    assert_eq!(log(&scene.workspace, &scene.root, 5, None, &scene.cancel).unwrap().len(), 1);
    assert_eq!(fs::read_to_string(mark).unwrap_or_default(), "");
}

#[test]
fn a_repository_inside_runs_nothing_and_shows_nothing_of_its_own() {
    let scene = Scene::new().denying("secret.txt");
    let (trap, mark) = (scene.root.join(".git/trap"), scene.root.join(".git/sprung"));
    program(&trap, &format!("echo \"$0 $*\" >> '{}'", mark.display()));
    let inner = Scene::new();
    let from = inner.root.to_str().unwrap();
    scene.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    scene.commit_all("With a repository inside");
    scene.write("sub/secret.txt", "hidden words\n");
    scene.git(&["-C", "sub", "add", "secret.txt"]);
    let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
    scene.git(&[&["-C", "sub"], who.as_slice(), &["commit", "--quiet", "--message", "Ahead"]].concat());
    for setting in ["diff.external", "core.fsmonitor"] {
        scene.git(&["-C", "sub", "config", setting, trap.to_str().unwrap()]);
    }
    scene.git(&["config", "status.submoduleSummary", "true"]);
    for form in ["diff", "log"] {
        scene.git(&["config", "diff.submodule", form]);
        assert_eq!(scene.status().unwrap().modified, ["sub"]);
        let shown = diff(&scene.workspace, &scene.root, None, false, &scene.cancel).unwrap().text;
        assert!(shown.contains("+Subproject commit "), "{form}: {shown}");
        assert!(!shown.contains("hidden words"), "{form}: {shown}");
    }
    assert_eq!(fs::read_to_string(mark).unwrap_or_default(), "");
}

#[test]
fn a_repository_whose_files_are_elsewhere_is_not_read() {
    let (scene, elsewhere) = (Scene::new(), Scene::bare_folder());
    elsewhere.write("private.txt", "x\n");
    scene.git(&["config", "core.worktree", elsewhere.root.to_str().unwrap()]);
    let error = scene.status().unwrap_err();
    assert!(matches!(error, WorkspaceError::FilesElsewhere(_)), "{error:?}");
}

#[test]
fn a_work_tree_above_shows_nothing_outside_of_the_workspace() {
    let mut scene = Scene::bare_folder();
    scene.write("private.txt", "x\n");
    scene.write("work/in.txt", "x\n");
    let work = scene.root.join("work");
    scene.workspace.folders = vec![work.clone()];
    scene.git(&["init", "--quiet", "work"]);
    scene.git(&["-C", "work", "config", "core.worktree", scene.root.to_str().unwrap()]);
    let status = linkspan_workspace::git::status(&scene.workspace, &work, &scene.cancel).unwrap();
    assert_eq!(status.untracked, ["in.txt"]);
}

#[test]
fn a_pointer_to_a_foreign_repository_is_not_followed() {
    let foreign = Scene::new();
    let git_dir = foreign.root.join(".git");
    foreign.git(&["worktree", "add", "--quiet", "theirs"]);
    let is_refused = |scene: &Scene, how: &str| {
        let error = scene.status().unwrap_err();
        assert!(matches!(error, WorkspaceError::RepositoryElsewhere(_)), "{how}: {error:?}");
    };
    for place in [git_dir.clone(), git_dir.join("worktrees/theirs")] {
        let (by_file, by_link) = (Scene::bare_folder(), Scene::bare_folder());
        by_file.write(".git", &format!("gitdir: {}\n", place.display()));
        is_refused(&by_file, "a file");
        symlink(&place, by_link.root.join(".git")).unwrap();
        is_refused(&by_link, "a link");
    }
    let sharing = Scene::empty();
    sharing.write(".git/commondir", git_dir.to_str().unwrap());
    is_refused(&sharing, "shared commits");
}

#[test]
fn a_repository_elsewhere_that_points_back_is_read() {
    let main = Scene::new();
    let mut scene = Scene::bare_folder();
    let worktree = scene.root.join("worktree");
    main.git(&["worktree", "add", "--quiet", worktree.to_str().unwrap()]);
    let from = main.root.to_str().unwrap();
    let outer = Scene::new();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    let part = outer.root.join("part");
    for folder in [&worktree, &worktree.join("part"), &outer.root.join("sub"), &part] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
        scene.workspace.folders = vec![folder.clone()];
        let status = linkspan_workspace::git::status(&scene.workspace, folder, &scene.cancel).unwrap();
        assert!(status.untracked.contains(&"new.txt".to_owned()), "{}: {status:?}", folder.display());
    }
}
