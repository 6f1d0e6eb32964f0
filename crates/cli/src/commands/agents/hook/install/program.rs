//! Programs on PATH: the path under which this one is found again after an update, and those of agents with their
//! versions. Runs none of them.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use serde_json::Value;

/// A package file is small.
const LARGEST_PACKAGE: u64 = 1024 * 1024;
/// How far above a program the file of its npm package is.
const PACKAGE_DEPTH: usize = 4;

/// The path of this program for a settings file. A name on PATH that leads here is better than the file itself: package
/// managers put each version into a folder of its own.
pub(super) fn own_path(program: &Path) -> String {
    let name = program.file_name().map(Path::new).unwrap_or(Path::new("linkspan"));
    let is_same = |found: &PathBuf| found.canonicalize().is_ok_and(|found| found == program);
    let found = on_path(name).find(is_same).filter(|found| found.is_absolute());
    found.unwrap_or_else(|| program.to_owned()).to_string_lossy().into_owned()
}

pub(super) fn find(name: &str) -> Option<PathBuf> {
    on_path(Path::new(name)).next()
}

pub(super) fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

fn on_path(name: &Path) -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let name = name.to_owned();
    folders.into_iter().map(move |folder| folder.join(&name)).filter(|path| is_executable(path))
}

/// The version in the file of the npm package that a program belongs to: running some agents takes seconds.
pub(super) fn packaged_version(program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    let name = program.file_name()?.to_str()?;
    real.ancestors().skip(1).take(PACKAGE_DEPTH).find_map(|folder| {
        let path = folder.join("package.json");
        fs::metadata(&path).ok().filter(|found| found.len() <= LARGEST_PACKAGE)?;
        let package: Value = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        package.get("bin")?.get(name)?;
        Some(package.get("version")?.as_str()?.to_owned())
    })
}
