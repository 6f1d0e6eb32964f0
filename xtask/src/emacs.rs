//! `cargo xtask emacs`: checks `linkspan.el` as Emacs' own tools do, and installs Emacs with apt: into the system where we
//! may, else unpacked in `target/tools/emacs`. A script `run` there starts it; it is written last, so a folder with one is
//! complete.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::debian::{self, HOST};
use crate::workspace::{apt_install, command, host, root, run as run_command, succeeds, tools};

pub(crate) const VARIABLE: &str = "LINKSPAN_TEST_EMACS";

/// Where Debian puts packages of Emacs, each in a folder with its version.
const LISP: &str = "/usr/share/emacs/site-lisp/elpa-src";
/// The suite whose Emacs is unpacked.
const SUITE: &str = "trixie";

pub(crate) fn run(args: &[String]) -> Result<()> {
    crate::no_arguments(args)?;
    if let Some(folder) = installed()? {
        check(&folder)?;
        eprintln!("{VARIABLE}={}", folder.display());
    }
    Ok(())
}

/// The folder with Emacs; filled on the first call, found on later ones. None where it cannot be installed: its tests are
/// then left out.
pub(crate) fn installed() -> Result<Option<PathBuf>> {
    if let Some(chosen) = std::env::var_os(VARIABLE) {
        return Ok(Some(chosen.into()));
    }
    let folder = tools().join("emacs");
    let program = folder.join("run");
    if succeeds(command(&program).arg("--version")) {
        return Ok(Some(folder));
    }
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    let is_there = || succeeds(command("emacs").arg("--version"));
    if !is_there() {
        apt_install(&["emacs-nox", "elpa-package-lint"]);
    }
    if is_there() {
        debian::write_script(&program, "exec emacs \"$@\"\n")?;
        return Ok(Some(folder));
    }
    let host = host()?;
    if host != HOST || !succeeds(command("apt-get").arg("--version")) {
        eprintln!(
            "SKIPPED: the tests in Emacs. It is installed from Debian's packages on {HOST} with apt only, and this is {host}. \
             Install Emacs 28 or later, or set {VARIABLE} to a folder that has it as `run`."
        );
        return Ok(None);
    }
    unpack(&folder).with_context(|| {
        format!(
            "missing: Emacs, and it could not be installed from Debian's suite {SUITE}. Give apt a reachable mirror, or set \
             {VARIABLE} to a folder that has it as `run`, or skip with `cargo xtask test --fast`"
        )
    })?;
    Ok(Some(folder))
}

/// Every path that is compiled into Emacs has a variable, except that of its memory image.
fn unpack(folder: &Path) -> Result<()> {
    // The paths inside the program must hold without a link on the way.
    let folder =
        folder.canonicalize().with_context(|| format!("could not find {} again", folder.display()))?;
    let root = debian::unpack(&folder, SUITE, "emacs-nox")?;
    let emacs = root.join("usr/bin/emacs-nox");
    debian::use_own_libraries(&emacs, &root, &folder)?;
    let share = only_folder(&root.join("usr/share/emacs"))?;
    let programs = only_folder(&only_folder(&root.join("usr/libexec/emacs"))?)?;
    let images = fs::read_dir(&programs).with_context(|| format!("could not list {}", programs.display()))?;
    let image = images
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "pdmp"))
        .context("the package has no memory image")?;
    let (share, programs) = (share.display(), programs.display());
    debian::write_script(
        &folder.join("run"),
        &format!(
            "export EMACSLOADPATH='{share}/lisp' EMACSDATA='{share}/etc' EMACSDOC='{share}/etc' EMACSPATH='{programs}'\n\
             exec '{}' --dump-file='{}' \"$@\"\n",
            emacs.display(),
            image.display()
        ),
    )?;
    ensure!(succeeds(command(folder.join("run")).arg("--version")), "the unpacked Emacs does not start");
    Ok(())
}

/// Its name is a version or a platform.
fn only_folder(parent: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(parent).with_context(|| format!("could not list {}", parent.display()))?;
    let mut folders = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        path.is_dir() && name != "site-lisp"
    });
    folders.next().with_context(|| format!("{} is empty", parent.display()))
}

/// Compiles `linkspan.el`, and runs checkdoc and package-lint; every warning is an error.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let file = root().join("editors/emacs/linkspan.el");
    let emacs = || {
        let mut emacs = command(folder.join("run"));
        emacs.args(["-Q", "--batch"]);
        emacs
    };
    let compiled = tools().join("emacs/linkspan.elc");
    let compile = format!(
        "(setq byte-compile-error-on-warn t byte-compile-dest-file-function (lambda (_) {:?}))",
        compiled.display().to_string()
    );
    run_command(emacs().args(["--eval", &compile, "-f", "batch-byte-compile"]).arg(&file))
        .context("linkspan.el does not compile without warnings")?;
    let output = emacs()
        .arg("--eval")
        .arg(format!("(checkdoc-file {:?})", file.display().to_string()))
        .output()
        .context("could not start Emacs")?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success() && complaints.trim().is_empty(),
        "checkdoc complains about linkspan.el:\n{complaints}"
    );
    let libraries = ["package-lint-", "let-alist-"].map(library);
    let [Some(lint), Some(alist)] = libraries else {
        eprintln!("SKIPPED: package-lint, which is not installed (Debian's elpa-package-lint)");
        return Ok(());
    };
    // It asks an archive about packages that are required: there are none.
    let output = emacs()
        .arg("-L")
        .arg(lint)
        .arg("-L")
        .arg(alist)
        .args(["-l", "package-lint", "-f", "package-lint-batch-and-exit"])
        .arg(&file)
        .output()
        .context("could not start Emacs")?;
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // Debian's package-lint is older than Emacs 28.
    let is_known = |line: &str| line.contains("uninstallable in all released Emacs versions");
    let complaints: Vec<&str> =
        text.lines().filter(|line| line.contains("linkspan.el:") && !is_known(line)).collect();
    ensure!(complaints.is_empty(), "package-lint complains:\n{}", complaints.join("\n"));
    Ok(())
}

fn library(prefix: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(LISP).ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)))
}
