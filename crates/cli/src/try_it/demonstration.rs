//! The demonstration itself: window, agent and proposals on their way to whoever decides, over the loss of a hub, until
//! everything is tidied up. Says nothing by itself: the words are in `says`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::discover::Wire;
use linkspan_client::{CallError, Decided};
use linkspan_editor_api::ReviewShow;

use super::demo_agent::DemoAgent;
use super::hub_side::HubSide;
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
    Answered { index: usize, asked_by: u32, answer: Result<Decided, CallError> },
    Notice(String),
    Interrupted,
    Enter,
}

/// One proposal on its way.
struct Asked {
    proposal: Proposal,
    shown: Option<ReviewShow>,
    asked: bool,
    ended: bool,
    accepted: bool,
}

impl Asked {
    fn new(proposal: Proposal) -> Asked {
        Asked { proposal, shown: None, asked: false, ended: false, accepted: false }
    }

    /// Somebody is asked, or should be.
    fn is_open(&self) -> bool {
        self.asked && !self.ended
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
    hub: HubSide,
    window: Option<OwnWindow>,
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
            hub: HubSide::of(reach, project.name()),
            project,
            proposals: proposals().map(Asked::new),
            window: None,
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
        self.connect()?;
        let context = self.agent.as_ref().map(DemoAgent::context);
        self.says.context(&context.unwrap_or_default())?;
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
        Ok(())
    }

    fn open_window(&mut self) -> Result<(), Stop> {
        let events = self.events.clone();
        let hear = move |happening: &Happening<'_>| {
            let _ = match happening {
                Happening::Shown(shown) => events.send(Event::Shown(Box::new((*shown).clone()))),
                Happening::Notice(notice) => events.send(Event::Notice(notice.to_string())),
                Happening::Open(..)
                | Happening::Waiting(_)
                | Happening::Hidden(_)
                | Happening::Asked(_)
                | Happening::AskOver(_)
                | Happening::Message(_) => Ok(()),
            };
        };
        let window = OwnWindow::open_on(self.reach, vec![self.project.name().to_owned()], hear)?;
        let wire = window.candidate().wire.clone();
        self.window = Some(window);
        let lock = self.hub.lock_file()?;
        if let Wire::Hub { window, port } = &wire {
            self.says.window(window, *port, &lock.to_string_lossy())?;
        }
        Ok(())
    }

    fn connect(&mut self) -> Result<(), Failure> {
        self.agent = Some(DemoAgent::connect(&self.hub.lock_file()?, self.project.path())?);
        self.agents += 1;
        Ok(())
    }

    /// Asks again for what was asked for and is not decided: a new hub knows it.
    fn connect_again(&mut self) -> Result<(), Failure> {
        self.connect()?;
        let open = self.proposals.iter().zip(0..).filter(|(asked, _)| asked.is_open());
        let open: Vec<usize> = open.map(|(_, index)| index).collect();
        open.into_iter().for_each(|index| self.propose(index));
        Ok(())
    }

    /// Shows a change to whoever decides; the answer comes as an event.
    fn propose(&mut self, index: usize) {
        let (Some(agent), Some(asked)) = (&self.agent, self.proposals.get_mut(index)) else { return };
        let (events, asked_by) = (self.events.clone(), self.agents);
        asked.asked = true;
        match agent.propose(&self.project.file(&asked.proposal), &asked.proposal.proposed) {
            Ok(pending) => {
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
            Ok(Event::Answered { .. }) => {}
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
        let review = asked.shown.as_ref().map_or_else(String::new, |shown| shown.review.clone());
        let entry = self.hub.in_the_journal(&path, &review);
        self.says.ended(&Ended {
            review: &review,
            proposal: &asked.proposal,
            decided: &decided,
            entry: entry.as_ref(),
            now: self.project.now(&asked.proposal).as_deref(),
        })?;
        Ok(())
    }

    /// Once the window has started a new hub.
    fn come_back(&mut self) -> Result<(), Stop> {
        match self.connect_again() {
            Ok(()) => {
                self.lost_at = None;
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

    /// Takes back what waits, closes and removes everything, however it ended, and then says so.
    pub(super) fn tidy_up(mut self, auto: bool, ended: &Result<(), Stop>) -> Result<(), Stop> {
        self.withdraw(Instant::now() + LEAVE_DEADLINE);
        let Demonstration { mut says, project, hub, window, agent, .. } = self;
        agent.into_iter().for_each(DemoAgent::leave);
        let closed = window.is_none_or(|window| {
            window.leave();
            hub.window_is_closed(Instant::now() + LEAVE_DEADLINE)
        });
        let (folder, kept) = (project.name().to_owned(), project.is_kept());
        let removed = project.tidy_up();
        says.clear()?;
        if !closed {
            says.still_open()?;
        }
        match (ended, removed) {
            (Ok(()), Ok(())) => says.done(&folder, kept, auto)?,
            (Ok(()), Err(failure)) => return Err(failure.into()),
            // How it ended is said elsewhere, so this is here.
            (Err(_), Err(failure)) => says.notice(&failure.message)?,
            (Err(_), Ok(())) => {}
        }
        if matches!(ended, Err(Stop::Interrupted)) {
            says.left(closed)?;
        }
        Ok(())
    }

    /// The hub keeps a window for whose changes somebody waits, so they have to be gone before it.
    fn withdraw(&mut self, until: Instant) {
        let left = || until.saturating_duration_since(Instant::now());
        while self.proposals.iter().any(Asked::is_open) {
            if self.agent.as_ref().is_some_and(|agent| agent.take_back(left())) {
                self.hub.nothing_waits(until);
                return;
            }
            if left().is_zero() {
                return;
            }
            // With the hub that it was connected to, the agent lost its hold on them.
            if self.connect_again().is_err() {
                thread::sleep(RETURN_PAUSE.min(left()));
            }
        }
    }
}
