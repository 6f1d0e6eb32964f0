//! `linkspan watch`: prints events, one per line, until its output is closed. Survives restarts of the hub.

mod event_line;

use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use linkspan_client::{ConnectError, Control, ControlError};
use linkspan_editor_api::{HubEvent, HubStatus, HubWatch};

use crate::cli::context::{CliContext, GreetError, greet};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, warn};
use event_line::line;

/// There may be no event for hours; a timeout only starts the next wait.
const WAIT: Duration = Duration::from_secs(3600);
const HUB_PAUSE: Duration = Duration::from_millis(250);

/// Print events as they happen, one per line.
///
/// Reviews, permission requests, selections, mentions, diagnostics, and agents and windows that connect or leave. Ends
/// when it is interrupted, and survives restarts of the hub.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only events of this window: its id (w3), its port, or a folder it has open.
    #[arg(long, value_name = "WINDOW")]
    window: Option<String>,
    /// Start the hub if none is running, instead of failing.
    #[arg(long)]
    start: bool,
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    let connect = || if args.start { cli.connect_or_start() } else { cli.connect() };
    let mut hub = greet(connect)?.0;
    let window = args.window.as_deref().map(|name| window_named(&mut hub, name)).transpose()?;
    let watch = HubWatch { window };
    loop {
        match watch_one(hub, &watch, json) {
            WatchEnd::HubGone => {}
            WatchEnd::OutputClosed => return Ok(Report::default()),
            WatchEnd::Failed(failure) => return Err(failure),
        }
        warn("lost the connection to the hub; waiting for it");
        hub = wait_for_hub(cli)?;
        warn("connected to the hub again");
    }
}

enum WatchEnd {
    HubGone,
    OutputClosed,
    Failed(Failure),
}

fn watch_one(mut hub: Control, watch: &HubWatch, json: bool) -> WatchEnd {
    let end = |error: ControlError| match error {
        ControlError::Closed | ControlError::Io(_) => WatchEnd::HubGone,
        error => WatchEnd::Failed(error.into()),
    };
    if let Err(error) = hub.request(watch) {
        return end(error);
    }
    loop {
        let event: HubEvent = match hub.notification(WAIT) {
            Ok(Some(event)) => event,
            Ok(None) => continue,
            Err(error) => return end(error),
        };
        match print(&event, json) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return WatchEnd::OutputClosed,
            Err(error) => {
                return WatchEnd::Failed(Failure::internal(format!("cannot write the output: {error}")));
            }
        }
    }
}

fn print(event: &HubEvent, json: bool) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_value(event).unwrap_or_default())?;
    } else {
        writeln!(out, "{}", line(event))?;
    }
    out.flush()
}

/// Does not start one: a program that needs a hub does that.
fn wait_for_hub(cli: &CliContext) -> Result<Control, Failure> {
    loop {
        match greet(|| cli.connect()) {
            Ok((hub, _)) => return Ok(hub),
            Err(GreetError::Connect(error)) if error.is_lasting() => return Err(error.into()),
            Err(GreetError::Call(error @ ControlError::Version(_))) => return Err(error.into()),
            Err(
                GreetError::Connect(ConnectError::NoHub { .. })
                | GreetError::Connect(_)
                | GreetError::Call(_),
            ) => {
                thread::sleep(HUB_PAUSE);
            }
        }
    }
}

/// The id of the window with this name.
fn window_named(hub: &mut Control, name: &str) -> Result<String, Failure> {
    let windows = hub.request(&HubStatus {})?.windows;
    let folder = std::path::absolute(name).unwrap_or_default();
    let real = folder.canonicalize().ok();
    let has = |known: &String| Path::new(known) == folder || real.as_deref() == Some(Path::new(known));
    let found = windows.iter().find(|window| {
        window.window == name || window.port.to_string() == name || window.folders.iter().any(has)
    });
    found.map(|window| window.window.clone()).ok_or_else(|| {
        Failure::new(Exit::Refused, format!("there is no window `{name}`; `linkspan status` lists them"))
    })
}
