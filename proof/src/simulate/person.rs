//! The person: what she makes of a review that she sees, and what the file must hold if that counts.

use linkspan_editor_api::ReviewShow;
use linkspan_review::ReviewId;
use serde_json::{Value, json};

use super::lines::with_hunks;
use super::world::World;

/// One word of hers, about exactly what was on her screen.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) revision: u32,
    pub(super) new_file: bool,
    pub(super) base: String,
    /// None: she said no.
    pub(super) wants: Option<String>,
}

impl World {
    /// What she says to it; remembered as the only reason for which a file may change.
    pub(super) fn verdict_on(&mut self, show: &ReviewShow, counted: &'static str) -> Value {
        self.count(counted);
        let choice = if self.calm { self.chance.below(60) } else { self.chance.below(100) };
        let (verdict, wants) = match choice {
            0..45 => (json!({ "kind": "accept" }), Some(show.proposed.clone())),
            45..60 => {
                self.count("verdicts: no");
                (json!({ "kind": "reject", "reason": "not like that" }), None)
            }
            60..90 if !show.hunks.is_empty() => {
                let ids: Vec<String> = show.hunks.iter().map(|hunk| hunk.id.clone()).collect();
                let first = self.chance.below(ids.len());
                let taken =
                    ids.into_iter().enumerate().filter(|(at, _)| *at == first || self.chance.in_hundred(50));
                let taken = taken.map(|(_, id)| id).collect();
                self.count("verdicts: some hunks");
                let text = with_hunks(show, &taken);
                (json!({ "kind": "acceptHunks", "hunks": taken }), Some(text))
            }
            _ => {
                self.count("verdicts: a text of her own");
                let text = self.changed(&show.proposed);
                (json!({ "kind": "acceptEdited", "text": text }), Some(text))
            }
        };
        let review: ReviewId = show.review.parse().expect("the name of a review");
        let word = Word { revision: show.revision, new_file: show.new_file, base: show.base.clone(), wants };
        self.promises.words.entry(review).or_default().push(word);
        verdict
    }
}
