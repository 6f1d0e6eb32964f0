//! `cargo xtask vscode`: checks the VS Code extension, packs it with the binary that was built for debugging, and
//! installs it into the oldest VS Code we support and the newest. The tests find them by the variable below.

mod proposed_api;
mod server;

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::npm::Package;
use crate::workspace::{binary, cargo, command, host, run as run_command, succeeds, tools};
use server::Release;

pub(crate) const VARIABLE: &str = "LINKSPAN_TEST_VSCODE";

const EXTENSION: Package = Package::at("editors/vscode");

const RELEASES: [Release; 2] = [
    Release {
        version: "1.100.3",
        code_server: "4.100.3",
        node: "20.20.2",
        native: &["node-pty", "@vscode/spdlog", "native-watchdog"],
    },
    Release {
        version: "1.139.1",
        code_server: "4.139.1",
        node: "24.21.0",
        native: &["@vscode/spdlog", "@vscode/native-watchdog"],
    },
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    crate::no_arguments(args)?;
    check()?;
    // With the tests, so that it is built with the same features as they are.
    run_command(cargo().args(["build", "--package", "linkspan", "--bins", "--test", "vscode"]))
        .context("the binary does not compile")?;
    if let Some(folder) = installed()? {
        eprintln!("{VARIABLE}={}", folder.display());
    }
    Ok(())
}

/// Types and lint of the extension, and that it builds.
pub(crate) fn check() -> Result<()> {
    EXTENSION.install()?;
    EXTENSION.script("check", &[]).context("the extension's types or lint do not hold")?;
    EXTENSION.script("build", &[]).context("the extension does not build")
}

/// The folder with both VS Codes and the extension installed in each. None on machines that these VS Codes do not run on.
pub(crate) fn installed() -> Result<Option<PathBuf>> {
    let Some(folder) = set_up()? else { return Ok(None) };
    if is_chosen(&folder) {
        return Ok(Some(folder));
    }
    let (package, state) = pack(&folder, "debug")?;
    for release in &RELEASES {
        let extensions = folder.join(format!("extensions-{}", release.version));
        install(release, &folder, &[&package], &extensions, &state)?;
    }
    Ok(Some(folder))
}

/// A folder of extensions for the newest VS Code: ours with the release program inside, and another.
pub(crate) fn installed_beside(other: &Path) -> Result<PathBuf> {
    let folder = set_up()?.context("VS Code is set up on x86-64 Linux only")?;
    let place = folder.join("beside");
    fs::create_dir_all(&place).with_context(|| format!("could not make {}", place.display()))?;
    let (package, state) = pack(&place, "release")?;
    let extensions = place.join("extensions");
    let [_, newest] = &RELEASES;
    install(newest, &folder, &[&package, other], &extensions, &state)?;
    Ok(extensions)
}

/// The folder with both VS Codes, and the npm packages of the extension; downloaded on the first call, found on later
/// ones.
pub(crate) fn set_up() -> Result<Option<PathBuf>> {
    EXTENSION.install()?;
    let folder = tools().join("vscode");
    if let Some(chosen) = std::env::var_os(VARIABLE).map(PathBuf::from).filter(|chosen| *chosen != folder) {
        eprintln!(
            "WARNING: {VARIABLE} is {}. The tests use the extension in that folder, which may be out of date. Unset it to \
             test the extension of this checkout.",
            chosen.display()
        );
        return Ok(Some(chosen));
    }
    let host = host()?;
    if host != server::HOST {
        eprintln!(
            "The extension is not tested in VS Code: VS Code is set up on {} only, and this is {host}. Set {VARIABLE} to \
             a folder with VS Codes to test it here.",
            server::HOST
        );
        return Ok(None);
    }
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    if RELEASES.iter().any(|release| !release.is_set_up(&folder)) {
        server::can_be_built()?;
    }
    let outcomes = thread::scope(|scope| {
        let set_ups = RELEASES.each_ref().map(|release| scope.spawn(|| release.set_up(&folder)));
        set_ups.map(|set_up| set_up.join().unwrap_or_else(|_| bail!("the set-up of VS Code panicked")))
    });
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(Some(folder))
}

/// Whether the user named this folder: nothing is installed there.
fn is_chosen(folder: &Path) -> bool {
    folder != tools().join("vscode")
}

/// The extension as a `.vsix` with the binary of that profile inside, and a hash of its contents.
fn pack(folder: &Path, profile: &str) -> Result<(PathBuf, String)> {
    let program = folder.join("linkspan");
    // Nine tenths of a debug binary are debug information.
    let built = binary(profile, "linkspan")?;
    if !succeeds(command("strip").arg("-o").arg(&program).arg(&built)) {
        fs::copy(&built, &program).with_context(|| format!("could not copy {}", built.display()))?;
    }
    EXTENSION.install()?;
    EXTENSION.script("build", &[]).context("the extension does not build")?;
    let mut inputs = DefaultHasher::new();
    hash_file(&program, &mut inputs)?;
    hash_folder(&EXTENSION.path(), &mut inputs)?;
    let state = format!("{:016x}", inputs.finish());
    let package = folder.join("linkspan.vsix");
    let packed = folder.join("packed");
    if package.exists() && fs::read_to_string(&packed).is_ok_and(|packed| packed == state) {
        return Ok((package, state));
    }
    // A package that was left half written must not be used.
    if packed.exists() {
        fs::remove_file(&packed).with_context(|| format!("could not remove {}", packed.display()))?;
    }
    let text = |path: &Path| {
        path.to_str()
            .map(str::to_owned)
            .context("the checkout is in a folder whose name is not valid Unicode")
    };
    let args = ["--target", "linux-x64", "--binary", &text(&program)?, "--out", &text(&package)?];
    EXTENSION.script("package", &args).context("the extension cannot be packed")?;
    fs::write(&packed, &state).with_context(|| format!("could not write {}", packed.display()))?;
    Ok((package, state))
}

/// Installs extensions with VS Code itself, into a folder of their own, which the tests only read.
fn install(
    release: &Release,
    folder: &Path,
    packages: &[&Path],
    extensions: &Path,
    state: &str,
) -> Result<()> {
    let marker = extensions.join(".packed");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == state) {
        return Ok(());
    }
    if extensions.exists() {
        fs::remove_dir_all(extensions)
            .with_context(|| format!("could not empty {}", extensions.display()))?;
    }
    for package in packages {
        release.install_extension(folder, package, extensions)?;
    }
    fs::write(&marker, state).with_context(|| format!("could not write {}", marker.display()))
}

/// Without the files that packing writes there.
fn hash_folder(folder: &Path, into: &mut DefaultHasher) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true if path.ends_with("node_modules") || path.ends_with("bin") => {}
            false if path.ends_with("LICENSE") => {}
            true => hash_folder(&path, into)?,
            false => hash_file(&path, into)?,
        }
    }
    Ok(())
}

fn hash_file(path: &Path, into: &mut DefaultHasher) -> Result<()> {
    path.hash(into);
    fs::read(path).with_context(|| format!("could not read {}", path.display()))?.hash(into);
    Ok(())
}
