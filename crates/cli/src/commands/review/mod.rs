//! Reviews: listing, showing and deciding them, proposing a change (`diff`), and the changes that were made (`history`,
//! `undo`). `linkspan review` is in `terminal_reviewer`.

pub(crate) mod accept;
pub(crate) mod accepted_text;
pub(crate) mod decision;
pub(crate) mod diff;
pub(crate) mod history;
pub(crate) mod page;
pub(crate) mod reject;
mod render_diff;
pub(crate) mod review_args;
pub(crate) mod reviews;
pub(crate) mod show;
pub(crate) mod terminal_reviewer;
pub(crate) mod undo;
