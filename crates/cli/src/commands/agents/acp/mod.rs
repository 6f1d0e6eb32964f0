//! `linkspan acp`: stands between an editor that speaks the Agent Client Protocol and its agent. Starts the agent, passes
//! everything on, and lets the hub review what the agent wants to change. Owns the process; what happens to each message
//! is decided in `router`.

mod child;
mod hub_link;
mod lines;
mod router;
mod session;

use std::ffi::OsString;
use std::process;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::{Report, warn};
use child::AgentProcess;
use hub_link::{HubLinks, LinkEvent};
use lines::{LineEvent, LineWriter};
use router::{ProxyAction, Router};

pub(crate) const NAME: &str = "acp";

/// What it started may keep its output open; what the agent itself said has arrived by then.
const AFTER_EXIT: Duration = Duration::from_millis(300);

/// Review what an agent changes in an editor that speaks ACP.
///
/// Put this before the command of the agent in the settings of Zed, a JetBrains IDE, Neovim or another client of the
/// Agent Client Protocol. Everything passes as it is, but what the agent wants to change becomes a review: in an editor
/// with Linkspan, on the page or in `linkspan review`. Ends as the agent does, with its exit code.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command of the agent, with its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What the loop waits for.
enum ProxyInput {
    FromClient(LineEvent),
    FromAgent(LineEvent),
    /// The session, which of its links, and what came of it.
    Link(String, u64, LinkEvent),
    Signal(rustix::process::Signal),
    Exited,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let (inputs, inbox) = channel();
    let (agent, stdin, stdout) = AgentProcess::start(&args.command)?;
    child::forward_signals(inputs.clone())?;
    lines::read(std::io::stdin(), inputs.clone(), ProxyInput::FromClient)?;
    lines::read(stdout, inputs.clone(), ProxyInput::FromAgent)?;
    agent.notify_exit(inputs.clone())?;
    let proxy = AcpProxy {
        to_client: LineWriter::start(std::io::stdout())?,
        to_agent: Some(LineWriter::start(stdin)?),
        links: HubLinks::new(cli.clone(), inputs),
        router: Router::new(child::name(&args.command)),
        agent,
    };
    // Standard input cannot be closed from here, so this process ends without waiting for the thread that reads it.
    process::exit(proxy.run(&inbox));
}

struct AcpProxy {
    to_client: LineWriter,
    /// None once the client has closed our input.
    to_agent: Option<LineWriter>,
    links: HubLinks,
    router: Router,
    agent: AgentProcess,
}

impl AcpProxy {
    fn run(mut self, inbox: &Receiver<ProxyInput>) -> i32 {
        let mut ends_at: Option<Instant> = None;
        loop {
            let input = match ends_at {
                None => inbox.recv().ok(),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())).ok(),
            };
            let outputs = match input {
                None => break,
                Some(ProxyInput::FromClient(LineEvent::Line(line))) => self.router.client_line(line),
                Some(ProxyInput::FromAgent(LineEvent::Line(line))) => self.router.agent_line(line),
                // The agent sees the end of its input as if we were not there, and ends by itself.
                Some(ProxyInput::FromClient(LineEvent::End)) => {
                    if let Some(to_agent) = self.to_agent.take() {
                        to_agent.close();
                    }
                    self.router.client_gone()
                }
                Some(ProxyInput::FromAgent(LineEvent::End)) => break,
                Some(
                    ProxyInput::FromClient(LineEvent::TooLong) | ProxyInput::FromAgent(LineEvent::TooLong),
                ) => {
                    warn(&format!(
                        "a message has more than {} MiB; the agent is ended",
                        lines::LONGEST >> 20
                    ));
                    self.agent.signal(rustix::process::Signal::TERM);
                    break;
                }
                Some(ProxyInput::Link(session, number, event)) => {
                    self.router.hub_event(&session, number, event)
                }
                Some(ProxyInput::Signal(signal)) => {
                    self.agent.signal(signal);
                    Vec::new()
                }
                Some(ProxyInput::Exited) => {
                    ends_at.get_or_insert_with(|| Instant::now() + AFTER_EXIT);
                    Vec::new()
                }
            };
            self.carry_out(outputs);
        }
        // What is under way is withdrawn: nobody waits for it.
        self.links.leave_all();
        self.to_client.finish();
        drop(self.to_agent);
        self.agent.exit_code()
    }

    fn carry_out(&mut self, outputs: Vec<ProxyAction>) {
        for output in outputs {
            match output {
                ProxyAction::ToClient(line) => self.to_client.send(line),
                ProxyAction::ToAgent(line) => {
                    if let Some(to_agent) = &self.to_agent {
                        to_agent.send(line);
                    }
                }
                ProxyAction::ToHub { session, message } => self.links.send(&session, &message),
                ProxyAction::Connect { session, number, begin } => self.links.connect(session, number, begin),
                ProxyAction::Leave { session } => self.links.leave(&session),
                ProxyAction::Say(text) => warn(&text),
            }
        }
    }
}

/// A thread that ends with the process.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map(drop).map_err(|error| Failure::internal(format!("cannot start a thread: {error}")))
}

type Inputs = Sender<ProxyInput>;
