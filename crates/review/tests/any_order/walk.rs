//! Turns numbers into things that happen. Every choice is made relative to the world as it is, so that
//! most steps mean something and a failing walk shrinks to a short one.

use std::collections::BTreeSet;

use linkspan_review::{
    AgentId, Comment, Decision, Digest, Effect, Event, LineNumber, Owner, Phase, Proposal, Review, ReviewId,
    Revision, Step, Text, Verdict, WindowId, WriteError, Writer,
};

use crate::{
    checks::{self, Place},
    files,
    world::{KEYS, World},
};

pub(crate) fn walk(steps: &[u32]) -> BTreeSet<Place> {
    let mut world = World::new();
    for step in steps {
        take(&mut world, step & 63, step >> 6);
    }
    world.come_to_rest();
    world.crash(0, 0);
    world.come_to_rest();
    everybody_asks_again(&mut world);
    world.come_to_rest();
    world.seen
}

fn take(world: &mut World, what: u32, choice: u32) {
    match what {
        0..9 => propose(world, choice),
        9..25 => drop(world.record(!choice.is_multiple_of(8))),
        25..31 => {
            let rules = (choice & 6 == 2).then_some(choice >> 3);
            world.write(!choice.is_multiple_of(4), rules);
        }
        31..41 => decide(world, choice),
        41..44 => edit(world, choice),
        44..47 => files::touch(&mut world.files, choice),
        47..49 => deliver(world, choice),
        49..52 => ask_again(world, choice),
        52..54 => lose(world, choice, false),
        54 => lose(world, choice, true),
        55..57 => world.crash((choice & 7) as usize, (choice >> 3 & 3) as usize),
        57 => withdraw(world, choice),
        58 => supersede(world, choice),
        59 => expire(world, choice),
        60 => come_and_go(world, choice),
        61 => come_back(world, choice),
        62 => ask_again_early(world, choice),
        _ => nonsense(world, choice),
    }
}

/// One of the reviews there are, or now and then one that is not.
fn pick(world: &World, choice: u32) -> ReviewId {
    let count = world.state.reviews().count();
    let nth = choice as usize % (count + 1).max(8);
    world.state.reviews().nth(nth % (count + 1)).map_or(ReviewId(u64::from(choice)), |review| review.id)
}

fn pick_in(world: &World, choice: u32, wanted: impl Fn(&Review) -> bool) -> Option<ReviewId> {
    let ids: Vec<ReviewId> =
        world.state.reviews().filter(|review| wanted(review)).map(|review| review.id).collect();
    (!ids.is_empty()).then(|| ids[choice as usize % ids.len()])
}

fn propose(world: &mut World, choice: u32) {
    let path = files::path(choice >> 2);
    let text = world.files.get(&path).map_or("n\nm\n", |file| &file.text);
    let writer = match choice >> 5 & 7 {
        0..2 => Writer::Agent,
        2 => Writer::AgentAsProposed,
        3..6 => Writer::Editor,
        _ => Writer::Nobody,
    };
    let proposal = Proposal {
        owner: Owner { agent: AgentId(0), key: String::new() },
        window: WindowId(u64::from(choice >> 4 & 1)),
        set: None,
        label: path.display().to_string(),
        proposed: files::changed(text, choice >> 6),
        asked: None,
        path,
        writer,
        // Given with the question where nobody writes; else the file's, whenever it is asked.
        base: (writer == Writer::Nobody).then(|| Text::utf8(files::changed(text, choice >> 9))),
        left: (choice >> 13).is_multiple_of(4).then(|| files::changed(text, choice >> 11).into()),
    };
    world.ask((choice & 3) as usize % KEYS.len(), proposal);
}

fn ask_again(world: &mut World, choice: u32) {
    // Those who were lost come first, else an answer would hardly ever be looked for.
    let lost = pick_in(world, choice, |review| review.owner.is_none());
    let Some((slot, proposal)) = lost.and_then(|id| asked_for(world, id)) else { return };
    world.ask(slot, proposal);
}

/// On a new connection, while the old one is not known to be lost.
fn ask_again_early(world: &mut World, choice: u32) {
    let undecided = |review: &Review| matches!(review.phase, Phase::Recording | Phase::Pending);
    let asked = pick_in(world, choice, |review| review.owner.is_some() && undecided(review));
    let Some((slot, proposal)) = asked.and_then(|id| asked_for(world, id)) else { return };
    let old = world.agents[slot].take();
    world.ask(slot, proposal);
    if let Some(old) = old {
        lost(world, old, false);
    }
}

/// What was asked for this review, and by whom.
fn asked_for(world: &World, id: ReviewId) -> Option<(usize, Proposal)> {
    let review = world.state.review(id)?;
    let same = |asked: &&Proposal| {
        (&asked.owner.key, &asked.path, asked.window) == (&review.owner_key, &review.path, review.window)
            && asked.writer == review.writer
            && (asked.writer != Writer::Nobody || asked.base == review.base)
            && Digest::of(asked.proposed.as_bytes()) == review.original
    };
    let proposal = world.asked.iter().rfind(same).cloned()?;
    let slot = KEYS.iter().position(|key| *key == proposal.owner.key)?;
    Some((slot, proposal))
}

/// Mostly what is shown now, sometimes what was shown before; never what nobody has seen.
fn seen_revision(world: &World, id: ReviewId, choice: u32) -> Option<Revision> {
    let mut seen: Vec<Revision> = world.shown.keys().filter(|key| key.0 == id).map(|key| key.1).collect();
    seen.sort();
    if choice.is_multiple_of(4) { seen.first().copied() } else { seen.last().copied() }
}

fn decide(world: &mut World, choice: u32) {
    let waiting = pick_in(world, choice, |review| review.phase == Phase::Pending);
    let id = waiting.filter(|_| !choice.is_multiple_of(8)).unwrap_or_else(|| pick(world, choice >> 3));
    let Some(revision) = seen_revision(world, id, choice >> 3) else { return };
    let (path, hunks, side) = world.state.review(id).map_or_else(
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
    let base_now = world.files.get(&path).cloned();
    let surface = World::surface(choice >> 4);
    // What it shows now, what nobody was shown, or nothing, as older surfaces say.
    let digest = match choice >> 6 & 3 {
        0 => None,
        1 => Some(Digest::of(b"something else")),
        _ => world.state.review(id).map(Review::shown_digest),
    };
    world.apply(Event::Decided { review: id, surface, revision, digest, decision, base_now });
}

fn edit(world: &mut World, choice: u32) {
    let Some(id) = pick_in(world, choice, |review| review.phase == Phase::Pending) else { return };
    let Some(revision) = seen_revision(world, id, choice >> 3) else { return };
    let text = files::changed(world.state.review(id).unwrap().side(), choice >> 5);
    world.apply(Event::Edited { review: id, surface: World::surface(choice), revision, digest: None, text });
}

/// An agent shows that it has its answer. Now and then one does that never got it.
fn deliver(world: &mut World, choice: u32) {
    let answered = world.answered.keys().nth(choice as usize % world.answered.len().max(1)).copied();
    let nobody = pick_in(world, choice, |review| review.owner.is_none());
    let Some(review) = answered.filter(|_| !choice.is_multiple_of(8)).or(nobody) else { return };
    world.answered.remove(&review);
    world.apply(Event::Delivered { review });
}

fn lose(world: &mut World, choice: u32, said_goodbye: bool) {
    let slot = choice as usize % KEYS.len();
    if let Some(agent) = world.agents[slot].take() {
        lost(world, agent, said_goodbye);
    }
}

fn lost(world: &mut World, agent: AgentId, said_goodbye: bool) {
    world.waiting.retain(|(_, waits)| *waits != agent);
    world.answered.retain(|_, (answered, _)| *answered != agent);
    world.apply(Event::OwnerGone { agent, said_goodbye });
}

/// An agent that waits for all it asked, without asking again.
fn come_back(world: &mut World, choice: u32) {
    let slot = choice as usize % KEYS.len();
    let window = WindowId(u64::from(choice >> 2 & 1));
    let agent = world.agent(slot);
    let key = KEYS[slot].to_owned();
    let lost: Vec<Review> = world.state.reviews().filter(|review| review.owner.is_none()).cloned().collect();
    let effects = world.apply(Event::OwnerBack { agent, key, window });
    checks::all_it_asked_is_its_own_again(world, &lost, (KEYS[slot], window), &effects);
}

fn withdraw(world: &mut World, choice: u32) {
    let id = pick(world, choice);
    world.apply(Event::Withdrawn { review: id });
}

fn supersede(world: &mut World, choice: u32) {
    let id = pick(world, choice);
    world.apply(Event::Superseded { review: id, by: ReviewId(u64::from(choice)) });
}

fn expire(world: &mut World, choice: u32) {
    let lost = pick_in(world, choice, |review| review.owner.is_none());
    let id = lost.filter(|_| !choice.is_multiple_of(8)).unwrap_or_else(|| pick(world, choice));
    world.apply(Event::Expired { review: id });
}

/// Closed tabs, closed windows, windows that come back: nothing about any review changes.
fn come_and_go(world: &mut World, choice: u32) {
    let before: Vec<Review> = world.state.reviews().cloned().collect();
    let window = WindowId(u64::from(choice >> 2 & 1));
    world.apply(match choice & 3 {
        0 => Event::SurfaceGone { surface: World::surface(choice >> 2) },
        1 => Event::WindowGone { window },
        _ => Event::WindowBack { window },
    });
    assert!(world.state.reviews().eq(&before));
}

/// Answers to questions nobody asked, and names nobody has.
fn nonsense(world: &mut World, choice: u32) {
    let review = pick(world, choice >> 4);
    let steps = [Step::Proposed, Step::Decided, Step::Written, Step::Ended, Step::Delivered];
    let step = steps[(choice >> 8) as usize % steps.len()];
    let expected = world.recording.iter().any(|(id, waits, _)| (*id, *waits) == (review, step));
    let writing = world.writing.iter().any(|(id, _)| *id == review);
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
    let before: Vec<Review> = world.state.reviews().cloned().collect();
    assert_eq!(world.apply(event), Vec::<Effect>::new());
    assert!(world.state.reviews().eq(&before));
}

/// In the end every agent comes back and asks for what it never heard.
fn everybody_asks_again(world: &mut World) {
    let lost: Vec<Review> = world.state.reviews().filter(|review| review.owner.is_none()).cloned().collect();
    for review in lost.iter().rev() {
        // Another question in the same words found it.
        if world.state.review(review.id).is_none_or(|now| now.owner.is_some()) {
            continue;
        }
        let asked = world.asked.iter().find(|asked| {
            (&asked.owner.key, &asked.path, asked.window) == (&review.owner_key, &review.path, review.window)
                && asked.writer == review.writer
                && (asked.writer != Writer::Nobody || asked.base == review.base)
                && Digest::of(asked.proposed.as_bytes()) == review.original
        });
        let proposal = asked.expect("a review that nobody asked for").clone();
        let slot = KEYS.iter().position(|key| *key == proposal.owner.key).unwrap();
        let now = match review.writer {
            Writer::Nobody => proposal.base.clone(),
            Writer::Agent | Writer::AgentAsProposed | Writer::Editor | Writer::AgentFirst => {
                world.files.get(&review.path).cloned()
            }
        };
        let effects = world.ask(slot, proposal);
        if effects.first() == Some(&Effect::Bound { review: review.id, agent: world.agent(slot) }) {
            checks::a_lost_answer_is_found_again(world, review, now.as_ref(), &effects);
        } else {
            checks::the_answer_no_longer_holds(review, now.as_ref());
        }
    }
}
