//! Changes, hunks, decisions and merging: data in, data out.
//!
//! Nothing in this crate does I/O, reads a clock, serialises or awaits. That is what lets the property
//! tests try every order of events.

mod compose;
mod decision;
mod diff;
mod digest;
mod endings;
mod format;
mod hunk;
mod ids;
mod landed;
mod lines;
mod merge;
mod outcome;
mod proposal;
mod review;
mod shared;
mod splice;
mod state;
mod text;
mod unified;
mod unsplice;
mod words;

pub use compose::compose;
pub use decision::{Comment, Decision, Verdict};
pub use digest::{Digest, NoDigest};
pub use endings::{Convention, adopt_endings, same_endings};
pub use format::Format;
pub use hunk::{Hunk, HunkId, HunkIdError, hunks};
pub use ids::{AgentId, ChangeId, ReviewId, Revision, SetId, SurfaceId, WindowId};
pub use landed::{Landed, landed};
pub use lines::{LineIndex, LineNumber, line_starts};
pub use merge::{Conflict, Merge, merge};
pub use outcome::{Accepted, Ended, Outcome, Taken};
pub use proposal::{Owner, Proposal, Writer};
pub use review::{Decided, Phase, Review};
pub use shared::{SharedBytes, SharedText};
pub use splice::{Place, Splice, SpliceError, splice};
pub use state::{Effect, Event, HideReason, Reply, State, Step, WriteError, in_the_files_terms};
pub use text::{Text, TextError, decode, decode_owned};
pub use unified::unified;
pub use unsplice::{digest_of_splices, unsplice};
pub use words::WordChange;
