//! The reviewer for terminals that only print lines: shows each review and asks what to do with it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use linkspan_editor_api::labels;
use linkspan_editor_api::{
    Decision, ReviewComment, ReviewDecidedResult, ReviewOutcome, ReviewShow, ReviewsDecide, ReviewsGet,
    ReviewsList, Verdict,
};
use linkspan_reviewer::{Connect, RetryingControl};
use rustix::termios::{QueueSelector, tcflush};

use crate::cli::exit::Failure;
use crate::cli::output::{HEAD, Report, count, styled};
use crate::commands::review::decision::{done, not_taken};
use crate::commands::review::review_args::{HunkName, hunk_ids};
use crate::commands::review::show;
use crate::visible::name;

/// How often we check for a new review.
const POLL_PAUSE: Duration = Duration::from_millis(500);
const WRITE_QUESTION: &str = "have Linkspan write it (y/n)? ";
const QUESTION: &str = "[a]ccept, [r]eject, [h]unks, [c]omment, [s]kip, [q]uit? ";

/// What to do after an answer.
enum Next {
    /// Decided: show the next review.
    Continue,
    /// Not shown again in this run.
    Skip,
    Quit,
}

pub(super) fn run(connect: Connect, first: Option<String>, once: bool) -> Result<Report, Failure> {
    let mut hub = RetryingControl::new(connect);
    let mut first = first;
    let mut skipped: Vec<String> = Vec::new();
    let mut is_waiting = false;
    loop {
        let pending = hub.ask(&ReviewsList { all: false })?.reviews;
        let open = pending.iter().filter(|review| matches!(review.phase.as_str(), "pending" | "conflict"));
        let mut ids = open.map(|review| review.review.clone()).filter(|id| !skipped.contains(id));
        let Some(review) = first.take().or_else(|| ids.next()) else {
            if once || !skipped.is_empty() {
                let number = count(skipped.len() as u64, "review");
                let text = if skipped.is_empty() {
                    "no review is pending".into()
                } else {
                    format!("{number} skipped")
                };
                return Ok(Report { text, ..Report::default() });
            }
            if !is_waiting {
                print("no review is pending; waiting for one (Ctrl-C quits)\n")?;
                is_waiting = true;
            }
            thread::sleep(POLL_PAUSE);
            continue;
        };
        is_waiting = false;
        match ask(&mut hub, &review)? {
            Next::Continue => {}
            Next::Skip => skipped.push(review),
            Next::Quit => return Ok(Report::default()),
        }
    }
}

fn ask(hub: &mut RetryingControl, review: &str) -> Result<Next, Failure> {
    let mut comments: Vec<ReviewComment> = Vec::new();
    let mut shown: Option<ReviewShow> = None;
    loop {
        let got = hub.ask(&ReviewsGet { review: review.to_owned() })?;
        let seen = |shown: &ReviewShow| (shown.revision, shown.digest.clone());
        if shown.as_ref().is_none_or(|shown| seen(shown) != seen(&got.shown)) {
            print(&format!("\n{}", show::render(&got)))?;
        }
        if got.outcome.is_some() {
            return Ok(Next::Continue);
        }
        let current = got.shown;
        let Some(answer) = question(QUESTION)? else { return Ok(Next::Quit) };
        let verdict = match answer.as_str() {
            "a" => Some(Verdict::Accept),
            "r" => question("reason (Enter for none)? ")?
                .map(|reason| Verdict::Reject { reason: Some(reason).filter(|reason| !reason.is_empty()) }),
            "h" => hunks(&current)?,
            "c" => {
                comments.extend(comment(&current)?);
                None
            }
            "s" => return Ok(Next::Skip),
            "q" => return Ok(Next::Quit),
            _ => None,
        };
        if let Some(verdict) = verdict {
            let message = done(&verdict, &current);
            let agent_writes = current.agent_writes && !matches!(verdict, Verdict::Reject { .. });
            let decision = Decision { verdict, comments: comments.clone(), write_here: false };
            let (revision, digest) = (Some(current.revision), Some(current.digest.clone()));
            let decide = ReviewsDecide { review: review.to_owned(), revision, digest, decision };
            let (result, write_here) = decide_or_offer_to_write(hub, decide)?;
            let Some((_, message)) = not_taken(review, &result) else {
                let agent = name(&current.agent);
                print(&match agent_writes && !write_here {
                    true => format!("{message}; {agent} was told to write it\n"),
                    false => format!("{message}\n"),
                })?;
                return Ok(Next::Continue);
            };
            if matches!(result, ReviewDecidedResult::AlreadyDecided { .. }) {
                let outcome = hub.ask(&ReviewsGet { review: review.to_owned() })?.outcome;
                print(&already(&message, outcome.as_ref()))?;
                return Ok(Next::Continue);
            }
            if !matches!(result, ReviewDecidedResult::Refused { can_write_here: true, .. }) {
                print(&line(&message))?;
            }
        }
        shown = Some(current);
    }
}

/// If the agent that should write the file no longer waits, asks whether Linkspan should. Also returns whether Linkspan
/// writes.
fn decide_or_offer_to_write(
    hub: &mut RetryingControl,
    mut decide: ReviewsDecide,
) -> Result<(ReviewDecidedResult, bool), Failure> {
    let result = hub.ask(&decide)?;
    let ReviewDecidedResult::Refused { message, can_write_here: true } = &result else {
        return Ok((result, false));
    };
    print(&line(&format!("{}: {message}", decide.review)))?;
    if question(WRITE_QUESTION)?.as_deref() != Some("y") {
        print("not decided\n")?;
        return Ok((result, false));
    }
    decide.decision.write_here = true;
    Ok((hub.ask(&decide)?, true))
}

/// Escapes the message: it contains paths and texts from other programs.
fn line(message: &str) -> String {
    format!("{}\n", name(message))
}

/// The earlier decision may be our own, sent to a hub that then went away, so the outcome is added.
fn already(message: &str, outcome: Option<&ReviewOutcome>) -> String {
    match outcome {
        Some(outcome) => line(&format!("{message}: {}", labels::outcome(&outcome.ended))),
        None => line(message),
    }
}

fn hunks(shown: &ReviewShow) -> Result<Option<Verdict>, Failure> {
    let Some(answer) = question("which hunks (such as 1 3; Enter to go back)? ")? else {
        return Ok(None);
    };
    let words = answer.split([' ', ',']).filter(|word| !word.is_empty());
    let names: Result<Vec<HunkName>, String> = words.map(str::parse).collect();
    let chosen = names.map_err(Failure::usage).and_then(|names| hunk_ids(&names, &shown.hunks));
    match chosen {
        Ok(hunks) if hunks.is_empty() => Ok(None),
        Ok(hunks) => Ok(Some(Verdict::AcceptHunks { hunks })),
        Err(failure) => {
            print(&line(&failure.message))?;
            Ok(None)
        }
    }
}

fn comment(shown: &ReviewShow) -> Result<Option<ReviewComment>, Failure> {
    let lines = shown.proposed.lines().count().max(1);
    let Some(line) = question(&format!("on which line (1 to {lines})? "))? else { return Ok(None) };
    let Some(line) = line.parse::<u32>().ok().filter(|line| *line > 0 && *line as usize <= lines) else {
        print("there is no such line\n")?;
        return Ok(None);
    };
    let text = question("comment? ")?.filter(|text| !text.is_empty());
    Ok(text.map(|text| ReviewComment { line, text }))
}

/// Asks, and reads one line; `None` at the end of the input. Characters that were typed before the question are
/// discarded.
fn question(text: &str) -> Result<Option<String>, Failure> {
    print(&styled(HEAD, text))?;
    if io::stdin().is_terminal() {
        // If that fails, only a user who typed ahead is affected.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    match read.map_err(|error| Failure::internal(format!("cannot read standard input: {error}")))? {
        0 => Ok(None),
        _ => Ok(Some(line.trim().to_owned())),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    write!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::internal(format!("cannot write the output: {error}")))
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::ReviewEnded;

    use super::*;

    #[test]
    fn messages_of_other_programs_are_escaped() {
        let message = "/w/\u{1b}]0;sly\u{7}.rs is denied".into();
        let result = ReviewDecidedResult::Refused { message, can_write_here: false };
        let (_, message) = not_taken("r1", &result).unwrap();
        assert_eq!(line(&message), "r1: /w/\\u{1b}]0;sly\\u{7}.rs is denied\n");
    }

    #[test]
    fn an_earlier_decision_is_shown_with_its_outcome() {
        let result = ReviewDecidedResult::AlreadyDecided { by: "VS\u{1b}Code".into() };
        let (_, message) = not_taken("r1", &result).unwrap();
        let ended = ReviewEnded::Rejected { reason: None };
        let outcome = ReviewOutcome { ended, comments: Vec::new(), delivered: true };
        let text = already(&message, Some(&outcome));
        assert_eq!(text, "r1 was already decided in VS\\u{1b}Code: rejected\n");
    }
}
