//! The promises, checked after every step.

use std::collections::BTreeSet;

use linkspan_review::{
    Accepted, AcceptedPart, Effect, Event, Format, Phase, Reply, ResolvedDecision, Review, ReviewEnd,
    ReviewId, State, Step, Text, Verdict, WindowId, WriteError, Writer, compose, merge, to_file_conventions,
};

use crate::event_names::{about, name};
use crate::{
    files,
    followers::{self, same_decision},
    shell_model::ShellModel,
    transitions::{Is, MOVES, Transition, is},
    walk::identifies,
};

/// Unless the same agent repeats the request, and the user would lose nothing.
fn a_lost_socket_is_no_withdrawal(before: &State, lost: &Review) {
    let asked_again = before.reviews().any(|other| {
        other.id > lost.id
            && other.owner.is_some()
            && other.owner != lost.owner
            && (&other.owner_key, other.window, &other.path, other.writer, other.original)
                == (&lost.owner_key, lost.window, &lost.path, lost.writer, lost.original)
            && (lost.writer != Writer::Nobody || other.base == lost.base)
    });
    assert!(asked_again && lost.draft.is_none(), "{} ended although it was not repeated", lost.id);
}

pub(crate) fn step(model: &mut ShellModel, before: &State, event: &Event, effects: &[Effect]) {
    let name = name(event);
    let ids: BTreeSet<ReviewId> =
        before.reviews().chain(model.state.reviews()).map(|review| review.id).collect();
    for id in ids {
        let (was, now) = (before.review(id), model.state.review(id));
        if about(event).is_some_and(|about| about != id) {
            assert_eq!(was, now, "{name} of another review changed {id}");
            continue;
        }
        let place = (name, is(was), is(now));
        if place.1 != place.2 {
            assert!(MOVES.contains(&place), "{id} must not go this way: {place:?}");
            model.seen.insert(place);
            if let ("proposed", Some(was), Some(now)) = (name, was, now) {
                an_accept_is_asked_again_only_for_a_file_that_moved(was, now);
                model.told.remove(&id);
            }
            if let ("write here", Some(was), Some(now)) = (name, was, now) {
                a_write_is_taken_over_from_an_agent_that_was_to_write(&mut model.seen, was, now);
                model.told.remove(&id);
            }
            if let ("socket lost", Some(was)) = (name, was) {
                a_lost_socket_is_no_withdrawal(before, was);
            }
        }
        if let (Some(was), Some(now)) = (was, now) {
            same_sight_same_revision(was, now);
            if let Event::HandedOver { to, waits, .. } = event {
                followers::nothing_else_changed(was, now, (to, *waits), effects);
                if was != now {
                    model.handed_over.insert(id);
                    model.seen.insert(("handed over", is(Some(now)), is(Some(now))));
                }
                if outcome_of(was) != outcome_of(now) {
                    model.seen.insert(("told in another form", is(Some(now)), is(Some(now))));
                }
                if let (Some(told), Some(ended)) = (model.told.get_mut(&id), outcome_of(now)) {
                    *told = ended.clone();
                }
            }
            if let (Phase::Writing(decided), Phase::Settling(_)) = (&was.phase, &now.phase) {
                what_is_told_is_what_the_file_holds(model, decided, now);
            }
            if let (false, Phase::Deciding(decided)) = (matches!(was.phase, Phase::Deciding(_)), &now.phase) {
                the_decision_is_what_was_said(model, was, now, decided, event);
                let accepted = matches!(decided.outcome.ended, ReviewEnd::Accepted(_));
                if accepted && was.writer.is_agent() && was.phase == Phase::Pending {
                    let other = was.writer == Writer::AgentAsProposed && !is_as_proposed(now, decided);
                    assert_eq!(now.written_here, was.owner.is_none() || other, "accepted, and nobody writes");
                    if other && was.owner.is_some() {
                        model.seen.insert((
                            "written here, the agent would write more",
                            Is::Pending,
                            Is::Deciding,
                        ));
                    }
                    if now.written_here {
                        model.seen.insert(("written here", Is::Pending, Is::Deciding));
                    }
                }
                if was.writer == Writer::Nobody {
                    model.seen.insert(("compared", Is::Pending, Is::Deciding));
                }
                if was.left.is_some() {
                    model.seen.insert(("next to another file", Is::Pending, Is::Deciding));
                }
                if was.base != now.base {
                    model.seen.insert(("merged cleanly", Is::Pending, Is::Deciding));
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
                && review.original == identifies(proposal)
        });
        let found = before.review(*review);
        assert!(found.is_some() || !lost_question, "the question was not found again");
        if let Some(found) = found {
            let repeats = proposal.asked.is_some()
                && found.owner == Some(*agent)
                && matches!(found.phase, Phase::Recording | Phase::Pending);
            assert!(repeats || found.owner.is_none(), "a question was taken from an agent that is there");
            if repeats {
                model.seen.insert(("repeated by its agent", is(Some(found)), is(Some(found))));
            }
            if let Phase::Settled { delivered, .. } = found.phase {
                assert!(!delivered && still_holds(found, proposal.base.as_ref()), "a stale answer");
            }
            let now = model.state.review(*review);
            if is(Some(found)) == is(now) {
                model.seen.insert(("found again", is(Some(found)), is(now)));
            }
            if now.is_some_and(|now| now.revision != found.revision) {
                model.seen.insert(("found again and moved", is(Some(found)), is(now)));
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
        an_effect_is_due(model, before, event, effect);
    }
}

fn same_sight_same_revision(was: &Review, now: &Review) {
    let sight =
        |review: &Review| (review.base.clone(), review.base_text().to_owned(), review.side().to_owned());
    if was.revision == now.revision {
        assert_eq!(sight(was), sight(now), "{} changed its looks and kept its revision", was.id);
    }
}

/// Computes the result of a decision independently, and compares it to the byte.
fn the_decision_is_what_was_said(
    model: &ShellModel,
    was: &Review,
    now: &Review,
    decided: &ResolvedDecision,
    event: &Event,
) {
    let (text, base_now) = match event {
        Event::Decided { surface, revision, digest, decision, base_now, .. } => {
            assert_eq!(was.phase, Phase::Pending);
            assert!(digest.is_none_or(|digest| digest == was.shown_digest()), "decided on other bytes");
            assert_eq!(decided.outcome.by, Some(*surface));
            let seen = model.shown.get(&(was.id, *revision)).expect("decided on what was never shown");
            assert_eq!((&was.base, was.side()), (&seen.0, seen.1.as_str()), "decided on something else");
            assert_eq!(was.base_text(), seen.2, "decided next to something else");
            let text = match &decision.verdict {
                Verdict::Reject { reason } => {
                    assert_eq!(decided.outcome.ended, ReviewEnd::Rejected { reason: reason.clone() });
                    return;
                }
                Verdict::Accept => was.side().to_owned(),
                Verdict::AcceptEdited(text) if was.writer == Writer::Nobody => text.clone(),
                Verdict::AcceptEdited(text) => to_file_conventions(was.base.as_ref(), text).0,
                Verdict::AcceptHunks(chosen) => {
                    compose(was.base_text(), was.side(), &was.hunks(), |id| chosen.contains(id))
                }
            };
            // Whatever the file holds: the two texts were given.
            (text, if was.writer == Writer::Nobody { &was.base } else { base_now })
        }
        Event::WriteFailed {
            error: error @ (WriteError::BaseMoved(base_now) | WriteError::InDoubt(base_now)),
            ..
        } => {
            let Phase::Writing(earlier) = &was.phase else { panic!("{:?}", was.phase) };
            assert_eq!(decided.outcome.by, earlier.outcome.by);
            if matches!(error, WriteError::InDoubt(_)) && was.held() != *base_now {
                assert_eq!(
                    Some(&*decided.text),
                    base_now.as_ref().map(|now| &*now.text),
                    "nothing is left to write"
                );
            }
            (earlier.text.to_string(), base_now)
        }
        Event::Proposed(proposal) => {
            let Some(ReviewEnd::Accepted(accepted)) = outcome_of(was) else { panic!("{:?}", was.phase) };
            (followers::file_text(was, accepted), &proposal.base)
        }
        Event::WriteHere { base_now, .. } => {
            let Some(ReviewEnd::Accepted(accepted)) = outcome_of(was) else { panic!("{:?}", was.phase) };
            assert_eq!(Some(decided.outcome.by), was.outcome().map(|outcome| outcome.by));
            (followers::file_text(was, accepted), base_now)
        }
        other => panic!("{other:?} is not a decision"),
    };
    let ReviewEnd::Accepted(accepted) = &decided.outcome.ended else { panic!("{:?}", decided.outcome) };
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
            // Only a file converted to CRLF is merged differently: as if all three texts used LF.
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
pub(crate) fn told_without_mark<'a>(review: &Review, accepted: &'a Accepted) -> &'a str {
    let has_mark = review.base.as_ref().is_some_and(|base| base.format.has_bom());
    match review.marked && has_mark {
        true => accepted.text.strip_prefix('\u{feff}').expect("the mark is missing"),
        false => &accepted.text,
    }
}

/// Also if the editor's own rules for saving changed the text.
fn what_is_told_is_what_the_file_holds(model: &ShellModel, decided: &ResolvedDecision, now: &Review) {
    // A failed write is reported as such.
    let Some(ReviewEnd::Accepted(accepted)) = outcome_of(now) else { return };
    let file = &model.files[&now.path];
    assert_eq!(file.encode().unwrap(), accepted.bytes);
    let told = told_without_mark(now, accepted);
    assert_eq!(file.text.replace("\r\n", "\n"), told.replace("\r\n", "\n"));
    assert!(file.text == decided.text || accepted.taken == AcceptedPart::Edited);
    let change = now.convention.for_agent(&now.proposed) != told;
    assert_eq!(accepted.person_diff.is_some(), change);
}

/// The decision that the journal holds for this review, if it holds one.
fn on_record(model: &ShellModel, id: ReviewId) -> Option<(&Review, &ReviewEnd)> {
    let review = model.journal.get(&id)?;
    review.outcome().map(|outcome| (review, &outcome.ended))
}

/// Before anyone is notified. A journal that could not record the result of the write still has the decision.
fn is_recorded(model: &ShellModel, id: ReviewId, ended: &ReviewEnd) {
    let (_, recorded) = on_record(model, id).expect("told before it was recorded");
    let same = same_decision(model, id, recorded, ended);
    let unsure = model.unsure.contains(&id)
        && matches!((recorded, ended), (ReviewEnd::Accepted(_), ReviewEnd::Accepted(_)));
    assert!(same || unsure, "{recorded:?} was recorded, {ended:?} is told");
}

fn an_effect_is_due(model: &mut ShellModel, before: &State, event: &Event, effect: &Effect) {
    match effect {
        Effect::Bound { .. } => assert!(matches!(event, Event::Proposed(_) | Event::OwnerBack { .. })),
        Effect::Record { review, .. } => assert!(model.state.review(*review).is_some()),
        Effect::Show { review } => {
            assert_eq!(model.state.review(*review).unwrap().phase, Phase::Pending);
            assert!(model.journal.contains_key(review), "shown before it was recorded");
        }
        Effect::Hide { review, .. } => {
            let was = before.review(*review).unwrap();
            let own_word = matches!(event, Event::RecordFailed { step: Step::Written | Step::Ended, .. });
            let recorded = on_record(model, *review).is_some_and(|(_, ended)| {
                outcome_of(was).is_some_and(|told| same_decision(model, *review, ended, told))
            });
            assert!(recorded || own_word, "hidden before the end was recorded");
        }
        Effect::Reply { surface, review, reply } => match reply {
            Reply::Taken => {
                let ended = outcome_of(before.review(*review).unwrap()).unwrap();
                assert!(ended.is_by_user());
                is_recorded(model, *review, ended);
                assert_eq!(before.review(*review).unwrap().outcome().unwrap().by, Some(*surface));
                model.told.insert(*review, ended.clone());
            }
            Reply::AskAgain { .. } => {
                assert_eq!(model.state.review(*review).unwrap().phase, Phase::Pending);
                model.seen.insert(("asked again by the surface", Is::Pending, Is::Pending));
            }
            Reply::AgentNotWaiting => {
                let was = before.review(*review).unwrap();
                assert!(was.writer.is_agent() && was.owner.is_none(), "its agent would write it");
                match event {
                    // It went away while the decision was recorded.
                    Event::Recorded { step: Step::Decided, .. } => {
                        assert_eq!(model.state.review(*review).unwrap().phase, Phase::Pending);
                    }
                    _ => assert_eq!(Some(was), model.state.review(*review)),
                }
                model.seen.insert(("refused, nobody waits", Is::Pending, Is::Pending));
            }
            Reply::Refused(_) if matches!(event, Event::Decided { .. }) => {
                assert_eq!(before.review(*review), model.state.review(*review));
                model.seen.insert(("refused", Is::Pending, Is::Pending));
            }
            _ => {}
        },
        Effect::Write { review, path, bytes, expect } => {
            assert!(matches!(event, Event::Recorded { step: Step::Decided, .. }), "a write after {event:?}");
            a_write_has_its_decision(model, *review, bytes);
            let recorded = &model.journal[review];
            assert_eq!((path, *expect), (&recorded.path, files::digest(recorded.base.as_ref())));
        }
        Effect::Answer { review, agent, outcome } => {
            assert!(model.agents.contains(&Some(*agent)), "an answer to nobody");
            if outcome.ended.is_by_user() {
                is_recorded(model, *review, &outcome.ended);
                model.told.insert(*review, outcome.ended.clone());
            }
        }
        Effect::Forget { review } => assert!(model.state.review(*review).is_none()),
    }
}

fn outcome_of(review: &Review) -> Option<&ReviewEnd> {
    review.outcome().map(|outcome| &outcome.ended)
}

/// An agent that runs its own tool would write exactly this.
fn is_as_proposed(review: &Review, decided: &ResolvedDecision) -> bool {
    let ReviewEnd::Accepted(accepted) = &decided.outcome.ended else { return false };
    linkspan_review::Digest::of(&accepted.bytes) == review.original
}

fn a_write_has_its_decision(model: &ShellModel, id: ReviewId, bytes: &[u8]) {
    let (review, ended) = on_record(model, id).expect("a write without a recorded decision");
    let here = review.writer.is_agent() && review.written_here;
    assert!(review.writer == Writer::Hub || here, "two writers");
    let ReviewEnd::Accepted(Accepted { bytes: accepted, .. }) = ended else { panic!("a write of {ended:?}") };
    assert_eq!(bytes, accepted.as_slice());
}

pub(crate) fn restored(model: &mut ShellModel, effects: &[Effect]) {
    for (id, recorded) in &model.journal {
        let now = model.state.review(*id);
        model.seen.insert(("restored", is(Some(recorded)), is(now)));
        assert!(now.is_none_or(|now| now.owner.is_none() && now.outcome().is_none_or(|it| it.by.is_none())));
        if outcome_of(recorded).is_some_and(ReviewEnd::is_by_user) && is(Some(recorded)) != Is::Settled {
            assert_eq!(now.and_then(outcome_of), outcome_of(recorded), "a recorded decision got lost");
        }
    }
    for effect in effects {
        match effect {
            Effect::Write { review, bytes, .. } => a_write_has_its_decision(model, *review, bytes),
            Effect::Forget { review } => assert!(model.state.review(*review).is_none()),
            other => panic!("after a restart nobody is there for {other:?}"),
        }
    }
}

/// A surface that was told that its decision is accepted was told the truth.
pub(crate) fn nothing_is_lost(model: &ShellModel) {
    for (id, ended) in model.told.iter().filter(|(id, _)| !model.unsure.contains(id)) {
        let now = model.state.review(*id);
        assert_eq!(is(now), Is::Settled, "{id} was decided, and is open again");
        let same = now.and_then(outcome_of).is_some_and(|now| same_decision(model, *id, now, ended));
        assert!(same, "{id} was decided otherwise: {ended:?}, and not {now:?}");
    }
}

pub(crate) fn at_rest(model: &ShellModel) {
    for review in model.state.reviews() {
        match &review.phase {
            Phase::Pending => {}
            Phase::Settled { delivered: false, .. } => {
                let waits = review.owner.is_some_and(|agent| model.waiting.contains(&(review.id, agent)));
                assert!(!waits, "{} is settled and its agent still waits", review.id);
            }
            other => panic!("{} never came to rest: {other:?}", review.id),
        }
    }
    for (id, agent) in &model.waiting {
        let review = model.state.review(*id).expect("an agent waits for nothing");
        assert_eq!(is(Some(review)), Is::Pending);
        let follows = review.owner.is_some() && model.followers.contains_key(&(*id, *agent));
        assert!(review.owner == Some(*agent) || follows, "{agent} would not be answered");
    }
}

/// An agent that lost its answer asked again.
pub(crate) fn a_lost_answer_is_found_again(
    model: &ShellModel,
    review: &Review,
    file: Option<&Text>,
    effects: &[Effect],
) {
    let accepted = matches!(outcome_of(review), Some(ReviewEnd::Accepted(_)));
    let agent_writes = review.writer.is_agent() && !review.written_here;
    if accepted && agent_writes && review.base.as_ref() != file {
        // The agent must not overwrite changes by others: merged and recorded first, or asked again.
        let now = is(model.state.review(review.id));
        assert!(matches!(now, Is::Deciding | Is::Pending), "{} is {now:?}", review.id);
        return;
    }
    let answered = effects.iter().find_map(|effect| match effect {
        Effect::Answer { outcome, .. } => Some(&outcome.ended),
        _ => None,
    });
    assert_eq!(answered, outcome_of(review), "{} was decided and its agent does not hear it", review.id);
}

/// All reviews of an agent that came back are bound to it, and those of other agents are not.
pub(crate) fn all_it_asked_is_its_own_again(
    model: &mut ShellModel,
    lost: &[Review],
    (key, window): (&str, WindowId),
    effects: &[Effect],
) {
    for review in lost {
        let delivered = matches!(review.phase, Phase::Settled { delivered: true, .. });
        let its_own = review.owner_key == key && review.window == window && !delivered;
        let now = model.state.review(review.id);
        assert_eq!(now.is_some_and(|now| now.owner.is_some()), its_own, "{}", review.id);
        let told = effects.iter().find_map(|effect| match effect {
            Effect::Answer { review: told, outcome, .. } if *told == review.id => Some(outcome),
            _ => None,
        });
        let decided = matches!(review.phase, Phase::Settled { .. });
        assert_eq!(told.map(|outcome| &outcome.ended), outcome_of(review).filter(|_| its_own && decided));
        if its_own && matches!(is(Some(review)), Is::Recording | Is::Pending | Is::Settled) {
            model.seen.insert(("owner back", is(Some(review)), is(Some(review))));
        }
    }
}

/// It got a new review instead: correct only if the file is no longer what the user decided about.
pub(crate) fn the_answer_no_longer_holds(review: &Review, now: Option<&Text>) {
    assert!(!review.is_open(), "{} waits and was not found again", review.id);
    assert!(!still_holds(review, now), "{} was decided and its agent does not hear it", review.id);
}

/// A written change that was reverted since is a new request; every other decision answers its request.
fn still_holds(review: &Review, now: Option<&Text>) -> bool {
    match outcome_of(review) {
        Some(ReviewEnd::Accepted(accepted)) if review.writer == Writer::Hub || review.written_here => {
            let holds_it = now.is_some_and(|now| now.encode().unwrap() == accepted.bytes);
            holds_it || review.base.as_ref() != now
        }
        Some(ReviewEnd::Accepted(_) | ReviewEnd::Rejected { .. }) => true,
        _ => false,
    }
}

/// Its agent has not received it, and would overwrite changes that others made in the meantime.
fn an_accept_is_asked_again_only_for_a_file_that_moved(was: &Review, now: &Review) {
    assert!(matches!(outcome_of(was), Some(ReviewEnd::Accepted(_))), "{:?}", was.phase);
    assert!(matches!(was.phase, Phase::Settled { delivered: false, .. }) && was.owner.is_none());
    assert!(was.writer.is_agent() && !was.written_here);
    assert_ne!(was.base, now.base);
}

/// The user's decision stands: the hub only writes it in place of its agent.
fn a_write_is_taken_over_from_an_agent_that_was_to_write(
    seen: &mut BTreeSet<Transition>,
    was: &Review,
    now: &Review,
) {
    assert!(matches!(outcome_of(was), Some(ReviewEnd::Accepted(_))), "{:?}", was.phase);
    assert!(matches!(was.phase, Phase::Settled { delivered: false, .. }));
    assert!(was.writer == Writer::Agent && !was.written_here);
    assert_eq!(was.owner, now.owner);
    if now.phase == Phase::Pending {
        assert_ne!(was.base, now.base, "asked again about the same");
        assert!(!now.written_here);
        return;
    }
    assert!(now.written_here, "nobody writes");
    let sight = if was.owner.is_some() { "taken over" } else { "taken over, its agent is gone" };
    seen.insert((sight, Is::Settled, Is::Deciding));
    if was.base != now.base {
        seen.insert(("taken over and merged", Is::Settled, Is::Deciding));
    }
}
