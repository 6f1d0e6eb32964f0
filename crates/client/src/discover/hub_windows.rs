//! The windows of our hub, as candidates. Asks the running hub and never starts one.

use std::path::PathBuf;

use linkspan_editor_api::{HubStatus, HubStatusResult, Places, WindowStatus};

use super::candidate::{Candidate, Found, Match, Verdict, Wire};
use super::reason::Reason;
use super::{LookedIn, Seen};
use crate::{ConnectError, Hub};

/// What the hub says, and what to tell about having looked for it.
pub(super) fn ask(places: &Places) -> (Vec<WindowStatus>, LookedIn) {
    // When the path is no path of a socket, the failure says so.
    let place = places.socket().unwrap_or_else(|_| places.runtime.clone());
    match status(places) {
        Ok(Some(status)) => {
            let found = Seen::Hub { windows: status.windows.len() };
            (status.windows, LookedIn { place, found })
        }
        Ok(None) => (Vec::new(), LookedIn { place, found: Seen::Nothing }),
        Err(message) => (Vec::new(), LookedIn { place, found: Seen::Failed(message) }),
    }
}

fn status(places: &Places) -> Result<Option<HubStatusResult>, String> {
    let mut control = match Hub::connect(places) {
        Ok(control) => control,
        Err(ConnectError::NoHub { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let said = control.hello("discovery").and_then(|_| control.request(&HubStatus {}));
    said.map(Some).map_err(|error| error.to_string())
}

/// A window as a candidate; `matched` is what its folders and the environment say.
pub(super) fn candidate(window: WindowStatus, matched: Option<Match>) -> Candidate {
    let verdict = match matched {
        None => Verdict::Not(Reason::OtherWorkspace),
        Some(_) if !window.attached => Verdict::Not(Reason::EditorAway),
        Some(_) => Verdict::Usable,
    };
    Candidate {
        editor: window.editor.name,
        wire: Wire::Hub { window: window.window, port: window.port },
        folders: window.folders.into_iter().map(PathBuf::from).collect(),
        pid: Some(window.editor_pid),
        found: Found::Hub,
        matched,
        verdict,
    }
}
