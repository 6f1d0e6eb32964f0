//! HTTP with programs on this machine: addresses, single exchanges that can be stopped, and streams of events.
//! Blocking; every step has a deadline, every answer a size limit. Must not know what the messages mean.

mod exchange;
mod loopback;
mod sse;

pub(crate) use exchange::{HttpCaller, HttpError, HttpMethod, HttpRequest, HttpResponse, StopHandle};
pub use loopback::{LoopbackUrl, LoopbackUrlError};
pub use sse::{Event, Events, EventsError};
