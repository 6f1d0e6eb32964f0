//! `cargo xtask simulate`: runs the hub's core under a network and a clock of its own making, and looks after every
//! step whether a promise is broken. The same seed gives the same history.

mod actions;
mod agent;
mod calls;
mod chat_user;
mod checks;
mod command;
mod conversations;
mod disk;
mod editor;
mod exchanges;
mod file_contents;
mod hosted;
mod hub;
mod journal;
mod lines;
mod messages;
mod permissions;
mod promises;
mod proposals;
mod sets;
mod simulation;
mod stream_agent;
mod streams;
mod trace;
mod undos;
mod user;
mod watchers;
mod wire;

use std::collections::BTreeMap;
use std::time::Instant;

use crate::report::Report;
use crate::rng::fresh_seed;
use agent::{Ask, AskState};
use checks::{CHECKS, HAPPENINGS};
use simulation::Simulation;

/// What one seed lives through before its faults end.
const STEPS_OF_A_WORLD: u64 = 10_000;
/// What it may take to settle everything after that, and to leave. The hub may have been killed last and start only after
/// fifteen minutes, in which everyone tries to connect five times a second.
const STEPS_TO_SETTLE: u64 = 120_000;
/// From so many steps on, everything that can happen has happened, and every check had something to look at.
const STEPS_FOR_EVERYTHING: u64 = 800_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many steps in all; each seed has some thousands.
    #[arg(long, default_value_t = 1_000_000)]
    steps: u64,
    /// The first seed; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
}

struct SeedResult {
    steps: u64,
    hash: u64,
    counts: BTreeMap<&'static str, u64>,
    looked: BTreeMap<&'static str, u64>,
    broken: Option<String>,
    last: Vec<String>,
    virtual_ms: u64,
}

/// One simulation from its beginning to its end, or to the first promise that is broken.
fn live(seed: u64, telling: bool) -> SeedResult {
    let mut simulation = Simulation::new(seed, telling);
    while simulation.promises.broken.is_none() && simulation.steps < STEPS_OF_A_WORLD && simulation.step() {}
    simulation.calm_down();
    let settled_by = simulation.steps + STEPS_TO_SETTLE;
    while simulation.promises.broken.is_none() && !is_settled(&simulation) && simulation.step() {
        if simulation.steps == settled_by {
            let wanted = wanted(&simulation);
            simulation.promises.broken(format!("3: with nothing in the way, no answer to {wanted:?}"));
        }
    }
    simulation.promises.looked("3: everyone who asks again has an outcome");
    if simulation.promises.broken.is_none() {
        // Answers on their way, and calls that were not about changes.
        let until = simulation.now + 60_000;
        while simulation.promises.broken.is_none() && simulation.now < until && simulation.step() {}
        simulation.look_for_unanswered();
        simulation.look_for_unasked();
        simulation.look_at_conversations();
    }
    simulation.leaving = true;
    simulation.hub.left = false;
    while simulation.promises.broken.is_none() && !simulation.hub.left && simulation.step() {}
    if simulation.promises.broken.is_none() && !simulation.hub.left {
        let held = simulation.hub.resource_counts();
        simulation.promises.broken(format!(
            "a hub that no one needs does not stop: it holds {held:?}, unfinished {:?}",
            simulation.promises.unfinished()
        ));
    }
    SeedResult {
        steps: simulation.steps,
        hash: simulation.trace.hash,
        counts: simulation.counts,
        looked: simulation.promises.looked,
        broken: simulation.promises.broken,
        last: simulation.trace.last.into_iter().flatten().collect(),
        virtual_ms: simulation.now,
    }
}

fn wanted(simulation: &Simulation) -> Vec<String> {
    let asks = simulation.agents.iter().flat_map(|agent| agent.asks.iter().map(move |ask| (agent, ask)));
    let wanted = asks.filter(|(_, ask)| ask.state == AskState::Wanted);
    let parts = |ask: &Ask| ask.parts.iter().map(|part| part.path.clone()).collect::<Vec<_>>();
    wanted.map(|(agent, ask)| format!("{} ({}) {:?}", agent.name, agent.dialect, parts(ask))).collect()
}

/// Without a hub nothing is: a new one has to tell what the one before it could not.
fn is_settled(simulation: &Simulation) -> bool {
    simulation.hub.is_up()
        && simulation.processes_are_settled()
        && simulation.agents.iter().all(|agent| agent.asks.iter().all(|ask| ask.state != AskState::Wanted))
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
