//! The windows of our hub, as candidates. Asks the running hub and never starts one.

use std::path::PathBuf;

use linkspan_editor_api::{HubWindows, Places, WindowStatus};

use super::candidate::{Candidate, Found, Match, Verdict, Wire};
use super::reason::Reason;
use super::{LookedIn, Seen};
use crate::{ConnectError, Hub};

/// What the hub says, and what to tell about having looked for it.
pub(super) fn ask(places: &Places) -> (Vec<WindowStatus>, LookedIn) {
    // When the path is no path of a socket, the failure says so.
    let place = places.socket().unwrap_or_else(|_| places.runtime.clone());
    match windows(places) {
        Ok(Some(windows)) => {
            let found = Seen::Hub { windows: windows.len() };
            (windows, LookedIn { place, found })
        }
        Ok(None) => (Vec::new(), LookedIn { place, found: Seen::Nothing }),
        Err(message) => (Vec::new(), LookedIn { place, found: Seen::Failed(message) }),
    }
}

fn windows(places: &Places) -> Result<Option<Vec<WindowStatus>>, String> {
    let mut control = match Hub::connect(places) {
        Ok(control) => control,
        Err(ConnectError::NoHub { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let said = control.hello_and("discovery", &HubWindows {});
    said.map(|(_, listed)| Some(listed.windows)).map_err(|error| error.to_string())
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
