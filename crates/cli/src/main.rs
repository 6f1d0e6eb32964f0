//! The `linkspan` program: what it understands, and how a command's end becomes output and an exit code. What
//! a command does is in the file of its name.

mod accept;
mod attach;
mod decide;
mod diff;
mod exit;
mod history;
mod hub;
mod output;
mod reach;
mod reject;
mod review;
mod review_args;
mod reviews;
mod serve;
mod show;
mod status;
mod undo;
mod watch;
mod watch_line;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use linkspan_reviewer::visible;

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
    Serve(serve::Args),
    Attach(attach::Args),
    Status(status::Args),
    Reviews(reviews::Args),
    Show(show::Args),
    Accept(accept::Args),
    Reject(reject::Args),
    Review(review::Args),
    Watch(watch::Args),
    History(history::Args),
    Undo(undo::Args),
    #[command(subcommand)]
    Hub(hub::Args),
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return not_understood(&error),
    };
    // The standard output of `attach` belongs to the editor's protocol, errors or not.
    let json = args.json && !matches!(args.command, Command::Attach(_));
    let exit = match run(&args) {
        Ok(report) => match output::print(report.json.as_ref().filter(|_| json), &report.text) {
            Ok(()) => Exit::Ok,
            Err(error) => unheard(&error),
        },
        Err(failure) => tell(&failure, json),
    };
    ExitCode::from(exit.code())
}

fn run(args: &Args) -> Result<Report, Failure> {
    let reach = Reach::find()?;
    match &args.command {
        Command::Serve(serve) => serve::run(serve, &reach, args.json),
        Command::Attach(_) => attach::run(reach),
        Command::Status(_) => status::run(&reach),
        Command::Reviews(reviews) => reviews::run(reviews, &reach),
        Command::Show(show) => show::run(show, &reach),
        Command::Accept(accept) => accept::run(accept, &reach),
        Command::Reject(reject) => reject::run(reject, &reach),
        Command::Review(review) => review::run(review, &reach, args.json),
        Command::Watch(watch) => watch::run(watch, &reach, args.json),
        Command::History(history) => history::run(history, &reach),
        Command::Undo(undo) => undo::run(undo, &reach, args.json),
        Command::Hub(hub) => hub::run(hub, &reach, args.json),
    }
}

fn tell(failure: &Failure, json: bool) -> Exit {
    if json {
        if let Err(error) = output::print(Some(&failure.json()), "") {
            return unheard(&error);
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
        Err(error) => unheard(&error),
    };
    ExitCode::from(exit.code())
}

/// Whoever closes the pipe has heard enough.
fn unheard(error: &io::Error) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Exit::Ok;
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
