//! One line for people about one thing that happened. Names and texts come from agents and files: nothing of them
//! reaches the terminal unescaped.

use linkspan_editor_api::{HubEvent, Position, ReviewChange, ReviewSummary, WindowEvent};

use crate::asks;
use crate::output::{DIM, change as lines_changed, count, decided, styled};
use crate::visible::name;

/// As much of a selection as fits on a line.
const EXCERPT: usize = 40;

pub(crate) fn line(event: &HubEvent) -> String {
    format!("{}  {}", styled(DIM, &name(&event.window)), what(&event.what))
}

fn what(event: &WindowEvent) -> String {
    match event {
        WindowEvent::Attached { editor, folders } => {
            format!("{} attached: {}", name(&editor.name), names(folders))
        }
        WindowEvent::Away => "the editor is away".into(),
        WindowEvent::Closed => "closed".into(),
        WindowEvent::AgentJoined { agent, name: called, version, dialect } => {
            format!("{} {} {} joined, speaking {}", name(agent), name(called), name(version), name(dialect))
        }
        WindowEvent::AgentLeft { agent, name: called } => format!("{} {} left", name(agent), name(called)),
        WindowEvent::Selection { selection } => {
            let place = format!("{}:{}", name(&selection.path), place(selection.range.start));
            match selection.is_empty {
                true => format!("cursor at {place}"),
                false => format!(
                    "selected {place}-{} {}",
                    place_of_end(selection.range.end),
                    excerpt(&selection.text)
                ),
            }
        }
        WindowEvent::Mentioned { path, lines: None } => format!("mentioned {}", name(path)),
        WindowEvent::Mentioned { path, lines: Some(lines) } => {
            format!("mentioned {}:{}-{}", name(path), one_based(lines.first), one_based(lines.last))
        }
        WindowEvent::Diagnostics { paths } => format!("diagnostics changed: {}", names(paths)),
        WindowEvent::Review { review, path, change, summary } => {
            format!("{} {} {}", name(review), name(path), became(change, summary.as_ref()))
        }
        WindowEvent::Asked { asked } => {
            let question = asks::line(&asked.question, asked.detail.as_deref());
            let ask = name(&asked.ask);
            format!("{} asks: {question} — linkspan allow {ask}", name(&asked.agent))
        }
        WindowEvent::AskOver { ask, agent, option, by } => {
            let by = by.as_deref().map(|by| format!(" in {}", name(by))).unwrap_or_default();
            let became = option.map_or("needs no answer any more", asks::said);
            format!("{} of {} {became}{by}", name(ask), name(agent))
        }
        WindowEvent::Undone { change, path, redo } => {
            format!("{} {} undone; `linkspan undo {}` puts it in again", name(change), name(path), name(redo))
        }
    }
}

fn became(change: &ReviewChange, summary: Option<&ReviewSummary>) -> String {
    match change {
        ReviewChange::Proposed => match summary {
            Some(summary) => {
                let size = lines_changed(summary.added, summary.removed);
                let said =
                    summary.description().map(|text| format!(": “{}”", name(text))).unwrap_or_default();
                let hunks = count(summary.hunks, "hunk");
                format!("proposed by {}, {size}, {hunks}{said}", name(&summary.agent))
            }
            None => "proposed".into(),
        },
        ReviewChange::Shown { .. } => "on the screen".into(),
        ReviewChange::Edited { .. } => "edited".into(),
        ReviewChange::Rebased { conflicts: 0, .. } => "moved with its file".into(),
        ReviewChange::Rebased { conflicts, .. } => {
            format!("moved with its file, {}", count(*conflicts, "conflict"))
        }
        ReviewChange::Decided { verdict, by } => format!("{} in {}", decided(*verdict), name(by)),
        ReviewChange::Written => "written".into(),
        ReviewChange::OnDisk => "written by its agent".into(),
        ReviewChange::NotOnDisk => "accepted, not on disk: its agent has not written it".into(),
        ReviewChange::AgentGone => "its agent no longer waits for the answer".into(),
        ReviewChange::AgentBack => "its agent waits for the answer again".into(),
        ReviewChange::Reopened { error } => format!("waits for a decision again: {}", name(error)),
        ReviewChange::Withdrawn => "withdrawn".into(),
        ReviewChange::Superseded { by } => format!("superseded by {}", name(by)),
        ReviewChange::Failed { error } => format!("failed: {}", name(error)),
        ReviewChange::Delivered => "delivered".into(),
    }
}

fn names(paths: &[String]) -> String {
    paths.iter().map(|path| name(path)).collect::<Vec<_>>().join(", ")
}

fn place(position: Position) -> String {
    format!("{}:{}", one_based(position.line), one_based(position.character))
}

/// The end is behind the last character: counted from 1, that is the last character itself.
fn place_of_end(position: Position) -> String {
    format!("{}:{}", one_based(position.line), position.character)
}

fn one_based(index: u32) -> u64 {
    u64::from(index) + 1
}

fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(EXCERPT).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", name(&short))
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::{Range, Selection, VerdictKind};

    use super::*;

    fn said(what: WindowEvent) -> String {
        anstream::adapter::strip_str(&line(&HubEvent { window: "w1".into(), what })).to_string()
    }

    #[test]
    fn hostile_names_and_texts_are_seen_and_stay_on_their_line() {
        let selection = Selection {
            path: "/w/a\u{1b}[2J".into(),
            text: "x\ny".into(),
            range: Range {
                start: Position { line: 1, character: 0 },
                end: Position { line: 2, character: 1 },
            },
            is_empty: false,
            reversed: false,
        };
        assert_eq!(
            said(WindowEvent::Selection { selection }),
            "w1  selected /w/a\\u{1b}[2J:2:1-3:1 \"x\\ny\""
        );
        let left = WindowEvent::AgentLeft { agent: "a1".into(), name: "evil\r\u{202e}".into() };
        assert_eq!(said(left), "w1  a1 evil\\r\\u{202e} left");
    }

    #[test]
    fn a_decision_says_what_and_where() {
        let change = ReviewChange::Decided { verdict: VerdictKind::AcceptHunks, by: "Neovim".into() };
        let review = WindowEvent::Review { review: "r1".into(), path: "/w/a".into(), change, summary: None };
        assert_eq!(said(review), "w1  r1 /w/a accepted in part in Neovim");
    }
}
