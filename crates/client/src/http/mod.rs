//! HTTP with programs on this machine: addresses, single exchanges, and streams of events. Blocking; every step has
//! a deadline, every answer a limit. Knows nothing of what is said.

mod exchange;
mod loopback;
mod sse;

pub(crate) use exchange::{Answer, Caller, HttpError, Method, Request, Stop};
pub use loopback::{LoopbackUrl, LoopbackUrlError};
pub use sse::{Event, Events, EventsError};
