//! What discovery is told about the process it runs for, so that nothing else here reads the environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use linkspan_editor_api::{Places, PlacesError};

use super::wsl::Wsl;

/// The variables that discovery reads.
const VARIABLES: &[&str] =
    &["PWD", CLAUDE_CONFIG_DIR, CLAUDE_CODE_SSE_PORT, LINKSPAN_WINDOW, "WSL_DISTRO_NAME"];

pub(super) const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
pub(super) const CLAUDE_CODE_SSE_PORT: &str = "CLAUDE_CODE_SSE_PORT";
pub(super) const LINKSPAN_WINDOW: &str = "LINKSPAN_WINDOW";

/// Where an agent stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The user's Linkspan, and home.
    pub places: Places,
    /// The variables that discovery reads, where they are set.
    pub variables: BTreeMap<String, OsString>,
    /// Whose lock files are trusted.
    pub uid: u32,
    /// The Windows around us, if there is one.
    pub wsl: Option<Wsl>,
}

/// Why there is nowhere to start from.
#[derive(Debug, thiserror::Error)]
pub enum SurroundingsError {
    /// There is no home.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// A relative path, and no working directory to start it from.
    #[error("the working directory cannot be found: {0}; go to one that exists")]
    NoWorkingDirectory(#[source] io::Error),
}

impl Surroundings {
    /// Those of this process, for an agent that works in `cwd`.
    pub fn of_this_process(cwd: &Path) -> Result<Surroundings, SurroundingsError> {
        let cwd = std::path::absolute(cwd).map_err(SurroundingsError::NoWorkingDirectory)?;
        let uid = rustix::process::geteuid().as_raw();
        Surroundings::from_lookup(cwd, |name| std::env::var_os(name), uid)
    }

    fn from_lookup(
        cwd: PathBuf,
        lookup: impl Fn(&str) -> Option<OsString>,
        uid: u32,
    ) -> Result<Surroundings, SurroundingsError> {
        let places = Places::from_lookup(&lookup, uid)?;
        let variables: BTreeMap<String, OsString> =
            VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), lookup(name)?))).collect();
        let wsl = variables.get("WSL_DISTRO_NAME").and_then(|name| Wsl::of_this_machine(name.to_str()?));
        Ok(Surroundings { cwd, places, variables, uid, wsl })
    }

    /// A variable that holds text.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.to_str().filter(|value| !value.is_empty())
    }
}
