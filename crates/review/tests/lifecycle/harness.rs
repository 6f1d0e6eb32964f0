//! A harness for one review at a time: the shortest way to write down what happens to it.

use linkspan_review::{
    Accepted, AgentId, Comment, Decision, Digest, Effect, Event, LineNumber, Outcome, Owner, Phase, Proposal,
    Reply, Review, ReviewEnd, ReviewId, Revision, State, Step, SurfaceId, Text, Verdict, WindowId, Writer,
};

pub(crate) const AGENT: AgentId = AgentId(1);
pub(crate) const AGENT_BACK: AgentId = AgentId(2);
pub(crate) const ID: ReviewId = ReviewId(1);
pub(crate) const HERE: SurfaceId = SurfaceId(7);
pub(crate) const THERE: SurfaceId = SurfaceId(8);
pub(crate) const SHOW: Effect = Effect::Show { review: ID };
pub(crate) const FORGET: Effect = Effect::Forget { review: ID };
pub(crate) const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
/// Two hunks away from `BASE`.
pub(crate) const PROPOSED: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n";

pub(crate) fn text(text: &str) -> Option<Text> {
    Some(Text::utf8(text))
}

pub(crate) fn record(step: Step) -> Effect {
    Effect::Record { review: ID, step }
}

pub(crate) fn reply(surface: SurfaceId, reply: Reply) -> Effect {
    Effect::Reply { surface, review: ID, reply }
}

pub(crate) fn proposal(writer: Writer, base: Option<Text>, proposed: &str) -> Proposal {
    Proposal {
        owner: Owner { agent: AGENT, key: "claude:claude-code".to_owned() },
        window: WindowId(1),
        set: None,
        path: "/w/src/mod.rs".into(),
        label: "mod.rs".to_owned(),
        writer,
        base,
        left: None,
        proposed: proposed.to_owned(),
        asked: None,
    }
}

pub(crate) fn reject() -> Verdict {
    Verdict::Reject { reason: Some("no".to_owned()) }
}

#[derive(Default)]
pub(crate) struct LifecycleHarness {
    pub(crate) state: State,
}

impl LifecycleHarness {
    /// With one pending review.
    pub(crate) fn pending(writer: Writer) -> LifecycleHarness {
        LifecycleHarness::showing(proposal(writer, text(BASE), PROPOSED))
    }

    pub(crate) fn showing(proposal: Proposal) -> LifecycleHarness {
        let mut harness = LifecycleHarness::default();
        harness.apply(Event::Proposed(proposal));
        assert_eq!(harness.recorded(Step::Proposed), [SHOW]);
        harness
    }

    /// With one review whose accepted bytes are being written.
    pub(crate) fn writing() -> LifecycleHarness {
        let mut harness = LifecycleHarness::pending(Writer::Hub);
        harness.decide(HERE, 0, Verdict::Accept, text(BASE));
        harness.recorded(Step::Decided);
        harness
    }

    pub(crate) fn apply(&mut self, event: Event) -> Vec<Effect> {
        self.state.apply(event)
    }

    pub(crate) fn review(&self) -> &Review {
        self.state.review(ID).unwrap()
    }

    pub(crate) fn recorded(&mut self, step: Step) -> Vec<Effect> {
        self.apply(Event::Recorded { review: ID, step })
    }

    pub(crate) fn not_recorded(&mut self, step: Step) -> Vec<Effect> {
        self.apply(Event::RecordFailed { review: ID, step, error: "disk full".to_owned() })
    }

    pub(crate) fn edit(&mut self, surface: SurfaceId, revision: u32, text: &str) -> Vec<Effect> {
        self.apply(Event::Edited {
            review: ID,
            surface,
            revision: Revision(revision),
            digest: None,
            text: text.to_owned(),
        })
    }

    pub(crate) fn decide(
        &mut self,
        surface: SurfaceId,
        revision: u32,
        verdict: Verdict,
        base_now: Option<Text>,
    ) -> Vec<Effect> {
        let decision = Decision { verdict, comments: Vec::new(), write_here: false };
        self.apply(Event::Decided {
            review: ID,
            surface,
            revision: Revision(revision),
            digest: None,
            decision,
            base_now,
        })
    }

    /// A decision on the state with this digest; the revision is the first.
    pub(crate) fn decide_shown(
        &mut self,
        surface: SurfaceId,
        digest: Digest,
        verdict: Verdict,
    ) -> Vec<Effect> {
        let decision = Decision { verdict, comments: Vec::new(), write_here: false };
        let (revision, digest, base_now) = (Revision(0), Some(digest), self.review().base.clone());
        self.apply(Event::Decided { review: ID, surface, revision, digest, decision, base_now })
    }

    pub(crate) fn write_here(&mut self, surface: SurfaceId, base_now: Option<Text>) -> Vec<Effect> {
        let decision = Decision { verdict: Verdict::Accept, comments: Vec::new(), write_here: true };
        self.apply(Event::Decided {
            review: ID,
            surface,
            revision: Revision(0),
            digest: None,
            decision,
            base_now,
        })
    }

    pub(crate) fn comment_on(&mut self, line: u32, verdict: Verdict) -> u32 {
        let comments = vec![Comment { line: LineNumber(line), text: "why?".to_owned() }];
        let decision = Decision { verdict, comments, write_here: false };
        let (surface, revision, base_now) = (HERE, Revision(0), self.review().base.clone());
        self.apply(Event::Decided { review: ID, surface, revision, digest: None, decision, base_now });
        self.review().outcome().unwrap().comments[0].line.0
    }

    pub(crate) fn lose_agent(&mut self, said_goodbye: bool) -> Vec<Effect> {
        self.apply(Event::OwnerGone { agent: AGENT, said_goodbye })
    }

    pub(crate) fn ask_again(&mut self, writer: Writer, base: Option<Text>) -> Vec<Effect> {
        let mut proposal = proposal(writer, base, PROPOSED);
        proposal.owner.agent = AGENT_BACK;
        self.apply(Event::Proposed(proposal))
    }

    /// The outcome that the agent receives, or will receive.
    pub(crate) fn outcome(&self) -> &Outcome {
        self.review().outcome().unwrap()
    }

    pub(crate) fn accepted(&self) -> &Accepted {
        match &self.outcome().ended {
            ReviewEnd::Accepted(accepted) => accepted,
            other => panic!("not accepted: {other:?}"),
        }
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.review().phase == Phase::Pending
    }

    /// The hub crashes now, with everything recorded so far and this.
    pub(crate) fn restart(&mut self) -> Vec<Effect> {
        let (state, effects) = State::restore(self.state.reviews().cloned().collect(), 2);
        self.state = state;
        effects
    }
}

pub(crate) fn answers(effects: &[Effect]) -> Vec<(AgentId, &ReviewEnd)> {
    let answer = |effect| match effect {
        &Effect::Answer { agent, ref outcome, .. } => Some((agent, &outcome.ended)),
        _ => None,
    };
    effects.iter().filter_map(answer).collect()
}
