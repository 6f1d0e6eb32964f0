//! `linkspan show`: one review with its diff.

use linkspan_editor_api::{ReviewEnded, ReviewOutcome, ReviewShow, ReviewsGet, ReviewsGetResult};

use crate::exit::Failure;
use crate::output::{HEAD, Report, WARNING, accepted, change, count, decided, styled};
use crate::reach::Reach;
use crate::review_args::ReviewName;
use crate::shown_diff;
use crate::visible::{code, name};

/// Show a review: its diff with numbered hunks, conflicts and comments.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which: r12, 12 or latest.
    review: ReviewName,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let got = reach.greeted()?.request(&ReviewsGet { review: args.review.0.clone() })?;
    Ok(Report::new(render(&got), serde_json::to_value(&got).unwrap_or_default()))
}

pub(crate) fn render(got: &ReviewsGetResult) -> String {
    let shown = &got.shown;
    let added = shown.hunks.iter().map(|hunk| hunk.after_count).sum();
    let removed = shown.hunks.iter().map(|hunk| hunk.before_count).sum();
    let mut text = format!(
        "{}  {}  by {} ({})  {}\n",
        styled(HEAD, &format!("{}  {}", name(&shown.review), name(&shown.path))),
        change(added, removed),
        name(&shown.agent),
        name(&shown.dialect),
        name(&got.phase)
    );
    if let Some(description) = shown.description() {
        text += &format!("“{}”\n", name(description));
    }
    let mut facts = Vec::new();
    if shown.new_file {
        facts.push("new file".to_owned());
    }
    if shown.encoding != "UTF-8" {
        facts.push(name(&shown.encoding));
    }
    facts.extend(shown.line_endings.as_deref().map(name));
    if !facts.is_empty() {
        text += &format!("{}\n", facts.join(", "));
    }
    if !shown.conflicts.is_empty() {
        let conflicts = count(shown.conflicts.len() as u64, "conflict");
        let line =
            format!("{conflicts}: the file changed meanwhile; look at the marked hunks before you decide");
        text += &format!("{}\n", styled(WARNING, &line));
    }
    if shown.owner_gone && matches!(got.phase.as_str(), "pending" | "conflict") {
        text += &format!("{}\n", styled(WARNING, &agent_gone(shown)));
    }
    text += &shown_diff::render(shown);
    if let Some(outcome) = &got.outcome {
        render_outcome(&mut text, outcome);
    }
    text
}

fn agent_gone(shown: &ReviewShow) -> String {
    let (agent, review) = (name(&shown.agent), name(&shown.review));
    let what_to_do = if shown.agent_writes {
        format!("`linkspan accept {review} --write` lets Linkspan write the file in its place")
    } else {
        "you can decide all the same".to_owned()
    };
    format!("agent gone: {agent} no longer waits for the answer; {what_to_do}")
}

fn render_outcome(text: &mut String, outcome: &ReviewOutcome) {
    let ended = match &outcome.ended {
        ReviewEnded::Accepted { taken, .. } => decided(accepted(*taken)).to_owned(),
        ReviewEnded::Rejected { reason: None } => "rejected".to_owned(),
        ReviewEnded::Rejected { reason: Some(reason) } => format!("rejected: {}", name(reason)),
        ReviewEnded::Withdrawn => "withdrawn by its agent".to_owned(),
        ReviewEnded::Superseded { by } => format!("superseded by {}", name(by)),
        ReviewEnded::Failed { error } => format!("failed: {}", name(error)),
    };
    let told = if outcome.delivered { "" } else { "; its agent has not been told yet" };
    *text += &format!("{}{told}\n", styled(HEAD, &ended));
    for comment in &outcome.comments {
        *text += &format!("line {}: {}\n", comment.line, name(&comment.text));
    }
    if let ReviewEnded::Accepted { person_diff: Some(diff), .. } = &outcome.ended {
        *text += "what the person changed:\n";
        for line in diff.lines() {
            *text += &format!("  {}\n", code(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::ReviewComment;

    use super::*;
    use crate::review_args::tests::{hunk, shown};

    #[test]
    fn a_settled_review_says_how_it_ended_and_what_was_said() {
        let got = ReviewsGetResult {
            shown: shown("a\n", "b\n", vec![hunk("ha", (0, 1), (0, 1))]),
            phase: "settled".into(),
            diff: String::new(),
            outcome: Some(ReviewOutcome {
                ended: ReviewEnded::Rejected { reason: Some("too\u{1b}c clever".into()) },
                comments: vec![ReviewComment { line: 1, text: "why?".into() }],
                delivered: false,
            }),
        };
        let text = anstream::adapter::strip_str(&render(&got)).to_string();
        assert_eq!(
            text,
            "r12  /w/src/main.rs  +1 −1  by claude-code (claude)  settled\n\
             hunk 1 of 1  ha  @@ -1,1 +1,1 @@\n      \
                   -a\n    1 +b\n\
             rejected: too\\u{1b}c clever; its agent has not been told yet\n\
             line 1: why?\n"
        );
    }

    #[test]
    fn a_review_whose_agent_is_gone_says_what_to_do() {
        let mut got = ReviewsGetResult {
            shown: shown("a\n", "b\n", vec![]),
            phase: "pending".into(),
            diff: String::new(),
            outcome: None,
        };
        assert!(!render(&got).contains("agent gone"));
        got.shown.owner_gone = true;
        assert!(render(&got).contains(
            "agent gone: claude-code no longer waits for the answer; `linkspan accept r12 --write` lets Linkspan write"
        ));
        got.shown.agent_writes = false;
        assert!(render(&got).contains("no longer waits for the answer; you can decide all the same"));
        got.phase = "settled".into();
        assert!(!render(&got).contains("agent gone"), "nobody has to decide");
    }
}
