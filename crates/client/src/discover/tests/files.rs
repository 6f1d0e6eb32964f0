//! Lock files and their folders: foreign, broken, trapped, left behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::fixture::*;
use crate::discover::*;

const SOMEBODY_ELSE: u32 = 65_533;

/// Tests that need the rights of root: only root can give files to other users.
mod as_root {
    use super::*;

    fn give_away(path: &Path) {
        chown(path, Some(SOMEBODY_ELSE), None).expect("only root can give files away: run this test as root");
    }

    #[test]
    fn another_users_lock_file_is_not_trusted() {
        let fixture = DiscoveryFixture::new();
        let editor = OtherEditor::new(EditorBehaviour::Refusing);
        give_away(&fixture.lock(editor.port, &fixture.surroundings.cwd));
        assert_eq!(fixture.refused(), Reason::OtherOwner { uid: SOMEBODY_ELSE });
        assert_eq!(editor.visits(), 0);
    }

    #[test]
    fn another_users_directory_is_not_trusted() {
        let fixture = DiscoveryFixture::new();
        fixture.lock(closed_port(), &fixture.surroundings.cwd);
        give_away(&fixture.lock_folder("claude"));
        let found = fixture.look();
        assert_eq!(found.candidates, []);
        let of_another = LookupResult::OtherOwner { uid: SOMEBODY_ELSE };
        assert!(found.looked_in.iter().any(|place| place.found == of_another));
    }
}

#[test]
fn every_place_that_was_looked_at_is_told() {
    let fixture = DiscoveryFixture::new();
    fixture.lock(closed_port(), &fixture.surroundings.cwd);
    let home = &fixture.surroundings.places.home;
    let looked = |place, found| LookedIn { place, found };
    let expected = [
        looked(home.join("run/hub.sock"), LookupResult::Nothing),
        looked(home.join(".claude/ide"), LookupResult::LockFiles { count: 1 }),
        looked(home.join(".nexus3/ide"), LookupResult::Nothing),
        looked(fixture.root.join("t/gemini/ide"), LookupResult::Nothing),
        looked(home.join(".qwen/ide"), LookupResult::Nothing),
        looked(home.join(".clio/ide"), LookupResult::Nothing),
    ];
    assert_eq!(fixture.look().looked_in, expected);
}

#[test]
fn the_agents_own_variable_moves_the_place() {
    let mut fixture = DiscoveryFixture::new();
    fixture.lock(closed_port(), &fixture.surroundings.cwd);
    let elsewhere = fixture.folder("second/ide");
    fixture.set("CLAUDE_CONFIG_DIR", fixture.root.join("second"));
    let found = fixture.look();
    assert_eq!(found.candidates, []);
    assert!(found.looked_in.iter().any(|looked| looked.place == elsewhere));
    fixture.set("CLAUDE_CONFIG_DIR", "relative");
    fixture.only();
}

#[test]
fn a_directory_that_cannot_be_read_is_told() {
    let fixture = DiscoveryFixture::new();
    let folder = fixture.lock_folder("claude");
    fs::remove_dir(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    let failed = |message: &str| {
        let seen = fixture.look().looked_in.into_iter().map(|looked| looked.found);
        seen.filter(|seen| matches!(seen, LookupResult::Failed(text) if text.contains(message))).count()
    };
    assert_eq!(failed("not a directory"), 1);
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o000)).unwrap();
    // Root reads everything.
    let may_read = fs::read_dir(&folder).is_ok();
    assert_eq!(failed("permission denied"), usize::from(!may_read));
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn garbage_is_malformed_and_other_names_are_none_of_ours() {
    let fixture = DiscoveryFixture::new();
    let folder = fixture.lock_folder("claude");
    for name in ["notes.txt", "0.lock", "99999.lock", "x.lock", ".lock"] {
        fs::write(folder.join(name), "{}").unwrap();
    }
    assert_eq!(fixture.look().candidates, []);
    let huge = format!("{{\"ideName\":\"{}\"}}", "x".repeat(100_000));
    for contents in [&b""[..], b"\xff\xff\xff", b"[1,2]", b"{\"pid\":", huge.as_bytes()] {
        fixture.file("claude", 4711, contents);
        assert!(matches!(fixture.refused(), Reason::Malformed(_)));
    }
}

#[test]
fn links_pipes_and_folders_in_place_of_a_lock_file_are_not_read() {
    let fixture = DiscoveryFixture::new();
    let folder = fixture.lock_folder("claude");
    let target = fixture.root.join("target");
    fs::write(&target, lock(&fixture.surroundings.cwd).to_string()).unwrap();
    let path = folder.join("4711.lock");

    symlink(&target, &path).unwrap();
    assert!(matches!(fixture.refused(), Reason::Unreadable(why) if why.contains("symbolic link")));
    fs::remove_file(&path).unwrap();

    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert!(matches!(fixture.refused(), Reason::Unreadable(why) if why.contains("regular file")));
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    assert!(matches!(fixture.refused(), Reason::Unreadable(why) if why.contains("regular file")));
}

#[test]
fn a_thousand_stale_files_hide_nothing_and_none_is_touched() {
    let fixture = DiscoveryFixture::new();
    let elsewhere = fixture.folder("elsewhere");
    let editor = OtherEditor::new(EditorBehaviour::Refusing);
    fixture.lock(editor.port, &fixture.surroundings.cwd);
    // Below the ports that the system gives out, so that nobody listens there by chance.
    let ports = (1..).filter(|port| *port != editor.port).take(1000);
    for (index, port) in ports.enumerate() {
        fixture.lock(port, if index % 2 == 0 { &fixture.surroundings.cwd } else { &elsewhere });
    }
    let found = fixture.look();
    assert_eq!(found.candidates.len(), 1001);
    assert_eq!(found.best().unwrap().wire.port(), editor.port);
    let count = |reason: &Reason| {
        found.candidates.iter().filter(|found| found.verdict == CandidateVerdict::Not(reason.clone())).count()
    };
    assert_eq!(count(&Reason::OtherWorkspace), 500);
    // A program of this machine may have one of the ports.
    assert!(count(&Reason::NothingListens) > 450);
    assert_eq!(found.removed, Vec::<PathBuf>::new());
    assert_eq!(fs::read_dir(fixture.lock_folder("claude")).unwrap().count(), 1001);
}

#[test]
fn a_file_that_our_hub_left_behind_is_removed_wherever_it_points() {
    let fixture = DiscoveryFixture::new();
    let ours = [
        fixture.file("claude", closed_port(), lock_of_ours(&fixture.surroundings.cwd).to_string()),
        fixture.file("nexus3", closed_port(), lock_of_ours(&fixture.folder("elsewhere")).to_string()),
    ];
    let theirs = fixture.lock(closed_port(), &fixture.surroundings.cwd);
    let found = fixture.look();
    assert_eq!(found.removed, ours);
    assert!(ours.iter().all(|path| !path.exists()));
    assert!(theirs.exists());
    assert_eq!(found.candidates.len(), 1);
}

#[test]
fn what_is_not_surely_ours_and_dead_is_never_removed() {
    let fixture = DiscoveryFixture::new();
    let cwd = fixture.surroundings.cwd.clone();
    let elsewhere = {
        let mut lock = lock_of_ours(&cwd);
        lock["linkspan"] = "another-start-of-the-machine net:[1]".into();
        lock
    };
    let odd = {
        let mut lock = lock(&cwd);
        lock["linkspan"] = true.into();
        lock
    };
    let files = [
        fixture.file("claude", closed_port(), elsewhere.to_string()),
        fixture.file("claude", closed_port(), odd.to_string()),
        fixture.file(
            "claude",
            OtherEditor::new(EditorBehaviour::Refusing).port,
            lock_of_ours(&cwd).to_string(),
        ),
        fixture.file(
            "claude",
            OtherEditor::new(EditorBehaviour::Silent).port,
            lock_of_ours(&cwd).to_string(),
        ),
        fixture.file(
            "claude",
            OtherEditor::new(EditorBehaviour::NotHttp).port,
            lock_of_ours(&cwd).to_string(),
        ),
        fixture.file("claude", closed_port(), "{\"linkspan\":"),
    ];
    assert_eq!(fixture.look().removed, Vec::<PathBuf>::new());
    assert!(files.iter().all(|path| path.exists()));
}
