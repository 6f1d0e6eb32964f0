//! Changes, hunks, decisions and merging: data in, data out. `State::apply(event) -> effects` is the life of all
//! reviews; the other modules are the functions on texts that it needs.
//!
//! Nothing in this crate does I/O, reads a clock, serialises or awaits. That lets the property tests try every order of
//! events.

mod compose;
mod decision;
mod diff;
mod digest;
mod endings;
mod format;
mod hunk;
mod ids;
mod line_edits;
mod lines;
mod merge;
mod outcome;
mod proposal;
mod review;
mod shared;
mod splice;
mod splice_revert;
mod state;
mod text;
mod unified;
mod words;
mod written_content;

pub use compose::compose;
pub use decision::{Comment, Decision, Verdict};
pub use digest::{Digest, DigestError};
pub use endings::{Convention, adopt_endings, same_endings};
pub use format::Format;
pub use hunk::{Hunk, HunkId, HunkIdError, hunks};
pub use ids::{AgentId, ChangeId, ReviewId, Revision, SetId, SurfaceId, WindowId};
pub use line_edits::{LineEdit, line_edits};
pub use lines::{LineIndex, LineNumber, line_starts};
pub use merge::{Conflict, Merge, merge};
pub use outcome::{Accepted, AcceptedPart, Outcome, ReviewEnd};
pub use proposal::{Owner, Proposal, Writer};
pub use review::{Phase, ResolvedDecision, Review};
pub use shared::{SharedBytes, SharedText};
pub use splice::{Splice, SpliceError, TextPosition, splice};
pub use splice_revert::{revert_splices, splices_digest};
pub use state::{Effect, Event, Follower, HideReason, Reply, State, Step, WriteError, to_file_conventions};
pub use text::{Text, TextError, decode, decode_owned};
pub use unified::unified;
pub use words::WordChange;
pub use written_content::{WrittenContent, compare_written};
