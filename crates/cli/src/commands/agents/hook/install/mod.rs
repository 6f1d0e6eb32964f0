//! `linkspan hook install`, `remove` and `status`: the hook in the settings of agents.
//!
//! `merge`, `plugin` and `inspection` are pure: the text of a settings file in, a new text or findings out, by the
//! rows of `agent_row`. `settings_file` reads and writes; `save` and `status` are the commands.

mod agent_row;
mod codex_trust;
mod found_hook;
mod hook_command;
mod inspection;
mod json_text;
mod json_value;
mod merge;
mod plan;
mod plugin;
mod program;
mod save;
mod settings_file;
mod status;

#[cfg(test)]
mod merge_tests;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use linkspan_dialect::hooks::HookAgent;

use super::HookOptions;
use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use agent_row::{AgentRow, HookRequest};
use hook_command::HookCommand;
use plan::{Goal, plans};

pub(crate) use status::{InstalledHook, installed};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum InstallCommand {
    Install(InstallArgs),
    Remove(RemoveArgs),
    Status(StatusArgs),
}

const ALL: &str = "all";

/// Put the hook into the settings of agents.
///
/// Shows what will change, and asks before it writes; without a terminal it needs `--yes`. Only the hooks of Linkspan
/// are added or updated: everything else in the file, with its comments, stays as it is. The file as it was before is
/// kept beside it, as FILE.linkspan-backup.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// The agents; if omitted, or with `all`, those that are found on this machine.
    #[arg(value_name = "AGENT", value_parser = agents())]
    agents: Vec<AgentChoice>,
    #[command(flatten)]
    options: HookOptions,
    /// Leave out the events that give the model what the editor shows.
    #[arg(long)]
    no_context: bool,
    #[command(flatten)]
    writing: WritingArgs,
}

/// Take the hook out of the settings of agents.
///
/// Hooks of others stay. If nothing else was changed since `install`, the file has the same bytes as before.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The agents; all if omitted.
    #[arg(value_name = "AGENT", value_parser = agents())]
    agents: Vec<AgentChoice>,
    #[command(flatten)]
    writing: WritingArgs,
}

/// Show which agents have the hook.
///
/// Exit code 1 if something is wrong with an installed hook, or if an agent that you name does not have it.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The agents; all if omitted.
    #[arg(value_name = "AGENT", value_parser = agents())]
    agents: Vec<AgentChoice>,
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct WritingArgs {
    /// Only show what would change.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(short, long, conflicts_with = "dry_run")]
    yes: bool,
}

/// What the user named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AgentChoice {
    All,
    One(HookAgent),
}

fn agents() -> impl TypedValueParser<Value = AgentChoice> {
    let names: Vec<&'static str> = HookAgent::ALL.map(HookAgent::id).into_iter().chain([ALL]).collect();
    PossibleValuesParser::new(names)
        .map(|name| HookAgent::from_id(&name).map_or(AgentChoice::All, AgentChoice::One))
}

/// The rows of the agents that were named, each once; `None` if that is all of them.
fn named(choices: &[AgentChoice]) -> Option<Vec<&'static AgentRow>> {
    if choices.is_empty() || choices.contains(&AgentChoice::All) {
        return None;
    }
    let rows = AgentRow::all().iter();
    Some(rows.filter(|row| choices.contains(&AgentChoice::One(row.agent))).collect())
}

pub(crate) fn run(command: &InstallCommand, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    let home = &cli.places.home;
    let own = program::own_path(cli.program());
    match command {
        InstallCommand::Install(args) => {
            let rows = match named(&args.agents) {
                Some(rows) => rows,
                None => plan::found_on_this_machine(home)?,
            };
            let command = HookCommand::new(&own, args.options);
            let goal = Goal::Install(HookRequest { command, context: !args.no_context });
            save::carry_out(plans(&rows, home, &goal), &goal, args.writing, json)
        }
        InstallCommand::Remove(args) => {
            let rows = named(&args.agents).unwrap_or_else(|| AgentRow::all().iter().collect());
            let goal = Goal::Remove { own };
            save::carry_out(plans(&rows, home, &goal), &goal, args.writing, json)
        }
        InstallCommand::Status(args) => Ok(status::report(named(&args.agents), home, &own)),
    }
}
