//! `linkspan replay`: plays the agent's side of a transcript against a server, and tells whether the answers still mean
//! the same.

mod lines;
mod meaning;
mod play;
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
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::{Report, count};
use crate::reach::Reach;
use crate::record::{address, target};
use crate::visible::name;
use crate::window::{Choice, WindowOptions, choose_among, here, surroundings};
use lines::Lines;
use play::{Exchange, Player};

/// The token that the server wants.
const TOKEN_VARIABLE: &str = "LINKSPAN_REPLAY_TOKEN";

/// A longer transcript is not of one conversation.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Play the agent's side of a transcript against an editor, and compare the answers.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What the agent had heard before it went on is waited for. A change that somebody decided has to \
    be decided again, within --timeout. Exit code 1 if an answer differs or never comes."
)]
pub(crate) struct Args {
    /// A transcript of `linkspan record`.
    file: PathBuf,
    /// The editor's server: its port on this machine, or its address; otherwise the window for this folder.
    #[arg(long, value_name = "PORT|URL", value_parser = target)]
    to: Option<LoopbackUrl>,
    /// The token that the server wants. Better set LINKSPAN_REPLAY_TOKEN: others on this machine may see what is
    /// written here. Otherwise that of its discovery file, or of PPXAI_BRIDGE_TOKEN.
    #[arg(long)]
    token: Option<String>,
    /// A member of messages that may differ; may be given several times.
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,
    /// Wait so long for each answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    timeout: u32,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let steps = script::read(&read(&args.file)?).map_err(|why| {
        Failure::usage(format!("{} cannot be played: {why}", name(&args.file.to_string_lossy())))
    })?;
    let discovery = discover(&surroundings(&here()?)?);
    let to = match &args.to {
        Some(to) => to.clone(),
        None => match choose_among(&WindowOptions::default(), reach, || Ok(discovery.clone()))? {
            Choice::Window(chosen) => LoopbackUrl::of_port(chosen.candidate.wire.port()),
            Choice::NoneFits(failure) => return Err(failure),
        },
    };
    let given = args.token.clone().or_else(|| variable(TOKEN_VARIABLE));
    let token = |header: &str| given.clone().or_else(|| token_for(header, to.port(), &discovery));
    let mut player = Player {
        to: &to,
        token: &token,
        patience: Duration::from_secs(args.timeout.into()),
        volatile: &args.ignore,
        lines: Lines::new(address(&to)?),
        texts: Vec::new(),
        asked: BTreeMap::new(),
        ids: BTreeMap::new(),
    };
    Ok(report(&player.play(&steps)?))
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed =
        |why: String| Failure::usage(format!("{} cannot be read: {why}", name(&path.to_string_lossy())));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let length =
        file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    if u64::try_from(length).unwrap_or(u64::MAX) > LARGEST {
        return Err(failed(format!("it has more than {} MiB", LARGEST >> 20)));
    }
    Ok(text)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The token that a discovery file has for this port, in the dialect that the header is of.
fn token_for(header: &str, port: u16, discovery: &Discovery) -> Option<String> {
    let header = header.to_ascii_lowercase();
    if header == "x-ppxai-token" {
        return variable(ppxai::TOKEN_VARIABLE);
    }
    let is_of_it = |wire: &Wire| match wire {
        Wire::Claude { .. } => header == "x-claude-code-ide-authorization",
        Wire::Nexus3 { .. } => header == "x-nexus3-ide-authorization",
        Wire::Gemini { .. } => header == "authorization",
        _ => false,
    };
    let wires = discovery.candidates.iter().map(|candidate| &candidate.wire);
    let mut tokens = wires.filter(|wire| wire.port() == port && is_of_it(wire)).filter_map(Wire::token);
    tokens.next().map(|token| token.reveal().to_owned())
}

fn report(exchanges: &[Exchange]) -> Report {
    let mut text = String::new();
    let mut listed = Vec::new();
    for exchange in exchanges {
        let said = match &exchange.differences {
            None => "never came".to_owned(),
            Some(differences) if differences.is_empty() => "the same".to_owned(),
            Some(differences) => differences.iter().map(|one| name(one)).collect::<Vec<_>>().join("; "),
        };
        text += &format!("line {}: {}: {said}\n", exchange.line, name(&exchange.what));
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
        0 => format!("{all} with the same meaning"),
        some => format!("{some} of {all} with another meaning"),
    };
    let exit = if differing == 0 { Exit::Ok } else { Exit::No };
    let document = json!({ "same": differing == 0, "exchanges": Value::Array(listed) });
    Report::new(text, document).ending(exit)
}
