//! The calls of one answer: which may run at once, which are asked about, and their results in the model's order. Each
//! call gets exactly one result, whatever happens.

use serde_json::json;

use crate::message::{CallArguments, ChatMessage, ModelCall, ToolResult};
use crate::permissions::{PermissionVerdict, ToolKind, verdict};

use super::overlap::{Overlap, fingerprint, grant};
use super::refusal_text::{broken, cut, declined, kind_name, not_asked};
use super::turn::TurnPhase;
use super::{
    AgentConversation, Answer, ConversationAction, Question, QuestionId, Record, TurnEnd, TurnEvent,
};

/// The tool that proposes a whole text, which a change is asked about with again after a restart.
const WHOLE_FILE: &str = "write_file";

/// How much of the result of a call that was given up on is shown.
const LONGEST_LATE: usize = 300;

/// All calls of an answer.
#[derive(Debug)]
pub(super) struct Batch {
    calls: Vec<BatchCall>,
    /// How the turn ends once every call has its result; it goes on if there is none.
    ending: Option<TurnEnd>,
}

#[derive(Debug)]
struct BatchCall {
    call: ModelCall,
    overlap: Overlap,
    state: CallState,
}

#[derive(Debug)]
enum CallState {
    Waiting,
    /// Its user is asked whether it may run, or may run once more.
    Asked(QuestionId, QuestionKind),
    Running,
    Done(ToolResult),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionKind {
    Permission,
    Repeated,
}

impl Batch {
    pub(super) fn open_questions(&self) -> usize {
        self.calls.iter().filter(|call| matches!(call.state, CallState::Asked(..))).count()
    }

    /// The first call that waits and may start now.
    fn startable(&self, at_once: usize) -> Option<usize> {
        let open = |call: &&BatchCall| !matches!(call.state, CallState::Done(_) | CallState::Waiting);
        if self.calls.iter().filter(open).count() >= at_once.max(1) {
            return None;
        }
        let mut before: Vec<&Overlap> = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            match call.state {
                CallState::Done(_) => continue,
                CallState::Waiting if before.iter().all(|open| open.permits(&call.overlap)) => {
                    return Some(index);
                }
                _ => before.push(&call.overlap),
            }
        }
        None
    }
}

impl AgentConversation {
    pub(super) fn begin_batch(&mut self, calls: Vec<ModelCall>) {
        for call in &calls {
            self.show(TurnEvent::Call(call.clone()));
        }
        self.phase = TurnPhase::Tools(self.batch(calls));
        self.advance();
    }

    /// The calls, none of which runs yet.
    pub(super) fn batch(&self, calls: Vec<ModelCall>) -> Batch {
        let waiting = |call: ModelCall| {
            let overlap = Overlap::of(&call, self.tools.kind(&call.name));
            BatchCall { call, overlap, state: CallState::Waiting }
        };
        Batch { calls: calls.into_iter().map(waiting).collect(), ending: None }
    }

    fn batch_mut(&mut self) -> Option<&mut Batch> {
        match &mut self.phase {
            TurnPhase::Tools(batch) => Some(batch),
            _ => None,
        }
    }

    fn batch_call(&mut self, index: usize) -> Option<&mut BatchCall> {
        self.batch_mut()?.calls.get_mut(index)
    }

    /// Starts what may start; when every call has its result, comes the next request.
    pub(super) fn advance(&mut self) {
        let at_once = self.limits.calls_at_once;
        while let Some(batch) = self.batch_mut() {
            match batch.startable(at_once) {
                Some(index) => self.start(index),
                None => break,
            }
        }
        let all_done =
            |batch: &mut Batch| batch.calls.iter().all(|call| matches!(call.state, CallState::Done(_)));
        if !self.batch_mut().is_some_and(all_done) {
            return;
        }
        let TurnPhase::Tools(batch) = std::mem::replace(&mut self.phase, TurnPhase::Idle) else { return };
        let results = batch.calls.into_iter().filter_map(|call| match call.state {
            CallState::Done(result) => Some(result),
            _ => None,
        });
        let results = results.collect();
        self.add(ChatMessage::Tools { results });
        self.deadline = None;
        match batch.ending {
            Some(end) => self.end_turn(end),
            None => self.next_round(),
        }
    }

    /// A result from the session file.
    pub(super) fn set_done(&mut self, index: usize, result: ToolResult) {
        if let Some(open) = self.batch_call(index) {
            open.state = CallState::Done(result);
        }
    }

    fn start(&mut self, index: usize) {
        let Some(call) = self.batch_call(index).map(|open| open.call.clone()) else { return };
        let equal = fingerprint(&call);
        let times = self.turn.failures.get(&equal).copied().unwrap_or_default();
        if times >= self.limits.equal_failures && !self.patience.contains(&equal) {
            return self.ask(index, QuestionKind::Repeated, Question::Repeated { call, times });
        }
        self.start_once_more(index);
    }

    /// As `start`, without looking at earlier failures.
    fn start_once_more(&mut self, index: usize) {
        let Some(call) = self.batch_call(index).map(|open| open.call.clone()) else { return };
        if let CallArguments::Broken(text) = &call.arguments {
            return self.refuse(index, broken(text));
        }
        let Some(kind) = self.tools.kind(&call.name) else {
            let unknown = self.tools.unknown(&call.name);
            return self.refuse(index, unknown);
        };
        match verdict(self.mode, kind) {
            PermissionVerdict::Run | PermissionVerdict::Review | PermissionVerdict::Sandbox => {
                self.run(index)
            }
            PermissionVerdict::Ask if self.grants.contains(&grant(&call, kind)) => self.run(index),
            PermissionVerdict::Ask => {
                let why = format!("{} mode asks before {}", self.mode.name(), kind_name(kind));
                self.ask(index, QuestionKind::Permission, Question::Permission { call, why });
            }
            PermissionVerdict::Refuse => {
                let mode = self.mode.name();
                let kind = kind_name(kind);
                self.refuse(index, format!("Not run: {mode} mode does not allow {kind}. Find another way."));
            }
        }
    }

    fn run(&mut self, index: usize) {
        let mode = self.mode;
        let Some(open) = self.batch_call(index) else { return };
        open.state = CallState::Running;
        let mut call = open.call.clone();
        if let Some((path, content)) = self.proposed.remove(&call.id) {
            call.name = WHOLE_FILE.to_owned();
            call.arguments = CallArguments::Json(json!({ "path": path, "content": content }));
            self.asked_again.insert(call.id.clone());
        }
        self.save(Record::Running { call_id: call.id.clone() });
        self.act(ConversationAction::Run { call, mode });
    }

    fn ask(&mut self, index: usize, asked: QuestionKind, ask: Question) {
        let question = self.next_question();
        if let Some(open) = self.batch_call(index) {
            open.state = CallState::Asked(question, asked);
            self.act(ConversationAction::Ask { question, ask });
        }
    }

    fn refuse(&mut self, index: usize, text: String) {
        self.finish(index, text, true, false);
    }

    fn finish(&mut self, index: usize, mut text: String, is_error: bool, cancelled: bool) {
        let Some(open) = self.batch_call(index) else { return };
        let (call_id, name) = (open.call.id.clone(), open.call.name.clone());
        if self.asked_again.remove(&call_id) {
            text.insert_str(0, "The agent was restarted while the user was asked about this change. ");
        }
        cut(&mut text, self.limits.result_bytes);
        let Some(open) = self.batch_call(index) else { return };
        let result = ToolResult { call_id, name, text, is_error, cancelled };
        let equal = fingerprint(&open.call);
        open.state = CallState::Done(result.clone());
        if !is_error {
            self.turn.failures.remove(&equal);
        } else if !cancelled {
            *self.turn.failures.entry(equal).or_default() += 1;
        }
        self.save(Record::Finished { result: result.clone() });
        self.show(TurnEvent::Result(result));
    }

    pub(super) fn tool_done(&mut self, result: ToolResult) {
        if let Some(tool) = self.given_up.remove(&result.call_id) {
            return self.ended_late(&tool, &result);
        }
        let Some(batch) = self.batch_mut() else { return };
        let ending = batch.ending.is_some();
        let running =
            |open: &BatchCall| open.call.id == result.call_id && matches!(open.state, CallState::Running);
        let Some(index) = batch.calls.iter().position(running) else { return };
        let stopped = ending && result.cancelled;
        self.finish(index, result.text, result.is_error || stopped, stopped);
        if result.cancelled && !ending {
            // The tool's own surface cancelled the turn.
            return self.end_batch(TurnEnd::Cancelled);
        }
        self.advance();
    }

    /// Its result was made up, and what it did is not in the conversation.
    fn ended_late(&mut self, tool: &str, result: &ToolResult) {
        if result.cancelled {
            return;
        }
        let first = result.text.lines().next().unwrap_or_default();
        let end = first.floor_char_boundary(LONGEST_LATE);
        let shown = first.get(..end).unwrap_or_default();
        let failed = if result.is_error { " with an error" } else { "" };
        self.show(TurnEvent::Info(format!(
            "The call of {tool} that was cancelled has ended{failed} after all: {shown}"
        )));
    }

    pub(super) fn answered(&mut self, question: QuestionId, answer: Answer) {
        let Some(batch) = self.batch_mut() else { return };
        let asked = |open: &BatchCall| matches!(open.state, CallState::Asked(asked, _) if asked == question);
        let Some(index) = batch.calls.iter().position(asked) else { return };
        let Some(BatchCall { call, state: CallState::Asked(_, asked), .. }) = batch.calls.get(index) else {
            return;
        };
        let (call, asked) = (call.clone(), *asked);
        self.act(ConversationAction::CloseQuestion { question });
        match (asked, answer) {
            (QuestionKind::Permission, Answer::No { reason }) => self.refuse(index, declined(reason)),
            (QuestionKind::Permission, Answer::NotAsked { why }) => self.refuse(index, not_asked(&why)),
            (QuestionKind::Permission, answer) => {
                if answer == Answer::Session
                    && let Some(kind) = self.tools.kind(&call.name)
                {
                    self.grants.insert(grant(&call, kind));
                }
                self.run(index);
                if answer == Answer::Session {
                    self.reconsider_questions();
                }
            }
            (QuestionKind::Repeated, answer @ (Answer::No { .. } | Answer::NotAsked { .. })) => {
                let text = match answer {
                    Answer::NotAsked { why } => not_asked(&why),
                    Answer::No { reason } => declined(reason),
                    Answer::Once | Answer::Session => declined(None),
                };
                self.finish(index, text, true, false);
                let name = &call.name;
                self.show(TurnEvent::Error(format!(
                    "The model repeated a call of {name} that had failed, and the turn is stopped. Say what it should do instead."
                )));
                return self.end_batch(TurnEnd::Failed);
            }
            (QuestionKind::Repeated, answer) => {
                if answer == Answer::Session {
                    self.patience.insert(fingerprint(&call));
                }
                self.start_once_more(index);
            }
        }
        self.advance();
    }

    /// Another mode, or a permission for the session, may have answered what is still asked.
    pub(super) fn reconsider_questions(&mut self) {
        let Some(batch) = self.batch_mut() else { return };
        let pending = batch.calls.iter().enumerate().filter_map(|(index, open)| match open.state {
            CallState::Asked(question, QuestionKind::Permission) => {
                Some((index, question, open.call.clone()))
            }
            _ => None,
        });
        let pending: Vec<_> = pending.collect();
        for (index, question, call) in pending {
            let Some(kind) = self.tools.kind(&call.name) else { continue };
            let still = verdict(self.mode, kind) == PermissionVerdict::Ask
                && !self.grants.contains(&grant(&call, kind));
            if !still {
                self.act(ConversationAction::CloseQuestion { question });
                self.start_once_more(index);
            }
        }
        self.advance();
    }

    /// Ends all calls, and then the turn. The second time, without waiting for them.
    pub(super) fn end_batch(&mut self, end: TurnEnd) {
        let Some(batch) = self.batch_mut() else { return };
        if batch.ending.is_some() {
            return self.give_up_on_tools();
        }
        batch.ending = Some(end);
        let mut running = false;
        for index in 0..batch.calls.len() {
            let Some(open) = self.batch_call(index) else { continue };
            match open.state {
                CallState::Done(_) => continue,
                CallState::Waiting => {}
                CallState::Asked(question, _) => self.act(ConversationAction::CloseQuestion { question }),
                CallState::Running => {
                    running = true;
                    let call_id = open.call.id.clone();
                    self.act(ConversationAction::Stop { call_id });
                    continue;
                }
            }
            self.finish(index, "Cancelled by the user before it ran.".to_owned(), true, true);
        }
        if running {
            self.wake(self.limits.stop_time);
        }
        self.advance();
    }

    /// Tools that do not end although they were stopped: their results are made up.
    pub(super) fn give_up_on_tools(&mut self) {
        let Some(batch) = self.batch_mut() else { return };
        if batch.ending.is_none() {
            return;
        }
        for index in 0..batch.calls.len() {
            if self.batch_call(index).is_some_and(|open| matches!(open.state, CallState::Running)) {
                if let Some(call) = self.batch_call(index).map(|open| open.call.clone())
                    && self.tools.kind(&call.name) != Some(ToolKind::Read)
                {
                    self.given_up.insert(call.id, call.name);
                }
                let text = "Cancelled by the user while it ran; it may have taken effect.";
                self.finish(index, text.to_owned(), true, true);
            }
        }
        self.advance();
    }
}
