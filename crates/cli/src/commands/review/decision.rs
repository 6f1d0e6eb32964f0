//! What `accept` and `reject` share: the review is fetched, and decided in exactly the state it was fetched in. If the
//! agent writes the file, an accept also waits a moment until it has.

use std::thread::sleep;
use std::time::{Duration, Instant};

use linkspan_client::Control;
use linkspan_editor_api::{
    Decision, HistoryList, ReviewComment, ReviewDecidedResult, ReviewShow, ReviewsDecide, ReviewsGet, Verdict,
};
use serde_json::{Map, Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, count, warn};
use crate::commands::review::review_args::{DigestStart, LineRef, ReviewName};
use crate::visible::name;

/// Agents write within a few hundred milliseconds after the decision.
const AGENT_WRITES_WITHIN: Duration = Duration::from_secs(1);
const POLL_PAUSE: Duration = Duration::from_millis(40);

/// A review in the state it was fetched in, and the connection to decide it on.
pub(crate) struct FetchedReview {
    connection: Control,
    pub(crate) shown: ReviewShow,
}

/// Fails if the review does not have the digest that was given with `--digest`.
pub(crate) fn fetch(
    cli: &CliContext,
    review: &ReviewName,
    digest: Option<&DigestStart>,
) -> Result<FetchedReview, Failure> {
    let mut connection = cli.greeted()?;
    let shown = connection.request(&ReviewsGet { review: review.0.clone() })?.shown;
    if digest.is_some_and(|DigestStart(start)| !shown.digest.starts_with(start)) {
        let (_, message) =
            not_taken(&shown.review, &ReviewDecidedResult::Stale { revision: shown.revision }).unzip();
        return Err(Failure::new(Exit::Negative, message.unwrap_or_default()));
    }
    Ok(FetchedReview { connection, shown })
}

impl FetchedReview {
    /// `--comment` with `--at`, as a comment on that line.
    pub(crate) fn comment(&self, text: &str, at: &LineRef) -> Result<ReviewComment, Failure> {
        Ok(ReviewComment { line: at.line_in(&self.shown)?, text: text.into() })
    }

    pub(crate) fn decide(
        mut self,
        verdict: Verdict,
        comments: Vec<ReviewComment>,
        write_here: bool,
    ) -> Result<Report, Failure> {
        for note in not_received(&verdict, &comments, &self.shown) {
            warn(note);
        }
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
                    "; not on disk yet: {agent} was told to write it; `linkspan history` shows when it has"
                ),
            };
        }
        Ok(Report::new(done, Value::Object(document)))
    }
}

/// What the agent will not receive of this decision, which counts all the same, and what to do about it.
fn not_received<'a>(verdict: &Verdict, comments: &[ReviewComment], shown: &'a ReviewShow) -> Vec<&'a str> {
    let Some(notes) = &shown.receives_notes else { return Vec::new() };
    let of_verdict = match verdict {
        Verdict::Accept | Verdict::Reject { reason: None } => None,
        Verdict::AcceptHunks { .. } => notes.hunks.as_deref(),
        Verdict::AcceptEdited { .. } => notes.edited.as_deref(),
        Verdict::Reject { reason: Some(_) } => notes.reason.as_deref(),
    };
    let of_comments = notes.comments.as_deref().filter(|_| !comments.is_empty());
    let mut said: Vec<&str> = of_verdict.into_iter().chain(of_comments).collect();
    if !said.is_empty() {
        said.extend(notes.remedy.as_deref());
    }
    said
}

enum WrittenBy {
    Agent,
    /// Instead of an agent that would have written something else.
    Hub,
}

/// Who wrote the accepted text, once the hub has seen it in the file.
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
        sleep(POLL_PAUSE);
    }
}

/// What was done, for the user.
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

/// Why the hub did not take the decision; `None` if it did.
pub(crate) fn not_taken(review: &str, result: &ReviewDecidedResult) -> Option<(Exit, String)> {
    let negative = |message| Some((Exit::Negative, message));
    match result {
        ReviewDecidedResult::Taken => None,
        ReviewDecidedResult::Stale { .. } => negative(format!(
            "{review} changed while you were deciding; look at it again with `linkspan show {review}`"
        )),
        ReviewDecidedResult::AlreadyDecided { by } => {
            negative(format!("{review} was already decided in {by}"))
        }
        ReviewDecidedResult::NotPending => negative(format!("{review} is no longer pending")),
        ReviewDecidedResult::AskAgain { conflicts: 0 } => negative(format!(
            "the file was created or removed in the meantime; look at `linkspan show {review}`, then decide"
        )),
        ReviewDecidedResult::AskAgain { conflicts } => negative(format!(
            "the file changed in the meantime and {} with {review}; look at `linkspan show {review}`, then decide",
            if *conflicts == 1 { "1 place conflicts".into() } else { format!("{conflicts} places conflict") }
        )),
        ReviewDecidedResult::Refused { message, can_write_here: false } => {
            Some((Exit::Refused, format!("{review}: {message}")))
        }
        ReviewDecidedResult::Refused { message, can_write_here: true } => Some((
            Exit::Refused,
            format!(
                "{review}: {message}; use `linkspan accept {review} --write` or `linkspan reject {review}`"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::Receives;
    use linkspan_editor_api::labels::receives_notes;

    use super::*;
    use crate::commands::review::review_args::tests::shown;

    #[test]
    fn a_warning_is_about_what_was_said_and_nothing_else() {
        let mut shown = shown("a\n", "b\n", vec![]);
        let comment = ReviewComment { line: 1, text: "why?".into() };
        let some = Verdict::AcceptHunks { hunks: vec![] };
        let comments = [comment];
        assert_eq!(not_received(&some, &comments, &shown), [""; 0], "nothing is known");
        shown.receives_notes = receives_notes("A", Receives::NOTHING, None, Some("a"));
        assert_eq!(not_received(&Verdict::Accept, &[], &shown), [""; 0]);
        assert_eq!(not_received(&Verdict::Reject { reason: None }, &[], &shown), [""; 0]);
        let reason = Verdict::Reject { reason: Some("no".into()) };
        let remedy = "To change that, run `linkspan hook install a`.";
        assert_eq!(not_received(&reason, &[], &shown), ["A will not receive your reason.", remedy]);
        let edited = Verdict::AcceptEdited { text: "c\n".into() };
        assert_eq!(not_received(&edited, &[], &shown), ["A will not receive your edits.", remedy]);
        assert_eq!(
            not_received(&some, &comments, &shown),
            ["A will not receive your choice of hunks.", "A will not receive your comments.", remedy]
        );
    }

    #[test]
    fn only_a_taken_decision_is_a_success() {
        let exit = |result| not_taken("r1", &result).map(|(exit, _)| exit);
        assert_eq!(exit(ReviewDecidedResult::Taken), None);
        assert_eq!(exit(ReviewDecidedResult::NotPending), Some(Exit::Negative));
        assert_eq!(exit(ReviewDecidedResult::Stale { revision: 2 }), Some(Exit::Negative));
        assert_eq!(exit(ReviewDecidedResult::AskAgain { conflicts: 1 }), Some(Exit::Negative));
        assert_eq!(exit(ReviewDecidedResult::AlreadyDecided { by: "x".into() }), Some(Exit::Negative));
        for can_write_here in [false, true] {
            let refused = ReviewDecidedResult::Refused { message: "x".into(), can_write_here };
            assert_eq!(exit(refused), Some(Exit::Refused));
        }
    }
}
