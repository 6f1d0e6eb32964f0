//! What `accept` and `reject` share: the review is fetched, and decided in exactly the state it was fetched in. Where
//! the agent writes, an accept also waits a moment to see whether it does.

use std::thread::sleep;
use std::time::{Duration, Instant};

use linkspan_client::Control;
use linkspan_editor_api::{
    Decision, HistoryList, ReviewComment, ReviewDecidedResult, ReviewShow, ReviewsDecide, ReviewsGet, Verdict,
};
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};
use crate::output::{Report, count};
use crate::reach::Reach;
use crate::review_args::{At, DigestStart, ReviewName};
use crate::visible::name;

/// Agents write within a few hundred milliseconds after they are told.
const AGENT_WRITES_WITHIN: Duration = Duration::from_secs(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(40);

/// A review as it was when we looked, and the connection we looked through.
pub(crate) struct Fetched {
    connection: Control,
    pub(crate) shown: ReviewShow,
}

/// With `--digest`, what is decided has to be what had that digest when it was looked at.
pub(crate) fn fetch(
    reach: &Reach,
    review: &ReviewName,
    digest: Option<&DigestStart>,
) -> Result<Fetched, Failure> {
    let mut connection = reach.greeted()?;
    let shown = connection.request(&ReviewsGet { review: review.0.clone() })?.shown;
    if digest.is_some_and(|DigestStart(start)| !shown.digest.starts_with(start)) {
        let (_, message) =
            not_taken(&shown.review, &ReviewDecidedResult::Stale { revision: shown.revision }).unzip();
        return Err(Failure::new(Exit::No, message.unwrap_or_default()));
    }
    Ok(Fetched { connection, shown })
}

impl Fetched {
    /// `--comment` with `--at`, as a comment on that line.
    pub(crate) fn comment(&self, text: &str, at: &At) -> Result<ReviewComment, Failure> {
        Ok(ReviewComment { line: at.line_in(&self.shown)?, text: text.into() })
    }

    pub(crate) fn decide(
        mut self,
        verdict: Verdict,
        comments: Vec<ReviewComment>,
        write_here: bool,
    ) -> Result<Report, Failure> {
        let mut done = done(&verdict, &self.shown);
        let is_accept = !matches!(verdict, Verdict::Reject { .. });
        let agent_writes = is_accept && self.shown.agent_writes && !self.shown.owner_gone;
        let ReviewShow { review, revision, digest, path, agent, .. } = self.shown;
        let decision = Decision { verdict, comments, write_here };
        let ask = ReviewsDecide {
            review: review.clone(),
            revision: Some(revision),
            digest: Some(digest.clone()),
            decision,
        };
        let result = self.connection.request(&ask)?;
        let mut document = Map::new();
        document.insert("review".into(), json!(review));
        document.insert("revision".into(), json!(revision));
        document.insert("digest".into(), json!(digest));
        document.insert("result".into(), serde_json::to_value(&result).unwrap_or_default());
        if let Some((exit, message)) = not_taken(&review, &result) {
            return Err(Failure { exit, message, more: document });
        }
        if agent_writes {
            let written = who_wrote(&mut self.connection, &review, &path);
            document.insert("onDisk".into(), json!(written.is_some()));
            let agent = name(&agent);
            done += &match written {
                Some(WrittenBy::Agent) => format!("; {agent} wrote it"),
                Some(WrittenBy::Hub) => "; Linkspan wrote it".to_owned(),
                None => format!(
                    "; not on disk yet: {agent} was told to write it, and `linkspan history` says when it has"
                ),
            };
        }
        Ok(Report::new(done, Value::Object(document)))
    }
}

enum WrittenBy {
    Agent,
    /// In place of an agent that would have written something else.
    Hub,
}

/// Who wrote what was accepted, once the hub has seen it in the file.
fn who_wrote(connection: &mut Control, review: &str, path: &str) -> Option<WrittenBy> {
    let until = Instant::now() + AGENT_WRITES_WITHIN;
    loop {
        let list = HistoryList { limit: Some(10), path: Some(path.to_owned()), ..HistoryList::default() };
        let history = connection.request(&list).ok()?;
        let entry = history.entries.iter().find(|entry| entry.review == review && entry.undoes.is_none());
        if let Some(entry) = entry.filter(|entry| entry.on_disk == Some(true)) {
            return Some(if entry.change.is_some() { WrittenBy::Hub } else { WrittenBy::Agent });
        }
        if Instant::now() >= until {
            return None;
        }
        sleep(BETWEEN_LOOKS);
    }
}

pub(crate) fn done(verdict: &Verdict, shown: &ReviewShow) -> String {
    let what = format!("{} {}", name(&shown.review), name(&shown.path));
    match verdict {
        Verdict::Accept => format!("accepted {what}"),
        Verdict::AcceptHunks { hunks } => {
            format!("accepted {} of {} of {what}", hunks.len(), count(shown.hunks.len() as u64, "hunk"))
        }
        Verdict::AcceptEdited { .. } => format!("accepted {what} with your text"),
        Verdict::Reject { .. } => format!("rejected {what}"),
    }
}

pub(crate) fn not_taken(review: &str, result: &ReviewDecidedResult) -> Option<(Exit, String)> {
    let no = |message| Some((Exit::No, message));
    match result {
        ReviewDecidedResult::Taken => None,
        ReviewDecidedResult::Stale { .. } => no(format!(
            "{review} changed while you decided: look again with `linkspan show {review}`, then decide"
        )),
        ReviewDecidedResult::AlreadyDecided { by } => no(format!("{review} was already decided in {by}")),
        ReviewDecidedResult::NotPending => no(format!("{review} does not wait for a decision any more")),
        ReviewDecidedResult::AskAgain { conflicts: 0 } => no(format!(
            "the file was created or removed meanwhile: look with `linkspan show {review}`, then decide"
        )),
        ReviewDecidedResult::AskAgain { conflicts } => no(format!(
            "the file changed meanwhile and {} with {review}: look with `linkspan show {review}`, then decide",
            if *conflicts == 1 { "1 place conflicts".into() } else { format!("{conflicts} places conflict") }
        )),
        ReviewDecidedResult::Refused { message, can_write_here: false } => {
            Some((Exit::Refused, format!("{review}: {message}")))
        }
        ReviewDecidedResult::Refused { message, can_write_here: true } => Some((
            Exit::Refused,
            format!("{review}: {message}: `linkspan accept {review} --write` or `linkspan reject {review}`"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_taken_decision_is_a_success() {
        let exit = |result| not_taken("r1", &result).map(|(exit, _)| exit);
        assert_eq!(exit(ReviewDecidedResult::Taken), None);
        assert_eq!(exit(ReviewDecidedResult::NotPending), Some(Exit::No));
        assert_eq!(exit(ReviewDecidedResult::Stale { revision: 2 }), Some(Exit::No));
        assert_eq!(exit(ReviewDecidedResult::AskAgain { conflicts: 1 }), Some(Exit::No));
        assert_eq!(exit(ReviewDecidedResult::AlreadyDecided { by: "x".into() }), Some(Exit::No));
        for can_write_here in [false, true] {
            let refused = ReviewDecidedResult::Refused { message: "x".into(), can_write_here };
            assert_eq!(exit(refused), Some(Exit::Refused));
        }
    }
}
