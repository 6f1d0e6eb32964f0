//! Set-up: trying Linkspan, running it without an editor, finding out what does not work, and the program's own files.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod hub;
pub(crate) mod man;
pub(crate) mod reference;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod try_it;
