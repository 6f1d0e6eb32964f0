//! Opens a link in the user's browser, or says why there is none.

use std::env;
use std::io::{self, IsTerminal};

/// Whether a browser may be opened without being asked to: the user sits in front of this machine.
pub(crate) fn is_local_desktop() -> bool {
    io::stdout().is_terminal() && !is_set("SSH_CONNECTION") && has_display()
}

/// Gives the link to the system's opener, which may still fail later, or returns why it cannot. The link holds a secret, so
/// it is not in the message.
pub(super) fn ask_to_open(url: &str) -> Result<(), String> {
    // A program named by BROWSER may not need a display.
    if !has_display() && !is_set("BROWSER") {
        return Err("no display available (DISPLAY, WAYLAND_DISPLAY and BROWSER are not set)".into());
    }
    ::open::that_detached(url).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "no program to open pages was found (such as xdg-open)".into(),
        _ => "the program that opens pages (such as xdg-open) failed".into(),
    })
}

/// Without one, `xdg-open` would start a text browser in the terminal, which runs no scripts.
fn has_display() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| is_set(name))
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}
