//! `linkspan ide`: which editor is used in this folder and why, and how to choose another one, or none.

use std::path::Path;

use linkspan_client::discover::{CandidateVerdict, Discovery, Wire};
use linkspan_client::{Candidate, ConnectError, discover};
use linkspan_editor_api::{HubStatus, WindowStatus};
use serde_json::{Map, Value, json};

use crate::cli::context::{CliContext, GreetError, greet_and};
use crate::cli::exit::{Exit, Failure};
use crate::cli::file_position::from_here;
use crate::cli::output::{DIM, Report, styled, table};
use crate::cli::pinned_windows::{self, Pin};
use crate::cli::window::{
    Choice, Chosen, ChosenBy, WindowName, WindowOptions, choose, choose_among, described, find, here, id,
    is_twin, known, open, surroundings,
};
use crate::commands::review::{history, undo};
use crate::visible::name;

/// Show which editor is used in this folder, or choose one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the editors, and show which one is used here and why.
    ///
    /// Exit code 1 if none is used.
    Status(WindowOptions),
    /// Use this editor in this folder and everything below it.
    ///
    /// Without a name, forget the choice and use the editor that fits best.
    Connect {
        /// The window: its id (w3), its port, a folder it has open, or the address of a ppxai bridge.
        window: Option<WindowName>,
    },
    /// Use no editor in this folder and everything below it.
    ///
    /// `linkspan ide connect` undoes that.
    Disconnect,
    /// List what was decided in the window of this folder, newest first.
    History(history::Args),
    /// Take back a change of the window of this folder.
    ///
    /// `linkspan undo` takes back changes of all windows.
    Undo(undo::Args),
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    match &args.verb {
        None => status(&WindowOptions::default(), cli),
        Some(Verb::Status(options)) => status(options, cli),
        Some(Verb::Connect { window: Some(window) }) => connect(window, cli),
        Some(Verb::Connect { window: None }) => unpin(cli),
        Some(Verb::Disconnect) => disconnect(cli),
        Some(Verb::History(history)) => history::of_window(history, cli, Some(window_of_here(cli)?)),
        Some(Verb::Undo(undo)) => undo::of_window(undo, cli, json, Some(window_of_here(cli)?)),
    }
}

/// The hub's window for this folder: only the hub has a history. A ppxai bridge may be an endpoint of such a window.
fn window_of_here(cli: &CliContext) -> Result<String, Failure> {
    let discovery = discover(&surroundings(&here()?)?);
    let chosen = match choose_among(&WindowOptions::default(), cli, || Ok(discovery.clone()))? {
        Choice::Window(chosen) => chosen.candidate,
        Choice::NoneFits(failure) => return Err(failure),
    };
    let port = chosen.wire.port();
    let windows = std::iter::once(&chosen).chain(&discovery.candidates);
    let mut ids = windows.filter_map(|candidate| match &candidate.wire {
        Wire::Hub { window, port: of } if *of == port => Some(window.clone()),
        _ => None,
    });
    let id = match ids.next() {
        Some(id) => Some(id),
        None if matches!(chosen.wire, Wire::Ppxai { .. }) => behind_port(port, cli)?,
        None => None,
    };
    id.ok_or_else(|| {
        let message = format!(
            "{} is not a window of Linkspan's hub, which has no history of it; undo the change in the editor, or \
             attach the editor to the hub",
            described(&chosen)
        );
        Failure::new(Exit::Refused, message)
    })
}

/// The window that the hub serves at this well-known port.
fn behind_port(port: u16, cli: &CliContext) -> Result<Option<String>, Failure> {
    let status = match greet_and(|| cli.connect(), &HubStatus {}) {
        Err(GreetError::Connect(ConnectError::NoHub { .. })) => return Ok(None),
        greeted => greeted?.1,
    };
    let leads_there =
        |window: &WindowStatus| window.dialects.iter().any(|dialect| dialect.port == Some(port));
    Ok(status.windows.into_iter().find(leads_there).map(|window| window.window))
}

fn status(options: &WindowOptions, cli: &CliContext) -> Result<Report, Failure> {
    let here = here()?;
    let mut discovery = discover(&surroundings(&here)?);
    let chosen = match choose_among(options, cli, || Ok(discovery.clone())) {
        Ok(Choice::Window(chosen)) => reachable(*chosen, cli),
        Ok(Choice::NoneFits(failure)) | Err(failure) => Err(failure),
    };
    // Discovery does not find bridges: they are known only by their address.
    if let Ok(Chosen { candidate, .. }) = &chosen
        && matches!(candidate.wire, Wire::Ppxai { .. })
    {
        discovery.candidates.insert(0, candidate.clone());
    }
    let used = chosen.as_ref().ok().map(|chosen| id(&chosen.candidate));
    let mut document = Map::new();
    document.insert("folder".into(), json!(here));
    document.insert("connected".into(), json!(used));
    document.insert("windows".into(), Value::Array(windows(&discovery).map(document_of).collect()));
    let mut text = String::new();
    let exit = match &chosen {
        Ok(chosen) => {
            document.insert("why".into(), json!(chosen.why()));
            text += &format!(
                "{} is used here: {}\n",
                described(known(&discovery, &chosen.candidate)),
                chosen.why()
            );
            Exit::Ok
        }
        Err(failure) => {
            document.insert("why".into(), json!(failure.message));
            text += &format!("no editor is used here: {}\n", name(&failure.message));
            Exit::Negative
        }
    };
    text += &list(&discovery, used.as_deref());
    Ok(Report::new(text, Value::Object(document)).ending(exit))
}

/// Other commands trust a named window; here it has to answer.
fn reachable(chosen: Chosen, cli: &CliContext) -> Result<Chosen, Failure> {
    if chosen.by != ChosenBy::Fit {
        open(&chosen.candidate, cli)?.close();
    }
    Ok(chosen)
}

/// Each editor once: without further endpoints of the same window.
fn windows(discovery: &Discovery) -> impl Iterator<Item = &Candidate> {
    discovery.candidates.iter().filter(|candidate| !is_twin(candidate))
}

fn document_of(candidate: &Candidate) -> Value {
    let (usable, reason) = match &candidate.verdict {
        CandidateVerdict::Usable => (true, None),
        CandidateVerdict::Not(reason) => (false, Some(reason.to_string())),
    };
    let window = match &candidate.wire {
        Wire::Hub { window, .. } => Some(window),
        _ => None,
    };
    json!({
        "window": window,
        "port": candidate.wire.port(),
        "dialect": candidate.wire.dialect(),
        "editor": candidate.editor,
        "folders": candidate.folders.iter().map(|folder| folder.to_string_lossy()).collect::<Vec<_>>(),
        "usable": usable,
        "reason": reason,
    })
}

fn list(discovery: &Discovery, used: Option<&str>) -> String {
    let mut rows = vec![["WINDOW", "EDITOR", "FOLDERS", "STATE"].map(String::from).to_vec()];
    rows.extend(windows(discovery).map(|candidate| {
        let state = match &candidate.verdict {
            _ if used == Some(id(candidate).as_str()) => "used here".to_owned(),
            CandidateVerdict::Usable => "could be used here".to_owned(),
            CandidateVerdict::Not(reason) => name(&reason.to_string()),
        };
        let folders: Vec<String> = candidate.folders.iter().map(|folder| from_here(folder)).collect();
        vec![name(&id(candidate)), name(&candidate.editor), folders.join(", "), state]
    }));
    if rows.len() == 1 {
        return styled(DIM, "there is no editor window; `linkspan doctor` shows where Linkspan looked");
    }
    table(&rows)
}

fn connect(window: &WindowName, cli: &CliContext) -> Result<Report, Failure> {
    let here = here()?;
    let candidate = find(window)?;
    open(&candidate, cli)?.close();
    // A relative folder means something else elsewhere, so its canonical path is stored.
    let window = match window {
        WindowName::Folder(folder) => WindowName::Folder(folder.canonicalize().unwrap_or(folder.clone())),
        other => other.clone(),
    };
    pinned_windows::set(&cli.places, &here, Some(&Pin::Window(window.clone())))?;
    let text = format!("{} is now used in {}", name(&window.to_string()), shown(&here));
    Ok(Report::new(text, json!({ "folder": here, "connected": id(&candidate), "pinned": true })))
}

/// Removes the pin that applies here, even if it was made in a folder above.
fn unpin(cli: &CliContext) -> Result<Report, Failure> {
    let here = here()?;
    if let Some((folder, _)) = pinned_windows::of(&cli.places, &here)? {
        pinned_windows::set(&cli.places, &folder, None)?;
    }
    match choose(&WindowOptions::default(), cli, &here)? {
        Choice::Window(chosen) => {
            let chosen = reachable(*chosen, cli)?;
            let text = format!("{} is used here: {}", described(&chosen.candidate), chosen.why());
            let document = json!({ "folder": here, "connected": id(&chosen.candidate), "pinned": false });
            Ok(Report::new(text, document))
        }
        Choice::NoneFits(failure) => Err(failure),
    }
}

fn disconnect(cli: &CliContext) -> Result<Report, Failure> {
    let here = here()?;
    pinned_windows::set(&cli.places, &here, Some(&Pin::None))?;
    let text = format!("no editor is used in {} until `linkspan ide connect`", shown(&here));
    Ok(Report::new(text, json!({ "folder": here, "connected": Value::Null, "pinned": true })))
}

fn shown(folder: &Path) -> String {
    name(&folder.to_string_lossy())
}
