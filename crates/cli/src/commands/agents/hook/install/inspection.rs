//! What a settings file says about our hook: whether it is there, complete, and can work. Pure.

use serde_json::Value;

use super::agent_row::{AgentRow, HookRequest, Purpose, SettingsForm};
use super::codex_trust::HookKey;
use super::found_hook::{FoundHook, count_others, found_hooks};
use super::hook_command::HookCommand;
use super::json_text::{JsonText, JsonTextError};
use super::{merge, plugin};

/// Less time than this, in seconds, is too short to think.
const SHORTEST_LIMIT: u64 = 3_600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstallState {
    Absent,
    /// Some events are missing.
    Partial,
    /// Another path, other options in some events, or an older form than this version writes.
    Outdated,
    Installed,
}

impl InstallState {
    pub(super) fn name(self) -> &'static str {
        match self {
            InstallState::Absent => "not installed",
            InstallState::Partial => "partly installed",
            InstallState::Outdated => "outdated",
            InstallState::Installed => "installed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookInspection {
    pub(super) state: InstallState,
    /// The command of the first hook.
    pub(super) command: Option<HookCommand>,
    pub(super) context: bool,
    pub(super) keys: Vec<HookKey>,
    /// The events that have our hook, in the order of the table.
    pub(super) events: Vec<String>,
    pub(super) missing: Vec<String>,
    /// Hooks that are not ours.
    pub(super) others: usize,
    pub(super) problems: Vec<String>,
}

/// `own` is the path of this program.
pub(super) fn inspect(
    row: &AgentRow,
    text: Option<&str>,
    own: &str,
) -> Result<HookInspection, JsonTextError> {
    let absent = HookInspection {
        state: InstallState::Absent,
        command: None,
        context: false,
        keys: vec![],
        events: vec![],
        missing: vec![],
        others: 0,
        problems: vec![],
    };
    let Some(text) = text.filter(|text| !text.trim_start_matches('\u{feff}').trim().is_empty()) else {
        return Ok(absent);
    };
    if row.form == SettingsForm::Plugin {
        return Ok(inspect_plugin(text, own, absent));
    }
    let settings = JsonText::parse(text.trim_start_matches('\u{feff}'))?.value();
    let found = found_hooks(&settings, row, own);
    let others = count_others(&settings, row, own);
    let Some(first) = found.first() else { return Ok(HookInspection { others, ..absent }) };
    // Events without one of the context events were installed with `--no-context`.
    let complete = HookRequest { command: first.command.clone(), context: true };
    let purposes = row.wanted(&complete);
    let context = purposes.iter().any(|one| one.purpose == Purpose::Context && has(&found, one.event));
    let program = first.command.program.clone();
    let as_found = HookRequest { command: HookCommand::new(&program, first.command.options), context };
    let wanted = row.wanted(&as_found);
    let names = |is_there: bool| {
        let events = wanted.iter().map(|one| one.event).filter(|event| has(&found, event) == is_there);
        events.map(String::from).collect::<Vec<_>>()
    };
    let (events, missing) = (names(true), names(false));
    let updated = HookRequest { command: HookCommand::new(own, first.command.options), context };
    let state = if !missing.is_empty() {
        InstallState::Partial
    } else if merge::with_hooks(row, Some(text), &updated)? == text {
        InstallState::Installed
    } else {
        InstallState::Outdated
    };
    let mut problems = problems(row, &settings, &found);
    if let Err(error) = merge::check_syntax(row, text) {
        problems.push(format!("line {}, column {}: {}", error.line, error.column, error.what));
    }
    let command = Some(first.command.clone());
    let keys = found.iter().map(FoundHook::key).collect();
    Ok(HookInspection { state, command, context, keys, events, missing, others, problems })
}

fn inspect_plugin(text: &str, own: &str, absent: HookInspection) -> HookInspection {
    let Some(found) = plugin::read(text, own) else {
        return HookInspection { others: 1, ..absent };
    };
    let updated =
        HookRequest { command: HookCommand::new(own, found.command.options), context: found.context };
    let is_current = plugin::rendered(&updated) == text;
    let state = if is_current { InstallState::Installed } else { InstallState::Outdated };
    HookInspection { state, command: Some(found.command), context: found.context, ..absent }
}

fn has(found: &[FoundHook], event: &str) -> bool {
    found.iter().any(|hook| hook.event == event)
}

fn problems(row: &AgentRow, settings: &Value, found: &[FoundHook]) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some((path, off)) = row.switch
        && settings.pointer(&format!("/{}", path.join("/"))) == Some(&Value::Bool(off))
    {
        problems.push(format!("`{}` is {off}: {} runs no hooks", path.join("."), row.agent));
    }
    let everything = HookRequest { command: HookCommand::new("", Default::default()), context: true };
    for wanted in row.wanted(&everything).iter().filter(|wanted| wanted.purpose == Purpose::Decide) {
        for hook in found.iter().filter(|hook| hook.event == wanted.event) {
            let number = hook.members.get(row.limit_member()).map(|limit| limit.as_u64().unwrap_or_default());
            let seconds = number.map_or(row.default_limit, |number| row.unit.seconds(number));
            if seconds < SHORTEST_LIMIT {
                let event = wanted.event;
                problems.push(format!("{event}: {} stops waiting for you after {seconds} s", row.agent));
            }
        }
    }
    problems
}
