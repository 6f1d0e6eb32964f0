//! 50,000 files with ignore files, hidden and binary files, links and repositories inside.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use linkspan_workspace::{ListFiles, SearchFiles};

use crate::tree::Tree;

const FILES: usize = 50_000;
const TEXTS: usize = 11 * 101;

/// `xtask/src/selection.rs` leaves out the tests in modules of this name where there is no ripgrep.
mod with_ripgrep {
    use super::*;

    #[test]
    fn answers_are_those_of_rg_and_git_on_50_000_files() {
        let rg = rg();
        let tree = large();
        assert_listed_like_git(&tree);
        assert_listed_like_rg(&tree, &rg);
        assert_found_like_rg(&tree, &rg);
    }
}

fn rg() -> String {
    let rg = std::env::var("LINKSPAN_TEST_RG").unwrap_or_else(|_| "rg".into());
    assert!(
        Command::new(&rg).arg("--version").output().is_ok(),
        "missing: ripgrep. `cargo xtask peers` installs it; LINKSPAN_TEST_RG may name another `rg`; `cargo xtask test --fast` \
         leaves this test out"
    );
    rg
}

fn large() -> Tree {
    let tree = Tree::new(&[
        (".gitignore", "*.log\nnode_modules/\n/only-here\n"),
        ("only-here", "ignored\n"),
        ("deep/only-here", "not ignored needle\n"),
        ("node_modules/x/index.js", "needle\n"),
        ("nested/.gitignore", "*.txt\n"),
        ("nested/ignored.txt", "needle\n"),
        ("nested/seen.rs", "needle\n"),
        ("nested/a.log", "needle: outside of the outer repository's rules\n"),
        ("names/with space ünï.txt", "needle\n"),
    ]);
    tree.run("git", &["init", "--quiet"]);
    tree.run("git", &["init", "--quiet", "nested"]);
    tree.write(
        "utf16.txt",
        &"\u{feff}a needle\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
    );
    tree.write("latin1.txt", b"caf\xe9 needle\n");
    std::os::unix::fs::symlink("deep", tree.root.join("link")).unwrap();
    std::os::unix::fs::symlink("utf16.txt", tree.root.join("link.txt")).unwrap();
    let mut texts = Vec::new();
    for index in 0..FILES {
        let folder = format!("d{}/e{}", index % 50, index / 50 % 20);
        if index < 1000 {
            fs::create_dir_all(tree.root.join(&folder)).unwrap();
            if index % 13 == 0 {
                fs::write(tree.root.join(&folder).join(".gitignore"), "*.tmp\n!keep*.tmp\n/build\n").unwrap();
            }
        }
        let name = match index {
            _ if index % 97 == 0 => format!(".hidden{index}.txt"),
            _ if index % 89 == 0 => format!("f{index}.log"),
            _ if index % 83 == 0 => format!("f{index}.tmp"),
            _ if index % 79 == 0 => format!("keep{index}.tmp"),
            _ => format!("f{index}.{}", ["rs", "py", "md", "txt"][index % 4]),
        };
        let path = tree.root.join(folder).join(name);
        // The same texts again are links to the first, because so many files take a disk long to make.
        match texts.get(index % TEXTS) {
            Some(first) => fs::hard_link(first, path).unwrap(),
            None => {
                fs::write(&path, text(index)).unwrap();
                texts.push(path);
            }
        }
    }
    tree
}

fn text(index: usize) -> String {
    match index {
        _ if index.is_multiple_of(101) => "needle\0binary\n".to_owned(),
        _ if index.is_multiple_of(11) => {
            format!("first\nfn needle_{index}() {{}}\nthe Needle {index}\r\nlast")
        }
        _ => format!("fn other_{index}() {{\n    call({index});\n}}\n"),
    }
}

fn lines(output: &[u8]) -> BTreeSet<String> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8(name.to_vec()).unwrap()).collect()
}

fn everything() -> ListFiles {
    ListFiles { limit: ListFiles::MOST, ..ListFiles::default() }
}

fn assert_listed_like_git(tree: &Tree) {
    let args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    // Git names a repository inside by its folder, and links as files.
    let gits = lines(&tree.run("git", &args));
    let gits = gits.into_iter().filter(|path| !path.starts_with("nested/") && !path.starts_with("link"));
    let ours = tree.list(&everything()).paths.into_iter().filter(|path| !path.starts_with("nested/"));
    assert_same(ours.collect(), gits.collect());
}

fn assert_listed_like_rg(tree: &Tree, rg: &str) {
    let plain = ["--files", "--hidden", "--null", "--glob", "!.git"];
    let theirs = |more: &[&str]| lines(&tree.run(rg, &[&plain, more].concat()));
    let list = |asked: ListFiles| {
        let files = tree.list(&asked);
        assert!(!files.truncated && files.paths.is_sorted());
        files.paths.into_iter().collect::<BTreeSet<String>>()
    };
    assert_same(list(everything()), theirs(&[]));
    assert_same(list(ListFiles { ignored: true, ..everything() }), theirs(&["--no-ignore"]));
    let asked = ListFiles {
        pattern: Some("**/*.{py,md}".into()),
        exclude: Some("**/e1{0,1}".into()),
        ..everything()
    };
    assert_same(list(asked), theirs(&["--glob", "*.{py,md}", "--glob", "!e1{0,1}"]));
    let here = ListFiles { pattern: Some("*.txt".into()), ..everything() };
    assert_same(list(here), theirs(&["--max-depth", "1", "--glob", "*.txt"]));
}

fn assert_found_like_rg(tree: &Tree, rg: &str) {
    let asked =
        |query: &str| SearchFiles { query: query.into(), limit: SearchFiles::MOST, ..SearchFiles::default() };
    // Only the first opens all files; the others would tell no more by it.
    let few = |query: &str| SearchFiles { pattern: Some("d7/**".into()), ..asked(query) };
    let few_too = ["d7"];
    let cases: [(SearchFiles, &[&str]); 6] = [
        (asked("needle"), &["--ignore-case", "--fixed-strings", "needle"]),
        (SearchFiles { regex: true, case_sensitive: true, ..few(r"needle_\d+7\(") }, &[r"needle_\d+7\("]),
        (SearchFiles { case_sensitive: true, ..few("Needle") }, &["--fixed-strings", "Needle"]),
        (SearchFiles { whole_word: true, ..few("NEEDLE") }, &["-i", "-w", "NEEDLE"]),
        (SearchFiles { ignored: true, whole_word: true, ..few("needle") }, &["--no-ignore", "-iw", "needle"]),
        (SearchFiles { case_sensitive: true, ..few("call(4") }, &["--fixed-strings", "call(4"]),
    ];
    for (asked, args) in cases {
        let found = tree.search(&asked);
        assert!(!found.truncated && !found.matches.is_empty(), "{asked:?}");
        let ours: BTreeSet<String> = found
            .matches
            .iter()
            .map(|found| format!("{}\0{}:{}", found.path, found.line, found.text))
            .collect();
        let plain = ["--line-number", "--hidden", "--null", "--no-heading", "--glob", "!.git"];
        let where_too: &[&str] = if asked.pattern.is_some() { &few_too } else { &[] };
        let output = tree.run(rg, &[&plain, args, where_too].concat());
        let theirs: BTreeSet<String> = String::from_utf8_lossy(&output).lines().map(str::to_owned).collect();
        assert_eq!(found.matches.len(), ours.len(), "a line twice");
        assert_same(ours, theirs);
        let files: BTreeSet<&str> = found.matches.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(found.files, files.len());
    }
}

#[track_caller]
fn assert_same(ours: BTreeSet<String>, theirs: BTreeSet<String>) {
    assert!(!theirs.is_empty(), "nothing to compare with");
    let differ: Vec<&String> = ours.symmetric_difference(&theirs).take(5).collect();
    assert!(differ.is_empty(), "{} and {} of them; {differ:?} …", ours.len(), theirs.len());
}
