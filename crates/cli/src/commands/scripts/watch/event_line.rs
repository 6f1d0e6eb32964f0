//! One line of text for one event. Names and texts come from agents and files, and are escaped for the terminal.

use linkspan_editor_api::{HubEvent, Position, ReviewChange, ReviewSummary, WindowEvent, labels};

use crate::cli::output::{DIM, count, lines_changed, styled};
use crate::commands::agents::asks;
use crate::visible::name;

/// So much of a selection is shown.
const EXCERPT: usize = 40;

pub(crate) fn line(event: &HubEvent) -> String {
    format!("{}  {}", styled(DIM, &name(&event.window)), describe(&event.what))
}

fn describe(event: &WindowEvent) -> String {
    match event {
        WindowEvent::Attached { editor, folders } => {
            format!("{} attached: {}", name(&editor.name), names(folders))
        }
        WindowEvent::Away => "the editor is away".into(),
        WindowEvent::Closed => "closed".into(),
        WindowEvent::AgentJoined { agent, name: agent_name, version, dialect } => {
            format!("{} {} {} connected ({})", name(agent), name(agent_name), name(version), name(dialect))
        }
        WindowEvent::AgentLeft { agent, name: agent_name } => {
            format!("{} {} left", name(agent), name(agent_name))
        }
        WindowEvent::AgentWaiting { name: agent, message } => {
            labels::agent_waiting(&name(agent), &name(message))
        }
        WindowEvent::AgentDone { name: agent } => labels::agent_done(&name(agent)),
        WindowEvent::Selection { selection } => {
            let place = format!("{}:{}", name(&selection.path), start(selection.range.start));
            match selection.is_empty {
                true => format!("cursor at {place}"),
                false => {
                    format!("selected {place}-{} {}", end(selection.range.end), excerpt(&selection.text))
                }
            }
        }
        WindowEvent::Mentioned { path, lines: None } => format!("mentioned {}", name(path)),
        WindowEvent::Mentioned { path, lines: Some(lines) } => {
            format!("mentioned {}:{}-{}", name(path), one_based(lines.first), one_based(lines.last))
        }
        WindowEvent::Diagnostics { paths } => format!("diagnostics changed: {}", names(paths)),
        WindowEvent::Review { review, path, change, summary } => {
            format!("{} {} {}", name(review), name(path), describe_change(change, summary.as_ref()))
        }
        WindowEvent::Asked { asked } => {
            let question = asks::line(&asked.question, asked.detail.as_deref());
            let ask = name(&asked.ask);
            format!("{} asks: {question} — linkspan allow {ask}", name(&asked.agent))
        }
        WindowEvent::AskOver { ask, agent, option, by } => {
            let by = by.as_deref().map(|by| format!(" in {}", name(by))).unwrap_or_default();
            let answer = option.map_or("is no longer pending", asks::answer_label);
            format!("{} of {} {answer}{by}", name(ask), name(agent))
        }
        WindowEvent::Undone { change, path, redo } => {
            format!("{} {} undone; `linkspan undo {}` redoes it", name(change), name(path), name(redo))
        }
    }
}

fn describe_change(change: &ReviewChange, summary: Option<&ReviewSummary>) -> String {
    match change {
        ReviewChange::Proposed => match summary {
            Some(summary) => {
                let size = lines_changed(summary.added, summary.removed);
                let description =
                    summary.description().map(|text| format!(": “{}”", name(text))).unwrap_or_default();
                let hunks = count(summary.hunks, "hunk");
                format!("proposed by {}, {size}, {hunks}{description}", name(&summary.agent))
            }
            None => "proposed".into(),
        },
        ReviewChange::Shown { .. } => "shown".into(),
        ReviewChange::Edited { .. } => "edited".into(),
        ReviewChange::Rebased { conflicts: 0, .. } => "rebased onto the changed file".into(),
        ReviewChange::Rebased { conflicts, .. } => {
            format!("rebased onto the changed file, {}", count(*conflicts, "conflict"))
        }
        ReviewChange::Decided { verdict, by } => labels::decided_in(*verdict, by),
        ReviewChange::Written => "written".into(),
        ReviewChange::OnDisk => "written by its agent".into(),
        ReviewChange::NotOnDisk => "accepted, not on disk: its agent has not written it".into(),
        ReviewChange::AgentGone => "its agent no longer waits for the decision".into(),
        ReviewChange::AgentBack => "its agent waits for the decision again".into(),
        ReviewChange::Reopened { error } => format!("pending again: {}", name(error)),
        ReviewChange::Withdrawn => labels::WITHDRAWN.into(),
        ReviewChange::Superseded { by } => labels::superseded_by(by),
        ReviewChange::Failed { error } => labels::failed(error),
        ReviewChange::Delivered => "delivered".into(),
    }
}

fn names(paths: &[String]) -> String {
    paths.iter().map(|path| name(path)).collect::<Vec<_>>().join(", ")
}

fn start(position: Position) -> String {
    format!("{}:{}", one_based(position.line), one_based(position.character))
}

/// The end is exclusive and counts from 0, so it is the last character counted from 1.
fn end(position: Position) -> String {
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

    fn text(what: WindowEvent) -> String {
        anstream::adapter::strip_str(&line(&HubEvent { window: "w1".into(), what })).to_string()
    }

    #[test]
    fn hostile_names_and_texts_are_escaped_and_stay_on_one_line() {
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
            text(WindowEvent::Selection { selection }),
            "w1  selected /w/a\\u{1b}[2J:2:1-3:1 \"x\\ny\""
        );
        let left = WindowEvent::AgentLeft { agent: "a1".into(), name: "evil\r\u{202e}".into() };
        assert_eq!(text(left), "w1  a1 evil\\r\\u{202e} left");
    }

    #[test]
    fn an_agent_that_waits_says_why_if_it_did() {
        let waits = |message: &str| {
            text(WindowEvent::AgentWaiting { name: "Claude Code".into(), message: message.into() })
        };
        assert_eq!(waits("needs your\npermission"), "w1  Claude Code is waiting: needs your\\npermission");
        assert_eq!(waits(" "), "w1  Claude Code is waiting");
        let done = WindowEvent::AgentDone { name: "Claude Code".into() };
        assert_eq!(text(done), "w1  Claude Code is done");
    }

    #[test]
    fn a_decision_is_shown_with_its_place() {
        let change = ReviewChange::Decided { verdict: VerdictKind::AcceptHunks, by: "Neovim".into() };
        let review = WindowEvent::Review { review: "r1".into(), path: "/w/a".into(), change, summary: None };
        assert_eq!(text(review), "w1  r1 /w/a accepted in part in Neovim");
    }
}
