//! A regular expression that is too much is refused, and one that is slow stops soon after nobody wants its answer.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_workspace::{Cancel, SearchFiles, WorkspaceError, search_files};

use crate::tree::Tree;

/// A busy machine included.
const SOON: Duration = Duration::from_secs(5);

fn expression(query: &str) -> SearchFiles {
    SearchFiles { query: query.into(), regex: true, case_sensitive: true, ..SearchFiles::default() }
}

/// How it ended, and how long after it was cancelled.
#[expect(clippy::expect_used, reason = "a search that goes on fails the test")]
fn cancelled(tree: &Tree, asked: SearchFiles) -> (Result<usize, WorkspaceError>, Duration) {
    let (cancel, workspace) = (Cancel::new(), tree.workspace.clone());
    let (done, ended) = mpsc::channel();
    let theirs = cancel.clone();
    // Not joined: a search that does not stop would hold up the test that finds it out.
    thread::spawn(move || {
        let found = search_files(&workspace, &asked, &theirs);
        done.send(found.map(|found| found.matches.len())).ok();
    });
    thread::sleep(Duration::from_millis(300));
    cancel.cancel();
    let since = Instant::now();
    (ended.recv_timeout(SOON).expect("it ends soon"), since.elapsed())
}

/// Letters without a pattern, so that a search meets another state at each of them.
fn noise(length: usize, other: u8) -> String {
    let mut state = 1_u64;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 54 {
            0..8 => other,
            8..16 => b'd',
            letter => b"abc"[(letter % 3) as usize],
        }
    });
    String::from_utf8(letters.take(length).collect()).unwrap()
}

#[test]
fn an_expression_that_is_too_large_is_refused_at_once() {
    let tree = Tree::new(&[("a.txt", &"a".repeat(100_000))]);
    for query in ["(?:a?){100000}a{100000}", r"\w{1000}{1000}", "(?:a{1000}){1000}b", "(a?){60000}"] {
        let (ended, _) = cancelled(&tree, expression(query));
        let Err(WorkspaceError::BadQuery { reason, .. }) = ended else { panic!("{query}: {ended:?}") };
        assert!(reason.contains("too large"), "{query}: {reason}");
    }
}

#[test]
fn a_slow_expression_stops_when_its_answer_is_not_wanted_any_more() {
    let (lines, one_line) = (noise(1 << 22, b'\n'), noise(1 << 22, b' '));
    for (query, text) in [
        ("(?:a?b?c?){3000}[abc]{3000}z", &lines),
        ("(?:a?b?c?){300}[abc]{300}d", &one_line),
        ("(?:[abc ]?d?){200}[a-d ]*a[a-d ]{500}d$", &one_line),
        (r"(?:\w?){30}[a-d ]*a[a-d ]{200}d.{30}$", &one_line),
        ("[a-d ]*a[a-d ]{1000}d", &one_line),
    ] {
        let tree = Tree::new(&[("a.txt", text)]);
        let (ended, after) = cancelled(&tree, expression(query));
        match ended {
            Err(WorkspaceError::Cancelled | WorkspaceError::BadQuery { .. }) | Ok(_) => {}
            Err(other) => panic!("{query}: {other}"),
        }
        assert!(after < SOON, "{query}: {after:?}");
    }
}

#[test]
fn common_expressions_are_found_in_long_lines_too() {
    let long = format!("{}fn needle(x) {}\n", "let a = 1; ".repeat(100_000), "é 7.5 ".repeat(1000));
    let tree = Tree::new(&[("long.js", &long), ("short.js", "fn needle(x) 7.5\n")]);
    for query in [r"\bfn\s+(\w+)\s*\(", r"(?i)NEEDLE\(.\)", r"\p{Ll}+\(x\)", r"\d+\.\d+", r"needle|other"] {
        let found = tree.search(&expression(query));
        assert_eq!((found.matches.len(), found.truncated), (2, false), "{query}");
    }
}
