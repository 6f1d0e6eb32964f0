//! One conversation, pure: `Conversation::handle(now, event)` returns actions. Owns the messages, the running turn with
//! its tool calls, permissions, cancellation, retries and compaction. Does no I/O and reads no clock.

mod event;

pub use event::{Action, Answer, Event, Question, QuestionId, Record, Shown, TurnEnd};
