//! Overlays over the diff: the help page, the text field, the confirmation.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::shortened;
use crate::document::Document;
use crate::keys::PARTS;
use crate::palette::Palette;
use crate::screen::{Bulk, Confirm, Overlay, Purpose, Screen};
use crate::visible::name;
use crate::word_wrap::wrapped;
use linkspan_editor_api::labels::{count, lines_changed};

pub(super) fn draw(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>) {
    match &screen.overlay {
        Overlay::None => {}
        Overlay::Help { top } => help(palette, frame, *top),
        Overlay::Type { purpose, line } => {
            let title = match purpose {
                Purpose::Reason => "Reason for rejecting".to_owned(),
                Purpose::Comment { line_number } => format!("Comment on line {line_number}"),
                Purpose::Search => "Search".to_owned(),
            };
            let (before, after) = line.parts();
            let (before, after) = (name(before), name(after));
            let room = usize::from(frame.area().width).saturating_sub(10).min(76);
            let before = shortened(&before, room);
            let mut rest = after.chars();
            let at = rest.next().unwrap_or(' ').to_string();
            let text = Line::from(vec![
                Span::raw(before),
                Span::styled(at, palette.selected),
                Span::raw(rest.as_str().to_owned()),
            ]);
            let notes = screen.document().and_then(Document::notes);
            let note = notes.and_then(|notes| match purpose {
                Purpose::Reason => notes.reason.as_deref(),
                Purpose::Comment { .. } => notes.comments.as_deref(),
                Purpose::Search => None,
            });
            let mut lines = note_lines(note, palette, room);
            lines.extend([text, Line::default(), keys(palette, &[("Enter", "done"), ("Esc", "cancel")])]);
            popup(palette, frame, &title, lines);
        }
        Overlay::Ask { asked, top } => super::prompt::draw(asked, *top, palette, frame),
        Overlay::Confirm(confirm) => question(screen, confirm, palette, frame),
    }
}

/// What the agent will not receive of this.
fn note_lines(note: Option<&str>, palette: &Palette, room: usize) -> Vec<Line<'static>> {
    let rows = note.map(|note| wrapped(&name(note), room.max(1), 4)).unwrap_or_default();
    rows.into_iter().map(|row| Line::styled(row, palette.warning)).collect()
}

fn question(screen: &Screen, confirm: &Confirm, palette: &Palette, frame: &mut Frame<'_>) {
    let room = usize::from(frame.area().width).saturating_sub(10).min(76);
    let notes = screen.document().and_then(Document::notes);
    let note = notes.and_then(|notes| match confirm {
        Confirm::Unmarked { .. } => notes.hunks.as_deref(),
        Confirm::Draft => notes.edited.as_deref(),
        Confirm::DespiteMarks { .. } | Confirm::WriteHere { .. } | Confirm::Bulk(_) => None,
    });
    let hunks = screen.document().map_or(0, |document| document.shown.hunks.len());
    let (title, mut lines, answers): (String, Vec<Line<'static>>, Vec<(&str, &str)>) = match confirm {
        Confirm::Unmarked { count } => (
            "Submit".into(),
            vec![Line::from(format!("{count} of {hunks} hunks have no mark."))],
            vec![("t", "include them"), ("l", "exclude them"), ("Esc", "cancel")],
        ),
        Confirm::DespiteMarks { left } => (
            "Accept the whole change?".into(),
            vec![Line::from(format!(
                "{} marked as excluded.",
                if *left == 1 { "1 hunk is".into() } else { format!("{left} hunks are") }
            ))],
            vec![("y", "accept all"), ("Esc", "cancel (s submits the marks)")],
        ),
        Confirm::Draft if screen.document().is_some_and(Document::has_old_draft) => (
            "The proposal changed after your edit".into(),
            vec![Line::from("Check your text against the new proposal."), Line::from(draft(screen))],
            vec![("e", "edit again"), ("d", "discard"), ("Esc", "later")],
        ),
        Confirm::Draft => (
            "Accept your text?".into(),
            vec![Line::from(draft(screen))],
            vec![("y", "accept"), ("e", "edit again"), ("d", "discard"), ("Esc", "later")],
        ),
        Confirm::WriteHere { .. } => (
            "Write the file?".into(),
            vec![Line::from(format!("{} no longer waits. Let Linkspan write the file?", agent(screen)))],
            vec![("y", "write the file"), ("Esc", "cancel")],
        ),
        Confirm::Bulk(bulk) => many(screen, bulk, palette, usize::from(frame.area().height)),
    };
    lines.extend(note_lines(note, palette, room));
    lines.push(Line::default());
    lines.push(keys(palette, &answers));
    popup(palette, frame, &title, lines);
}

fn agent(screen: &Screen) -> String {
    screen.current().map_or_else(|| "The agent".to_owned(), |entry| name(&entry.summary.agent))
}

/// The size of the user's text and of the proposal.
fn draft(screen: &Screen) -> String {
    let Some(document) = screen.document() else { return String::new() };
    let lines = document.draft.as_ref().map_or(0, |draft| draft.text.lines().count());
    format!("{}; the proposal has {}", count(lines as u64, "line"), document.after.count())
}

fn many(
    screen: &Screen,
    bulk: &Bulk,
    palette: &Palette,
    height: usize,
) -> (String, Vec<Line<'static>>, Vec<(&'static str, &'static str)>) {
    let word = if bulk.accept { "Accept" } else { "Reject" };
    let title = format!("{word} {} at once?", count(bulk.reviews.len() as u64, "change"));
    let room = height.saturating_sub(10).max(3);
    let mut lines: Vec<Line<'static>> = bulk
        .reviews
        .iter()
        .take(room)
        .filter_map(|review| screen.list.get(review))
        .map(|entry| {
            let loading = if entry.revision.is_none() { "  …" } else { "" };
            let summary = &entry.summary;
            Line::from(vec![
                Span::raw(shortened(&screen.name_of(summary), 50)),
                Span::styled(
                    format!("  {}{loading}", lines_changed(summary.added, summary.removed)),
                    palette.quiet,
                ),
            ])
        })
        .collect();
    if bulk.reviews.len() > room {
        let more = format!("and {} more", bulk.reviews.len() - room);
        lines.push(Line::styled(more, palette.quiet));
    }
    if bulk.kept_out > 0 {
        let kept = format!("{} skipped because of your own marks", count(bulk.kept_out as u64, "change"));
        lines.push(Line::styled(kept, palette.warning));
    }
    if bulk.agent_gone > 0 {
        let gone = count(bulk.agent_gone as u64, "change");
        let gone = format!("{gone} skipped: the agent no longer waits, accept one by one");
        lines.push(Line::styled(gone, palette.warning));
    }
    let mut answers = Vec::new();
    match screen.loading(bulk) {
        0 => answers.push(("y", if bulk.accept { "accept all of these" } else { "reject all of these" })),
        loading => {
            let text = format!("loading {loading} of {}…", count(bulk.reviews.len() as u64, "change"));
            lines.push(Line::styled(text, palette.quiet));
        }
    }
    if bulk.set_reviews.is_some() {
        answers.push(("s", "only this change set"));
    }
    answers.push(("Esc", "cancel"));
    (title, lines, answers)
}

pub(super) fn keys(palette: &Palette, keys: &[(&str, &str)]) -> Line<'static> {
    let spans = keys.iter().flat_map(|(key, meaning)| {
        [Span::styled(format!(" {key} "), palette.key), Span::raw(format!(" {meaning}   "))]
    });
    Line::from(spans.collect::<Vec<_>>())
}

fn help(palette: &Palette, frame: &mut Frame<'_>, top: usize) {
    let column = |parts: &[usize]| {
        let mut lines = Vec::new();
        for (title, bindings) in parts.iter().filter_map(|part| PARTS.get(*part)) {
            lines.push(Line::styled(*title, palette.strong.patch(palette.accent)));
            lines.extend(bindings.iter().map(|binding| {
                Line::from(vec![
                    Span::styled(format!("{:>10}", binding.names), palette.warning),
                    Span::raw(format!("  {}", binding.help)),
                ])
            }));
            lines.push(Line::default());
        }
        lines
    };
    let note = Line::styled(
        "Keys that decide work after a change has been on the screen, unchanged, for a moment.",
        palette.quiet,
    );
    if frame.area().width >= 110 {
        let (mut left, right) = (column(&[0, 3]), column(&[1, 2]));
        let height = left.len().max(right.len());
        left.resize(height, Line::default());
        let mut lines: Vec<Line<'static>> = left
            .into_iter()
            .zip(right.into_iter().chain(std::iter::repeat(Line::default())))
            .map(|(left, right)| {
                let blank = 60_usize.saturating_sub(left.width());
                let mut spans =
                    left.spans.into_iter().map(|span| span.patch_style(left.style)).collect::<Vec<_>>();
                spans.push(Span::raw(" ".repeat(blank)));
                spans.extend(right.spans.into_iter().map(|span| span.patch_style(right.style)));
                Line::from(spans)
            })
            .collect();
        lines.push(note);
        popup(palette, frame, "Keys", lines);
    } else {
        let mut lines = column(&[0, 1, 2, 3]);
        lines.push(note);
        let room = usize::from(frame.area().height).saturating_sub(4);
        let top = top.min(lines.len().saturating_sub(room));
        popup(palette, frame, "Keys (j and k scroll)", lines.split_off(top));
    }
}

pub(super) fn popup(palette: &Palette, frame: &mut Frame<'_>, title: &str, lines: Vec<Line<'static>>) {
    let area = frame.area();
    let width =
        lines.iter().map(Line::width).max().unwrap_or_default().max(title.chars().count() + 4).max(40);
    let width = u16::try_from(width + 4).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height.saturating_sub(2));
    let at: Rect = area.centered(Constraint::Length(width), Constraint::Length(height));
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(palette.accent)
        .title(Span::styled(format!(" {title} "), palette.strong))
        .padding(ratatui::widgets::Padding::horizontal(1))
        .style(palette.popup);
    frame.render_widget(Clear, at);
    frame.render_widget(Paragraph::new(lines).block(block), at);
}
