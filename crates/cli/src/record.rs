//! `linkspan record`: a proxy on this machine between an agent and an editor, and a transcript of what they say.

pub(crate) mod ear;
pub(crate) mod http1;
mod proxy;
pub(crate) mod secrets;
pub(crate) mod transcript;
pub(crate) mod websocket;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use linkspan_client::discover;
use linkspan_client::http::{LoopbackUrl, LoopbackUrlError};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::{self, Report, warn};
use crate::visible::name;
use crate::window::{here, surroundings};
use proxy::Proxy;
use secrets::Secrets;
use transcript::Transcript;

/// Record what an agent and an editor say to each other, without their tokens.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The agent has to be pointed at the port that is printed, with the editor's own token. Messages \
    of more than 1 MiB are recorded as their length and hash. An interrupt ends it."
)]
pub(crate) struct Args {
    /// The editor's server: its port on this machine, or its address.
    #[arg(long, value_name = "PORT|URL", value_parser = target)]
    to: LoopbackUrl,
    /// Listen on this port; otherwise on a free one, which is printed.
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    listen: u16,
    /// Write the transcript to this new file, which only you can read; otherwise to standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A port, or an address on this machine.
pub(crate) fn target(text: &str) -> Result<LoopbackUrl, String> {
    if let Ok(port) = text.parse::<u16>()
        && port > 0
    {
        return Ok(LoopbackUrl::of_port(port));
    }
    let text = match text.strip_prefix("ws://") {
        Some(rest) => format!("http://{rest}"),
        None => text.to_owned(),
    };
    let url: LoopbackUrl = text.parse().map_err(|error: LoopbackUrlError| error.to_string())?;
    // The paths are those that the agent asks for.
    if url.to_string() != format!("http://{}", url.authority()) {
        return Err(format!("{url} has a path: leave it away, as in http://{}", url.authority()));
    }
    Ok(url)
}

pub(crate) fn run(args: &Args, json: bool) -> Result<Report, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.listen)).map_err(|error| {
        let message =
            format!("port {} cannot be listened on: {error}; choose another with --listen", args.listen);
        Failure::new(Exit::Refused, message)
    })?;
    let port = listener.local_addr().map(|address| address.port()).unwrap_or(args.listen);
    let out: Box<dyn Write + Send> = match &args.output {
        Some(path) => Box::new(created(path)?),
        None => Box::new(io::stdout()),
    };
    let mut secrets = Secrets::default();
    // An agent that has no token shall not teach us the secret too late: the editor may say it first.
    for candidate in discover(&surroundings(&here()?)?).candidates {
        if let Some(token) = candidate.wire.token() {
            secrets.learn(token.reveal());
        }
    }
    let proxy = Proxy {
        target: address(&args.to)?,
        to: args.to.clone(),
        transcript: Transcript::new(out, secrets),
        open: AtomicUsize::new(0),
    };
    warn(&format!(
        "what is said on port {port} of 127.0.0.1 is passed on to {} and recorded: point the agent there, with the \
         token that the editor wants; an interrupt ends it",
        proxy.to
    ));
    if let (true, Some(path)) = (json, &args.output) {
        let said = json!({ "port": port, "to": proxy.to.to_string(), "file": path.to_string_lossy() });
        // Whoever closed the pipe does not want to know.
        let _ = output::print(Some(&said), "");
    }
    proxy::serve(&listener, &Arc::new(proxy));
    Ok(Report::default())
}

/// What a loopback address is for the system, whose name for itself may have been given to another machine.
pub(crate) fn address(to: &LoopbackUrl) -> Result<SocketAddr, Failure> {
    let mut addresses = to.authority().to_socket_addrs().into_iter().flatten();
    let found = addresses.find(|address| address.ip().is_loopback());
    found.ok_or_else(|| {
        Failure::usage(format!("{to} is no address of this machine here: write it with 127.0.0.1"))
    })
}

fn created(path: &Path) -> Result<std::fs::File, Failure> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::AlreadyExists => {
                "it is there already; choose another name, or remove it".to_owned()
            }
            _ => error.to_string(),
        };
        Failure::usage(format!("{} cannot be written: {why}", name(&path.to_string_lossy())))
    })
}
