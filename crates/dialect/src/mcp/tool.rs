//! The declaration of a tool: name, arguments and request. The schema in `tools/list` is made from it.

use std::sync::OnceLock;

use linkspan_editor_api::Capabilities;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Arguments, BadArgument, json};
use crate::request::Request;

pub(crate) struct McpTool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: &'static [Argument],
    /// Listed only if the editor supports it.
    pub(crate) needs: Need,
    pub(crate) decode: for<'a> fn(&Arguments<'a>) -> Result<Request, BadArgument>,
}

impl McpTool {
    /// The same tool with a description of the dialect's own.
    pub(crate) const fn described(self, description: &'static str) -> McpTool {
        McpTool { description, ..self }
    }

    /// The same tool with arguments of the dialect's own.
    pub(crate) const fn taking(
        self,
        arguments: &'static [Argument],
        decode: for<'a> fn(&Arguments<'a>) -> Result<Request, BadArgument>,
    ) -> McpTool {
        McpTool { arguments, decode, ..self }
    }
}

/// The capability that a tool needs.
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
    pub(crate) kind: ArgumentKind,
    pub(crate) required: bool,
    about: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(crate) enum ArgumentKind {
    Text,
    /// One of these strings.
    Word(&'static [&'static str]),
    Count,
    Flag {
        default: bool,
    },
    /// A flag without a default in its schema.
    Switch,
}

impl Argument {
    pub(crate) const fn required(name: &'static str) -> Argument {
        Argument { name, kind: ArgumentKind::Text, required: true, about: None }
    }

    pub(crate) const fn optional(name: &'static str, kind: ArgumentKind) -> Argument {
        Argument { name, kind, required: false, about: None }
    }

    pub(crate) const fn required_count(name: &'static str) -> Argument {
        Argument { name, kind: ArgumentKind::Count, required: true, about: None }
    }

    pub(crate) const fn required_word(name: &'static str, words: &'static [&'static str]) -> Argument {
        Argument { name, kind: ArgumentKind::Word(words), required: true, about: None }
    }

    /// With a description for the model.
    pub(crate) const fn about(self, about: &'static str) -> Argument {
        Argument { about: Some(about), ..self }
    }
}

/// The result of `tools/list`, built once per dialect for each combination of capabilities.
pub(crate) struct ToolList([OnceLock<String>; 1 << Need::ALL.len()]);

impl ToolList {
    pub(crate) const fn new() -> ToolList {
        ToolList([const { OnceLock::new() }; 1 << Need::ALL.len()])
    }

    pub(crate) fn get(&self, tools: &'static [McpTool], has: &Capabilities) -> &str {
        let met = Need::ALL.iter().fold(0_usize, |met, need| met << 1 | usize::from(need.is_met(has)));
        let make = || json(&Tools { tools: listed(tools, has).map(listing).collect() });
        self.0.get(met).map_or("", |list| list.get_or_init(make))
    }
}

/// The tools that such an editor supports.
pub(crate) fn listed(
    tools: &'static [McpTool],
    has: &Capabilities,
) -> impl Iterator<Item = &'static McpTool> {
    tools.iter().filter(move |tool| tool.needs.is_met(has))
}

#[derive(Serialize)]
struct Tools {
    tools: Vec<ToolListing>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolListing {
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

/// In the order of declaration, which a map would not keep.
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
                ArgumentKind::Text => ("string", None, None),
                ArgumentKind::Word(words) => ("string", Some(words), None),
                ArgumentKind::Count => ("integer", None, None),
                ArgumentKind::Flag { default } => ("boolean", None, Some(default)),
                ArgumentKind::Switch => ("boolean", None, None),
            };
            let description = argument.about;
            map.serialize_entry(argument.name, &Property { r#type, description, r#enum, default })?;
        }
        map.end()
    }
}

fn listing(tool: &McpTool) -> ToolListing {
    let required = tool.arguments.iter().filter(|argument| argument.required);
    ToolListing {
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
