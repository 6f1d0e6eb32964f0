//! The findings of a program, as Markdown that `docs/proof.md` contains verbatim.

use std::fmt::{self, Display, Formatter};

#[derive(Debug, Default)]
pub(crate) struct Report {
    blocks: Vec<String>,
    broken: Vec<String>,
}

impl Report {
    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(text.into());
    }

    pub(crate) fn table<const N: usize>(&mut self, head: [&str; N], rows: &[[String; N]]) {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let mut lines = vec![line(&head.map(str::to_owned)), format!("|{}", "---|".repeat(N))];
        lines.extend(rows.iter().map(|row| line(&row.each_ref().map(|cell| in_a_cell(cell)))));
        self.blocks.push(lines.join("\n"));
    }

    /// A promise did not hold; `what` says how to reproduce it.
    pub(crate) fn broken(&mut self, what: impl Into<String>) {
        self.broken.push(what.into());
    }

    pub(crate) fn is_broken(&self) -> bool {
        !self.broken.is_empty()
    }
}

fn in_a_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

impl Display for Report {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        for block in &self.blocks {
            writeln!(to, "{}\n", block.trim_end())?;
        }
        if self.is_broken() {
            writeln!(to, "**Broken:**\n")?;
        }
        self.broken.iter().try_for_each(|what| writeln!(to, "- {}", what.replace('\n', "\n  ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_markdown_and_says_what_broke() {
        let mut report = Report::default();
        report.text("Three trials.");
        report.table(["case", "took"], &[["a|b".to_owned(), "1 ms".to_owned()]]);
        assert!(!report.is_broken());
        report.broken("a|b: the file is gone\nagain with `--case a`");
        assert!(report.is_broken());
        let shown = report.to_string();
        assert!(shown.contains("| case | took |\n|---|---|\n| a\\|b | 1 ms |"), "{shown}");
        assert!(shown.ends_with("- a|b: the file is gone\n  again with `--case a`\n"), "{shown}");
    }
}
