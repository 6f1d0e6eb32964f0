//! A JSON value that keeps the order of its members, and how it is written into a file with an indentation of its own.
//! Knows neither files nor hooks.

use serde_json::{Map, Value};

/// A value that we put into a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JsonValue {
    Text(String),
    Number(u64),
    List(Vec<JsonValue>),
    Object(Vec<(&'static str, JsonValue)>),
}

impl JsonValue {
    pub(super) fn text(text: impl Into<String>) -> JsonValue {
        JsonValue::Text(text.into())
    }

    /// For a comparison, in which the order of members does not matter.
    pub(super) fn to_value(&self) -> Value {
        match self {
            JsonValue::Text(text) => Value::from(text.as_str()),
            JsonValue::Number(number) => Value::from(*number),
            JsonValue::List(items) => items.iter().map(JsonValue::to_value).collect(),
            JsonValue::Object(members) => {
                let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.to_value()));
                Value::Object(members.collect::<Map<String, Value>>())
            }
        }
    }

    /// The value as text. Its first line has no indentation; those after it have `layout`'s.
    pub(super) fn render(&self, layout: &Layout) -> String {
        let inner = layout.deeper();
        let (open, close, items): (char, char, Vec<String>) = match self {
            JsonValue::Text(text) => return quoted(text),
            JsonValue::Number(number) => return number.to_string(),
            JsonValue::List(items) => ('[', ']', items.iter().map(|item| item.render(&inner)).collect()),
            JsonValue::Object(members) => {
                let member =
                    |(name, value): &(&str, JsonValue)| format!("{}: {}", quoted(name), value.render(&inner));
                ('{', '}', members.iter().map(member).collect())
            }
        };
        if items.is_empty() {
            return format!("{open}{close}");
        }
        let between = format!(",{}", inner.line_start());
        format!("{open}{}{}{}{close}", inner.line_start(), items.join(&between), layout.line_start())
    }
}

pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// How the lines of a value begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) newline: &'static str,
    /// Of the line on which the value begins.
    pub(super) indent: String,
    /// One level more.
    pub(super) unit: String,
}

impl Layout {
    pub(super) fn deeper(&self) -> Layout {
        Layout { indent: format!("{}{}", self.indent, self.unit), ..self.clone() }
    }

    pub(super) fn line_start(&self) -> String {
        format!("{}{}", self.newline, self.indent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_lines_the_indentation_of_the_file() {
        let value = JsonValue::Object(vec![
            ("type", JsonValue::text("command")),
            ("command", JsonValue::text("'/a \"b\"/linkspan' hook")),
            ("hooks", JsonValue::List(vec![JsonValue::Number(1)])),
            ("none", JsonValue::List(vec![])),
        ]);
        let layout = Layout { newline: "\r\n", indent: "\t".into(), unit: "\t".into() };
        let expect = "{\r\n\t\t\"type\": \"command\",\r\n\t\t\"command\": \"'/a \\\"b\\\"/linkspan' hook\",\r\n\
                      \t\t\"hooks\": [\r\n\t\t\t1\r\n\t\t],\r\n\t\t\"none\": []\r\n\t}";
        assert_eq!(value.render(&layout), expect);
        assert_eq!(serde_json::from_str::<Value>(&value.render(&layout)).unwrap(), value.to_value());
    }
}
