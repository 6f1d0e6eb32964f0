//! Conversions between the types of reviews and those of the wires, and the failures that agents receive. Written by
//! hand, because neither side should depend on the other.

use std::ops::Range;
use std::path::Path;

use linkspan_dialect::{Accepted, Answer, DecidedHunk, Failure, FailureKind, Rejected};
use linkspan_editor_api as api;
use linkspan_editor_api::{RpcError, errors};
use linkspan_review::{
    AcceptedPart, Comment, Conflict, Decision, Digest, Hunk, LineNumber, Outcome, Phase, Review, ReviewEnd,
    Verdict, WindowId, line_starts, unified,
};

use crate::core::contract::{FileError, LineCount};
use crate::core::pending::NoAnswer;

const CONTEXT_LINES: usize = 3;

/// Everything a surface needs to show a review.
pub(super) fn shown(review: &Review, hunks: &[Hunk], receives: Option<api::Receives>) -> api::ReviewShow {
    api::ReviewShow {
        base: review.base_text().to_owned(),
        proposed: review.side().to_owned(),
        hunks: shown_hunks(review, hunks),
        ..without_texts(review, receives)
    }
}

pub(super) fn without_texts(review: &Review, receives: Option<api::Receives>) -> api::ReviewShow {
    let (dialect, agent) = asker(&review.owner_key);
    api::ReviewShow {
        review: review.id.to_string(),
        revision: review.revision.0,
        digest: review.shown_digest().to_string(),
        set: review.set.map(|set| set.to_string()),
        set_label: None,
        window: review.window.to_string(),
        agent: agent.to_owned(),
        dialect: dialect.to_owned(),
        path: review.path.display().to_string(),
        label: review.label.clone(),
        new_file: review.base.is_none(),
        base: String::new(),
        proposed: String::new(),
        encoding: review.base.as_ref().map_or("UTF-8", |base| base.format.name()).to_owned(),
        line_endings: line_endings(review.base_text()).map(str::to_owned),
        hunks: Vec::new(),
        conflicts: review.conflicts.iter().map(shown_conflict).collect(),
        focus: false,
        omitted: false,
        inline: false,
        agent_writes: review.writer.is_agent(),
        owner_gone: review.owner.is_none(),
        receives,
        receives_notes: receives.and_then(|receives| receives_notes(review, receives)),
        origin: None,
    }
}

/// What the agent will not receive, in sentences; `None` if there is nothing to say.
fn receives_notes(review: &Review, receives: api::Receives) -> Option<api::ReceivesNotes> {
    let (dialect, agent) = asker(&review.owner_key);
    let known = linkspan_dialect::by_name(dialect).and_then(|dialect| dialect.receives.agent(agent));
    let title = known.map_or(agent, |known| known.title);
    let limit = known.and_then(|known| known.limit);
    api::labels::receives_notes(title, receives, limit, known.and_then(|known| known.hook))
}

/// The hunks as surfaces show them.
pub(super) fn shown_hunks(review: &Review, hunks: &[Hunk]) -> Vec<api::ReviewHunk> {
    let (base, proposed) = (Lines::of(review.base_text()), Lines::of(review.side()));
    hunks.iter().map(|hunk| shown_hunk(hunk, &base, &proposed)).collect()
}

/// The hunks that the review has if the user leaves this text in the editor.
pub(super) fn compared(review: &Review, text: &str) -> Vec<api::ReviewHunk> {
    let side = review.side_of(text);
    let (base, proposed) = (Lines::of(review.base_text()), Lines::of(&side));
    let hunks = linkspan_review::hunks(review.base_text(), &side);
    hunks.iter().map(|hunk| shown_hunk(hunk, &base, &proposed)).collect()
}

/// Separates an agent's name from its session in a key; no session contains it.
pub(super) const SESSION: char = '\u{1f}';

/// Whether its agent is a daemon, to which the hub connects. While the hub is away, the user may tell it elsewhere to
/// apply its patch.
pub(super) fn is_of_daemon(review: &Review) -> bool {
    let dialect = linkspan_dialect::by_name(asker(&review.owner_key).0);
    dialect.is_some_and(|dialect| matches!(dialect.endpoint, linkspan_dialect::Endpoint::Daemon))
}

/// The dialect and the name of the agent, from its owner key.
pub(crate) fn asker(owner_key: &str) -> (&str, &str) {
    let (dialect, agent) = owner_key.split_once(':').unwrap_or(("", owner_key));
    (dialect, agent.rsplit_once(SESSION).map_or(agent, |(name, _)| name))
}

fn line_endings(text: &str) -> Option<&'static str> {
    // A search for one byte is many times faster than one for two.
    if !text.as_bytes().contains(&b'\r') {
        return None;
    }
    let crlf = text.matches("\r\n").count();
    let all = text.matches('\n').count();
    match crlf {
        0 => None,
        _ if crlf == all => Some("CRLF"),
        _ => Some("mixed CRLF and LF"),
    }
}

fn shown_hunk(hunk: &Hunk, base: &Lines<'_>, proposed: &Lines<'_>) -> api::ReviewHunk {
    let words = hunk.words.iter().map(|word| api::ReviewWords {
        before: base.range(&hunk.before, &word.before),
        after: proposed.range(&hunk.after, &word.after),
    });
    api::ReviewHunk {
        id: hunk.id.to_string(),
        before_start: hunk.before.start,
        before_count: hunk.before.end - hunk.before.start,
        after_start: hunk.after.start,
        after_count: hunk.after.end - hunk.after.start,
        words: words.collect(),
    }
}

/// The base side is what the file holds now; the proposed side is what the agent wants there.
fn shown_conflict(conflict: &Conflict) -> api::ReviewConflict {
    api::ReviewConflict {
        before_start: conflict.ours.start,
        before_count: conflict.ours.end - conflict.ours.start,
        after_start: conflict.merged.start,
        after_count: conflict.merged.end - conflict.merged.start,
    }
}

/// Where lines begin, to turn byte offsets into positions of editors.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Lines<'a> {
        Lines { text, starts: line_starts(text) }
    }

    /// `bytes` counts from the start of the first of `lines`.
    fn range(&self, lines: &Range<u32>, bytes: &Range<usize>) -> api::Range {
        let start = self.starts.get(lines.start as usize).copied().unwrap_or(self.text.len());
        api::Range { start: self.position(start + bytes.start), end: self.position(start + bytes.end) }
    }

    fn position(&self, at: usize) -> api::Position {
        let line = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = self.text.get(start..at).unwrap_or_default();
        api::Position { line: count(line), character: count(before.encode_utf16().count()) }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// How large a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    hunks: u32,
    added: u32,
    removed: u32,
}

impl Size {
    pub(super) fn of(review: &Review) -> Size {
        Size::of_hunks(&review.hunks())
    }

    pub(super) fn lines(self) -> LineCount {
        LineCount { added: self.added, removed: self.removed }
    }

    pub(super) fn of_hunks(hunks: &[Hunk]) -> Size {
        let lines =
            |side: fn(&Hunk) -> &Range<u32>| hunks.iter().map(|hunk| side(hunk).end - side(hunk).start).sum();
        Size {
            hunks: count(hunks.len()),
            added: lines(|hunk| &hunk.after),
            removed: lines(|hunk| &hunk.before),
        }
    }
}

pub(super) fn summary(
    review: &Review,
    (age_ms, size): (u64, Size),
    receives: Option<api::Receives>,
) -> api::ReviewSummary {
    let (dialect, agent) = asker(&review.owner_key);
    api::ReviewSummary {
        review: review.id.to_string(),
        set: review.set.map(|set| set.to_string()),
        window: review.window.to_string(),
        agent: agent.to_owned(),
        dialect: dialect.to_owned(),
        path: review.path.display().to_string(),
        label: review.label.clone(),
        phase: phase(review).to_owned(),
        age_ms,
        hunks: size.hunks,
        added: size.added,
        removed: size.removed,
        bytes: review.base_text().len().max(review.side().len()) as u64,
        revision: review.revision.0,
        digest: review.shown_digest().to_string(),
        new_file: review.base.is_none(),
        conflicts: count(review.conflicts.len()),
        owner_gone: review.owner.is_none(),
        agent_writes: review.writer.is_agent(),
        receives,
    }
}

pub(super) fn whole(review: &Review, receives: Option<api::Receives>) -> api::ReviewsGetResult {
    let name = review.path.display().to_string();
    let old = if review.base.is_some() || review.left.is_some() {
        format!("a{name}")
    } else {
        "/dev/null".to_owned()
    };
    let diff = unified(review.base_text(), review.side(), &old, &format!("b{name}"), CONTEXT_LINES);
    let outcome = match &review.phase {
        Phase::Settled { outcome, delivered } => Some(ended(outcome, *delivered)),
        _ => None,
    };
    api::ReviewsGetResult {
        shown: shown(review, &review.hunks(), receives),
        phase: phase(review).to_owned(),
        diff,
        outcome,
    }
}

fn phase(review: &Review) -> &'static str {
    match &review.phase {
        Phase::Recording => "recording",
        Phase::Pending if !review.conflicts.is_empty() => "conflict",
        Phase::Pending => "pending",
        Phase::Deciding(_) | Phase::Writing(_) | Phase::Settling(_) => "settling",
        Phase::Settled { outcome, .. } => match outcome.ended {
            ReviewEnd::Accepted(_) => "accepted",
            ReviewEnd::Rejected { .. } => "rejected",
            ReviewEnd::Withdrawn => "withdrawn",
            ReviewEnd::Superseded { .. } => "superseded",
            ReviewEnd::Failed { .. } => "failed",
        },
    }
}

fn ended(outcome: &Outcome, delivered: bool) -> api::ReviewOutcome {
    let ended = match &outcome.ended {
        ReviewEnd::Accepted(accepted) => api::ReviewEnded::Accepted {
            taken: taken(&accepted.taken),
            person_diff: accepted.person_diff.clone(),
        },
        ReviewEnd::Rejected { reason } => api::ReviewEnded::Rejected { reason: reason.clone() },
        ReviewEnd::Withdrawn => api::ReviewEnded::Withdrawn,
        ReviewEnd::Superseded { by } => api::ReviewEnded::Superseded { by: by.to_string() },
        ReviewEnd::Failed { error } => api::ReviewEnded::Failed { error: error.clone() },
    };
    api::ReviewOutcome { ended, comments: comments(outcome), delivered }
}

fn taken(taken: &AcceptedPart) -> api::AcceptedPart {
    match taken {
        AcceptedPart::All => api::AcceptedPart::All,
        AcceptedPart::Some { .. } => api::AcceptedPart::Some,
        AcceptedPart::Edited => api::AcceptedPart::Edited,
    }
}

pub(super) fn comments(outcome: &Outcome) -> Vec<api::ReviewComment> {
    told_comments(&outcome.comments)
}

/// The user's comments as agents receive them.
pub(super) fn told_comments(said: &[Comment]) -> Vec<api::ReviewComment> {
    said.iter().map(|c| api::ReviewComment { line: c.line.0, text: c.text.clone() }).collect()
}

/// The digest of what a surface showed. Surfaces that do not know digests send none, or an empty one.
pub(super) fn digest(said: Option<&str>) -> Result<Option<Digest>, RpcError> {
    let parsed = said.filter(|said| !said.is_empty()).map(str::parse).transpose();
    parsed
        .map_err(|error| RpcError::new(errors::INVALID_PARAMS, format!("`digest` is not a digest: {error}")))
}

/// A decision as the review core takes it; an error names the invalid part.
pub(super) fn decision(decision: api::Decision) -> Result<Decision, String> {
    let verdict = match decision.verdict {
        api::Verdict::Accept => Verdict::Accept,
        api::Verdict::AcceptHunks { hunks } => {
            let ids = hunks.iter().map(|id| id.parse().map_err(|_| format!("`{id}` is not a hunk id")));
            Verdict::AcceptHunks(ids.collect::<Result<_, _>>()?)
        }
        api::Verdict::AcceptEdited { text } => Verdict::AcceptEdited(text),
        api::Verdict::Reject { reason } => Verdict::Reject { reason },
    };
    let comments =
        decision.comments.into_iter().map(|c| Comment { line: LineNumber(c.line), text: c.text }).collect();
    Ok(Decision { verdict, comments, write_here: decision.write_here })
}

/// The verdict as one of the wire's words.
pub(super) fn verdict_kind(outcome: Option<&Outcome>) -> api::VerdictKind {
    match outcome.map(|outcome| &outcome.ended) {
        Some(ReviewEnd::Accepted(accepted)) => match accepted.taken {
            AcceptedPart::All => api::VerdictKind::Accept,
            AcceptedPart::Some { .. } => api::VerdictKind::AcceptHunks,
            AcceptedPart::Edited => api::VerdictKind::AcceptEdited,
        },
        _ => api::VerdictKind::Reject,
    }
}

/// The answer for the agent, in no dialect yet. A review that was decided is kept until its agent has received that.
pub(super) fn answer(review: Option<&Review>, outcome: &Outcome) -> Answer {
    let name = || review.map(|review| review.id.to_string()).unwrap_or_default();
    let path = || review.map(|review| review.path.clone()).unwrap_or_default();
    match &outcome.ended {
        ReviewEnd::Accepted(accepted) => Answer::Accepted(Accepted {
            review: name(),
            path: path(),
            text: Some(accepted.text.clone()),
            unsent_mark: review.is_some_and(Review::has_unsent_mark),
            new_file: accepted.new_file,
            written: review.is_some_and(Review::hub_writes),
            taken: taken(&accepted.taken),
            hunks: review.map(|review| decided_hunks(review, &accepted.taken)).unwrap_or_default(),
            person_diff: accepted.person_diff.clone(),
            comments: comments(outcome),
        }),
        ReviewEnd::Rejected { reason } => Answer::Rejected(Rejected {
            review: name(),
            path: path(),
            new_file: review.is_some_and(|review| review.base.is_none()),
            reason: reason.clone(),
            comments: comments(outcome),
        }),
        ReviewEnd::Withdrawn => {
            Answer::Failed(Failure::new(FailureKind::Withdrawn, "the change was withdrawn"))
        }
        ReviewEnd::Superseded { by } => Answer::Failed(Failure::new(
            FailureKind::Withdrawn,
            format!("it was superseded by a newer change ({by})"),
        )),
        ReviewEnd::Failed { error } => Answer::Failed(Failure::new(FailureKind::Io, error.clone())),
    }
}

/// Which hunks were taken, where it was not all or none of them.
fn decided_hunks(review: &Review, taken: &AcceptedPart) -> Vec<DecidedHunk> {
    let AcceptedPart::Some { taken, .. } = taken else { return Vec::new() };
    let decided = |hunk: Hunk| DecidedHunk {
        id: hunk.id.to_string(),
        before_start: hunk.before.start,
        before_count: hunk.before.end - hunk.before.start,
        after_start: hunk.after.start,
        after_count: hunk.after.end - hunk.after.start,
        taken: taken.contains(&hunk.id),
    };
    review.hunks().into_iter().map(decided).collect()
}

pub(super) fn pending_count<'a>(reviews: impl Iterator<Item = &'a Review>) -> u32 {
    let pending = reviews.filter(|review| review.phase == Phase::Pending).count();
    u32::try_from(pending).unwrap_or(u32::MAX)
}

/// The id of a window, as users write it.
pub(super) fn window_id(name: &str) -> Result<WindowId, RpcError> {
    let number = name.strip_prefix('w').and_then(|number| number.parse().ok());
    number.map(WindowId).ok_or_else(|| {
        let message = format!("`{name}` is not the id of a window; `linkspan status` lists them");
        RpcError::new(errors::INVALID_PARAMS, message)
    })
}

/// What an agent receives when an editor did not do what it was asked.
pub(super) fn unanswered(no_answer: &NoAnswer) -> Failure {
    let kind = match no_answer {
        NoAnswer::TimedOut => FailureKind::Timeout,
        NoAnswer::Gone => FailureKind::EditorGone,
        NoAnswer::Misunderstood(_) => FailureKind::Io,
        NoAnswer::Error(error) => kind_of(error.code),
    };
    Failure::new(kind, no_answer.message())
}

fn kind_of(code: i64) -> FailureKind {
    match code {
        errors::NOT_FOUND => FailureKind::NotFound,
        errors::UNSUPPORTED | errors::METHOD_NOT_FOUND => FailureKind::Unsupported,
        errors::INVALID_PARAMS => FailureKind::InvalidParams,
        errors::DENIED => FailureKind::Denied,
        errors::TIMEOUT => FailureKind::Timeout,
        errors::TOO_LARGE => FailureKind::TooLarge,
        _ => FailureKind::Io,
    }
}

/// What an agent receives when a file cannot be read.
pub(super) fn failure_of(error: &FileError) -> Failure {
    let kind = match error {
        FileError::Relative(_) | FileError::Nul(_) => FailureKind::InvalidParams,
        FileError::Outside(_) | FileError::Dangling(_) => FailureKind::OutsideWorkspace,
        FileError::Folder(_) | FileError::Special(_) => FailureKind::NotText,
        FileError::NoFolder(_) => FailureKind::NotFound,
        FileError::TooLarge { .. } => FailureKind::TooLarge,
        FileError::Io { .. } | FileError::Linked { .. } | FileError::NotKept { .. } => FailureKind::Io,
    };
    Failure::new(kind, error.to_string())
}

pub(super) fn denied(path: &Path) -> Failure {
    Failure::new(FailureKind::Denied, path_denied(path))
}

pub(super) fn path_denied(path: &Path) -> String {
    let path = path.display();
    format!(
        "{path} is kept from agents: `deny` in config.toml or .linkspan.toml covers it, or it is Linkspan's own, or it contains tokens of windows"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_shown_by_its_name_alone() {
        assert_eq!(asker("claude:claude-code"), ("claude", "claude-code"));
        assert_eq!(asker("linkspan:my: agent\u{1f}k3y"), ("linkspan", "my: agent"));
    }

    #[test]
    fn positions_count_utf16_units_within_their_line() {
        let lines = Lines::of("a\n😀é x\n");
        let range = lines.range(&(1..2), &(4..7));
        assert_eq!(range.start, api::Position { line: 1, character: 2 });
        assert_eq!(range.end, api::Position { line: 1, character: 4 });
        let end = lines.range(&(1..2), &(0..9)).end;
        assert_eq!(end, api::Position { line: 2, character: 0 });
    }

    #[test]
    fn line_endings_are_named_when_they_are_not_plain() {
        assert_eq!(line_endings("a\nb"), None);
        assert_eq!(line_endings("a\r\nb\r\n"), Some("CRLF"));
        assert_eq!(line_endings("a\r\nb\n"), Some("mixed CRLF and LF"));
    }
}
