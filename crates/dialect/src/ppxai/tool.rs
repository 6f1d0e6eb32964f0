//! The declaration of a tool: name, arguments, request and result. Decoding, `GET /status` and the reference page are
//! made from it.

use linkspan_editor_api::Capabilities;

use super::envelope::ToolOutput;
use crate::answer::Answer;
use crate::folders::WindowFolders;
use crate::mcp::{Arguments, BadArgument};
use crate::request::Request;
use crate::spelling::nearest;

pub(super) struct PpxaiTool {
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) about: &'static str,
    pub(super) arguments: &'static [Argument],
    pub(super) result: &'static str,
    pub(super) decode: for<'a> fn(&Arguments<'a>) -> Result<Request, BadArguments>,
    /// None for an answer to another request.
    pub(super) encode: fn(&Answer, &ToolContext<'_>) -> Option<ToolOutput>,
}

impl std::fmt::Debug for PpxaiTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tool").field(&self.name).finish()
    }
}

/// The groups that `GET /status` lists as capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Workspace,
    Editor,
    Diagnostics,
    Actions,
    Terminal,
    Git,
}

impl Group {
    pub(super) const ALL: [Group; 6] =
        [Group::Workspace, Group::Editor, Group::Diagnostics, Group::Actions, Group::Terminal, Group::Git];

    pub(super) fn name(self) -> &'static str {
        match self {
            Group::Workspace => "workspace",
            Group::Editor => "editor",
            Group::Diagnostics => "diagnostics",
            Group::Actions => "actions",
            Group::Terminal => "terminal",
            Group::Git => "git",
        }
    }
}

pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) required: bool,
    pub(super) about: &'static str,
}

pub(super) const fn required(name: &'static str, kind: &'static str, about: &'static str) -> Argument {
    Argument { name, kind, required: true, about }
}

pub(super) const fn optional(name: &'static str, kind: &'static str, about: &'static str) -> Argument {
    Argument { name, kind, required: false, about }
}

/// The argument that ppxai's own server accepts as the user's confirmation. Here it confirms nothing.
pub(super) const CONFIRMED: &str = "confirmed";

/// Why the arguments are invalid.
#[derive(Debug)]
pub(super) struct BadArguments(pub(super) String);

impl From<BadArgument> for BadArguments {
    fn from(bad: BadArgument) -> BadArguments {
        BadArguments(bad.to_string())
    }
}

/// What encoding an answer needs.
#[derive(Debug)]
pub(super) struct ToolContext<'a> {
    pub(super) folders: &'a WindowFolders,
    pub(super) capabilities: &'a Capabilities,
    /// The `path` argument, as it was written.
    pub(super) given: Option<&'a str>,
}

impl PpxaiTool {
    pub(super) fn read(&self, arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
        let known = || self.arguments.iter().map(|argument| argument.name);
        let unknown =
            arguments.names().find(|name| *name != CONFIRMED && !known().any(|known| known == *name));
        match unknown {
            None => (self.decode)(arguments),
            Some(unknown) => {
                let hint = match nearest(unknown, known()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "it has no arguments".to_owned(),
                };
                Err(BadArguments(format!("{} has no argument `{unknown}`; {hint}", self.name)))
            }
        }
    }
}
