//! Our unified diffs, applied by the real `patch` and the real `git apply`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use linkspan_review::unified;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::generate;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn apply(command: &mut Command, folder: &Path, old: &str, diff: &str) -> String {
    let file = folder.join("file name.txt");
    fs::write(&file, old).unwrap();
    fs::write(folder.join("diff"), diff).unwrap();
    let output = command
        .current_dir(folder)
        .stdin(fs::File::open(folder.join("diff")).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}\n{old:?}\n{diff}");
    fs::read_to_string(file).unwrap()
}

fn git() -> Command {
    let mut git = Command::new("git");
    // Not the repository this test happens to run inside.
    git.args(["apply", "--whitespace=nowarn"]).env("GIT_DIR", "/nonexistent");
    git
}

fn patch() -> Command {
    let mut patch = Command::new("patch");
    patch.args(["-p1", "--binary", "--silent", "--no-backup-if-mismatch", "--posix"]);
    patch
}

/// A process per case: a number of its own, whatever `PROPTEST_CASES` says.
fn check(name: &str, contexts: std::ops::Range<usize>, program: fn() -> Command) {
    let folder = folder(name);
    let config = ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&(generate::pair(), contexts), |((old, new), context)| {
        let diff = unified(&old, &new, "a/file name.txt", "b/file name.txt", context);
        prop_assert_eq!(diff.is_empty(), old == new);
        if !diff.is_empty() {
            prop_assert_eq!(apply(&mut program(), &folder, &old, &diff), new);
        }
        Ok(())
    });
    result.unwrap();
}

/// With at least one line of context: without any, git accepts the first line that looks like the last one, newline or
/// not, in its own diffs too.
#[test]
fn git_apply_makes_the_new_text() {
    check("git", 1..4, git);
}

#[test]
fn patch_makes_the_new_text() {
    check("patch", 1..4, patch);
}
