//! The demonstration itself: opens the window, runs the agent, waits for the decisions, even across a restart of the hub,
//! and cleans up. Prints nothing itself: the texts are in `printer`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::discover::Wire;
use linkspan_client::{CallError, ChangeOutcome};
use linkspan_editor_api::ReviewShow;

use super::demo_agent::DemoAgent;
use super::hub_client::HubClient;
use super::printer::{Outcome, Printer};
use super::sample::{Project, Proposal, proposals};
use super::script::{self, Script};
use super::{Args, Stop};
use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::headless::HeadlessEvent;
use crate::cli::temporary_window::TemporaryWindow;
use crate::commands::review::accepted_text::write_accepted;
use crate::commands::review::page::{self, BrowserLink};

/// Without a user, everything takes about a second.
const MACHINE_DEADLINE: Duration = Duration::from_secs(30);
/// A lost hub is started again by the window, and the agent then connects to it.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Changes that cannot be withdrawn in this time are withdrawn by the hub when our connection closes.
const CLEANUP_DEADLINE: Duration = Duration::from_secs(2);
const RECONNECT_PAUSE: Duration = Duration::from_millis(250);
/// A hub that is lost before it has given the link is asked again in this time.
const LINK_TIMEOUT: Duration = Duration::from_secs(5);

/// What the demonstration waits for.
pub(super) enum Event {
    Shown(Box<ReviewShow>),
    Answered { index: usize, agent_number: u32, answer: Result<ChangeOutcome, CallError> },
    Notice(String),
    Interrupted,
    Enter,
}

/// One proposal and its state.
struct ProposalState {
    proposal: Proposal,
    shown: Option<ReviewShow>,
    is_proposed: bool,
    is_decided: bool,
    is_accepted: bool,
}

impl ProposalState {
    fn new(proposal: Proposal) -> ProposalState {
        ProposalState { proposal, shown: None, is_proposed: false, is_decided: false, is_accepted: false }
    }

    fn is_open(&self) -> bool {
        self.is_proposed && !self.is_decided
    }

    fn name(&self) -> String {
        let review = self.shown.as_ref().map_or("", |shown| &shown.review);
        format!("{review} {}", self.proposal.name)
    }
}

pub(super) struct Demonstration<'a> {
    cli: &'a CliContext,
    printer: Printer,
    project: Project,
    proposals: [ProposalState; 3],
    hub: HubClient,
    window: Option<TemporaryWindow>,
    agent: Option<DemoAgent>,
    /// How many agents there have been: after a restart of the hub, answers to the previous one are ignored.
    agent_count: u32,
    lost_at: Option<Instant>,
    /// When everything must be done; `None` while the user decides.
    deadline: Option<Instant>,
    events: Sender<Event>,
    inbox: Receiver<Event>,
}

impl<'a> Demonstration<'a> {
    pub(super) fn new(
        cli: &'a CliContext,
        printer: Printer,
        project: Project,
        events: Sender<Event>,
        inbox: Receiver<Event>,
    ) -> Demonstration<'a> {
        Demonstration {
            cli,
            printer,
            hub: HubClient::new(cli, project.name()),
            project,
            proposals: proposals().map(ProposalState::new),
            window: None,
            agent: None,
            agent_count: 0,
            lost_at: None,
            deadline: None,
            events,
            inbox,
        }
    }

    pub(super) fn play(&mut self, args: &Args, json: bool) -> Result<(), Stop> {
        self.deadline = Some(Instant::now() + MACHINE_DEADLINE);
        self.printer.project(self.project.name())?;
        self.open_window()?;
        self.connect()?;
        let context = self.agent.as_ref().map(DemoAgent::context);
        self.printer.context(&context.unwrap_or_default())?;
        // One after the other, so that the reviews are numbered in this order; does not wait for decisions.
        for index in 0..self.proposals.len() {
            self.propose(index);
            self.wait_until(|proposal, number| number > index || proposal.shown.is_some())?;
        }
        let shown: Vec<_> = self
            .proposals
            .iter()
            .filter_map(|state| Some((&state.proposal, state.shown.as_ref()?)))
            .collect();
        self.printer.proposed(&shown)?;
        if args.auto {
            self.decide_by_script()?;
        } else {
            self.ask_user(args)?;
        }
        self.wait_until(|proposal, _| proposal.is_decided)?;
        self.printer.changed(&self.diffs())?;
        if args.auto {
            script::check(&self.project, self.proposals.each_ref().map(|state| &state.proposal))?;
        } else if !json && io::stdin().is_terminal() && io::stdout().is_terminal() {
            self.wait_for_enter()?;
        }
        Ok(())
    }

    fn open_window(&mut self) -> Result<(), Stop> {
        let events = self.events.clone();
        let notify = move |event: &HeadlessEvent<'_>| {
            let _ = match event {
                HeadlessEvent::Shown(shown) => events.send(Event::Shown(Box::new((*shown).clone()))),
                HeadlessEvent::Notice(notice) => events.send(Event::Notice(notice.to_string())),
                HeadlessEvent::Open(..)
                | HeadlessEvent::Waiting(_)
                | HeadlessEvent::Hidden(_)
                | HeadlessEvent::PermissionAsked(_)
                | HeadlessEvent::PermissionClosed(_)
                | HeadlessEvent::Message(_) => Ok(()),
            };
        };
        let window = TemporaryWindow::open_on(self.cli, vec![self.project.name().to_owned()], notify)?;
        let wire = window.candidate().wire.clone();
        self.window = Some(window);
        let lock = self.hub.lock_file()?;
        if let Wire::Hub { window, port } = &wire {
            self.printer.window(window, *port, &lock.to_string_lossy())?;
        }
        Ok(())
    }

    fn connect(&mut self) -> Result<(), Failure> {
        self.agent = Some(DemoAgent::connect(&self.hub.lock_file()?, self.project.path())?);
        self.agent_count += 1;
        Ok(())
    }

    /// Connects, and proposes the open changes again: the restarted hub has them in its journal.
    fn reconnect(&mut self) -> Result<(), Failure> {
        self.connect()?;
        let open = self.proposals.iter().zip(0..).filter(|(proposal, _)| proposal.is_open());
        let open: Vec<usize> = open.map(|(_, index)| index).collect();
        open.into_iter().for_each(|index| self.propose(index));
        Ok(())
    }

    /// Proposes a change; the answer arrives as an event. If the agent has just lost its connection, it proposes the change
    /// when it is back.
    fn propose(&mut self, index: usize) {
        let Some(state) = self.proposals.get_mut(index) else { return };
        state.is_proposed = true;
        let Some(agent) = &self.agent else { return };
        let (events, agent_number) = (self.events.clone(), self.agent_count);
        match agent.propose(&self.project.file(&state.proposal), &state.proposal.proposed) {
            Ok(pending) => {
                thread::spawn(move || {
                    let _ = events.send(Event::Answered { index, agent_number, answer: pending.wait() });
                });
            }
            Err(error) => {
                let _ = events.send(Event::Answered { index, agent_number, answer: Err(error) });
            }
        }
    }

    fn ask_user(&mut self, args: &Args) -> Result<(), Stop> {
        let open = args.open || (!args.no_open && page::is_local_desktop());
        // Not an error: without the page, the user can decide in the terminal.
        let until = Instant::now() + LINK_TIMEOUT;
        let link = loop {
            match BrowserLink::get(self.cli, open) {
                Err(failure) if failure.exit == Exit::NoHub && Instant::now() < until => {
                    thread::sleep(RECONNECT_PAUSE);
                }
                link => break link,
            }
        };
        self.printer.your_turn(link.as_ref().map_err(|failure| failure.message.as_str()))?;
        self.deadline = None;
        Ok(())
    }

    fn decide_by_script(&mut self) -> Result<(), Stop> {
        self.printer.scripted()?;
        let mut script = Script::connect(self.cli)?;
        for state in &self.proposals {
            if let Some(shown) = &state.shown {
                script.decide(shown, &state.proposal)?;
            }
        }
        Ok(())
    }

    fn wait_for_enter(&mut self) -> Result<(), Stop> {
        let accepted = self.proposals.iter().find(|proposal| proposal.is_accepted);
        let accepted =
            accepted.and_then(|proposal| proposal.shown.as_ref()).map(|shown| shown.review.as_str());
        self.printer.look_around(self.project.name(), accepted)?;
        let events = self.events.clone();
        thread::spawn(move || {
            let _ = io::stdin().read_line(&mut String::new());
            let _ = events.send(Event::Enter);
        });
        self.deadline = None;
        while self.next()?.is_some() {}
        Ok(())
    }

    fn wait_until(&mut self, reached: impl Fn(&ProposalState, usize) -> bool) -> Result<(), Stop> {
        while !self.proposals.iter().zip(0..).all(|(proposal, number)| reached(proposal, number)) {
            if self.deadline.is_none() {
                let open = self.proposals.iter().filter(|proposal| !proposal.is_decided);
                let names: Vec<String> = open.map(ProposalState::name).collect();
                self.printer.waiting(&names)?;
            }
            if self.agent.is_none() {
                self.try_reconnect()?;
            }
            self.next()?;
        }
        Ok(())
    }

    /// Handles the next event or timeout; `None` when the user pressed Enter.
    fn next(&mut self) -> Result<Option<()>, Stop> {
        let until = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = if self.agent.is_none() { Some(RECONNECT_PAUSE) } else { until };
        let event = match timeout {
            Some(timeout) => self.inbox.recv_timeout(timeout),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Shown(shown)) => {
                let path = PathBuf::from(&shown.path);
                let project = &self.project;
                let state = self.proposals.iter_mut().find(|state| project.file(&state.proposal) == path);
                state.into_iter().for_each(|state| state.shown = Some((*shown).clone()));
            }
            Ok(Event::Answered { index, agent_number, answer }) if agent_number == self.agent_count => {
                self.answered(index, answer)?;
            }
            Ok(Event::Answered { .. }) => {}
            Ok(Event::Notice(notice)) => self.printer.notice(&notice)?,
            Ok(Event::Interrupted) => return Err(Stop::Interrupted),
            Ok(Event::Enter) => return Ok(None),
            Err(_) if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
                let seconds = MACHINE_DEADLINE.as_secs();
                let message = format!("it took longer than {seconds} seconds; see `linkspan hub log`");
                return Err(Failure::internal(message).into());
            }
            Err(_) => {}
        }
        Ok(Some(()))
    }

    fn answered(&mut self, index: usize, answer: Result<ChangeOutcome, CallError>) -> Result<(), Stop> {
        let Some(state) = self.proposals.get_mut(index) else { return Ok(()) };
        let path = self.project.file(&state.proposal);
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
        let decided = write_accepted(&path, state.proposal.before.map(str::as_bytes), decided)?;
        state.is_decided = true;
        state.is_accepted = decided.is_accepted();
        let review = state.shown.as_ref().map_or_else(String::new, |shown| shown.review.clone());
        let entry = self.hub.history_entry(&path, &review);
        self.printer.decided(&Outcome {
            review: &review,
            proposal: &state.proposal,
            decided: &decided,
            entry: entry.as_ref(),
            content: self.project.content(&state.proposal).as_deref(),
        })?;
        Ok(())
    }

    /// Succeeds once the window has started a new hub.
    fn try_reconnect(&mut self) -> Result<(), Stop> {
        match self.reconnect() {
            Ok(()) => {
                self.lost_at = None;
                Ok(self.printer.notice("the agent is connected again, and proposes the changes again")?)
            }
            Err(failure) if self.lost_at.is_some_and(|lost| lost.elapsed() > RECONNECT_TIMEOUT) => {
                Err(failure.into())
            }
            Err(_) => Ok(()),
        }
    }

    /// Diffs of the files that changed.
    fn diffs(&self) -> Vec<String> {
        let proposals = self.proposals.iter().map(|state| &state.proposal);
        let diffs = proposals.filter_map(|proposal| {
            let content = String::from_utf8(self.project.content(proposal)?).ok()?;
            let old = proposal.before.map_or_else(|| "/dev/null".into(), |_| format!("a/{}", proposal.name));
            let before = proposal.before.unwrap_or_default();
            Some(linkspan_review::unified(before, &content, &old, &format!("b/{}", proposal.name), 1))
        });
        diffs.filter(|diff| !diff.is_empty()).collect()
    }

    /// Withdraws pending changes, closes the window and removes the project, however the demonstration ended.
    pub(super) fn clean_up(mut self, auto: bool, ended: &Result<(), Stop>) -> Result<(), Stop> {
        self.withdraw(Instant::now() + CLEANUP_DEADLINE);
        let Demonstration { mut printer, project, hub, window, agent, .. } = self;
        agent.into_iter().for_each(DemoAgent::disconnect);
        let closed = window.is_none_or(|window| {
            window.close();
            hub.wait_until_closed(Instant::now() + CLEANUP_DEADLINE)
        });
        let (folder, kept) = (project.name().to_owned(), project.is_kept());
        let removed = project.clean_up();
        printer.clear()?;
        if !closed {
            printer.still_open()?;
        }
        match (ended, removed) {
            (Ok(()), Ok(())) => printer.done(&folder, kept, auto)?,
            (Ok(()), Err(failure)) => return Err(failure.into()),
            // The caller reports how it ended, so this is only a notice.
            (Err(_), Err(failure)) => printer.notice(&failure.message)?,
            (Err(_), Ok(())) => {}
        }
        if matches!(ended, Err(Stop::Interrupted)) {
            printer.interrupted(closed)?;
        }
        Ok(())
    }

    /// The hub keeps a window whose changes are pending, so they have to be withdrawn first.
    fn withdraw(&mut self, until: Instant) {
        let remaining = || until.saturating_duration_since(Instant::now());
        while self.proposals.iter().any(ProposalState::is_open) {
            if self.agent.as_ref().is_some_and(|agent| agent.withdraw_all(remaining())) {
                self.hub.wait_until_none_pending(until);
                return;
            }
            if remaining().is_zero() {
                return;
            }
            // The agent can withdraw only changes that it proposed on its current connection.
            if self.reconnect().is_err() {
                thread::sleep(RECONNECT_PAUSE.min(remaining()));
            }
        }
    }
}
