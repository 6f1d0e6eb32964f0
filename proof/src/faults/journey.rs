//! One trial: a change goes as far as the case says, a fault strikes, whoever is gone comes back, and in the end
//! everybody has what was decided, once.

use std::thread::sleep;
use std::time::{Duration, Instant};

use linkspan_editor_api as api;
use linkspan_editor_api::Request as _;
use linkspan_testkit::proposer::{self, Dialect, HalfOpen, Proposer, Told, Wanted};
use linkspan_testkit::world::{alive, signal};
use linkspan_testkit::{DEADLINE, eventually};
use rustix::process::Signal;

use super::case::{Case, Fault, Step, Who};
use super::journal;
use super::stage::{Stage, Subject};

/// Longer than two heartbeats and the deadline of a call: whoever stands still is noticed.
const STANDS_STILL: Duration = Duration::from_millis(2_600);
/// No recovery takes longer than this, however busy the machine is.
const RECOVERY: Duration = Duration::from_secs(30);
const MOMENT: Duration = Duration::from_millis(20);

struct Journey {
    case: Case,
    /// Before anyone was killed.
    hub: u32,
    half_open: Option<HalfOpen>,
    agent: Option<Box<dyn Proposer>>,
    /// The agent's connection is of after the fault.
    fresh: bool,
    stage: Stage,
}

/// A panic says what is broken.
pub(super) fn travel(case: Case) {
    let stage = Stage::new(&case);
    let hub = stage.world.hub_pid().expect("a hub");
    let mut journey = Journey { case, hub, half_open: None, agent: None, fresh: false, stage };
    journey.set_out();
    journey.strike();
    journey.recover();
    journey.arrive();
    journey.look_back();
    journey.end();
}

impl Journey {
    fn set_out(&mut self) {
        let Case { dialect, step, who, fault, .. } = self.case;
        let port = self.stage.editor.port();
        if step == Step::Connect {
            self.half_open = (who == Who::Agent).then(|| HalfOpen::to(dialect, &self.stage.world, port));
            return;
        }
        let world = &self.stage.world;
        let mut agent = eventually("the agent is let in", || proposer::connect(dialect, world, port));
        let editor = &self.stage.editor;
        let asked = |method: &'static str| {
            editor.until(method, |desk| desk.asked.iter().any(|asked| asked == method).then_some(()));
        };
        match step {
            Step::Base => editor.desk().silent.push(api::DocumentText::METHOD.to_owned()),
            Step::Recorded => editor.desk().mute.push(api::ReviewShow::METHOD.to_owned()),
            _ => {}
        }
        agent.propose(&self.stage.wanted());
        match step {
            Step::Connect | Step::Sent => {}
            Step::Base => asked(api::DocumentText::METHOD),
            Step::Recorded => {
                asked(api::ReviewShow::METHOD);
                assert!(!journal::reviews(world).is_empty(), "shown before it was recorded");
            }
            Step::Shown | Step::Decided | Step::Written | Step::Answered => {
                for subject in &self.stage.subjects {
                    editor.shown(&subject.wanted.path);
                }
            }
        }
        // One that has said it got the answer, and is killed then, has lost it by itself.
        let dies_unheard = step == Step::Decided && (who, fault) == (Who::Agent, Fault::Kill);
        if step == Step::Written || dies_unheard {
            agent.freeze();
        }
        self.agent = Some(agent);
        match step {
            Step::Decided => self.say_the_first(),
            Step::Written => self.decide(1),
            Step::Answered => {
                self.decide(usize::MAX);
                self.hear_all();
            }
            _ => {}
        }
    }

    /// Says what she thinks of the first file, and does not wait for it to count.
    fn say_the_first(&mut self) {
        let Stage { subjects, editor, .. } = &mut self.stage;
        if let Some(subject) = subjects.first_mut() {
            let decided = decision(subject, &editor.shown(&subject.wanted.path));
            subject.said = true;
            editor.send_request(&decided);
        }
    }

    /// She decides so many of those that she has not decided yet.
    fn decide(&mut self, count: usize) {
        let open = self.stage.subjects.iter_mut().filter(|subject| !subject.counted);
        for subject in open.take(count) {
            let until = Instant::now() + DEADLINE;
            while !subject.counted {
                assert!(Instant::now() < until, "her decision is never taken: {subject:?}");
                let answer = ask_her(&mut self.stage.editor, subject);
                // Nobody would write it: the user decides when its agent is back.
                if matches!(answer, Some(api::ReviewDecidedResult::Refused { can_write_here: true, .. })) {
                    let (dialect, who) = (self.case.dialect, self.case.who);
                    assert!(dialect.agent_writes() && who == Who::Agent, "refused, and its agent waits");
                    break;
                }
            }
        }
    }

    fn hear_all(&mut self) {
        let until = Instant::now() + DEADLINE;
        while !self.stage.untold().is_empty() {
            assert!(Instant::now() < until, "no answer: {:?}", self.stage.subjects);
            self.hear();
        }
    }

    fn strike(&mut self) {
        let Case { who, fault, .. } = self.case;
        match (who, fault) {
            (Who::Agent, Fault::Kill) => {
                self.agent = None;
                self.half_open = None;
            }
            (Who::Agent, Fault::Stop) => self.each_agent(|agent| agent.freeze()),
            (Who::Agent, Fault::Cut) => self.cut_agent(),
            (Who::Hub, Fault::Kill) => {
                signal(self.hub, Signal::KILL);
                eventually("the hub is dead", || (!alive(self.hub)).then_some(()));
            }
            (Who::Hub, Fault::Stop) => signal(self.hub, Signal::STOP),
            (Who::Hub, Fault::Cut) => {
                self.cut_agent();
                self.cut_shim();
            }
            (Who::Shim, Fault::Kill) => signal(self.stage.editor.pid(), Signal::KILL),
            (Who::Shim, Fault::Stop) => self.stage.editor.freeze(),
            (Who::Shim, Fault::Cut) => self.cut_shim(),
            (Who::Editor, Fault::Kill) => {
                self.stage.editor.stall();
                self.stage.editor.close_pipe();
            }
            (Who::Editor, Fault::Stop) => self.stage.editor.stall(),
            (Who::Editor, Fault::Cut) => self.stage.editor.close_pipe(),
        }
        self.all_whole();
        if who == Who::Agent && self.case.step >= Step::Shown {
            // She does not wait for it.
            self.decide(usize::MAX);
        }
        if fault == Fault::Stop {
            sleep(STANDS_STILL);
        }
        self.all_whole();
    }

    fn all_whole(&self) {
        self.stage.subjects.iter().for_each(Subject::is_whole);
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
        if let Some(proxy) = &self.stage.proxy {
            proxy.cut_off();
        }
    }

    /// Whoever was stopped goes on, whoever was killed is started again. The hub is started by whoever needs it.
    fn recover(&mut self) {
        self.half_open = None;
        self.each_agent(|agent| agent.thaw());
        match (self.case.who, self.case.fault) {
            (Who::Hub, Fault::Stop) => signal(self.hub, Signal::CONT),
            (Who::Shim, Fault::Stop) => self.stage.editor.thaw(),
            (Who::Editor, Fault::Stop) => self.stage.editor.resume(),
            (Who::Editor | Who::Shim, Fault::Kill) | (Who::Editor, Fault::Cut) => {
                self.stage.editor.attach_ends();
                self.stage.editor.resume();
                self.stage.restart_editor();
            }
            _ => {}
        }
        let mut desk = self.stage.editor.desk();
        desk.silent.clear();
        desk.mute.clear();
    }

    /// To the end: she decides what she is shown and has not decided, the agent asks again for what it lost.
    fn arrive(&mut self) {
        let until = Instant::now() + RECOVERY;
        while !self.stage.untold().is_empty() {
            assert!(
                Instant::now() < until,
                "no answer: {:?}\n{}\n{}",
                self.stage.subjects,
                journal::said(&self.stage.world),
                self.stage.world.log()
            );
            self.have_an_agent();
            self.hear();
            for subject in self.stage.subjects.iter_mut().filter(|subject| !subject.counted) {
                ask_her(&mut self.stage.editor, subject);
            }
        }
    }

    fn have_an_agent(&mut self) {
        let Stage { world, editor, .. } = &self.stage;
        let (port, untold) = (editor.port(), self.stage.untold());
        match &mut self.agent {
            Some(agent) if agent.has_lost_the_hub() => {
                self.fresh |= agent.come_back(world, port, &untold);
            }
            Some(_) => {}
            None => {
                self.agent = proposer::connect(self.case.dialect, world, port);
                self.fresh = self.agent.is_some();
                self.each_agent(|agent| agent.propose(&untold));
            }
        }
    }

    fn hear(&mut self) {
        let Some(told) = self.agent.as_mut().and_then(|agent| agent.hear(MOMENT)) else { return };
        let (path, text) = match &told {
            Told::Accepted { path, text } => (path, text),
            Told::Rejected { path } => (path, &None),
            Told::Failed { path, why } => {
                let failed =
                    |subject: &&Subject| path.as_ref().is_none_or(|path| *path == subject.wanted.path);
                let failed: Vec<&Subject> = self.stage.subjects.iter().filter(failed).collect();
                let said = failed.iter().any(|subject| subject.said);
                assert!(!said, "told of a failure though a person has decided: {why}");
                sleep(MOMENT);
                let again: Vec<Wanted> = failed.iter().map(|subject| subject.wanted.clone()).collect();
                return self.each_agent(|agent| agent.propose(&again));
            }
        };
        let mut subjects = self.stage.subjects.iter_mut();
        let subject = subjects.find(|subject| subject.wanted.path == *path);
        let subject = subject.unwrap_or_else(|| panic!("told of a file that nobody asked about: {told:?}"));
        assert_eq!(subject.told, None, "told twice: {told:?}");
        assert!(subject.said, "told before anybody decided: {told:?}");
        assert_eq!(matches!(told, Told::Accepted { .. }), subject.accepts, "told another decision: {told:?}");
        if let Some(text) = text {
            assert_eq!(*text, subject.wanted.after, "told another text");
            if self.case.dialect.agent_writes() {
                std::fs::write(path, text).expect("the agent can write");
            }
        }
        // She decided, whoever could not tell her so.
        subject.counted = true;
        subject.told_afresh = self.fresh;
        subject.told = Some(told);
    }

    /// Bytes, buffers, journal, and nobody told or asked twice.
    fn look_back(&mut self) {
        if let Some(again) = self.agent.as_mut().and_then(|agent| agent.hear(2 * MOMENT)) {
            panic!("told something after the answer: {again:?}");
        }
        if self.case.dialect == Dialect::Ppxai {
            // By the end of its connection the hub knows that it has taken the answer.
            self.agent = None;
        }
        let (world, port) = (&self.stage.world, self.stage.editor.port());
        eventually("the window is back", || {
            let ran = world.run(&["status", "--json"]);
            let status = (ran.code == 0).then(|| ran.json())?;
            let mut windows = status["windows"].as_array()?.iter();
            windows.any(|window| window["port"] == port && window["attached"] == true).then_some(())
        });
        assert_eq!(world.reviews().len(), 0, "somebody is still asked");
        let agent_writes = self.case.dialect.agent_writes();
        for subject in &self.stage.subjects {
            subject.is_as_decided(&self.stage.editor, agent_writes);
            let by_the_editor = subject.is_open() && subject.accepts && !agent_writes;
            let applied = self.stage.applied(&subject.wanted.path);
            assert_eq!(applied, usize::from(by_the_editor), "how often an editor changed {subject:?}");
        }
        journal::is_as_decided(world, &self.stage.subjects, !agent_writes);
    }

    /// Everybody leaves. What is left then is looked for by the world when it ends.
    fn end(self) {
        let Stage { editor, proxy, world, .. } = self.stage;
        drop((self.agent, editor, proxy));
        world.run(&["hub", "stop", "--force"]).ok();
        eventually("every process has ended", || world.processes().is_empty().then_some(()));
    }
}

fn decision(subject: &Subject, shown: &api::ReviewShow) -> api::ReviewDecided {
    let verdict = if subject.accepts { api::Verdict::Accept } else { api::Verdict::Reject { reason: None } };
    let decision = api::Decision { verdict, comments: Vec::new(), write_here: false };
    let digest = Some(shown.digest.clone());
    api::ReviewDecided { review: shown.review.clone(), revision: shown.revision, digest, decision }
}

/// Says what she thinks of what is on her screen, if it is.
fn ask_her(editor: &mut linkspan_testkit::Editor, subject: &mut Subject) -> Option<api::ReviewDecidedResult> {
    let newest = {
        let desk = editor.desk();
        desk.shown.iter().rev().find(|shown| shown.path == subject.wanted.path).cloned()
    };
    let shown = newest?;
    let said_before = std::mem::replace(&mut subject.said, true);
    let answer = editor.request(&decision(subject, &shown)).ok();
    match &answer {
        Some(api::ReviewDecidedResult::Taken) => subject.counted = true,
        Some(api::ReviewDecidedResult::AlreadyDecided { by }) => {
            assert!(said_before, "somebody else decided: {by}");
            subject.counted = true;
        }
        // It is not there (any more), or cannot be decided right now: she looks again.
        Some(_) | None => sleep(MOMENT),
    }
    answer
}
