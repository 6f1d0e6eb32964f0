//! `linkspan conform server`: plays an agent against a server, point by point. Each dialect has a file with its points;
//! they share `peer` (bytes), `shape` (pure) and the agents that speak MCP over a WebSocket.

mod claude;
mod clio;
mod decider;
mod gemini;
mod mcp_answer;
mod nexus3;
mod peer;
mod ppxai;
mod sample;
mod shape;
mod target;
mod ws_agent;
mod ws_changes;
mod ws_connection;
mod ws_decisions;
mod ws_errors;
mod ws_tools;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use super::point::{Finding, Findings};
use super::{ReportOptions, finish};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Report;
use crate::cli::signals;
use decider::Decider;
use peer::ServerPeer;
use sample::Sample;
use target::ServerTarget;

/// Play an agent against a server for agents, and check point by point what agents rely on.
///
/// Works with every server that speaks one of these protocols, not only with Linkspan's. Nobody has to decide anything:
/// changes are proposed and withdrawn again. The only file that is written is a sample in a new folder of the server's
/// workspace, which is removed at the end.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The token is that of the discovery file, or LINKSPAN_CONFORM_TOKEN. Exit code 1 if a required point \
    fails. For example:\n  \
    linkspan conform server ~/.claude/ide/41235.lock\n  \
    linkspan conform server http://127.0.0.1:54321 --dialect ppxai --junit report.xml\n  \
    linkspan conform server 41235 --dialect claude --decide 'linkspan $LINKSPAN_CONFORM_DECISION latest'"
)]
pub(crate) struct Args {
    /// The server: its discovery file, its port on this machine, or its address.
    #[arg(value_name = "URL|LOCKFILE")]
    server: String,
    /// The protocol to check; that of the discovery file if omitted.
    #[arg(long, value_name = "NAME", value_enum)]
    dialect: Option<ServerDialect>,
    /// A folder of the server's workspace for the sample file; that of the discovery file if omitted.
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// Wait this long for each answer of the server.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    timeout: u32,
    /// Also check decisions: this command makes them. It finds `accept` or `reject` in LINKSPAN_CONFORM_DECISION and the
    /// file in LINKSPAN_CONFORM_PATH, and is repeated until it succeeds.
    #[arg(long, value_name = "COMMAND", conflicts_with = "interactive")]
    decide: Option<String>,
    /// Also check decisions: you make them, in the editor.
    #[arg(long)]
    interactive: bool,
    #[command(flatten)]
    report: ReportOptions,
}

/// The protocols of agents that connect to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServerDialect {
    /// Claude Code, opencode.
    Claude,
    /// NEXUS3.
    Nexus3,
    /// Gemini CLI, Qwen Code.
    #[value(alias = "qwen")]
    Gemini,
    /// Clio.
    Clio,
    /// ppxai.
    Ppxai,
}

impl ServerDialect {
    fn name(self) -> &'static str {
        match self {
            ServerDialect::Claude => "claude",
            ServerDialect::Nexus3 => "nexus3",
            ServerDialect::Gemini => "gemini",
            ServerDialect::Clio => "clio",
            ServerDialect::Ppxai => "ppxai",
        }
    }
}

/// What the agents of all dialects are made from.
struct Stand {
    peer: ServerPeer,
    token: Option<String>,
    folders: Vec<PathBuf>,
    sample: Sample,
    decider: Decider,
}

/// What one agent found, and how the server names itself.
type Walked = (Vec<Finding>, Option<String>);

pub(crate) fn run(args: &Args) -> Result<Report, Failure> {
    let ServerTarget { dialect, address, token, folders } = target::find(&args.server, args.dialect)?;
    let workspace = args.workspace.clone().or_else(|| folders.iter().find(|folder| folder.is_dir()).cloned());
    let sample = Sample::create(workspace.as_deref())?;
    let folder = sample.folder();
    let interrupted = signals::withdraw_on_interrupt(move || {
        // Nothing could be done about an error; the folder says by its name what it is.
        let _ = fs::remove_dir_all(folder);
    })?;
    let mut notes = vec![sample.note()];
    if dialect == ServerDialect::Ppxai {
        notes.push(
            "ppxai has no call that withdraws a change: the server may show those of this check for a while"
                .into(),
        );
    }
    let decider = match &args.decide {
        Some(command) => Decider::Command(command.clone()),
        None if args.interactive => Decider::User,
        None => Decider::Nobody,
    };
    let timeout = Duration::from_secs(args.timeout.into());
    let mut peer = ServerPeer::new(address.clone(), timeout)?;
    if !peer.listens() {
        let message = format!("nothing listens at {address}; start the editor, or name another server");
        return Err(Failure::new(Exit::NoWindow, message));
    }
    let folders = workspace.into_iter().chain(folders).collect();
    let stand = Stand { peer, token, folders, sample, decider };
    let (walked, name) = match dialect {
        ServerDialect::Claude => claude::walk_through(stand),
        ServerDialect::Nexus3 => nexus3::walk_through(stand),
        ServerDialect::Gemini => gemini::walk_through(stand),
        ServerDialect::Clio => clio::walk_through(stand),
        ServerDialect::Ppxai => ppxai::walk_through(stand),
    };
    interrupted.park_if_interrupted();
    let findings = Findings {
        protocol: dialect.name().to_owned(),
        peer: address.to_string(),
        name,
        notes,
        findings: walked,
    };
    finish(&findings, &args.report)
}
