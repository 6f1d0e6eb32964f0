//! An agent in WSL, an editor on Windows: where its lock files are, and what its folders are called in here.

use std::path::PathBuf;

/// The Windows around a Linux.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wsl {
    /// The name of this Linux, such as `Ubuntu`.
    pub distro: String,
    /// Where the Windows drives are mounted; usually `/mnt`.
    pub drives: PathBuf,
}

impl Wsl {
    pub(super) fn of_this_machine(distro: &str) -> Option<Wsl> {
        Some(Wsl { distro: distro.to_owned(), drives: "/mnt".into() })
    }
}
