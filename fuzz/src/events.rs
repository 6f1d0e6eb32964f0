//! Bytes into events about few reviews, agents and files, so that they meet.

use arbitrary::{Result, Unstructured};
use linkspan_review::{
    AgentId, Comment, Decision, Digest, Event, Format, LineNumber, Owner, Proposal, Review, ReviewId,
    Revision, State, Step, SurfaceId, Text, Verdict, WindowId, WriteError, Writer,
};

const LINES: [&str; 7] = ["a\n", "b\n", "c\n", "a\r\n", "\u{feff}", "é\r\n", "я"];
const FORMATS: [&str; 4] = ["UTF-8", "UTF-8 with BOM", "UTF-16LE", "windows-1252"];
const STEPS: [Step; 7] =
    [Step::Proposed, Step::Edited, Step::Rebased, Step::Decided, Step::Written, Step::Ended, Step::Delivered];

pub(crate) fn event(state: &State, input: &mut Unstructured<'_>) -> Result<Event> {
    let kind = input.int_in_range(0..=13_u8)?;
    let review = ReviewId(number(input)?);
    Ok(match kind {
        0 => Event::Proposed(proposal(input)?),
        1 => Event::Recorded { review, step: *input.choose(&STEPS)? },
        2 => Event::RecordFailed { review, step: *input.choose(&STEPS)?, error: "full".to_owned() },
        3 => Event::Edited {
            review,
            surface: SurfaceId(number(input)?),
            revision: revision(state.review(review), input)?,
            digest: digest(state.review(review), input)?,
            text: text(input)?,
        },
        4 => Event::Decided {
            review,
            surface: SurfaceId(number(input)?),
            revision: revision(state.review(review), input)?,
            digest: digest(state.review(review), input)?,
            decision: decision(state.review(review), input)?,
            base_now: file(state.review(review), input)?,
        },
        5 => Event::Written { review },
        6 => Event::WriteFailed { review, error: WriteError::Io("no space".to_owned()) },
        7 => Event::WriteFailed { review, error: WriteError::BaseMoved(file(state.review(review), input)?) },
        8 => Event::Withdrawn { review },
        9 => Event::Superseded { review, by: ReviewId(number(input)?) },
        10 => Event::Delivered { review },
        11 => Event::OwnerGone { agent: AgentId(number(input)?), said_goodbye: input.arbitrary()? },
        12 => Event::WindowBack { window: WindowId(number(input)?) },
        _ => Event::Expired { review },
    })
}

fn number(input: &mut Unstructured<'_>) -> Result<u64> {
    input.int_in_range(0..=3)
}

fn proposal(input: &mut Unstructured<'_>) -> Result<Proposal> {
    Ok(Proposal {
        owner: Owner { agent: AgentId(number(input)?), key: "claude:one".to_owned() },
        window: WindowId(number(input)?),
        set: None,
        path: "/w/a".into(),
        label: String::new(),
        writer: *input.choose(&[Writer::Hub, Writer::Agent, Writer::AgentAsProposed, Writer::Nobody])?,
        base: file(None, input)?,
        left: if input.ratio(1, 4)? { Some(text(input)?.into()) } else { None },
        proposed: text(input)?,
        asked: None,
    })
}

fn text(input: &mut Unstructured<'_>) -> Result<String> {
    let lines = input.int_in_range(0..=6_u8)?;
    (0..lines).map(|_| input.choose(&LINES).copied()).collect()
}

/// Often what the review is about, or a decision would hardly ever meet the file it was made for.
fn file(review: Option<&Review>, input: &mut Unstructured<'_>) -> Result<Option<Text>> {
    match review {
        Some(review) if input.arbitrary()? => Ok(review.base.clone()),
        _ if input.arbitrary()? => {
            let format = Format::from_name(input.choose(&FORMATS)?).expect("a format");
            Ok(Some(Text { format, text: text(input)?.into() }))
        }
        _ => Ok(None),
    }
}

fn digest(review: Option<&Review>, input: &mut Unstructured<'_>) -> Result<Option<Digest>> {
    Ok(match input.int_in_range(0..=3_u8)? {
        0 => None,
        1 => Some(Digest::of(text(input)?.as_bytes())),
        _ => review.map(Review::shown_digest),
    })
}

fn revision(review: Option<&Review>, input: &mut Unstructured<'_>) -> Result<Revision> {
    match review {
        Some(review) if input.arbitrary()? => Ok(review.revision),
        _ => Ok(Revision(input.int_in_range(0..=3)?)),
    }
}

fn decision(review: Option<&Review>, input: &mut Unstructured<'_>) -> Result<Decision> {
    let verdict = match input.int_in_range(0..=3_u8)? {
        0 => Verdict::Accept,
        1 => {
            let taken: u8 = input.arbitrary()?;
            let hunks = review.map(Review::hunks).unwrap_or_default();
            let chosen = hunks.iter().enumerate().filter(|(at, _)| taken >> (at % 8) & 1 == 1);
            Verdict::AcceptHunks(chosen.map(|(_, hunk)| hunk.id).collect())
        }
        2 => Verdict::AcceptEdited(text(input)?),
        _ => Verdict::Reject { reason: None },
    };
    let comments = match input.arbitrary()? {
        true => vec![Comment { line: LineNumber(input.arbitrary()?), text: text(input)? }],
        false => Vec::new(),
    };
    Ok(Decision { verdict, comments, write_here: input.arbitrary()? })
}
