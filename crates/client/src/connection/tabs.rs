//! Names of the tabs of changes in a foreign editor. Such a server identifies a change only by the name of its tab: a
//! second one with the same name decides the first, and closing a plain name may close the user's own file. So each
//! name is used once, in the form that Claude Code uses.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The open tabs, so that they can be closed by their labels.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Tabs {
    opened: Mutex<VecDeque<DiffTab>>,
    /// Number of names that were generated.
    count: AtomicU32,
}

#[derive(Debug)]
struct DiffTab {
    label: String,
    name: String,
}

impl Tabs {
    /// A name for the tab of a change.
    pub(super) fn open(&self, agent: &str, label: &str) -> String {
        let mut opened = self.opened();
        let name = loop {
            let name = format!("✻ [{agent}] {label} ({:06x}) ⧉", self.number());
            if opened.iter().all(|tab| tab.name != name) {
                break name;
            }
        };
        if opened.len() == MOST {
            opened.pop_front();
        }
        opened.push_back(DiffTab { label: label.to_owned(), name: name.clone() });
        name
    }

    /// Removes the tabs with this label and returns their names.
    pub(super) fn close(&self, label: &str) -> Vec<String> {
        let mut opened = self.opened();
        let (closed, kept) = opened.drain(..).partition::<Vec<DiffTab>, _>(|tab| tab.label == label);
        opened.extend(kept);
        closed.into_iter().map(|tab| tab.name).collect()
    }

    /// Removes a tab; `false` if it was removed before.
    pub(super) fn forget(&self, name: &str) -> bool {
        let mut opened = self.opened();
        let before = opened.len();
        opened.retain(|tab| tab.name != name);
        opened.len() < before
    }

    /// Removes all tabs and returns their names.
    pub(super) fn take_all(&self) -> Vec<String> {
        self.opened().drain(..).map(|tab| tab.name).collect()
    }

    /// Three random bytes. Without randomness, the count still distinguishes the tabs of one agent.
    fn number(&self) -> u32 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        getrandom::u32().unwrap_or(count) & 0x00ff_ffff
    }

    fn opened(&self) -> MutexGuard<'_, VecDeque<DiffTab>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_is_found_by_its_label_once() {
        let tabs = Tabs::default();
        let names = [tabs.open("me", "a"), tabs.open("me", "b"), tabs.open("me", "a")];
        assert!(names[0].starts_with("✻ [me] a (") && names[0].ends_with(") ⧉"), "{}", names[0]);
        assert_ne!(names[0], names[2]);
        assert_eq!(tabs.close("a"), [names[0].clone(), names[2].clone()]);
        assert_eq!(tabs.close("a"), [""; 0]);
        assert_eq!(tabs.close("b"), [names[1].clone()]);
    }

    #[test]
    fn old_tabs_are_forgotten_and_not_collected() {
        let tabs = Tabs::default();
        for _ in 0..=MOST {
            tabs.open("me", "a");
        }
        assert_eq!(tabs.close("a").len(), MOST);
    }
}
