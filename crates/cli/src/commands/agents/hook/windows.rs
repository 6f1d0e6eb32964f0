//! Which window of our hub shows what an agent is about to do. Other editors' windows do not count: they cannot carry a
//! decision back to the agent's model, and the agent finds them by itself.

use std::path::Path;

use linkspan_client::discover::Wire;
use linkspan_client::{Candidate, Surroundings, discover_hub_windows};

use crate::cli::context::CliContext;
use crate::cli::headless;
use crate::cli::pinned_windows::{self, Pin};
use crate::cli::window::{WindowName, find};

/// The window for a file that an agent in `cwd` changes: the one with the file's folder, else the agent's own.
pub(super) fn for_file(cli: &CliContext, cwd: &Path, file: &Path) -> Option<Candidate> {
    let folder = file.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(cwd);
    // A window around `cwd` is also around the folders in it, so a second question would find nothing new.
    if folder.starts_with(cwd) {
        return for_folder_of(cli, cwd, folder);
    }
    for_folder_of(cli, cwd, folder).or_else(|| for_folder(cli, cwd))
}

/// The window for an agent in `cwd`.
pub(crate) fn for_folder(cli: &CliContext, cwd: &Path) -> Option<Candidate> {
    for_folder_of(cli, cwd, cwd)
}

fn for_folder_of(cli: &CliContext, cwd: &Path, folder: &Path) -> Option<Candidate> {
    match pinned_windows::of(&cli.places, cwd) {
        Ok(None) | Err(_) => {}
        Ok(Some((_, Pin::None))) => return None,
        Ok(Some((_, Pin::Window(window)))) => return pinned(&window),
    }
    let windows = discover_hub_windows(&Surroundings::of_this_process(folder).ok()?);
    best(&windows).cloned()
}

fn pinned(window: &WindowName) -> Option<Candidate> {
    find(window).ok().filter(|found| matches!(found.wire, Wire::Hub { .. }))
}

/// Among those that fit equally well, one that the user sees.
fn best(windows: &[Candidate]) -> Option<&Candidate> {
    let first = windows.first().filter(|first| first.is_usable())?;
    let mut equals = windows.iter().filter(|one| one.is_usable() && one.matched == first.matched);
    Some(equals.find(|one| one.editor != headless::NAME).unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use linkspan_client::discover::{CandidateVerdict, FoundBy, Match, Reason};

    use super::*;

    fn window(id: &str, editor: &str, depth: Option<usize>) -> Candidate {
        Candidate {
            editor: editor.into(),
            wire: Wire::Hub { window: id.into(), port: 0 },
            folders: Vec::new(),
            pid: None,
            found: FoundBy::Hub,
            matched: depth.map(|depth| Match::Folder { depth }),
            verdict: match depth {
                Some(_) => CandidateVerdict::Usable,
                None => CandidateVerdict::Not(Reason::OtherWorkspace),
            },
        }
    }

    #[test]
    fn a_window_that_the_user_sees_comes_before_a_headless_one_that_fits_as_well() {
        let (headless, seen) = (window("w1", headless::NAME, Some(1)), window("w2", "Code", Some(1)));
        assert_eq!(best(&[headless.clone(), seen.clone()]), Some(&seen));
        assert_eq!(best(&[headless.clone(), window("w3", "Code", Some(2))]), Some(&headless));
    }

    #[test]
    fn a_window_with_another_folder_is_not_used() {
        assert_eq!(best(&[window("w1", "Code", None)]), None);
        assert_eq!(best(&[]), None);
    }
}
