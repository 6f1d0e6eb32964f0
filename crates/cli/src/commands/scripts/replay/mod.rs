//! `linkspan replay`: plays the agent's side of a transcript against an editor, and compares the answers.

mod comparison;
pub(crate) mod connections;
mod player;
mod script;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use linkspan_client::discover;
use linkspan_client::discover::{Discovery, Wire};
use linkspan_client::http::LoopbackUrl;
use linkspan_client::ppxai;
use linkspan_editor_api::wire_names::header;
use serde_json::{Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, count};
use crate::cli::window::{Choice, WindowOptions, choose_among, here, surroundings};
use crate::commands::scripts::record::{address, target};
use crate::visible::name;
use connections::Connections;
use player::{AnswerComparison, Player};

/// The token for the server.
const TOKEN_VARIABLE: &str = "LINKSPAN_REPLAY_TOKEN";

/// No transcript of one conversation is longer.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Play the agent's side of a recording and compare the answers.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each step waits for what the agent had received by then. Decide changes again as in the \
    recording, within --timeout. Exit code 1 if an answer differs or does not arrive."
)]
pub(crate) struct Args {
    /// A transcript made by `linkspan record`.
    file: PathBuf,
    /// The editor's server: its port on this machine, or its address; the window of this folder if omitted.
    #[arg(long, value_name = "PORT|URL", value_parser = target)]
    to: Option<LoopbackUrl>,
    /// The token for the server; that of its discovery file, or PPXAI_BRIDGE_TOKEN, if omitted.
    ///
    /// Prefer LINKSPAN_REPLAY_TOKEN: other users of this machine may see command lines.
    #[arg(long)]
    token: Option<String>,
    /// Ignore differences in this member of messages; may be repeated.
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,
    /// Wait this long for each answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    timeout: u32,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let steps = script::read(&read(&args.file)?).map_err(|why| {
        Failure::usage(format!("cannot replay {}: {why}", name(&args.file.to_string_lossy())))
    })?;
    let discovery = discover(&surroundings(&here()?)?);
    let to = match &args.to {
        Some(to) => to.clone(),
        None => match choose_among(&WindowOptions::default(), cli, || Ok(discovery.clone()))? {
            Choice::Window(chosen) => LoopbackUrl::of_port(chosen.candidate.wire.port()),
            Choice::NoneFits(failure) => return Err(failure),
        },
    };
    let given = args.token.clone().or_else(|| variable(TOKEN_VARIABLE));
    let token = |header: &str| given.clone().or_else(|| token_for(header, to.port(), &discovery));
    let mut player = Player {
        to: &to,
        token: &token,
        timeout: Duration::from_secs(args.timeout.into()),
        volatile: &args.ignore,
        connections: Connections::new(address(&to)?),
        texts: Vec::new(),
        requests: BTreeMap::new(),
        ids: BTreeMap::new(),
    };
    Ok(report(&player.play(&steps)?))
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed =
        |why: String| Failure::usage(format!("cannot read {}: {why}", name(&path.to_string_lossy())));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let length =
        file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    if u64::try_from(length).unwrap_or(u64::MAX) > LARGEST {
        return Err(failed(format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    Ok(text)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The token in the discovery file for this port, if the header belongs to its dialect.
fn token_for(header_name: &str, port: u16, discovery: &Discovery) -> Option<String> {
    let name = header_name.to_ascii_lowercase();
    if name == header::PPXAI_TOKEN {
        return variable(ppxai::TOKEN_VARIABLE);
    }
    let matches = |wire: &Wire| match wire {
        Wire::Claude { .. } => name == header::CLAUDE_TOKEN,
        Wire::Nexus3 { .. } => name == header::NEXUS3_TOKEN,
        Wire::Gemini { .. } => name == header::AUTHORIZATION,
        _ => false,
    };
    let wires = discovery.candidates.iter().map(|candidate| &candidate.wire);
    let mut tokens = wires.filter(|wire| wire.port() == port && matches(wire)).filter_map(Wire::token);
    tokens.next().map(|token| token.reveal().to_owned())
}

fn report(exchanges: &[AnswerComparison]) -> Report {
    let mut text = String::new();
    let mut listed = Vec::new();
    for exchange in exchanges {
        let result = match &exchange.differences {
            None => "no answer".to_owned(),
            Some(differences) if differences.is_empty() => "the same".to_owned(),
            Some(differences) => differences.iter().map(|one| name(one)).collect::<Vec<_>>().join("; "),
        };
        text += &format!("line {}: {}: {result}\n", exchange.line, name(&exchange.what));
        listed.push(json!({
            "line": exchange.line,
            "what": exchange.what,
            "same": exchange.is_same(),
            "came": exchange.differences.is_some(),
            "differences": exchange.differences.clone().unwrap_or_default(),
        }));
    }
    let differing = exchanges.iter().filter(|exchange| !exchange.is_same()).count();
    let all = count(u64::try_from(exchanges.len()).unwrap_or(u64::MAX), "answer");
    text += &match differing {
        0 => format!("{all}, all the same"),
        some => format!("{some} of {all} differ"),
    };
    let exit = if differing == 0 { Exit::Ok } else { Exit::Negative };
    let document = json!({ "same": differing == 0, "exchanges": Value::Array(listed) });
    Report::new(text, document).ending(exit)
}
