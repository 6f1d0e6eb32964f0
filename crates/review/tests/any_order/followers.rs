//! Agents that ask for the change of another agent's review. They wait for it too, as in the hub, and its review passes on
//! to one of them; here also when that makes no sense.

use linkspan_review::{
    Accepted, AgentId, Effect, Event, Follower, Format, Outcome, Owner, Phase, Proposal, ResolvedDecision,
    Review, ReviewEnd, ReviewId, State, Step, WindowId, Writer, unified,
};

use crate::checks::told_without_mark;
use crate::shell_model::{KEYS, ShellModel};
use crate::transitions::is;
use crate::walk::{asked_for, identifies, pick, pick_in};

/// What an agent would send for the change of this review, in its own form.
fn same_change(model: &ShellModel, id: ReviewId, slot: usize, choice: u32) -> Option<Proposal> {
    let review = model.state.review(id)?;
    let proposed = match choice & 7 {
        0 | 1 => asked_for(model, id)?.1.proposed,
        2 | 3 => review.as_sent(&review.proposed).into_owned(),
        4 => format!("\u{feff}{}", &*review.proposed),
        5 => review.proposed.to_string(),
        _ => review.proposed.replace("\r\n", "\n"),
    };
    Some(Proposal {
        owner: Owner { agent: model.agents[slot]?, key: KEYS[slot].to_owned() },
        // Sometimes another window, where it is another change.
        window: if choice & 0x1f8 == 0 { WindowId(review.window.0 ^ 1) } else { review.window },
        set: None,
        path: review.path.clone(),
        label: review.label.clone(),
        writer: review.writer,
        base: model.files.get(&review.path).cloned(),
        left: None,
        proposed,
        asked: None,
    })
}

/// As a hook and an editor protocol of one agent do.
pub(crate) fn ask_for_the_same(model: &mut ShellModel, choice: u32) {
    let Some(id) = pick_in(model, choice, |review| review.writer == Writer::Agent) else { return };
    let slot = (choice >> 3) as usize % KEYS.len();
    model.agent(slot);
    let Some(proposal) = same_change(model, id, slot, choice >> 5) else { return };
    let same = model.state.find_same_change(&proposal);
    match same.filter(|_| model.state.find_repeated(&proposal).is_none()) {
        Some(same) => follow(model, slot, proposal, same),
        None => drop(model.ask(slot, proposal)),
    }
}

fn follow(model: &mut ShellModel, slot: usize, proposal: Proposal, id: ReviewId) {
    let agent = proposal.owner.agent;
    let review = model.state.review(id).expect("the same as nothing").clone();
    it_is_the_same_change(&review, &proposal);
    let phase = is(Some(&review));
    let to = Follower::of(&proposal);
    if review.owner.is_none() {
        model.apply(Event::HandedOver { review: id, to, waits: false });
        let effects = model.ask(slot, proposal);
        assert_eq!(
            effects.first(),
            Some(&Effect::Bound { review: id, agent }),
            "it was handed over for that"
        );
        model.seen.insert(("handed over to ask", phase, phase));
        return;
    }
    model.seen.insert(("followed", phase, phase));
    model.asked.push(proposal);
    match &review.phase {
        Phase::Settled { outcome, .. } => an_answer_has_the_form_of_its_agent(&review, &to, outcome),
        _ => {
            model.waiting.insert((id, agent));
            model.followers.insert((id, agent), to);
        }
    }
}

/// The outcome has been sent to the owner. It is also sent to all who asked for the same.
pub(crate) fn answer_all(model: &mut ShellModel, id: ReviewId, outcome: &Outcome) {
    let followers: Vec<(ReviewId, AgentId)> =
        model.waiting.iter().filter(|(waits_for, _)| *waits_for == id).copied().collect();
    for key in followers {
        model.waiting.remove(&key);
        let follower = model.followers.remove(&key).expect("waits for a review and did not ask");
        if let Some(review) = model.state.review(id) {
            an_answer_has_the_form_of_its_agent(review, &follower, outcome);
        }
    }
}

/// This agent is gone: what others wait for belongs to one of them.
pub(crate) fn hand_over_all(model: &mut ShellModel, agent: AgentId) {
    model.followers.retain(|(_, follower), _| *follower != agent);
    let owned = model.state.reviews().filter(|review| review.owner == Some(agent) && review.is_open());
    for review in owned.map(|review| review.id).collect::<Vec<_>>() {
        let heir = model.waiting.iter().find(|(waits_for, _)| *waits_for == review).copied();
        if let Some(to) = heir.and_then(|heir| model.followers.remove(&heir)) {
            model.apply(Event::HandedOver { review, to, waits: true });
        }
    }
}

/// An agent no longer waits, and stays connected. Others may wait for the same.
pub(crate) fn leave(model: &mut ShellModel, choice: u32) {
    let Some((id, agent)) = model.waiting.iter().nth(choice as usize % model.waiting.len().max(1)).copied()
    else {
        return;
    };
    let review = model.state.review(id).expect("an agent waits for nothing").clone();
    let heir = model.waiting.iter().find(|(of, other)| *of == id && *other != agent).copied();
    match heir {
        Some(heir) => {
            model.waiting.remove(&(id, agent));
            model.followers.remove(&(id, agent));
            if review.owner == Some(agent) {
                let to = model.followers.remove(&heir).expect("waits for a review and did not ask");
                model.apply(Event::HandedOver { review: id, to, waits: true });
                model.seen.insert(("left to another", is(Some(&review)), is(Some(&review))));
            }
        }
        // An outcome that is certain is still sent.
        None if matches!(review.phase, Phase::Recording | Phase::Pending | Phase::Deciding(_)) => {
            model.waiting.remove(&(id, agent));
            model.apply(Event::NotAwaited { review: id });
            model.seen.insert(("not awaited", is(Some(&review)), is(model.state.review(id))));
        }
        None => {}
    }
}

/// For no reason: in any phase, from an owner that is there, and to an agent that then does not ask.
pub(crate) fn hand_over(model: &mut ShellModel, choice: u32) {
    let decided =
        pick_in(model, choice, |review| review.writer == Writer::Agent && review.outcome().is_some());
    let id = decided.filter(|_| choice & 0x40 == 0).unwrap_or_else(|| pick(model, choice));
    let slot = (choice >> 3) as usize % KEYS.len();
    let agent = model.agent(slot);
    let waits = choice & 0x20 != 0;
    let Some(review) = model.state.review(id).cloned() else {
        let Some(other) = model.state.reviews().next() else { return };
        let to = Follower::of_owner(other, agent);
        assert_eq!(model.apply(Event::HandedOver { review: id, to, waits }), Vec::new());
        return;
    };
    let Some(proposal) = same_change(model, id, slot, choice >> 7) else { return };
    let proposal = Proposal { window: review.window, ..proposal };
    let is_possible = can_pass_on(&review);
    if is_possible {
        model.asked.push(proposal.clone());
        model.followers.remove(&(id, agent));
        if let Some(owner) =
            review.owner.filter(|owner| *owner != agent && model.waiting.contains(&(id, *owner)))
        {
            model.followers.insert((id, owner), Follower::of_owner(&review, owner));
        }
        if waits {
            model.waiting.insert((id, agent));
        } else {
            // The shell does that only if the agent asks at once: nobody could answer these.
            model.waiting.retain(|(waits_for, _)| *waits_for != id);
            model.followers.retain(|(of, _), _| *of != id);
            model.answered.remove(&id);
        }
    }
    model.apply(Event::HandedOver { review: id, to: Follower::of(&proposal), waits });
    if !is_possible {
        assert_eq!(model.state.review(id), Some(&review));
    }
}

/// Only an agent that writes what it is told can take the place of another, and only before the outcome has arrived.
fn can_pass_on(review: &Review) -> bool {
    review.writer == Writer::Agent && !matches!(review.phase, Phase::Settled { delivered: true, .. })
}

fn it_is_the_same_change(review: &Review, proposal: &Proposal) {
    assert_eq!((&review.path, review.window), (&proposal.path, proposal.window));
    assert_ne!(review.owner_key, proposal.owner.key, "an agent follows itself");
    assert!(can_pass_on(review) && !review.written_here && review.left.is_none());
    let by_user = review.outcome().is_none_or(|outcome| outcome.ended.is_by_user());
    assert!(by_user, "followed, and nobody decides it");
    if review.outcome().is_some() {
        assert_eq!(review.base, proposal.base, "the user decided about something else");
    }
    let in_lf = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let as_sent = identifies(proposal) == review.original;
    assert!(as_sent || in_lf(&review.proposed) == in_lf(&proposal.proposed), "another change");
}

/// The accepted bytes as text.
pub(crate) fn file_text(review: &Review, accepted: &Accepted) -> String {
    let unmarked = review.base.as_ref().is_none_or(|base| base.format == Format::UTF8);
    // A mark that such a file did not have is part of the text.
    let verbatim = String::from_utf8(accepted.bytes.to_vec()).ok().filter(|_| unmarked);
    let decode = || linkspan_review::decode(&accepted.bytes).unwrap().text.into_string();
    verbatim.unwrap_or_else(decode)
}

fn an_answer_has_the_form_of_its_agent(review: &Review, follower: &Follower, outcome: &Outcome) {
    let ReviewEnd::Accepted(accepted) = &outcome.ended else { return };
    let mut as_owner = State::restore(vec![review.clone()], 1).0;
    as_owner.apply(Event::HandedOver { review: review.id, to: follower.clone(), waits: false });
    let told = follower.accepted(review, accepted);
    let review = as_owner.review(review.id).expect("it was handed over");
    assert_eq!(told_without_mark(review, &told), review.convention.for_agent(&file_text(review, &told)));
}

/// Nothing but who waits for it and in which form.
pub(crate) fn nothing_else_changed(
    was: &Review,
    now: &Review,
    (to, waits): (&Follower, bool),
    effects: &[Effect],
) {
    if !can_pass_on(was) {
        assert_eq!((was, effects), (now, &[][..]), "it cannot pass on");
        return;
    }
    let (original, convention, marked) = (now.original, now.convention, now.marked);
    let owner = waits.then_some(to.owner.agent);
    let owner_key = to.owner.key.clone();
    let phase = in_the_form_of(now, &was.phase);
    let expected = Review { owner, owner_key, original, convention, marked, phase, ..was.clone() };
    assert_eq!(*now, expected);
    let review = now.id;
    let due = match &now.phase {
        // Otherwise it would belong to the earlier agent after a restart.
        Phase::Recording | Phase::Pending => Some(Effect::Record { review, step: Step::Rebased }),
        Phase::Settled { outcome, .. } => {
            owner.map(|agent| Effect::Answer { review, agent, outcome: (**outcome).clone() })
        }
        _ => None,
    };
    assert_eq!(effects, due.as_slice());
}

fn in_the_form_of(now: &Review, phase: &Phase) -> Phase {
    let with_text = |outcome: &Outcome| {
        let (ReviewEnd::Accepted(accepted), Some(ReviewEnd::Accepted(told))) =
            (&outcome.ended, now.outcome().map(|outcome| &outcome.ended))
        else {
            return outcome.clone();
        };
        let text = told_without_mark(now, told);
        assert_eq!(text, now.convention.for_agent(&file_text(now, accepted)));
        let proposed = now.convention.for_agent(&now.proposed);
        let change = (proposed != text).then(|| unified(&proposed, text, "proposed", "accepted", 3));
        assert_eq!(told.person_diff, change, "not the user's change of what this agent proposed");
        let (text, person_diff) = (told.text.clone(), told.person_diff.clone());
        let ended = ReviewEnd::Accepted(Accepted { text, person_diff, ..accepted.clone() });
        Outcome { ended, ..outcome.clone() }
    };
    let decision = |decided: &ResolvedDecision| {
        Box::new(ResolvedDecision { outcome: with_text(&decided.outcome), text: decided.text.clone() })
    };
    match phase {
        Phase::Recording => Phase::Recording,
        Phase::Pending => Phase::Pending,
        Phase::Deciding(decided) => Phase::Deciding(decision(decided)),
        Phase::Writing(decided) => Phase::Writing(decision(decided)),
        Phase::Settling(outcome) => Phase::Settling(Box::new(with_text(outcome))),
        Phase::Settled { outcome, delivered } => {
            Phase::Settled { outcome: Box::new(with_text(outcome)), delivered: *delivered }
        }
    }
}

/// The same decision. If the review was handed over, it may be in the form of another agent.
pub(crate) fn same_decision(model: &ShellModel, id: ReviewId, one: &ReviewEnd, other: &ReviewEnd) -> bool {
    let without_form = |ended: &ReviewEnd| match ended {
        ReviewEnd::Accepted(accepted) => {
            let (text, person_diff) = (String::new().into(), None);
            ReviewEnd::Accepted(Accepted { text, person_diff, ..accepted.clone() })
        }
        other => other.clone(),
    };
    one == other || (model.handed_over.contains(&id) && without_form(one) == without_form(other))
}
