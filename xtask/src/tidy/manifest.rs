//! What every `Cargo.toml` here must say.
//!
//! Reads the plain form our manifests are written in (one key per line), not all of TOML.

use super::Finding;

/// Where each dependency has its reason.
pub(super) const REASONS: &str = "docs/dependencies.md";

pub(super) struct Entry<'a> {
    pub(super) table: &'a str,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    pub(super) line_number: usize,
}

impl<'a> Entry<'a> {
    /// The crate this entry depends on, if it is in some dependency table.
    pub(super) fn dependency(&self) -> Option<&'a str> {
        if let Some((_, name)) = self.table.rsplit_once("dependencies.") {
            return Some(name);
        }
        self.table.ends_with("dependencies").then(|| self.key.split('.').next().unwrap_or(self.key))
    }
}

pub(super) fn entries(manifest: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut table = "";
    manifest.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = header;
            return None;
        }
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        (!key.starts_with('#')).then_some(Entry { table, key, value, line_number: index + 1 })
    })
}

fn says(manifest: &str, table: &str, key: &str, value: &str) -> bool {
    entries(manifest).any(|entry| (entry.table, entry.key, entry.value) == (table, key, value))
}

pub(super) fn check_workspace(manifest: &str) -> Option<Finding> {
    let forbidden = says(manifest, "workspace.lints.rust", "unsafe_code", "\"forbid\"");
    let what = "unsafe code is not forbidden";
    (!forbidden).then(|| Finding::new("Cargo.toml", 1, what, "put it back under [workspace.lints.rust]"))
}

pub(super) fn check_member(path: &str, manifest: &str) -> Option<Finding> {
    let what = "does not take the workspace's lints";
    (!says(manifest, "lints", "workspace", "true"))
        .then(|| Finding::new(path, 1, what, "add `[lints]` with `workspace = true`"))
}

/// Every foreign crate of the workspace has a row in the table of reasons.
pub(super) fn check_reasons(workspace: &str, reasons: &str) -> Vec<Finding> {
    let in_table = entries(workspace).filter(|entry| entry.table == "workspace.dependencies");
    let foreign = in_table.filter(|entry| !entry.value.contains("path ="));
    let unexplained = foreign.filter(|entry| !reasons.lines().any(|line| explains(line, entry.key)));
    let remedy = "add a row: what for, and why this one";
    unexplained
        .map(|entry| {
            Finding::new(
                "Cargo.toml",
                entry.line_number,
                format!("`{}` has no row in {REASONS}", entry.key),
                remedy,
            )
        })
        .collect()
}

fn explains(row: &str, name: &str) -> bool {
    let Some(first_cell) = row.trim().strip_prefix('|').and_then(|rest| rest.split('|').next()) else {
        return false;
    };
    first_cell.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace.dependencies]\nours = { path = \"crates/ours\" }\n# why\nserde = \"1\"\n\
                             serde_json = \"1\"\n\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";

    #[test]
    fn a_workspace_that_forbids_unsafe_code_is_fine() {
        assert_eq!(check_workspace(WORKSPACE), None);
        assert!(check_workspace("[workspace.lints.rust]\nunsafe_code = \"warn\"\n").is_some());
    }

    #[test]
    fn a_member_without_the_workspace_lints_is_found() {
        assert_eq!(check_member("a/Cargo.toml", "[lints]\nworkspace = true\n"), None);
        assert!(check_member("a/Cargo.toml", "[package]\nworkspace = true\n").is_some());
    }

    #[test]
    fn a_foreign_crate_needs_a_row_of_its_own_and_ours_needs_none() {
        let reasons = "| crate | reason |\n|---|---|\n| `serde` | wire types; serde_json too |\n";
        let findings = check_reasons(WORKSPACE, reasons);
        let lines: Vec<usize> = findings.iter().map(|finding| finding.line_number).collect();
        assert_eq!(lines, [5]);
    }
}
