//! The `linkspan-agent` program: its command line.

fn main() {}
