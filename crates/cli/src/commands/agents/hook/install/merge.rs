//! Merges our hooks into the text of a settings file, and takes them out again. Pure: bytes in, bytes out. Hooks of
//! the user and of other programs, comments, order and white space stay as they are.

use serde_json::Value;

use super::agent_row::{AgentRow, HookRequest, SettingsForm, WantedHook};
use super::found_hook::{FoundHook, event_path, found_hooks};
use super::json_text::{JsonText, JsonTextError, PathStep};
use super::json_value::JsonValue;

/// More than the edits that any file of a user needs.
const MAX_EDITS: usize = 10_000;
const MARK: &str = "\u{feff}";

/// The settings with our hooks. `before` is `None` if there is no file.
pub(super) fn with_hooks(
    row: &AgentRow,
    before: Option<&str>,
    request: &HookRequest,
) -> Result<String, JsonTextError> {
    let wanted = row.wanted(request);
    let before = before.filter(|before| !is_blank(before)).unwrap_or("{}\n");
    repeat(before, |text| next_addition(&JsonText::parse(text)?, row, &wanted, &request.command.program))
}

/// The settings without our hooks; `None` if no file is left. `original` is the file as it was before we changed it:
/// an empty list that was there stays.
pub(super) fn without_hooks(
    row: &AgentRow,
    before: &str,
    original: Option<&str>,
    own: &str,
) -> Result<Option<String>, JsonTextError> {
    if is_blank(before) {
        return Ok(Some(before.to_owned()));
    }
    let kept = original.and_then(|original| JsonText::parse(without_mark(original)).ok());
    let kept = kept.map_or(Value::Null, |original| original.value());
    let had_any = !found_hooks(&JsonText::parse(without_mark(before))?.value(), row, own).is_empty();
    let text = repeat(before, |text| next_removal(&JsonText::parse(text)?, row, &kept, own))?;
    if !had_any {
        return Ok(Some(text));
    }
    let text = match (row.form, original) {
        (SettingsForm::Flat, Some(_)) if kept.get("version").is_none() => without_version(&text)?,
        (SettingsForm::Flat, None) if is_only_version(&text)? => without_version(&text)?,
        _ => text,
    };
    let is_empty = without_mark(&text).trim() == "{}";
    Ok(match original {
        None if is_empty => None,
        Some(original) if is_empty && is_blank(original) => Some(original.to_owned()),
        _ => Some(text),
    })
}

/// Whether the agent itself can read the file. One that it cannot read is useless to it, with or without our hooks.
pub(super) fn check_syntax(row: &AgentRow, text: &str) -> Result<(), JsonTextError> {
    if is_blank(text) {
        return Ok(());
    }
    JsonText::check(without_mark(text), row.comments).map_err(|error| JsonTextError {
        what: format!("{}; {} ignores the whole file", error.what, row.agent),
        ..error
    })
}

fn is_blank(text: &str) -> bool {
    without_mark(text).trim().is_empty()
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Applies one edit after the other until nothing is left to do.
fn repeat(
    text: &str,
    next: impl Fn(&str) -> Result<Option<String>, JsonTextError>,
) -> Result<String, JsonTextError> {
    let mark = if text.starts_with(MARK) { MARK } else { "" };
    let mut text = without_mark(text).to_owned();
    for _ in 0..MAX_EDITS {
        match next(&text)? {
            Some(edited) => text = edited,
            None => return Ok(format!("{mark}{text}")),
        }
    }
    Err(JsonTextError { line: 1, column: 1, what: "There are too many hooks".to_owned() })
}

fn next_addition(
    text: &JsonText<'_>,
    row: &AgentRow,
    wanted: &[WantedHook],
    own: &str,
) -> Result<Option<String>, JsonTextError> {
    let settings = text.value();
    check_shape(text, &settings, wanted)?;
    if row.form == SettingsForm::Flat && settings.get("version").is_none() {
        return Ok(text.with_member(&[], "version", &JsonValue::Number(1)));
    }
    let hooks = [PathStep::Member("hooks".into())];
    if settings.get("hooks").is_none() {
        return Ok(text.with_member(&[], "hooks", &JsonValue::Object(vec![])));
    }
    let found = found_hooks(&settings, row, own);
    for wanted in wanted {
        let mut ours = found.iter().filter(|hook| hook.event == wanted.event);
        let Some(first) = ours.next() else {
            let path = event_path(wanted.event);
            let element = wanted.element(row.form);
            return Ok(match settings.pointer(&format!("/hooks/{}", wanted.event)) {
                Some(_) => text.with_element(&path, &element),
                None => text.with_member(&hooks, wanted.event, &JsonValue::List(vec![element])),
            });
        };
        if let Some(edited) = with_correction(text, row, first, wanted) {
            return Ok(Some(edited));
        }
        if let Some(second) = ours.next_back() {
            return Ok(without_hook(text, second));
        }
    }
    let is_wanted = |hook: &&FoundHook| wanted.iter().any(|wanted| wanted.event == hook.event);
    match found.iter().rev().find(|hook| !is_wanted(hook)) {
        Some(unwanted) => Ok(without_event(text, &settings, unwanted, &Value::Null)),
        None => Ok(None),
    }
}

/// One difference between a hook as it is and as it should be, put right.
fn with_correction(
    text: &JsonText<'_>,
    row: &AgentRow,
    found: &FoundHook,
    wanted: &WantedHook,
) -> Option<String> {
    if row.form == SettingsForm::Groups {
        let matcher = wanted.matcher.as_deref().map(Value::from);
        if found.matcher != matcher {
            // The matcher of a group that holds hooks of others is theirs: ours gets a group of its own.
            if found.is_shared() {
                return text.without(&found.path());
            }
            let value = wanted.matcher.as_ref().map(JsonValue::text);
            return with_set(text, &found.element_path(), "matcher", found.matcher.is_some(), value.as_ref());
        }
    }
    let is_right = |(name, value): &&(&str, Option<JsonValue>)| {
        found.members.get(*name) == value.as_ref().map(JsonValue::to_value).as_ref()
    };
    let (name, value) = wanted.members.iter().find(|member| !is_right(member))?;
    with_set(text, &found.path(), name, found.members.contains_key(*name), value.as_ref())
}

fn with_set(
    text: &JsonText<'_>,
    object: &[PathStep],
    name: &str,
    exists: bool,
    value: Option<&JsonValue>,
) -> Option<String> {
    let member: Vec<PathStep> = object.iter().cloned().chain([PathStep::Member(name.to_owned())]).collect();
    match value {
        Some(value) if exists => text.with_value(&member, value),
        Some(value) => text.with_member(object, name, value),
        None => text.without(&member),
    }
}

fn next_removal(
    text: &JsonText<'_>,
    row: &AgentRow,
    kept: &Value,
    own: &str,
) -> Result<Option<String>, JsonTextError> {
    let settings = text.value();
    check_shape(text, &settings, &[])?;
    // The last one first: what was added last is taken out first, which gives back the same bytes.
    let found = found_hooks(&settings, row, own);
    Ok(last_in(text, &found).and_then(|hook| without_event(text, &settings, hook, kept)))
}

/// The hook that is last in the text.
fn last_in<'a>(text: &JsonText<'_>, found: &'a [FoundHook]) -> Option<&'a FoundHook> {
    found.iter().max_by_key(|hook| text.place(&hook.path()))
}

/// Without a hook, and without what is empty then and was not there before.
fn without_event(text: &JsonText<'_>, settings: &Value, hook: &FoundHook, kept: &Value) -> Option<String> {
    let length = |pointer: &str| match settings.pointer(pointer) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    };
    let event = format!("/hooks/{}", hook.event.replace('~', "~0").replace('/', "~1"));
    if hook.is_shared() || length(&event) > 1 || kept.pointer(&event).is_some() {
        return without_hook(text, hook);
    }
    if length("/hooks") > 1 || kept.get("hooks").is_some() {
        return text.without(&event_path(&hook.event));
    }
    text.without(&[PathStep::Member("hooks".into())])
}

fn without_hook(text: &JsonText<'_>, hook: &FoundHook) -> Option<String> {
    let path = if hook.is_shared() { hook.path() } else { hook.element_path() };
    text.without(&path)
}

fn is_only_version(text: &str) -> Result<bool, JsonTextError> {
    let settings = JsonText::parse(without_mark(text))?.value();
    Ok(settings.as_object().is_some_and(|members| members.keys().eq(["version"])))
}

fn without_version(text: &str) -> Result<String, JsonTextError> {
    let edited = JsonText::parse(without_mark(text))?.without(&[PathStep::Member("version".into())]);
    let mark = if text.starts_with(MARK) { MARK } else { "" };
    Ok(edited.map_or_else(|| text.to_owned(), |edited| format!("{mark}{edited}")))
}

/// That the file has the form that the agent reads, as far as we touch it.
fn check_shape(text: &JsonText<'_>, settings: &Value, wanted: &[WantedHook]) -> Result<(), JsonTextError> {
    let hooks = [PathStep::Member("hooks".into())];
    let Some(members) = settings.as_object() else {
        return Err(text.error(&[], "Expected an object"));
    };
    if text.has_twice(&[], "hooks") {
        return Err(text.error(&hooks, "The file has `hooks` twice"));
    }
    let events = match members.get("hooks") {
        None => return Ok(()),
        Some(Value::Object(events)) => events,
        Some(_) => return Err(text.error(&hooks, "Expected an object as `hooks`")),
    };
    for event in events.keys() {
        if text.has_twice(&hooks, event) {
            return Err(text.error(&event_path(event), format!("`hooks` has `{event}` twice")));
        }
    }
    for WantedHook { event, .. } in wanted {
        if events.get(*event).is_some_and(|list| !list.is_array()) {
            return Err(text.error(&event_path(event), format!("Expected a list as `{event}`")));
        }
    }
    Ok(())
}
