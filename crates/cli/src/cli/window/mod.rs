//! Which editor window a command uses, and the connection to it: `--window`, else `LINKSPAN_WINDOW`, else the one that is
//! pinned with `linkspan ide connect`, else the one that fits best. Every command that needs an editor gets it here.

mod name;

use std::path::{Path, PathBuf};

use linkspan_client::discover::{
    CandidateVerdict, Discovery, FoundBy, LookedIn, LookupResult, Match, Reason, Wire, ppxai_bridge,
};
use linkspan_client::http::LoopbackUrl;
use linkspan_client::{AgentInfo, CallError, Candidate, Connection, Surroundings, discover, ppxai};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::headless;
use crate::cli::pinned_windows::{self, Pin};
use crate::visible::name;

pub(crate) use name::WindowName;

const VARIABLE: &str = linkspan_editor_api::wire_names::env::LINKSPAN_WINDOW;

/// The option that names a window.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WindowOptions {
    /// Use this editor window: its id (w3), its port, a folder it has open, or the address of a ppxai bridge.
    ///
    /// LINKSPAN_WINDOW does the same. Without both, the window pinned by `linkspan ide connect` is used, or the one that fits best.
    #[arg(long, value_name = "WINDOW")]
    window: Option<WindowName>,
}

/// A window, and how it was chosen.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) candidate: Candidate,
    pub(crate) by: ChosenBy,
}

impl Chosen {
    /// Why this window, as the end of a sentence.
    pub(crate) fn why(&self) -> String {
        match &self.by {
            ChosenBy::Option => "named with `--window`".into(),
            ChosenBy::Variable => format!("named by {VARIABLE}"),
            ChosenBy::Pin { folder } => {
                format!("pinned for {} by `linkspan ide connect`", name(&folder.to_string_lossy()))
            }
            ChosenBy::Fit => match self.candidate.matched {
                Some(Match::OwnTerminal) => "this is a terminal of that window",
                Some(Match::Folder { .. }) => "it has this folder open",
                Some(Match::Worktree { .. }) => "it has another worktree of this repository open",
                Some(Match::Parent { .. }) => "it has a folder below this one open",
                None => "it is the only one",
            }
            .into(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChosenBy {
    Option,
    Variable,
    Pin { folder: PathBuf },
    Fit,
}

/// The window to use.
#[derive(Debug)]
pub(crate) enum Choice {
    Window(Box<Chosen>),
    /// None is named or pinned, and none has the folder open. Commands that cannot open one fail with this.
    NoneFits(Failure),
}

/// Connects to the window for this folder.
pub(crate) fn connect(options: &WindowOptions, cli: &CliContext) -> Result<Connection, Failure> {
    connect_at(options, cli, &here()?)
}

/// Connects to the window for a file, which may be another than that of the current folder.
pub(crate) fn connect_for(
    options: &WindowOptions,
    cli: &CliContext,
    file: &Path,
) -> Result<Connection, Failure> {
    match file.parent().filter(|parent| parent.is_dir()) {
        Some(folder) => connect_at(options, cli, folder),
        None => connect(options, cli),
    }
}

fn connect_at(options: &WindowOptions, cli: &CliContext, folder: &Path) -> Result<Connection, Failure> {
    match choose(options, cli, folder)? {
        Choice::Window(chosen) => open(&chosen.candidate, cli).map_err(|failure| blame(failure, &chosen.by)),
        Choice::NoneFits(failure) => {
            Err(Failure { message: format!("{}; `linkspan doctor` shows more", failure.message), ..failure })
        }
    }
}

/// Calls the editor, and closes the connection.
pub(crate) fn ask<T>(
    connection: Connection,
    question: impl FnOnce(&Connection) -> Result<T, CallError>,
) -> Result<T, Failure> {
    let answer = question(&connection);
    connection.close();
    Ok(answer?)
}

pub(crate) fn open(candidate: &Candidate, cli: &CliContext) -> Result<Connection, Failure> {
    let agent = AgentInfo::new("linkspan", env!("CARGO_PKG_VERSION"));
    Ok(Connection::open(candidate, &agent, &cli.places)?)
}

/// Chooses the window for a folder.
pub(crate) fn choose(options: &WindowOptions, cli: &CliContext, folder: &Path) -> Result<Choice, Failure> {
    choose_among(options, cli, || Ok(discover(&surroundings(folder)?)))
}

/// Chooses a window; `look` searches for windows, if none is named or pinned.
pub(crate) fn choose_among(
    options: &WindowOptions,
    cli: &CliContext,
    look: impl FnOnce() -> Result<Discovery, Failure>,
) -> Result<Choice, Failure> {
    let (window, by) = match named(options)? {
        Some(named) => named,
        // Pins are those of the current folder, not of the file in question.
        None => match pinned_windows::of(&cli.places, &here()?)? {
            Some((pinned, Pin::None)) => return Err(disconnected(&pinned)),
            Some((folder, Pin::Window(window))) => (window, ChosenBy::Pin { folder }),
            None => return fitting(&look()?),
        },
    };
    let candidate = find(&window).map_err(|failure| blame(failure, &by))?;
    Ok(Choice::Window(Box::new(Chosen { candidate, by })))
}

fn named(options: &WindowOptions) -> Result<Option<(WindowName, ChosenBy)>, Failure> {
    if let Some(window) = &options.window {
        return Ok(Some((window.clone(), ChosenBy::Option)));
    }
    let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else { return Ok(None) };
    let window =
        value.to_string_lossy().parse().map_err(|why| Failure::usage(format!("{VARIABLE}: {why}")))?;
    Ok(Some((window, ChosenBy::Variable)))
}

/// The window of that name, if it can be used.
pub(crate) fn find(window: &WindowName) -> Result<Candidate, Failure> {
    match window {
        // The hub knows it, or its error lists those it has: no search is needed.
        WindowName::Id(id) => Ok(Candidate {
            editor: "the editor".into(),
            wire: Wire::Hub { window: id.clone(), port: 0 },
            folders: Vec::new(),
            pid: None,
            found: FoundBy::Given,
            matched: None,
            verdict: CandidateVerdict::Usable,
        }),
        WindowName::Bridge(url) => bridge(url),
        WindowName::Port(port) => {
            let discovery = discover(&surroundings(&here()?)?);
            let is_known = discovery.candidates.iter().any(|candidate| candidate.wire.port() == *port);
            if *port == ppxai::DEFAULT_PORT && !is_known {
                return bridge(&LoopbackUrl::of_port(*port));
            }
            one_of(window, &discovery, |candidate| candidate.wire.port() == *port)
        }
        WindowName::Folder(folder) => {
            let folder = folder.canonicalize().map_err(|error| {
                Failure::usage(format!("{} is not the folder of a window: {error}", folder.display()))
            })?;
            let discovery = discover(&surroundings(&folder)?);
            one_of(window, &discovery, |candidate| {
                candidate.folders.iter().any(|open| open.canonicalize().is_ok_and(|open| open == folder))
            })
        }
    }
}

/// A ppxai bridge, which has no lock file.
fn bridge(url: &LoopbackUrl) -> Result<Candidate, Failure> {
    let candidate = ppxai_bridge(Some(url), &surroundings(&here()?)?);
    let message = match &candidate.verdict {
        CandidateVerdict::Usable => return Ok(candidate),
        CandidateVerdict::Not(Reason::NothingListens) => format!(
            "nothing listens at {url}; start the editor that has the bridge, or check the address that it shows"
        ),
        CandidateVerdict::Not(reason) => {
            let remedy = reason.remedy().trim_end_matches('.');
            format!("the bridge at {url} cannot be used: {reason}. {remedy}")
        }
    };
    Err(Failure::new(Exit::NoWindow, message))
}

/// The named window. It may have other folders open, which is why discovery did not probe it.
fn one_of(
    window: &WindowName,
    discovery: &Discovery,
    is_it: impl Fn(&Candidate) -> bool,
) -> Result<Candidate, Failure> {
    let of_that_name =
        || discovery.candidates.iter().filter(|candidate| is_it(candidate) && !is_twin(candidate));
    let may_be_asked: Vec<&Candidate> = of_that_name().filter(|candidate| may_be_asked(candidate)).collect();
    match (equals(&may_be_asked), of_that_name().next()) {
        ([one], _) => Ok((*one).clone()),
        ([], None) => {
            let message = format!("there is no window {}{}", name(&window.to_string()), listed(discovery));
            Err(Failure::new(Exit::NoWindow, message))
        }
        ([], Some(refused)) => Err(Failure::new(Exit::NoWindow, refusal(refused))),
        (several, _) => Err(ambiguous(several)),
    }
}

/// The one that fits best, unless others fit as well.
fn fitting(discovery: &Discovery) -> Result<Choice, Failure> {
    let usable: Vec<&Candidate> =
        discovery.candidates.iter().filter(|candidate| candidate.is_usable()).collect();
    let best = equals(&usable);
    let visible: Vec<&Candidate> =
        best.iter().copied().filter(|window| window.editor != headless::NAME).collect();
    let chosen = match (visible.as_slice(), best) {
        (_, []) => return Ok(Choice::NoneFits(none_fits(discovery))),
        // A window that the user sees comes before those without an editor, which are interchangeable.
        ([one], _) | ([], [one, ..]) => (*one).clone(),
        (several, _) => return Err(ambiguous(several)),
    };
    Ok(Choice::Window(Box::new(Chosen { candidate: chosen, by: ChosenBy::Fit })))
}

/// The candidates at the head of the list that fit as well as the first.
fn equals<'a, 'b>(candidates: &'a [&'b Candidate]) -> &'a [&'b Candidate] {
    let Some(best) = candidates.first() else { return &[] };
    let fit = |candidate: &Candidate| (candidate.matched, candidate.wire.dialect());
    let end = candidates.iter().position(|other| fit(other) != fit(best));
    candidates.get(..end.unwrap_or(candidates.len())).unwrap_or_default()
}

/// Another endpoint of a hub window that is in the list itself.
pub(crate) fn is_twin(candidate: &Candidate) -> bool {
    matches!(candidate.verdict, CandidateVerdict::Not(Reason::SameAs { .. }))
}

fn may_be_asked(candidate: &Candidate) -> bool {
    matches!(
        candidate.verdict,
        CandidateVerdict::Usable | CandidateVerdict::Not(Reason::OtherWorkspace | Reason::NotAsked)
    )
}

/// The discovered details of a window that was named by its id alone.
pub(crate) fn known<'a>(discovery: &'a Discovery, chosen: &'a Candidate) -> &'a Candidate {
    discovery.candidates.iter().find(|one| !is_twin(one) && id(one) == id(chosen)).unwrap_or(chosen)
}

/// How a window can be named on the command line.
pub(crate) fn id(candidate: &Candidate) -> String {
    match &candidate.wire {
        Wire::Hub { window, .. } => window.clone(),
        Wire::Ppxai { bridge, .. } => bridge.to_string(),
        wire => wire.port().to_string(),
    }
}

/// `w3 (Visual Studio Code, /home/ada/project)`.
pub(crate) fn described(candidate: &Candidate) -> String {
    let folders = candidate.folders.iter().map(|folder| name(&folder.to_string_lossy()));
    let what: Vec<String> = std::iter::once(name(&candidate.editor)).chain(folders).collect();
    format!("{} ({})", name(&id(candidate)), what.join(", "))
}

fn refusal(candidate: &Candidate) -> String {
    match &candidate.verdict {
        CandidateVerdict::Usable => format!("{} can be used", described(candidate)),
        CandidateVerdict::Not(reason) => {
            let remedy = reason.remedy().trim_end_matches('.');
            format!("{} cannot be used: {reason}. {remedy}", described(candidate))
        }
    }
}

fn ambiguous(candidates: &[&Candidate]) -> Failure {
    let listed: Vec<String> = candidates.iter().map(|candidate| described(candidate)).collect();
    let message = format!(
        "several windows fit equally well: {}; choose one with `--window`, or permanently with `linkspan ide connect`",
        listed.join(", ")
    );
    Failure::new(Exit::NoWindow, message)
}

fn none_fits(discovery: &Discovery) -> Failure {
    let fitting = |candidate: &&Candidate| candidate.matched.is_some() && !is_twin(candidate);
    let mut message = match discovery.candidates.iter().find(fitting) {
        Some(refused) => refusal(refused),
        None => format!(
            "no editor has this folder open; open it in an editor with Linkspan, or run `linkspan serve` here{}",
            listed(discovery)
        ),
    };
    // The editor may be known in a directory that could not be read.
    for LookedIn { place, found } in &discovery.looked_in {
        if let LookupResult::Failed(why) = found {
            message += &format!("; {}: {}", name(&place.to_string_lossy()), name(why));
        }
    }
    Failure::new(Exit::NoWindow, message)
}

/// The windows that can be used, as the end of a sentence.
fn listed(discovery: &Discovery) -> String {
    let there =
        discovery.candidates.iter().filter(|candidate| may_be_asked(candidate) && !is_twin(candidate));
    let there: Vec<String> = there.map(described).collect();
    if there.is_empty() {
        return String::new();
    }
    format!("; with `--window` you can use {}", there.join(", "))
}

fn disconnected(folder: &Path) -> Failure {
    let message = format!(
        "{} uses no editor, because of `linkspan ide disconnect`; `linkspan ide connect` undoes that",
        name(&folder.to_string_lossy())
    );
    Failure::new(Exit::NoWindow, message)
}

/// Adds where the name of the window came from, unless it was the command line.
fn blame(failure: Failure, by: &ChosenBy) -> Failure {
    let message = match by {
        ChosenBy::Option | ChosenBy::Fit => failure.message,
        ChosenBy::Variable => format!("{VARIABLE}: {}", failure.message),
        ChosenBy::Pin { folder } => format!(
            "{} (pinned for {} by `linkspan ide connect`; run it again to change)",
            failure.message,
            name(&folder.to_string_lossy())
        ),
    };
    Failure { message, ..failure }
}

pub(crate) fn surroundings(folder: &Path) -> Result<Surroundings, Failure> {
    Surroundings::of_this_process(folder).map_err(|error| Failure::new(Exit::NoHub, error.to_string()))
}

/// The current folder, without symlinks as the system reports it.
pub(crate) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::usage(format!("cannot read the current directory: {error}; change to one that exists"))
    })
}
