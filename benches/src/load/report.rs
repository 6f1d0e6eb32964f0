//! The report of a load run in Markdown, and what broke.

use std::fmt::Write;
use std::time::Duration;

use crate::stats::at;

#[derive(Default)]
pub(crate) struct Report {
    text: String,
    broken: Vec<String>,
}

/// How many are listed one by one.
const NAMED: usize = 20;

impl Report {
    pub(crate) fn say(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text}\n");
    }

    pub(crate) fn table(&mut self, header: &[&str], rows: &[Vec<String>]) {
        let _ = writeln!(self.text, "| {} |", header.join(" | "));
        let rule: Vec<&str> = (0..header.len()).map(|at| if at == 0 { "---" } else { "--:" }).collect();
        let _ = writeln!(self.text, "|{}|", rule.join("|"));
        for row in rows {
            let _ = writeln!(self.text, "| {} |", row.join(" | "));
        }
        self.text.push('\n');
    }

    pub(crate) fn broken(&mut self, what: impl Into<String>) {
        self.broken.push(what.into());
    }

    pub(crate) fn all_broken(&mut self, what: &mut Vec<String>) {
        self.broken.append(what);
    }

    pub(crate) fn is_good(&self) -> bool {
        self.broken.is_empty()
    }

    pub(crate) fn whole(&self) -> String {
        let mut text = self.text.clone();
        if self.broken.is_empty() {
            text.push_str("Nothing broke.\n");
            return text;
        }
        let _ = writeln!(text, "**Broken** ({}):\n", self.broken.len());
        for what in self.broken.iter().take(NAMED) {
            let _ = writeln!(text, "- {what}");
        }
        if self.broken.len() > NAMED {
            let _ = writeln!(text, "- and {} more", self.broken.len() - NAMED);
        }
        text
    }
}

/// p50, p95, p99 and the maximum, each in a suitable unit.
pub(crate) fn quantiles(times: &[Duration]) -> [String; 4] {
    let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    seconds.sort_by(f64::total_cmp);
    [50, 95, 99, 100].map(|percent| time(at(&seconds, percent)))
}

pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        s if s.is_nan() => "–".to_owned(),
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 10e-3 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

pub(crate) fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_broke_is_named_and_the_rest_counted() {
        let mut report = Report::default();
        assert!(report.is_good() && report.whole().contains("Nothing broke"));
        for number in 0..25 {
            report.broken(format!("thing {number}"));
        }
        assert!(!report.is_good());
        let text = report.whole();
        assert!(text.contains("(25)") && text.contains("thing 19") && text.contains("and 5 more"), "{text}");
    }

    #[test]
    fn times_are_read_at_a_glance() {
        assert_eq!(time(0.000_034_2), "34 µs");
        assert_eq!(time(0.001_26), "1.3 ms");
        assert_eq!(time(0.25), "250 ms");
        assert_eq!(time(2.04), "2.0 s");
    }
}
