//! `linkspan hook status`: which agents have the hook, and what is wrong with it; also for `linkspan doctor`.

use std::path::{Path, PathBuf};

use linkspan_dialect::hooks::HookAgent;
use serde_json::{Value, json};

use super::agent_row::{AgentRow, HookRequest};
use super::codex_trust;
use super::hook_command::HookCommand;
use super::inspection::{HookInspection, InstallState, inspect};
use super::program;
use super::settings_file::SettingsFile;
use crate::cli::exit::Exit;
use crate::cli::output::{Report, WARNING, count, styled, table};
use crate::visible::name;

/// The hook of one agent.
struct AgentStatus {
    row: &'static AgentRow,
    path: PathBuf,
    program: Option<PathBuf>,
    version: Option<String>,
    found: Result<HookInspection, String>,
    problems: Vec<String>,
}

/// A hook that is installed, for `linkspan doctor`.
pub(crate) struct InstalledHook {
    pub(crate) agent: HookAgent,
    pub(crate) found: String,
    pub(crate) problems: Vec<String>,
}

/// The hooks that are installed, and files that cannot be read.
pub(crate) fn installed(home: &Path, program: &Path) -> Vec<InstalledHook> {
    let own = program::own_path(program);
    let all = AgentRow::all().iter().map(|row| status(row, home, &own));
    let is_interesting = |one: &AgentStatus| !one.is_absent();
    all.filter(is_interesting)
        .map(|one| InstalledHook {
            agent: one.row.agent,
            found: format!("{}: {} in {}", one.row.agent, one.state(), one.path.display()),
            problems: one.problems,
        })
        .collect()
}

fn status(row: &'static AgentRow, home: &Path, own: &str) -> AgentStatus {
    let path = SettingsFile::path_of(row, home);
    let program = program::find(row.program);
    let version = program.as_deref().and_then(program::packaged_version);
    let read = SettingsFile::read(path.clone(), home).map_err(|error| error.to_string());
    let found = read.and_then(|file| {
        let found = file.text().and_then(|text| inspect(row, text, own));
        found.map_err(|error| format!("{}:{}:{}: {}", path.display(), error.line, error.column, error.what))
    });
    let problems = match &found {
        Ok(found) => problems(row, found, own).into_iter().chain(distrust(row, &path, found)).collect(),
        Err(problem) => vec![format!("{problem}; correct the file")],
    };
    AgentStatus { row, path, program, version, found, problems }
}

/// The options with which the hook that is there was installed.
fn option_names_of(found: &HookInspection) -> Vec<&'static str> {
    let request = |command: &HookCommand| {
        HookRequest { command: command.clone(), context: found.context }.option_names()
    };
    found.command.as_ref().map(request).unwrap_or_default()
}

fn problems(row: &AgentRow, found: &HookInspection, own: &str) -> Vec<String> {
    let options: String = option_names_of(found).iter().map(|option| format!(" {option}")).collect();
    let again = format!("run `linkspan hook install {}{options}`", row.agent.id());
    let mut problems: Vec<String> = Vec::new();
    match (found.state, &found.command) {
        (InstallState::Partial, _) => {
            problems.push(format!("the hook is missing for {}: {again}", found.missing.join(", ")));
        }
        (InstallState::Outdated, Some(command)) if command.program == own => {
            problems.push(format!("this version installs it in another way: {again}"));
        }
        _ => {}
    }
    if let Some(command) = &found.command
        && command.program != own
    {
        let path = Path::new(&command.program);
        let is_there = !path.is_absolute() || program::is_executable(path);
        problems.push(match is_there {
            true => format!("it runs {}, and this program is {own}: {again}", command.program),
            false => format!("it runs {}, which does not exist: {again}", command.program),
        });
    }
    problems.extend(found.problems.iter().map(|problem| format!("{problem}: {again}")));
    problems
}

/// Codex does not run a hook that the user has not been asked about.
fn distrust(row: &AgentRow, path: &Path, found: &HookInspection) -> Option<String> {
    if row.agent != HookAgent::Codex || found.keys.is_empty() {
        return None;
    }
    let file = SettingsFile::read(path.with_file_name("config.toml"), path).ok();
    let config = file.as_ref().and_then(|file| file.text().ok().flatten()).unwrap_or_default();
    let is_unknown = codex_trust::is_unknown(config, &path.display().to_string(), &found.keys);
    is_unknown.then(|| row.note.unwrap_or_default().to_owned())
}

impl AgentStatus {
    fn is_absent(&self) -> bool {
        matches!(&self.found, Ok(found) if found.state == InstallState::Absent)
    }

    fn state(&self) -> &'static str {
        self.found.as_ref().map_or("unreadable", |found| found.state.name())
    }

    fn document(&self) -> Value {
        let mut document = json!({
            "agent": self.row.agent.id(),
            "name": self.row.agent.display_name(),
            "program": self.program,
            "version": self.version,
            "path": self.path,
            "state": self.state(),
            "problems": self.problems,
        });
        if let (Ok(found), Some(members)) = (&self.found, document.as_object_mut()) {
            members.insert("events".into(), json!(found.events));
            members.insert("missing".into(), json!(found.missing));
            members.insert("otherHooks".into(), json!(found.others));
            members.insert("command".into(), json!(found.command.as_ref().map(|command| command.line())));
            members.insert("context".into(), json!(found.context));
        }
        document
    }

    fn cells(&self) -> Vec<String> {
        let program = match (&self.program, &self.version) {
            (None, _) => "not found".to_owned(),
            (Some(program), None) => program.display().to_string(),
            (Some(program), Some(version)) => format!("{} ({version})", program.display()),
        };
        let path = self.path.display().to_string();
        vec![self.row.agent.to_string(), self.state().to_owned(), name(&program), name(&path)]
    }

    fn details(&self) -> String {
        let mut text = String::new();
        let agent = self.row.agent;
        if let Ok(found) = &self.found {
            if !found.events.is_empty() {
                text += &format!("{agent}: {}\n", found.events.join(", "));
            }
            let options = option_names_of(found);
            if !options.is_empty() {
                text += &format!("{agent}: installed with {}\n", options.join(" "));
            }
            if found.others > 0 {
                text += &format!("{agent}: {} of others\n", count(found.others as u64, "hook"));
            }
        }
        for problem in &self.problems {
            text += &format!("{}\n", styled(WARNING, &format!("{agent}: {}", name(problem))));
        }
        text
    }
}

/// `rows` are those that the user named.
pub(super) fn report(rows: Option<Vec<&'static AgentRow>>, home: &Path, own: &str) -> Report {
    let is_named = rows.is_some();
    let rows = rows.unwrap_or_else(|| AgentRow::all().iter().collect());
    let all: Vec<AgentStatus> = rows.into_iter().map(|row| status(row, home, own)).collect();
    let mut cells = vec![["AGENT", "HOOK", "PROGRAM", "FILE"].map(String::from).to_vec()];
    cells.extend(all.iter().map(AgentStatus::cells));
    let details: String = all.iter().map(AgentStatus::details).collect();
    let separator = if details.is_empty() { "" } else { "\n" };
    let text = format!("{}{separator}{details}", table(&cells));
    let documents: Vec<Value> = all.iter().map(AgentStatus::document).collect();
    let is_wrong = |one: &AgentStatus| !one.problems.is_empty() || (is_named && one.is_absent());
    let exit = if all.iter().any(is_wrong) { Exit::Negative } else { Exit::Ok };
    Report::new(text, json!({ "agents": documents })).ending(exit)
}
