//! `linkspan watch`: what happens, a line each, for as long as anybody reads it. Stays over restarts of the hub.

use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use linkspan_client::{ConnectError, Control, ControlError};
use linkspan_editor_api::{HubEvent, HubStatus, HubWatch};

use crate::exit::{Exit, Failure};
use crate::output::{Report, warn};
use crate::reach::{GreetError, Reach, greet};
use crate::watch_line::line;

/// Nothing happens for hours; waiting again costs nothing.
const PATIENCE: Duration = Duration::from_secs(3600);
const HUB_PAUSE: Duration = Duration::from_millis(250);

/// Print what happens, a line each, until interrupted: reviews, selections, mentions, diagnostics, who comes and goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only in this window: its id such as w3, its port, or a folder it has open.
    #[arg(long, value_name = "WINDOW")]
    window: Option<String>,
    /// Start the hub if there is none; otherwise that is an error.
    #[arg(long)]
    start: bool,
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    let connect = || if args.start { reach.connect_or_start() } else { reach.connect() };
    let mut hub = greet(connect)?.0;
    let window = args.window.as_deref().map(|name| window_named(&mut hub, name)).transpose()?;
    let watch = HubWatch { window };
    loop {
        match watch_one(hub, &watch, json) {
            Ended::HubGone => {}
            Ended::NobodyReads => return Ok(Report::default()),
            Ended::Failed(failure) => return Err(failure),
        }
        warn("the hub is gone; waiting for it to come back");
        hub = wait_for_hub(reach)?;
        warn("the hub is back");
    }
}

enum Ended {
    HubGone,
    NobodyReads,
    Failed(Failure),
}

fn watch_one(mut hub: Control, watch: &HubWatch, json: bool) -> Ended {
    let went_wrong = |error: ControlError| match error {
        ControlError::Closed | ControlError::Io(_) => Ended::HubGone,
        error => Ended::Failed(error.into()),
    };
    if let Err(error) = hub.request(watch) {
        return went_wrong(error);
    }
    loop {
        let event: HubEvent = match hub.notification(PATIENCE) {
            Ok(Some(event)) => event,
            Ok(None) => continue,
            Err(error) => return went_wrong(error),
        };
        match print(&event, json) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ended::NobodyReads,
            Err(error) => {
                return Ended::Failed(Failure::internal(format!("the output could not be written: {error}")));
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

/// Whoever needs a hub starts it; we only look.
fn wait_for_hub(reach: &Reach) -> Result<Control, Failure> {
    loop {
        match greet(|| reach.connect()) {
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

/// The id of the window that goes by this name.
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
