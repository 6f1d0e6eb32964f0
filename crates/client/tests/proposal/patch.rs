//! Random diffs, applied by us, by the real `git apply` and by the real `patch`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use linkspan_client::proposal::{Edit, PatchMode, ProposalError, proposed};
use linkspan_review::unified;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::generate;

fn ours(old: &str, diff: &str, mode: PatchMode) -> Result<String, ProposalError> {
    let edit = Edit::Patch { diff: diff.to_owned(), mode };
    proposed(&edit, Some(old.as_bytes())).map(|proposed| proposed.text().to_owned())
}

proptest! {
    #![proptest_config(generate::cases())]

    #[test]
    fn a_diff_of_two_texts_makes_the_second_of_the_first((old, new) in generate::pair(), context in 1..4_usize) {
        let diff = unified(&old, &new, "a/f", "b/f", context);
        for mode in [PatchMode::Strict, PatchMode::Tolerant, PatchMode::Fuzzy] {
            match ours(&old, &diff, mode) {
                Ok(made) => prop_assert_eq!(&made, &new),
                Err(error) => prop_assert!(diff.is_empty(), "{}\n{}", error, diff),
            }
        }
    }

    /// Moved by more lines than it has, so that its numbers lead nowhere: the same change, or none.
    #[test]
    fn a_diff_for_a_text_that_moved_is_never_applied_elsewhere((old, new) in generate::pair(), above in 40..45_usize) {
        let diff = unified(&old, &new, "a/f", "b/f", 3);
        if diff.is_empty() || old.is_empty() {
            return Ok(());
        }
        let moved = |text: &str| format!("{}{text}", "unlike all others\n".repeat(above));
        match ours(&moved(&old), &diff, PatchMode::Strict) {
            Ok(made) => prop_assert_eq!(made, moved(&new)),
            Err(ProposalError::HunkFitsSeveralPlaces { .. } | ProposalError::HunkDoesNotApply { .. }) => {}
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn no_diff_makes_us_panic(text in generate::text(), diff in "(@@ -[0-9]{1,2}(,[0-9])? \\+1 @@\n|[ +-][ab]?\r?\n|--- x\n|\\+\\+\\+ y\n|\\\\\n|\n|x){0,12}") {
        for mode in [PatchMode::Strict, PatchMode::Fuzzy] {
            let _ = ours(&text, &diff, mode);
        }
    }
}

fn apply(command: &mut Command, folder: &Path, old: &str, diff: &str) -> Option<String> {
    let file = folder.join("f");
    fs::write(&file, old).unwrap();
    fs::write(folder.join("diff"), diff).unwrap();
    let status = command
        .current_dir(folder)
        .stdin(fs::File::open(folder.join("diff")).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    status.success().then(|| fs::read_to_string(file).unwrap())
}

/// A process per case: a number of its own, whatever `PROPTEST_CASES` says. The diff is made for `old` and applied
/// to a text that has moved on above it, so that places have to be found.
fn check(name: &str, program: fn() -> Command) {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let config = ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&(generate::pair(), 0..3_usize), |((old, new), above)| {
        let diff = unified(&old, &new, "a/f", "b/f", 3);
        if diff.is_empty() {
            return Ok(());
        }
        let now = format!("{}{old}", "unlike all others\n".repeat(above));
        if let (Ok(ours), Some(theirs)) =
            (ours(&now, &diff, PatchMode::Strict), apply(&mut program(), &folder, &now, &diff))
        {
            prop_assert_eq!(ours, theirs, "{}", diff);
        }
        Ok(())
    });
    result.unwrap();
}

#[test]
fn git_apply_makes_the_same_text() {
    check("proposal-git", || {
        let mut git = Command::new("git");
        // Not the repository this test happens to run inside.
        git.args(["apply", "--whitespace=nowarn"]).env("GIT_DIR", "/nonexistent");
        git
    });
}

#[test]
fn patch_makes_the_same_text() {
    check("proposal-patch", || {
        let mut patch = Command::new("patch");
        patch.args(["-p1", "--binary", "--silent", "--no-backup-if-mismatch", "--posix", "--fuzz=0"]);
        patch
    });
}
