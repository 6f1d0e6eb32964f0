//! A folder of this repository with a `package.json`: its packages, installed once for each lock file, and its
//! scripts.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace::{command, root, run};

pub(crate) struct Package {
    /// From the root of the repository.
    folder: &'static str,
}

impl Package {
    pub(crate) const fn at(folder: &'static str) -> Package {
        Package { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        root().join(self.folder)
    }

    /// Installed once for each lock file: a copy of it beside the packages says which one they came from.
    pub(crate) fn install(&self) -> Result<()> {
        let folder = self.folder;
        let lock = fs::read(self.path().join("package-lock.json"))
            .with_context(|| format!("could not read the package-lock.json of {folder}"))?;
        let installed = self.path().join("node_modules/.installed-lock.json");
        if fs::read(&installed).is_ok_and(|installed| installed == lock) {
            return Ok(());
        }
        self.npm(&["ci", "--no-audit", "--no-fund", "--loglevel", "error"], &[]).with_context(|| {
            format!(
                "missing: the npm packages of {folder}, and npm could not fetch them. Install Node.js 20 or later \
                 with npm and give it a reachable registry, or skip with `cargo xtask test --fast`"
            )
        })?;
        fs::write(&installed, lock).with_context(|| format!("could not write {}", installed.display()))
    }

    /// Runs a script of its `package.json`.
    pub(crate) fn script(&self, name: &str, args: &[&str]) -> Result<()> {
        self.npm(&["run", "--silent", name, "--"], args)
    }

    fn npm(&self, args: &[&str], more: &[&str]) -> Result<()> {
        run(command("npm").current_dir(self.path()).args(args).args(more))
    }
}
