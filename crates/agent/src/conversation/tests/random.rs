//! Any order of events keeps the promises of a conversation: each call has exactly one result before the next request,
//! there is one request at a time, each question is closed once, and everything is recorded before it is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::stage::*;
use crate::conversation::*;
use crate::message::{CallArguments, ChatMessage, ModelCall, ToolResult, Usage};
use crate::models::{ModelError, ModelEvent, StopReason};
use crate::permissions::PermissionMode;

/// What may happen; numbers choose among what is open, so that most events fit.
#[derive(Debug, Clone)]
enum Step {
    Prompt,
    Text,
    Call {
        tool: usize,
        path: usize,
        broken: bool,
    },
    Usage(u64),
    Done(usize),
    Fails {
        kind: usize,
    },
    ToolDone {
        which: usize,
        is_error: bool,
        cancelled: bool,
    },
    Answered {
        which: usize,
        answer: usize,
    },
    Context,
    Cancel,
    Compact,
    Clear,
    Mode(usize),
    Tools(bool),
    Tick(u64),
    /// An event that belongs to nothing that is open.
    Stray(usize),
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Prompt),
        4 => Just(Step::Text),
        8 => (0..6usize, 0..3usize, prop::bool::weighted(0.1))
            .prop_map(|(tool, path, broken)| Step::Call { tool, path, broken }),
        2 => (0..200_000u64).prop_map(Step::Usage),
        8 => (0..8usize).prop_map(Step::Done),
        2 => (0..6usize).prop_map(|kind| Step::Fails { kind }),
        14 => (0..9usize, any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(which, is_error, cancelled)| Step::ToolDone { which, is_error, cancelled }),
        8 => (0..9usize, 0..4usize).prop_map(|(which, answer)| Step::Answered { which, answer }),
        14 => Just(Step::Context),
        2 => Just(Step::Cancel),
        1 => Just(Step::Compact),
        1 => Just(Step::Clear),
        1 => (0..3usize).prop_map(Step::Mode),
        1 => any::<bool>().prop_map(Step::Tools),
        4 => (0..10_000u64).prop_map(Step::Tick),
        2 => (0..5usize).prop_map(Step::Stray),
        1 => Just(Step::Kill),
    ]
}

/// The message list is one that every API accepts.
#[track_caller]
pub(super) fn assert_valid(messages: &[ChatMessage]) {
    let mut ids = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let next = messages.get(index + 1);
        match message {
            ChatMessage::Assistant { text, calls } => {
                assert!(!text.is_empty() || !calls.is_empty(), "an empty answer at {index}");
                let wanted: Vec<_> = calls.iter().map(|call| &call.id).collect();
                for id in &wanted {
                    assert!(ids.insert((*id).clone()), "{id} is there twice");
                }
                match next {
                    Some(ChatMessage::Tools { results }) => {
                        let found: Vec<_> = results.iter().map(|result| &result.call_id).collect();
                        assert_eq!(found, wanted);
                    }
                    // The batch may still run.
                    None => {}
                    Some(_) => assert!(wanted.is_empty(), "{wanted:?} have no results in {messages:#?}"),
                }
            }
            ChatMessage::Tools { .. } => {
                let before = index.checked_sub(1).and_then(|index| messages.get(index));
                let follows =
                    matches!(before, Some(ChatMessage::Assistant { calls, .. }) if !calls.is_empty());
                assert!(follows, "results without calls at {index} in {messages:#?}");
            }
            ChatMessage::User { .. } => {}
            ChatMessage::Summary { .. } => assert_eq!(index, 0),
        }
    }
}

#[derive(Default)]
struct World {
    request: Option<u64>,
    running: Vec<String>,
    questions: Vec<QuestionId>,
    asked: BTreeSet<QuestionId>,
    results: BTreeMap<String, usize>,
    records: Vec<Record>,
    turns: i32,
    calls: usize,
}

impl World {
    fn carry_out(&mut self, actions: &[ConversationAction]) {
        for action in actions {
            match action {
                ConversationAction::Save(record) => {
                    if let Record::Finished { result } = record {
                        *self.results.entry(result.call_id.clone()).or_default() += 1;
                        assert_eq!(self.results[&result.call_id], 1, "{} has two results", result.call_id);
                    }
                    self.records.push(record.clone());
                }
                ConversationAction::Request { request, body } => {
                    assert_eq!(self.request, None, "two requests at a time");
                    assert!(self.running.is_empty() && self.questions.is_empty());
                    self.request = Some(*request);
                    assert_valid(&body.messages);
                    assert!(
                        !matches!(body.messages.last(), Some(ChatMessage::Assistant { calls, .. }) if !calls.is_empty())
                    );
                    if !body.tools.is_empty() {
                        // The file holds now what the model is sent.
                        let restored = AgentConversation::restore(settings(), self.records.clone());
                        assert_eq!(restored.messages(), body.messages);
                    }
                }
                ConversationAction::Abandon { request } => assert_eq!(self.request.take(), Some(*request)),
                ConversationAction::Run { call, .. } => {
                    let recorded = Record::Running { call_id: call.id.clone() };
                    assert!(self.records.contains(&recorded), "{} runs unrecorded", call.id);
                    assert!(!self.running.contains(&call.id), "{} runs twice", call.id);
                    self.running.push(call.id.clone());
                }
                ConversationAction::Stop { call_id } => assert!(self.running.contains(call_id)),
                ConversationAction::Ask { question, .. } => {
                    assert!(self.asked.insert(*question), "{question:?} was asked before");
                    self.questions.push(*question);
                }
                ConversationAction::CloseQuestion { question } => {
                    let open = self.questions.iter().position(|open| open == question);
                    self.questions.remove(open.expect("a question is closed once"));
                }
                ConversationAction::Show(TurnEvent::Started) => {
                    self.turns += 1;
                    assert_eq!(self.turns, 1, "two turns at a time");
                }
                ConversationAction::Show(TurnEvent::Ended { .. }) => {
                    self.turns -= 1;
                    assert_eq!(self.turns, 0, "an end without a turn");
                    assert!(self.questions.is_empty() && self.request.is_none());
                    // Tools that did not end are forgotten.
                    self.running.clear();
                }
                ConversationAction::RefreshContext
                | ConversationAction::Wake { .. }
                | ConversationAction::Show(_) => {}
            }
        }
    }

    fn event(&mut self, step: &Step) -> Option<Event> {
        let model = |world: &World, event| world.request.map(|request| Event::Model { request, event });
        Some(match step {
            Step::Prompt => Event::Prompt { text: "prompt".to_owned(), attachments: Vec::new() },
            Step::Text => model(self, ModelEvent::Text("text".to_owned()))?,
            Step::Call { tool, path, broken } => {
                let names =
                    ["read_file", "edit_file", "run_command", "git_commit", "no_such_tool", "read_file"];
                self.calls += 1;
                let id = if self.calls.is_multiple_of(5) {
                    String::new()
                } else {
                    format!("c{}", self.calls % 40)
                };
                let arguments = json!({ "path": path.to_string() });
                let arguments = if *broken {
                    CallArguments::Broken("{".to_owned())
                } else {
                    CallArguments::Json(arguments)
                };
                let name = names[*tool].to_owned();
                model(self, ModelEvent::Call(ModelCall { id, name, arguments, opaque: None }))?
            }
            Step::Usage(input) => model(self, ModelEvent::Usage(Usage { input: *input, output: 1 }))?,
            Step::Done(reason) => {
                let reason = [StopReason::Length, StopReason::Refusal].get(*reason).copied();
                let event = model(self, ModelEvent::Done(reason.unwrap_or(StopReason::End)))?;
                self.request = None;
                event
            }
            Step::Fails { kind } => {
                let request = self.request.take()?;
                let message = "failed".to_owned();
                let error = match kind {
                    0 => ModelError::Permanent { message, too_long: false },
                    1 | 2 => ModelError::Permanent { message, too_long: true },
                    _ => ModelError::Transient { message, retry_after: None },
                };
                Event::ModelFailed { request, error }
            }
            Step::ToolDone { which, is_error, cancelled } => {
                let which = which % self.running.len().max(1);
                let call_id = self.running.get(which)?.clone();
                self.running.remove(which);
                let (is_error, cancelled) = (*is_error, *cancelled);
                Event::ToolDone { result: ToolResult { is_error, cancelled, ..result(&call_id, "out") } }
            }
            Step::Answered { which, answer } => {
                let question = *self.questions.get(which % self.questions.len().max(1))?;
                let no = Answer::No { reason: None };
                let answer = [Answer::Once, Answer::Session, no.clone(), no][*answer].clone();
                Event::Answered { question, answer }
            }
            Step::Context => Event::Context { system: "system".to_owned() },
            Step::Cancel => Event::Cancel,
            Step::Compact => Event::Compact,
            Step::Clear => Event::Clear,
            Step::Mode(mode) => Event::Mode(PermissionMode::ALL[*mode]),
            Step::Tools(some) => Event::Tools(if *some { tools() } else { ToolTable::default() }),
            Step::Tick(_) => Event::Tick,
            Step::Stray(0) => Event::ToolDone { result: result("nobody", "x") },
            Step::Stray(1) => Event::Answered { question: QuestionId(77_777), answer: Answer::Once },
            Step::Stray(2) => Event::ModelFailed { request: 77_777, error: transient("x") },
            Step::Stray(_) => Event::Model { request: 77_777, event: ModelEvent::Done(StopReason::End) },
            Step::Kill => return None,
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_events_keeps_the_promises(steps in prop::collection::vec(step(), 1..150)) {
        let limits = ConversationLimits { rounds: 8, context_window: Some(100_000), ..ConversationLimits::default() };
        let settings = Settings { limits, ..settings() };
        let mut conversation = AgentConversation::new(settings.clone());
        let mut world = World::default();
        let mut now = Duration::ZERO;
        for step in steps {
            if let Step::Kill = step {
                conversation = AgentConversation::restore(settings.clone(), world.records.clone());
                let records = std::mem::take(&mut world.records);
                let results = std::mem::take(&mut world.results);
                world = World { records, results, calls: world.calls, ..World::default() };
                let actions = conversation.resume(now);
                world.carry_out(&actions);
                continue;
            }
            if let Step::Tick(time) = step {
                now += Duration::from_millis(time);
            }
            let Some(event) = world.event(&step) else { continue };
            let actions = conversation.handle(now, event);
            world.carry_out(&actions);
            assert_valid(conversation.messages());
            assert_eq!(conversation.open_questions(), world.questions.len());
            assert_eq!(conversation.is_busy(), world.turns == 1);
        }
    }
}
