//! `cargo xtask hostile`: comes as everything that must not get in, and as every peer that means harm.

use crate::report::Report;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Report {
    Report::default()
}
