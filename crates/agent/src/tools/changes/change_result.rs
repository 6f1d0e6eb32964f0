//! What the model is told about a change: exactly what was decided, and what the file holds now. Pure.

use std::fmt::Write as _;

use linkspan_client::confirm::{AllowDetails, Confirmation};
use linkspan_client::connection::{AcceptedPart, Comment};
use linkspan_review::{hunks, unified};

use crate::tools::answer::beginning;

const CONTEXT: usize = 3;
const LONGEST_DIFF: usize = 40 * 1024;
/// Of the lines that hold now.
const MOST_LINES: usize = 200;

/// What happened to a change.
pub(super) struct DecidedChange<'a> {
    /// The file as the model would name it.
    pub(super) name: &'a str,
    /// Its text before; `None` if it did not exist.
    pub(super) base: Option<&'a str>,
    /// The text that the model proposed.
    pub(super) proposed: &'a str,
    pub(super) confirmation: &'a Confirmation,
}

/// The text for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultText {
    pub(super) text: String,
    /// The file holds something new.
    pub(super) is_written: bool,
}

pub(super) fn result_text(told: &DecidedChange<'_>) -> ResultText {
    let name = told.name;
    let (text, is_written) = match told.confirmation {
        Confirmation::NotAsked => (written(told, told.proposed), true),
        Confirmation::Unchanged => (format!("{name} already holds this text; nothing was changed."), false),
        Confirmation::AllowOnce { text, details, .. } => (accepted(told, text.as_deref(), details), true),
        Confirmation::Deny { reason, comments, .. } => (rejected(told, reason.as_deref(), comments), false),
        Confirmation::Undecided { why } => {
            (format!("Nobody decided on the change, so {name} was not changed: {why}"), false)
        }
    };
    ResultText { text, is_written }
}

/// "Created a.rs: 3 lines." or "Changed a.rs: 2 lines added, 1 removed."
fn written(told: &DecidedChange<'_>, text: &str) -> String {
    let Some(base) = told.base else {
        return format!("Created {}: {}.", told.name, lines(text.lines().count()));
    };
    let (mut added, mut removed) = (0, 0);
    for hunk in hunks(base, text) {
        removed += hunk.before.len();
        added += hunk.after.len();
    }
    format!("Changed {}: {} added, {removed} removed.", told.name, lines(added))
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn accepted(told: &DecidedChange<'_>, text: Option<&str>, details: &AllowDetails) -> String {
    let mut said = match text {
        None => format!(
            "The user accepted the change, and {} is written, but the editor did not report the final text; read the \
             file before you change it again.",
            told.name
        ),
        Some(text) if text == told.proposed => {
            format!("The user accepted the change. {}", written(told, text))
        }
        Some(text) => differs(told, text, details),
    };
    let is_edited = details.taken == Some(AcceptedPart::Edited);
    let whose = if is_edited { "the accepted text" } else { "your proposal" };
    comments_below(&mut said, &details.comments, whose);
    said
}

/// The file holds something else than was proposed.
fn differs(told: &DecidedChange<'_>, text: &str, details: &AllowDetails) -> String {
    let mut said = match details.taken {
        Some(AcceptedPart::Some) => {
            let taken = details.hunks.iter().filter(|hunk| hunk.taken).count();
            let of = match details.hunks.len() {
                0 => "a part of the change".to_owned(),
                all => format!("{taken} of {all} parts of the change"),
            };
            format!("The user accepted {of} and rejected the rest. {}", written(told, text))
        }
        Some(AcceptedPart::Edited) => {
            format!("The user accepted the change with edits of their own. {}", written(told, text))
        }
        Some(AcceptedPart::All) | None => {
            format!(
                "The user accepted the change, but the file holds another text than you proposed. {}",
                written(told, text)
            )
        }
    };
    let diff = match details.person_diff.as_deref().filter(|diff| !diff.is_empty()) {
        Some(diff) if details.taken == Some(AcceptedPart::Edited) => diff.to_owned(),
        _ => unified(told.proposed, text, "proposed", "accepted", CONTEXT),
    };
    let diff = beginning(diff, LONGEST_DIFF, "Read the file for the rest.");
    let _ = write!(said, "\nFrom your proposal to what was accepted:\n{diff}");
    if !said.ends_with('\n') {
        said.push('\n');
    }
    let _ =
        write!(said, "These lines hold now; continue from them:\n{}", lines_that_hold(told.proposed, text));
    said
}

/// The places of the accepted text that are not as proposed, with the lines around them.
fn lines_that_hold(proposed: &str, text: &str) -> String {
    let all: Vec<&str> = text.lines().collect();
    let mut shown = String::new();
    let (mut next, mut count) = (0, 0);
    for hunk in hunks(proposed, text) {
        let place = index(hunk.after.start)..index(hunk.after.end);
        let from = place.start.saturating_sub(CONTEXT).max(next);
        let to = place.end.saturating_add(CONTEXT).min(all.len());
        if from > next && next > 0 {
            shown += "…\n";
        }
        for (number, line) in all.iter().enumerate().take(to).skip(from) {
            if count == MOST_LINES {
                shown += "[More lines differ; read the file.]\n";
                return shown;
            }
            count += 1;
            let _ = writeln!(shown, "{}\t{line}", number + 1);
        }
        next = to.max(next);
    }
    if shown.is_empty() { "(the file is empty)\n".to_owned() } else { shown }
}

fn index(line: u32) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

fn rejected(told: &DecidedChange<'_>, reason: Option<&str>, comments: &[Comment]) -> String {
    let state = if told.base.is_some() { "is unchanged" } else { "was not created" };
    let mut said = format!("The user rejected the change; {} {state}.", told.name);
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => {
            let _ = write!(said, "\nTheir reason: {reason}");
        }
        None if comments.is_empty() => {
            said += " They gave no reason: do not make the same change again; ask what they want instead.";
        }
        None => {}
    }
    comments_below(&mut said, comments, "your proposal");
    said
}

/// Lines are those of the text that the user saw last.
fn comments_below(said: &mut String, comments: &[Comment], whose: &str) {
    if comments.is_empty() {
        return;
    }
    *said = format!("{}\nTheir comments on lines of {whose}:", said.trim_end());
    for comment in comments {
        let _ = write!(said, "\n  line {}: {}", comment.line, comment.text.trim().replace('\n', "\n    "));
    }
}

#[cfg(test)]
mod tests {
    use linkspan_client::confirm::DecidedBy;
    use linkspan_client::connection::DecidedHunk;

    use super::*;

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    const PROPOSED: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n";

    fn tell(confirmation: Confirmation) -> ResultText {
        result_text(&DecidedChange {
            name: "a.txt",
            base: Some(BASE),
            proposed: PROPOSED,
            confirmation: &confirmation,
        })
    }

    fn allow(text: Option<&str>, details: AllowDetails) -> ResultText {
        let text = text.map(str::to_owned);
        tell(Confirmation::AllowOnce { text, written: true, bytes: None, details, by: DecidedBy::Editor })
    }

    fn hunk(taken: bool) -> DecidedHunk {
        DecidedHunk {
            id: "h".into(),
            before_start: 0,
            before_count: 1,
            after_start: 0,
            after_count: 1,
            taken,
        }
    }

    #[test]
    fn taken() {
        let telling = allow(Some(PROPOSED), AllowDetails::default());
        assert_eq!(telling.text, "The user accepted the change. Changed a.txt: 2 lines added, 2 removed.");
        assert!(telling.is_written);
        assert_eq!(tell(Confirmation::NotAsked).text, "Changed a.txt: 2 lines added, 2 removed.");
        let new = result_text(&DecidedChange {
            name: "n",
            base: None,
            proposed: "x",
            confirmation: &Confirmation::NotAsked,
        });
        assert_eq!(new.text, "Created n: 1 line.");
    }

    #[test]
    fn taken_in_part_with_the_lines_that_hold_now() {
        let text = PROPOSED.replace("NINE", "nine");
        let details = AllowDetails {
            taken: Some(AcceptedPart::Some),
            hunks: vec![hunk(true), hunk(false)],
            comments: vec![Comment { line: 9, text: "keep this\nplease".into() }],
            ..AllowDetails::default()
        };
        assert_eq!(
            allow(Some(&text), details).text,
            "The user accepted 1 of 2 parts of the change and rejected the rest. Changed a.txt: 1 line added, 1 \
             removed.\nFrom your proposal to what was accepted:\n--- proposed\n+++ accepted\n@@ -6,4 +6,4 @@\n six\n \
             seven\n eight\n-NINE\n+nine\nThese lines hold now; continue from them:\n6\tsix\n7\tseven\n8\teight\n9\tnine\n\
             Their comments on lines of your proposal:\n  line 9: keep this\n    please"
        );
    }

    #[test]
    fn edited_by_the_user_with_their_diff() {
        let text = PROPOSED.replace("ONE", "Uno");
        let details = AllowDetails {
            taken: Some(AcceptedPart::Edited),
            person_diff: Some("--- a\n+++ b\n@@ -1 +1 @@\n-ONE\n+Uno\n".into()),
            ..AllowDetails::default()
        };
        let said = allow(Some(&text), details).text;
        assert!(
            said.starts_with("The user accepted the change with edits of their own. Changed a.txt"),
            "{said}"
        );
        assert!(
            said.contains("-ONE\n+Uno\nThese lines hold now; continue from them:\n1\tUno\n2\ttwo\n"),
            "{said}"
        );
    }

    #[test]
    fn a_text_that_differs_without_a_word_is_said_to_differ() {
        let said = allow(Some("else\n"), AllowDetails::default()).text;
        assert!(
            said.contains("holds another text than you proposed") && said.contains("1\telse\n"),
            "{said}"
        );
        let said = allow(Some(""), AllowDetails::default()).text;
        assert!(said.ends_with("(the file is empty)\n"), "{said}");
        let said = allow(None, AllowDetails::default()).text;
        assert!(said.contains("did not report the final text; read the file"), "{said}");
    }

    #[test]
    fn rejected_with_reason_and_comments() {
        let deny = |reason: Option<&str>, comments| {
            let reason = reason.map(str::to_owned);
            tell(Confirmation::Deny { reason, comments, by: DecidedBy::Terminal })
        };
        let comments = vec![Comment { line: 1, text: "why?".into() }];
        assert_eq!(
            deny(Some("not like this"), comments).text,
            "The user rejected the change; a.txt is unchanged.\nTheir reason: not like this\n\
             Their comments on lines of your proposal:\n  line 1: why?"
        );
        let without = deny(Some("  "), vec![]);
        assert!(!without.is_written && without.text.contains("gave no reason"), "{}", without.text);
    }

    #[test]
    fn undecided_is_neither() {
        let telling = tell(Confirmation::Undecided { why: "there is no terminal to ask in".into() });
        assert!(!telling.is_written);
        assert_eq!(
            telling.text,
            "Nobody decided on the change, so a.txt was not changed: there is no terminal to ask in"
        );
    }

    #[test]
    fn a_large_difference_is_cut() {
        let text: String = (0..20_000).map(|number| format!("line {number}\n")).collect();
        let said = allow(Some(&text), AllowDetails::default()).text;
        assert!(said.len() < 60 * 1024, "{}", said.len());
        assert!(said.contains("Read the file for the rest") && said.contains("More lines differ"));
    }
}
