//! Prints the editors that an agent in a folder would find, and how long it took to find them.
//!
//! `cargo run --release -p linkspan-client --example discover -- [FOLDER]`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use linkspan_client::discover::CandidateVerdict;
use linkspan_client::{Surroundings, discover};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| ".".into(), PathBuf::from);
    let surroundings = Surroundings::of_this_process(&folder)?;
    let started = Instant::now();
    let discovery = discover(&surroundings);
    let took = started.elapsed();

    for looked in &discovery.looked_in {
        println!("looked in {}: {}", looked.place.display(), looked.found);
    }
    for candidate in &discovery.candidates {
        print!("{} ({}, port {})", candidate.editor, candidate.wire.dialect(), candidate.wire.port());
        match &candidate.verdict {
            CandidateVerdict::Usable => println!(": usable, {:?}", candidate.matched),
            CandidateVerdict::Not(reason) => println!(": {reason}. {}", reason.remedy()),
        }
    }
    println!("{} candidates, {} removed, {took:?}", discovery.candidates.len(), discovery.removed.len());
    Ok(())
}
