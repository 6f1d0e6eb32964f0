//! One trial: a change gets as far as the case says, a fault is injected, the lost party comes back, and in the end
//! everyone has the outcome, once.

use std::thread::sleep;
use std::time::{Duration, Instant};

use linkspan_editor_api as api;
use linkspan_editor_api::Request as _;
use linkspan_testkit::proposer::{self, Dialect, HalfOpen, ProposalOutcome, ProposedChange, Proposer};
use linkspan_testkit::world::{alive, signal};
use linkspan_testkit::{DEADLINE, eventually};
use rustix::process::Signal;

use super::case::{Case, Fault, Party, Step};
use super::fixture::{FaultFixture, ReviewedFile};
use super::journal;

/// Longer than two heartbeats and the deadline of a call: a stopped party is noticed.
const STOP_TIME: Duration = Duration::from_millis(2_600);
/// No recovery takes longer than this, however busy the machine is.
const RECOVERY: Duration = Duration::from_secs(30);
const MOMENT: Duration = Duration::from_millis(20);

struct Journey {
    case: Case,
    /// The hub before the fault.
    hub: u32,
    half_open: Option<HalfOpen>,
    agent: Option<Box<dyn Proposer>>,
    /// The agent connected after the fault.
    fresh: bool,
    fixture: FaultFixture,
}

/// Panics with what is broken.
pub(super) fn run_case(case: Case) {
    let fixture = FaultFixture::new(&case);
    let hub = fixture.world.hub_pid().expect("a hub");
    let mut journey = Journey { case, hub, half_open: None, agent: None, fresh: false, fixture };
    journey.run_until_step();
    journey.inject_fault();
    journey.recover();
    journey.finish_reviews();
    journey.check_result();
    journey.end();
}

impl Journey {
    fn run_until_step(&mut self) {
        let Case { dialect, step, party, fault, .. } = self.case;
        let port = self.fixture.editor.port();
        if step == Step::Connect {
            self.half_open =
                (party == Party::Agent).then(|| HalfOpen::to(dialect, &self.fixture.world, port));
            return;
        }
        let world = &self.fixture.world;
        let mut agent = eventually("the agent is admitted", || proposer::connect(dialect, world, port));
        let editor = &self.fixture.editor;
        let asked = |method: &'static str| {
            editor.until(method, |state| state.asked.iter().any(|asked| asked == method).then_some(()));
        };
        match step {
            Step::Base => editor.state().silent.push(api::DocumentText::METHOD.to_owned()),
            Step::Recorded => editor.state().mute.push(api::ReviewShow::METHOD.to_owned()),
            _ => {}
        }
        agent.propose(&self.fixture.wanted());
        match step {
            Step::Connect | Step::Sent => {}
            Step::Base => asked(api::DocumentText::METHOD),
            Step::Recorded => {
                asked(api::ReviewShow::METHOD);
                assert!(!journal::reviews(world).is_empty(), "shown before it was recorded");
            }
            Step::Shown | Step::Decided | Step::Written | Step::Answered => {
                for file in &self.fixture.files {
                    editor.shown(&file.wanted.path);
                }
            }
        }
        // An agent that has acknowledged the answer and is killed then has lost it by its own fault.
        let dies_with_answer = step == Step::Decided && (party, fault) == (Party::Agent, Fault::Kill);
        if step == Step::Written || dies_with_answer {
            agent.freeze();
        }
        self.agent = Some(agent);
        match step {
            Step::Decided => self.send_first_decision(),
            Step::Written => self.decide(1),
            Step::Answered => {
                self.decide(usize::MAX);
                self.receive_all_outcomes();
            }
            _ => {}
        }
    }

    /// Sends the decision on the first file, and does not wait for the answer.
    fn send_first_decision(&mut self) {
        let FaultFixture { files, editor, .. } = &mut self.fixture;
        if let Some(file) = files.first_mut() {
            let decided = decision(file, &editor.shown(&file.wanted.path));
            file.decision_sent = true;
            editor.send_request(&decided);
        }
    }

    /// Decides up to `count` of the files that were not decided yet.
    fn decide(&mut self, count: usize) {
        let open = self.fixture.files.iter_mut().filter(|file| !file.confirmed);
        for file in open.take(count) {
            let until = Instant::now() + DEADLINE;
            let sent_before = file.decision_sent;
            while !file.confirmed {
                assert!(Instant::now() < until, "the decision is never taken: {file:?}");
                let answer = decide_shown(&mut self.fixture.editor, file);
                // No one would write it: the user decides when its agent is back.
                if matches!(answer, Some(api::ReviewDecidedResult::Refused { can_write_here: true, .. })) {
                    let (dialect, party) = (self.case.dialect, self.case.party);
                    assert!(dialect.agent_writes() && party == Party::Agent, "refused, and its agent waits");
                    break;
                }
                // What a hosted agent asked for is withdrawn with its process: the user decides when it asks again.
                let is_withdrawn = matches!(answer, Some(api::ReviewDecidedResult::NotPending) | None);
                if is_withdrawn && self.case.dialect == Dialect::Acp && self.case.party == Party::Agent {
                    file.decision_sent = sent_before;
                    break;
                }
            }
        }
    }

    fn receive_all_outcomes(&mut self) {
        let until = Instant::now() + DEADLINE;
        while !self.fixture.open_changes().is_empty() {
            assert!(Instant::now() < until, "no answer: {:?}", self.fixture.files);
            self.hear();
        }
    }

    fn inject_fault(&mut self) {
        let Case { party, fault, .. } = self.case;
        match (party, fault) {
            (Party::Agent, Fault::Kill) => {
                self.agent = None;
                self.half_open = None;
            }
            (Party::Agent, Fault::Stop) => self.each_agent(|agent| agent.freeze()),
            (Party::Agent, Fault::Cut) => self.cut_agent(),
            (Party::Hub, Fault::Kill) => {
                signal(self.hub, Signal::KILL);
                eventually("the hub is dead", || (!alive(self.hub)).then_some(()));
            }
            (Party::Hub, Fault::Stop) => signal(self.hub, Signal::STOP),
            (Party::Hub, Fault::Cut) => {
                self.cut_agent();
                self.cut_shim();
            }
            (Party::Shim, Fault::Kill) => signal(self.fixture.editor.pid(), Signal::KILL),
            (Party::Shim, Fault::Stop) => self.fixture.editor.freeze(),
            (Party::Shim, Fault::Cut) => self.cut_shim(),
            (Party::Editor, Fault::Kill) => {
                self.fixture.editor.stall();
                self.fixture.editor.close_pipe();
            }
            (Party::Editor, Fault::Stop) => self.fixture.editor.stall(),
            (Party::Editor, Fault::Cut) => self.fixture.editor.close_pipe(),
        }
        self.all_whole();
        if party == Party::Agent && self.case.step >= Step::Shown {
            // The user does not wait for the agent.
            self.decide(usize::MAX);
        }
        if fault == Fault::Stop {
            sleep(STOP_TIME);
        }
        self.all_whole();
    }

    fn all_whole(&self) {
        self.fixture.files.iter().for_each(ReviewedFile::is_whole);
    }

    fn each_agent(&mut self, deed: impl Fn(&mut dyn Proposer)) {
        if let Some(agent) = &mut self.agent {
            deed(&mut **agent);
        }
    }

    fn cut_agent(&mut self) {
        self.each_agent(|agent| agent.cut_off());
        if let Some(half_open) = &self.half_open {
            half_open.cut_off();
        }
    }

    fn cut_shim(&self) {
        if let Some(proxy) = &self.fixture.proxy {
            proxy.cut_off();
        }
    }

    /// Resumes a stopped party and restarts a killed one. The hub is started by the next program that needs it.
    fn recover(&mut self) {
        self.half_open = None;
        self.each_agent(|agent| agent.thaw());
        match (self.case.party, self.case.fault) {
            (Party::Hub, Fault::Stop) => signal(self.hub, Signal::CONT),
            (Party::Shim, Fault::Stop) => self.fixture.editor.thaw(),
            (Party::Editor, Fault::Stop) => self.fixture.editor.resume(),
            (Party::Editor | Party::Shim, Fault::Kill) | (Party::Editor, Fault::Cut) => {
                self.fixture.editor.attach_ends();
                self.fixture.editor.resume();
                self.fixture.restart_editor();
            }
            _ => {}
        }
        let mut state = self.fixture.editor.state();
        state.silent.clear();
        state.mute.clear();
    }

    /// To the end: the user decides what is shown and undecided, the agent repeats the requests that it lost.
    fn finish_reviews(&mut self) {
        let until = Instant::now() + RECOVERY;
        while !self.fixture.open_changes().is_empty() {
            assert!(
                Instant::now() < until,
                "no answer: {:?}\n{}\n{}",
                self.fixture.files,
                journal::said(&self.fixture.world),
                self.fixture.world.log()
            );
            self.ensure_agent();
            self.hear();
            for file in self.fixture.files.iter_mut().filter(|file| !file.confirmed) {
                decide_shown(&mut self.fixture.editor, file);
            }
        }
    }

    fn ensure_agent(&mut self) {
        let FaultFixture { world, editor, .. } = &self.fixture;
        let (port, open_changes) = (editor.port(), self.fixture.open_changes());
        match &mut self.agent {
            Some(agent) if agent.has_lost_the_hub() => {
                self.fresh |= agent.come_back(world, port, &open_changes);
            }
            Some(_) => {}
            None => {
                self.agent = proposer::connect(self.case.dialect, world, port);
                self.fresh = self.agent.is_some();
                self.each_agent(|agent| agent.propose(&open_changes));
            }
        }
    }

    fn hear(&mut self) {
        let Some(outcome) = self.agent.as_mut().and_then(|agent| agent.hear(MOMENT)) else { return };
        let (path, text) = match &outcome {
            ProposalOutcome::Accepted { path, text } => (path, text),
            ProposalOutcome::Rejected { path } => (path, &None),
            ProposalOutcome::Failed { path, why } => {
                let failed =
                    |file: &&ReviewedFile| path.as_ref().is_none_or(|path| *path == file.wanted.path);
                let failed: Vec<&ReviewedFile> = self.fixture.files.iter().filter(failed).collect();
                let said = failed.iter().any(|file| file.decision_sent);
                assert!(!said, "a failure was reported though the user has decided: {why}");
                sleep(MOMENT);
                let again: Vec<ProposedChange> = failed.iter().map(|file| file.wanted.clone()).collect();
                return self.each_agent(|agent| agent.propose(&again));
            }
        };
        let mut files = self.fixture.files.iter_mut();
        let file = files.find(|file| file.wanted.path == *path);
        let file = file.unwrap_or_else(|| panic!("outcome of an unknown file: {outcome:?}"));
        assert_eq!(file.outcome, None, "a second outcome: {outcome:?}");
        assert!(file.decision_sent, "an outcome before a decision: {outcome:?}");
        assert_eq!(
            matches!(outcome, ProposalOutcome::Accepted { .. }),
            file.accepts,
            "the wrong outcome: {outcome:?}"
        );
        if let Some(text) = text {
            assert_eq!(*text, file.wanted.after, "the wrong text");
            if self.case.dialect.agent_writes() {
                std::fs::write(path, text).expect("the agent can write");
            }
        }
        // It was decided, even if the user did not get the confirmation.
        file.confirmed = true;
        file.on_new_connection = self.fresh;
        file.outcome = Some(outcome);
    }

    /// Bytes, buffers, journal; no outcome and no request twice.
    fn check_result(&mut self) {
        if let Some(again) = self.agent.as_mut().and_then(|agent| agent.hear(2 * MOMENT)) {
            panic!("received something after the outcome: {again:?}");
        }
        if self.case.dialect == Dialect::Ppxai {
            // When its connection ends, the hub knows that it has taken the answer.
            self.agent = None;
        }
        let (world, port) = (&self.fixture.world, self.fixture.editor.port());
        eventually("the window is back", || {
            let ran = world.run(&["status", "--json"]);
            let status = (ran.code == 0).then(|| ran.json())?;
            let mut windows = status["windows"].as_array()?.iter();
            windows.any(|window| window["port"] == port && window["attached"] == true).then_some(())
        });
        assert_eq!(world.reviews().len(), 0, "a review is still pending");
        for file in &self.fixture.files {
            let agent_writes = self.agent_writes(file);
            file.is_as_decided(&self.fixture.editor, agent_writes);
            let by_the_editor = file.is_open() && file.accepts && !agent_writes;
            let applied = self.fixture.applied(&file.wanted.path);
            assert_eq!(applied, usize::from(by_the_editor), "how often an editor changed {file:?}");
        }
        journal::is_as_decided(world, &self.fixture.files, |file| !self.agent_writes(file));
    }

    /// A hosted agent that hears a no is told that the hub has written it.
    fn agent_writes(&self, file: &ReviewedFile) -> bool {
        let told_no = matches!(file.outcome, Some(ProposalOutcome::Accepted { text: None, .. }));
        self.case.dialect.agent_writes() && !(self.case.dialect == Dialect::Acp && told_no)
    }

    /// Everyone disconnects. The world checks what is left when it is dropped.
    fn end(self) {
        let FaultFixture { editor, proxy, world, .. } = self.fixture;
        drop((self.agent, editor, proxy));
        world.run(&["hub", "stop", "--force"]).ok();
        eventually("every process has ended", || world.processes().is_empty().then_some(()));
    }
}

fn decision(file: &ReviewedFile, shown: &api::ReviewShow) -> api::ReviewDecided {
    let verdict = if file.accepts { api::Verdict::Accept } else { api::Verdict::Reject { reason: None } };
    let decision = api::Decision { verdict, comments: Vec::new(), write_here: false };
    let digest = Some(shown.digest.clone());
    api::ReviewDecided { review: shown.review.clone(), revision: shown.revision, digest, decision }
}

/// Sends the user's decision on the newest shown revision, if there is one.
fn decide_shown(
    editor: &mut linkspan_testkit::Editor,
    file: &mut ReviewedFile,
) -> Option<api::ReviewDecidedResult> {
    let newest = {
        let state = editor.state();
        state.shown.iter().rev().find(|shown| shown.path == file.wanted.path).cloned()
    };
    let shown = newest?;
    let said_before = std::mem::replace(&mut file.decision_sent, true);
    let answer = editor.request(&decision(file, &shown)).ok();
    match &answer {
        Some(api::ReviewDecidedResult::Taken) => file.confirmed = true,
        Some(api::ReviewDecidedResult::AlreadyDecided { by }) => {
            assert!(said_before, "decided elsewhere: {by}");
            file.confirmed = true;
        }
        // It is not there (or no longer), or cannot be decided right now: try again.
        Some(_) | None => sleep(MOMENT),
    }
    answer
}
