//! For scripts and programs: events as they happen, any tool of an editor, an editor extension's connection to the hub,
//! and transcripts of what agents and editors send.

pub(crate) mod attach;
pub(crate) mod call;
pub(crate) mod conform;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod tools;
pub(crate) mod watch;
