//! The measurements, as a table or as JSON, with the distance to each target.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::stats::Spread;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Target::AtMost(limit) => value <= limit,
            Target::AtLeast(limit) => value >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Target::AtMost(limit) => format!("≤ {}", number(limit)),
            Target::AtLeast(limit) => format!("≥ {}", number(limit)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Row {
    what: String,
    unit: &'static str,
    /// `None` if there was nothing to measure.
    value: Option<Spread>,
    target: Option<Target>,
    note: String,
}

impl Row {
    /// A multiple of the floor.
    pub(crate) fn ratio(what: impl Into<String>, value: Spread) -> Row {
        Row::new(what, "×", value)
    }

    pub(crate) fn new(what: impl Into<String>, unit: &'static str, value: Spread) -> Row {
        Row { what: what.into(), unit, value: Some(value), target: None, note: String::new() }
    }

    /// Listed with the reason rather than omitted.
    pub(crate) fn not_measured(what: impl Into<String>, why: impl Into<String>) -> Row {
        Row { what: what.into(), unit: "", value: None, target: None, note: why.into() }
    }

    pub(crate) fn one(what: impl Into<String>, unit: &'static str, value: f64) -> Row {
        Row::new(what, unit, Spread { median: value, low: value, high: value })
    }

    pub(crate) fn at_most(mut self, limit: f64) -> Row {
        self.target = Some(Target::AtMost(limit));
        self
    }

    pub(crate) fn at_least(mut self, limit: f64) -> Row {
        self.target = Some(Target::AtLeast(limit));
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Row {
        self.note = note.into();
        self
    }

    fn verdict(&self) -> String {
        match (self.value, self.target) {
            (None, _) => "**not measured**".to_owned(),
            (_, None) => String::new(),
            (Some(Spread { median, .. }), Some(target)) if target.is_met(median) => {
                format!("{} met", target.text())
            }
            (Some(Spread { median, .. }), Some(target)) => {
                format!("**missed**: target {}, measured {}", target.text(), number(median))
            }
        }
    }

    fn is_met(&self) -> Option<bool> {
        Some(self.target?.is_met(self.value?.median))
    }
}

pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..10.0 => format!("{value:.2}"),
        ..1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Rows of Markdown, which the documentation contains verbatim.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text =
        "| measured | median | 10 % – 90 % | target | detail |\n|---|--:|--:|---|---|\n".to_owned();
    for row in rows {
        let median = row.value.map(|value| format!("{} {}", number(value.median), row.unit));
        let spread = row.value.filter(|value| value.low != value.high);
        let spread = spread.map(|value| format!("{} – {}", number(value.low), number(value.high)));
        let [median, spread] = [median, spread].map(Option::unwrap_or_default);
        let _ = writeln!(text, "| {} | {median} | {spread} | {} | {} |", row.what, row.verdict(), row.note);
    }
    text
}

pub(crate) fn document(conditions: &Value, rows: &[Row]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "what": row.what, "unit": row.unit, "median": row.value.map(|value| value.median),
                "low": row.value.map(|value| value.low), "high": row.value.map(|value| value.high),
                "target": row.target.map(Target::text), "met": row.is_met(), "note": row.note,
            })
        })
        .collect();
    json!({ "conditions": conditions, "rows": rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_says_by_how_much() {
        let row = Row::one("x", "×", 1.234).at_most(1.1);
        assert_eq!(row.verdict(), "**missed**: target ≤ 1.10, measured 1.23");
        assert_eq!(Row::one("x", "×", 1.0).at_most(1.1).verdict(), "≤ 1.10 met");
        assert_eq!(
            Row::one("x", "×", 0.5).at_least(0.85).verdict(),
            "**missed**: target ≥ 0.85, measured 0.50"
        );
    }

    #[test]
    fn what_was_not_there_is_in_the_table() {
        let text = table(&[Row::not_measured("search : rg", "there is no rg").at_most(1.3)]);
        assert!(text.contains("| search : rg |  |  | **not measured** | there is no rg |"), "{text}");
    }
}
