//! Where the hub's socket, journal, log and configuration are, by the rules of the XDG base directories.
//! Only names paths; creates none of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Longest path a Unix socket can have; the system's limit counts a final NUL.
const SOCKET_PATH_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The directories of one user's Linkspan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The user's home, where agents look for their discovery files.
    pub home: PathBuf,
    /// Files that live as long as the hub: its socket and locks. Must be 0700.
    pub runtime: PathBuf,
    /// Files that must survive: the journal and the log.
    pub state: PathBuf,
    /// Files that the user writes.
    pub config: PathBuf,
}

/// Why the directories cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacesError {
    /// There is no home directory to start from.
    #[error("HOME is not set to an absolute path: set it, so that Linkspan knows where to keep its files")]
    NoHome,
    /// The system cannot make a socket there.
    #[error(
        "the socket path {} has {length} bytes, and the system allows {SOCKET_PATH_MAX}: \
         set XDG_RUNTIME_DIR or TMPDIR to a shorter directory",
        path.display()
    )]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
}

impl Places {
    /// From this process's environment.
    pub fn from_env(uid: u32) -> Result<Places, PlacesError> {
        Places::from_lookup(|name| variable(name, uid), uid)
    }

    /// From any environment.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>, uid: u32) -> Result<Places, PlacesError> {
        // The XDG specification has relative values ignored; for the others they would mean a different
        // place for each caller.
        let directory = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = directory("HOME").ok_or(PlacesError::NoHome)?;
        let runtime = match directory("XDG_RUNTIME_DIR") {
            Some(runtime) => runtime.join("linkspan"),
            None => directory("TMPDIR").unwrap_or_else(|| "/tmp".into()).join(format!("linkspan-{uid}")),
        };
        let state = directory("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")).join("linkspan");
        let config = directory("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("linkspan");
        Ok(Places { home, runtime, state, config })
    }

    /// The hub's socket.
    pub fn socket(&self) -> Result<PathBuf, PlacesError> {
        usable_socket(self.runtime.join("hub.sock"))
    }

    /// Where the sockets of windows are, for agents that connect to one. Must be 0700.
    pub fn agent_sockets(&self) -> PathBuf {
        self.runtime.join("agents")
    }

    /// The socket of this window.
    pub fn agent_socket(&self, window: &str) -> Result<PathBuf, PlacesError> {
        usable_socket(self.agent_sockets().join(format!("{window}.sock")))
    }

    /// Held by the hub as long as it runs: one hub for each runtime directory, so that no two hubs share a socket.
    pub fn lock(&self) -> PathBuf {
        self.runtime.join("hub.lock")
    }

    /// Held by the hub as long as it runs: one hub for each state directory, so that no two hubs share a journal. Its
    /// contents say where that hub listens ([`HubLock`](crate::HubLock)).
    pub fn state_lock(&self) -> PathBuf {
        self.state.join("hub.lock")
    }

    /// Held while a process starts a hub, so that ten processes start only one.
    pub fn start_lock(&self) -> PathBuf {
        self.runtime.join("start.lock")
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }

    /// The hub's log.
    pub fn log(&self) -> PathBuf {
        self.state.join("hub.log")
    }

    /// The configuration.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The agents that the hub can start, besides those that are built in.
    pub fn agents_file(&self) -> PathBuf {
        self.config.join("agents.toml")
    }

    /// The permissions that the user gave to agents permanently.
    pub fn clients_file(&self) -> PathBuf {
        self.config.join("clients.toml")
    }
}

/// A variable of this process. Agents start their servers with almost no environment. If the runtime directory of a
/// login session exists, it is used anyway; otherwise there would be a second hub on the same journal.
pub fn variable(name: &str, uid: u32) -> Option<OsString> {
    std::env::var_os(name).or_else(|| {
        let standard = (name == "XDG_RUNTIME_DIR").then(|| standard_runtime(uid))?;
        standard.is_dir().then(|| standard.into_os_string())
    })
}

fn usable_socket(path: PathBuf) -> Result<PathBuf, PlacesError> {
    match byte_length(&path) {
        length if length > SOCKET_PATH_MAX => Err(PlacesError::SocketPathTooLong { path, length }),
        _ => Ok(path),
    }
}

fn standard_runtime(uid: u32) -> PathBuf {
    PathBuf::from(format!("/run/user/{uid}"))
}

fn byte_length(path: &Path) -> usize {
    path.as_os_str().as_encoded_bytes().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_runtime_directory_is_known_without_being_told() {
        assert_eq!(standard_runtime(1000), Path::new("/run/user/1000"));
        assert_eq!(variable("LINKSPAN_NO_SUCH_VARIABLE", 1000), None);
        assert_eq!(variable("PATH", 1000), std::env::var_os("PATH"));
    }

    fn places(environment: &[(&str, &str)]) -> Result<Places, PlacesError> {
        let lookup = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Places::from_lookup(lookup, 1000)
    }

    fn check(environment: &[(&str, &str)], [runtime, state, config]: [&str; 3]) {
        let found = places(environment).unwrap();
        let expected = Places {
            home: "/home/ada".into(),
            runtime: runtime.into(),
            state: state.into(),
            config: config.into(),
        };
        assert_eq!(found, expected, "{environment:?}");
    }

    #[test]
    fn each_variable_moves_its_own_directory() {
        let home = ("HOME", "/home/ada");
        let state = "/home/ada/.local/state/linkspan";
        let config = "/home/ada/.config/linkspan";
        check(&[home], ["/tmp/linkspan-1000", state, config]);
        check(&[home, ("TMPDIR", "/var/tmp")], ["/var/tmp/linkspan-1000", state, config]);
        check(&[home, ("XDG_RUNTIME_DIR", "/run/u")], ["/run/u/linkspan", state, config]);
        check(&[home, ("XDG_RUNTIME_DIR", "/run/u"), ("TMPDIR", "/t")], ["/run/u/linkspan", state, config]);
        check(&[home, ("XDG_STATE_HOME", "/s")], ["/tmp/linkspan-1000", "/s/linkspan", config]);
        check(&[home, ("XDG_CONFIG_HOME", "/c")], ["/tmp/linkspan-1000", state, "/c/linkspan"]);
    }

    #[test]
    fn relative_and_empty_values_are_ignored() {
        for value in ["", "run", "./run"] {
            let variables = ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"];
            let mut environment = vec![("HOME", "/home/ada")];
            environment.extend(variables.map(|name| (name, value)));
            assert_eq!(places(&environment), places(&[("HOME", "/home/ada")]));
            assert_eq!(places(&[("HOME", value)]), Err(PlacesError::NoHome));
        }
    }

    #[test]
    fn a_socket_path_is_as_long_as_the_system_allows_and_no_longer() {
        let fixed = "/linkspan/hub.sock".len();
        let with = |length: usize| {
            let runtime = format!("/{}", "x".repeat(length - fixed - 1));
            places(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", &runtime)]).unwrap().socket()
        };
        assert_eq!(with(SOCKET_PATH_MAX).unwrap().as_os_str().len(), SOCKET_PATH_MAX);
        let message = with(SOCKET_PATH_MAX + 1).unwrap_err().to_string();
        assert!(message.contains(&format!("has {} bytes", SOCKET_PATH_MAX + 1)), "{message}");
        assert!(message.contains("XDG_RUNTIME_DIR"), "{message}");
    }

    #[test]
    fn the_socket_of_a_window_may_be_too_long_where_the_hubs_own_is_not() {
        let runtime = format!("/{}", "x".repeat(SOCKET_PATH_MAX - "//linkspan/hub.sock".len()));
        let places = places(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", &runtime)]).unwrap();
        assert!(places.socket().is_ok());
        let message = places.agent_socket("w1").unwrap_err().to_string();
        assert!(message.contains("agents/w1.sock has ") && message.contains("shorter"), "{message}");
    }
}
