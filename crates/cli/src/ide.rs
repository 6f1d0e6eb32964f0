//! `linkspan ide`: which editor is used in this folder and why, and choosing another one, or none.

use std::path::Path;

use linkspan_client::discover::{Discovery, Verdict, Wire};
use linkspan_client::{Candidate, ConnectError, discover};
use linkspan_editor_api::{HubStatus, WindowStatus};
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::output::{DIM, Report, styled, table};
use crate::path_args::from_here;
use crate::pins::{self, Pin};
use crate::reach::{GreetError, Reach, greet_and};
use crate::visible::name;
use crate::window::{
    Choice, Chosen, ChosenBy, WindowName, WindowOptions, choose, choose_among, described, find, here, id,
    is_twin, known, open, surroundings,
};
use crate::{history, undo};

/// Show which editor is used here and why, or choose one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show the editors there are, and which one is used here; exit code 1 if none is.
    Status(WindowOptions),
    /// Use this editor for this folder and all below it; without a name, go back to the one that fits best.
    Connect {
        /// Which: an id such as w3, a port, a folder the editor has open, or the address of a ppxai bridge.
        window: Option<WindowName>,
    },
    /// Use no editor in this folder and below it, until `linkspan ide connect`.
    Disconnect,
    /// List what was decided and done in the window of this folder, newest first.
    History(history::Args),
    /// Take back a change of the window of this folder; `linkspan undo` reaches those of all windows.
    Undo(undo::Args),
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    match &args.verb {
        None => status(&WindowOptions::default(), reach),
        Some(Verb::Status(options)) => status(options, reach),
        Some(Verb::Connect { window: Some(window) }) => connect(window, reach),
        Some(Verb::Connect { window: None }) => let_go(reach),
        Some(Verb::Disconnect) => disconnect(reach),
        Some(Verb::History(history)) => history::of_window(history, reach, Some(window_of_here(reach)?)),
        Some(Verb::Undo(undo)) => undo::of_window(undo, reach, json, Some(window_of_here(reach)?)),
    }
}

/// The hub's window for this folder: only the hub knows what was done. A bridge of ppxai may be a door to one.
fn window_of_here(reach: &Reach) -> Result<String, Failure> {
    let discovery = discover(&surroundings(&here()?)?);
    let chosen = match choose_among(&WindowOptions::default(), reach, || Ok(discovery.clone()))? {
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
        None if matches!(chosen.wire, Wire::Ppxai { .. }) => behind_port(port, reach)?,
        None => None,
    };
    id.ok_or_else(|| {
        let message = format!(
            "{} is no window of Linkspan's hub, which alone remembers what was done: undo it in the editor, or \
             attach the editor to the hub",
            described(&chosen)
        );
        Failure::new(Exit::Refused, message)
    })
}

/// The window that the hub's own well-known port leads to.
fn behind_port(port: u16, reach: &Reach) -> Result<Option<String>, Failure> {
    let status = match greet_and(|| reach.connect(), &HubStatus {}) {
        Err(GreetError::Connect(ConnectError::NoHub { .. })) => return Ok(None),
        greeted => greeted?.1,
    };
    let leads_there =
        |window: &WindowStatus| window.dialects.iter().any(|dialect| dialect.port == Some(port));
    Ok(status.windows.into_iter().find(leads_there).map(|window| window.window))
}

fn status(options: &WindowOptions, reach: &Reach) -> Result<Report, Failure> {
    let here = here()?;
    let mut discovery = discover(&surroundings(&here)?);
    let chosen = match choose_among(options, reach, || Ok(discovery.clone())) {
        Ok(Choice::Window(chosen)) => reachable(*chosen, reach),
        Ok(Choice::NoneFits(failure)) | Err(failure) => Err(failure),
    };
    // A bridge is found by its address alone.
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
            Exit::No
        }
    };
    text += &list(&discovery, used.as_deref());
    Ok(Report::new(text, Value::Object(document)).ending(exit))
}

/// One that was named is taken at its word by others; here it has to answer.
fn reachable(chosen: Chosen, reach: &Reach) -> Result<Chosen, Failure> {
    if chosen.by != ChosenBy::Fit {
        open(&chosen.candidate, reach)?.close();
    }
    Ok(chosen)
}

/// Each editor once.
fn windows(discovery: &Discovery) -> impl Iterator<Item = &Candidate> {
    discovery.candidates.iter().filter(|candidate| !is_twin(candidate))
}

fn document_of(candidate: &Candidate) -> Value {
    let (usable, reason) = match &candidate.verdict {
        Verdict::Usable => (true, None),
        Verdict::Not(reason) => (false, Some(reason.to_string())),
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
            Verdict::Usable => "could be used here".to_owned(),
            Verdict::Not(reason) => name(&reason.to_string()),
        };
        let folders: Vec<String> = candidate.folders.iter().map(|folder| from_here(folder)).collect();
        vec![name(&id(candidate)), name(&candidate.editor), folders.join(", "), state]
    }));
    if rows.len() == 1 {
        return styled(DIM, "there is no editor window; `linkspan doctor` tells where was looked");
    }
    table(&rows)
}

fn connect(window: &WindowName, reach: &Reach) -> Result<Report, Failure> {
    let here = here()?;
    let candidate = find(window)?;
    open(&candidate, reach)?.close();
    // A folder is kept as it is called everywhere; ids and ports mean the same everywhere.
    let window = match window {
        WindowName::Folder(folder) => WindowName::Folder(folder.canonicalize().unwrap_or(folder.clone())),
        other => other.clone(),
    };
    pins::set(&reach.places, &here, Some(&Pin::Window(window.clone())))?;
    let text = format!("{} is used from now on in {}", name(&window.to_string()), shown(&here));
    Ok(Report::new(text, json!({ "folder": here, "connected": id(&candidate), "pinned": true })))
}

/// Forgets what was chosen, also in the folder above that had chosen for this one.
fn let_go(reach: &Reach) -> Result<Report, Failure> {
    let here = here()?;
    if let Some((folder, _)) = pins::of(&reach.places, &here)? {
        pins::set(&reach.places, &folder, None)?;
    }
    match choose(&WindowOptions::default(), reach, &here)? {
        Choice::Window(chosen) => {
            let chosen = reachable(*chosen, reach)?;
            let text = format!("{} is used here: {}", described(&chosen.candidate), chosen.why());
            let document = json!({ "folder": here, "connected": id(&chosen.candidate), "pinned": false });
            Ok(Report::new(text, document))
        }
        Choice::NoneFits(failure) => Err(failure),
    }
}

fn disconnect(reach: &Reach) -> Result<Report, Failure> {
    let here = here()?;
    pins::set(&reach.places, &here, Some(&Pin::None))?;
    let text = format!("no editor is used in {} until `linkspan ide connect`", shown(&here));
    Ok(Report::new(text, json!({ "folder": here, "connected": Value::Null, "pinned": true })))
}

fn shown(folder: &Path) -> String {
    name(&folder.to_string_lossy())
}
