//! Draws a `Screen`. Reads the state and never changes it, so that the screen shows exactly the state.

mod bars;
mod diff;
mod list;
mod popup;
mod prompt;
#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::palette::Palette;
use crate::regions::Regions;
use crate::screen::Screen;

/// Draws everything.
pub fn draw(screen: &Screen, palette: &Palette, frame: &mut Frame<'_>) {
    let regions = Regions::of(screen);
    bars::head(screen, palette, frame, regions.head);
    list::draw(screen, palette, frame, &regions);
    diff::title(screen, palette, frame, regions.title);
    bars::note(screen, palette, frame, &regions);
    diff::draw(screen, palette, frame, regions.diff);
    bars::foot(screen, palette, frame, regions.foot);
    popup::draw(screen, palette, frame);
}

/// Writes a line at a position, padded with a style.
fn put(frame: &mut Frame<'_>, at: Rect, line: Line<'static>, fill: Style) {
    let area = at.intersection(frame.area());
    if area.is_empty() {
        return;
    }
    frame.buffer_mut().set_style(area, fill);
    frame.render_widget(line, area);
}

/// A line with something at its left and something at its right end.
fn ends(left: Vec<Span<'static>>, right: Vec<Span<'static>>, width: u16) -> Line<'static> {
    let columns = |spans: &[Span<'static>]| spans.iter().map(Span::width).sum::<usize>();
    let blank = usize::from(width).saturating_sub(columns(&left) + columns(&right));
    let mut spans = left;
    spans.push(Span::raw(" ".repeat(blank)));
    spans.extend(right);
    Line::from(spans)
}

/// A text cut to this many columns: the end is kept, because that is where a path has its name.
fn shortened(text: &str, width: usize) -> String {
    let columns = |text: &str| Span::raw(text).width();
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars().rev() {
        if columns(&kept) + columns(character.encode_utf8(&mut [0; 4])) + 1 > width {
            break;
        }
        kept.insert(0, character);
    }
    format!("…{kept}")
}
