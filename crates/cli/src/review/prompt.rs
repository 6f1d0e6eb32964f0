//! The reviewer for terminals that can only print lines: shows each review and asks what to do with it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use linkspan_editor_api::{
    Decision, ReviewComment, ReviewDecidedResult, ReviewOutcome, ReviewShow, ReviewsDecide, ReviewsGet,
    ReviewsList, Verdict,
};
use linkspan_reviewer::{Connect, Patient, ended};
use rustix::termios::{QueueSelector, tcflush};

use crate::decide::{done, not_taken};
use crate::exit::Failure;
use crate::output::{HEAD, Report, count, styled};
use crate::review_args::{HunkName, hunk_ids};
use crate::show;
use crate::visible::name;

/// How often we look whether something new waits.
const PAUSE: Duration = Duration::from_millis(500);
const WRITE_QUESTION: &str = "let Linkspan write it (y/n)? ";
const QUESTION: &str = "[a]ccept, [r]eject, [h]unks, [c]omment, [s]kip, [q]uit? ";

/// What to do after an answer.
enum Next {
    /// It is over.
    Following,
    /// It comes again only in another run.
    Skip,
    Leave,
}

pub(super) fn run(connect: Connect, first: Option<String>, once: bool) -> Result<Report, Failure> {
    let mut hub = Patient::new(connect);
    let mut first = first;
    let mut skipped: Vec<String> = Vec::new();
    let mut said_waiting = false;
    loop {
        let waiting = hub.ask(&ReviewsList { all: false })?.reviews;
        let open = waiting.iter().filter(|review| matches!(review.phase.as_str(), "pending" | "conflict"));
        let mut ids = open.map(|review| review.review.clone()).filter(|id| !skipped.contains(id));
        let Some(review) = first.take().or_else(|| ids.next()) else {
            if once || !skipped.is_empty() {
                let left = count(skipped.len() as u64, "review");
                let text =
                    if skipped.is_empty() { "nothing waits".into() } else { format!("{left} skipped") };
                return Ok(Report { text, ..Report::default() });
            }
            if !said_waiting {
                say("nothing waits; this goes on when something does (Ctrl-C leaves)\n")?;
                said_waiting = true;
            }
            thread::sleep(PAUSE);
            continue;
        };
        said_waiting = false;
        match ask(&mut hub, &review)? {
            Next::Following => {}
            Next::Skip => skipped.push(review),
            Next::Leave => return Ok(Report::default()),
        }
    }
}

fn ask(hub: &mut Patient, review: &str) -> Result<Next, Failure> {
    let mut comments: Vec<ReviewComment> = Vec::new();
    let mut shown: Option<ReviewShow> = None;
    loop {
        let got = hub.ask(&ReviewsGet { review: review.to_owned() })?;
        let seen = |shown: &ReviewShow| (shown.revision, shown.digest.clone());
        if shown.as_ref().is_none_or(|shown| seen(shown) != seen(&got.shown)) {
            say(&format!("\n{}", show::render(&got)))?;
        }
        if got.outcome.is_some() {
            return Ok(Next::Following);
        }
        let current = got.shown;
        let Some(answer) = question(QUESTION)? else { return Ok(Next::Leave) };
        let verdict = match answer.as_str() {
            "a" => Some(Verdict::Accept),
            "r" => question("why (Enter for no reason)? ")?
                .map(|reason| Verdict::Reject { reason: Some(reason).filter(|reason| !reason.is_empty()) }),
            "h" => hunks(&current)?,
            "c" => {
                comments.extend(comment(&current)?);
                None
            }
            "s" => return Ok(Next::Skip),
            "q" => return Ok(Next::Leave),
            _ => None,
        };
        if let Some(verdict) = verdict {
            let word = done(&verdict, &current);
            let agent_writes = current.agent_writes && !matches!(verdict, Verdict::Reject { .. });
            let decision = Decision { verdict, comments: comments.clone(), write_here: false };
            let (revision, digest) = (Some(current.revision), Some(current.digest.clone()));
            let decide = ReviewsDecide { review: review.to_owned(), revision, digest, decision };
            let (result, write_here) = decide_or_offer_to_write(hub, decide)?;
            let Some((_, message)) = not_taken(review, &result) else {
                let agent = name(&current.agent);
                say(&match agent_writes && !write_here {
                    true => format!("{word}; {agent} was told to write it\n"),
                    false => format!("{word}\n"),
                })?;
                return Ok(Next::Following);
            };
            if matches!(result, ReviewDecidedResult::AlreadyDecided { .. }) {
                let outcome = hub.ask(&ReviewsGet { review: review.to_owned() })?.outcome;
                say(&already(&message, outcome.as_ref()))?;
                return Ok(Next::Following);
            }
            if !matches!(result, ReviewDecidedResult::Refused { can_write_here: true, .. }) {
                say(&line(&message))?;
            }
        }
        shown = Some(current);
    }
}

/// If the agent that should write the file no longer waits, asks whether Linkspan shall. Gives whether it shall.
fn decide_or_offer_to_write(
    hub: &mut Patient,
    mut decide: ReviewsDecide,
) -> Result<(ReviewDecidedResult, bool), Failure> {
    let result = hub.ask(&decide)?;
    let ReviewDecidedResult::Refused { message, can_write_here: true } = &result else {
        return Ok((result, false));
    };
    say(&line(&format!("{}: {message}", decide.review)))?;
    if question(WRITE_QUESTION)?.as_deref() != Some("y") {
        say("nothing is decided\n")?;
        return Ok((result, false));
    }
    decide.decision.write_here = true;
    Ok((hub.ask(&decide)?, true))
}

/// Paths and the words of others are in it, and none of them may reach the terminal as it is.
fn line(message: &str) -> String {
    format!("{}\n", name(message))
}

/// What was told to a hub that went away may have been first, so it is said how it was decided.
fn already(message: &str, outcome: Option<&ReviewOutcome>) -> String {
    match outcome {
        Some(outcome) => line(&format!("{message}: {}", ended(&outcome.ended))),
        None => line(message),
    }
}

fn hunks(shown: &ReviewShow) -> Result<Option<Verdict>, Failure> {
    let Some(answer) = question("which hunks (such as 1 3; Enter for none after all)? ")? else {
        return Ok(None);
    };
    let words = answer.split([' ', ',']).filter(|word| !word.is_empty());
    let names: Result<Vec<HunkName>, String> = words.map(str::parse).collect();
    let chosen = names.map_err(Failure::usage).and_then(|names| hunk_ids(&names, &shown.hunks));
    match chosen {
        Ok(hunks) if hunks.is_empty() => Ok(None),
        Ok(hunks) => Ok(Some(Verdict::AcceptHunks { hunks })),
        Err(failure) => {
            say(&line(&failure.message))?;
            Ok(None)
        }
    }
}

fn comment(shown: &ReviewShow) -> Result<Option<ReviewComment>, Failure> {
    let lines = shown.proposed.lines().count().max(1);
    let Some(line) = question(&format!("on which line (1 to {lines})? "))? else { return Ok(None) };
    let Some(line) = line.parse::<u32>().ok().filter(|line| *line > 0 && *line as usize <= lines) else {
        say("there is no such line\n")?;
        return Ok(None);
    };
    let text = question("what do you say? ")?.filter(|text| !text.is_empty());
    Ok(text.map(|text| ReviewComment { line, text }))
}

/// Asks, and reads one line; `None` at the end of the input. What was typed before the question was there does not
/// answer it.
fn question(text: &str) -> Result<Option<String>, Failure> {
    say(&styled(HEAD, text))?;
    if io::stdin().is_terminal() {
        // What cannot be dropped is taken for an answer only by a person who typed ahead.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    match read.map_err(|error| Failure::internal(format!("standard input cannot be read: {error}")))? {
        0 => Ok(None),
        _ => Ok(Some(line.trim().to_owned())),
    }
}

fn say(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    write!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::internal(format!("the output could not be written: {error}")))
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::ReviewEnded;

    use super::*;

    #[test]
    fn the_words_of_others_do_not_reach_the_terminal_as_they_are() {
        let message = "/w/\u{1b}]0;sly\u{7}.rs is denied".into();
        let result = ReviewDecidedResult::Refused { message, can_write_here: false };
        let (_, message) = not_taken("r1", &result).unwrap();
        assert_eq!(line(&message), "r1: /w/\\u{1b}]0;sly\\u{7}.rs is denied\n");
    }

    #[test]
    fn what_was_decided_already_is_said_as_it_was_decided() {
        let result = ReviewDecidedResult::AlreadyDecided { by: "VS\u{1b}Code".into() };
        let (_, message) = not_taken("r1", &result).unwrap();
        let ended = ReviewEnded::Rejected { reason: None };
        let outcome = ReviewOutcome { ended, comments: Vec::new(), delivered: true };
        let said = already(&message, Some(&outcome));
        assert_eq!(said, "r1 was already decided in VS\\u{1b}Code: rejected\n");
    }
}
