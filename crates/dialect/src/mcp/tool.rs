//! A tool's name, arguments and meaning, declared once; the schema that agents list is made from it.

use std::sync::OnceLock;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Arguments, BadArgument, json};
use crate::meaning::Request;

pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: &'static [Argument],
    /// Listed only if the editor can execute code.
    pub(crate) executes_code: bool,
    pub(crate) decode: for<'a> fn(&Arguments<'a>) -> Result<Request, BadArgument>,
}

pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Line,
    Flag { default: bool },
}

impl Argument {
    pub(crate) const fn required(name: &'static str) -> Argument {
        Argument { name, kind: Kind::Text, required: true }
    }

    pub(crate) const fn optional(name: &'static str, kind: Kind) -> Argument {
        Argument { name, kind, required: false }
    }
}

/// The result of `tools/list`, made once per dialect: without and with the tools that execute code.
pub(crate) struct ToolList([OnceLock<String>; 2]);

impl ToolList {
    pub(crate) const fn new() -> ToolList {
        ToolList([const { OnceLock::new() }; 2])
    }

    pub(crate) fn get(&self, tools: &[Tool], execute_code: bool) -> &str {
        let [without, with] = &self.0;
        let listed = if execute_code { with } else { without };
        listed.get_or_init(|| {
            let tools: Vec<_> =
                tools.iter().filter(|tool| execute_code || !tool.executes_code).map(listing).collect();
            json(&Tools { tools })
        })
    }
}

#[derive(Serialize)]
struct Tools {
    tools: Vec<Listing>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    name: &'static str,
    description: &'static str,
    input_schema: Schema,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    r#type: &'static str,
    properties: Properties,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<&'static str>,
    additional_properties: bool,
    #[serde(rename = "$schema")]
    schema: &'static str,
}

/// In the order of declaration, which a map type would not keep.
struct Properties(&'static [Argument]);

#[derive(Serialize)]
struct Property {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<bool>,
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for argument in self.0 {
            let (r#type, default) = match argument.kind {
                Kind::Text => ("string", None),
                Kind::Line => ("integer", None),
                Kind::Flag { default } => ("boolean", Some(default)),
            };
            map.serialize_entry(argument.name, &Property { r#type, default })?;
        }
        map.end()
    }
}

fn listing(tool: &Tool) -> Listing {
    let required = tool.arguments.iter().filter(|argument| argument.required);
    Listing {
        name: tool.name,
        description: tool.description,
        input_schema: Schema {
            r#type: "object",
            properties: Properties(tool.arguments),
            required: required.map(|argument| argument.name).collect(),
            additional_properties: false,
            schema: "http://json-schema.org/draft-07/schema#",
        },
    }
}
