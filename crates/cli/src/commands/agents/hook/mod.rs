//! `linkspan hook`: what an agent runs before and after it acts. Reads one event on standard input, and answers it on
//! standard output in the agent's own form. Its subcommands, in `install`, put it into the settings of agents.
//!
//! An agent waits for each of its hooks, so what has nothing to decide costs no more than a look for the hub's socket.

mod accepted_text;
mod caller_watch;
mod command;
mod decision;
mod edit;
mod edit_plan;
mod follow_up;
mod install;
mod memory;
mod move_target;
mod options;
mod prompt;
mod report;
mod review;
mod stdin;
mod windows;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use linkspan_client::{AgentInfo, HubLauncher};
use linkspan_dialect::hooks::{EditCall, HookAnswer, HookCall, HookEvent, HookOutput};

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::{Report, warn};
use memory::{DecisionMemory, SessionKey};

pub(crate) use install::{InstalledHook, installed};
pub(crate) use options::HookOptions;
pub(crate) use windows::for_folder as window_for;

pub(crate) const NAME: &str = "hook";

/// Every agent takes it as a denial. Only for an event that cannot be read, and so cannot be answered in its own form.
const DENIED: u8 = 2;
/// The hub refuses longer ids of sessions.
const LONGEST_SESSION: usize = 200;

/// Answer an agent's hook with your decision.
///
/// Reads the event on standard input, shows the edit in the editor window that has the folder open, waits for you, and
/// answers in the agent's own form. Prints nothing if there is nothing to decide: the agent then asks as ever.
/// `linkspan hook install AGENT` puts it into the agent's settings.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(flatten)]
    options: HookOptions,
    #[command(subcommand)]
    command: Option<install::InstallCommand>,
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    match &args.command {
        Some(command) => install::run(command, cli, json),
        // `main` runs a hook before it parses its arguments here; with an option such as `--json` it comes here.
        None => {
            answer(args.options);
            Ok(Report::default())
        }
    }
}

/// One event, with everything that an answer needs.
#[derive(Debug)]
struct HookRun {
    options: HookOptions,
    cli: CliContext,
    memory: DecisionMemory,
    call: HookCall,
}

/// Answers one event.
pub(crate) fn answer(options: HookOptions) -> ExitCode {
    if io::stdin().is_terminal() {
        warn("`linkspan hook` is run by an agent, which sends it an event; see `linkspan help hook`");
        return ExitCode::from(DENIED);
    }
    let HookOutput { stdout, code } = output(options);
    if !stdout.is_empty() {
        let mut out = io::stdout().lock();
        // An agent that reads no answer has gone on without it.
        let _ = writeln!(out, "{}", stdout.trim_end_matches('\n')).and_then(|()| out.flush());
    }
    ExitCode::from(code)
}

fn output(options: HookOptions) -> HookOutput {
    let cli = match CliContext::find() {
        Ok(cli) => cli,
        Err(error) => {
            stdin::skip();
            if !options.require {
                return HookOutput::default();
            }
            warn(&error.message);
            return HookOutput { stdout: String::new(), code: DENIED };
        }
    };
    let memory = DecisionMemory::of(&cli.places);
    if !options.require && !is_hub_likely(&cli) && memory.is_empty() {
        stdin::skip();
        return HookOutput::default();
    }
    let call = stdin::read().and_then(|event| {
        HookCall::parse(&event, &|name| std::env::var(name).ok()).map_err(|error| error.to_string())
    });
    match call {
        Ok(call) => {
            let run = HookRun { options, cli, memory, call };
            run.call.encode(&run.answer())
        }
        Err(error) => {
            warn(&error);
            let code = if options.require { DENIED } else { 0 };
            HookOutput { stdout: String::new(), code }
        }
    }
}

/// Whether it is worth asking for a hub's windows. The socket of a killed hub counts, too: asking it fails at once.
fn is_hub_likely(cli: &CliContext) -> bool {
    cli.places.socket().is_ok_and(|socket| socket.exists()) || HubLauncher::connect(&cli.places).is_ok()
}

impl HookRun {
    fn answer(&self) -> HookAnswer {
        let is_wanted = !self.call.automatic || self.options.always;
        match &self.call.event {
            HookEvent::Edit(edit) if is_wanted => {
                self.forget(edit);
                edit::answer(self, edit)
            }
            HookEvent::EditPermission(edit) => follow_up::permission(self, edit),
            HookEvent::EditDone { files } => follow_up::done(self, files),
            HookEvent::Command { command } if self.options.commands && is_wanted => {
                command::answer(self, command)
            }
            HookEvent::Prompt => prompt::answer(self, true),
            HookEvent::SessionStart => prompt::answer(self, false),
            HookEvent::SessionEnd | HookEvent::Stopped | HookEvent::Waiting { .. } => {
                report::send_in_time(self);
                HookAnswer::Pass
            }
            HookEvent::Edit(edit) => {
                self.forget(edit);
                HookAnswer::Pass
            }
            HookEvent::Command { .. } | HookEvent::Other => HookAnswer::Pass,
        }
    }

    /// An edit that was decided before and never made: its decision allows nothing, and its words are told to nobody.
    fn forget(&self, edit: &EditCall) {
        for file in &edit.files {
            self.memory.take_words(self.session_key(), &file.path);
        }
    }

    /// The answer to something that the user cannot be asked about.
    fn unasked(&self, why: &str) -> HookAnswer {
        if !self.options.require {
            return HookAnswer::Pass;
        }
        let reason = format!(
            "The user could not be asked about this, and `linkspan hook --require` allows nothing without that: \
             {why}."
        );
        HookAnswer::Deny { reason }
    }

    /// The answer if no window of the hub has the folder.
    fn without_window(&self) -> HookAnswer {
        self.unasked(&format!(
            "no editor window has {} open. Ask the user to open it in an editor with Linkspan, or to run \
             `linkspan serve` in it, then try again",
            self.call.cwd.display()
        ))
    }

    fn agent(&self) -> AgentInfo {
        let agent = AgentInfo::new(self.call.agent.display_name(), "");
        agent.as_hook(self.session_id())
    }

    fn session_id(&self) -> String {
        match self.call.session.len() {
            0 => "unknown".to_owned(),
            1..=LONGEST_SESSION => self.call.session.clone(),
            _ => blake3::hash(self.call.session.as_bytes()).to_hex().to_string(),
        }
    }

    fn session_key(&self) -> SessionKey<'_> {
        SessionKey { agent: self.call.agent, session: &self.call.session }
    }
}
