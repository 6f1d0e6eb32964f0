//! `cargo xtask codegen`: the files that come out of the Rust types and tables.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use linkspan_dialect::ppxai_tools_page;
use linkspan_editor_api::codegen::{protocol_page, typescript};

use crate::workspace::root;

type Generated = (&'static str, fn() -> String);

const FILES: &[Generated] = &[
    ("editors/protocol.ts", typescript),
    ("docs/protocol.md", protocol_page),
    ("docs/reference/ppxai-tools.md", ppxai_tools_page),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    if crate::flag(args, "--check")? { check() } else { write(&root()) }
}

pub(crate) fn check() -> Result<()> {
    let stale = stale(&root(), FILES);
    if !stale.is_empty() {
        bail!("stale: {}; write them again with `cargo xtask codegen`", stale.join(", "));
    }
    Ok(())
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
