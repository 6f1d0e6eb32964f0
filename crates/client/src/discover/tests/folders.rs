//! Which of several editors fits a working directory, with real links and real files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::stage::*;
use crate::discover::*;

/// How an editor with this folder matches.
fn matched(stage: &Stage, folder: &Path) -> Option<Match> {
    let path = stage.lock(closed_port(), folder);
    let matched = stage.only().matched;
    fs::remove_file(path).unwrap();
    matched
}

#[test]
fn of_two_nested_folders_the_inner_one_is_best() {
    let mut stage = Stage::new();
    let editors = [OtherEditor::new(Manner::Refusing), OtherEditor::new(Manner::Refusing)];
    let (outer, inner) = (stage.folder("w"), stage.folder("w/inner"));
    stage.lock(editors[0].port, &outer);
    stage.lock(editors[1].port, &inner);
    let best = |stage: &Stage| stage.look().best().unwrap().folders.clone();
    stage.stand_in(&stage.folder("w/inner/src"));
    assert_eq!(best(&stage), [inner]);
    stage.stand_in(&stage.folder("w/other"));
    assert_eq!(best(&stage), std::slice::from_ref(&outer));
    stage.stand_in(&outer);
    assert_eq!(best(&stage), [outer], "the folder itself before one below");
}

#[test]
fn a_workspace_is_found_through_links_on_either_side() {
    let mut stage = Stage::new();
    let (real, link) = (stage.folder("real/project"), stage.root.join("link"));
    symlink(&real, &link).unwrap();
    fs::create_dir(real.join("src")).unwrap();

    stage.stand_in(&real.join("src"));
    assert_eq!(matched(&stage, &link), Some(Match::Folder { depth: 1 }), "the editor came through the link");
    stage.stand_in(&link.join("src"));
    assert_eq!(matched(&stage, &real), Some(Match::Folder { depth: 1 }), "the agent came through the link");
    assert_eq!(matched(&stage, &link), Some(Match::Folder { depth: 1 }));
}

#[test]
fn the_shells_name_counts_if_it_is_the_same_directory() {
    let mut stage = Stage::new();
    // The window has the folder that holds the link, and only by the shell's name we are in it.
    let (real, holder) = (stage.folder("real"), stage.folder("holder"));
    symlink(&real, holder.join("link")).unwrap();
    stage.stand_in(&real);
    assert_eq!(matched(&stage, &holder), None);
    stage.set("PWD", holder.join("link"));
    assert_eq!(matched(&stage, &holder), Some(Match::Folder { depth: 1 }));
    stage.set("PWD", &holder);
    assert_eq!(matched(&stage, &holder), None, "another directory");
}

#[test]
fn the_other_worktree_of_a_repository_is_a_weaker_match() {
    let mut stage = Stage::new();
    let (main, linked) = (stage.folder("repo"), stage.folder("trees/fix"));
    let entry = stage.folder("repo/.git/worktrees/fix");
    fs::write(entry.join("commondir"), "../..\n").unwrap();
    fs::write(entry.join("gitdir"), format!("{}\n", linked.join(".git").display())).unwrap();
    fs::write(linked.join(".git"), format!("gitdir: {}\n", entry.display())).unwrap();
    stage.stand_in(&linked);
    assert_eq!(matched(&stage, &main), Some(Match::Worktree { depth: 0 }));
    stage.stand_in(&main);
    assert_eq!(matched(&stage, &linked), Some(Match::Worktree { depth: 0 }));
    assert_eq!(matched(&stage, &main), Some(Match::Folder { depth: 0 }));
}

#[test]
fn a_folder_below_the_working_directory_is_the_weakest_match() {
    let mut stage = Stage::new();
    stage.stand_in(&stage.folder("many"));
    assert_eq!(matched(&stage, &stage.folder("many/one")), Some(Match::Parent { depth: 1 }));
    let link = stage.root.join("one");
    symlink(stage.folder("many/one"), &link).unwrap();
    assert_eq!(matched(&stage, &link), Some(Match::Parent { depth: 1 }));
}

#[test]
fn a_working_directory_that_is_gone_still_has_a_name() {
    let mut stage = Stage::new();
    let folder = stage.folder("w");
    stage.stand_in(&folder.join("deleted/long/ago"));
    assert_eq!(matched(&stage, &folder), Some(Match::Folder { depth: 3 }));
}

#[test]
fn folders_of_an_editor_on_windows_are_understood() {
    let mut stage = Stage::new();
    let profile = stage.folder("mnt/c/Users/me");
    let here = stage.surroundings.cwd.to_str().unwrap().replace('/', r"\");
    let drives = stage.root.join("mnt");
    let wsl =
        |profile: Option<PathBuf>| Some(Wsl { distro: "Ubuntu".into(), drives: drives.clone(), profile });
    let locks = stage.folder("mnt/c/Users/me/.claude/ide");
    for (distro, expected) in [("Ubuntu", Some(Match::Folder { depth: 0 })), ("Debian", None)] {
        let mut lock = lock(Path::new(&format!(r"\\wsl.localhost\{distro}{here}")));
        lock["runningInWindows"] = true.into();
        fs::write(locks.join(format!("{}.lock", closed_port())), lock.to_string()).unwrap();
        for profile in [None, Some(profile.clone())] {
            stage.surroundings.wsl = wsl(profile);
            let found = stage.only();
            assert_eq!(found.matched, expected);
            let reason = if expected.is_some() { Reason::OnWindows } else { Reason::OtherWorkspace };
            assert_eq!(found.verdict, Verdict::Not(reason));
        }
        stage.surroundings.wsl = None;
        assert_eq!(stage.look().candidates, [], "nobody looks at Windows without one");
        fs::remove_dir_all(&locks).unwrap();
        fs::create_dir_all(&locks).unwrap();
    }
}
