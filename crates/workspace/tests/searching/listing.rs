//! Which files are listed, and their names.

use linkspan_workspace::{Cancel, FileList, ListFiles, SearchFiles, Workspace, WorkspaceError, list_files};
use proptest::prelude::*;

use crate::tree::Tree;

#[test]
fn hidden_files_are_listed_and_git_and_links_are_not() {
    let tree = Tree::new(&[(".env", ""), (".git/config", ""), ("sub/.git", "gitdir: x"), ("sub/a", "")]);
    std::os::unix::fs::symlink("/etc", tree.root.join("etc")).unwrap();
    let with_ignored = ListFiles { ignored: true, ..ListFiles::default() };
    assert_eq!(tree.list(&ListFiles::default()).paths, [".env", "sub/a"]);
    assert_eq!(tree.list(&with_ignored).paths, [".env", "sub/a"]);
}

#[test]
fn patterns_are_relative_to_the_folder_as_in_vs_code() {
    let tree = Tree::new(&[("a.py", ""), ("src/b.py", ""), ("src/deep/c.py", ""), ("src/d.rs", "")]);
    assert_eq!(tree.matching("*.py"), ["a.py"]);
    assert_eq!(tree.matching("**/*.py"), ["a.py", "src/b.py", "src/deep/c.py"]);
    assert_eq!(tree.matching("src/*.{py,rs}"), ["src/b.py", "src/d.rs"]);
    let without = ListFiles { exclude: Some("**/deep".into()), ..ListFiles::default() };
    assert_eq!(tree.list(&without).paths, ["a.py", "src/b.py", "src/d.rs"]);
}

#[test]
fn denied_files_and_folders_are_never_listed() {
    let files = [(".env", ""), ("a/.ENV", ""), ("keys/one/two", ""), ("a/keys", ""), ("open", "")];
    let tree = Tree::new(&files).denying(&[".env", "keys/"]);
    assert_eq!(tree.list(&ListFiles { ignored: true, ..ListFiles::default() }).paths, ["a/keys", "open"]);
}

#[test]
fn private_files_are_neither_listed_nor_searched() {
    let files = [("own/deep/key", "x"), ("clients.toml", "x"), ("own2", "x"), ("open/clients.toml", "x")];
    let mut tree = Tree::new(&files);
    tree.workspace.kept = ["own", "clients.toml"].map(|place| tree.root.join(place)).into();
    let asked = SearchFiles { query: "x".into(), ..SearchFiles::default() };
    let found: Vec<String> = tree.search(&asked).matches.into_iter().map(|found| found.path).collect();
    assert_eq!(found, ["open/clients.toml", "own2"]);
    assert_eq!(tree.list(&ListFiles::default()).paths, found);
    assert!(tree.open(&["own/deep"]).list(&ListFiles::default()).paths.is_empty());
}

#[test]
fn with_several_folders_their_names_are_prefixes_and_each_file_is_listed_once() {
    let tree = Tree::new(&[("one/a", ""), ("two/b", ""), ("two/three/c", "")]).open(&[
        "one",
        "two",
        "two/three",
        "one",
    ]);
    assert_eq!(tree.list(&ListFiles::default()).paths, ["one/a", "three/c", "two/b"]);
    assert_eq!(tree.matching("*"), ["one/a", "three/c", "two/b"]);
}

#[test]
fn a_deny_glob_is_relative_to_each_folder_that_contains_the_file() {
    let tree = Tree::new(&[("one/two/secret", ""), ("one/two/open", "")]).denying(&["two/secret"]);
    assert_eq!(tree.open(&["one/two", "one"]).list(&ListFiles::default()).paths, ["two/open"]);
}

#[test]
fn a_limit_that_is_reached_is_not_yet_exceeded() {
    let tree = Tree::new(&[("a", ""), ("b", ""), ("c", "")]);
    let limited = |limit| tree.list(&ListFiles { limit, ..ListFiles::default() });
    assert!(!limited(3).truncated);
    let FileList { paths, truncated } = limited(2);
    assert!(truncated && paths.len() == 2);
}

#[test]
fn a_listing_error_says_what_is_wrong() {
    let tree = Tree::new(&[]);
    let ask = |workspace: &Workspace, pattern: &str, cancel: &Cancel| {
        let asked = ListFiles { pattern: Some(pattern.into()), ..ListFiles::default() };
        list_files(workspace, &asked, cancel).unwrap_err()
    };
    let cancelled = Cancel::new();
    cancelled.cancel();
    assert!(matches!(ask(&tree.workspace, "**", &cancelled), WorkspaceError::Cancelled));
    assert!(matches!(ask(&tree.workspace, "[a", &Cancel::new()), WorkspaceError::BadGlob { .. }));
    let nothing = Workspace { folders: Vec::new(), ..tree.workspace.clone() };
    assert!(matches!(ask(&nothing, "**", &Cancel::new()), WorkspaceError::NoFolder));
    let gone = Tree::new(&[]).open(&["gone"]);
    let error = ask(&gone.workspace, "**", &Cancel::new()).to_string();
    assert!(error.contains("gone"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_denied_file_is_ever_listed(
        paths in proptest::collection::btree_set("[ab]{1,2}(/[ab]{1,2}){0,3}", 1..12),
        globs in proptest::collection::vec("(\\*\\*/|/)?[ab*]{1,2}(/[ab*]{1,2})?/?", 0..3),
    ) {
        let tree = Tree::new(&[]);
        for path in &paths {
            let file = tree.root.join(path);
            // Of two paths, one may be a folder on the way to the other.
            let _ = std::fs::create_dir_all(file.parent().unwrap()).and_then(|()| std::fs::write(file, ""));
        }
        let all = tree.list(&ListFiles::default()).paths;
        let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
        let tree = tree.denying(&globs);
        let Workspace { folders, deny, .. } = &tree.workspace;
        let allowed: Vec<String> =
            all.into_iter().filter(|path| !deny.denies(folders, &tree.root.join(path))).collect();
        prop_assert_eq!(tree.list(&ListFiles::default()).paths, allowed);
    }
}
