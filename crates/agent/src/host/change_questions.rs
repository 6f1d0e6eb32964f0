//! Changes of files that are asked about in the frontend: what a tool asks through a [`TerminalPrompt`] becomes an
//! event, and a command brings the answer back. Knows neither the editor nor any frontend.

use std::collections::HashMap;
use std::fmt;
use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use linkspan_client::confirm::{Cancellation, ConfirmQuestion, TerminalAnswer, TerminalPrompt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::contract::{AgentId, ChangeId, ChangeQuestion, HostEvent, Occurred};

/// Interval of looking where the system has no descriptors left.
const LOOK: Duration = Duration::from_millis(100);

/// The changes that wait for an answer of the frontend.
pub struct ChangeQuestions {
    emit: Box<dyn Fn(HostEvent) + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    pending: HashMap<ChangeId, Pending>,
}

struct Pending {
    agent: AgentId,
    answer: Option<TerminalAnswer>,
    /// Its end wakes the thread that asks.
    wake: Option<PipeWriter>,
}

impl fmt::Debug for ChangeQuestions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ChangeQuestions").field("pending", &self.locked().pending.len()).finish()
    }
}

impl ChangeQuestions {
    /// Sends its events with `emit`, from the threads of the tools.
    pub fn new(emit: impl Fn(HostEvent) + Send + Sync + 'static) -> Arc<ChangeQuestions> {
        Arc::new(ChangeQuestions { emit: Box::new(emit), state: Mutex::default() })
    }

    /// Where the tool of this call asks.
    pub fn prompt(self: &Arc<Self>, agent: AgentId, call_id: &str) -> Arc<dyn TerminalPrompt + Send + Sync> {
        Arc::new(CallPrompt { questions: Arc::clone(self), agent, call_id: call_id.to_owned() })
    }

    /// Carries out [`HostCommand::AnswerChange`](super::HostCommand::AnswerChange). An answer to a change that is no
    /// longer pending is ignored.
    pub fn answer(&self, change: ChangeId, answer: TerminalAnswer) {
        if let Some(pending) = self.locked().pending.get_mut(&change) {
            pending.answer.get_or_insert(answer);
            pending.wake = None;
        }
    }

    /// How many changes of an agent are pending.
    pub fn pending(&self, agent: AgentId) -> usize {
        self.locked().pending.values().filter(|pending| pending.agent == agent).count()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, agent: AgentId) -> (ChangeId, Option<PipeReader>) {
        let (ended, wake) = pipe().ok().unzip();
        let mut state = self.locked();
        state.last += 1;
        let change = ChangeId(state.last);
        state.pending.insert(change, Pending { agent, answer: None, wake });
        (change, ended)
    }

    fn is_answered(&self, change: ChangeId) -> bool {
        self.locked().pending.get(&change).is_none_or(|pending| pending.answer.is_some())
    }
}

struct CallPrompt {
    questions: Arc<ChangeQuestions>,
    agent: AgentId,
    call_id: String,
}

impl TerminalPrompt for CallPrompt {
    fn ask(&self, question: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer {
        let (change, ended) = self.questions.enter(self.agent);
        let emit = |what| (self.questions.emit)(HostEvent { agent: Some(self.agent), what });
        let (call_id, question) = (self.call_id.clone(), Arc::new(question.clone()));
        emit(Occurred::AskChange(ChangeQuestion { change, call_id, question }));
        while !self.questions.is_answered(change) && !cancelled.is_cancelled() {
            wait(ended.as_ref(), cancelled);
        }
        let answer = self.questions.locked().pending.remove(&change).and_then(|pending| pending.answer);
        emit(Occurred::ChangeClosed { change });
        answer.unwrap_or(TerminalAnswer::Cancelled)
    }
}

/// Until one of them ends.
fn wait(ended: Option<&PipeReader>, cancelled: &Cancellation) {
    let cancelled = cancelled.as_fd();
    let can_wait = ended.is_some() && cancelled.is_some();
    let descriptors = ended.map(AsFd::as_fd).into_iter().chain(cancelled);
    let mut descriptors: Vec<_> =
        descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
    let look = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
    // An interrupted or failed wait only means that the caller looks again.
    if poll(&mut descriptors, (!can_wait).then_some(&look)).is_err() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::{self, Receiver};
    use std::thread;

    use serde_json::json;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn questions() -> (Arc<ChangeQuestions>, Receiver<Occurred>) {
        let (sender, events) = mpsc::channel();
        let questions = ChangeQuestions::new(move |event: HostEvent| {
            assert_eq!(event.agent, Some(AgentId(7)));
            sender.send(event.what).unwrap();
        });
        (questions, events)
    }

    fn asks(questions: &Arc<ChangeQuestions>, cancelled: &Arc<Cancellation>) -> Receiver<TerminalAnswer> {
        let (sender, answer) = mpsc::channel();
        let prompt = questions.prompt(AgentId(7), "c1");
        let cancelled = Arc::clone(cancelled);
        let question = ConfirmQuestion::of_call("x", &json!({}), Path::new("/")).unwrap();
        thread::spawn(move || sender.send(prompt.ask(&question, &cancelled)));
        answer
    }

    fn asked(events: &Receiver<Occurred>) -> ChangeId {
        match events.recv_timeout(SOON).unwrap() {
            Occurred::AskChange(asked) => asked.change,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_answer_counts_and_closes_the_question() {
        let (questions, events) = questions();
        let answer = asks(&questions, &Arc::new(Cancellation::new()));
        let change = asked(&events);
        assert_eq!(questions.pending(AgentId(7)), 1);
        questions.answer(ChangeId(99), TerminalAnswer::Allow);
        questions.answer(change, TerminalAnswer::Deny { reason: None, comments: vec![] });
        questions.answer(change, TerminalAnswer::Allow);
        assert_eq!(
            answer.recv_timeout(SOON).unwrap(),
            TerminalAnswer::Deny { reason: None, comments: vec![] }
        );
        assert_eq!(events.recv_timeout(SOON).unwrap(), Occurred::ChangeClosed { change });
        assert_eq!(questions.pending(AgentId(7)), 0);
    }

    #[test]
    fn a_question_that_is_answered_elsewhere_is_closed_here() {
        let (questions, events) = questions();
        let cancelled = Arc::new(Cancellation::new());
        let answer = asks(&questions, &cancelled);
        let change = asked(&events);
        cancelled.cancel();
        assert_eq!(answer.recv_timeout(SOON).unwrap(), TerminalAnswer::Cancelled);
        assert_eq!(events.recv_timeout(SOON).unwrap(), Occurred::ChangeClosed { change });
    }
}
