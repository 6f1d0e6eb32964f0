//! The limits of a conversation.

use std::time::Duration;

/// How much a conversation may do by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationLimits {
    /// Requests in one turn.
    pub rounds: u32,
    /// Attempts of one request, the first included.
    pub tries: u32,
    /// Pause before the second attempt; doubles with each further one.
    pub first_pause: Duration,
    /// How long a server may ask us to wait. With more, the turn ends and says when to try again.
    pub longest_pause: Duration,
    /// So many equal calls that fail in a row lead to a question.
    pub equal_failures: u32,
    /// Tokens that the model can read, if known.
    pub context_window: Option<u64>,
    /// How long the system prompt may take; then the last one is used.
    pub context_time: Duration,
    /// How long a cancelled tool may take to end; then its result is made up.
    pub stop_time: Duration,
    /// Calls in one answer.
    pub calls: usize,
    /// Calls that run at once.
    pub calls_at_once: usize,
    /// Bytes of one result.
    pub result_bytes: usize,
}

impl Default for ConversationLimits {
    fn default() -> ConversationLimits {
        ConversationLimits {
            rounds: 100,
            tries: 5,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(120),
            equal_failures: 3,
            context_window: None,
            context_time: Duration::from_secs(5),
            stop_time: Duration::from_secs(5),
            calls: 64,
            calls_at_once: 8,
            result_bytes: 256 * 1024,
        }
    }
}

impl ConversationLimits {
    /// The pause before the next attempt, after so many.
    pub(super) fn pause(&self, tries: u32) -> Duration {
        let doubled = 2u32.saturating_pow(tries.saturating_sub(1).min(16));
        self.first_pause.saturating_mul(doubled).min(self.longest_pause)
    }
}
