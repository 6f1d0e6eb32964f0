//! The `linkspan` program: its command line, and how the result of a command becomes output and an exit code. The work
//! of a command is in `commands`, in the file of its name.

mod cli;
mod commands;

use std::io;
use std::process::ExitCode;

use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use linkspan_client::visible;

use cli::context::CliContext;
use cli::exit::{self, Exit, Failure};
use cli::output::{self, Report};
use commands::agents::{acp, agent, allow, asks, clients, deny, hook, mcp};
use commands::editor::{close, context, diagnostics, dirty, editors, folders, ide, open, save, selection};
use commands::groups;
use commands::review::{accept, diff, history, page, reject, reviews, show, terminal_reviewer, undo};
use commands::scripts::{attach, call, conform, record, replay, tools, watch};
use commands::setup::{completions, config, doctor, hub, man, reference, serve, status, try_it};

/// Review what coding agents change, in your editor, browser or terminal.
#[derive(Debug, Parser)]
#[command(name = "linkspan", version, after_help = AFTER_HELP, after_long_help = format!("{}\n\n{AFTER_HELP}", exit::help()))]
struct Args {
    /// Print JSON instead of text.
    #[arg(long, global = true, display_order = 900)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "`linkspan help COMMAND` explains a command. With --json a command prints one JSON document, \
    and an error as {\"error\":{\"code\",\"message\"}}.";

#[derive(Debug, Subcommand)]
enum Command {
    Review(terminal_reviewer::Args),
    Page(page::Args),
    Reviews(reviews::Args),
    Show(show::Args),
    Accept(accept::Args),
    Reject(reject::Args),
    Diff(diff::Args),
    History(history::Args),
    Undo(undo::Args),

    Ide(ide::Args),
    Open(open::Args),
    Diagnostics(diagnostics::Args),
    Selection(selection::Args),
    Editors(editors::Args),
    Folders(folders::Args),
    Dirty(dirty::Args),
    Save(save::Args),
    Close(close::Args),
    Context(context::Args),

    Agent(agent::Args),
    Hook(hook::Args),
    Mcp(mcp::Args),
    Acp(acp::Args),
    Asks(asks::Args),
    Allow(allow::Args),
    Deny(deny::Args),
    Clients(clients::Args),

    Try(try_it::Args),
    Serve(serve::Args),
    Status(status::Args),
    Doctor(doctor::Args),
    #[command(subcommand)]
    Config(config::Args),
    #[command(subcommand)]
    Hub(hub::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    Reference(reference::Args),

    Watch(watch::Args),
    Tools(tools::Args),
    Call(call::Args),
    Attach(attach::Args),
    Record(record::Args),
    Replay(replay::Args),
    Conform(conform::Args),
}

/// The command line that is parsed, documented and completed.
fn program() -> clap::Command {
    let program = Args::command().mut_subcommands(|command| match command.get_name() {
        // Standard output belongs to the protocol, so `--json` is not offered. It is still accepted: an editor extension
        // or an MCP configuration that passes it has worked so far, and its error would not be seen.
        acp::NAME | attach::NAME | mcp::NAME => {
            command.arg(Arg::new("json").long("json").action(ArgAction::SetTrue).hide(true))
        }
        _ => command,
    });
    let template = groups::help_template(&program);
    program.help_template(template)
}

fn main() -> ExitCode {
    if let Some(options) = hook::HookOptions::read(std::env::args_os()) {
        return hook::answer(options);
    }
    let parsed = program().try_get_matches().and_then(|matches| Args::from_arg_matches(&matches));
    let args = match parsed {
        Ok(args) => args,
        Err(error) => return usage_error(&error),
    };
    let json = args.json && !matches!(args.command, Command::Acp(_) | Command::Attach(_) | Command::Mcp(_));
    let exit = match run(&args) {
        Ok(report) => match report.print(json) {
            Ok(()) => report.exit,
            Err(error) => output_failed(&error, report.exit),
        },
        Err(failure) => report_failure(&failure, json),
    };
    ExitCode::from(exit.code())
}

fn run(args: &Args) -> Result<Report, Failure> {
    // These are about the program itself, and must work without a home directory: a package is built without one.
    match &args.command {
        Command::Completions(completions) => return Ok(completions::run(completions)),
        Command::Man(man) => return man::run(man),
        Command::Reference(reference) => return reference::run(reference),
        Command::Agent(agent) => return agent::run(agent, args.json),
        _ => {}
    }
    let cli = CliContext::find()?;
    match &args.command {
        Command::Review(review) => terminal_reviewer::run(review, &cli, args.json),
        Command::Page(page) => page::run(page, &cli),
        Command::Reviews(reviews) => reviews::run(reviews, &cli),
        Command::Show(show) => show::run(show, &cli),
        Command::Accept(accept) => accept::run(accept, &cli),
        Command::Reject(reject) => reject::run(reject, &cli),
        Command::Diff(diff) => diff::run(diff, &cli, args.json),
        Command::History(history) => history::run(history, &cli),
        Command::Undo(undo) => undo::run(undo, &cli, args.json),

        Command::Ide(ide) => ide::run(ide, &cli, args.json),
        Command::Open(open) => open::run(open, &cli),
        Command::Diagnostics(diagnostics) => diagnostics::run(diagnostics, &cli),
        Command::Selection(selection) => selection::run(selection, &cli),
        Command::Editors(editors) => editors::run(editors, &cli),
        Command::Folders(folders) => folders::run(folders, &cli),
        Command::Dirty(dirty) => dirty::run(dirty, &cli),
        Command::Save(save) => save::run(save, &cli),
        Command::Close(close) => close::run(close, &cli),
        Command::Context(context) => context::run(context, &cli),

        Command::Agent(agent) => agent::run(agent, args.json),
        Command::Hook(hook) => hook::run(hook, &cli, args.json),
        Command::Mcp(mcp) => mcp::run(mcp, &cli),
        Command::Acp(acp) => acp::run(acp, &cli),
        Command::Asks(_) => asks::run(&cli),
        Command::Allow(allow) => allow::run(allow, &cli),
        Command::Deny(deny) => deny::run(deny, &cli),
        Command::Clients(clients) => clients::run(clients, &cli),

        Command::Try(try_it) => try_it::run(try_it, &cli, args.json),
        Command::Serve(serve) => serve::run(serve, &cli, args.json),
        Command::Status(_) => status::run(&cli),
        Command::Doctor(doctor) => doctor::run(doctor, &cli),
        Command::Config(config) => config::run(config, &cli),
        Command::Hub(hub) => hub::run(hub, &cli, args.json),
        Command::Completions(completions) => Ok(completions::run(completions)),
        Command::Man(man) => man::run(man),
        Command::Reference(reference) => reference::run(reference),

        Command::Watch(watch) => watch::run(watch, &cli, args.json),
        Command::Tools(tools) => tools::run(tools, &cli),
        Command::Call(call) => call::run(call, &cli),
        Command::Attach(_) => attach::run(cli),
        Command::Record(record) => record::run(record, args.json),
        Command::Replay(replay) => replay::run(replay, &cli),
        Command::Conform(conform) => conform::run(conform, &cli),
    }
}

fn report_failure(failure: &Failure, json: bool) -> Exit {
    if json {
        if let Err(error) = output::print(Some(&failure.json()), "") {
            return output_failed(&error, failure.exit);
        }
    } else {
        output::warn(&failure.message);
    }
    failure.exit
}

/// `--help` and `--version` are errors for clap, and print to standard output.
fn usage_error(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let message = error.render().to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message).trim_end();
        return ExitCode::from(report_failure(&Failure::usage(message), true).code());
    }
    let exit = match error.print() {
        Ok(()) if error.use_stderr() => Exit::Usage,
        Ok(()) => Exit::Ok,
        Err(error) => output_failed(&error, Exit::Ok),
    };
    ExitCode::from(exit.code())
}

/// A reader that closes the pipe has read enough, as `head` does: the exit code is still that of the command.
fn output_failed(error: &io::Error, exit: Exit) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return exit;
    }
    output::warn(&format!("cannot write the output: {error}"));
    Exit::Internal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        program().debug_assert();
    }

    #[test]
    fn the_help_has_the_exit_codes() {
        let help = program().render_long_help().to_string();
        assert!(help.contains("no such review"));
    }
}
