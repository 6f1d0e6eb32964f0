//! Real agents from npm, as `cargo xtask agents` installs them: a folder for each name and version, with a program
//! `run` in it. A test whose agent is missing fails; it never passes without it.

use std::path::PathBuf;
use std::process::Command;

use super::{World, place};

const VARIABLE: &str = "LINKSPAN_TEST_AGENTS";

/// The command that runs an agent, such as `claude-2.1.325`, in a world.
#[track_caller]
pub fn command(world: &World, agent: &str) -> Command {
    let folder =
        std::env::var_os(VARIABLE).map_or_else(|| place::root().join("target/tools/agents"), PathBuf::from);
    let program = folder.join(agent).join("run");
    assert!(
        program.exists(),
        "missing: the agent {agent} (looked for {}). `cargo xtask agents --all` installs it into target/tools/agents; \
         {VARIABLE} may name another folder; `cargo xtask test --fast` leaves out the tests of real agents",
        program.display()
    );
    world.program(program)
}
