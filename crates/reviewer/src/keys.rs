//! The key bindings: one table for both the keyboard and the help page.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What one key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Down,
    Up,
    PageDown,
    PageUp,
    HalfDown,
    HalfUp,
    Top,
    Bottom,
    Left,
    Right,
    FarLeft,
    NextHunk,
    PreviousHunk,
    NextFile,
    PreviousFile,
    Open,
    UnfoldAll,
    ToggleView,
    ToggleList,
    Search,
    NextMatch,
    PreviousMatch,
    IncludeHunk,
    ExcludeHunk,
    Toggle,
    Submit,
    Accept,
    Reject,
    RejectWithReason,
    AcceptAll,
    RejectAll,
    Edit,
    Comment,
    ShowPrompts,
    Help,
    Redraw,
    Suspend,
    Quit,
}

/// A row of the help page and of the keyboard.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) action: Action,
    keys: &'static [Key],
    /// How the page names the keys.
    pub(crate) names: &'static str,
    pub(crate) help: &'static str,
}

#[derive(Debug)]
enum Key {
    Char(char),
    Ctrl(char),
    Code(KeyCode),
}

use Key::{Char, Code, Ctrl};

const fn row(action: Action, keys: &'static [Key], names: &'static str, help: &'static str) -> Binding {
    Binding { action, keys, names, help }
}

/// The help page, part by part.
pub(crate) const PARTS: [(&str, &[Binding]); 4] = [
    (
        "Decide",
        &[
            row(Action::Accept, &[Char('a')], "a", "accept the whole change"),
            row(Action::Reject, &[Char('r')], "r", "reject the change"),
            row(Action::RejectWithReason, &[Char('R')], "R", "reject with a reason"),
            row(Action::IncludeHunk, &[Char('y')], "y", "mark the hunk: include"),
            row(Action::ExcludeHunk, &[Char('x')], "x", "mark the hunk: exclude"),
            row(Action::Toggle, &[Char(' ')], "space", "mark the hunk: include, exclude, no mark"),
            row(Action::Submit, &[Char('s')], "s", "submit the marks"),
            row(Action::Comment, &[Char('c')], "c", "comment on this line"),
            row(Action::Edit, &[Char('e')], "e", "edit the new text in $VISUAL or $EDITOR"),
            row(Action::ShowPrompts, &[Char('!')], "!", "show permission requests"),
            row(Action::AcceptAll, &[Char('A')], "A", "accept all pending, or this change set"),
            row(Action::RejectAll, &[Char('X')], "X", "reject all pending, or this change set"),
        ],
    ),
    (
        "Move",
        &[
            row(Action::NextHunk, &[Char(']'), Char('J')], "]  J", "next hunk"),
            row(Action::PreviousHunk, &[Char('['), Char('K')], "[  K", "previous hunk"),
            row(Action::NextFile, &[Code(KeyCode::Tab)], "Tab", "next file"),
            row(Action::PreviousFile, &[Code(KeyCode::BackTab)], "Shift-Tab", "previous file"),
            row(Action::Down, &[Char('j'), Code(KeyCode::Down)], "j  ↓", "down"),
            row(Action::Up, &[Char('k'), Code(KeyCode::Up)], "k  ↑", "up"),
            row(Action::PageDown, &[Code(KeyCode::PageDown), Ctrl('f')], "PgDn  ^F", "a page down"),
            row(Action::PageUp, &[Code(KeyCode::PageUp), Ctrl('b')], "PgUp  ^B", "a page up"),
            row(Action::HalfDown, &[Ctrl('d')], "^D", "half a page down"),
            row(Action::HalfUp, &[Ctrl('u')], "^U", "half a page up"),
            row(Action::Top, &[Char('g'), Code(KeyCode::Home)], "g  Home", "to the top"),
            row(Action::Bottom, &[Char('G'), Code(KeyCode::End)], "G  End", "to the bottom"),
            row(Action::Right, &[Char('l'), Code(KeyCode::Right)], "l  →", "right, in long lines"),
            row(Action::Left, &[Char('h'), Code(KeyCode::Left)], "h  ←", "left"),
            row(Action::FarLeft, &[Char('0')], "0", "to the start of the lines"),
        ],
    ),
    (
        "View",
        &[
            row(Action::Open, &[Code(KeyCode::Enter), Char('o')], "Enter  o", "open the fold at the cursor"),
            row(Action::UnfoldAll, &[Char('z')], "z", "open all folds, or close them"),
            row(Action::ToggleView, &[Char('v')], "v", "side by side, or one column"),
            row(Action::ToggleList, &[Char('f')], "f", "show or hide the list of files"),
            row(Action::Search, &[Char('/')], "/", "search"),
            row(Action::NextMatch, &[Char('n')], "n", "next match"),
            row(Action::PreviousMatch, &[Char('N')], "N", "previous match"),
        ],
    ),
    (
        "Other",
        &[
            row(Action::Help, &[Char('?'), Code(KeyCode::F(1))], "?  F1", "this page"),
            row(Action::Redraw, &[Ctrl('l')], "^L", "draw the screen again"),
            row(Action::Suspend, &[Ctrl('z')], "^Z", "back to the shell for a while"),
            row(Action::Quit, &[Char('q'), Ctrl('c')], "q  ^C", "quit; undecided reviews stay pending"),
        ],
    ),
];

/// What this key does, if anything.
pub(crate) fn action(key: &KeyEvent) -> Option<Action> {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    if key.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    let is = |wanted: &Key| match wanted {
        Char(character) => !ctrl && key.code == KeyCode::Char(*character),
        Ctrl(character) => ctrl && key.code == KeyCode::Char(*character),
        Code(code) => key.code == *code,
    };
    let bindings = PARTS.iter().flat_map(|(_, bindings)| *bindings);
    bindings.into_iter().find(|binding| binding.keys.iter().any(is)).map(|binding| binding.action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        let mut keys: Vec<String> = PARTS
            .iter()
            .flat_map(|(_, bindings)| *bindings)
            .flat_map(|binding| binding.keys.iter().map(|key| format!("{key:?}")))
            .collect();
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_key_with_control_is_another_key() {
        let key = |character, modifiers| KeyEvent::new(KeyCode::Char(character), modifiers);
        assert_eq!(action(&key('a', KeyModifiers::NONE)), Some(Action::Accept));
        assert_eq!(action(&key('a', KeyModifiers::CONTROL)), None);
        assert_eq!(action(&key('a', KeyModifiers::ALT)), None);
        assert_eq!(action(&key('A', KeyModifiers::SHIFT)), Some(Action::AcceptAll));
    }
}
