//! Turns numbers into things that happen. Every choice is made relative to the model as it is, so that
//! most steps mean something and a failing walk shrinks to a short one.

use std::collections::BTreeSet;

use linkspan_review::{
    AgentId, Comment, Decision, Digest, Effect, Event, LineNumber, Owner, Phase, Proposal, Review, ReviewEnd,
    ReviewId, Revision, Step, Text, Verdict, WindowId, WriteError, Writer,
};

use crate::{
    checks, files, followers,
    shell_model::{KEYS, ShellModel},
    transitions::Transition,
};

pub(crate) fn walk(steps: &[u32]) -> BTreeSet<Transition> {
    let mut model = ShellModel::new();
    for step in steps {
        take(&mut model, step & 63, step >> 6);
    }
    model.come_to_rest();
    model.crash(0, 0);
    model.come_to_rest();
    everybody_asks_again(&mut model);
    model.come_to_rest();
    model.seen
}

fn take(model: &mut ShellModel, what: u32, choice: u32) {
    match what {
        0..7 => propose(model, choice),
        7..9 => followers::ask_for_the_same(model, choice),
        22 => followers::leave(model, choice),
        23 => write_here(model, choice),
        24 => followers::hand_over(model, choice),
        9..25 => drop(model.record(!choice.is_multiple_of(8))),
        25..31 => {
            let rules = (choice & 6 == 2).then_some(choice >> 3);
            model.write(!choice.is_multiple_of(4), rules);
        }
        31..41 => decide(model, choice),
        41..44 => edit(model, choice),
        44..47 => files::touch(&mut model.files, choice),
        47..49 => deliver(model, choice),
        49..52 => ask_again(model, choice),
        52..54 => lose(model, choice, false),
        54 => lose(model, choice, true),
        55..57 => model.crash((choice & 7) as usize, (choice >> 3 & 3) as usize),
        57 => withdraw(model, choice),
        58 => supersede(model, choice),
        59 => expire(model, choice),
        60 => come_and_go(model, choice),
        61 => come_back(model, choice),
        62 => ask_again_early(model, choice),
        _ => nonsense(model, choice),
    }
}

/// One of the reviews there are, or now and then one that is not.
pub(crate) fn pick(model: &ShellModel, choice: u32) -> ReviewId {
    let count = model.state.reviews().count();
    let nth = choice as usize % (count + 1).max(8);
    model.state.reviews().nth(nth % (count + 1)).map_or(ReviewId(u64::from(choice)), |review| review.id)
}

pub(crate) fn pick_in(model: &ShellModel, choice: u32, wanted: impl Fn(&Review) -> bool) -> Option<ReviewId> {
    let ids: Vec<ReviewId> =
        model.state.reviews().filter(|review| wanted(review)).map(|review| review.id).collect();
    (!ids.is_empty()).then(|| ids[choice as usize % ids.len()])
}

fn propose(model: &mut ShellModel, choice: u32) {
    let path = files::path(choice >> 2);
    let text = model.files.get(&path).map_or("n\nm\n", |file| &file.text);
    let writer = match choice >> 5 & 7 {
        0..2 => Writer::Agent,
        2 => Writer::AgentAsProposed,
        3..6 => Writer::Hub,
        _ => Writer::Nobody,
    };
    let proposal = Proposal {
        owner: Owner { agent: AgentId(0), key: String::new() },
        window: WindowId(u64::from(choice >> 4 & 1)),
        set: None,
        label: path.display().to_string(),
        proposed: files::changed(text, choice >> 6),
        // Edits: what they make of the file may differ later.
        asked: (choice >> 20 & 7 == 5).then(|| Digest::of(&choice.to_le_bytes())),
        path,
        writer,
        // Given with the question where nobody writes; else the file's, whenever it is asked.
        base: (writer == Writer::Nobody).then(|| Text::utf8(files::changed(text, choice >> 9))),
        left: (choice >> 13).is_multiple_of(4).then(|| files::changed(text, choice >> 11).into()),
    };
    model.ask((choice & 3) as usize % KEYS.len(), proposal);
}

fn ask_again(model: &mut ShellModel, choice: u32) {
    // Lost agents come first, otherwise an answer would hardly ever be requested again.
    let lost = pick_in(model, choice, |review| review.owner.is_none());
    let Some((slot, proposal)) = lost.and_then(|id| asked_for(model, id)) else { return };
    model.ask(slot, proposal);
}

/// On a new connection, while the old one is not known to be lost.
fn ask_again_early(model: &mut ShellModel, choice: u32) {
    let undecided = |review: &Review| matches!(review.phase, Phase::Recording | Phase::Pending);
    let asked = pick_in(model, choice, |review| review.owner.is_some() && undecided(review));
    let Some((slot, proposal)) = asked.and_then(|id| asked_for(model, id)) else { return };
    let old = model.agents[slot].take();
    model.ask(slot, proposal);
    if let Some(old) = old {
        lost(model, old, false);
    }
}

/// What a repetition of this request has in common with it.
pub(crate) fn identifies(proposal: &Proposal) -> Digest {
    proposal.asked.unwrap_or_else(|| Digest::of(proposal.proposed.as_bytes()))
}

/// The proposal of this review, and its agent.
pub(crate) fn asked_for(model: &ShellModel, id: ReviewId) -> Option<(usize, Proposal)> {
    let review = model.state.review(id)?;
    let same = |asked: &&Proposal| {
        (&asked.owner.key, &asked.path, asked.window) == (&review.owner_key, &review.path, review.window)
            && asked.writer == review.writer
            && (asked.writer != Writer::Nobody || asked.base == review.base)
            && identifies(asked) == review.original
    };
    let proposal = model.asked.iter().rfind(same).cloned()?;
    let slot = KEYS.iter().position(|key| *key == proposal.owner.key)?;
    Some((slot, proposal))
}

/// Mostly the shown state, sometimes an earlier one; never one that was not shown.
fn seen_revision(model: &ShellModel, id: ReviewId, choice: u32) -> Option<Revision> {
    let mut seen: Vec<Revision> = model.shown.keys().filter(|key| key.0 == id).map(|key| key.1).collect();
    seen.sort();
    if choice.is_multiple_of(4) { seen.first().copied() } else { seen.last().copied() }
}

fn decide(model: &mut ShellModel, choice: u32) {
    let waiting = pick_in(model, choice, |review| review.phase == Phase::Pending);
    let id = waiting.filter(|_| !choice.is_multiple_of(8)).unwrap_or_else(|| pick(model, choice >> 3));
    let Some(revision) = seen_revision(model, id, choice >> 3) else { return };
    let (path, hunks, side) = model.state.review(id).map_or_else(
        || (files::path(choice), Vec::new(), String::new()),
        |review| (review.path.clone(), review.hunks(), review.side().to_owned()),
    );
    let choice = choice >> 5;
    let verdict = match choice & 7 {
        0..3 => Verdict::Accept,
        3 | 4 => {
            let bits = choice >> 3;
            let chosen = hunks.iter().enumerate().filter(|(index, _)| bits >> (index % 8) & 1 == 1);
            Verdict::AcceptHunks(chosen.map(|(_, hunk)| hunk.id).collect())
        }
        5 => Verdict::AcceptEdited(files::changed(&side, choice >> 3)),
        _ => Verdict::Reject { reason: (choice & 8 == 0).then(|| format!("no {choice}")) },
    };
    let comments = vec![Comment { line: LineNumber(choice & 15), text: "why?".to_owned() }];
    let decision = Decision { verdict, comments, write_here: choice & 16 != 0 };
    let base_now = model.files.get(&path).cloned();
    let surface = ShellModel::surface(choice >> 4);
    // The shown digest, one that was never shown, or none, as from older surfaces.
    let digest = match choice >> 6 & 3 {
        0 => None,
        1 => Some(Digest::of(b"something else")),
        _ => model.state.review(id).map(Review::shown_digest),
    };
    model.apply(Event::Decided { review: id, surface, revision, digest, decision, base_now });
}

fn edit(model: &mut ShellModel, choice: u32) {
    let Some(id) = pick_in(model, choice, |review| review.phase == Phase::Pending) else { return };
    let Some(revision) = seen_revision(model, id, choice >> 3) else { return };
    let text = files::changed(model.state.review(id).unwrap().side(), choice >> 5);
    model.apply(Event::Edited {
        review: id,
        surface: ShellModel::surface(choice),
        revision,
        digest: None,
        text,
    });
}

/// An agent confirms its answer. Occasionally one does that never received it.
fn deliver(model: &mut ShellModel, choice: u32) {
    let answered = model.answered.keys().nth(choice as usize % model.answered.len().max(1)).copied();
    let nobody = pick_in(model, choice, |review| review.owner.is_none());
    let Some(review) = answered.filter(|_| !choice.is_multiple_of(8)).or(nobody) else { return };
    model.answered.remove(&review);
    model.apply(Event::Delivered { review });
}

fn lose(model: &mut ShellModel, choice: u32, said_goodbye: bool) {
    let slot = choice as usize % KEYS.len();
    if let Some(agent) = model.agents[slot].take() {
        lost(model, agent, said_goodbye);
    }
}

fn lost(model: &mut ShellModel, agent: AgentId, said_goodbye: bool) {
    model.waiting.retain(|(_, waits)| *waits != agent);
    model.answered.retain(|_, (answered, _)| *answered != agent);
    followers::hand_over_all(model, agent);
    model.apply(Event::OwnerGone { agent, said_goodbye });
}

/// An agent that waits for all of its reviews without repeating them.
fn come_back(model: &mut ShellModel, choice: u32) {
    let slot = choice as usize % KEYS.len();
    let window = WindowId(u64::from(choice >> 2 & 1));
    let agent = model.agent(slot);
    let key = KEYS[slot].to_owned();
    let lost: Vec<Review> = model.state.reviews().filter(|review| review.owner.is_none()).cloned().collect();
    let effects = model.apply(Event::OwnerBack { agent, key, window });
    checks::all_it_asked_is_its_own_again(model, &lost, (KEYS[slot], window), &effects);
}

/// Its agent was to write it, and is told not to.
fn write_here(model: &mut ShellModel, choice: u32) {
    let left_to_agent = |review: &Review| {
        let accepted =
            review.outcome().is_some_and(|outcome| matches!(outcome.ended, ReviewEnd::Accepted(_)));
        let undelivered = matches!(review.phase, Phase::Settled { delivered: false, .. });
        review.writer == Writer::Agent && !review.written_here && accepted && undelivered
    };
    let fitting = pick_in(model, choice, left_to_agent);
    let id = fitting.filter(|_| !choice.is_multiple_of(8)).unwrap_or_else(|| pick(model, choice >> 3));
    let review = model.state.review(id).cloned();
    // Sometimes something that the file does not hold.
    let read = review.as_ref().filter(|_| !(choice >> 6).is_multiple_of(8));
    let path = read.map_or_else(|| files::path(choice >> 9), |review| review.path.clone());
    let base_now = model.files.get(&path).cloned();
    let is_possible = review.as_ref().is_some_and(left_to_agent);
    if let Some(agent) = review.as_ref().and_then(|review| review.owner).filter(|_| is_possible) {
        model.answered.remove(&id);
        model.waiting.insert((id, agent));
    }
    let effects = model.apply(Event::WriteHere { review: id, base_now });
    if !is_possible {
        assert_eq!((model.state.review(id), effects), (review.as_ref(), Vec::new()));
    }
}

fn withdraw(model: &mut ShellModel, choice: u32) {
    let id = pick(model, choice);
    model.apply(Event::Withdrawn { review: id });
}

fn supersede(model: &mut ShellModel, choice: u32) {
    let id = pick(model, choice);
    model.apply(Event::Superseded { review: id, by: ReviewId(u64::from(choice)) });
}

fn expire(model: &mut ShellModel, choice: u32) {
    let lost = pick_in(model, choice, |review| review.owner.is_none());
    let id = lost.filter(|_| !choice.is_multiple_of(8)).unwrap_or_else(|| pick(model, choice));
    model.apply(Event::Expired { review: id });
}

/// Closed tabs, closed windows, windows that come back: no review changes.
fn come_and_go(model: &mut ShellModel, choice: u32) {
    let before: Vec<Review> = model.state.reviews().cloned().collect();
    let window = WindowId(u64::from(choice >> 2 & 1));
    model.apply(match choice & 3 {
        0 => Event::SurfaceGone { surface: ShellModel::surface(choice >> 2) },
        1 => Event::WindowGone { window },
        _ => Event::WindowBack { window },
    });
    assert!(model.state.reviews().eq(&before));
}

/// Results that were not requested, and unknown ids.
fn nonsense(model: &mut ShellModel, choice: u32) {
    let review = pick(model, choice >> 4);
    let steps = [Step::Proposed, Step::Decided, Step::Written, Step::Ended, Step::Delivered];
    let step = steps[(choice >> 8) as usize % steps.len()];
    let expected = model.recording.iter().any(|(id, waits, _)| (*id, *waits) == (review, step));
    let writing = model.writing.iter().any(|(id, _)| *id == review);
    let event = match choice & 7 {
        0 | 1 if !expected => Event::Recorded { review, step },
        2 | 3 if !expected => Event::RecordFailed { review, step, error: "late".to_owned() },
        4 if !writing && choice & 8 == 0 => Event::SavedAs { review, text: "late".to_owned() },
        4 if !writing => Event::Written { review },
        5 if !writing => Event::WriteFailed { review, error: WriteError::BaseMoved(None) },
        6 if !writing => Event::WriteFailed { review, error: WriteError::Io("late".to_owned()) },
        7 => Event::OwnerGone { agent: AgentId(u64::MAX), said_goodbye: choice & 8 == 0 },
        _ => return,
    };
    let before: Vec<Review> = model.state.reviews().cloned().collect();
    assert_eq!(model.apply(event), Vec::<Effect>::new());
    assert!(model.state.reviews().eq(&before));
}

/// In the end every agent comes back and repeats the requests without an answer.
fn everybody_asks_again(model: &mut ShellModel) {
    let lost: Vec<Review> = model.state.reviews().filter(|review| review.owner.is_none()).cloned().collect();
    for review in lost.iter().rev() {
        // An identical request found it.
        if model.state.review(review.id).is_none_or(|now| now.owner.is_some()) {
            continue;
        }
        let asked = model.asked.iter().find(|asked| {
            (&asked.owner.key, &asked.path, asked.window) == (&review.owner_key, &review.path, review.window)
                && asked.writer == review.writer
                && (asked.writer != Writer::Nobody || asked.base == review.base)
                && identifies(asked) == review.original
        });
        let proposal = asked.expect("a review that nobody asked for").clone();
        let slot = KEYS.iter().position(|key| *key == proposal.owner.key).unwrap();
        // Equal edits that wait are one request, whatever an older connection asked.
        let waits_already = model.state.reviews().any(|other| {
            proposal.asked == Some(other.original)
                && other.owner.is_some_and(|owner| model.agents[slot] == Some(owner))
                && (&other.path, other.window, other.writer) == (&review.path, review.window, review.writer)
                && matches!(other.phase, Phase::Recording | Phase::Pending)
        });
        if waits_already {
            continue;
        }
        let now = match review.writer {
            Writer::Nobody => proposal.base.clone(),
            Writer::Agent | Writer::AgentAsProposed | Writer::Hub | Writer::AgentFirst => {
                model.files.get(&review.path).cloned()
            }
        };
        let effects = model.ask(slot, proposal);
        if effects.first() == Some(&Effect::Bound { review: review.id, agent: model.agent(slot) }) {
            checks::a_lost_answer_is_found_again(model, review, now.as_ref(), &effects);
        } else {
            checks::the_answer_no_longer_holds(review, now.as_ref());
        }
    }
}
