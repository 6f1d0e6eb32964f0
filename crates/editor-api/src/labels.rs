//! The words that people read wherever reviews are listed, decided or reported: ages, counts, verdicts, outcomes and
//! severities. One wording for commands, the terminal reviewer and the hub. What a wire spells is not here.

use crate::decision::VerdictKind;
use crate::diagnostics::Severity;
use crate::permissions::PermissionKind;
use crate::receives::{Receives, ReceivesNotes};
use crate::review::HideReason;
use crate::reviews::{AcceptedPart, ReviewEnded};
use crate::user::AskOption;
use crate::visible::name;

/// A review whose agent no longer wants it.
pub const WITHDRAWN: &str = "withdrawn by its agent";
/// A review that its agent replaced by a newer one.
pub const SUPERSEDED: &str = "superseded by a newer change";
/// An accepted review that has no effect on its file.
pub const NOT_CARRIED_OUT: &str = "accepted, but it could not be carried out";

/// An agent waits for the user, who reads why in the agent's own words.
pub fn agent_waiting(agent: &str, message: &str) -> String {
    match message.trim() {
        "" => format!("{agent} is waiting"),
        message => format!("{agent} is waiting: {message}"),
    }
}

/// An agent ended its turn.
pub fn agent_done(agent: &str) -> String {
    format!("{agent} is done")
}

/// How long something lasted, in its largest unit: `59s`, `1m`, `2h`, `2d`.
pub fn age(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// Lines added and removed.
pub fn lines_changed(added: u32, removed: u32) -> String {
    format!("+{added} −{removed}")
}

/// `1 hunk`, `2 hunks`.
pub fn count(number: impl Into<u64>, noun: &str) -> String {
    match number.into() {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// The decision of the user.
pub fn verdict(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Accept => "accepted",
        VerdictKind::AcceptHunks => "accepted in part",
        VerdictKind::AcceptEdited => "accepted with edits",
        VerdictKind::Reject => "rejected",
    }
}

/// The verdict that accepts this much of a proposal.
pub fn verdict_of(taken: AcceptedPart) -> VerdictKind {
    match taken {
        AcceptedPart::All => VerdictKind::Accept,
        AcceptedPart::Some => VerdictKind::AcceptHunks,
        AcceptedPart::Edited => VerdictKind::AcceptEdited,
    }
}

/// How a review ended, in a few words.
pub fn outcome(ended: &ReviewEnded) -> &'static str {
    match ended {
        ReviewEnded::Accepted { taken, .. } => verdict(verdict_of(*taken)),
        ReviewEnded::Rejected { .. } => verdict(VerdictKind::Reject),
        ReviewEnded::Withdrawn => WITHDRAWN,
        ReviewEnded::Superseded { .. } => SUPERSEDED,
        ReviewEnded::Failed { .. } => NOT_CARRIED_OUT,
    }
}

/// How a review ended, with the reason, the newer review or the error. Safe to print.
pub fn outcome_in_full(ended: &ReviewEnded) -> String {
    match ended {
        ReviewEnded::Rejected { reason: Some(reason) } => {
            format!("{}: {}", verdict(VerdictKind::Reject), name(reason))
        }
        ReviewEnded::Superseded { by } => superseded_by(by),
        ReviewEnded::Failed { error } => failed(error),
        ReviewEnded::Accepted { .. } | ReviewEnded::Rejected { reason: None } | ReviewEnded::Withdrawn => {
            outcome(ended).to_owned()
        }
    }
}

/// Why a review left the screen. Safe to print.
pub fn hide_reason(reason: &HideReason) -> String {
    match reason {
        HideReason::Decided { by, verdict } => decided_in(*verdict, by),
        HideReason::Withdrawn => WITHDRAWN.to_owned(),
        HideReason::Superseded => SUPERSEDED.to_owned(),
        HideReason::Failed { error } => name(error),
    }
}

/// A decision and where it was made. Safe to print.
pub fn decided_in(verdict: VerdictKind, place: &str) -> String {
    format!("{} in {}", self::verdict(verdict), name(place))
}

/// The end of a review that a newer one replaced. Safe to print.
pub fn superseded_by(review: &str) -> String {
    format!("superseded by {}", name(review))
}

/// The end of a review that could not be carried out. Safe to print.
pub fn failed(error: &str) -> String {
    format!("failed: {}", name(error))
}

/// What the user should know before typing for an agent that does not receive everything; `None` if it does. Safe to
/// print. `limit` is what the agent restricts of the rest; `hook` is its name for `linkspan hook install`.
pub fn receives_notes(
    agent: &str,
    receives: Receives,
    limit: Option<&str>,
    hook: Option<&str>,
) -> Option<ReceivesNotes> {
    let agent = name(agent);
    let missing = |is_received: bool, what: &'static str| (!is_received).then_some(what);
    let reason = missing(receives.reason, "your reason");
    let comments = missing(receives.comments, "your comments");
    let hunks = missing(receives.hunks, "your choice of hunks");
    let edited = missing(receives.edited, "your edits");
    let lacks: Vec<&str> = [reason, comments, hunks, edited].into_iter().flatten().collect();
    let mut all = Vec::new();
    if receives == Receives::NOTHING {
        all.push(format!("{agent} receives only yes or no, not {}.", one_of(&lacks)));
    } else if !lacks.is_empty() {
        all.push(format!("{agent} will not receive {}.", one_of(&lacks)));
    }
    all.extend(limit.map(|limit| format!("{agent} {limit}.")));
    if all.is_empty() {
        return None;
    }
    let remedy = hook.map(|hook| format!("To change that, run `linkspan hook install {hook}`."));
    all.extend(remedy.clone());
    let note = |what: Option<&str>| what.map(|what| format!("{agent} will not receive {what}."));
    let limited = |what: Option<&str>| note(what).or_else(|| limit.map(|limit| format!("{agent} {limit}.")));
    Some(ReceivesNotes {
        all: all.join(" "),
        reason: limited(reason),
        comments: limited(comments),
        hunks: note(hunks),
        edited: note(edited),
        remedy,
    })
}

/// An answer to a question, for a button: which agent may do what, and where.
pub fn answer(option: AskOption, agent: &str, deed: PermissionKind) -> String {
    let agent = name(agent);
    let what = match deed {
        PermissionKind::Command => "run commands here",
        PermissionKind::Code => "execute code here",
        PermissionKind::Edit => "edit without review here",
        PermissionKind::Git => "stage and commit here",
    };
    match option {
        AskOption::AllowOnce => "Allow once".to_owned(),
        AskOption::AllowSession => format!("Allow {agent} to {what} until it disconnects"),
        AskOption::AllowAlways => format!("Always allow {agent} to {what}"),
        AskOption::Deny => "Deny".to_owned(),
    }
}

/// `a`, `a or b`, `a, b or c`.
fn one_of(things: &[&str]) -> String {
    match things {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// How bad a diagnostic is.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
        Severity::Hint => "hint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_says_who_may_do_what() {
        let button = answer(AskOption::AllowAlways, "ppxai", PermissionKind::Command);
        assert_eq!(button, "Always allow ppxai to run commands here");
        assert_eq!(answer(AskOption::Deny, "ppxai", PermissionKind::Command), "Deny");
    }

    #[test]
    fn ages_have_one_unit() {
        assert_eq!([0, 59_999, 60_000, 7_200_000, 172_800_000].map(age), ["0s", "59s", "1m", "2h", "2d"]);
    }

    #[test]
    fn an_agent_that_receives_everything_needs_no_note() {
        assert_eq!(receives_notes("a", Receives::EVERYTHING, None, Some("claude")), None);
    }

    #[test]
    fn a_note_names_what_is_lost_and_what_to_do() {
        let notes = receives_notes("Claude Code", Receives::NOTHING, None, Some("claude")).unwrap();
        assert_eq!(
            notes.all,
            "Claude Code receives only yes or no, not your reason, your comments, your choice of hunks or your \
             edits. To change that, run `linkspan hook install claude`."
        );
        assert_eq!(notes.comments.as_deref(), Some("Claude Code will not receive your comments."));
        let words = Receives { hunks: false, edited: false, ..Receives::EVERYTHING };
        let notes = receives_notes("b\u{1b}[2J", words, None, None).unwrap();
        let agent = name("b\u{1b}[2J");
        assert_eq!(notes.all, format!("{agent} will not receive your choice of hunks or your edits."));
        assert_eq!((notes.reason, notes.comments), (None, None));
        assert_eq!(notes.edited, Some(format!("{agent} will not receive your edits.")));
    }

    #[test]
    fn a_limit_is_said_where_it_applies() {
        let notes =
            receives_notes("N", Receives::EVERYTHING, Some("shows at most 9 characters"), None).unwrap();
        assert_eq!(notes.all, "N shows at most 9 characters.");
        assert_eq!((notes.reason.as_ref(), notes.comments.as_ref()), (Some(&notes.all), Some(&notes.all)));
        assert_eq!((notes.hunks, notes.edited), (None, None));
    }

    #[test]
    fn an_outcome_in_full_has_its_reason_and_cannot_move_the_cursor() {
        let rejected = ReviewEnded::Rejected { reason: Some("no\u{1b}[2J".into()) };
        assert_eq!(outcome_in_full(&rejected), format!("rejected: {}", name("no\u{1b}[2J")));
        assert_eq!(outcome_in_full(&ReviewEnded::Withdrawn), "withdrawn by its agent");
        assert_eq!(outcome_in_full(&ReviewEnded::Superseded { by: "r13".into() }), "superseded by r13");
        let edited = ReviewEnded::Accepted { taken: AcceptedPart::Edited, person_diff: None };
        assert_eq!(outcome_in_full(&edited), "accepted with edits");
    }
}
