//! What is promised of changes that belong together: the person sees them as one set, nothing else is in it, and an
//! agent that asked for them by one call hears of all of them at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use linkspan_review::{AgentId, Review, SetId};

use super::agent::Part;
use super::messages::Received;
use super::simulation::Simulation;

/// What makes one set: a word of an agent's on one connection, or one call of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SetMember {
    life: u64,
    owner: AgentId,
    word: String,
}

#[derive(Default)]
pub(super) struct Sets {
    named: BTreeMap<SetMember, SetId>,
    holds: BTreeMap<(u64, SetId), SetMember>,
}

impl Simulation {
    /// A change comes before the person, in the set that it belongs to.
    pub(super) fn look_at_set(&mut self, review: &Review) {
        let (Some(owner), Some((number, at))) = (review.owner, self.place_of(review)) else { return };
        let ask = &self.agents[number].asks[at];
        // A call that was made twice is two sets of the same changes.
        if ask.times != 1 {
            return;
        }
        let word = match (&ask.set, ask.parts.len()) {
            (Some(word), _) => Some(word.clone()),
            (None, 1) => None,
            (None, _) => Some(format!("call {at}")),
        };
        let belongs = word.map(|word| SetMember { life: self.hub.life, owner, word });
        let life = self.hub.life;
        let sets = &mut self.promises.sets;
        let result = match (belongs, review.set) {
            (None, None) => return,
            (Some(belongs), Some(set)) => {
                let known = sets.named.entry(belongs.clone()).or_insert(set);
                let holds = sets.holds.entry((life, set)).or_insert_with(|| belongs.clone());
                match (*known == set, *holds == belongs) {
                    (true, true) => Ok(()),
                    _ => Err(format!("{} is in {set}, not in {known}; {set} holds {holds:?}", review.id)),
                }
            }
            (belongs, set) => Err(format!("{} of {belongs:?} is in {set:?}", review.id)),
        };
        self.promises.look("3: changes that belong together are one set, and nothing else is in it", result);
    }

    fn place_of(&self, review: &Review) -> Option<(usize, usize)> {
        let name = review.owner_key.split([':', '\u{1f}']).nth(1);
        let number = self.agent_of(name, &review.path)?;
        let asks = self.agents[number].asks.iter().enumerate().filter(|(_, ask)| ask.asks_for(review));
        let places: Vec<usize> = asks.map(|(at, _)| at).collect();
        // Two may have had the same idea: to take out a line.
        match places[..] {
            [at] => Some((number, at)),
            _ => None,
        }
    }

    /// A call for several files is answered: with each of them, once, or with nothing at all.
    pub(super) fn look_at_parts(&mut self, home: usize, asked: &[Part], heard: &Received) {
        let result = match heard {
            Received::Set(told) => {
                let told: Vec<PathBuf> =
                    told.iter().map(|(path, _)| Path::new(&format!("/ws{home}")).join(path)).collect();
                let asked: Vec<&PathBuf> = asked.iter().map(|part| &part.path).collect();
                match told.iter().eq(asked.iter().copied()) {
                    true => Ok(()),
                    false => Err(format!("asked for {asked:?}, told of {told:?}")),
                }
            }
            Received::Failed(_) => return,
            other => Err(format!("{} files were asked for, and the answer is {other:?}", asked.len())),
        };
        self.promises.look("3: the parts of a set are told together, each once", result);
    }
}
