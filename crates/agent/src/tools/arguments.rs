//! The arguments of our own tools: declared once, shown to the model as JSON Schema, and checked against that before a
//! tool runs. Errors name the argument and what it should be.

use serde_json::{Map, Value, json};

/// What one argument is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: ParameterKind,
    pub(crate) about: &'static str,
    pub(crate) required: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ParameterKind {
    Text,
    /// A whole number from 0.
    Count,
    Flag,
    /// A list of strings.
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Anything; its schema.
    Other(fn() -> Value),
}

pub(crate) const fn required(name: &'static str, kind: ParameterKind, about: &'static str) -> Parameter {
    Parameter { name, kind, about, required: true }
}

pub(crate) const fn optional(name: &'static str, kind: ParameterKind, about: &'static str) -> Parameter {
    Parameter { name, kind, about, required: false }
}

impl ParameterKind {
    fn schema(self) -> Value {
        match self {
            ParameterKind::Text => json!({ "type": "string" }),
            ParameterKind::Count => json!({ "type": "integer", "minimum": 0 }),
            ParameterKind::Flag => json!({ "type": "boolean" }),
            ParameterKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            ParameterKind::Word(words) => json!({ "type": "string", "enum": words }),
            ParameterKind::Other(schema) => schema(),
        }
    }

    /// What is expected, if it is not this.
    fn complaint(self, value: &Value) -> Option<String> {
        let expected = match self {
            ParameterKind::Text if value.is_string() => return None,
            ParameterKind::Count if value.is_u64() => return None,
            ParameterKind::Flag if value.is_boolean() => return None,
            ParameterKind::Texts
                if value.as_array().is_some_and(|list| list.iter().all(Value::is_string)) =>
            {
                return None;
            }
            ParameterKind::Word(words) if value.as_str().is_some_and(|word| words.contains(&word)) => {
                return None;
            }
            ParameterKind::Other(_) => return None,
            ParameterKind::Text => "a string".to_owned(),
            ParameterKind::Count => "a whole number from 0".to_owned(),
            ParameterKind::Flag => "true or false".to_owned(),
            ParameterKind::Texts => "a list of strings".to_owned(),
            ParameterKind::Word(words) => format!("one of {}", words.join(", ")),
        };
        Some(expected)
    }
}

/// The JSON Schema of these parameters.
pub(crate) fn schema(parameters: &[Parameter]) -> Value {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|parameter| {
            let mut schema = parameter.kind.schema();
            schema["description"] = json!(parameter.about);
            (parameter.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> =
        parameters.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

/// ToolArguments that fit their parameters.
#[derive(Debug, Clone)]
pub(crate) struct ToolArguments<'a> {
    values: &'a Map<String, Value>,
}

impl<'a> ToolArguments<'a> {
    /// Checks them. `null` counts as left out: some models send it for that.
    pub(crate) fn read(
        tool: &str,
        parameters: &[Parameter],
        arguments: &'a Value,
    ) -> Result<ToolArguments<'a>, String> {
        let Value::Object(values) = arguments else {
            return Err(format!("the arguments of `{tool}` must be an object"));
        };
        for (name, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
                let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(format!("`{tool}` has no argument `{name}`; it has: {known}"));
            };
            if let Some(expected) = parameter.kind.complaint(value) {
                return Err(format!("`{name}` of `{tool}` must be {expected}"));
            }
        }
        let is_missing = |parameter: &&Parameter| {
            parameter.required && values.get(parameter.name).is_none_or(Value::is_null)
        };
        match parameters.iter().find(is_missing) {
            Some(missing) => Err(format!("`{tool}` needs `{}`: {}", missing.name, missing.about)),
            None => Ok(ToolArguments { values }),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.values.get(name)?.as_str()
    }

    /// A required text, which is there because the arguments were checked.
    pub(crate) fn needed(&self, name: &str) -> &'a str {
        self.text(name).unwrap_or_default()
    }

    pub(crate) fn count(&self, name: &str) -> Option<usize> {
        self.values.get(name)?.as_u64().map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<&'a str> {
        let list = self.values.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        required("path", ParameterKind::Text, "The file."),
        optional("limit", ParameterKind::Count, "How many."),
        optional("deep", ParameterKind::Flag, "Deep."),
        optional("names", ParameterKind::Texts, "Names."),
        optional("mode", ParameterKind::Word(&["a", "b"]), "Mode."),
    ];

    fn refused(arguments: Value) -> String {
        ToolArguments::read("tool", PARAMETERS, &arguments).unwrap_err()
    }

    #[test]
    fn each_wrong_argument_is_named_with_what_it_should_be() {
        assert_eq!(refused(json!({})), "`tool` needs `path`: The file.");
        assert_eq!(refused(json!({ "path": null })), "`tool` needs `path`: The file.");
        assert_eq!(refused(json!({ "path": 1 })), "`path` of `tool` must be a string");
        assert_eq!(
            refused(json!({ "path": "x", "limit": -1 })),
            "`limit` of `tool` must be a whole number from 0"
        );
        assert_eq!(refused(json!({ "path": "x", "deep": "yes" })), "`deep` of `tool` must be true or false");
        assert_eq!(
            refused(json!({ "path": "x", "names": ["a", 1] })),
            "`names` of `tool` must be a list of strings"
        );
        assert_eq!(refused(json!({ "path": "x", "mode": "c" })), "`mode` of `tool` must be one of a, b");
        assert!(
            refused(json!({ "path": "x", "depth": 1 })).contains("no argument `depth`; it has: path, limit")
        );
        assert!(refused(json!([1])).contains("must be an object"));
    }

    #[test]
    fn what_fits_is_read() {
        let arguments = json!({ "path": "x", "limit": 3, "deep": true, "names": ["a"], "mode": null });
        let read = ToolArguments::read("tool", PARAMETERS, &arguments).unwrap();
        assert_eq!((read.needed("path"), read.count("limit"), read.flag("deep")), ("x", Some(3), true));
        assert_eq!((read.texts("names"), read.text("mode")), (vec!["a"], None));
    }

    #[test]
    fn the_schema_says_what_is_required() {
        let schema = schema(PARAMETERS);
        assert_eq!(schema["required"], json!(["path"]));
        assert_eq!(schema["properties"]["mode"]["enum"], json!(["a", "b"]));
        assert_eq!(schema["properties"]["limit"]["description"], "How many.");
    }
}
