//! `cargo xtask codegen`: the files that are generated from Rust types and tables.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use linkspan_dialect::ppxai_tools_page;
use linkspan_editor_api::codegen::{lua, protocol_page, typescript};

use crate::workspace::{binary, cargo, command, root, run as run_command};

type Generated = (&'static str, fn() -> String);

const FILES: &[Generated] = &[
    ("editors/protocol.ts", typescript),
    ("editors/nvim/lua/linkspan/protocol.lua", lua),
    ("docs/protocol.md", protocol_page),
    ("docs/reference/ppxai-tools.md", ppxai_tools_page),
];

/// Pages with parts that the binary generates, between markers: only it knows its commands, options and exit codes.
const PAGES: &[&str] = &["docs/commands.md", "docs/configuration.md", "docs/editors/writing-a-shim.md"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let check_only = crate::flag(args, "--check")?;
    run_command(cargo().args(["build", "--quiet", "--package", "linkspan"]))?;
    if check_only {
        check()?;
        return check_pages();
    }
    write(&root())?;
    for (page, generated) in stale_pages(&root())? {
        fs::write(root().join(page), generated).with_context(|| format!("could not write {page}"))?;
        eprintln!("wrote {page}");
    }
    Ok(())
}

pub(crate) fn check() -> Result<()> {
    let stale = stale(&root(), FILES);
    if !stale.is_empty() {
        bail!("stale: {}; write them again with `cargo xtask codegen`", stale.join(", "));
    }
    Ok(())
}

/// Needs the built binary.
pub(crate) fn check_pages() -> Result<()> {
    let stale: Vec<&str> = stale_pages(&root())?.into_iter().map(|(page, _)| page).collect();
    if !stale.is_empty() {
        bail!("stale: {}; write them again with `cargo xtask codegen`", stale.join(", "));
    }
    Ok(())
}

/// The pages that differ from what the binary generates, and what it generates.
fn stale_pages(root: &Path) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let linkspan = binary("debug", "linkspan")?;
    let mut stale = Vec::new();
    for page in PAGES {
        let output = command(&linkspan).args(["reference", page]).output();
        let output = output.with_context(|| format!("could not start {}", linkspan.display()))?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
        }
        if fs::read(root.join(page))? != output.stdout {
            stale.push((*page, output.stdout));
        }
    }
    Ok(stale)
}

fn write(root: &Path) -> Result<()> {
    for path in stale(root, FILES) {
        let Some((_, generate)) = FILES.iter().find(|(name, _)| *name == path) else { continue };
        let folder = root.join(path);
        fs::create_dir_all(folder.parent().unwrap_or(root))?;
        fs::write(root.join(path), generate()).with_context(|| format!("could not write {path}"))?;
        eprintln!("wrote {path}");
    }
    Ok(())
}

fn stale(root: &Path, files: &[Generated]) -> Vec<&'static str> {
    let differs = |(path, generate): &&Generated| {
        fs::read(root.join(path)).ok().as_deref() != Some(generate().as_bytes())
    };
    files.iter().filter(differs).map(|(path, _)| *path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_different_file_is_stale_and_an_equal_one_is_not() {
        let files: &[Generated] = &[
            ("xtask/absent.md", || String::from("text")),
            ("xtask/Cargo.toml", || String::from("text")),
            ("xtask/src/fmt.rs", || include_str!("fmt.rs").to_owned()),
        ];
        assert_eq!(stale(&root(), files), ["xtask/absent.md", "xtask/Cargo.toml"]);
    }
}
