//! The working directory of the agent, resolved once: all its names, the window of its terminal, and the machine of its
//! ports.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use linkspan_editor_api::wire_names::env::LINKSPAN_WINDOW;
use linkspan_editor_api::{PORT_SPACE_BOOT, PORT_SPACE_NETWORK, port_space};

use super::candidate::Match;
use super::folder_match::FolderMatcher;
use super::real_path::RealPaths;
use super::surroundings::{PORTS_OF_TERMINALS, Surroundings};
use super::worktree;

/// The working directory of the agent.
#[derive(Debug)]
pub(super) struct WorkingDir<'a> {
    surroundings: &'a Surroundings,
    standpoint: FolderMatcher,
    real: RealPaths,
    port_space: Option<String>,
}

impl<'a> WorkingDir<'a> {
    pub(super) fn of(surroundings: &'a Surroundings) -> WorkingDir<'a> {
        let given = &surroundings.cwd;
        let real = given.canonicalize().unwrap_or_else(|_| given.clone());
        let twins = worktree::twins(&real);
        let home = &surroundings.places.home;
        let standpoint = FolderMatcher {
            names: [Some(real), Some(given.clone()), shell_name(surroundings)]
                .into_iter()
                .flatten()
                .collect(),
            twins,
            home: home.canonicalize().unwrap_or_else(|_| home.clone()),
        };
        let boot = fs::read_to_string(PORT_SPACE_BOOT).ok();
        let network = fs::read_link(PORT_SPACE_NETWORK).ok();
        let port_space = boot.zip(network).and_then(|(boot, network)| port_space(&boot, &network));
        WorkingDir { surroundings, standpoint, real: RealPaths::default(), port_space }
    }

    /// The best match of a window: its id if it has one, its port, its folders.
    pub(super) fn matches(&mut self, window: Option<&str>, port: u16, folders: &[PathBuf]) -> Option<Match> {
        if self.is_own_terminal(window, port) {
            return Some(Match::OwnTerminal);
        }
        folders.iter().filter_map(|folder| self.match_folder(folder)).min()
    }

    fn is_own_terminal(&self, window: Option<&str>, port: u16) -> bool {
        let named = self.surroundings.variable(LINKSPAN_WINDOW);
        let is_port = |value: &str| value.parse() == Ok(port);
        named.is_some_and(|named| window == Some(named) || is_port(named))
            || PORTS_OF_TERMINALS.iter().any(|name| self.surroundings.port(name) == Some(port))
    }

    /// By the editor's name of the folder, and with symlinks resolved.
    fn match_folder(&mut self, folder: &Path) -> Option<Match> {
        let named = self.standpoint.matches(folder);
        if matches!(named, Some(Match::Folder { .. })) || !folder.is_absolute() {
            return named;
        }
        let real = self.real.of(folder).and_then(|real| self.standpoint.matches(&real));
        named.into_iter().chain(real).min()
    }

    /// Whether a port that is closed for us is closed for the writer of this file too: another container or machine may
    /// share the home directory, but not the ports.
    pub(super) fn shares_ports_with(&self, writer: Option<&str>) -> bool {
        writer.is_some() && writer == self.port_space.as_deref()
    }
}

/// The shell's name of the working directory, which may contain symlinks.
fn shell_name(surroundings: &Surroundings) -> Option<PathBuf> {
    let name = surroundings.directory("PWD")?;
    let (named, meant) = (fs::metadata(&name).ok()?, fs::metadata(&surroundings.cwd).ok()?);
    ((named.dev(), named.ino()) == (meant.dev(), meant.ino())).then_some(name)
}
