//! What was measured, as a table for people or as JSON, with the distance to each target.

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
    value: Spread,
    target: Option<Target>,
    note: String,
}

impl Row {
    /// How often as much as the floor.
    pub(crate) fn ratio(what: impl Into<String>, value: Spread) -> Row {
        Row::new(what, "×", value)
    }

    pub(crate) fn new(what: impl Into<String>, unit: &'static str, value: Spread) -> Row {
        Row { what: what.into(), unit, value, target: None, note: String::new() }
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
        match self.target {
            None => String::new(),
            Some(target) if target.is_met(self.value.median) => format!("{} met", target.text()),
            Some(target) => {
                format!("**missed**: target {}, measured {}", target.text(), number(self.value.median))
            }
        }
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..10.0 => format!("{value:.2}"),
        ..1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Rows of Markdown, so that the page can take them as they are.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text =
        "| measured | median | 10 % – 90 % | target | detail |\n|---|--:|--:|---|---|\n".to_owned();
    for row in rows {
        let Spread { median, low, high } = row.value;
        let spread =
            if low == high { String::new() } else { format!("{} – {}", number(low), number(high)) };
        let _ = writeln!(
            text,
            "| {} | {} {} | {spread} | {} | {} |",
            row.what,
            number(median),
            row.unit,
            row.verdict(),
            row.note
        );
    }
    text
}

pub(crate) fn document(conditions: &Value, rows: &[Row]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "what": row.what, "unit": row.unit, "median": row.value.median, "low": row.value.low,
                "high": row.value.high, "target": row.target.map(Target::text),
                "met": row.target.map(|target| target.is_met(row.value.median)), "note": row.note,
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
}
