//! Programs that try to break Linkspan's promises, with the real binary, real sockets and real faults.
//!
//! Each prints a report in Markdown on standard output and its progress on standard error, and exits with 1 when a
//! promise is broken. Run them with `cargo xtask faults`, `cargo xtask hostile` and `cargo xtask simulate`.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a panic is how a trial fails")]
#![expect(clippy::print_stdout, reason = "the report goes there")]

mod faults;
mod hostile;
mod process;
mod report;
mod rng;
mod simulate;
mod trials;

use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "linkspan-proof")]
enum Program {
    Faults(faults::Args),
    Hostile(hostile::Args),
    Simulate(simulate::Args),
}

fn main() -> ExitCode {
    trials::record_panic_locations();
    let report = match Program::parse() {
        Program::Faults(args) => faults::run(&args),
        Program::Hostile(args) => hostile::run(&args),
        Program::Simulate(args) => simulate::run(&args),
    };
    print!("{report}");
    if report.is_broken() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
