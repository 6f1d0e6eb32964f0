//! Which windows are connected to the user's Codex daemon, and which of them is the one for a thread's folder.

use std::path::Path;

use linkspan_dialect::CODEX;
use linkspan_review::WindowId;

use crate::core::contract::Action;
use crate::core::out::Out;
use crate::core::windows::{Window, Windows};

impl Windows {
    /// Something changed: a window is connected as long as it is open, unless the dialect is off.
    pub(in crate::core) fn update_codex(&mut self, out: &mut Out, id: WindowId) {
        let on = self.open.get(&id).is_some_and(|window| window.config.dialect_enabled(CODEX.name));
        let changed = if on { self.codex.insert(id) } else { self.codex.remove(&id) };
        if changed {
            out.push(Action::FollowCodex { window: id, on });
        }
    }

    /// The window with the folder that is nearest to this one; of several, one that is attached, and the one that the
    /// user was in last.
    pub(in crate::core) fn for_folder(&self, folder: &Path, dialect: &str) -> Option<WindowId> {
        self.for_folder_where(folder, |window| window.config.dialect_enabled(dialect))
    }

    /// The same, among these windows.
    pub(in crate::core) fn for_folder_where(
        &self,
        folder: &Path,
        is_meant: impl Fn(&Window) -> bool,
    ) -> Option<WindowId> {
        let windows = self.open.iter().filter(|(_, window)| is_meant(window));
        let depth = |folders: &mut dyn Iterator<Item = &std::path::PathBuf>| {
            let above = folders.filter(|above| folder.starts_with(above));
            above.map(|above| above.components().count()).max()
        };
        let candidates = windows.filter_map(|(id, window)| {
            let depth = depth(&mut window.identity.folders.iter().chain(&window.folders))?;
            let focus = self.focused.iter().position(|focused| focused == id);
            Some((depth, window.connection.is_some(), focus, *id))
        });
        candidates.max().map(|(.., id)| id)
    }
}
