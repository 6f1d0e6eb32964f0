//! The phases of a review, and the transitions and situations that walks must reach.

use linkspan_review::{Phase, Review};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Is {
    Absent,
    Recording,
    Pending,
    Deciding,
    Writing,
    Settling,
    Settled,
}

/// A transition of a review from one phase to another, with its cause.
pub(crate) type Transition = (&'static str, Is, Is);

#[rustfmt::skip]
pub(crate) const MOVES: &[Transition] = {
    use Is::*;
    &[
        ("proposed", Absent, Recording),
        ("proposed", Settled, Deciding),
        ("proposed", Settled, Pending),
        ("recorded Proposed", Recording, Pending),
        ("recorded Decided", Deciding, Pending),
        ("recorded Decided", Deciding, Writing),
        ("recorded Decided", Deciding, Settled),
        ("recorded Written", Settling, Settled),
        ("recorded Ended", Settling, Settled),
        ("recorded Ended", Settling, Absent),
        ("recorded Delivered", Settled, Absent),
        ("not recorded Proposed", Recording, Absent),
        ("not recorded Decided", Deciding, Pending),
        ("not recorded Written", Settling, Settled),
        ("not recorded Ended", Settling, Pending),
        ("not recorded Ended", Settling, Absent),
        ("not recorded Delivered", Settled, Absent),
        ("decided", Pending, Deciding),
        ("written", Writing, Settling),
        ("saved as", Writing, Settling),
        ("not written", Writing, Settling),
        ("base moved", Writing, Deciding),
        ("base moved", Writing, Pending),
        ("write here", Settled, Deciding),
        ("write here", Settled, Pending),
        ("withdrawn", Recording, Settling),
        ("withdrawn", Pending, Settling),
        ("superseded", Recording, Settling),
        ("superseded", Pending, Settling),
        ("goodbye", Recording, Settling),
        ("goodbye", Pending, Settling),
        ("socket lost", Recording, Settling),
        ("socket lost", Pending, Settling),
        ("expired", Recording, Settling),
        ("expired", Pending, Settling),
    ]
};

/// Other situations that walks must reach for the checks to mean anything.
#[rustfmt::skip]
const SIGHTS: &[Transition] = {
    use Is::*;
    &[
        ("asked again by the surface", Pending, Pending),
        ("refused", Pending, Pending),
        ("merged cleanly", Pending, Deciding),
        ("compared", Pending, Deciding),
        ("next to another file", Pending, Deciding),
        ("found again", Recording, Recording),
        ("found again", Pending, Pending),
        ("found again and moved", Pending, Pending),
        ("found again", Deciding, Deciding),
        ("found again", Writing, Writing),
        ("found again", Settling, Settling),
        ("found again", Settled, Settled),
        ("refused, nobody waits", Pending, Pending),
        ("written here", Pending, Deciding),
        ("written here, the agent would write more", Pending, Deciding),
        ("taken over", Settled, Deciding),
        ("taken over, its agent is gone", Settled, Deciding),
        ("taken over and merged", Settled, Deciding),
        ("followed", Recording, Recording),
        ("followed", Pending, Pending),
        ("followed", Deciding, Deciding),
        ("followed", Settled, Settled),
        ("handed over to ask", Recording, Recording),
        ("handed over to ask", Pending, Pending),
        ("handed over to ask", Deciding, Deciding),
        ("handed over to ask", Settled, Settled),
        ("handed over", Recording, Recording),
        ("handed over", Pending, Pending),
        ("handed over", Deciding, Deciding),
        ("handed over", Writing, Writing),
        ("handed over", Settling, Settling),
        ("handed over", Settled, Settled),
        ("left to another", Recording, Recording),
        ("left to another", Pending, Pending),
        ("left to another", Deciding, Deciding),
        ("not awaited", Recording, Settling),
        ("not awaited", Pending, Settling),
        ("not awaited", Deciding, Deciding),
        ("repeated by its agent", Recording, Recording),
        ("repeated by its agent", Pending, Pending),
        ("told in another form", Deciding, Deciding),
        ("told in another form", Settled, Settled),
        ("owner back", Recording, Recording),
        ("owner back", Pending, Pending),
        ("owner back", Settled, Settled),
        ("restored", Recording, Pending),
        ("restored", Pending, Pending),
        ("restored", Deciding, Writing),
        ("restored", Deciding, Settled),
        ("restored", Settling, Settled),
        ("restored", Settling, Absent),
        ("restored", Settled, Absent),
    ]
};

pub(crate) fn transitions() -> impl Iterator<Item = Transition> {
    MOVES.iter().chain(SIGHTS).copied()
}

pub(crate) fn is(review: Option<&Review>) -> Is {
    match review.map(|review| &review.phase) {
        None => Is::Absent,
        Some(Phase::Recording) => Is::Recording,
        Some(Phase::Pending) => Is::Pending,
        Some(Phase::Deciding(_)) => Is::Deciding,
        Some(Phase::Writing(_)) => Is::Writing,
        Some(Phase::Settling(_)) => Is::Settling,
        Some(Phase::Settled { .. }) => Is::Settled,
    }
}
