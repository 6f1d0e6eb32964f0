//! A decision that the user made outside the editor, handed to our hub for a change that it still shows: there it counts
//! like any other, is recorded, and can be undone. Knows only the methods that every surface of the hub uses.

use linkspan_editor_api::{
    Decision, Places, ReviewDecidedResult, ReviewShow, ReviewSummary, ReviewsDecide, ReviewsGet, ReviewsList,
    Verdict,
};

use super::types::Change;
use crate::control::{Control, ControlError};
use crate::hub::HubLauncher;

/// What the history calls the place of the decision.
const PLACE: &str = "the agent's terminal";

/// The phase of a review that nobody has decided.
const PENDING: &str = "pending";

/// The change that was decided, as the user saw it.
pub(super) struct ShownElsewhere<'a> {
    pub(super) places: &'a Places,
    pub(super) window: &'a str,
    pub(super) agent: &'a str,
    pub(super) change: &'a Change,
    /// The text before, if there was a file.
    pub(super) base: Option<&'a str>,
}

/// Whether the hub took it. If not, somebody else was first, or the hub is not there or shows another text.
pub(super) fn decide(shown: &ShownElsewhere<'_>, decision: &Decision) -> bool {
    let Ok(mut hub) = HubLauncher::connect(shown.places) else { return false };
    matches!(try_decide(&mut hub, shown, decision), Ok(true))
}

fn try_decide(
    hub: &mut Control,
    shown: &ShownElsewhere<'_>,
    decision: &Decision,
) -> Result<bool, ControlError> {
    let (_, listed) = hub.hello_and(PLACE, &ReviewsList::default())?;
    for summary in listed.reviews.iter().rev().filter(|summary| shown.may_be(summary)) {
        let found = hub.request(&ReviewsGet { review: summary.review.clone() })?.shown;
        let Some(decision) = shown.decision_on(&found, decision) else { continue };
        let (revision, digest) = (Some(found.revision), Some(found.digest));
        let decide = ReviewsDecide { review: found.review, revision, digest, decision };
        return Ok(hub.request(&decide)? == ReviewDecidedResult::Taken);
    }
    Ok(false)
}

impl ShownElsewhere<'_> {
    fn may_be(&self, summary: &ReviewSummary) -> bool {
        summary.phase == PENDING
            && summary.window == self.window
            && summary.agent == self.agent
            && summary.label == self.change.label
            && summary.new_file == self.base.is_none()
            && !summary.agent_writes
    }

    /// The decision about this review; none if it is about another text.
    fn decision_on(&self, found: &ReviewShow, decision: &Decision) -> Option<Decision> {
        let is_same = |one: &str, other: &str| one.replace("\r\n", "\n") == other.replace("\r\n", "\n");
        if found.omitted || !is_same(&found.base, self.base.unwrap_or_default()) {
            return None;
        }
        let new_text = &self.change.new_text;
        match &decision.verdict {
            // The user edits it there, and decided here about the agent's text.
            Verdict::Accept if !is_same(&found.proposed, new_text) => {
                let verdict = Verdict::AcceptEdited { text: new_text.clone() };
                Some(Decision { verdict, ..decision.clone() })
            }
            Verdict::AcceptHunks { .. } if !is_same(&found.proposed, new_text) => None,
            _ => Some(decision.clone()),
        }
    }
}
