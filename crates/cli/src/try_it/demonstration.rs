//! The demonstration itself: window, agent and proposals on their way to whoever decides, over the loss of a hub, until
//! everything is tidied up. Says nothing by itself: the words are in `says`.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::connection::PendingChange;
use linkspan_client::discover::Wire;
use linkspan_client::{CallError, Decided};
use linkspan_editor_api::{HistoryEntry, HistoryList, ReviewShow};

use super::demo_agent::DemoAgent;
use super::sample::{Project, Proposal, proposals};
use super::says::{Ended, Says};
use super::script::{self, Script};
use super::{Args, Stop};
use crate::exit::{Exit, Failure};
use crate::headless::Happening;
use crate::own_window::OwnWindow;
use crate::page::{self, Link};
use crate::reach::Reach;
use crate::write_accepted::write_accepted;

/// The agent's protocol.
const DIALECT: &str = "claude";
/// All that machines do here takes about a second.
const MACHINE_DEADLINE: Duration = Duration::from_secs(30);
/// A hub that is gone is started again by the window, and the agent then finds it.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// What cannot be taken back within this time, the hub takes back by our absence.
const LEAVE_DEADLINE: Duration = Duration::from_secs(2);
const RETURN_PAUSE: Duration = Duration::from_millis(250);

/// What happens while it goes on.
pub(super) enum Event {
    Shown(Box<ReviewShow>),
    Hidden(String),
    Answered { index: usize, asked_by: u32, answer: Result<Decided, CallError> },
    Notice(String),
    Interrupted,
    Enter,
}

/// One proposal on its way.
struct Asked {
    proposal: Proposal,
    shown: Option<ReviewShow>,
    pending: Option<PendingChange>,
    ended: bool,
    accepted: bool,
}

impl Asked {
    fn new(proposal: Proposal) -> Asked {
        Asked { proposal, shown: None, pending: None, ended: false, accepted: false }
    }

    fn name(&self) -> String {
        let review = self.shown.as_ref().map_or("", |shown| &shown.review);
        format!("{review} {}", self.proposal.name)
    }
}

pub(super) struct Demonstration<'a> {
    reach: &'a Reach,
    says: Says,
    project: Project,
    proposals: [Asked; 3],
    window: Option<OwnWindow>,
    lock: PathBuf,
    agent: Option<DemoAgent>,
    /// How many there have been: after a loss of the hub, answers to the one before count no more.
    agents: u32,
    lost_at: Option<Instant>,
    /// When machines must be done; a person has all the time.
    deadline: Option<Instant>,
    events: Sender<Event>,
    inbox: Receiver<Event>,
}

impl<'a> Demonstration<'a> {
    pub(super) fn new(
        reach: &'a Reach,
        says: Says,
        project: Project,
        events: Sender<Event>,
        inbox: Receiver<Event>,
    ) -> Demonstration<'a> {
        Demonstration {
            reach,
            says,
            project,
            proposals: proposals().map(Asked::new),
            window: None,
            lock: PathBuf::new(),
            agent: None,
            agents: 0,
            lost_at: None,
            deadline: None,
            events,
            inbox,
        }
    }

    pub(super) fn play(&mut self, args: &Args, json: bool) -> Result<(), Stop> {
        self.deadline = Some(Instant::now() + MACHINE_DEADLINE);
        self.says.project(self.project.name())?;
        self.open_window()?;
        let agent = self.connect()?;
        self.says.context(&agent.context())?;
        self.agent = Some(agent);
        // One after the other, so that they are numbered as they are told here; nobody waits for a decision.
        for index in 0..self.proposals.len() {
            self.propose(index);
            self.wait_until(|asked, number| number > index || asked.shown.is_some())?;
        }
        let shown: Vec<_> = self
            .proposals
            .iter()
            .filter_map(|asked| Some((&asked.proposal, asked.shown.as_ref()?)))
            .collect();
        self.says.proposed(&shown)?;
        if args.auto {
            self.decide_by_script()?;
        } else {
            self.ask_the_person(args)?;
        }
        self.wait_until(|asked, _| asked.ended)?;
        self.says.changed(&self.diffs())?;
        if args.auto {
            script::check(&self.project, self.proposals.each_ref().map(|asked| &asked.proposal))?;
        } else if !json && io::stdin().is_terminal() && io::stdout().is_terminal() {
            self.stay()?;
        }
        Ok(self.says.done(self.project.name(), self.project.is_kept(), args.auto)?)
    }

    fn open_window(&mut self) -> Result<(), Stop> {
        let (opened, files) = channel();
        let events = self.events.clone();
        let hear = move |happening: &Happening<'_>| {
            let _ = match happening {
                Happening::Open(_, files) => {
                    let _ = opened.send(files.to_vec());
                    Ok(())
                }
                Happening::Shown(shown) => events.send(Event::Shown(Box::new((*shown).clone()))),
                Happening::Notice(notice) => events.send(Event::Notice(notice.to_string())),
                Happening::Hidden(hidden) => events.send(Event::Hidden(hidden.review.clone())),
            };
        };
        let window = OwnWindow::open_on(self.reach, vec![self.project.name().to_owned()], hear)?;
        let wire = window.candidate().wire.clone();
        self.window = Some(window);
        let files = files.try_recv().unwrap_or_default();
        let lock = files.into_iter().find(|(dialect, _)| dialect == DIALECT).map(|(_, file)| file);
        let lock = lock.ok_or_else(|| {
            let message =
                format!("the agent speaks `{DIALECT}`, and `dialects_off` in the configuration has it");
            Failure::new(Exit::Refused, format!("{message}: `linkspan config show` tells where"))
        })?;
        if let Wire::Hub { window, port } = &wire {
            self.says.window(window, *port, &lock)?;
        }
        self.lock = lock.into();
        Ok(())
    }

    fn connect(&mut self) -> Result<DemoAgent, Failure> {
        let agent = DemoAgent::connect(&self.lock, self.project.path())?;
        self.agents += 1;
        Ok(agent)
    }

    /// Shows a change to whoever decides; the answer comes as an event.
    fn propose(&mut self, index: usize) {
        let (Some(agent), Some(asked)) = (&self.agent, self.proposals.get_mut(index)) else { return };
        let (events, asked_by) = (self.events.clone(), self.agents);
        match agent.propose(&self.project.file(&asked.proposal), &asked.proposal.proposed) {
            Ok(pending) => {
                asked.pending = Some(pending.clone());
                thread::spawn(move || {
                    let _ = events.send(Event::Answered { index, asked_by, answer: pending.wait() });
                });
            }
            Err(error) => {
                let _ = events.send(Event::Answered { index, asked_by, answer: Err(error) });
            }
        }
    }

    fn ask_the_person(&mut self, args: &Args) -> Result<(), Stop> {
        let open = args.open || (!args.no_open && page::is_at_hand());
        // Without the page there is still the terminal.
        let link = Link::get(self.reach, open);
        self.says.your_turn(link.as_ref().map_err(|failure| failure.message.as_str()))?;
        self.deadline = None;
        Ok(())
    }

    fn decide_by_script(&mut self) -> Result<(), Stop> {
        self.says.scripted()?;
        let mut script = Script::begin(self.reach)?;
        for asked in &self.proposals {
            if let Some(shown) = &asked.shown {
                script.decide(shown, &asked.proposal)?;
            }
        }
        Ok(())
    }

    fn stay(&mut self) -> Result<(), Stop> {
        let accepted = self.proposals.iter().find(|asked| asked.accepted);
        let accepted = accepted.and_then(|asked| asked.shown.as_ref()).map(|shown| shown.review.as_str());
        self.says.stay(self.project.name(), accepted)?;
        let events = self.events.clone();
        thread::spawn(move || {
            let _ = io::stdin().read_line(&mut String::new());
            let _ = events.send(Event::Enter);
        });
        self.deadline = None;
        while self.next()?.is_some() {}
        Ok(())
    }

    fn wait_until(&mut self, reached: impl Fn(&Asked, usize) -> bool) -> Result<(), Stop> {
        while !self.proposals.iter().zip(0..).all(|(asked, number)| reached(asked, number)) {
            if self.deadline.is_none() {
                let open = self.proposals.iter().filter(|asked| !asked.ended);
                let names: Vec<String> = open.map(Asked::name).collect();
                self.says.waiting(&names)?;
            }
            if self.agent.is_none() {
                self.come_back()?;
            }
            self.next()?;
        }
        Ok(())
    }

    /// What happens next, or that nothing does; `None`: the person has seen enough.
    fn next(&mut self) -> Result<Option<()>, Stop> {
        let until = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let patience = if self.agent.is_none() { Some(RETURN_PAUSE) } else { until };
        let event = match patience {
            Some(patience) => self.inbox.recv_timeout(patience),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Shown(shown)) => {
                let path = PathBuf::from(&shown.path);
                let project = &self.project;
                let asked = self.proposals.iter_mut().find(|asked| project.file(&asked.proposal) == path);
                asked.into_iter().for_each(|asked| asked.shown = Some((*shown).clone()));
            }
            Ok(Event::Answered { index, asked_by, answer }) if asked_by == self.agents => {
                self.answered(index, answer)?;
            }
            Ok(Event::Hidden(_) | Event::Answered { .. }) => {}
            Ok(Event::Notice(notice)) => self.says.notice(&notice)?,
            Ok(Event::Interrupted) => return Err(Stop::Interrupted),
            Ok(Event::Enter) => return Ok(None),
            Err(_) if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
                let seconds = MACHINE_DEADLINE.as_secs();
                let message = format!("it was not done within {seconds} s: look at `linkspan hub log`");
                return Err(Failure::internal(message).into());
            }
            Err(_) => {}
        }
        Ok(Some(()))
    }

    fn answered(&mut self, index: usize, answer: Result<Decided, CallError>) -> Result<(), Stop> {
        let Some(asked) = self.proposals.get_mut(index) else { return Ok(()) };
        let path = self.project.file(&asked.proposal);
        let decided = match answer {
            Err(CallError::Closed) => {
                self.agent = None;
                self.lost_at.get_or_insert_with(Instant::now);
                return Ok(());
            }
            answer => answer.map_err(|error| {
                Failure::new(Exit::Refused, format!("{} was not decided: {error}", path.display()))
            })?,
        };
        let decided = write_accepted(&path, asked.proposal.before.map(str::as_bytes), decided)?;
        asked.ended = true;
        asked.accepted = decided.is_accepted();
        asked.pending = None;
        let review = asked.shown.as_ref().map_or_else(String::new, |shown| shown.review.clone());
        let entry = in_the_journal(self.reach, &path, &review);
        self.says.ended(&Ended {
            review: &review,
            proposal: &asked.proposal,
            decided: &decided,
            entry: entry.as_ref(),
            now: self.project.now(&asked.proposal).as_deref(),
        })?;
        Ok(())
    }

    /// The window starts a new hub, which knows the changes that are asked for again.
    fn come_back(&mut self) -> Result<(), Stop> {
        match self.connect() {
            Ok(agent) => {
                self.lost_at = None;
                self.agent = Some(agent);
                let open = self.proposals.iter().zip(0..).filter(|(asked, _)| asked.pending.is_some());
                let open: Vec<usize> = open.map(|(_, index)| index).collect();
                open.into_iter().for_each(|index| self.propose(index));
                Ok(self.says.notice("the agent is back, and asks again")?)
            }
            Err(failure) if self.lost_at.is_some_and(|lost| lost.elapsed() > RETURN_PATIENCE) => {
                Err(failure.into())
            }
            Err(_) => Ok(()),
        }
    }

    /// What the files hold now against what they held, where that differs.
    fn diffs(&self) -> Vec<String> {
        let proposals = self.proposals.iter().map(|asked| &asked.proposal);
        let diffs = proposals.filter_map(|proposal| {
            let now = String::from_utf8(self.project.now(proposal)?).ok()?;
            let old = proposal.before.map_or_else(|| "/dev/null".into(), |_| format!("a/{}", proposal.name));
            let before = proposal.before.unwrap_or_default();
            Some(linkspan_review::unified(before, &now, &old, &format!("b/{}", proposal.name), 1))
        });
        diffs.filter(|diff| !diff.is_empty()).collect()
    }

    /// Takes back what waits, and closes and removes everything, however it ended.
    pub(super) fn tidy_up(mut self, ended: &Result<(), Stop>) -> Result<(), Failure> {
        self.withdraw();
        let Demonstration { mut says, project, window, agent, .. } = self;
        agent.into_iter().for_each(DemoAgent::leave);
        window.into_iter().for_each(OwnWindow::leave);
        // Whoever does not hear it has left too.
        let _ = match ended {
            Err(Stop::Interrupted) => says.left(),
            _ => says.clear(),
        };
        project.tidy_up()
    }

    /// Returns when nothing is shown any more: the hub keeps a window for whose changes somebody waits.
    fn withdraw(&mut self) {
        let pending =
            self.proposals.iter_mut().filter_map(|asked| Some((asked.pending.take()?, &asked.shown)));
        let mut open: Vec<&str> = Vec::new();
        for (pending, shown) in pending {
            pending.withdraw();
            open.extend(shown.as_ref().map(|shown| shown.review.as_str()));
        }
        let until = Instant::now() + LEAVE_DEADLINE;
        while !open.is_empty() {
            match self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Hidden(hidden)) => open.retain(|review| *review != hidden),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

/// What was decided and said; a story is told without it too.
fn in_the_journal(reach: &Reach, path: &Path, review: &str) -> Option<HistoryEntry> {
    let list = HistoryList { path: Some(path.to_str()?.to_owned()), ..HistoryList::default() };
    let history = reach.greeted().ok()?.request(&list).ok()?;
    history.entries.into_iter().find(|entry| entry.review == review && entry.undoes.is_none())
}
