//! What the agent of a review receives of the decision. Not recorded: it follows from the dialect and the name in the
//! review, and from what an agent said when it joined. Knows no words for people.

use linkspan_dialect::{OWN, by_name};
use linkspan_editor_api::Receives;
use linkspan_review::Review;

use crate::core::agents::Agents;
use crate::core::convert::asker;

impl Agents {
    /// Of the owner: a hook that follows its review may receive more. `None`: not known.
    pub(in crate::core) fn receives_of(&self, review: &Review) -> Option<Receives> {
        let owner = review.owner.and_then(|owner| self.get(&owner));
        if let Some(said) = owner.and_then(|owner| owner.receives) {
            return Some(said);
        }
        let (dialect, agent) = asker(&review.owner_key);
        let dialect = by_name(dialect)?;
        // An agent of our own dialect may say otherwise when it joins, so while it is away nothing is known.
        if dialect.name == OWN.name && owner.is_none() {
            return None;
        }
        let known = dialect.receives.agent(agent);
        Some(known.map_or(dialect.receives.others, |known| known.receives))
    }
}
