//! The hooks in a settings file: which are ours, where each is, and how many others there are. Reads the meaning of
//! the file, not its text.

use serde_json::{Map, Value};

use super::agent_row::{AgentRow, SettingsForm};
use super::codex_trust::HookKey;
use super::hook_command::HookCommand;
use super::json_text::PathStep;

/// One of our hooks in a settings file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundHook {
    pub(super) event: String,
    pub(super) command: HookCommand,
    pub(super) matcher: Option<Value>,
    pub(super) members: Map<String, Value>,
    /// Its element in the event's list.
    element: usize,
    /// Its place in the group, and the number of hooks there.
    in_group: Option<(usize, usize)>,
}

impl FoundHook {
    /// Whether its group holds other hooks, too.
    pub(super) fn is_shared(&self) -> bool {
        self.in_group.is_some_and(|(_, length)| length > 1)
    }

    pub(super) fn key(&self) -> HookKey {
        let position = self.in_group.map_or(0, |(position, _)| position);
        HookKey { event: self.event.clone(), element: self.element, position }
    }

    /// The element of the event's list.
    pub(super) fn element_path(&self) -> Vec<PathStep> {
        let mut path = event_path(&self.event);
        path.push(PathStep::Element(self.element));
        path
    }

    pub(super) fn path(&self) -> Vec<PathStep> {
        let mut path = self.element_path();
        if let Some((position, _)) = self.in_group {
            path.push(PathStep::Member("hooks".into()));
            path.push(PathStep::Element(position));
        }
        path
    }
}

pub(super) fn event_path(event: &str) -> Vec<PathStep> {
    vec![PathStep::Member("hooks".into()), PathStep::Member(event.to_owned())]
}

/// Our hooks, in the order of the file.
pub(super) fn found_hooks(settings: &Value, row: &AgentRow, own: &str) -> Vec<FoundHook> {
    every_hook(settings, row).into_iter().filter_map(|place| ours(&place, row, own)).collect()
}

/// How many hooks of others there are, for any event.
pub(super) fn count_others(settings: &Value, row: &AgentRow, own: &str) -> usize {
    every_hook(settings, row).iter().filter(|place| ours(place, row, own).is_none()).count()
}

struct HookPlace<'a> {
    event: &'a str,
    element: usize,
    in_group: Option<(usize, usize)>,
    matcher: Option<&'a Value>,
    hook: &'a Map<String, Value>,
}

fn ours(place: &HookPlace<'_>, row: &AgentRow, own: &str) -> Option<FoundHook> {
    let line = place.hook.get(row.command_member())?.as_str()?;
    Some(FoundHook {
        event: place.event.to_owned(),
        command: HookCommand::read(line, own)?,
        matcher: place.matcher.cloned(),
        members: place.hook.clone(),
        element: place.element,
        in_group: place.in_group,
    })
}

fn every_hook<'a>(settings: &'a Value, row: &AgentRow) -> Vec<HookPlace<'a>> {
    let mut places = Vec::new();
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    for (event, list) in events {
        for (element, item) in list.as_array().into_iter().flatten().enumerate() {
            let matcher = item.get("matcher");
            if row.form == SettingsForm::Flat {
                let place = |hook| HookPlace { event, element, in_group: None, matcher, hook };
                places.extend(item.as_object().map(place));
                continue;
            }
            let hooks = item.get("hooks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            for (position, hook) in hooks.iter().enumerate() {
                let in_group = Some((position, hooks.len()));
                let place = |hook| HookPlace { event, element, in_group, matcher, hook };
                places.extend(hook.as_object().map(place));
            }
        }
    }
    places
}
