//! `cargo xtask tidy`: the house rules that no compiler checks.
//!
//! Each check is a function from text to findings; only this file reads the disk.

mod commands;
mod core_shape;
mod files;
mod layers;
mod lexer;
mod links;
mod manifest;
mod markdown;
mod names;
mod source;
mod words;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::workspace::{binary, command, root, succeeds};

/// One broken rule: where, what, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    line_number: usize,
    what: String,
    remedy: &'static str,
}

impl Finding {
    fn new(path: &str, line_number: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        Self { path: path.to_owned(), line_number, what: what.into(), remedy }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} — {}", self.path, self.line_number, self.what, self.remedy)
    }
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let with_binary = crate::flag(args, "--commands")?;
    check()?;
    if with_binary { check_commands() } else { Ok(()) }
}

pub(crate) fn check() -> Result<()> {
    let root = root();
    let paths = files::listed(&root)?;
    let mut findings = Vec::new();
    for path in &paths {
        findings.extend(files::check_name(path));
        findings.extend(names::check_file(path));
        if source::is_ours(path) {
            findings.extend(source::check(path, &read(&root, path)?));
        }
        if words::is_checked(path) {
            findings.extend(words::check(path, &read(&root, path)?));
        }
        if markdown::is_checked(path) {
            let text = read(&root, path)?;
            findings.extend(links::check(path, &text, &paths, |target| root.join(target).exists()));
            findings.extend(commands::check_xtask(path, &text));
        }
    }
    let rust: Vec<(&str, String)> = paths
        .iter()
        .filter(|path| source::is_ours(path))
        .map(|path| Ok((path.as_str(), read(&root, path)?)))
        .collect::<Result<_>>()?;
    findings.extend(names::check_types(&rust));
    let core: Vec<core_shape::Source<'_>> = rust
        .iter()
        .filter(|(path, _)| core_shape::is_core(path))
        .map(|(path, text)| core_shape::Source { path, text })
        .collect();
    let (figures, wrong) = core_shape::check(&core);
    eprintln!("{figures}");
    findings.extend(wrong);
    let workspace = read(&root, "Cargo.toml")?;
    findings.extend(manifest::check_workspace(&workspace));
    let members = paths.iter().filter(|path| path.ends_with("/Cargo.toml"));
    for path in members {
        let text = read(&root, path)?;
        findings.extend(manifest::check_member(path, &text));
        findings.extend(layers::check(path, &text));
    }
    let reasons = fs::read_to_string(root.join(manifest::REASONS)).unwrap_or_default();
    findings.extend(manifest::check_reasons(&workspace, &reasons));
    report(&findings)
}

/// Needs the built binary: only it knows which subcommands there are.
pub(crate) fn check_commands() -> Result<()> {
    let (root, linkspan) = (root(), binary("debug", "linkspan")?);
    if !linkspan.exists() {
        bail!("{} is not built; `cargo build --workspace` builds it", linkspan.display());
    }
    let mut findings = Vec::new();
    for path in files::listed(&root)?.iter().filter(|path| markdown::is_checked(path)) {
        // `help` is not a command of ours: it takes the name of one.
        let has_help = |words: &[&str]| {
            words.first() == Some(&"help") || succeeds(command(&linkspan).args(words).arg("--help"))
        };
        findings.extend(commands::check_linkspan(path, &read(&root, path)?, has_help));
    }
    report(&findings)
}

fn report(findings: &[Finding]) -> Result<()> {
    for finding in findings {
        eprintln!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => bail!("one rule is broken, see above"),
        n => bail!("{n} rules are broken, see above"),
    }
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).map_err(|error| anyhow::anyhow!("could not read {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_place_what_and_remedy() {
        let finding = Finding::new("docs/a.md", 3, "`docs/b.md` does not exist", "name a path that exists");
        assert_eq!(finding.to_string(), "docs/a.md:3: `docs/b.md` does not exist — name a path that exists");
    }
}
