//! Compares two messages: equal JSON, except for members that change each time. Pure.

use serde_json::Value;

use crate::commands::scripts::record::secrets::REDACTED;

/// Members that change each time.
const VOLATILE: [&str; 6] = ["id", "timestamp", "pid", "port", "sessionId", "at_ms"];

/// At most this many differences are reported.
const MAX_DIFFERENCES: usize = 10;
/// Longer texts are shortened to this many characters.
const EXCERPT: usize = 120;

/// The differences with their paths; `volatile` are further members that may differ.
pub(crate) fn differences(recorded: &Value, now: &Value, volatile: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    Comparison { volatile, found: &mut found }.compare("", recorded, now);
    found.truncate(MAX_DIFFERENCES);
    found
}

struct Comparison<'a> {
    volatile: &'a [String],
    found: &'a mut Vec<String>,
}

impl Comparison<'_> {
    fn is_volatile(&self, member: &str) -> bool {
        VOLATILE.contains(&member) || self.volatile.iter().any(|known| known == member)
    }

    fn compare(&mut self, path: &str, recorded: &Value, now: &Value) {
        match (recorded, now) {
            (Value::Object(before), Value::Object(after)) => {
                for (member, value) in before {
                    match after.get(member) {
                        _ if self.is_volatile(member) => {}
                        Some(now) => self.compare(&format!("{path}/{member}"), value, now),
                        None => self.found.push(format!("{path}/{member} is missing")),
                    }
                }
                let new =
                    after.keys().filter(|member| !before.contains_key(*member) && !self.is_volatile(member));
                let new: Vec<String> = new.map(|member| format!("{path}/{member} is new")).collect();
                self.found.extend(new);
            }
            (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    self.compare(&format!("{path}/{index}"), before, after);
                }
            }
            (Value::String(before), Value::String(after)) => self.compare_texts(path, before, after),
            (before, after) if before == after => {}
            (before, after) => self.differs(path, &before.to_string(), &after.to_string()),
        }
    }

    /// Tools return JSON in texts.
    fn compare_texts(&mut self, path: &str, before: &str, after: &str) {
        if fits(before, after) {
            return;
        }
        let parsed = |text: &str| {
            let looks_like_it = text.trim_start().starts_with(['{', '[']);
            serde_json::from_str::<Value>(text).ok().filter(|_| looks_like_it)
        };
        match (parsed(before), parsed(after)) {
            (Some(before), Some(after)) => self.compare(path, &before, &after),
            _ => self.differs(path, before, after),
        }
    }

    fn differs(&mut self, path: &str, before: &str, after: &str) {
        let short = |text: &str| match text.char_indices().nth(EXCERPT) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text.to_owned(),
        };
        let path = if path.is_empty() { "it" } else { path };
        self.found.push(format!("{path} was {} and is {}", short(before), short(after)));
    }
}

/// Whether a text is as recorded: the parts around its secrets are there in the same order, from the first character to
/// the last.
fn fits(recorded: &str, now: &str) -> bool {
    let Some((first, rest)) = recorded.split_once(REDACTED) else { return recorded == now };
    let (middle, last) =
        rest.rsplit_once(REDACTED).map_or((None, rest), |(middle, last)| (Some(middle), last));
    let Some(now) = now.strip_prefix(first).and_then(|now| now.strip_suffix(last)) else { return false };
    let mut parts = middle.into_iter().flat_map(|middle| middle.split(REDACTED));
    parts.try_fold(now, |now, part| now.split_once(part).map(|(_, rest)| rest)).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(recorded: Value, now: Value, expected: &[&str]) {
        assert_eq!(differences(&recorded, &now, &["tab".to_owned()]), expected);
    }

    #[test]
    fn members_that_change_each_time_are_ignored() {
        check(
            json!({ "id": 1, "result": { "timestamp": 1, "tab": "x", "n": [1, "a"] } }),
            json!({ "id": 2, "result": { "timestamp": 9, "tab": "y", "n": [1, "a"] } }),
            &[],
        );
        check(json!({ "token": "REDACTED" }), json!({ "token": "anything" }), &[]);
    }

    #[test]
    fn other_differences_are_reported_with_their_path() {
        check(json!({ "a": [1, 2] }), json!({ "a": [1, 3] }), &["/a/1 was 2 and is 3"]);
        check(json!({ "a": 1 }), json!({ "b": 1 }), &["/a is missing", "/b is new"]);
        check(json!([1]), json!([1, 2]), &["it was [1] and is [1,2]"]);
        check(json!("x"), json!("y"), &["it was x and is y"]);
    }

    #[test]
    fn json_in_a_text_is_compared_as_json() {
        check(json!({ "text": "{\"a\": 1, \"id\": 1}" }), json!({ "text": "{\"id\":2,\"a\":1}" }), &[]);
        check(json!({ "text": "[1]" }), json!({ "text": "[2]" }), &["/text/0 was 1 and is 2"]);
    }

    #[test]
    fn a_secret_may_differ_and_the_text_around_it_may_not() {
        for same in ["a 1 b 22 c", "a  b  c", "a REDACTED b REDACTED c"] {
            check(json!("a REDACTED b REDACTED c"), json!(same), &[]);
        }
        for other in ["a 1 b 2 d", "x 1 b 2 c", "a 1 2 c", "a 1 b c", "a  c"] {
            let expected = format!("it was a REDACTED b REDACTED c and is {other}");
            check(json!("a REDACTED b REDACTED c"), json!(other), &[&expected]);
        }
        check(json!("aREDACTEDa"), json!("a"), &["it was aREDACTEDa and is a"]);
        check(json!("[\"REDACTED\", 1]"), json!("[\"x\",1]"), &[]);
    }
}
