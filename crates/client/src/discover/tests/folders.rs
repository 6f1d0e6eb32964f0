//! Which of several editors fits a working directory, with real links and real files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::fixture::*;
use crate::discover::*;

/// How an editor with this folder matches.
fn matched(fixture: &DiscoveryFixture, folder: &Path) -> Option<Match> {
    let path = fixture.lock(closed_port(), folder);
    let matched = fixture.only().matched;
    fs::remove_file(path).unwrap();
    matched
}

#[test]
fn of_two_nested_folders_the_inner_one_is_best() {
    let mut fixture = DiscoveryFixture::new();
    let editors = [OtherEditor::new(EditorBehaviour::Refusing), OtherEditor::new(EditorBehaviour::Refusing)];
    let (outer, inner) = (fixture.folder("w"), fixture.folder("w/inner"));
    fixture.lock(editors[0].port, &outer);
    fixture.lock(editors[1].port, &inner);
    let best = |fixture: &DiscoveryFixture| fixture.look().best().unwrap().folders.clone();
    fixture.stand_in(&fixture.folder("w/inner/src"));
    assert_eq!(best(&fixture), [inner]);
    fixture.stand_in(&fixture.folder("w/other"));
    assert_eq!(best(&fixture), std::slice::from_ref(&outer));
    fixture.stand_in(&outer);
    assert_eq!(best(&fixture), [outer], "the folder itself before one below");
}

#[test]
fn a_workspace_is_found_through_links_on_either_side() {
    let mut fixture = DiscoveryFixture::new();
    let (real, link) = (fixture.folder("real/project"), fixture.root.join("link"));
    symlink(&real, &link).unwrap();
    fs::create_dir(real.join("src")).unwrap();

    fixture.stand_in(&real.join("src"));
    assert_eq!(
        matched(&fixture, &link),
        Some(Match::Folder { depth: 1 }),
        "the editor came through the link"
    );
    fixture.stand_in(&link.join("src"));
    assert_eq!(matched(&fixture, &real), Some(Match::Folder { depth: 1 }), "the agent came through the link");
    assert_eq!(matched(&fixture, &link), Some(Match::Folder { depth: 1 }));
}

#[test]
fn the_shells_name_counts_if_it_is_the_same_directory() {
    let mut fixture = DiscoveryFixture::new();
    // The window has the folder that holds the link, and only by the shell's name we are in it.
    let (real, holder) = (fixture.folder("real"), fixture.folder("holder"));
    symlink(&real, holder.join("link")).unwrap();
    fixture.stand_in(&real);
    assert_eq!(matched(&fixture, &holder), None);
    fixture.set("PWD", holder.join("link"));
    assert_eq!(matched(&fixture, &holder), Some(Match::Folder { depth: 1 }));
    fixture.set("PWD", &holder);
    assert_eq!(matched(&fixture, &holder), None, "another directory");
}

#[test]
fn the_other_worktree_of_a_repository_is_a_weaker_match() {
    let mut fixture = DiscoveryFixture::new();
    let (main, linked) = (fixture.folder("repo"), fixture.folder("trees/fix"));
    let entry = fixture.folder("repo/.git/worktrees/fix");
    fs::write(entry.join("commondir"), "../..\n").unwrap();
    fs::write(entry.join("gitdir"), format!("{}\n", linked.join(".git").display())).unwrap();
    fs::write(linked.join(".git"), format!("gitdir: {}\n", entry.display())).unwrap();
    fixture.stand_in(&linked);
    assert_eq!(matched(&fixture, &main), Some(Match::Worktree { depth: 0 }));
    fixture.stand_in(&main);
    assert_eq!(matched(&fixture, &linked), Some(Match::Worktree { depth: 0 }));
    assert_eq!(matched(&fixture, &main), Some(Match::Folder { depth: 0 }));
}

#[test]
fn a_folder_below_the_working_directory_is_the_weakest_match() {
    let mut fixture = DiscoveryFixture::new();
    fixture.stand_in(&fixture.folder("many"));
    assert_eq!(matched(&fixture, &fixture.folder("many/one")), Some(Match::Parent { depth: 1 }));
    let link = fixture.root.join("one");
    symlink(fixture.folder("many/one"), &link).unwrap();
    assert_eq!(matched(&fixture, &link), Some(Match::Parent { depth: 1 }));
}

#[test]
fn a_working_directory_that_is_gone_still_has_a_name() {
    let mut fixture = DiscoveryFixture::new();
    let folder = fixture.folder("w");
    fixture.stand_in(&folder.join("deleted/long/ago"));
    assert_eq!(matched(&fixture, &folder), Some(Match::Folder { depth: 3 }));
}

#[test]
fn folders_of_an_editor_on_windows_are_understood() {
    let mut fixture = DiscoveryFixture::new();
    let profile = fixture.folder("mnt/c/Users/me");
    let here = fixture.surroundings.cwd.to_str().unwrap().replace('/', r"\");
    let drives = fixture.root.join("mnt");
    let wsl =
        |profile: Option<PathBuf>| Some(Wsl { distro: "Ubuntu".into(), drives: drives.clone(), profile });
    let locks = fixture.folder("mnt/c/Users/me/.claude/ide");
    for (distro, expected) in [("Ubuntu", Some(Match::Folder { depth: 0 })), ("Debian", None)] {
        let mut lock = lock(Path::new(&format!(r"\\wsl.localhost\{distro}{here}")));
        lock["runningInWindows"] = true.into();
        fs::write(locks.join(format!("{}.lock", closed_port())), lock.to_string()).unwrap();
        for profile in [None, Some(profile.clone())] {
            fixture.surroundings.wsl = wsl(profile);
            let found = fixture.only();
            assert_eq!(found.matched, expected);
            let reason = if expected.is_some() { Reason::OnWindows } else { Reason::OtherWorkspace };
            assert_eq!(found.verdict, CandidateVerdict::Not(reason));
        }
        fixture.surroundings.wsl = None;
        assert_eq!(fixture.look().candidates, [], "nobody looks at Windows without one");
        fs::remove_dir_all(&locks).unwrap();
        fs::create_dir_all(&locks).unwrap();
    }
}
