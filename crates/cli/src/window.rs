//! Which editor window a command asks, and the connection to it: `--window`, else `LINKSPAN_WINDOW`, else what was
//! chosen with `linkspan ide connect`, else the one that fits best. Every command that needs an editor comes here.

mod name;

use std::path::{Path, PathBuf};

use linkspan_client::discover::{
    Discovery, Found, LookedIn, Match, Reason, Seen, Verdict, Wire, ppxai_bridge,
};
use linkspan_client::http::LoopbackUrl;
use linkspan_client::{AgentInfo, CallError, Candidate, Connection, Surroundings, discover, ppxai};

use crate::exit::{Exit, Failure};
use crate::headless;
use crate::pins::{self, Pin};
use crate::reach::Reach;
use crate::visible::name;

pub(crate) use name::WindowName;

const VARIABLE: &str = "LINKSPAN_WINDOW";

/// How a person chooses a window.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WindowOptions {
    /// Ask this editor window: its id such as w3, its port, a folder it has open, or the address of a ppxai bridge.
    /// The variable LINKSPAN_WINDOW does the same; without both, what `linkspan ide connect` chose, or the window that fits best.
    #[arg(long, value_name = "WINDOW")]
    window: Option<WindowName>,
}

/// A window, and who chose it.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) candidate: Candidate,
    pub(crate) by: ChosenBy,
}

impl Chosen {
    /// Why this one, to follow what it is.
    pub(crate) fn why(&self) -> String {
        match &self.by {
            ChosenBy::Option => "named with `--window`".into(),
            ChosenBy::Variable => format!("named by {VARIABLE}"),
            ChosenBy::Pin { folder } => {
                format!("chosen for {} with `linkspan ide connect`", name(&folder.to_string_lossy()))
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

/// The window to ask.
#[derive(Debug)]
pub(crate) enum Choice {
    Window(Box<Chosen>),
    /// Nobody named one, and none has the folder: what to say, for commands that cannot make one.
    NoneFits(Failure),
}

/// Connects to the window for this folder.
pub(crate) fn connect(options: &WindowOptions, reach: &Reach) -> Result<Connection, Failure> {
    connect_at(options, reach, &here()?)
}

/// Connects to the window for a file, which need not be that of the folder we are in.
pub(crate) fn connect_for(
    options: &WindowOptions,
    reach: &Reach,
    file: &Path,
) -> Result<Connection, Failure> {
    match file.parent().filter(|parent| parent.is_dir()) {
        Some(folder) => connect_at(options, reach, folder),
        None => connect(options, reach),
    }
}

fn connect_at(options: &WindowOptions, reach: &Reach, folder: &Path) -> Result<Connection, Failure> {
    match choose(options, reach, folder)? {
        Choice::Window(chosen) => {
            open(&chosen.candidate, reach).map_err(|failure| blame(failure, &chosen.by))
        }
        Choice::NoneFits(failure) => {
            Err(Failure { message: format!("{}; `linkspan doctor` tells more", failure.message), ..failure })
        }
    }
}

/// Asks, and says goodbye whatever came of it.
pub(crate) fn ask<T>(
    connection: Connection,
    question: impl FnOnce(&Connection) -> Result<T, CallError>,
) -> Result<T, Failure> {
    let answer = question(&connection);
    connection.close();
    Ok(answer?)
}

pub(crate) fn open(candidate: &Candidate, reach: &Reach) -> Result<Connection, Failure> {
    let agent = AgentInfo::new("linkspan", env!("CARGO_PKG_VERSION"));
    Ok(Connection::open(candidate, &agent, &reach.places)?)
}

/// Chooses the window for a folder.
pub(crate) fn choose(options: &WindowOptions, reach: &Reach, folder: &Path) -> Result<Choice, Failure> {
    choose_among(options, reach, || Ok(discover(&surroundings(folder)?)))
}

/// Chooses a window; `look` looks around, if nobody named one.
pub(crate) fn choose_among(
    options: &WindowOptions,
    reach: &Reach,
    look: impl FnOnce() -> Result<Discovery, Failure>,
) -> Result<Choice, Failure> {
    let (window, by) = match named(options)? {
        Some(named) => named,
        // Where the person stands, whatever file she asks about.
        None => match pins::of(&reach.places, &here()?)? {
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

/// The window of that name, if it may be asked.
pub(crate) fn find(window: &WindowName) -> Result<Candidate, Failure> {
    match window {
        // The hub knows it or says which there are: no need to look around first.
        WindowName::Id(id) => Ok(Candidate {
            editor: "the editor".into(),
            wire: Wire::Hub { window: id.clone(), port: 0 },
            folders: Vec::new(),
            pid: None,
            found: Found::Given,
            matched: None,
            verdict: Verdict::Usable,
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
                Failure::usage(format!("{} is no folder of a window: {error}", folder.display()))
            })?;
            let discovery = discover(&surroundings(&folder)?);
            one_of(window, &discovery, |candidate| {
                candidate.folders.iter().any(|open| open.canonicalize().is_ok_and(|open| open == folder))
            })
        }
    }
}

/// A bridge of ppxai, which no lock file tells of.
fn bridge(url: &LoopbackUrl) -> Result<Candidate, Failure> {
    let candidate = ppxai_bridge(Some(url), &surroundings(&here()?)?);
    let message = match &candidate.verdict {
        Verdict::Usable => return Ok(candidate),
        Verdict::Not(Reason::NothingListens) => format!(
            "nothing listens at {url}: start the editor whose bridge it is, or look at the address it shows"
        ),
        Verdict::Not(reason) => {
            let remedy = reason.remedy().trim_end_matches('.');
            format!("the bridge at {url} cannot be used: {reason}. {remedy}")
        }
    };
    Err(Failure::new(Exit::NoWindow, message))
}

/// The named one. That it is about another folder does not matter then, and discovery did not ask it for that.
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
    let seen: Vec<&Candidate> =
        best.iter().copied().filter(|window| window.editor != headless::NAME).collect();
    let chosen = match (seen.as_slice(), best) {
        (_, []) => return Ok(Choice::NoneFits(none_fits(discovery))),
        // A window that a person looks at comes before those without an editor, and these are all the same.
        ([one], _) | ([], [one, ..]) => (*one).clone(),
        (several, _) => return Err(ambiguous(several)),
    };
    Ok(Choice::Window(Box::new(Chosen { candidate: chosen, by: ChosenBy::Fit })))
}

/// Those at the head of the list that are as good as the first.
fn equals<'a, 'b>(candidates: &'a [&'b Candidate]) -> &'a [&'b Candidate] {
    let Some(best) = candidates.first() else { return &[] };
    let goodness = |candidate: &Candidate| (candidate.matched, candidate.wire.dialect());
    let end = candidates.iter().position(|other| goodness(other) != goodness(best));
    candidates.get(..end.unwrap_or(candidates.len())).unwrap_or_default()
}

/// Another door to a window of the hub that is in the list itself.
pub(crate) fn is_twin(candidate: &Candidate) -> bool {
    matches!(candidate.verdict, Verdict::Not(Reason::SameAs { .. }))
}

fn may_be_asked(candidate: &Candidate) -> bool {
    matches!(candidate.verdict, Verdict::Usable | Verdict::Not(Reason::OtherWorkspace | Reason::NotAsked))
}

/// What is known of a window that was named by its id alone.
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
        Verdict::Usable => format!("{} can be used", described(candidate)),
        Verdict::Not(reason) => {
            let remedy = reason.remedy().trim_end_matches('.');
            format!("{} cannot be used: {reason}. {remedy}", described(candidate))
        }
    }
}

fn ambiguous(candidates: &[&Candidate]) -> Failure {
    let listed: Vec<String> = candidates.iter().map(|candidate| described(candidate)).collect();
    let message = format!(
        "several windows fit equally well: {}; name one with `--window`, or for good with `linkspan ide connect`",
        listed.join(", ")
    );
    Failure::new(Exit::NoWindow, message)
}

fn none_fits(discovery: &Discovery) -> Failure {
    let fitting = |candidate: &&Candidate| candidate.matched.is_some() && !is_twin(candidate);
    let mut message = match discovery.candidates.iter().find(fitting) {
        Some(refused) => refusal(refused),
        None => format!(
            "no editor has this folder open: open it in an editor with Linkspan, or run `linkspan serve` here{}",
            listed(discovery)
        ),
    };
    // Where we could not look, the editor may well be.
    for LookedIn { place, found } in &discovery.looked_in {
        if let Seen::Failed(why) = found {
            message += &format!("; {}: {}", name(&place.to_string_lossy()), name(why));
        }
    }
    Failure::new(Exit::NoWindow, message)
}

/// The windows there are, as the end of a sentence.
fn listed(discovery: &Discovery) -> String {
    let there =
        discovery.candidates.iter().filter(|candidate| may_be_asked(candidate) && !is_twin(candidate));
    let there: Vec<String> = there.map(described).collect();
    if there.is_empty() {
        return String::new();
    }
    format!("; `--window` reaches {}", there.join(", "))
}

fn disconnected(folder: &Path) -> Failure {
    let message = format!(
        "{} is disconnected from editors by `linkspan ide disconnect`: `linkspan ide connect` undoes it",
        name(&folder.to_string_lossy())
    );
    Failure::new(Exit::NoWindow, message)
}

/// Says who named the window, when it was not the command line.
fn blame(failure: Failure, by: &ChosenBy) -> Failure {
    let message = match by {
        ChosenBy::Option | ChosenBy::Fit => failure.message,
        ChosenBy::Variable => format!("{VARIABLE}: {}", failure.message),
        ChosenBy::Pin { folder } => format!(
            "{} (chosen for {} with `linkspan ide connect`, which also chooses anew)",
            failure.message,
            name(&folder.to_string_lossy())
        ),
    };
    Failure { message, ..failure }
}

pub(crate) fn surroundings(folder: &Path) -> Result<Surroundings, Failure> {
    Surroundings::of_this_process(folder).map_err(|error| Failure::new(Exit::NoHub, error.to_string()))
}

/// The folder the person is in, without symlinks.
pub(crate) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::usage(format!("the working directory cannot be found: {error}; go to one that exists"))
    })
}
