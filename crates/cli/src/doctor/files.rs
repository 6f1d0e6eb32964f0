//! What `doctor` looks at on disk: the configuration and the journal.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use linkspan_editor_api::Places;
use linkspan_hub::config::Clients;

use super::Finding;
use crate::config;
use crate::output::count;
use crate::reach::Reach;

/// How every SQLite file begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

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

pub(super) fn journal(places: &Places) -> Vec<Finding> {
    let path = places.journal();
    let mut start = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(SQLITE.len() as u64).read_to_end(&mut start));
    let first = match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Finding::good("journal", format!("none yet at {}", path.display()))
        }
        Err(error) => {
            let remedy = "Make it and its folder yours (chown, chmod 600), then `linkspan hub stop`.";
            Finding::bad("journal", format!("{} cannot be read: {error}", path.display()), remedy)
        }
        Ok(_) if start != SQLITE && !start.is_empty() => {
            let remedy = "The hub puts it aside and starts a new one; the old one stays for you to look at.";
            Finding::bad("journal", format!("{} is damaged: it is no SQLite file", path.display()), remedy)
        }
        Ok(_) => Finding::good("journal", path.display().to_string()),
    };
    let mut findings = vec![first];
    let beside = fs::read_dir(&places.state).into_iter().flatten().flatten();
    for entry in beside.filter(|entry| entry.file_name().to_string_lossy().starts_with("journal.damaged-")) {
        let text = format!("a damaged one was put aside: {}", entry.path().display());
        findings.push(Finding::note("journal", text));
    }
    findings
}
