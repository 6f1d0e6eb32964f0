//! `linkspan agent`: runs `linkspan-agent`, a program of its own, so that this one needs no model client and no TLS.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::{env, io};

use crate::cli::exit::Failure;
use crate::cli::output::Report;

const PROGRAM: &str = "linkspan-agent";

/// Start Linkspan's own coding agent in this terminal.
///
/// Runs `linkspan-agent`, which is installed beside `linkspan` or on your `PATH`, with the same arguments.
/// `linkspan agent --help` shows its options, `linkspan agent --demo` needs no key.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Options and arguments of `linkspan-agent`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Returns only if the program cannot be started.
pub(crate) fn run(args: &Args, json: bool) -> Result<Report, Failure> {
    let beside = env::current_exe().ok().map(|linkspan| linkspan.with_file_name(PROGRAM));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let json = json.then_some("--json");
    let error = Command::new(&program).args(json).args(&args.arguments).exec();
    Err(Failure::internal(if error.kind() == io::ErrorKind::NotFound {
        format!(
            "`{PROGRAM}` is neither beside `linkspan` nor on your PATH; install it with `cargo install --path \
             crates/agent` in Linkspan's source folder"
        )
    } else {
        format!("cannot start {}: {error}; check that the file can be executed", program.display())
    }))
}
