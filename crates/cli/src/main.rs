//! The `linkspan` program: what it understands, and how a command's end becomes output and an exit code. What
//! a command does is in the file of its name.

mod accept;
mod allow;
mod asks;
mod attach;
mod call;
mod clients;
mod close;
mod completions;
mod config;
mod context;
mod decide;
mod deny;
mod diagnostics;
mod diff;
mod dirty;
mod doctor;
mod editors;
mod exit;
mod folders;
mod headless;
mod history;
mod hub;
mod ide;
mod man;
mod mcp;
mod open;
mod output;
mod own_window;
mod page;
mod path_args;
mod pins;
mod reach;
mod record;
mod reject;
mod replay;
mod review;
mod review_args;
mod reviews;
mod save;
mod selection;
mod serve;
mod show;
mod shown_diff;
mod signals;
mod status;
mod storage;
mod tools;
mod try_it;
mod undo;
mod watch;
mod watch_line;
mod window;
mod write_accepted;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use linkspan_client::visible;

use exit::{Exit, Failure};
use output::Report;
use reach::Reach;

/// The bridge between terminal coding agents and editors.
#[derive(Debug, Parser)]
#[command(name = "linkspan", version, after_help = exit::help())]
struct Args {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Try(try_it::Args),
    Serve(serve::Args),
    Page(page::Args),
    Attach(attach::Args),
    Mcp(mcp::Args),
    Status(status::Args),
    Reviews(reviews::Args),
    Show(show::Args),
    Accept(accept::Args),
    Reject(reject::Args),
    Asks(asks::Args),
    Allow(allow::Args),
    Deny(deny::Args),
    Clients(clients::Args),
    Diff(diff::Args),
    Open(open::Args),
    Diagnostics(diagnostics::Args),
    Selection(selection::Args),
    Editors(editors::Args),
    Folders(folders::Args),
    Dirty(dirty::Args),
    Save(save::Args),
    Close(close::Args),
    Context(context::Args),
    Tools(tools::Args),
    Call(call::Args),
    Ide(ide::Args),
    Record(record::Args),
    Replay(replay::Args),
    Doctor(doctor::Args),
    Review(review::Args),
    Watch(watch::Args),
    History(history::Args),
    Undo(undo::Args),
    #[command(subcommand)]
    Hub(hub::Args),
    #[command(subcommand)]
    Config(config::Args),
    Completions(completions::Args),
    Man(man::Args),
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return not_understood(&error),
    };
    // The standard output of these belongs to their protocol, errors or not.
    let json = args.json && !matches!(args.command, Command::Attach(_) | Command::Mcp(_));
    let exit = match run(&args) {
        Ok(report) => match report.print(json) {
            Ok(()) => report.exit,
            Err(error) => unheard(&error, report.exit),
        },
        Err(failure) => tell(&failure, json),
    };
    ExitCode::from(exit.code())
}

fn run(args: &Args) -> Result<Report, Failure> {
    // These are about the program itself, and run also where there is no home: while a package is built.
    match &args.command {
        Command::Completions(completions) => return Ok(completions::run(completions)),
        Command::Man(man) => return man::run(man),
        _ => {}
    }
    let reach = Reach::find()?;
    match &args.command {
        Command::Try(try_it) => try_it::run(try_it, &reach, args.json),
        Command::Page(page) => page::run(page, &reach),
        Command::Serve(serve) => serve::run(serve, &reach, args.json),
        Command::Attach(_) => attach::run(reach),
        Command::Mcp(mcp) => mcp::run(mcp, &reach),
        Command::Status(_) => status::run(&reach),
        Command::Reviews(reviews) => reviews::run(reviews, &reach),
        Command::Show(show) => show::run(show, &reach),
        Command::Accept(accept) => accept::run(accept, &reach),
        Command::Reject(reject) => reject::run(reject, &reach),
        Command::Asks(_) => asks::run(&reach),
        Command::Allow(allow) => allow::run(allow, &reach),
        Command::Deny(deny) => deny::run(deny, &reach),
        Command::Clients(clients) => clients::run(clients, &reach),
        Command::Diff(diff) => diff::run(diff, &reach, args.json),
        Command::Open(open) => open::run(open, &reach),
        Command::Diagnostics(diagnostics) => diagnostics::run(diagnostics, &reach),
        Command::Selection(selection) => selection::run(selection, &reach),
        Command::Editors(editors) => editors::run(editors, &reach),
        Command::Folders(folders) => folders::run(folders, &reach),
        Command::Dirty(dirty) => dirty::run(dirty, &reach),
        Command::Save(save) => save::run(save, &reach),
        Command::Close(close) => close::run(close, &reach),
        Command::Context(context) => context::run(context, &reach),
        Command::Tools(tools) => tools::run(tools, &reach),
        Command::Call(call) => call::run(call, &reach),
        Command::Ide(ide) => ide::run(ide, &reach, args.json),
        Command::Record(record) => record::run(record, args.json),
        Command::Replay(replay) => replay::run(replay, &reach),
        Command::Doctor(doctor) => doctor::run(doctor, &reach),
        Command::Review(review) => review::run(review, &reach, args.json),
        Command::Watch(watch) => watch::run(watch, &reach, args.json),
        Command::History(history) => history::run(history, &reach),
        Command::Undo(undo) => undo::run(undo, &reach, args.json),
        Command::Hub(hub) => hub::run(hub, &reach, args.json),
        Command::Config(config) => config::run(config, &reach),
        Command::Completions(completions) => Ok(completions::run(completions)),
        Command::Man(man) => man::run(man),
    }
}

fn tell(failure: &Failure, json: bool) -> Exit {
    if json {
        if let Err(error) = output::print(Some(&failure.json()), "") {
            return unheard(&error, failure.exit);
        }
    } else {
        output::warn(&failure.message);
    }
    failure.exit
}

/// Help and the version are answers; all else goes where the caller looks for it.
fn not_understood(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let message = error.render().to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message).trim_end();
        return ExitCode::from(tell(&Failure::usage(message), true).code());
    }
    let exit = match error.print() {
        Ok(()) if error.use_stderr() => Exit::Usage,
        Ok(()) => Exit::Ok,
        Err(error) => unheard(&error, Exit::Ok),
    };
    ExitCode::from(exit.code())
}

/// Whoever closes the pipe has heard enough; the answer is still in the exit code.
fn unheard(error: &io::Error, exit: Exit) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return exit;
    }
    output::warn(&format!("the output could not be written: {error}"));
    Exit::Internal
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_help_has_the_exit_codes() {
        let help = Args::command().render_long_help().to_string();
        assert!(help.contains("there is no such review"));
    }
}
