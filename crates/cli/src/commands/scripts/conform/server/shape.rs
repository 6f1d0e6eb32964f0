//! The shape of an answer: which members it has and of which kinds. Pure. Members that are not listed are allowed.

use serde_json::Value;

use crate::commands::scripts::conform::point::{Outcome, failed};
use crate::commands::scripts::conform::report::excerpt;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Text,
    Bool,
    /// A whole number that is not negative.
    Count,
    Anything,
    /// One of these texts.
    Word(&'static [&'static str]),
    OrNull(&'static Shape),
    List(&'static Shape),
    Object(&'static [Member]),
    Either(&'static [Shape]),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    name: &'static str,
    shape: Shape,
    needed: bool,
}

pub(crate) const fn member(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, needed: true }
}

/// If it is there, it has this shape.
pub(crate) const fn optional(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, needed: false }
}

impl Shape {
    pub(crate) fn check(&self, value: &Value) -> Outcome {
        match self.mismatch("", value) {
            None => Ok(()),
            Some(why) => Err(failed(self.words(), format!("{}: {why}", excerpt(value)))),
        }
    }

    /// The first difference, with its path.
    fn mismatch(&self, path: &str, value: &Value) -> Option<String> {
        let is = match self {
            Shape::Anything => true,
            Shape::Text => value.is_string(),
            Shape::Bool => value.is_boolean(),
            Shape::Count => value.is_u64(),
            Shape::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Shape::OrNull(inner) => return if value.is_null() { None } else { inner.mismatch(path, value) },
            Shape::Either(shapes) => shapes.iter().any(|shape| shape.mismatch(path, value).is_none()),
            Shape::List(inner) => match value.as_array() {
                None => false,
                Some(items) => {
                    let mut items = items.iter().enumerate();
                    return items.find_map(|(index, item)| inner.mismatch(&format!("{path}/{index}"), item));
                }
            },
            Shape::Object(members) => match value.as_object() {
                None => false,
                Some(object) => {
                    return members.iter().find_map(|member| {
                        let path = format!("{path}/{}", member.name);
                        match object.get(member.name) {
                            Some(value) => member.shape.mismatch(&path, value),
                            None => member.needed.then(|| format!("{path} is missing")),
                        }
                    });
                }
            },
        };
        let at = if path.is_empty() { "it" } else { path };
        (!is).then(|| format!("{at} is not {}", self.words()))
    }

    /// For `expected`.
    pub(crate) fn words(&self) -> String {
        match self {
            Shape::Text => "a text".into(),
            Shape::Bool => "true or false".into(),
            Shape::Count => "a whole number from 0".into(),
            Shape::Anything => "any JSON".into(),
            Shape::Word(words) => words.join(" or "),
            Shape::OrNull(inner) => format!("{} or null", inner.words()),
            Shape::List(inner) => format!("a list, each {}", inner.words()),
            Shape::Either(shapes) => shapes.iter().map(Shape::words).collect::<Vec<_>>().join(", or "),
            Shape::Object(members) => {
                let names = members.iter().map(|member| match member.needed {
                    true => member.name.to_owned(),
                    false => format!("{}?", member.name),
                });
                format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::scripts::conform::point::NotPassed;

    const TAB: Shape = Shape::Object(&[member("path", Shape::Text), optional("line", Shape::Count)]);
    const TABS: Shape = Shape::Object(&[member("tabs", Shape::List(&TAB))]);

    #[test]
    fn more_members_are_allowed_and_fewer_are_not() {
        assert_eq!(TABS.check(&json!({ "tabs": [{ "path": "a", "other": 1 }], "more": null })), Ok(()));
        for (value, why) in [
            (json!({}), "/tabs is missing"),
            (json!({ "tabs": {} }), "/tabs is not a list"),
            (json!({ "tabs": [{ "path": "a" }, { "path": 1 }] }), "/tabs/1/path is not a text"),
            (json!({ "tabs": [{ "path": "a", "line": -1 }] }), "/tabs/0/line is not a whole number"),
            (json!([]), "it is not {tabs}"),
        ] {
            let Err(NotPassed::Failed { came, .. }) = TABS.check(&value) else { panic!("{value}") };
            assert!(came.contains(why), "{came}");
        }
    }
}
