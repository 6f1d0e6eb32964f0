//! What `doctor` checks on disk: the configuration, the directories that the hub writes to, the journal, and the
//! hooks in the settings of agents.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use linkspan_editor_api::Places;
use linkspan_hub::config::{Clients, Config};
use linkspan_hub::journal::Inspection;

use super::Finding;
use crate::cli::context::CliContext;
use crate::cli::output::count;
use crate::cli::storage::{self, StorageProblem};
use crate::commands::agents::hook;
use crate::commands::setup::config;

/// With one decimal place.
fn in_mib(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1024 * 1024);
    format!("{}.{}", tenths / 10, tenths % 10)
}

pub(super) fn config(cli: &CliContext, here: &Path, hub_started_at_ms: Option<u64>) -> Vec<Finding> {
    let user = cli.places.config_file();
    let folder = config::workspace_of(here);
    let mut findings: Vec<Finding> = config::problems_in(&user, folder.as_deref())
        .into_iter()
        .map(|problem| {
            Finding::bad("config", problem.to_string(), "The hub does not start with it; correct the file.")
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
        let text = "it changed after the hub started and is not in effect yet; run `linkspan hub stop`, and the hub starts again";
        findings.push(Finding::note("config", text));
    }
    findings
}

/// The remembered permissions.
pub(super) fn clients(places: &Places) -> Vec<Finding> {
    let path = places.clients_file();
    match Clients::load(&path) {
        Err(error) => {
            let remedy = "The remembered permissions are ignored; correct the file, or remove it.";
            vec![Finding::bad("clients", error.to_string(), remedy)]
        }
        Ok(clients) if clients.entries.is_empty() => Vec::new(),
        Ok(clients) => {
            let text = format!("{}: {}", path.display(), count(clients.entries.len() as u64, "agent"));
            vec![Finding::good("clients", text)]
        }
    }
}

/// The directories that the hub writes to.
pub(super) fn storage(places: &Places) -> Vec<Finding> {
    let problems = storage::places(places);
    if problems.is_empty() {
        return vec![Finding::good("storage", format!("{} is writable", places.state.display()))];
    }
    problems.into_iter().map(bad_storage).collect()
}

fn bad_storage(StorageProblem { found, remedy }: StorageProblem) -> Finding {
    Finding::bad("storage", found, remedy)
}

pub(super) fn journal(places: &Places) -> Vec<Finding> {
    let path = places.journal();
    let shown = path.display();
    let first = match storage::journal(&path) {
        (_, Some(StorageProblem { found, remedy })) => Finding::bad("journal", found, remedy),
        (Inspection::Sound { size, whole }, None) => {
            let Config { journal_mib, journal_days, .. } =
                Config::load(&places.config_file()).unwrap_or_default();
            let [file, free] = [size.file, size.free].map(in_mib);
            let partial = if whole { "" } else { "; too large to check completely" };
            Finding::good(
                "journal",
                format!(
                    "{shown}: {file} MiB, {free} of them free; keeps {journal_mib} MiB and {journal_days} days{partial}"
                ),
            )
        }
        _ => Finding::good("journal", format!("none yet at {shown}")),
    };
    let mut findings = vec![first];
    let siblings = fs::read_dir(&places.state).into_iter().flatten().flatten();
    for entry in siblings.filter(|entry| entry.file_name().to_string_lossy().starts_with("journal.damaged-"))
    {
        let text = format!("a damaged one was kept as {}", entry.path().display());
        findings.push(Finding::note("journal", text));
    }
    findings
}

/// The hook in the settings of agents.
pub(super) fn hooks(cli: &CliContext) -> Vec<Finding> {
    let installed = hook::installed(&cli.places.home, cli.program());
    let finding = |one: hook::InstalledHook| match one.problems.is_empty() {
        true => Finding::good("hook", one.found),
        false => {
            let remedy =
                format!("{}. See `linkspan hook status {}`.", one.problems.join("; "), one.agent.id());
            Finding::bad("hook", one.found, remedy)
        }
    };
    installed.into_iter().map(finding).collect()
}
