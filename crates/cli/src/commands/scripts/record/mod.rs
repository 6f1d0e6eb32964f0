//! `linkspan record`: a local proxy between an agent and an editor that writes a transcript of their messages.

pub(crate) mod decoder;
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

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{self, Report, warn};
use crate::cli::window::{here, surroundings};
use crate::visible::name;
use proxy::Proxy;
use secrets::Secrets;
use transcript::Transcript;

/// Record the messages between an agent and an editor.
///
/// Tokens and cookies are left out of the transcript.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Point the agent at the port that is printed, with the editor's own token. Messages of more than \
    1 MiB are recorded as their length and hash. Ctrl-C ends it."
)]
pub(crate) struct Args {
    /// The editor's server: its port on this machine, or its address.
    #[arg(long, value_name = "PORT|URL", value_parser = target)]
    to: LoopbackUrl,
    /// Listen on this port; on a free one if omitted, which is printed.
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    listen: u16,
    /// Write the transcript to this new file, which only you can read; to standard output if omitted.
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
    // The agent's requests have the paths.
    if url.to_string() != format!("http://{}", url.authority()) {
        return Err(format!("{url} must not include a path; use http://{}", url.authority()));
    }
    Ok(url)
}

pub(crate) fn run(args: &Args, json: bool) -> Result<Report, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.listen)).map_err(|error| {
        let message = format!("cannot listen on port {}: {error}; choose another with --listen", args.listen);
        Failure::new(Exit::Refused, message)
    })?;
    let port = listener.local_addr().map(|address| address.port()).unwrap_or(args.listen);
    let out: Box<dyn Write + Send> = match &args.output {
        Some(path) => Box::new(created(path)?),
        None => Box::new(io::stdout()),
    };
    let mut secrets = Secrets::default();
    // The editor may send the token before the agent does, so tokens of known editors are hidden from the start.
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
        "recording: connections to port {port} of 127.0.0.1 are forwarded to {}; point the agent there, with the \
         editor's token. Ctrl-C ends it",
        proxy.to
    ));
    if let (true, Some(path)) = (json, &args.output) {
        let document = json!({ "port": port, "to": proxy.to.to_string(), "file": path.to_string_lossy() });
        // A closed output is not a reason to stop recording.
        let _ = output::print(Some(&document), "");
    }
    proxy::serve(&listener, &Arc::new(proxy));
    Ok(Report::default())
}

/// The socket address; it must be a loopback address, because a name may resolve to another machine.
pub(crate) fn address(to: &LoopbackUrl) -> Result<SocketAddr, Failure> {
    let mut addresses = to.authority().to_socket_addrs().into_iter().flatten();
    let found = addresses.find(|address| address.ip().is_loopback());
    found.ok_or_else(|| {
        Failure::usage(format!("{to} is not an address of this machine; write it with 127.0.0.1"))
    })
}

fn created(path: &Path) -> Result<std::fs::File, Failure> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::AlreadyExists => "it exists already; choose another name, or remove it".to_owned(),
            _ => error.to_string(),
        };
        Failure::usage(format!("cannot write {}: {why}", name(&path.to_string_lossy())))
    })
}
