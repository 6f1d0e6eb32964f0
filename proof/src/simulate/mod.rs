//! `cargo xtask simulate`: runs the hub's core under a network and a clock of its own making, and looks after every
//! step whether a promise is broken. The same seed gives the same history.

mod actions;
mod agent;
mod asking;
mod calls;
mod checks;
mod command;
mod consent;
mod disk;
mod editor;
mod exchanges;
mod hub;
mod journal;
mod landed;
mod lines;
mod listening;
mod person;
mod promises;
mod sets;
mod speech;
mod streams;
mod trace;
mod undos;
mod watchers;
mod wire;
mod world;

use std::collections::BTreeMap;
use std::time::Instant;

use crate::chance::fresh_seed;
use crate::report::Report;
use agent::{Ask, Asked};
use checks::{CHECKS, HAPPENINGS};
use world::World;

/// What one seed lives through before its faults end.
const STEPS_OF_A_WORLD: u64 = 10_000;
/// What it may take to settle everything after that, and to leave.
const STEPS_TO_SETTLE: u64 = 60_000;
/// From so many steps on, everything that can happen has happened, and every check had something to look at.
const STEPS_FOR_EVERYTHING: u64 = 200_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many steps in all; each seed has some thousands.
    #[arg(long, default_value_t = 300_000)]
    steps: u64,
    /// The first seed; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
}

struct Lived {
    steps: u64,
    hash: u64,
    counts: BTreeMap<&'static str, u64>,
    looked: BTreeMap<&'static str, u64>,
    broken: Option<String>,
    last: Vec<String>,
    virtual_ms: u64,
}

/// One world from its beginning to its end, or to the first promise that is broken.
fn live(seed: u64, telling: bool) -> Lived {
    let mut world = World::new(seed, telling);
    while world.promises.broken.is_none() && world.steps < STEPS_OF_A_WORLD && world.step() {}
    world.calm_down();
    let settled_by = world.steps + STEPS_TO_SETTLE;
    while world.promises.broken.is_none() && !is_settled(&world) && world.step() {
        if world.steps == settled_by {
            let wanted = wanted(&world);
            world.promises.broken(format!("3: with nothing in the way, nobody answers {wanted:?}"));
        }
    }
    world.promises.looked("3: everyone who asks again has an outcome");
    if world.promises.broken.is_none() {
        // Answers on their way, and calls that were not about changes.
        let until = world.now + 60_000;
        while world.promises.broken.is_none() && world.now < until && world.step() {}
        world.look_for_unanswered();
        world.look_for_unasked();
    }
    world.leaving = true;
    world.hub.left = false;
    while world.promises.broken.is_none() && !world.hub.left && world.step() {}
    if world.promises.broken.is_none() && !world.hub.left {
        let held = world.hub.holdings();
        world.promises.broken(format!(
            "a hub that nobody needs does not leave: it holds {held:?}, unfinished {:?}",
            world.promises.unfinished()
        ));
    }
    Lived {
        steps: world.steps,
        hash: world.trace.hash,
        counts: world.counts,
        looked: world.promises.looked,
        broken: world.promises.broken,
        last: world.trace.last.into_iter().flatten().collect(),
        virtual_ms: world.now,
    }
}

fn wanted(world: &World) -> Vec<String> {
    let asks = world.agents.iter().flat_map(|agent| agent.asks.iter().map(move |ask| (agent, ask)));
    let wanted = asks.filter(|(_, ask)| ask.state == Asked::Wanted);
    let parts = |ask: &Ask| ask.parts.iter().map(|part| part.path.clone()).collect::<Vec<_>>();
    wanted.map(|(agent, ask)| format!("{} ({}) {:?}", agent.name, agent.dialect, parts(ask))).collect()
}

fn is_settled(world: &World) -> bool {
    world.agents.iter().all(|agent| agent.asks.iter().all(|ask| ask.state != Asked::Wanted))
}

pub(crate) fn run(args: &Args) -> Report {
    let first = args.seed.unwrap_or_else(fresh_seed);
    let began = Instant::now();
    let mut report = Report::default();
    let (mut counts, mut looked) = (BTreeMap::new(), BTreeMap::new());
    let (mut steps, mut seed, mut virtual_ms) = (0, first, 0);
    let mut hash = None;
    while steps < args.steps && !report.is_broken() {
        let lived = live(seed, false);
        hash.get_or_insert(lived.hash);
        steps += lived.steps;
        virtual_ms += lived.virtual_ms;
        for (sum, of) in [(&mut counts, &lived.counts), (&mut looked, &lived.looked)] {
            of.iter().for_each(|(what, times)| *sum.entry(*what).or_insert(0) += times);
        }
        if let Some(what) = lived.broken {
            // The same history once more, with words this time.
            let told = live(seed, true);
            report.broken(format!(
                "seed {seed}, step {}: {what}\nagain with `cargo xtask simulate --seed {seed} --steps 1`; the last events:\n{}",
                lived.steps,
                told.last.join("\n"),
            ));
        }
        eprint!("\rseed {seed}: {steps} steps");
        seed += 1;
    }
    eprintln!();
    let took = began.elapsed();
    if !report.is_broken() && Some(live(first, false).hash) != hash {
        report.broken(format!("seed {first} gives another history the second time"));
    }
    if steps >= STEPS_FOR_EVERYTHING && !report.is_broken() {
        let idle = CHECKS.iter().filter(|check| !looked.contains_key(*check));
        for missing in idle.chain(HAPPENINGS.iter().filter(|fault| !counts.contains_key(*fault))) {
            report.broken(format!("this never came up: {missing}"));
        }
    }
    report.text(format!(
        "Seeds {first} to {}: {steps} steps, {} hours of a hub's life in {:.1} s ({:.0} steps/s). The first seed was run \
         twice and gave the same history (`{:016x}`).",
        seed - 1,
        virtual_ms / 3_600_000,
        took.as_secs_f64(),
        steps as f64 / took.as_secs_f64(),
        hash.unwrap_or_default(),
    ));
    let rows = |of: &BTreeMap<&'static str, u64>| -> Vec<[String; 2]> {
        of.iter().map(|(what, times)| [(*what).to_owned(), times.to_string()]).collect()
    };
    report.table(["promise", "looked at"], &rows(&looked));
    report.table(["what happened", "times"], &rows(&counts));
    report
}
