//! What a command will do to each settings file: reads the files and asks the pure part; writes nothing.

use std::path::Path;

use linkspan_review::unified;

use super::agent_row::{AgentRow, HookRequest, SettingsForm};
use super::found_hook::{FoundHook, found_hooks};
use super::hook_command::HookCommand;
use super::inspection::inspect;
use super::json_text::{JsonText, JsonTextError};
use super::settings_file::SettingsFile;
use super::{merge, plugin, program};
use crate::cli::exit::{Exit, Failure};

const CONTEXT_LINES: usize = 3;

#[derive(Debug)]
pub(super) enum Goal {
    Install(HookRequest),
    /// With the path of this program.
    Remove {
        own: String,
    },
}

impl Goal {
    fn own(&self) -> &str {
        match self {
            Goal::Install(request) => &request.command.program,
            Goal::Remove { own } => own,
        }
    }
}

/// A change of one settings file.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) row: &'static AgentRow,
    pub(super) file: SettingsFile,
    pub(super) before: Option<String>,
    /// `None` if the file is removed.
    pub(super) after: Option<String>,
    pub(super) changes: Vec<HookChange>,
    /// Options of the hook that was there, which stay because the user named none.
    pub(super) kept: Vec<&'static str>,
    /// Whether the file had hooks of ours before.
    pub(super) had_hooks: bool,
}

/// What happens to our hook for one event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HookChange {
    pub(super) event: String,
    pub(super) change: &'static str,
}

/// Why there is no plan.
#[derive(Debug)]
pub(super) struct PlanError {
    pub(super) row: &'static AgentRow,
    pub(super) message: String,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.before == self.after
    }

    pub(super) fn diff(&self) -> String {
        let label = |text: &Option<String>| match text {
            Some(_) => self.file.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (label(&self.before), label(&self.after));
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        unified(&text(&self.before), &text(&self.after), &old, &new, CONTEXT_LINES)
    }
}

/// The agents whose program is on PATH, or which have a folder for settings.
pub(super) fn found_on_this_machine(home: &Path) -> Result<Vec<&'static AgentRow>, Failure> {
    let has_folder = |row: &AgentRow| {
        let path = SettingsFile::path_of(row, home);
        // The file of a form of its own is in a folder that only hooks or plugins need.
        let depth = if row.form == SettingsForm::Groups { 1 } else { 2 };
        path.ancestors().nth(depth).is_some_and(Path::is_dir)
    };
    let found: Vec<&AgentRow> = AgentRow::all()
        .iter()
        .filter(|row| program::find(row.program).is_some() || has_folder(row))
        .collect();
    match found.is_empty() {
        false => Ok(found),
        true => {
            let names: Vec<&str> = AgentRow::all().iter().map(|row| row.agent.id()).collect();
            let names = names.join(", ");
            Err(Failure::new(
                Exit::Negative,
                format!("no agent was found on this machine; name the one to install the hook for: {names}"),
            ))
        }
    }
}

pub(super) fn plans(rows: &[&'static AgentRow], home: &Path, goal: &Goal) -> Vec<Result<Plan, PlanError>> {
    rows.iter().map(|row| plan(row, home, goal).map_err(|message| PlanError { row, message })).collect()
}

fn plan(row: &'static AgentRow, home: &Path, goal: &Goal) -> Result<Plan, String> {
    let path = SettingsFile::path_of(row, home);
    let file = SettingsFile::read(path, home).map_err(|error| error.to_string())?;
    let kept_goal = with_found_options(row, &file, goal);
    let kept = match &kept_goal {
        Some(Goal::Install(request)) => request.option_names(),
        _ => Vec::new(),
    };
    let goal = kept_goal.as_ref().unwrap_or(goal);
    let (before, after) = texts(row, &file, goal).map_err(|error| problem(&file, &error))?;
    let [had, has] = [&before, &after].map(|text| hooks_in(row, text.as_deref(), goal.own()));
    Ok(Plan { row, file, changes: changes(&had, &has), kept, had_hooks: !had.is_empty(), before, after })
}

/// Who installs the hook again without options means the one that is there, with its options.
fn with_found_options(row: &AgentRow, file: &SettingsFile, goal: &Goal) -> Option<Goal> {
    let Goal::Install(request) = goal else { return None };
    if !request.option_names().is_empty() {
        return None;
    }
    let found = inspect(row, file.text().ok()?, goal.own()).ok()?;
    let command = HookCommand::new(goal.own(), found.command?.options);
    let kept = HookRequest { command, context: found.context };
    (!kept.option_names().is_empty()).then_some(Goal::Install(kept))
}

/// Where a file is wrong, and what to do about it.
pub(super) fn problem(file: &SettingsFile, error: &JsonTextError) -> String {
    let JsonTextError { line, column, what } = error;
    let path = file.path.display();
    format!(
        "{path}:{line}:{column}: {what}. Nothing was changed; correct the file, then run the command again"
    )
}

/// The text of the file now and afterwards.
fn texts(
    row: &AgentRow,
    file: &SettingsFile,
    goal: &Goal,
) -> Result<(Option<String>, Option<String>), JsonTextError> {
    let before = file.text()?;
    let after = match (row.form, goal) {
        (SettingsForm::Plugin, _) => planned_plugin(before, goal)?,
        (_, Goal::Install(request)) => {
            merge::check_syntax(row, before.unwrap_or_default())?;
            Some(merge::with_hooks(row, before, request)?)
        }
        (_, Goal::Remove { own }) => match before {
            Some(text) => merge::without_hooks(row, text, file.backup().as_deref(), own)?,
            None => None,
        },
    };
    Ok((before.map(str::to_owned), after))
}

fn planned_plugin(before: Option<&str>, goal: &Goal) -> Result<Option<String>, JsonTextError> {
    let is_ours = before.is_some_and(|text| plugin::read(text, goal.own()).is_some());
    let foreign = || JsonTextError {
        line: 1,
        column: 1,
        what: "Expected the plugin that `linkspan hook install opencode` writes, and this is another"
            .to_owned(),
    };
    match goal {
        Goal::Install(_) if before.is_some() && !is_ours => Err(foreign()),
        Goal::Install(request) => Ok(Some(plugin::rendered(request))),
        Goal::Remove { .. } if is_ours => Ok(None),
        Goal::Remove { .. } => Ok(before.map(str::to_owned)),
    }
}

/// Our hooks by event, each as a text to compare.
fn hooks_in(row: &AgentRow, text: Option<&str>, own: &str) -> Vec<(String, String)> {
    let Some(text) = text else { return vec![] };
    if row.form == SettingsForm::Plugin {
        let plugin = plugin::read(text, own).map(|_| ("plugin".to_owned(), text.to_owned()));
        return plugin.into_iter().collect();
    }
    let settings = JsonText::parse(text.trim_start_matches('\u{feff}')).map(|text| text.value());
    let found = settings.map(|settings| found_hooks(&settings, row, own)).unwrap_or_default();
    let shown = |hook: FoundHook| (hook.event, format!("{:?}{:?}", hook.matcher, hook.members));
    found.into_iter().map(shown).collect()
}

fn changes(had: &[(String, String)], has: &[(String, String)]) -> Vec<HookChange> {
    let of = |hooks: &[(String, String)], event: &str| -> Vec<String> {
        hooks.iter().filter(|hook| hook.0 == event).map(|hook| hook.1.clone()).collect()
    };
    let mut events: Vec<&str> = had.iter().chain(has).map(|hook| hook.0.as_str()).collect();
    events.sort_unstable();
    events.dedup();
    let change = |event: &str| match (of(had, event), of(has, event)) {
        (before, after) if before == after => None,
        (before, _) if before.is_empty() => Some("added"),
        (_, after) if after.is_empty() => Some("removed"),
        _ => Some("updated"),
    };
    let named = events.into_iter().filter_map(|event| Some((event, change(event)?)));
    named.map(|(event, change)| HookChange { event: event.to_owned(), change }).collect()
}
