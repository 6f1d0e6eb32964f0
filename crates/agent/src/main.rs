//! The `linkspan-agent` program: its command line, and which frontend it starts.

mod assembly;
mod command_line;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use linkspan_agent::acp::{self, AcpOptions};
use linkspan_agent::engine::{self, EngineOptions};
use linkspan_agent::headless::{self, Exit, HeadlessOptions};
use linkspan_agent::sandbox;
use linkspan_agent::terminal::{self, TerminalOptions};
use tokio::signal::unix::{SignalKind, signal};

use assembly::StartOptions;
use command_line::{CommandLine, RunOptions, Serving};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == sandbox::COMMAND) {
        return sandbox::exec(arguments);
    }
    let line = CommandLine::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&format!("cannot start: {error}")),
    };
    let exit = runtime.block_on(run(line));
    // A read of stdin may never end.
    runtime.shutdown_background();
    exit.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &str) -> ExitCode {
    anstream::eprintln!("linkspan-agent: {error}");
    Exit::Usage.into()
}

async fn run(line: CommandLine) -> Result<ExitCode, String> {
    match line.command {
        None => with_user(line.run).await,
        Some(Serving::Serve { port, token_file, agent }) => {
            let token = token_file.as_deref().map(assembly::token).transpose()?;
            let assembly = assembly::start(&StartOptions::of_server(&agent))?;
            let listener = engine::listen(port).await?;
            let ours = listener.local_addr().map_err(|error| error.to_string())?;
            anstream::eprintln!("Serving on http://{ours}");
            let options = EngineOptions { token, settings: assembly::settings(&agent) };
            let served = tokio::select! {
                served = engine::serve(assembly.host.handle(), assembly.callback, listener, options) => served,
                () = end_signal() => Ok(()),
            };
            assembly.host.quit();
            served.map(|()| ExitCode::SUCCESS).map_err(|error| error.to_string())
        }
        Some(Serving::Acp { agent }) => {
            let assembly = assembly::start(&StartOptions::of_acp(&agent))?;
            let options = AcpOptions { settings: assembly::settings(&agent) };
            let served = tokio::select! {
                served = acp::run(assembly.host.handle(), options) => served,
                () = end_signal() => Ok(()),
            };
            assembly.host.quit();
            served.map(|()| ExitCode::SUCCESS).map_err(|error| error.to_string())
        }
    }
}

/// Whether there is a user who sees and types.
fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

async fn with_user(options: RunOptions) -> Result<ExitCode, String> {
    let assembly = assembly::start(&StartOptions::of_run(&options))?;
    let handle = assembly.host.handle();
    let exit = match assembly::first_agent(&assembly, &options).await {
        Ok(settings) => {
            let words = Some(options.prompt.join(" ")).filter(|words| !words.is_empty());
            if options.print.is_none() && !options.json && has_terminal() {
                let history = Some(assembly.history.clone());
                let options =
                    TerminalOptions { settings, history, prompt: words, ..TerminalOptions::default() };
                let ran = terminal::run(handle, options).await;
                assembly.host.quit();
                return ran.map(|()| ExitCode::SUCCESS);
            }
            let prompt = options.print.flatten().or(words);
            let options = HeadlessOptions { prompt, json: options.json, settings };
            Ok(headless::run(handle, options).await.into())
        }
        Err(error) => Err(error),
    };
    assembly.host.quit();
    exit
}

/// Until the process is told to end.
async fn end_signal() {
    let mut signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .into_iter()
        .filter_map(|kind| signal(kind).ok());
    let (Some(mut one), Some(mut two), Some(mut three)) = (signals.next(), signals.next(), signals.next())
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = one.recv() => {}
        _ = two.recv() => {}
        _ = three.recv() => {}
    }
}
