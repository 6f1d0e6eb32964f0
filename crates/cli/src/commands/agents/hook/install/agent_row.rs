//! What differs between agents: where their settings are, the names of their events and tools, and the unit of their
//! time limits. One row for each agent; knows neither files nor how settings are edited.

use linkspan_dialect::hooks::HookAgent;

use super::hook_command::{HookCommand, option_names};
use super::json_value::JsonValue;

/// As long as a user may think: a day, in seconds.
pub(super) const DECISION_LIMIT: u64 = 86_400;
/// For events that only tell something, in seconds.
const SHORT_LIMIT: u64 = 10;

const STATUS_MESSAGE: &str = "Waiting for your decision in the editor (or: linkspan review)";

#[derive(Debug)]
pub(super) struct AgentRow {
    pub(super) agent: HookAgent,
    /// The name of its program.
    pub(super) program: &'static str,
    pub(super) folder: SettingsFolder,
    pub(super) file: &'static str,
    pub(super) form: SettingsForm,
    /// Whether it reads comments. Claude Code, Codex and Copilot CLI ignore a file that has any, without hooks.
    pub(super) comments: bool,
    pub(super) unit: TimeUnit,
    /// The time limit if none is given, in seconds.
    pub(super) default_limit: u64,
    edit_tools: &'static str,
    command_tool: &'static str,
    events: &'static [EventRow],
    /// A member of the settings that switches all hooks off, and the value that does so.
    pub(super) switch: Option<(&'static [&'static str], bool)>,
    /// What you have to do besides.
    pub(super) note: Option<&'static str>,
}

/// Where an agent keeps its settings.
#[derive(Debug)]
pub(super) struct SettingsFolder {
    /// Names a folder instead of `home`.
    pub(super) variable: &'static str,
    /// Below the folder that the variable names.
    pub(super) below_variable: &'static str,
    /// Below the home directory, without the variable.
    pub(super) home: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsForm {
    /// `hooks.EVENT` is a list of groups with a matcher and a list of hooks.
    Groups,
    /// `hooks.EVENT` is a list of hooks, and `version` is 1.
    Flat,
    /// A program file of ours.
    Plugin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Milliseconds,
    /// Seconds below 1000, milliseconds from there on.
    SecondsBelowThousand,
}

/// A longer time than this, in milliseconds, ends at once in Node.js.
const LONGEST_TIMER: u64 = 2_147_483_647;

impl TimeUnit {
    fn number(self, seconds: u64) -> u64 {
        match self {
            TimeUnit::Seconds => seconds,
            TimeUnit::Milliseconds | TimeUnit::SecondsBelowThousand => seconds.saturating_mul(1000),
        }
    }

    /// What an agent makes of a number, in seconds.
    pub(super) fn seconds(self, number: u64) -> u64 {
        match self {
            TimeUnit::SecondsBelowThousand if number < 1000 => number,
            TimeUnit::Seconds => number,
            _ if number > LONGEST_TIMER => 0,
            _ => number / 1000,
        }
    }
}

#[derive(Debug)]
struct EventRow {
    name: &'static str,
    tools: Tools,
    purpose: Purpose,
}

#[derive(Debug, Clone, Copy)]
enum Tools {
    None,
    Edits,
    /// Commands only with `--commands`, and for one event of each agent: the one that saves the agent's own question if
    /// there is such an event. With two, the user would be asked twice.
    EditsAndCommands,
}

/// What an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The user decides; takes as long as the user does.
    Decide,
    Tell,
    /// Gives the model what the editor shows, and tells of a new prompt.
    Context,
}

const fn event(name: &'static str, tools: Tools, purpose: Purpose) -> EventRow {
    EventRow { name, tools, purpose }
}

use Purpose::{Context, Decide, Tell};

const ROWS: [AgentRow; 6] = [
    AgentRow {
        agent: HookAgent::Claude,
        program: "claude",
        folder: SettingsFolder { variable: "CLAUDE_CONFIG_DIR", below_variable: "", home: ".claude" },
        file: "settings.json",
        form: SettingsForm::Groups,
        comments: false,
        unit: TimeUnit::Seconds,
        default_limit: 600,
        edit_tools: "Edit|Write|MultiEdit|NotebookEdit",
        command_tool: "Bash",
        events: &[
            event("PreToolUse", Tools::EditsAndCommands, Decide),
            event("PostToolUse", Tools::Edits, Tell),
            event("UserPromptSubmit", Tools::None, Context),
            event("SessionStart", Tools::None, Context),
            event("Stop", Tools::None, Tell),
            event("Notification", Tools::None, Tell),
        ],
        switch: Some((&["disableAllHooks"], true)),
        note: None,
    },
    AgentRow {
        agent: HookAgent::Codex,
        program: "codex",
        folder: SettingsFolder { variable: "CODEX_HOME", below_variable: "", home: ".codex" },
        file: "hooks.json",
        form: SettingsForm::Groups,
        comments: false,
        unit: TimeUnit::Seconds,
        default_limit: 600,
        edit_tools: "apply_patch",
        command_tool: "Bash",
        events: &[
            event("PreToolUse", Tools::EditsAndCommands, Decide),
            event("PermissionRequest", Tools::Edits, Decide),
            event("PostToolUse", Tools::Edits, Tell),
            event("UserPromptSubmit", Tools::None, Context),
            event("SessionStart", Tools::None, Context),
            event("Stop", Tools::None, Tell),
        ],
        switch: None,
        note: Some(
            "Codex runs a new or changed hook only after you have trusted it: start `codex` once and choose \"Trust all \
             and continue\", or type /hooks",
        ),
    },
    AgentRow {
        agent: HookAgent::Copilot,
        program: "copilot",
        folder: SettingsFolder { variable: "COPILOT_HOME", below_variable: "hooks", home: ".copilot/hooks" },
        file: "linkspan.json",
        form: SettingsForm::Flat,
        comments: false,
        unit: TimeUnit::Seconds,
        default_limit: 30,
        edit_tools: "edit|create",
        command_tool: "bash",
        events: &[
            event("preToolUse", Tools::Edits, Decide),
            event("permissionRequest", Tools::EditsAndCommands, Decide),
            event("postToolUse", Tools::Edits, Tell),
            event("userPromptSubmitted", Tools::None, Context),
            event("sessionStart", Tools::None, Context),
            event("agentStop", Tools::None, Tell),
            event("notification", Tools::None, Tell),
        ],
        switch: Some((&["disableAllHooks"], true)),
        note: None,
    },
    AgentRow {
        agent: HookAgent::Gemini,
        program: "gemini",
        folder: SettingsFolder { variable: "GEMINI_CLI_HOME", below_variable: ".gemini", home: ".gemini" },
        file: "settings.json",
        form: SettingsForm::Groups,
        comments: true,
        unit: TimeUnit::Milliseconds,
        default_limit: 60,
        edit_tools: "replace|write_file",
        command_tool: "run_shell_command",
        events: &[
            event("BeforeTool", Tools::EditsAndCommands, Decide),
            event("AfterTool", Tools::Edits, Tell),
            event("BeforeAgent", Tools::None, Context),
            event("SessionStart", Tools::None, Context),
            event("Notification", Tools::None, Tell),
        ],
        switch: Some((&["hooksConfig", "enabled"], false)),
        note: None,
    },
    AgentRow {
        agent: HookAgent::Qwen,
        program: "qwen",
        folder: SettingsFolder { variable: "QWEN_HOME", below_variable: "", home: ".qwen" },
        file: "settings.json",
        form: SettingsForm::Groups,
        comments: true,
        unit: TimeUnit::SecondsBelowThousand,
        default_limit: 60,
        edit_tools: "edit|write_file|notebook_edit",
        command_tool: "run_shell_command",
        events: &[
            event("PermissionRequest", Tools::EditsAndCommands, Decide),
            event("PreToolUse", Tools::Edits, Decide),
            event("PostToolUse", Tools::Edits, Tell),
            event("UserPromptSubmit", Tools::None, Context),
            event("SessionStart", Tools::None, Context),
            event("Stop", Tools::None, Tell),
        ],
        switch: Some((&["disableAllHooks"], true)),
        note: None,
    },
    AgentRow {
        agent: HookAgent::Opencode,
        program: "opencode",
        folder: SettingsFolder {
            variable: "XDG_CONFIG_HOME",
            below_variable: "opencode/plugins",
            home: ".config/opencode/plugins",
        },
        file: "linkspan.js",
        form: SettingsForm::Plugin,
        comments: false,
        unit: TimeUnit::Seconds,
        default_limit: DECISION_LIMIT,
        edit_tools: "",
        command_tool: "",
        events: &[],
        switch: None,
        note: None,
    },
];

/// A hook as it should be in the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WantedHook {
    pub(super) event: &'static str,
    pub(super) purpose: Purpose,
    pub(super) matcher: Option<String>,
    /// `None` for a member that must not be there.
    pub(super) members: Vec<(&'static str, Option<JsonValue>)>,
}

/// What should be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookRequest {
    pub(super) command: HookCommand,
    /// Whether the events are included that give the model what the editor shows.
    pub(super) context: bool,
}

impl HookRequest {
    /// The options of `linkspan hook install` that this is the result of.
    pub(super) fn option_names(&self) -> Vec<&'static str> {
        let no_context = (!self.context).then_some("--no-context");
        option_names(self.command.options).into_iter().chain(no_context).collect()
    }
}

impl AgentRow {
    pub(super) fn all() -> &'static [AgentRow] {
        &ROWS
    }

    /// The member of a hook that holds its command line.
    pub(super) fn command_member(&self) -> &'static str {
        if self.form == SettingsForm::Flat { "bash" } else { "command" }
    }

    /// The member of a hook that holds its time limit.
    pub(super) fn limit_member(&self) -> &'static str {
        if self.form == SettingsForm::Flat { "timeoutSec" } else { "timeout" }
    }

    pub(super) fn wanted(&self, request: &HookRequest) -> Vec<WantedHook> {
        let events = self.events.iter().filter(|event| request.context || event.purpose != Context);
        events.map(|event| self.wanted_hook(event, request)).collect()
    }

    fn wanted_hook(&self, event: &EventRow, request: &HookRequest) -> WantedHook {
        let options = request.command.options;
        let matcher = match event.tools {
            Tools::None => None,
            Tools::EditsAndCommands if options.commands => {
                Some(format!("{}|{}", self.edit_tools, self.command_tool))
            }
            Tools::Edits | Tools::EditsAndCommands => Some(self.edit_tools.to_owned()),
        };
        let decides = event.purpose == Decide;
        let limit = self.unit.number(if decides { DECISION_LIMIT } else { SHORT_LIMIT });
        let mut members = vec![("type", Some(JsonValue::text("command")))];
        if matches!(self.agent, HookAgent::Gemini | HookAgent::Qwen) {
            // Gemini shows it while the hook runs.
            members.push(("name", Some(JsonValue::text("linkspan"))));
        }
        members.push((self.command_member(), Some(JsonValue::text(request.command.line()))));
        if self.form == SettingsForm::Flat {
            members.push(("matcher", matcher.as_ref().map(JsonValue::text)));
        }
        members.push((self.limit_member(), Some(JsonValue::Number(limit))));
        if self.agent == HookAgent::Claude && decides {
            members.push(("statusMessage", Some(JsonValue::text(STATUS_MESSAGE))));
            // Otherwise an edit passes if the hook cannot be run.
            members.push(("onFailure", options.require.then(|| JsonValue::text("block"))));
        }
        WantedHook { event: event.name, purpose: event.purpose, matcher, members }
    }
}

impl WantedHook {
    /// The element of the event's list.
    pub(super) fn element(&self, form: SettingsForm) -> JsonValue {
        let members = self.members.iter();
        let hook = members.filter_map(|(name, value)| value.clone().map(|value| (*name, value))).collect();
        let hook = JsonValue::Object(hook);
        if form == SettingsForm::Flat {
            return hook;
        }
        let matcher = self.matcher.iter().map(|matcher| ("matcher", JsonValue::text(matcher)));
        JsonValue::Object(matcher.chain([("hooks", JsonValue::List(vec![hook]))]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_day_in_what_each_agent_makes_of_the_number() {
        for row in AgentRow::all() {
            assert_eq!(row.unit.seconds(row.unit.number(DECISION_LIMIT)), DECISION_LIMIT, "{}", row.agent);
            assert_eq!(row.unit.seconds(row.unit.number(SHORT_LIMIT)), SHORT_LIMIT, "{}", row.agent);
        }
        // Seen with the real Qwen Code: 3600 ended a hook after 3.6 s, 900 held.
        assert_eq!(TimeUnit::SecondsBelowThousand.seconds(3600), 3);
        assert_eq!(TimeUnit::SecondsBelowThousand.seconds(900), 900);
        assert_eq!(TimeUnit::Milliseconds.seconds(LONGEST_TIMER + 1), 0);
    }

    #[test]
    fn each_agent_has_one_row() {
        let agents: Vec<HookAgent> = AgentRow::all().iter().map(|row| row.agent).collect();
        assert_eq!(agents, HookAgent::ALL);
    }
}
