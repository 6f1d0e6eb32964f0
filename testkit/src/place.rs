//! Where this checkout and what was built of it are.

use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// The binary that is tried: the one beside the program that tries it, unless `LINKSPAN_BIN` names another.
pub fn linkspan() -> PathBuf {
    match std::env::var_os("LINKSPAN_BIN") {
        Some(named) => named.into(),
        None => built().join("linkspan"),
    }
}

/// For what is looked at afterwards, such as the picture of a failure.
pub fn scratch() -> PathBuf {
    let folder = built().with_file_name("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// `target/<profile>`; tests run from its `deps`.
fn built() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap();
    if folder.ends_with("deps") { folder.parent().unwrap().to_owned() } else { folder.to_owned() }
}
