//! `linkspan show`: one review with its diff.

use linkspan_editor_api::labels::outcome_in_full;
use linkspan_editor_api::{ReviewEnded, ReviewOutcome, ReviewShow, ReviewsGet, ReviewsGetResult};

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::{HEAD, Report, WARNING, count, lines_changed, styled};
use crate::commands::review::render_diff;
use crate::commands::review::review_args::ReviewName;
use crate::visible::{code, name};

/// Show a review as a diff with numbered hunks.
///
/// Conflicts, comments and the outcome are shown too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The review: r12, 12 or latest.
    review: ReviewName,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let got = cli.greeted()?.request(&ReviewsGet { review: args.review.0.clone() })?;
    Ok(Report::new(render(&got), serde_json::to_value(&got).unwrap_or_default()))
}

pub(crate) fn render(got: &ReviewsGetResult) -> String {
    let shown = &got.shown;
    let added = shown.hunks.iter().map(|hunk| hunk.after_count).sum();
    let removed = shown.hunks.iter().map(|hunk| hunk.before_count).sum();
    let mut text = format!(
        "{}  {}  by {} ({})  {}\n",
        styled(HEAD, &format!("{}  {}", name(&shown.review), name(&shown.path))),
        lines_changed(added, removed),
        name(&shown.agent),
        name(&shown.dialect),
        name(&got.phase)
    );
    if let Some(description) = shown.description() {
        text += &format!("“{}”\n", name(description));
    }
    if let Some(origin) = &shown.origin {
        text += &format!("{}\n", name(&origin.why()));
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
        let line = format!(
            "{conflicts}: the file changed in the meantime; look at the marked hunks before you decide"
        );
        text += &format!("{}\n", styled(WARNING, &line));
    }
    if shown.owner_gone && matches!(got.phase.as_str(), "pending" | "conflict") {
        text += &format!("{}\n", styled(WARNING, &agent_gone(shown)));
    }
    if let Some(notes) = shown.receives_notes.as_ref().filter(|_| got.outcome.is_none()) {
        text += &format!("{}\n", styled(WARNING, &name(&notes.all)));
    }
    text += &render_diff::render(shown);
    if let Some(outcome) = &got.outcome {
        render_outcome(&mut text, outcome);
    }
    text
}

fn agent_gone(shown: &ReviewShow) -> String {
    let (agent, review) = (name(&shown.agent), name(&shown.review));
    let what_to_do = if shown.agent_writes {
        format!("`linkspan accept {review} --write` has Linkspan write the file instead")
    } else {
        "you can still decide".to_owned()
    };
    format!("agent gone: {agent} no longer waits for the decision; {what_to_do}")
}

fn render_outcome(text: &mut String, outcome: &ReviewOutcome) {
    let ended = outcome_in_full(&outcome.ended);
    let delivery = if outcome.delivered { "" } else { "; not yet delivered to the agent" };
    *text += &format!("{}{delivery}\n", styled(HEAD, &ended));
    for comment in &outcome.comments {
        *text += &format!("line {}: {}\n", comment.line, name(&comment.text));
    }
    if let ReviewEnded::Accepted { person_diff: Some(diff), .. } = &outcome.ended {
        *text += "edited by the reviewer:\n";
        for line in diff.lines() {
            *text += &format!("  {}\n", code(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::labels::receives_notes;
    use linkspan_editor_api::{Receives, ReviewComment};

    use super::*;
    use crate::commands::review::review_args::tests::{hunk, shown};

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
             rejected: too\\u{1b}c clever; not yet delivered to the agent\n\
             line 1: why?\n"
        );
    }

    #[test]
    fn what_the_agent_will_not_receive_is_said_until_the_review_is_settled() {
        let notes = receives_notes("Claude Code", Receives::NOTHING, None, Some("claude"));
        let mut got = ReviewsGetResult {
            shown: ReviewShow { receives_notes: notes, ..shown("a\n", "b\n", vec![]) },
            phase: "pending".into(),
            diff: String::new(),
            outcome: None,
        };
        let text = anstream::adapter::strip_str(&render(&got)).to_string();
        assert!(text.contains("pending\nClaude Code receives only yes or no"), "{text}");
        assert!(text.contains("run `linkspan hook install claude`.\n"), "{text}");
        got.outcome =
            Some(ReviewOutcome { ended: ReviewEnded::Withdrawn, comments: vec![], delivered: true });
        assert!(!render(&got).contains("receives only"), "nobody types any longer");
    }

    #[test]
    fn a_change_of_a_chat_says_why() {
        let origin = linkspan_editor_api::ReviewOrigin {
            chat: "t3".into(),
            turn: 2,
            item: 7,
            prompt: Some("make it\nloud".into()),
            words: Some("I will \u{1b}[31mshout".into()),
        };
        let got = ReviewsGetResult {
            shown: ReviewShow { origin: Some(origin), ..shown("a\n", "b\n", vec![]) },
            phase: "pending".into(),
            diff: String::new(),
            outcome: None,
        };
        let text = anstream::adapter::strip_str(&render(&got)).to_string();
        let why = "from turn t3/2 of a chat: “make it loud”; the agent said: “I will \\u{1b}[31mshout”\n";
        assert!(text.contains(why), "{text}");
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
            "agent gone: claude-code no longer waits for the decision; `linkspan accept r12 --write` has Linkspan write"
        ));
        got.shown.agent_writes = false;
        assert!(render(&got).contains("no longer waits for the decision; you can still decide"));
        got.phase = "settled".into();
        assert!(!render(&got).contains("agent gone"), "nobody has to decide");
    }
}
