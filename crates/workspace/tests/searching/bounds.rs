//! A regular expression that is too large is refused, and a slow one stops soon after it is cancelled.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use linkspan_workspace::{Cancel, SearchFiles, WorkspaceError, search_files};

use crate::tree::Tree;

/// In processor time, of which a busy machine gives it little. Generous, for a build without optimisation.
const SOON: Duration = Duration::from_secs(5);
/// A search that is not over then is not going to end.
const STUCK: Duration = Duration::from_secs(120);

fn expression(query: &str) -> SearchFiles {
    SearchFiles { query: query.into(), regex: true, case_sensitive: true, ..SearchFiles::default() }
}

/// How it ended, and how long it computed after it was cancelled.
#[expect(clippy::expect_used, reason = "a search that goes on fails the test")]
fn cancelled(tree: &Tree, asked: SearchFiles) -> (Result<usize, WorkspaceError>, Duration) {
    let (cancel, workspace) = (Cancel::new(), tree.workspace.clone());
    let (begin, begun) = mpsc::channel();
    let (done, ended) = mpsc::channel();
    let theirs = cancel.clone();
    // Not joined: a search that does not stop would block the test that detects it.
    thread::spawn(move || {
        let own: PathBuf = Path::new("/proc").join(fs::read_link("/proc/thread-self").unwrap());
        begin.send(own.clone()).unwrap();
        let found = search_files(&workspace, &asked, &theirs);
        done.send((found.map(|found| found.matches.len()), processor_time(&own))).ok();
    });
    let searching = begun.recv().unwrap();
    thread::sleep(Duration::from_millis(300));
    let before = processor_time(&searching);
    cancel.cancel();
    let (found, total) = ended.recv_timeout(STUCK).expect("it ends");
    (found, total.saturating_sub(before))
}

/// Of a thread, by its folder in `/proc`; none once it has ended.
fn processor_time(thread: &Path) -> Duration {
    let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
    // Its name in parentheses is the second field; user and system time are fields 14 and 15, in hundredths of a second.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11).take(2);
    Duration::from_millis(fields.map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum())
}

/// Letters without a pattern, so that a search enters a new state at each of them.
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
fn a_slow_expression_stops_when_it_is_cancelled() {
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
