//! Opening a link in the person's browser, or knowing why that makes no sense here.

use std::env;
use std::io::{self, IsTerminal};

/// Whether opening a page unasked would surprise nobody: a person sits in front of this very machine.
pub(crate) fn is_at_hand() -> bool {
    io::stdout().is_terminal() && !is_set("SSH_CONNECTION") && has_a_screen()
}

/// Gives it to the system's opener, which may still fail later; else says why there is none. The link holds a secret, so
/// no reason names it.
pub(super) fn ask_to_open(url: &str) -> Result<(), String> {
    // One that is named may do without a screen.
    if !has_a_screen() && !is_set("BROWSER") {
        return Err(
            "this machine has no screen here (DISPLAY, WAYLAND_DISPLAY and BROWSER are not set)".into()
        );
    }
    ::open::that_detached(url).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "there is no program that opens pages, such as xdg-open".into(),
        _ => "the program that opens pages, such as xdg-open, failed".into(),
    })
}

/// Without one, `xdg-open` would take the terminal for a browser of text, which runs no script.
fn has_a_screen() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| is_set(name))
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}
