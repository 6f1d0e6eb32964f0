//! The promises, looked at after every single step.

use std::collections::BTreeSet;

use linkspan_review::{
    Accepted, Decided, Effect, Ended, Event, Format, Phase, Reply, Review, ReviewId, State, Step, Taken,
    Text, Verdict, WindowId, WriteError, Writer, compose, in_the_files_terms, merge,
};

use crate::{files, world::World};

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

/// A review going from one phase to another because of this.
pub(crate) type Place = (&'static str, Is, Is);

#[rustfmt::skip]
const MOVES: &[Place] = {
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

/// What else a walk must have met for the checks to mean anything.
#[rustfmt::skip]
const SIGHTS: &[Place] = {
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

pub(crate) fn places() -> impl Iterator<Item = Place> {
    MOVES.iter().chain(SIGHTS).copied()
}

fn is(review: Option<&Review>) -> Is {
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

fn name(event: &Event) -> &'static str {
    match event {
        Event::Proposed(_) => "proposed",
        Event::Recorded { step: Step::Proposed, .. } => "recorded Proposed",
        Event::Recorded { step: Step::Edited, .. } => "recorded Edited",
        Event::Recorded { step: Step::Rebased, .. } => "recorded Rebased",
        Event::Recorded { step: Step::Decided, .. } => "recorded Decided",
        Event::Recorded { step: Step::Written, .. } => "recorded Written",
        Event::Recorded { step: Step::Ended, .. } => "recorded Ended",
        Event::Recorded { step: Step::Delivered, .. } => "recorded Delivered",
        Event::RecordFailed { step: Step::Proposed, .. } => "not recorded Proposed",
        Event::RecordFailed { step: Step::Edited, .. } => "not recorded Edited",
        Event::RecordFailed { step: Step::Rebased, .. } => "not recorded Rebased",
        Event::RecordFailed { step: Step::Decided, .. } => "not recorded Decided",
        Event::RecordFailed { step: Step::Written, .. } => "not recorded Written",
        Event::RecordFailed { step: Step::Ended, .. } => "not recorded Ended",
        Event::RecordFailed { step: Step::Delivered, .. } => "not recorded Delivered",
        Event::Edited { .. } => "edited",
        Event::Decided { .. } => "decided",
        Event::Written { .. } => "written",
        Event::SavedAs { .. } => "saved as",
        Event::WriteFailed { error: WriteError::Io(_) | WriteError::Unknown(_), .. } => "not written",
        Event::WriteFailed { error: WriteError::BaseMoved(_), .. } => "base moved",
        Event::Withdrawn { .. } | Event::NotAwaited { .. } => "withdrawn",
        Event::Superseded { .. } => "superseded",
        Event::Delivered { .. } => "delivered",
        Event::OwnerGone { said_goodbye: true, .. } => "goodbye",
        Event::OwnerGone { said_goodbye: false, .. } => "socket lost",
        Event::OwnerBack { .. } => "owner back",
        Event::WindowGone { .. } => "window gone",
        Event::WindowBack { .. } => "window back",
        Event::SurfaceGone { .. } => "surface gone",
        Event::Expired { .. } => "expired",
    }
}

/// The one review an event speaks of, if it speaks of one.
fn about(event: &Event) -> Option<ReviewId> {
    match event {
        Event::Recorded { review, .. }
        | Event::RecordFailed { review, .. }
        | Event::Edited { review, .. }
        | Event::Decided { review, .. }
        | Event::Written { review }
        | Event::SavedAs { review, .. }
        | Event::WriteFailed { review, .. }
        | Event::Withdrawn { review }
        | Event::NotAwaited { review }
        | Event::Superseded { review, .. }
        | Event::Delivered { review }
        | Event::Expired { review } => Some(*review),
        Event::Proposed(_)
        | Event::OwnerGone { .. }
        | Event::OwnerBack { .. }
        | Event::WindowGone { .. }
        | Event::WindowBack { .. }
        | Event::SurfaceGone { .. } => None,
    }
}

/// Unless the same agent asks the same anew, and a person would lose nothing.
fn a_lost_socket_is_no_withdrawal(before: &State, lost: &Review) {
    let asked_anew = before.reviews().any(|other| {
        other.id > lost.id
            && other.owner.is_some()
            && other.owner != lost.owner
            && (&other.owner_key, other.window, &other.path, other.writer, other.original)
                == (&lost.owner_key, lost.window, &lost.path, lost.writer, lost.original)
            && (lost.writer != Writer::Nobody || other.base == lost.base)
    });
    assert!(asked_anew && lost.draft.is_none(), "{} ended though nobody asks it anew", lost.id);
}

pub(crate) fn step(world: &mut World, before: &State, event: &Event, effects: &[Effect]) {
    let name = name(event);
    let ids: BTreeSet<ReviewId> =
        before.reviews().chain(world.state.reviews()).map(|review| review.id).collect();
    for id in ids {
        let (was, now) = (before.review(id), world.state.review(id));
        if about(event).is_some_and(|about| about != id) {
            assert_eq!(was, now, "{name} of another review changed {id}");
            continue;
        }
        let place = (name, is(was), is(now));
        if place.1 != place.2 {
            assert!(MOVES.contains(&place), "{id} must not go this way: {place:?}");
            world.seen.insert(place);
            if let ("proposed", Some(was), Some(now)) = (name, was, now) {
                an_accept_is_asked_anew_only_for_a_file_that_moved(was, now);
                world.told.remove(&id);
            }
            if let ("socket lost", Some(was)) = (name, was) {
                a_lost_socket_is_no_withdrawal(before, was);
            }
        }
        if let (Some(was), Some(now)) = (was, now) {
            same_sight_same_revision(was, now);
            if let (Phase::Writing(decided), Phase::Settling(_)) = (&was.phase, &now.phase) {
                what_is_told_is_what_the_file_holds(world, decided, now);
            }
            if let (false, Phase::Deciding(decided)) = (matches!(was.phase, Phase::Deciding(_)), &now.phase) {
                the_decision_is_what_was_said(world, was, now, decided, event);
                let accepted = matches!(decided.outcome.ended, Ended::Accepted(_));
                if accepted && was.writer.is_agent() && was.phase == Phase::Pending {
                    let other = was.writer == Writer::AgentAsProposed && !is_as_proposed(now, decided);
                    assert_eq!(now.written_here, was.owner.is_none() || other, "accepted, and nobody writes");
                    if other && was.owner.is_some() {
                        world.seen.insert((
                            "written here, the agent would write more",
                            Is::Pending,
                            Is::Deciding,
                        ));
                    }
                    if now.written_here {
                        world.seen.insert(("written here", Is::Pending, Is::Deciding));
                    }
                }
                if was.writer == Writer::Nobody {
                    world.seen.insert(("compared", Is::Pending, Is::Deciding));
                }
                if was.left.is_some() {
                    world.seen.insert(("next to another file", Is::Pending, Is::Deciding));
                }
                if was.base != now.base {
                    world.seen.insert(("merged cleanly", Is::Pending, Is::Deciding));
                }
            }
        }
    }
    if let Event::Proposed(proposal) = event {
        let Some(Effect::Bound { review, agent }) = effects.first() else {
            panic!("a question without a name")
        };
        assert_eq!(*agent, proposal.owner.agent);
        let lost_question = before.reviews().any(|review| {
            review.owner.is_none()
                && matches!(review.phase, Phase::Recording | Phase::Pending)
                && (&review.owner_key, &review.path) == (&proposal.owner.key, &proposal.path)
                && (review.window, review.writer) == (proposal.window, proposal.writer)
                && (review.writer != Writer::Nobody || review.base == proposal.base)
                && review.original == linkspan_review::Digest::of(proposal.proposed.as_bytes())
        });
        let found = before.review(*review);
        assert!(found.is_some() || !lost_question, "the question was not found again");
        if let Some(found) = found {
            assert_eq!(found.owner, None, "a question was taken from an agent that is there");
            if let Phase::Settled { delivered, .. } = found.phase {
                assert!(!delivered && still_holds(found, proposal.base.as_ref()), "a stale answer");
            }
            let now = world.state.review(*review);
            if is(Some(found)) == is(now) {
                world.seen.insert(("found again", is(Some(found)), is(now)));
            }
            if now.is_some_and(|now| now.revision != found.revision) {
                world.seen.insert(("found again and moved", is(Some(found)), is(now)));
            }
        }
    }
    let owner = about(event).and_then(|id| before.review(id)).map(|review| review.owner);
    match event {
        Event::Expired { .. } if owner.flatten().is_some() => {
            assert!(effects.is_empty(), "its agent is there")
        }
        Event::Delivered { .. } if owner == Some(None) => assert!(effects.is_empty(), "delivered to nobody"),
        _ => {}
    }
    for effect in effects {
        an_effect_is_due(world, before, event, effect);
    }
}

fn same_sight_same_revision(was: &Review, now: &Review) {
    let sight =
        |review: &Review| (review.base.clone(), review.base_text().to_owned(), review.side().to_owned());
    if was.revision == now.revision {
        assert_eq!(sight(was), sight(now), "{} changed its looks and kept its revision", was.id);
    }
}

/// Works out by itself what a decision means, and compares to the byte.
fn the_decision_is_what_was_said(
    world: &World,
    was: &Review,
    now: &Review,
    decided: &Decided,
    event: &Event,
) {
    let (text, base_now) = match event {
        Event::Decided { surface, revision, digest, decision, base_now, .. } => {
            assert_eq!(was.phase, Phase::Pending);
            assert!(digest.is_none_or(|digest| digest == was.shown_digest()), "decided on other bytes");
            assert_eq!(decided.outcome.by, Some(*surface));
            let seen = world.shown.get(&(was.id, *revision)).expect("decided on what was never shown");
            assert_eq!((&was.base, was.side()), (&seen.0, seen.1.as_str()), "decided on something else");
            assert_eq!(was.base_text(), seen.2, "decided next to something else");
            let text = match &decision.verdict {
                Verdict::Reject { reason } => {
                    assert_eq!(decided.outcome.ended, Ended::Rejected { reason: reason.clone() });
                    return;
                }
                Verdict::Accept => was.side().to_owned(),
                Verdict::AcceptEdited(text) if was.writer == Writer::Nobody => text.clone(),
                Verdict::AcceptEdited(text) => in_the_files_terms(was.base.as_ref(), text).0,
                Verdict::AcceptHunks(chosen) => {
                    compose(was.base_text(), was.side(), &was.hunks(), |id| chosen.contains(id))
                }
            };
            // Whatever the file holds: the two texts were given.
            (text, if was.writer == Writer::Nobody { &was.base } else { base_now })
        }
        Event::WriteFailed { error: WriteError::BaseMoved(base_now), .. } => {
            let Phase::Writing(earlier) = &was.phase else { panic!("{:?}", was.phase) };
            assert_eq!(decided.outcome.by, earlier.outcome.by);
            (earlier.text.to_string(), base_now)
        }
        Event::Proposed(proposal) => {
            let Some(Ended::Accepted(accepted)) = outcome_of(was) else { panic!("{:?}", was.phase) };
            let unmarked = was.base.as_ref().is_none_or(|base| base.format == Format::UTF8);
            // A mark that such a file did not have is part of the text.
            let verbatim = String::from_utf8(accepted.bytes.to_vec()).ok().filter(|_| unmarked);
            let decode = || linkspan_review::decode(&accepted.bytes).unwrap().text.into_string();
            (verbatim.unwrap_or_else(decode), &proposal.base)
        }
        other => panic!("{other:?} is no decision"),
    };
    let Ended::Accepted(accepted) = &decided.outcome.ended else { panic!("{:?}", decided.outcome) };
    assert_eq!(now.base, *base_now, "the result is bound to something else than the file");
    let in_lf = |text: &str| text.replace("\r\n", "\n");
    if was.base == *base_now {
        assert_eq!(decided.text, text);
    } else {
        assert_eq!(was.left, None, "merged, and the user did not see what the file held");
        let (Some(base), Some(file)) = (&was.base, base_now) else {
            panic!("merged with a file that is not")
        };
        let merged = merge(&base.text, &file.text, &text);
        if !merged.conflicts.is_empty() || decided.text != merged.text {
            // Only a file that turned to CRLF is merged otherwise: as if all three spoke LF.
            assert!(!base.text.contains("\r\n") && !text.contains("\r\n") && file.text.contains("\r\n"));
            let merged = merge(&base.text, &in_lf(&file.text), &text);
            assert_eq!((in_lf(&decided.text), merged.conflicts), (merged.text, Vec::new()));
        }
    }
    let format = base_now.as_ref().map_or(Format::UTF8, |base| base.format);
    assert_eq!(accepted.bytes.as_slice(), format.encode(&decided.text).unwrap());
    let told = told_without_mark(now, accepted);
    assert_eq!(in_lf(told), in_lf(&decided.text));
    assert_eq!(accepted.new_file, base_now.is_none());
    let change = now.convention.for_agent(&now.proposed) != told;
    assert_eq!(accepted.person_diff.is_some(), change);
}

/// An agent that sends the file's byte order mark gets it back before the text.
fn told_without_mark<'a>(review: &Review, accepted: &'a Accepted) -> &'a str {
    let has_mark = review.base.as_ref().is_some_and(|base| base.format.has_bom());
    match review.marked && has_mark {
        true => accepted.text.strip_prefix('\u{feff}').expect("the mark is missing"),
        false => &accepted.text,
    }
}

/// Also where the editor's own rules for saving made something else of it.
fn what_is_told_is_what_the_file_holds(world: &World, decided: &Decided, now: &Review) {
    // A write that failed is told as such.
    let Some(Ended::Accepted(accepted)) = outcome_of(now) else { return };
    let file = &world.files[&now.path];
    assert_eq!(file.encode().unwrap(), accepted.bytes);
    let told = told_without_mark(now, accepted);
    assert_eq!(file.text.replace("\r\n", "\n"), told.replace("\r\n", "\n"));
    assert!(file.text == decided.text || accepted.taken == Taken::Edited);
    let change = now.convention.for_agent(&now.proposed) != told;
    assert_eq!(accepted.person_diff.is_some(), change);
}

/// The decision that the journal holds for this review, if it holds one.
fn on_record(world: &World, id: ReviewId) -> Option<(&Review, &Ended)> {
    let review = world.journal.get(&id)?;
    review.outcome().map(|outcome| (review, &outcome.ended))
}

/// Before anybody is told. A journal that could not say what became of the write knows of the decision.
fn is_recorded(world: &World, id: ReviewId, ended: &Ended) {
    let (_, recorded) = on_record(world, id).expect("told before it was recorded");
    let same = recorded == ended;
    let unsure =
        world.unsure.contains(&id) && matches!((recorded, ended), (Ended::Accepted(_), Ended::Accepted(_)));
    assert!(same || unsure, "{recorded:?} was recorded, {ended:?} is told");
}

fn an_effect_is_due(world: &mut World, before: &State, event: &Event, effect: &Effect) {
    match effect {
        Effect::Bound { .. } => assert!(matches!(event, Event::Proposed(_) | Event::OwnerBack { .. })),
        Effect::Record { review, .. } => assert!(world.state.review(*review).is_some()),
        Effect::Show { review } => {
            assert_eq!(world.state.review(*review).unwrap().phase, Phase::Pending);
            assert!(world.journal.contains_key(review), "shown before it was recorded");
        }
        Effect::Hide { review, .. } => {
            let was = before.review(*review).unwrap();
            let own_word = matches!(event, Event::RecordFailed { step: Step::Written | Step::Ended, .. });
            let recorded = on_record(world, *review).is_some_and(|(_, ended)| Some(ended) == outcome_of(was));
            assert!(recorded || own_word, "hidden before the end was recorded");
        }
        Effect::Reply { surface, review, reply } => match reply {
            Reply::Taken => {
                let ended = outcome_of(before.review(*review).unwrap()).unwrap();
                assert!(ended.by_a_person());
                is_recorded(world, *review, ended);
                assert_eq!(before.review(*review).unwrap().outcome().unwrap().by, Some(*surface));
                world.told.insert(*review, ended.clone());
            }
            Reply::AskAgain { .. } => {
                assert_eq!(world.state.review(*review).unwrap().phase, Phase::Pending);
                world.seen.insert(("asked again by the surface", Is::Pending, Is::Pending));
            }
            Reply::NobodyWaits => {
                let was = before.review(*review).unwrap();
                assert!(was.writer.is_agent() && was.owner.is_none(), "its agent would write it");
                match event {
                    // It left while the decision was recorded.
                    Event::Recorded { step: Step::Decided, .. } => {
                        assert_eq!(world.state.review(*review).unwrap().phase, Phase::Pending);
                    }
                    _ => assert_eq!(Some(was), world.state.review(*review)),
                }
                world.seen.insert(("refused, nobody waits", Is::Pending, Is::Pending));
            }
            Reply::Refused(_) if matches!(event, Event::Decided { .. }) => {
                assert_eq!(before.review(*review), world.state.review(*review));
                world.seen.insert(("refused", Is::Pending, Is::Pending));
            }
            _ => {}
        },
        Effect::Write { review, path, bytes, expect } => {
            assert!(matches!(event, Event::Recorded { step: Step::Decided, .. }), "a write after {event:?}");
            a_write_has_its_decision(world, *review, bytes);
            let recorded = &world.journal[review];
            assert_eq!((path, *expect), (&recorded.path, files::digest(recorded.base.as_ref())));
        }
        Effect::Answer { review, agent, outcome } => {
            assert!(world.agents.contains(&Some(*agent)), "an answer to nobody");
            if outcome.ended.by_a_person() {
                is_recorded(world, *review, &outcome.ended);
                world.told.insert(*review, outcome.ended.clone());
            }
        }
        Effect::Forget { review } => assert!(world.state.review(*review).is_none()),
    }
}

fn outcome_of(review: &Review) -> Option<&Ended> {
    review.outcome().map(|outcome| &outcome.ended)
}

/// An agent that runs its own tool would write exactly this.
fn is_as_proposed(review: &Review, decided: &Decided) -> bool {
    let Ended::Accepted(accepted) = &decided.outcome.ended else { return false };
    linkspan_review::Digest::of(&accepted.bytes) == review.original
}

fn a_write_has_its_decision(world: &World, id: ReviewId, bytes: &[u8]) {
    let (review, ended) = on_record(world, id).expect("a write without a recorded decision");
    let here = review.writer.is_agent() && review.written_here;
    assert!(review.writer == Writer::Editor || here, "two writers");
    let Ended::Accepted(Accepted { bytes: accepted, .. }) = ended else { panic!("a write of {ended:?}") };
    assert_eq!(bytes, accepted.as_slice());
}

pub(crate) fn restored(world: &mut World, effects: &[Effect]) {
    for (id, recorded) in &world.journal {
        let now = world.state.review(*id);
        world.seen.insert(("restored", is(Some(recorded)), is(now)));
        assert!(now.is_none_or(|now| now.owner.is_none() && now.outcome().is_none_or(|it| it.by.is_none())));
        if outcome_of(recorded).is_some_and(Ended::by_a_person) && is(Some(recorded)) != Is::Settled {
            assert_eq!(now.and_then(outcome_of), outcome_of(recorded), "a recorded decision got lost");
        }
    }
    for effect in effects {
        match effect {
            Effect::Write { review, bytes, .. } => a_write_has_its_decision(world, *review, bytes),
            Effect::Forget { review } => assert!(world.state.review(*review).is_none()),
            other => panic!("after a restart nobody is there for {other:?}"),
        }
    }
}

/// Whoever was told that a decision holds was told the truth.
pub(crate) fn nothing_is_lost(world: &World) {
    for (id, ended) in world.told.iter().filter(|(id, _)| !world.unsure.contains(id)) {
        let now = world.state.review(*id);
        assert_eq!(is(now), Is::Settled, "{id} was decided, and is open again");
        assert_eq!(now.and_then(outcome_of), Some(ended), "{id} was decided otherwise");
    }
}

pub(crate) fn at_rest(world: &World) {
    for review in world.state.reviews() {
        match &review.phase {
            Phase::Pending => {}
            Phase::Settled { delivered: false, .. } => {
                let waits = review.owner.is_some_and(|agent| world.waiting.contains(&(review.id, agent)));
                assert!(!waits, "{} is settled and its agent still waits", review.id);
            }
            other => panic!("{} never came to rest: {other:?}", review.id),
        }
    }
    for (id, agent) in &world.waiting {
        let review = world.state.review(*id).expect("an agent waits for nothing");
        assert_eq!((is(Some(review)), review.owner), (Is::Pending, Some(*agent)));
    }
}

/// An agent that lost its answer asked again.
pub(crate) fn a_lost_answer_is_found_again(
    world: &World,
    review: &Review,
    file: Option<&Text>,
    effects: &[Effect],
) {
    let accepted = matches!(outcome_of(review), Some(Ended::Accepted(_)));
    let agent_writes = review.writer.is_agent() && !review.written_here;
    if accepted && agent_writes && review.base.as_ref() != file {
        // The agent must not write over what others wrote: merged and recorded first, or asked again.
        let now = is(world.state.review(review.id));
        assert!(matches!(now, Is::Deciding | Is::Pending), "{} is {now:?}", review.id);
        return;
    }
    let answered = effects.iter().find_map(|effect| match effect {
        Effect::Answer { outcome, .. } => Some(&outcome.ended),
        _ => None,
    });
    assert_eq!(answered, outcome_of(review), "{} was decided and its agent does not hear it", review.id);
}

/// Nothing of an agent that came back is left without it, and what is another's stays so.
pub(crate) fn all_it_asked_is_its_own_again(
    world: &mut World,
    lost: &[Review],
    (key, window): (&str, WindowId),
    effects: &[Effect],
) {
    for review in lost {
        let delivered = matches!(review.phase, Phase::Settled { delivered: true, .. });
        let its_own = review.owner_key == key && review.window == window && !delivered;
        let now = world.state.review(review.id);
        assert_eq!(now.is_some_and(|now| now.owner.is_some()), its_own, "{}", review.id);
        let told = effects.iter().find_map(|effect| match effect {
            Effect::Answer { review: told, outcome, .. } if *told == review.id => Some(outcome),
            _ => None,
        });
        let decided = matches!(review.phase, Phase::Settled { .. });
        assert_eq!(told.map(|outcome| &outcome.ended), outcome_of(review).filter(|_| its_own && decided));
        if its_own && matches!(is(Some(review)), Is::Recording | Is::Pending | Is::Settled) {
            world.seen.insert(("owner back", is(Some(review)), is(Some(review))));
        }
    }
}

/// It got a new review instead: right only if the file is no longer what the person spoke about.
pub(crate) fn the_answer_no_longer_holds(review: &Review, now: Option<&Text>) {
    assert!(!review.is_open(), "{} waits and was not found again", review.id);
    assert!(!still_holds(review, now), "{} was decided and its agent does not hear it", review.id);
}

/// A written change that was taken back since is asked anew; every other decision answers its question.
fn still_holds(review: &Review, now: Option<&Text>) -> bool {
    match outcome_of(review) {
        Some(Ended::Accepted(accepted)) if review.writer == Writer::Editor || review.written_here => {
            let holds_it = now.is_some_and(|now| now.encode().unwrap() == accepted.bytes);
            holds_it || review.base.as_ref() != now
        }
        Some(Ended::Accepted(_) | Ended::Rejected { .. }) => true,
        _ => false,
    }
}

/// Its agent has not heard of it, and would write over what others wrote meanwhile.
fn an_accept_is_asked_anew_only_for_a_file_that_moved(was: &Review, now: &Review) {
    assert!(matches!(outcome_of(was), Some(Ended::Accepted(_))), "{:?}", was.phase);
    assert!(matches!(was.phase, Phase::Settled { delivered: false, .. }) && was.owner.is_none());
    assert!(was.writer.is_agent() && !was.written_here);
    assert_ne!(was.base, now.base);
}
