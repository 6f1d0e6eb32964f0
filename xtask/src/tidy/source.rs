//! Rules for one Rust file, seen as text.

use super::Finding;

const MAX_LINES: usize = 600;

/// Written in two halves so that this file does not find itself.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("#[", "allow("), "use `expect` with a reason"),
    (concat!("#![", "allow("), "use `expect` with a reason"),
    (concat!("todo", "!("), "finish it or leave it out"),
    (concat!("unimplemented", "!("), "finish it or leave it out"),
    (concat!("#[", "ignore"), "mend the test or delete it"),
];

pub(super) fn is_ours(path: &str) -> bool {
    path.ends_with(".rs")
        && ["benches/", "crates/", "fuzz/", "proof/", "testkit/", "xtask/"]
            .iter()
            .any(|folder| path.starts_with(folder))
}

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        let remedy = "open with 1–5 lines: what it owns, what it must not know";
        findings.push(Finding::new(path, 1, "does not open with `//!`", remedy));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        findings.push(Finding::new(path, lines, format!("{lines} lines"), "split it: one file, one idea"));
    }
    for (index, line) in text.lines().enumerate() {
        for (pattern, remedy) in FORBIDDEN {
            if line.contains(pattern) {
                findings.push(Finding::new(path, index + 1, format!("`{pattern}`"), remedy));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_file_with_an_opening_is_fine() {
        assert_eq!(check("a.rs", "//! Owns nothing.\nfn main() {}\n"), []);
    }

    #[test]
    fn a_file_without_an_opening_is_found() {
        assert_eq!(check("a.rs", "fn main() {}\n").len(), 1);
        assert_eq!(check("a.rs", "").len(), 1);
    }

    #[test]
    fn six_hundred_lines_are_the_most() {
        let opening = "//! Long.\n";
        assert_eq!(check("a.rs", &(opening.to_owned() + &"\n".repeat(MAX_LINES - 1))), []);
        assert_eq!(check("a.rs", &(opening.to_owned() + &"\n".repeat(MAX_LINES))).len(), 1);
    }

    #[test]
    fn each_forbidden_word_is_found_on_its_line() {
        for (pattern, _) in FORBIDDEN {
            let findings = check("a.rs", &format!("//! X.\n\n    {pattern}x)]\n"));
            let lines: Vec<usize> = findings.iter().map(|finding| finding.line_number).collect();
            assert_eq!(lines, [3], "{pattern}");
        }
    }
}
