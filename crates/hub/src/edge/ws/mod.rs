//! WebSockets of agents, and the parts that the page's socket shares.
//!
//! Owns frames, pings and closing (`agent`), the budget for messages that are not complete (`inflight_budget`, and
//! `budgeted_stream` below each socket), and how fast a peer may send (`rate_limit`). Must not know what a message
//! means.
//!
//! Invariants: unfinished messages of all agents together stay within the budget; a peer that sends too fast is
//! slowed down, and no message of it is refused or lost for that.

pub(crate) mod agent;
pub(crate) mod budgeted_stream;
pub(crate) mod inflight_budget;
pub(crate) mod rate_limit;
