//! Real agents from npm, as `cargo xtask agents` installs them: a folder for each name and version, with a program
//! `run` in it.

use std::process::Command;

use super::{World, prerequisites};

/// The command that runs an agent, such as `claude-2.1.325`, in a world.
#[track_caller]
pub fn command(world: &World, agent: &str) -> Command {
    let program = prerequisites::agents().join(agent).join("run");
    assert!(
        program.exists(),
        "missing: the agent {agent} (looked for {}). `cargo xtask agents --all` installs it; LINKSPAN_TEST_AGENTS may \
         name another folder; `cargo xtask test --fast` leaves out the tests of real agents",
        program.display()
    );
    world.program(program)
}
