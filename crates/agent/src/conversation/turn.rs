//! A turn: from a prompt through requests and batches of calls to its end. Owns what is streamed, retries, and how a turn
//! is cancelled; the calls themselves are in `batch.rs`.

use std::time::Duration;

use crate::message::{ChatMessage, ModelCall, Usage};
use crate::models::{ModelError, ModelEvent, ModelRequest, StopReason};

use super::batch::Batch;
use super::{AgentConversation, ConversationAction, Failures, Record, TurnEnd, TurnEvent, compaction};

/// What a conversation does right now.
#[derive(Debug)]
pub(super) enum TurnPhase {
    Idle,
    /// The system prompt is computed; then comes a request.
    Context,
    /// A request runs.
    Asking(Stream),
    /// A request failed; the same comes again at the deadline.
    Pause(RequestPurpose),
    /// Calls run.
    Tools(Batch),
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    Answer,
    /// To replace all messages but this many.
    Summary {
        kept: usize,
    },
}

/// The answer so far.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) request: u64,
    pub(super) purpose: RequestPurpose,
    text: String,
    calls: Vec<ModelCall>,
    usage: Usage,
}

/// What counts for a whole turn.
#[derive(Debug, Default)]
pub(super) struct TurnState {
    pub(super) usage: Usage,
    rounds: u32,
    tries: u32,
    pub(super) failures: Failures,
    last_text: String,
    /// The model reported that the conversation is too long, and it was compacted for that.
    compacted_for_length: bool,
    /// After which request it was compacted because it was nearly full.
    summary_round: Option<u32>,
    /// The user asked for nothing but a compaction.
    pub(super) only_compaction: bool,
}

impl AgentConversation {
    pub(super) fn begin_turn(&mut self) {
        self.turn = TurnState::default();
        self.show(TurnEvent::Started);
        self.next_round();
    }

    /// The next request, with everything that has come since the last one.
    pub(super) fn next_round(&mut self) {
        for prompt in std::mem::take(&mut self.queued) {
            self.record(prompt);
            self.show(TurnEvent::Prompted);
        }
        if self.turn.rounds >= self.limits.rounds {
            let rounds = self.limits.rounds;
            self.show(TurnEvent::Info(format!(
                "The model was asked {rounds} times in this turn, which is the limit (`max_rounds`). Write \"continue\" \
                 to go on."
            )));
            return self.end_turn(TurnEnd::Rounds);
        }
        // Once before each request: a summary may be too long itself.
        let is_full = self.is_nearly_full()
            && self.turn.summary_round.replace(self.turn.rounds) != Some(self.turn.rounds);
        if std::mem::take(&mut self.compact_wanted) || is_full {
            return self.begin_summary();
        }
        self.turn.rounds += 1;
        self.turn.tries = 0;
        self.phase = TurnPhase::Context;
        self.act(ConversationAction::RefreshContext);
        self.wake(self.limits.context_time);
    }

    pub(super) fn context(&mut self, system: String) {
        self.system = system;
        if matches!(self.phase, TurnPhase::Context) {
            self.request(RequestPurpose::Answer);
        }
    }

    pub(super) fn request(&mut self, purpose: RequestPurpose) {
        let request = self.next_request;
        self.next_request += 1;
        self.deadline = None;
        let body = match purpose {
            RequestPurpose::Answer => ModelRequest {
                system: self.system.clone(),
                messages: self.messages.clone(),
                tools: self.tools.specs().to_vec(),
            },
            RequestPurpose::Summary { kept } => {
                let older = self.messages.get(..self.messages.len().saturating_sub(kept)).unwrap_or_default();
                compaction::request(older, self.limits.context_window)
            }
        };
        self.phase = TurnPhase::Asking(Stream {
            request,
            purpose,
            text: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
        });
        self.act(ConversationAction::Request { request, body });
    }

    /// The stream of this request, if it is the current one.
    fn stream(&mut self, request: u64) -> Option<&mut Stream> {
        match &mut self.phase {
            TurnPhase::Asking(stream) if stream.request == request => Some(stream),
            _ => None,
        }
    }

    pub(super) fn streamed(&mut self, request: u64, event: ModelEvent) {
        let Some(stream) = self.stream(request) else { return };
        let is_answer = stream.purpose == RequestPurpose::Answer;
        match event {
            ModelEvent::Text(text) => {
                stream.text.push_str(&text);
                if is_answer {
                    self.show(TurnEvent::Text(text));
                }
            }
            ModelEvent::Thought(text) if is_answer => self.show(TurnEvent::Thought(text)),
            ModelEvent::Thought(_) => {}
            ModelEvent::Call(call) if is_answer => stream.calls.push(call),
            ModelEvent::Call(_) => {}
            ModelEvent::Usage(usage) => stream.usage = usage,
            ModelEvent::Done(reason) => {
                if let TurnPhase::Asking(stream) = std::mem::replace(&mut self.phase, TurnPhase::Idle) {
                    self.count(stream.usage);
                    match stream.purpose {
                        RequestPurpose::Answer => self.answer_is_complete(stream, reason),
                        RequestPurpose::Summary { kept } => self.summary_is_complete(stream, kept),
                    }
                }
            }
        }
    }

    fn count(&mut self, usage: Usage) {
        for sum in [&mut self.turn.usage, &mut self.total] {
            sum.input = sum.input.saturating_add(usage.input);
            sum.output = sum.output.saturating_add(usage.output);
        }
    }

    fn answer_is_complete(&mut self, mut stream: Stream, reason: StopReason) {
        if reason == StopReason::Refusal {
            stream.calls.clear();
        }
        let after_results = matches!(self.messages.last(), Some(ChatMessage::Tools { .. }));
        let is_empty = stream.text.is_empty() && stream.calls.is_empty();
        if is_empty && reason == StopReason::End && !after_results {
            let message = "the model answered nothing".to_owned();
            return self.try_again(RequestPurpose::Answer, message, None);
        }
        self.turn.tries = 0;
        if stream.usage.input > 0 {
            let counted = stream.usage.input.saturating_add(stream.usage.output);
            self.fill = super::Fill { counted, bytes_since: 0 };
        }
        let fill = self.fill;
        let made = stream.calls.len();
        if made > self.limits.calls {
            // Each costs records on disk.
            stream.calls.truncate(self.limits.calls);
            let kept = self.limits.calls;
            self.show(TurnEvent::Info(format!(
                "The model made {made} calls in one answer; the first {kept} count."
            )));
        }
        for call in &mut stream.calls {
            self.make_unique(call);
        }
        self.turn.last_text.clone_from(&stream.text);
        if !is_empty {
            self.record(ChatMessage::Assistant { text: stream.text, calls: stream.calls.clone() });
        }
        if stream.usage.output > 0 {
            // The server counted this message already.
            self.fill = fill;
        }
        match reason {
            StopReason::End | StopReason::Length if !stream.calls.is_empty() => {
                self.begin_batch(stream.calls)
            }
            StopReason::End => self.end_turn(TurnEnd::Done),
            StopReason::Length => {
                self.show(TurnEvent::Info(
                    "The answer was cut at the model's output limit. Write \"continue\" to go on.".to_owned(),
                ));
                self.end_turn(TurnEnd::Length);
            }
            StopReason::Refusal => {
                self.show(TurnEvent::Error(
                    "The model refused to answer this. Rephrase it, or /clear.".to_owned(),
                ));
                self.end_turn(TurnEnd::Refused);
            }
        }
    }

    /// A result names its call by the id alone.
    fn make_unique(&mut self, call: &mut ModelCall) {
        let mut number = self.call_ids.len();
        while call.id.is_empty() || !self.call_ids.insert(call.id.clone()) {
            number += 1;
            call.id = format!("call_{number}");
        }
    }

    pub(super) fn model_failed(&mut self, request: u64, error: ModelError) {
        let Some(stream) = self.stream(request) else { return };
        let (purpose, usage, partial) = (stream.purpose, stream.usage, !stream.text.is_empty());
        self.count(usage);
        match error {
            ModelError::Transient { message, retry_after } => {
                let message = if partial { format!("the answer broke off: {message}") } else { message };
                self.try_again(purpose, message, retry_after);
            }
            ModelError::Permanent { message, too_long: true }
                if purpose == RequestPurpose::Answer && !self.turn.compacted_for_length =>
            {
                self.show(TurnEvent::Info(format!("{message} It is compacted now.")));
                self.turn.compacted_for_length = true;
                self.begin_summary();
            }
            ModelError::Permanent { message, .. } => self.fail(purpose, &message),
        }
    }

    fn try_again(&mut self, purpose: RequestPurpose, message: String, retry_after: Option<Duration>) {
        self.turn.tries += 1;
        let tries = self.turn.tries;
        if tries >= self.limits.tries {
            return self.fail(purpose, &format!("{message} (after {tries} attempts). Try again later."));
        }
        let pause = self.limits.pause(tries).max(retry_after.unwrap_or_default());
        if pause > self.limits.longest_pause {
            let seconds = pause.as_secs();
            return self
                .fail(purpose, &format!("{message}. The server asks to wait {seconds} s: try again then."));
        }
        let next = tries + 1;
        let of = self.limits.tries;
        let seconds = pause.as_secs_f32();
        self.show(TurnEvent::Info(format!("{message}; attempt {next} of {of} in {seconds:.0} s")));
        self.phase = TurnPhase::Pause(purpose);
        self.wake(pause);
    }

    fn fail(&mut self, purpose: RequestPurpose, message: &str) {
        let message = match purpose {
            RequestPurpose::Answer => message.to_owned(),
            RequestPurpose::Summary { .. } => {
                format!("The conversation was not compacted: {message} To start over, use /clear.")
            }
        };
        self.show(TurnEvent::Error(message));
        self.end_turn(TurnEnd::Failed);
    }

    pub(super) fn tick(&mut self) {
        if self.deadline.is_none_or(|deadline| self.now < deadline) {
            return;
        }
        self.deadline = None;
        match &mut self.phase {
            TurnPhase::Idle | TurnPhase::Asking(_) => {}
            TurnPhase::Context => self.request(RequestPurpose::Answer),
            TurnPhase::Pause(purpose) => {
                let purpose = *purpose;
                self.request(purpose);
            }
            TurnPhase::Tools(_) => self.give_up_on_tools(),
        }
    }

    pub(super) fn cancel(&mut self) {
        self.compact_wanted = false;
        match std::mem::replace(&mut self.phase, TurnPhase::Idle) {
            TurnPhase::Idle => {}
            TurnPhase::Context | TurnPhase::Pause(_) => self.end_turn(TurnEnd::Cancelled),
            TurnPhase::Asking(stream) => {
                self.act(ConversationAction::Abandon { request: stream.request });
                self.count(stream.usage);
                if stream.purpose == RequestPurpose::Answer && !stream.text.is_empty() {
                    self.turn.last_text.clone_from(&stream.text);
                    self.record(ChatMessage::Assistant { text: stream.text, calls: Vec::new() });
                }
                self.end_turn(TurnEnd::Cancelled);
            }
            TurnPhase::Tools(batch) => {
                self.phase = TurnPhase::Tools(batch);
                self.end_batch(TurnEnd::Cancelled);
            }
        }
    }

    pub(super) fn end_turn(&mut self, end: TurnEnd) {
        self.phase = TurnPhase::Idle;
        self.deadline = None;
        let turn = std::mem::take(&mut self.turn);
        if turn.usage != Usage::default() {
            self.save(Record::Usage { usage: turn.usage });
        }
        self.save(Record::Ended { end });
        self.show(TurnEvent::Ended { end, text: turn.last_text, usage: turn.usage });
        if !self.queued.is_empty() {
            self.begin_turn();
        } else if self.compact_wanted {
            self.compact();
        }
    }
}

impl TurnState {
    pub(super) fn only_compaction() -> TurnState {
        TurnState { only_compaction: true, ..TurnState::default() }
    }
}

impl Stream {
    pub(super) fn into_text(self) -> String {
        self.text
    }
}
