//! The calls of one answer: which may run at once, which are asked about, and their results in the model's order. Each
//! call gets exactly one result, whatever happens.

use std::path::{Component, PathBuf};

use serde_json::{Value, json};

use crate::message::{Arguments, Message, ToolCall, ToolResult};
use crate::permissions::{PermissionVerdict, ToolKind, verdict};

use super::turn::TurnPhase;
use super::{Action, Answer, Conversation, Question, QuestionId, Record, Shown, TurnEnd};

/// The tool that proposes a whole text, which a change is asked about with again after a restart.
const WHOLE_FILE: &str = "write_file";

/// All calls of an answer.
#[derive(Debug)]
pub(super) struct Batch {
    calls: Vec<BatchCall>,
    cancelled: bool,
}

#[derive(Debug)]
struct BatchCall {
    call: ToolCall,
    overlap: Overlap,
    state: CallState,
}

#[derive(Debug)]
enum CallState {
    Waiting,
    /// Its user is asked whether it may run, or may run once more.
    Asked(QuestionId, Asked),
    Running,
    Done(ToolResult),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Permission,
    Repeated,
}

/// Which calls may run at the same time. The others run in the model's order.
#[derive(Debug, PartialEq)]
enum Overlap {
    /// With all others of this kind.
    Free,
    /// With changes of other files.
    File(PathBuf),
    Alone,
}

impl Overlap {
    fn of(call: &ToolCall, kind: Option<ToolKind>) -> Overlap {
        match kind {
            None | Some(ToolKind::Read | ToolKind::Network | ToolKind::Spawn) => Overlap::Free,
            Some(ToolKind::Change) => match &call.arguments {
                Arguments::Json(Value::Object(arguments)) => match arguments.get("path") {
                    Some(Value::String(path)) => {
                        let path = PathBuf::from(path);
                        let plain = path.components().filter(|part| *part != Component::CurDir);
                        Overlap::File(plain.collect())
                    }
                    _ => Overlap::Alone,
                },
                _ => Overlap::Alone,
            },
            Some(ToolKind::Command | ToolKind::GitWrite | ToolKind::Editor | ToolKind::Foreign) => {
                Overlap::Alone
            }
        }
    }

    fn permits(&self, other: &Overlap) -> bool {
        match (self, other) {
            (Overlap::Free, Overlap::Free) => true,
            (Overlap::File(one), Overlap::File(other)) => one != other,
            _ => false,
        }
    }
}

/// What makes two calls equal.
pub(super) fn fingerprint(call: &ToolCall) -> (String, String) {
    let arguments = match &call.arguments {
        Arguments::Json(value) => value.to_string(),
        Arguments::Broken(text) => text.clone(),
    };
    (call.name.clone(), arguments)
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

impl Conversation {
    pub(super) fn begin_batch(&mut self, calls: Vec<ToolCall>) {
        for call in &calls {
            self.show(Shown::Call(call.clone()));
        }
        self.phase = TurnPhase::Tools(self.batch(calls));
        self.advance();
    }

    /// The calls, none of which runs yet.
    pub(super) fn batch(&self, calls: Vec<ToolCall>) -> Batch {
        let waiting = |call: ToolCall| {
            let overlap = Overlap::of(&call, self.tools.kind(&call.name));
            BatchCall { call, overlap, state: CallState::Waiting }
        };
        Batch { calls: calls.into_iter().map(waiting).collect(), cancelled: false }
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
        self.add(Message::Tools { results });
        self.deadline = None;
        if batch.cancelled { self.end_turn(TurnEnd::Cancelled) } else { self.next_round() }
    }

    /// A result from the session file.
    pub(super) fn set_done(&mut self, index: usize, result: ToolResult) {
        if let Some(open) = self.batch_call(index) {
            open.state = CallState::Done(result);
        }
    }

    fn start(&mut self, index: usize) {
        let Some(call) = self.batch_call(index).map(|open| open.call.clone()) else { return };
        if index >= self.limits.calls {
            let limit = self.limits.calls;
            return self.refuse(
                index,
                format!("Not run: at most {limit} calls are run of one answer. Call it again."),
            );
        }
        let equal = fingerprint(&call);
        let times = self.turn.failures.get(&equal).copied().unwrap_or_default();
        if times >= self.limits.equal_failures && !self.patience.contains(&equal) {
            return self.ask(index, Asked::Repeated, Question::Repeated { call, times });
        }
        self.start_once_more(index);
    }

    /// As `start`, without looking at earlier failures.
    fn start_once_more(&mut self, index: usize) {
        let Some(call) = self.batch_call(index).map(|open| open.call.clone()) else { return };
        if let Arguments::Broken(text) = &call.arguments {
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
                self.ask(index, Asked::Permission, Question::Permission { call, why });
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
            call.arguments = Arguments::Json(json!({ "path": path, "content": content }));
            self.asked_again.insert(call.id.clone());
        }
        self.save(Record::Running { call_id: call.id.clone() });
        self.act(Action::Run { call, mode });
    }

    fn ask(&mut self, index: usize, asked: Asked, ask: Question) {
        let question = self.next_question();
        if let Some(open) = self.batch_call(index) {
            open.state = CallState::Asked(question, asked);
            self.act(Action::Ask { question, ask });
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
        self.show(Shown::Result(result));
    }

    pub(super) fn tool_done(&mut self, result: ToolResult) {
        let Some(batch) = self.batch_mut() else { return };
        let cancelled = batch.cancelled;
        let running =
            |open: &BatchCall| open.call.id == result.call_id && matches!(open.state, CallState::Running);
        let Some(index) = batch.calls.iter().position(running) else { return };
        let stopped = cancelled && result.cancelled;
        self.finish(index, result.text, result.is_error || stopped, stopped);
        if result.cancelled && !cancelled {
            // The tool's own surface cancelled the turn.
            return self.cancel_batch();
        }
        self.advance();
    }

    pub(super) fn answered(&mut self, question: QuestionId, answer: Answer) {
        let Some(batch) = self.batch_mut() else { return };
        let asked = |open: &BatchCall| matches!(open.state, CallState::Asked(asked, _) if asked == question);
        let Some(index) = batch.calls.iter().position(asked) else { return };
        let Some(BatchCall { call, state: CallState::Asked(_, asked), .. }) = batch.calls.get(index) else {
            return;
        };
        let (call, asked) = (call.clone(), *asked);
        self.act(Action::CloseQuestion { question });
        match (asked, answer) {
            (Asked::Permission, Answer::No { reason }) => self.refuse(index, declined(reason)),
            (Asked::Permission, answer) => {
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
            (Asked::Repeated, Answer::No { reason }) => {
                self.finish(index, declined(reason), true, false);
                return self.cancel_batch();
            }
            (Asked::Repeated, answer) => {
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
            CallState::Asked(question, Asked::Permission) => Some((index, question, open.call.clone())),
            _ => None,
        });
        let pending: Vec<_> = pending.collect();
        for (index, question, call) in pending {
            let Some(kind) = self.tools.kind(&call.name) else { continue };
            let still = verdict(self.mode, kind) == PermissionVerdict::Ask
                && !self.grants.contains(&grant(&call, kind));
            if !still {
                self.act(Action::CloseQuestion { question });
                self.start_once_more(index);
            }
        }
        self.advance();
    }

    pub(super) fn cancel_batch(&mut self) {
        let Some(batch) = self.batch_mut() else { return };
        if batch.cancelled {
            return self.give_up_on_tools();
        }
        batch.cancelled = true;
        let mut running = false;
        for index in 0..batch.calls.len() {
            let Some(open) = self.batch_call(index) else { continue };
            match open.state {
                CallState::Done(_) => continue,
                CallState::Waiting => {}
                CallState::Asked(question, _) => self.act(Action::CloseQuestion { question }),
                CallState::Running => {
                    running = true;
                    let call_id = open.call.id.clone();
                    self.act(Action::Stop { call_id });
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
        if !batch.cancelled {
            return;
        }
        for index in 0..batch.calls.len() {
            if self.batch_call(index).is_some_and(|open| matches!(open.state, CallState::Running)) {
                let text = "Cancelled by the user while it ran; it may have taken effect.";
                self.finish(index, text.to_owned(), true, true);
            }
        }
        self.advance();
    }
}

/// What a permission for the session is about.
fn grant(call: &ToolCall, kind: ToolKind) -> (String, String) {
    match kind {
        ToolKind::Command => fingerprint(call),
        _ => (call.name.clone(), String::new()),
    }
}

fn declined(reason: Option<String>) -> String {
    match reason.filter(|reason| !reason.trim().is_empty()) {
        Some(reason) => format!("The user declined this call: {reason}"),
        None => "The user declined this call. Ask what to do instead, or find another way.".to_owned(),
    }
}

fn broken(text: &str) -> String {
    let mut start = text.to_owned();
    cut(&mut start, 500);
    format!(
        "Not run: the arguments are not a JSON object. Call it again with valid arguments. Received: {start}"
    )
}

/// Keeps the first so many bytes.
fn cut(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let dropped = text.len() - limit;
    let end = (0..=limit).rev().find(|index| text.is_char_boundary(*index)).unwrap_or_default();
    text.truncate(end);
    text.push_str(&format!("\n[{dropped} bytes more are left out]"));
}

fn kind_name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "reading",
        ToolKind::Change => "changes of files",
        ToolKind::Command => "commands",
        ToolKind::GitWrite => "writes to git",
        ToolKind::Network => "access to the network",
        ToolKind::Editor => "actions in the editor",
        ToolKind::Foreign => "tools of MCP servers",
        ToolKind::Spawn => "starting another agent",
    }
}
