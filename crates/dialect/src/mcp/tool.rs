//! A tool's name, arguments and meaning, declared once; the schema that agents list is made from it.

use std::sync::OnceLock;

use linkspan_editor_api::Capabilities;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Arguments, BadArgument, json};
use crate::meaning::Request;

pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: &'static [Argument],
    /// Listed only if the editor has it.
    pub(crate) needs: Need,
    pub(crate) decode: for<'a> fn(&Arguments<'a>) -> Result<Request, BadArgument>,
}

/// What an editor has to be able to do for a tool to make sense.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    Nothing,
    ExecuteCode,
    Terminal,
    Language,
    Documents,
}

impl Need {
    const ALL: [Need; 5] =
        [Need::Nothing, Need::ExecuteCode, Need::Terminal, Need::Language, Need::Documents];

    fn is_met(self, has: &Capabilities) -> bool {
        match self {
            Need::Nothing => true,
            Need::ExecuteCode => has.execute_code,
            Need::Terminal => has.terminal,
            Need::Language => has.language,
            Need::Documents => has.documents,
        }
    }
}

pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    about: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    Count,
    Flag {
        default: bool,
    },
    /// A flag whose schema says no default.
    Switch,
}

impl Argument {
    pub(crate) const fn required(name: &'static str) -> Argument {
        Argument { name, kind: Kind::Text, required: true, about: None }
    }

    pub(crate) const fn optional(name: &'static str, kind: Kind) -> Argument {
        Argument { name, kind, required: false, about: None }
    }

    pub(crate) const fn required_count(name: &'static str) -> Argument {
        Argument { name, kind: Kind::Count, required: true, about: None }
    }

    /// With a word for the model that fills it in.
    pub(crate) const fn about(self, about: &'static str) -> Argument {
        Argument { about: Some(about), ..self }
    }
}

/// The result of `tools/list`, made once per dialect for each combination of needs that are met.
pub(crate) struct ToolList([OnceLock<String>; 1 << Need::ALL.len()]);

impl ToolList {
    pub(crate) const fn new() -> ToolList {
        ToolList([const { OnceLock::new() }; 1 << Need::ALL.len()])
    }

    pub(crate) fn get(&self, tools: &'static [Tool], has: &Capabilities) -> &str {
        let met = Need::ALL.iter().fold(0_usize, |met, need| met << 1 | usize::from(need.is_met(has)));
        let make = || json(&Tools { tools: listed(tools, has).map(listing).collect() });
        self.0.get(met).map_or("", |list| list.get_or_init(make))
    }
}

/// The tools that make sense with such an editor.
pub(crate) fn listed(tools: &'static [Tool], has: &Capabilities) -> impl Iterator<Item = &'static Tool> {
    tools.iter().filter(move |tool| tool.needs.is_met(has))
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
    description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<bool>,
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for argument in self.0 {
            let (r#type, r#enum, default) = match argument.kind {
                Kind::Text => ("string", None, None),
                Kind::Word(words) => ("string", Some(words), None),
                Kind::Count => ("integer", None, None),
                Kind::Flag { default } => ("boolean", None, Some(default)),
                Kind::Switch => ("boolean", None, None),
            };
            let description = argument.about;
            map.serialize_entry(argument.name, &Property { r#type, description, r#enum, default })?;
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
