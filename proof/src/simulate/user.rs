//! The user: how they decide a review that they see, and what the file must hold if the decision counts.

use linkspan_editor_api::ReviewShow;
use linkspan_review::{Review, ReviewEnd, ReviewId, Text, decode};
use serde_json::{Value, json};

use super::lines::{is_carried, keeps_endings, with_hunks};
use super::simulation::Simulation;

/// A decision about exactly what was on the screen.
#[derive(Debug, Clone)]
pub(super) struct UserDecision {
    pub(super) revision: u32,
    pub(super) new_file: bool,
    pub(super) base: String,
    /// `None`: rejected.
    pub(super) wants: Option<String>,
    /// The hub may write where the agent does not wait.
    pub(super) write_here: bool,
}

impl Simulation {
    /// Decides it; remembered as the only reason for which a file may change.
    pub(super) fn decision_on(
        &mut self,
        show: &ReviewShow,
        counted: &'static str,
    ) -> (Value, (ReviewId, UserDecision)) {
        self.count(counted);
        let choice = if self.calm { self.chance.below(60) } else { self.chance.below(100) };
        let (verdict, wants) = match choice {
            0..45 => (json!({ "kind": "accept" }), Some(show.proposed.clone())),
            45..60 => {
                self.count("verdicts: no");
                (json!({ "kind": "reject" }), None)
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
                self.count("verdicts: a text of the user's own");
                let text = self.changed(&show.proposed);
                (json!({ "kind": "acceptEdited", "text": text }), Some(text))
            }
        };
        let review: ReviewId = show.review.parse().expect("the name of a review");
        // Mostly the user is first informed that no agent waits. If one does, it makes no difference.
        let write_here = self.chance.in_hundred(5);
        let (revision, new_file, base) = (show.revision, show.new_file, show.base.clone());
        let word = UserDecision { revision, new_file, base, wants, write_here };
        let is_hosted = show.dialect == "acp";
        let remark = is_hosted.then(|| self.remark());
        let rejects = verdict["kind"] == "reject";
        let mut decision = json!({ "verdict": verdict, "writeHere": write_here });
        match remark {
            Some(remark) if rejects => decision["verdict"]["reason"] = remark.into(),
            Some(remark) => decision["comments"] = json!([{ "line": 1, "text": remark }]),
            None if rejects => decision["verdict"]["reason"] = "not like that".into(),
            None => {}
        }
        self.promises.words.entry(review).or_default().push(word.clone());
        let params = json!({
            "review": show.review, "revision": revision, "digest": show.digest, "decision": decision,
        });
        (params, (review, word))
    }

    /// The accept is refused, because no agent would write. Mostly the user then lets the hub write.
    pub(super) fn writes_here(
        &mut self,
        result: &Value,
        params: &Value,
        (review, word): &(ReviewId, UserDecision),
    ) -> Option<Value> {
        if result["canWriteHere"] != true {
            return None;
        }
        self.count("accepts refused because no agent would write");
        if !self.chance.in_hundred(70) {
            return None;
        }
        self.count("accepts that the hub writes for an agent");
        let word = UserDecision { write_here: true, ..word.clone() };
        self.promises.words.entry(*review).or_default().push(word);
        let mut params = params.clone();
        params["decision"]["writeHere"] = true.into();
        Some(params)
    }
}

/// Whether a decision is what it was before its file moved on.
pub(super) fn goes_on(before: &Review, review: &Review) -> bool {
    let accepted = |review: &Review| match &review.outcome()?.ended {
        ReviewEnd::Accepted(accepted) => decode(&accepted.bytes).ok(),
        _ => None,
    };
    let (Some(was), Some(is)) = (accepted(before), accepted(review)) else { return false };
    was.format == is.format
        && before.base.is_some() == review.base.is_some()
        && is_carried(before.base_text(), &was.text, review.base_text(), &is.text).is_ok()
}

pub(super) fn fits(word: &UserDecision, review: &Review) -> Result<(), String> {
    let Some(outcome) = review.outcome() else { return Err("it has no outcome".to_owned()) };
    let (accepted, wants) = match (&outcome.ended, &word.wants) {
        (ReviewEnd::Rejected { .. }, None) if word.revision == review.revision.0 => return Ok(()),
        (ReviewEnd::Accepted(accepted), Some(wants)) => (accepted, wants),
        (ended, wants) => return Err(format!("the user decided {wants:?}, recorded is {ended:?}")),
    };
    let held = review.base.clone().unwrap_or(Text::utf8(""));
    let result = decode(&accepted.bytes).map_err(|error| error.to_string())?;
    if result.format != held.format {
        return Err(format!("{:?} became {:?}", held.format, result.format));
    }
    if word.new_file != review.base.is_none() {
        return Err("the decision was about a file that existed, or about one that did not".to_owned());
    }
    if held.text != word.base {
        return is_carried(&word.base, wants, &held.text, &result.text);
    }
    // As it was on the screen, including line endings.
    if result.text == *wants {
        return Ok(());
    }
    let plain = |text: &str| text.replace("\r\n", "\n");
    if plain(&result.text) != plain(wants) {
        return Err(format!("the user wanted {wants:?}, recorded is {:?}", result.text));
    }
    keeps_endings(&held.text, &result.text)
}
