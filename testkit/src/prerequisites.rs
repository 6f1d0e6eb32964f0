//! Programs and rights that some tests need and a machine may lack.
//!
//! A test without its prerequisite fails and says how to get it; it never passes without having run. All such tests are
//! in the binaries `emacs`, `nvim`, `page`, `vscode` and `real_agents`, or in modules named `with_…`, `as_root` and `as_user`:
//! `xtask/src/selection.rs` leaves them out by these names.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::paths;

/// A Python that has `websockets` and `httpx`.
#[track_caller]
pub fn python() -> PathBuf {
    in_tools(
        "LINKSPAN_TEST_PYTHON",
        "venv/bin/python",
        "a Python with `websockets` and `httpx`",
        "cargo xtask peers",
    )
}

/// A folder whose `node_modules` has the packages in `xtask/src/peers.rs`.
#[track_caller]
pub fn node_modules() -> PathBuf {
    in_tools("LINKSPAN_TEST_NODE_MODULES", "node", "a folder with the npm packages", "cargo xtask peers")
}

/// A folder with the VS Codes and the extension in them.
#[track_caller]
pub fn vscode() -> PathBuf {
    in_tools("LINKSPAN_TEST_VSCODE", "vscode", "the VS Codes", "cargo xtask vscode")
}

/// A folder with the Neovims.
#[track_caller]
pub fn neovim() -> PathBuf {
    in_tools("LINKSPAN_TEST_NEOVIM", "neovim", "the Neovims", "cargo xtask neovim")
}

/// A folder with the Emacs.
#[track_caller]
pub fn emacs() -> PathBuf {
    in_tools("LINKSPAN_TEST_EMACS", "emacs", "Emacs", "cargo xtask emacs")
}

/// A folder with one folder for each agent and version.
#[track_caller]
pub fn agents() -> PathBuf {
    in_tools("LINKSPAN_TEST_AGENTS", "agents", "the real agents", "cargo xtask agents --all")
}

/// A Chromium.
#[track_caller]
pub fn browser() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let on_path = || names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = named_by("LINKSPAN_TEST_BROWSER").or_else(|| on_path().find(|file| file.is_file()));
    found.unwrap_or_else(|| missing("LINKSPAN_TEST_BROWSER", "Chromium", "cargo xtask peers"))
}

/// A program of the machine, which one of its packages has.
#[track_caller]
pub fn program(name: &str) -> Command {
    let runs = Command::new(name).arg("--version").stdin(Stdio::null()).output().is_ok();
    assert!(
        runs,
        "missing: the program `{name}`. Install it, or leave this test out: `cargo xtask test --fast` does"
    );
    Command::new(name)
}

/// The right to mount a disk and to become another user.
#[track_caller]
pub fn root() {
    assert!(
        rustix::process::geteuid().is_root(),
        "missing: the rights of root. Run the tests as root, or leave out those in modules `as_root`, as `cargo xtask test` does"
    );
}

/// No right to read every file.
#[track_caller]
pub fn unprivileged_user() {
    assert!(
        !rustix::process::geteuid().is_root(),
        "root can read every file. Run the tests as another user, or leave out those in modules `as_user`, as `cargo xtask \
         test` does"
    );
}

#[track_caller]
fn in_tools(variable: &str, name: &str, what: &str, command: &str) -> PathBuf {
    let found = named_by(variable).or_else(|| Some(paths::tools()?.join(name)).filter(|path| path.exists()));
    found.unwrap_or_else(|| missing(variable, what, command))
}

fn named_by(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from)
}

#[track_caller]
fn missing(variable: &str, what: &str, command: &str) -> ! {
    panic!(
        "missing: {what}. `{command}` installs it; {variable} may name another; `cargo xtask test --fast` leaves out the \
         tests that need it"
    )
}
