//! `cargo xtask simulate`: runs the hub's core under a network and a clock of its own making.

use crate::report::Report;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Report {
    Report::default()
}
