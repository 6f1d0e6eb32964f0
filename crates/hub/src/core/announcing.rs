//! How agents find a window: what each dialect's discovery files and terminals' variables say of it, and which window
//! those files speak of that there is only one of.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use linkspan_dialect::{Dialect, DiscoveryFile, WindowFacts};
use linkspan_review::WindowId;

use super::Core;
use super::event::Action;
use crate::config::Config;
use crate::token::Token;

impl Core {
    /// Variables for the terminals of the window, so that agents in them find it first.
    pub(super) fn terminal_environment(&self, id: WindowId) -> BTreeMap<String, String> {
        let environment = self.with_facts(id, |facts, dialects| {
            let variables = dialects.iter().flat_map(|dialect| dialect.terminal_environment(facts));
            variables.collect::<BTreeMap<String, String>>()
        });
        let mut environment = environment.unwrap_or_default();
        environment.insert("LINKSPAN_WINDOW".to_owned(), id.to_string());
        environment
    }

    pub(super) fn dialects_of(&self, config: &Config) -> Vec<&'static Dialect> {
        linkspan_dialect::ALL.iter().copied().filter(|dialect| config.dialect_enabled(dialect.name)).collect()
    }

    /// For the dialects that ask for a token only where the person has set one.
    pub(super) fn set_token(&self) -> Option<Token> {
        let set = (self.lookup)("PPXAI_BRIDGE_TOKEN")?.into_string().ok()?;
        Some(Token::remembered(set)).filter(|token| !token.secret().is_empty())
    }

    /// What agents are told of a window. They may stand in the folder as the editor names it or as it really is:
    /// both are listed.
    fn with_facts<T>(
        &self,
        id: WindowId,
        tell: impl FnOnce(&WindowFacts<'_>, &[&'static Dialect]) -> T,
    ) -> Option<T> {
        let window = self.windows.get(&id)?;
        let mut folders = window.identity.folders.clone();
        folders.extend(
            window.folders.iter().filter(|folder| !window.identity.folders.contains(folder)).cloned(),
        );
        let facts = WindowFacts {
            port: window.port,
            token: window.token.secret(),
            pid: window.pid,
            editor_name: &window.editor.name,
            folders: &folders,
            port_space: self.identity.port_space.as_deref(),
            mark: &window.token.mark(),
            unix_ms: self.identity.started_at_ms + self.now_ms,
        };
        Some(tell(&facts, &self.dialects_of(&window.config)))
    }

    fn discovery_of(&self, id: WindowId) -> Vec<(&'static str, DiscoveryFile)> {
        let editors = self.windows.get(&id).and_then(|window| window.claude_config_dir.clone());
        // Agents are started where the hub was, or in a terminal of the editor, which may have other variables.
        let in_editor = |name: &str| match &editors {
            Some(directory) if name == "CLAUDE_CONFIG_DIR" => Some(OsString::from(directory)),
            _ => (self.lookup)(name),
        };
        let files = self.with_facts(id, |facts, dialects| {
            let files = dialects.iter().flat_map(|dialect| {
                let mut files = dialect.discovery_files(facts, in_editor);
                for file in dialect.discovery_files(facts, &self.lookup) {
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

    pub(super) fn plan_discovery(&mut self, id: WindowId) {
        let files = self.discovery_of(id);
        let Some(window) = self.windows.get(&id) else { return };
        let token = window.token.clone();
        let gone: Vec<PathBuf> = window.discovery.iter().map(|(_, file)| file.path()).collect();
        for path in gone.into_iter().filter(|path| !files.iter().any(|(_, file)| file.path() == *path)) {
            self.act(Action::RemoveDiscovery { path, token: token.clone() });
        }
        self.keep_from_agents(files.iter().map(|(_, file)| file.directory.clone()).collect());
        if let Some(window) = self.windows.get_mut(&id) {
            window.discovery = files;
        }
        self.remember_window(id);
    }

    /// The tokens of a window stand in these folders. Whoever could read them could pose as another agent there.
    fn keep_from_agents(&mut self, folders: Vec<PathBuf>) {
        for folder in folders {
            if !self.identity.own_places.contains(&folder) {
                for window in self.windows.values_mut() {
                    window.policy.keep(folder.clone());
                }
                self.identity.own_places.push(folder);
            }
        }
    }

    /// The person is in this window now: files that there is only one of speak of it.
    pub(super) fn focus(&mut self, id: WindowId) {
        self.focused.retain(|other| *other != id);
        self.focused.push(id);
        let shared = self.discovery_of(id).into_iter().filter(|(_, file)| file.shared);
        for (_, file) in shared.collect::<Vec<_>>() {
            self.act(Action::WriteDiscovery { file });
        }
        self.settle_well_known();
    }

    /// It is closed; the one she was in before takes its place.
    pub(super) fn unfocus(&mut self, id: WindowId) {
        let was_last = self.focused.last() == Some(&id);
        self.focused.retain(|other| *other != id);
        if let Some(before) = self.focused.last().copied().filter(|_| was_last) {
            self.focus(before);
        }
    }

    pub(super) fn remove_discovery(&mut self, id: WindowId) {
        let Some(window) = self.windows.get_mut(&id) else { return };
        let token = window.token.clone();
        for (_, file) in std::mem::take(&mut window.discovery) {
            self.actions.push(Action::RemoveDiscovery { path: file.path(), token: token.clone() });
        }
    }

    pub(super) fn discovery_written(&mut self, path: PathBuf, result: Result<(), String>) {
        match result {
            Ok(()) => drop(self.unannounced.remove(&path)),
            Err(error) => drop(self.unannounced.insert(path, error)),
        }
    }

    /// The discovery files of all windows, by which agents should find them.
    pub(super) fn announced(&self) -> Vec<PathBuf> {
        let files = self.windows.values().flat_map(|window| &window.discovery);
        files.map(|(_, file)| file.path()).collect()
    }

    /// Whoever removed these did not mean the windows: their agents would not find them any more.
    pub(super) fn announce_again(&mut self, missing: &[PathBuf]) {
        let files = self.windows.values().flat_map(|window| &window.discovery);
        let gone = files.filter(|(_, file)| missing.contains(&file.path())).map(|(_, file)| file.clone());
        let gone: Vec<DiscoveryFile> = gone.collect();
        for file in gone {
            self.act(Action::WriteDiscovery { file });
        }
    }

    /// Why agents do not find the window by this file.
    pub(super) fn why_unannounced(&self, path: &Path) -> Option<String> {
        let error = self.unannounced.get(path)?;
        Some(format!("{} cannot be written: {error}", path.display()))
    }

    /// A hub that was killed could not remove its discovery files; they name ports where nobody listens.
    pub(super) fn sweep_discovery(&mut self) {
        for window in &self.remembered {
            let token = Token::remembered(window.token.clone());
            for path in &window.discovery {
                self.actions.push(Action::RemoveDiscovery { path: path.clone(), token: token.clone() });
            }
        }
    }
}
