//! Which lines are found, and the facts about each.

use linkspan_workspace::{Cancel, Match, SearchFiles, WorkspaceError, search_files};

use crate::tree::Tree;

fn query(text: &str) -> SearchFiles {
    SearchFiles { query: text.into(), ..SearchFiles::default() }
}

#[test]
fn a_match_has_line_column_and_text() {
    let tree = Tree::new(&[("a.txt", "nothing\né😀 Needle, needle\r\n")]);
    let found = tree.search(&query("needle"));
    let [one] = found.matches.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (one.path.as_str(), one.line, one.column, one.text.as_str()),
        ("a.txt", 2, 4, "é😀 Needle, needle")
    );
    assert_eq!((found.files, found.truncated), (1, false));
}

#[test]
fn context_lines_are_returned_even_if_they_match_too() {
    let tree = Tree::new(&[("a.txt", "1\n2\nx3\nx4\n5\n6\n7\n8\nx9\n")]);
    let found = tree.search(&SearchFiles { context: 2, ..query("x") });
    let around: Vec<(u32, String, String)> =
        found.matches.iter().map(|one| (one.line, one.before.join(" "), one.after.join(" "))).collect();
    let expected = [(3, "1 2", "x4 5"), (4, "2 x3", "5 6"), (9, "7 8", "")];
    assert_eq!(around, expected.map(|(line, before, after)| (line, before.to_owned(), after.to_owned())));
}

#[test]
fn a_query_is_a_plain_text_unless_requested_otherwise() {
    let tree = Tree::new(&[("a.txt", "a.c\nabc\n")]);
    assert_eq!(tree.search(&query("a.c")).matches.len(), 1);
    assert_eq!(tree.search(&SearchFiles { regex: true, ..query("a.c") }).matches.len(), 2);
}

#[test]
fn case_and_whole_words_matter_on_demand() {
    let tree = Tree::new(&[("a.txt", "Word\nword\nwords\n")]);
    assert_eq!(tree.search(&query("WORD")).matches.len(), 3);
    assert_eq!(tree.search(&SearchFiles { case_sensitive: true, ..query("word") }).matches.len(), 2);
    assert_eq!(tree.search(&SearchFiles { whole_word: true, ..query("word") }).matches.len(), 2);
}

#[test]
fn denied_ignored_and_excluded_files_are_not_searched() {
    let files =
        [("open", "x"), (".env", "x"), ("skipped/a", "x"), (".ignore", "ignored\n"), ("ignored", "x")];
    let tree = Tree::new(&files).denying(&[".env"]);
    let asked = SearchFiles { exclude: Some("skipped".into()), ..query("x") };
    let paths = |asked: &SearchFiles| {
        tree.search(asked).matches.into_iter().map(|one| one.path).collect::<Vec<String>>()
    };
    assert_eq!(paths(&asked), ["open"]);
    assert_eq!(paths(&SearchFiles { ignored: true, ..asked }), ["ignored", "open"]);
    assert_eq!(paths(&SearchFiles { pattern: Some("skipped/*".into()), ..query("x") }), ["skipped/a"]);
}

#[test]
fn invalid_utf_8_is_replaced_and_binary_files_are_skipped() {
    let tree = Tree::new(&[]);
    tree.write("latin1.txt", b"caf\xe9 needle\n");
    tree.write("binary", b"needle\0");
    let found = tree.search(&query("needle"));
    assert_eq!(found.matches.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["caf\u{fffd} needle"]);
    assert_eq!(found.matches.first().map(|one| one.column), Some(5));
}

#[test]
fn long_lines_are_cut_and_huge_files_skipped() {
    let tree = Tree::new(&[("long.txt", &format!("{}needle", "é".repeat(1000)))]);
    tree.write("huge.txt", b"needle\n");
    let huge = std::fs::File::options().append(true).open(tree.root.join("huge.txt")).unwrap();
    huge.set_len(50 * 1024 * 1024 + 1).unwrap();
    let found = tree.search(&query("needle"));
    let [one] = found.matches.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.path.as_str(), one.column, one.text.chars().count()), ("long.txt", 1000, 500));
}

#[test]
fn a_limit_that_is_reached_is_not_yet_exceeded() {
    let tree = Tree::new(&[("a", "x\nx\n"), ("b", "x\n")]);
    assert!(!tree.search(&SearchFiles { limit: 3, ..query("x") }).truncated);
    let found = tree.search(&SearchFiles { limit: 2, ..query("x") });
    assert!(found.truncated && found.matches.len() == 2);
}

#[test]
fn more_text_than_anyone_reads_is_not_collected() {
    let tree = Tree::new(&[("a", &("x".repeat(500) + "\n").repeat(5000))]);
    let asked = |context| SearchFiles { context, limit: SearchFiles::MOST, ..query("x") };
    assert!(!tree.search(&asked(0)).truncated);
    let found = tree.search(&asked(SearchFiles::MOST_CONTEXT));
    let texts = |one: &Match| {
        let around = one.before.iter().chain(&one.after).map(String::len).sum::<usize>();
        one.path.len() + one.text.len() + around
    };
    let bytes: usize = found.matches.iter().map(texts).sum();
    assert!(found.truncated && (15 << 20..17 << 20).contains(&bytes), "{bytes}");
}

#[test]
fn an_invalid_query_says_what_is_wrong() {
    let tree = Tree::new(&[("a", "x\n")]);
    let cases = [
        ("", false, "it is empty"),
        ("a\nb", false, "one by one"),
        ("(a", true, "unclosed"),
        ("a\\nb", true, "\\n"),
    ];
    for (text, regex, reason) in cases {
        let asked = SearchFiles { regex, ..query(text) };
        let error = search_files(&tree.workspace, &asked, &Cancel::new()).unwrap_err();
        assert!(matches!(error, WorkspaceError::BadQuery { .. }), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}
