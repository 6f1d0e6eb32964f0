//! Horizontal bars on a logarithmic scale, as an SVG that reads well on a light and on a dark page.

use std::fmt::Write;

use crate::report::number;

pub(crate) struct Bar {
    pub(crate) name: String,
    /// Above zero.
    pub(crate) value: f64,
    pub(crate) ours: bool,
}

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) bars: Vec<Bar>,
}

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
/// For the names on the left and the numbers on the right.
const NAMES: f64 = 210.0;
const NUMBERS: f64 = 70.0;
const ROW: f64 = 22.0;
const TITLE: f64 = 30.0;
const GAP: f64 = 18.0;

const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; }
.grid { stroke: #d1d9e0; }
.peer { fill: #8c959f; }
.ours { fill: #0969da; }
.page { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .grid { stroke: #3d444d; }
  .peer { fill: #7d8590; }
  .ours { fill: #4493f8; }
  .page { fill: #0d1117; }
}
";

/// `label` describes the picture to those who cannot see it.
pub(crate) fn draw(label: &str, panels: &[Panel]) -> String {
    let mut inside = String::new();
    let mut top = MARGIN;
    for panel in panels {
        top = draw_panel(&mut inside, panel, top) + GAP;
    }
    let height = top - GAP + MARGIN;
    let label = escaped(label);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" width=\"{WIDTH:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{label}; logarithmic scales\">\n\
         <style>\n{STYLE}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n{inside}</svg>\n"
    )
}

/// Where it ends.
fn draw_panel(svg: &mut String, panel: &Panel, top: f64) -> f64 {
    let bars = top + TITLE;
    let bottom = bars + ROW * panel.bars.len() as f64;
    let _ = writeln!(
        svg,
        "<text class=\"title\" x=\"{MARGIN}\" y=\"{:.0}\">{}</text>",
        top + 16.0,
        escaped(&panel.title)
    );
    let scale = Scale::of(&panel.bars);
    for decade in scale.first..=scale.last {
        let x = scale.x(10_f64.powi(decade));
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bars:.0}\" y2=\"{bottom:.0}\"/>"
        );
    }
    for (index, bar) in panel.bars.iter().enumerate() {
        let y = bars + ROW * index as f64;
        let (left, right) = (MARGIN + NAMES, scale.x(bar.value));
        let class = if bar.ours { "ours" } else { "peer" };
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>\
             <rect class=\"{class}\" x=\"{left:.0}\" y=\"{:.0}\" width=\"{:.1}\" height=\"14\" rx=\"2\"/>\
             <text x=\"{:.1}\" y=\"{:.0}\">{}</text>",
            left - 8.0,
            y + 15.0,
            escaped(&bar.name),
            y + 4.0,
            right - left,
            right + 6.0,
            y + 15.0,
            number(bar.value),
        );
    }
    bottom
}

/// Powers of ten between which all bars of a panel lie.
struct Scale {
    first: i32,
    last: i32,
}

impl Scale {
    fn of(bars: &[Bar]) -> Scale {
        let logs = || bars.iter().map(|bar| bar.value.log10());
        let (low, high) = (logs().fold(f64::INFINITY, f64::min), logs().fold(f64::NEG_INFINITY, f64::max));
        if !low.is_finite() || !high.is_finite() {
            return Scale { first: 0, last: 1 };
        }
        #[expect(clippy::cast_possible_truncation, reason = "logarithms of finite numbers are small")]
        let (first, last) = (low.floor() as i32, high.ceil() as i32);
        // A bar on the first line would have no length.
        let first = if low - f64::from(first) < 0.15 { first - 1 } else { first };
        Scale { first, last: last.max(first + 1) }
    }

    fn x(&self, value: f64) -> f64 {
        let room = WIDTH - 2.0 * MARGIN - NAMES - NUMBERS;
        let share = (value.log10() - f64::from(self.first)) / f64::from(self.last - self.first);
        MARGIN + NAMES + room * share
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: f64) -> Bar {
        Bar { name: name.to_owned(), value, ours: false }
    }

    #[test]
    fn ten_times_as_much_is_one_step_further() {
        let scale = Scale::of(&[bar("a", 3.0), bar("b", 400.0)]);
        assert_eq!((scale.first, scale.last), (0, 3));
        let step = |value: f64| scale.x(value * 10.0) - scale.x(value);
        assert!((step(3.0) - step(30.0)).abs() < 1e-9);
    }

    #[test]
    fn every_bar_has_some_length_and_stays_in_the_picture() {
        for values in [[1.0, 1.0], [0.011, 1e6], [9.99, 10.0]] {
            let scale = Scale::of(&values.map(|value| bar("x", value)));
            for value in values {
                assert!(scale.x(value) > MARGIN + NAMES + 1.0, "{values:?}");
                assert!(scale.x(value) <= WIDTH - MARGIN - NUMBERS, "{values:?}");
            }
        }
    }

    #[test]
    fn names_are_escaped_and_a_panel_without_bars_is_drawn_too() {
        let bars = vec![bar("a < b & c", 1.0)];
        let picture =
            draw("x", &[Panel { title: "x".into(), bars }, Panel { title: "y".into(), bars: Vec::new() }]);
        assert!(picture.contains("a &lt; b &amp; c") && !picture.contains("a < b"));
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
    }
}
