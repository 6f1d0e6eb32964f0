//! Which tests `cargo xtask test` runs. Every group of tests that it leaves out is printed by name, because a test that
//! did not run must not look like one that passed.

use std::os::unix::fs::MetadataExt;

use crate::workspace::{apt_install, cargo, command, succeeds};

/// The test binaries of the package `linkspan`, in `crates/cli/tests`.
const BINARIES: [&str; 8] = ["agents", "commands", "emacs", "hub", "nvim", "page", "real_agents", "vscode"];

/// Tests that need something that a machine may lack; `testkit/src/prerequisites.rs` has the other end of these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestGroup {
    what: &'static str,
    tests: Tests,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tests {
    /// All of a test binary of the package `linkspan`.
    Binary(&'static str),
    /// All in modules of this name, in any package.
    Module(&'static str),
}

const PAGE: TestGroup = TestGroup { what: "the browser page", tests: Tests::Binary("page") };
const NEOVIM: TestGroup = TestGroup { what: "the plugin in Neovim", tests: Tests::Binary("nvim") };
const EMACS: TestGroup = TestGroup { what: "linkspan.el in Emacs", tests: Tests::Binary("emacs") };
const VSCODE: TestGroup = TestGroup { what: "the extension in VS Code", tests: Tests::Binary("vscode") };
const REAL_AGENTS: TestGroup = TestGroup { what: "real agents", tests: Tests::Binary("real_agents") };
const PYTHON: TestGroup = TestGroup { what: "clients in Python", tests: Tests::Module("with_python") };
const NODE: TestGroup = TestGroup { what: "clients in Node", tests: Tests::Module("with_node") };
const RIPGREP: TestGroup =
    TestGroup { what: "the comparison with ripgrep", tests: Tests::Module("with_ripgrep") };
const FISH: TestGroup = TestGroup { what: "fish reads its completions", tests: Tests::Module("with_fish") };
const ZSH: TestGroup = TestGroup { what: "zsh reads its completions", tests: Tests::Module("with_zsh") };
const GROFF: TestGroup =
    TestGroup { what: "groff reads the manual pages", tests: Tests::Module("with_groff") };
const AS_ROOT: TestGroup =
    TestGroup { what: "full disks and other users, as root only", tests: Tests::Module("as_root") };
const AS_USER: TestGroup =
    TestGroup { what: "files without permission, not as root", tests: Tests::Module("as_user") };

pub(crate) struct Selection {
    pub(crate) left_out: Vec<TestGroup>,
    /// With the tests that `default-filter` in `.config/nextest.toml` leaves out.
    pub(crate) every: bool,
}

impl Selection {
    /// The tests that need nothing but this checkout and the toolchain.
    pub(crate) fn fast() -> Selection {
        let mut left_out =
            vec![PAGE, NEOVIM, EMACS, VSCODE, REAL_AGENTS, PYTHON, NODE, RIPGREP, FISH, ZSH, GROFF];
        left_out.extend(by_rights());
        Selection { left_out, every: false }
    }

    /// All tests for which this machine has what they need.
    pub(crate) fn full(agents: bool, vscode: bool, neovim: bool, emacs: bool, every: bool) -> Selection {
        let mut left_out = Vec::new();
        if !agents {
            left_out.push(REAL_AGENTS);
        }
        if !vscode {
            left_out.push(VSCODE);
        }
        if !neovim {
            left_out.push(NEOVIM);
        }
        if !emacs {
            left_out.push(EMACS);
        }
        let programs = [(FISH, "fish"), (ZSH, "zsh"), (GROFF, "groff")];
        let is_missing = |name: &str| !succeeds(command(name).arg("--version"));
        let missing: Vec<&str> =
            programs.iter().map(|(_, name)| *name).filter(|name| is_missing(name)).collect();
        if !missing.is_empty() {
            apt_install(&missing);
        }
        left_out.extend(programs.into_iter().filter(|(_, name)| is_missing(name)).map(|(group, _)| group));
        left_out.extend(by_rights());
        Selection { left_out, every }
    }

    pub(crate) fn announce(&self) {
        for TestGroup { what, tests } in &self.left_out {
            match tests {
                Tests::Binary(name) => eprintln!("LEFT OUT: {what} (linkspan --test {name})"),
                Tests::Module(name) => eprintln!("LEFT OUT: {what} (tests in modules `{name}`)"),
            }
        }
        if !self.every {
            eprintln!(
                "LEFT OUT: the tests that `default-filter` in .config/nextest.toml names; `cargo xtask test --all` runs them"
            );
        }
    }

    /// The arguments of each `cargo` that runs a part of the selected tests.
    pub(crate) fn commands(&self) -> Vec<Vec<String>> {
        if succeeds(cargo().args(["nextest", "--version"])) { self.with_nextest() } else { self.with_cargo() }
    }

    fn with_nextest(&self) -> Vec<Vec<String>> {
        let mut run = words(&["nextest", "run", "--workspace", "--no-fail-fast"]);
        if self.every {
            run.push("--ignore-default-filter".to_owned());
        }
        let filters: Vec<String> = self.left_out.iter().map(|group| group.tests.filter()).collect();
        if !filters.is_empty() {
            run.extend(["--filterset".to_owned(), format!("not ({})", filters.join(" or "))]);
        }
        // nextest runs no doc tests.
        vec![run, words(&["test", "--workspace", "--doc"])]
    }

    fn with_cargo(&self) -> Vec<Vec<String>> {
        let mut skips = Vec::new();
        let mut binaries = BINARIES.to_vec();
        for group in &self.left_out {
            match group.tests {
                Tests::Binary(name) => binaries.retain(|binary| *binary != name),
                Tests::Module(name) => skips.extend(["--skip".to_owned(), format!("{name}::")]),
            }
        }
        if !self.every {
            skips.extend(words(&[
                "--skip",
                "::oldest::",
                "--skip",
                "bad_input::a_file_of_many_lines",
                "--skip",
                "::v2_1_112",
                "--skip",
                "::v1_0_128",
                "--skip",
                "real_opencode::",
                "--skip",
                "real_codex::",
                "--skip",
                "real_codex_daemon::",
                "--skip",
                "real_copilot::",
            ]));
        }
        let mut others = words(&["test", "--workspace", "--exclude", "linkspan", "--no-fail-fast", "--"]);
        others.extend(skips.clone());
        let mut own = words(&["test", "--package", "linkspan", "--bins", "--no-fail-fast"]);
        own.extend(binaries.iter().flat_map(|binary| words(&["--test", binary])));
        own.push("--".to_owned());
        own.extend(skips);
        vec![others, own]
    }
}

impl Tests {
    fn filter(self) -> String {
        match self {
            Tests::Binary(name) => format!("(package(linkspan) and binary({name}))"),
            Tests::Module(name) => format!("test(/(^|::){name}::/)"),
        }
    }
}

/// What the user of this process has too many or too few rights for.
fn by_rights() -> Option<TestGroup> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    Some(if is_root { AS_USER } else { AS_ROOT })
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_are_left_out_are_named_to_nextest() {
        let selection = Selection { left_out: vec![PAGE, PYTHON], every: false };
        let [run, docs] = selection.with_nextest().try_into().unwrap();
        assert_eq!(
            run[4..6].join(" "),
            "--filterset not ((package(linkspan) and binary(page)) or test(/(^|::)with_python::/))"
        );
        assert_eq!(docs.join(" "), "test --workspace --doc");
    }

    #[test]
    fn without_nextest_whole_binaries_are_not_named_and_modules_are_skipped() {
        let selection = Selection { left_out: vec![PAGE, PYTHON], every: true };
        let [others, own] = selection.with_cargo().try_into().unwrap();
        assert!(others.join(" ").ends_with("-- --skip with_python::"), "{others:?}");
        let own = own.join(" ");
        assert!(own.contains("--test hub ") && !own.contains("--test page"), "{own}");
    }

    #[test]
    fn nothing_is_left_out_without_being_named() {
        let selection = Selection { left_out: Vec::new(), every: true };
        let run = selection.with_nextest().remove(0);
        assert_eq!(run.join(" "), "nextest run --workspace --no-fail-fast --ignore-default-filter");
    }

    #[test]
    fn the_binaries_are_those_that_there_are() {
        let folders = std::fs::read_dir(crate::workspace::root().join("crates/cli/tests")).unwrap();
        let mut names: Vec<String> =
            folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, BINARIES);
    }
}
