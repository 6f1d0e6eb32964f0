//! Base, proposal, the text of the file at the decision, and the accepted hunks: the written text is the merge of exactly
//! those hunks with the current file, or the user is asked again.

use linkspan_review::{
    AgentId, Decision, Effect, Event, HunkId, Owner, Phase, Proposal, Reply, ReviewEnd, ReviewId, State,
    Step, SurfaceId, Text, Verdict, WindowId, Writer, compose, merge,
};

use crate::texts;

const SURFACE: SurfaceId = SurfaceId(1);

pub(crate) fn run(data: &[u8]) {
    let Some([base, proposed, now, take]) = texts(data) else { return };
    let mut state = State::default();
    let Some(review) = propose(&mut state, base, proposed) else { return };
    let pending = state.review(review).expect("it was just proposed").clone();
    let hunks = pending.hunks();
    let wanted = hunks.iter().zip(take.bytes()).filter(|(_, byte)| byte & 1 == 1);
    let taken: Vec<HunkId> = wanted.map(|(hunk, _)| hunk.id).collect();
    let composed = compose(base, &pending.proposed, &hunks, |id| taken.contains(id));
    let expected = merge(base, &composed, now);
    if now == base {
        assert_eq!((expected.text.as_str(), expected.conflicts.len()), (composed.as_str(), 0));
    }
    if taken.is_empty() {
        assert_eq!((expected.text.as_str(), expected.conflicts.len()), (now, 0));
    }

    let effects = state.apply(Event::Decided {
        review,
        surface: SURFACE,
        revision: pending.revision,
        digest: Some(pending.shown_digest()),
        decision: Decision { verdict: Verdict::AcceptHunks(taken), comments: Vec::new(), write_here: false },
        base_now: Some(Text::utf8(now)),
    });
    let replies: Vec<&Reply> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Reply { reply, .. } => Some(reply),
            _ => None,
        })
        .collect();
    let decided = state.review(review).expect("no agent was notified of it yet");
    match &decided.phase {
        Phase::Deciding(decided) => {
            let ReviewEnd::Accepted(accepted) = &decided.outcome.ended else { return };
            assert!(replies.is_empty(), "{replies:?}");
            // A file whose line endings changed meanwhile has everything merged in its new ones.
            if now == base || ![base, proposed, now].iter().any(|text| text.contains('\r')) {
                assert!(expected.conflicts.is_empty(), "{:?}", expected.conflicts);
                assert_eq!(&*accepted.bytes, expected.text.as_bytes());
            }
        }
        // Only where both changed the same lines, or where nothing was taken.
        _ => assert_eq!(replies.len(), 1, "{replies:?}"),
    }
}

fn propose(state: &mut State, base: &str, proposed: &str) -> Option<ReviewId> {
    state.apply(Event::Proposed(Proposal {
        owner: Owner { agent: AgentId(1), key: "claude:one".to_owned() },
        window: WindowId(1),
        set: None,
        path: "/w/a".into(),
        label: String::new(),
        writer: Writer::Hub,
        base: Some(Text::utf8(base)),
        left: None,
        proposed: proposed.to_owned(),
        asked: None,
    }));
    let review = state.reviews().next()?.id;
    state.apply(Event::Recorded { review, step: Step::Proposed });
    state.review(review).filter(|review| review.phase == Phase::Pending).map(|review| review.id)
}
