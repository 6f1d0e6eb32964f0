//! A tool's name, arguments, meaning and result, declared once: decoding, `GET /status` and the reference page are
//! made from it.

use linkspan_editor_api::Capabilities;

use super::envelope::Told;
use crate::folders::Folders;
use crate::mcp::{Arguments, BadArgument};
use crate::meaning::{Answer, Request};
use crate::nearest::nearest;

pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) about: &'static str,
    pub(super) arguments: &'static [Argument],
    pub(super) result: &'static str,
    pub(super) decode: for<'a> fn(&Arguments<'a>) -> Result<Request, Wrong>,
    /// None for an answer to something else.
    pub(super) encode: fn(&Answer, &Context<'_>) -> Option<Told>,
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tool").field(&self.name).finish()
    }
}

/// What `GET /status` calls capabilities.
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

/// The word that the seed's own server takes for a person's. It is taken from nobody.
pub(super) const CONFIRMED: &str = "confirmed";

/// Why the arguments cannot be used.
#[derive(Debug)]
pub(super) struct Wrong(pub(super) String);

impl From<BadArgument> for Wrong {
    fn from(bad: BadArgument) -> Wrong {
        Wrong(bad.to_string())
    }
}

/// What an answer is written with.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) folders: &'a Folders,
    pub(super) capabilities: &'a Capabilities,
    /// The `path` that was asked about, as it was written.
    pub(super) given: Option<&'a str>,
}

impl Tool {
    pub(super) fn read(&self, arguments: &Arguments<'_>) -> Result<Request, Wrong> {
        let known = || self.arguments.iter().map(|argument| argument.name);
        let unknown =
            arguments.names().find(|name| *name != CONFIRMED && !known().any(|known| known == *name));
        match unknown {
            None => (self.decode)(arguments),
            Some(unknown) => {
                let hint = match nearest(unknown, known()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "it takes none".to_owned(),
                };
                Err(Wrong(format!("{} has no argument `{unknown}`; {hint}", self.name)))
            }
        }
    }
}
