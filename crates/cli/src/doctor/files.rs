//! What `doctor` looks at on disk: the configuration, the places that a hub writes to, and the journal.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use linkspan_editor_api::Places;
use linkspan_hub::config::{Clients, Config};
use linkspan_hub::journal::Inspection;

use super::Finding;
use crate::config;
use crate::output::count;
use crate::reach::Reach;
use crate::storage::{self, Problem};

/// With one digit behind the point.
fn in_mib(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1024 * 1024);
    format!("{}.{}", tenths / 10, tenths % 10)
}

pub(super) fn config(reach: &Reach, here: &Path, hub_started_at_ms: Option<u64>) -> Vec<Finding> {
    let user = reach.places.config_file();
    let folder = config::workspace_of(here);
    let mut findings: Vec<Finding> = config::problems_in(&user, folder.as_deref())
        .into_iter()
        .map(|problem| {
            Finding::bad("config", problem.to_string(), "A hub does not start with it; correct the file.")
        })
        .collect();
    let modified = fs::metadata(&user).and_then(|found| found.modified()).ok();
    let modified_ms =
        modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|time| time.as_millis());
    if findings.is_empty() {
        findings.push(match modified {
            None => Finding::good("config", format!("the defaults; there is no {}", user.display())),
            Some(_) => Finding::good("config", user.display().to_string()),
        });
        findings.extend(folder.map(|folder| {
            Finding::good(
                "config",
                config::workspace_file(Some(&folder)).unwrap_or_default().display().to_string(),
            )
        }));
    }
    if let (Some(modified), Some(started)) = (modified_ms, hub_started_at_ms)
        && modified > u128::from(started)
    {
        let text = "it changed after the hub started, which has not read it: `linkspan hub stop`, and it starts anew";
        findings.push(Finding::note("config", text));
    }
    findings
}

/// What agents may do for good.
pub(super) fn clients(places: &Places) -> Vec<Finding> {
    let path = places.clients_file();
    match Clients::load(&path) {
        Err(error) => {
            let remedy = "Nothing that it allows counts; correct the file, or remove it.";
            vec![Finding::bad("clients", error.to_string(), remedy)]
        }
        Ok(clients) if clients.entries.is_empty() => Vec::new(),
        Ok(clients) => {
            let text = format!("{}: {}", path.display(), count(clients.entries.len() as u64, "agent"));
            vec![Finding::good("clients", text)]
        }
    }
}

/// The places that a hub writes to.
pub(super) fn storage(places: &Places) -> Vec<Finding> {
    let problems = storage::places(places);
    if problems.is_empty() {
        return vec![Finding::good("storage", format!("{} can be written", places.state.display()))];
    }
    problems.into_iter().map(bad_storage).collect()
}

fn bad_storage(Problem { found, remedy }: Problem) -> Finding {
    Finding::bad("storage", found, remedy)
}

pub(super) fn journal(places: &Places) -> Vec<Finding> {
    let path = places.journal();
    let shown = path.display();
    let first = match storage::journal(&path) {
        (_, Some(Problem { found, remedy })) => Finding::bad("journal", found, remedy),
        (Inspection::Sound { size, whole }, None) => {
            let Config { journal_mib, journal_days, .. } =
                Config::load(&places.config_file()).unwrap_or_default();
            let [file, free] = [size.file, size.free].map(in_mib);
            let unseen = if whole { "" } else { "; too large to check all of it now" };
            Finding::good(
                "journal",
                format!(
                    "{shown}: {file} MiB, {free} of them free; keeps {journal_mib} MiB and {journal_days} days{unseen}"
                ),
            )
        }
        _ => Finding::good("journal", format!("none yet at {shown}")),
    };
    let mut findings = vec![first];
    let beside = fs::read_dir(&places.state).into_iter().flatten().flatten();
    for entry in beside.filter(|entry| entry.file_name().to_string_lossy().starts_with("journal.damaged-")) {
        let text = format!("a damaged one was put aside: {}", entry.path().display());
        findings.push(Finding::note("journal", text));
    }
    findings
}
