//! What must hold for the plugin's Lua without running it: formatted by StyLua, clean for selene, and help that Neovim can
//! index.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::workspace::{cargo, command, low_priority, root, run as run_command, succeeds, tools};

const STYLUA: &str = "@johnnymorganz/stylua-bin-linux-x64@2.5.2";
const SELENE: &str = "0.31.0";

/// Checks the plugin; `neovim` is the folder that the Neovims are in.
pub(crate) fn check(neovim: &Path) -> Result<()> {
    let plugin = root().join("editors/nvim");
    run_command(command(stylua(neovim)?).arg("--check").arg(&plugin).current_dir(&plugin))
        .context("the plugin is not formatted: `cargo xtask neovim --fix` does it")?;
    run_command(command(selene(neovim)?).args(["lua", "plugin"]).current_dir(&plugin))
        .context("the plugin is not clean for selene")?;
    index_help(neovim, &plugin)
}

/// Formats the plugin.
pub(crate) fn format(neovim: &Path) -> Result<()> {
    let plugin = root().join("editors/nvim");
    run_command(command(stylua(neovim)?).arg(&plugin).current_dir(&plugin))
}

/// Both tools, downloaded or compiled on the first call.
pub(crate) fn install(neovim: &Path) -> Result<()> {
    stylua(neovim)?;
    selene(neovim)?;
    Ok(())
}

/// In a copy, because Neovim writes the index beside the help.
fn index_help(neovim: &Path, plugin: &Path) -> Result<()> {
    let copy = tools().join("neovim-help");
    let doc = copy.join("doc");
    fs::create_dir_all(&doc).with_context(|| format!("could not make {}", doc.display()))?;
    fs::copy(plugin.join("doc/linkspan.txt"), doc.join("linkspan.txt"))
        .context("could not copy the plugin's help")?;
    for release in ["oldest", "newest"] {
        let tags = doc.join("tags");
        let _ = fs::remove_file(&tags);
        let mut nvim = command(neovim.join(release).join("run"));
        nvim.args(["--clean", "--headless", "-c"]).arg(format!("helptags {}", doc.display()));
        run_command(nvim.args(["-c", "quit"])).context("Neovim does not index the plugin's help")?;
        let tags = fs::read_to_string(&tags).context("Neovim wrote no index of the plugin's help")?;
        ensure!(tags.contains("linkspan.txt\t"), "the plugin's help has no tag `linkspan.txt`");
    }
    Ok(())
}

fn stylua(neovim: &Path) -> Result<PathBuf> {
    let folder = neovim.join("stylua");
    let program = folder.join("node_modules/@johnnymorganz/stylua-bin-linux-x64/stylua");
    if !program.exists() {
        fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        let flags =
            ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
        run_command(command("npm").args(flags).args(["--loglevel", "error", "--prefix"]).arg(&folder).arg(STYLUA))
            .with_context(|| {
                format!(
                    "missing: the npm package {STYLUA}, and npm could not fetch it. Install Node.js 20 or later with npm \
                     and give it a reachable registry, or skip with `cargo xtask test --fast`"
                )
            })?;
    }
    Ok(program)
}

/// No registry has a build of it, so it is compiled once.
fn selene(neovim: &Path) -> Result<PathBuf> {
    let program = neovim.join("bin/selene");
    if succeeds(command(&program).arg("--version")) {
        return Ok(program);
    }
    eprintln!("selene {SELENE} is compiled once into {}; this takes some minutes", neovim.display());
    run_command(
        low_priority(&cargo())
            .args(["install", "selene", "--version", SELENE, "--locked", "--debug", "--quiet"])
            .args(["--no-default-features", "--root"])
            .arg(neovim)
            .env_remove("CARGO_TARGET_DIR")
            .env("CARGO_PROFILE_DEV_DEBUG", "0"),
    )
    .with_context(|| {
        format!(
            "missing: selene {SELENE}, and it could not be compiled here. Make the crate registry reachable, or skip with \
             `cargo xtask test --fast`"
        )
    })?;
    Ok(program)
}
