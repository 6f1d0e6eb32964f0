//! Where this checkout is, and what was built from it.

use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// The binary under test: the one next to the program that tests it, unless `LINKSPAN_BIN` names another.
pub fn linkspan() -> PathBuf {
    match std::env::var_os("LINKSPAN_BIN") {
        Some(named) => named.into(),
        None => built().join("linkspan"),
    }
}

/// Our own agent: the program beside the binary under test.
pub fn linkspan_agent() -> PathBuf {
    linkspan().with_file_name("linkspan-agent")
}

/// For files to look at afterwards, such as the picture of a failure.
pub fn scratch() -> PathBuf {
    let folder = built().with_file_name("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Where `cargo xtask` installs what tests need: `target/tools`.
pub(crate) fn tools() -> Option<PathBuf> {
    // `target/<profile>`, or `target/<platform>/<profile>` if a platform was named to cargo.
    built().ancestors().skip(1).take(2).map(|folder| folder.join("tools")).find(|tools| tools.is_dir())
}

/// The folder of the build profile; tests run from its `deps`.
fn built() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap();
    if folder.ends_with("deps") { folder.parent().unwrap().to_owned() } else { folder.to_owned() }
}
