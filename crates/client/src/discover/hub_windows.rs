//! The windows of our hub, as candidates. Asks the running hub and never starts one.

use std::path::PathBuf;

use linkspan_editor_api::{HubWindows, Places, WindowStatus};

use super::candidate::{Candidate, CandidateVerdict, FoundBy, Match, Wire};
use super::reason::Reason;
use super::{LookedIn, LookupResult};
use crate::{ConnectError, HubLauncher};

/// The hub's windows, and the result of looking for the hub.
pub(super) fn ask(places: &Places) -> (Vec<WindowStatus>, LookedIn) {
    // If the path is not valid for a socket, the failure says so.
    let place = places.socket().unwrap_or_else(|_| places.runtime.clone());
    match windows(places) {
        Ok(Some(windows)) => {
            let found = LookupResult::Hub { windows: windows.len() };
            (windows, LookedIn { place, found })
        }
        Ok(None) => (Vec::new(), LookedIn { place, found: LookupResult::Nothing }),
        Err(message) => (Vec::new(), LookedIn { place, found: LookupResult::Failed(message) }),
    }
}

fn windows(places: &Places) -> Result<Option<Vec<WindowStatus>>, String> {
    let mut control = match HubLauncher::connect(places) {
        Ok(control) => control,
        Err(ConnectError::NoHub { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let said = control.hello_and("discovery", &HubWindows {});
    said.map(|(_, listed)| Some(listed.windows)).map_err(|error| error.to_string())
}

/// A window as a candidate; `matched` comes from its folders and the environment.
pub(super) fn candidate(window: WindowStatus, matched: Option<Match>) -> Candidate {
    let verdict = match matched {
        None => CandidateVerdict::Not(Reason::OtherWorkspace),
        Some(_) if !window.attached => CandidateVerdict::Not(Reason::EditorAway),
        Some(_) => CandidateVerdict::Usable,
    };
    Candidate {
        editor: window.editor.name,
        wire: Wire::Hub { window: window.window, port: window.port },
        folders: window.folders.into_iter().map(PathBuf::from).collect(),
        pid: Some(window.editor_pid),
        found: FoundBy::Hub,
        matched,
        verdict,
    }
}
