//! The editor: which window is used, and what it has open, selected and diagnosed. These commands connect to a window as
//! an agent does, so they work with every editor that agents can find, not only with windows of the hub.

pub(crate) mod close;
pub(crate) mod context;
pub(crate) mod diagnostics;
pub(crate) mod dirty;
pub(crate) mod editors;
pub(crate) mod folders;
pub(crate) mod ide;
pub(crate) mod open;
pub(crate) mod save;
pub(crate) mod selection;
