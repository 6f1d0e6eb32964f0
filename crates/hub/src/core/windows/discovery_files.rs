//! How agents find a window: each dialect's discovery files and variables for terminals. Of some files there is only one
//! for all windows; it describes the window that the user was in last.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use linkspan_dialect::{Dialect, DiscoveryFile, WindowFacts};
use linkspan_editor_api::wire_names::env;
use linkspan_review::WindowId;

use crate::config::Config;
use crate::core::contract::Action;
use crate::core::out::Out;
use crate::core::windows::Windows;
use crate::token::Token;

/// The dialects that a config leaves on.
pub(in crate::core) fn enabled_dialects(config: &Config) -> Vec<&'static Dialect> {
    linkspan_dialect::ALL.iter().copied().filter(|dialect| config.dialect_enabled(dialect.name)).collect()
}

/// For the dialects that ask for a token only where the user has set one.
pub(super) fn set_token(out: &Out) -> Option<Token> {
    let set = (out.lookup)("PPXAI_BRIDGE_TOKEN")?.into_string().ok()?;
    Some(Token::remembered(set)).filter(|token| !token.secret().is_empty())
}

impl Windows {
    /// Variables for the terminals of the window, so that agents in them find it first.
    pub(in crate::core) fn terminal_environment(&self, out: &Out, id: WindowId) -> BTreeMap<String, String> {
        let environment = self.with_facts(out, id, |facts, dialects| {
            let variables = dialects.iter().flat_map(|dialect| dialect.terminal_environment(facts));
            variables.collect::<BTreeMap<String, String>>()
        });
        let mut environment = environment.unwrap_or_default();
        environment.insert(env::LINKSPAN_WINDOW.to_owned(), id.to_string());
        environment
    }

    /// What agents learn about a window. An agent may run in a folder under the name that the editor uses or under its
    /// real name: both are listed.
    fn with_facts<T>(
        &self,
        out: &Out,
        id: WindowId,
        tell: impl FnOnce(&WindowFacts<'_>, &[&'static Dialect]) -> T,
    ) -> Option<T> {
        let window = self.open.get(&id)?;
        let mut folders = window.identity.folders.clone();
        folders.extend(
            window.folders.iter().filter(|folder| !window.identity.folders.contains(folder)).cloned(),
        );
        let facts = WindowFacts {
            port: window.port,
            socket: window.socket.as_ref().and_then(|socket| socket.as_deref().ok()),
            token: window.token.secret(),
            pid: window.pid,
            editor_name: &window.editor.name,
            folders: &folders,
            port_space: out.info.port_space.as_deref(),
            mark: &window.token.mark(),
            unix_ms: out.unix_ms(),
        };
        Some(tell(&facts, &enabled_dialects(&window.config)))
    }

    fn discovery_of(&self, out: &Out, id: WindowId) -> Vec<(&'static str, DiscoveryFile)> {
        let editors = self.open.get(&id).and_then(|window| window.claude_config_dir.clone());
        // Agents are started where the hub was, or in a terminal of the editor, which may have other variables.
        let in_editor = |name: &str| match &editors {
            Some(directory) if name == env::CLAUDE_CONFIG_DIR => Some(OsString::from(directory)),
            _ => (out.lookup)(name),
        };
        let files = self.with_facts(out, id, |facts, dialects| {
            let files = dialects.iter().flat_map(|dialect| {
                let mut files = dialect.discovery_files(facts, in_editor);
                for file in dialect.discovery_files(facts, &out.lookup) {
                    if files.iter().all(|known| known.path() != file.path()) {
                        files.push(file);
                    }
                }
                files.into_iter().map(|file| (dialect.name, file))
            });
            files.collect()
        });
        files.unwrap_or_default()
    }

    pub(super) fn plan_discovery(&mut self, out: &mut Out, id: WindowId) {
        let files = self.discovery_of(out, id);
        let Some(window) = self.open.get(&id) else { return };
        let token = window.token.clone();
        let gone: Vec<PathBuf> = window.discovery.iter().map(|(_, file)| file.path()).collect();
        for path in gone.into_iter().filter(|path| !files.iter().any(|(_, file)| file.path() == *path)) {
            out.push(Action::RemoveDiscovery { path, token: token.clone() });
        }
        self.keep_from_agents(out, files.iter().map(|(_, file)| file.directory.clone()).collect());
        if let Some(window) = self.open.get_mut(&id) {
            window.discovery = files;
        }
        self.remember(out, id);
    }

    /// These folders contain the tokens of a window. An agent that could read them could pose as another agent.
    fn keep_from_agents(&mut self, out: &mut Out, folders: Vec<PathBuf>) {
        for folder in folders {
            if !out.info.private_dirs.contains(&folder) {
                for window in self.open.values_mut() {
                    window.policy.keep(folder.clone());
                }
                out.info.private_dirs.push(folder);
            }
        }
    }

    /// The user is in this window now: files of which there is only one describe it.
    pub(in crate::core) fn focus(&mut self, out: &mut Out, id: WindowId) {
        self.focused.retain(|other| *other != id);
        self.focused.push(id);
        let shared = self.discovery_of(out, id).into_iter().filter(|(_, file)| file.shared);
        for (_, file) in shared.collect::<Vec<_>>() {
            out.push(Action::WriteDiscovery { file });
        }
        self.update_ppxai_port(out);
    }

    /// It is closed; the window that the user was in before takes its place.
    pub(super) fn unfocus(&mut self, out: &mut Out, id: WindowId) {
        let was_last = self.focused.last() == Some(&id);
        self.focused.retain(|other| *other != id);
        if let Some(before) = self.focused.last().copied().filter(|_| was_last) {
            self.focus(out, before);
        }
    }

    pub(super) fn last_focused(&self) -> Option<WindowId> {
        self.focused.last().copied()
    }

    pub(in crate::core) fn remove_discovery(&mut self, out: &mut Out, id: WindowId) {
        let Some(window) = self.open.get_mut(&id) else { return };
        let token = window.token.clone();
        for (_, file) in std::mem::take(&mut window.discovery) {
            out.push(Action::RemoveDiscovery { path: file.path(), token: token.clone() });
        }
    }

    pub(in crate::core) fn discovery_written(&mut self, path: PathBuf, result: Result<(), String>) {
        match result {
            Ok(()) => drop(self.discovery_errors.remove(&path)),
            Err(error) => drop(self.discovery_errors.insert(path, error)),
        }
    }

    /// The discovery files of all windows, by which agents should find them.
    pub(in crate::core) fn discovery_paths(&self) -> Vec<PathBuf> {
        let files = self.open.values().flat_map(|window| &window.discovery);
        files.map(|(_, file)| file.path()).collect()
    }

    /// Writes these files again if windows still need them: without them, agents would not find the windows.
    pub(in crate::core) fn write_discovery_again(&self, out: &mut Out, missing: &[PathBuf]) {
        let files = self.open.values().flat_map(|window| &window.discovery);
        let gone = files.filter(|(_, file)| missing.contains(&file.path())).map(|(_, file)| file.clone());
        for file in gone {
            out.push(Action::WriteDiscovery { file });
        }
    }

    /// Why this file could not be written.
    pub(in crate::core) fn discovery_problem(&self, path: &Path) -> Option<String> {
        let error = self.discovery_errors.get(path)?;
        Some(format!("{} cannot be written: {error}", path.display()))
    }

    /// A hub that was killed could not remove its discovery files; they name ports that are closed.
    pub(in crate::core) fn sweep_discovery(&self, out: &mut Out) {
        for window in &self.remembered {
            let token = Token::remembered(window.token.clone());
            for path in &window.discovery {
                out.push(Action::RemoveDiscovery { path: path.clone(), token: token.clone() });
            }
        }
    }
}
