//! The facts about the process that discovery runs for, so that nothing else here reads the environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use linkspan_editor_api::wire_names::env::{
    CLAUDE_CODE_SSE_PORT, CLAUDE_CONFIG_DIR, CLIO_IDE_PORT, GEMINI_PORT, GEMINI_TOKEN, LINKSPAN_WINDOW,
    PPXAI_BRIDGE_TOKEN, QWEN_PORT,
};
use linkspan_editor_api::{Places, PlacesError, variable};

use super::wsl::Wsl;

/// The variables that discovery reads.
const VARIABLES: &[&str] = &[
    "PWD",
    "TMPDIR",
    CLAUDE_CONFIG_DIR,
    CLAUDE_CODE_SSE_PORT,
    CLIO_IDE_PORT,
    GEMINI_PORT,
    GEMINI_TOKEN,
    LINKSPAN_WINDOW,
    PPXAI_BRIDGE_TOKEN,
    QWEN_PORT,
    "WSL_DISTRO_NAME",
    "USERPROFILE",
];

/// Each holds the port of the window whose terminal it is set in.
pub(super) const PORTS_OF_TERMINALS: [&str; 4] =
    [CLAUDE_CODE_SSE_PORT, CLIO_IDE_PORT, GEMINI_PORT, QWEN_PORT];

/// The surroundings of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The user's directories of Linkspan, and home.
    pub places: Places,
    /// The variables that discovery reads, if they are set.
    pub variables: BTreeMap<String, OsString>,
    /// The user whose lock files are trusted.
    pub uid: u32,
    /// The Windows system around us, if there is one.
    pub wsl: Option<Wsl>,
}

/// Why the surroundings cannot be determined.
#[derive(Debug, thiserror::Error)]
pub enum SurroundingsError {
    /// There is no home directory.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// A relative path without a working directory.
    #[error("the working directory cannot be found: {0}; change to one that exists")]
    NoWorkingDirectory(#[source] io::Error),
}

impl Surroundings {
    /// The surroundings of this process, for an agent in `cwd`.
    pub fn of_this_process(cwd: &Path) -> Result<Surroundings, SurroundingsError> {
        let cwd = std::path::absolute(cwd).map_err(SurroundingsError::NoWorkingDirectory)?;
        let uid = rustix::process::geteuid().as_raw();
        Surroundings::from_lookup(cwd, |name| variable(name, uid), uid)
    }

    fn from_lookup(
        cwd: PathBuf,
        lookup: impl Fn(&str) -> Option<OsString>,
        uid: u32,
    ) -> Result<Surroundings, SurroundingsError> {
        let places = Places::from_lookup(&lookup, uid)?;
        let variables: BTreeMap<String, OsString> =
            VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), lookup(name)?))).collect();
        let mut surroundings = Surroundings { cwd, places, variables, uid, wsl: None };
        let distro = surroundings.variable("WSL_DISTRO_NAME");
        let profile = surroundings.variable("USERPROFILE");
        surroundings.wsl = distro.map(|distro| Wsl::of_this_machine(distro, profile));
        Ok(surroundings)
    }

    /// A variable that holds text.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.to_str().filter(|value| !value.is_empty())
    }

    /// A variable that holds a port.
    pub(super) fn port(&self, name: &str) -> Option<u16> {
        self.variable(name)?.parse().ok().filter(|port| *port > 0)
    }

    /// The directory of temporary files.
    pub(super) fn temporary(&self) -> PathBuf {
        self.directory("TMPDIR").unwrap_or_else(|| "/tmp".into())
    }

    /// A variable that names a directory. A relative path would be another directory for the program that wrote it.
    pub(super) fn directory(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(environment: &[(&str, &str)]) -> Result<Surroundings, SurroundingsError> {
        let lookup = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Surroundings::from_lookup("/w".into(), lookup, 1000)
    }

    #[test]
    fn without_a_home_it_is_said_what_to_set() {
        let error = surroundings(&[("PWD", "/w")]).unwrap_err();
        assert!(error.to_string().contains("HOME is not set"), "{error}");
    }

    #[test]
    fn only_what_discovery_reads_is_kept() {
        let kept = surroundings(&[("HOME", "/h"), ("PWD", "/w"), ("AWS_SECRET_ACCESS_KEY", "x")]).unwrap();
        assert_eq!(kept.variables.keys().collect::<Vec<_>>(), ["PWD"]);
        assert_eq!(kept.wsl, None);
    }

    #[test]
    fn wsl_is_known_by_its_variable() {
        let environment = [("HOME", "/h"), ("WSL_DISTRO_NAME", "Ubuntu"), ("USERPROFILE", r"C:\Users\me")];
        let wsl = surroundings(&environment).unwrap().wsl.unwrap();
        assert_eq!(wsl.distro, "Ubuntu");
        assert_eq!(wsl.profile, Some(wsl.users().join("me")));
    }
}
