//! `cargo xtask hostile`: tries to connect in every way that must be refused, and acts as every kind of malicious
//! peer.
//!
//! Each attack has a hub of its own and checks its own result. After every attack this module checks that others are
//! served, that the hub is the same process, and how much memory it used.

mod endpoint;
mod fixture;
mod floods;
mod frames;
mod hosted_agents;
mod leaks;
mod malformed_requests;
mod memory;
mod messages;
mod origins;
mod pages;
mod paths;
mod prompt_injection;
mod races;
mod raw_socket;
mod regexes;
mod screens;
mod slow_peers;
mod timing;
mod tokens;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use self::fixture::AttackFixture;
use crate::report::Report;
use crate::rng::fresh_seed;
use crate::trials::{Skipped, Trial, TrialOutcome, run_all};

/// How many attacks run at once: most of them wait most of the time.
const AT_ONCE: usize = 4;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this attack.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// Longer floods, races and waits.
    #[arg(long)]
    all: bool,
    /// Print the names of the attacks and run none.
    #[arg(long)]
    list: bool,
    /// Seed of random choices, to repeat a run.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

struct Attack {
    name: &'static str,
    endpoints: &'static str,
    /// Lines for `config.toml`.
    config: &'static str,
    /// The hub's memory limit at its peak, in MB.
    bound: u64,
    /// Must not run next to other attacks, which would distort its timing.
    alone: bool,
    /// Whether malicious agents are admitted and can propose; if not, nothing may have been created.
    by_agents: bool,
    run: fn(&mut AttackFixture) -> AttackResult,
}

/// The result of an attack.
#[derive(Debug, Clone)]
struct AttackResult {
    tries: usize,
    what: String,
    skipped: Option<Skipped>,
}

impl AttackResult {
    fn new(tries: usize, what: impl Into<String>) -> AttackResult {
        AttackResult { tries, what: what.into(), skipped: None }
    }

    /// This machine lacks what it needs.
    fn skipped(why: impl Into<String>) -> AttackResult {
        AttackResult { tries: 0, what: String::new(), skipped: Some(Skipped(why.into())) }
    }
}

/// A message limit of one MiB, for attacks where the size is not the point: retained memory shows.
const SMALL: &str = "[limits]\nmessage_mib = 1\nfile_mib = 1\n";

/// For an editor with much to send, on a busy machine.
const PATIENT: &str = "[limits]\ncall_seconds = 60\n";

/// An idle hub takes some 25 MB in a test build.
const BOUND: u64 = 100;

const BY_STRANGERS: Attack = Attack {
    name: "",
    endpoints: "",
    config: "",
    bound: BOUND,
    alone: false,
    by_agents: false,
    run: nothing,
};

fn nothing(_: &mut AttackFixture) -> AttackResult {
    AttackResult::new(0, "")
}

const BY_AGENTS: Attack = Attack { by_agents: true, ..BY_STRANGERS };

/// The longest first: the others run next to them.
fn attacks() -> Vec<Attack> {
    [
        pages::attacks(),
        slow_peers::attacks(),
        races::attacks(),
        leaks::attacks(),
        floods::attacks(),
        hosted_agents::attacks(),
        timing::attacks(),
        tokens::attacks(),
        origins::attacks(),
        malformed_requests::attacks(),
        frames::attacks(),
        messages::attacks(),
        regexes::attacks(),
        paths::attacks(),
        screens::attacks(),
        prompt_injection::attacks(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn run(args: &Args) -> Report {
    let mut report = Report::default();
    let attacks = attacks();
    if args.list {
        let names: Vec<String> = attacks.iter().map(|attack| format!("- `{}`", attack.name)).collect();
        report.text(names.join("\n"));
        return report;
    }
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let chosen: Vec<Attack> = attacks
        .into_iter()
        .filter(|attack| args.case.as_ref().is_none_or(|case| case == attack.name))
        .collect();
    if chosen.is_empty() {
        report.broken("no attack has that name; `cargo xtask hostile --list` lists them");
        return report;
    }
    let results = Arc::<Mutex<BTreeMap<&'static str, (AttackResult, String)>>>::default();
    let (alone, together): (Vec<Attack>, Vec<Attack>) = chosen.into_iter().partition(|attack| attack.alone);
    let trials = |attacks: &[Attack]| -> Vec<Trial> {
        attacks.iter().map(|attack| trial(attack, args.all, seed, &results)).collect()
    };
    let mut tried = run_all(&trials(&alone), 1);
    tried.extend(run_all(&trials(&together), AT_ONCE));
    let chosen: Vec<Attack> = alone.into_iter().chain(together).collect();
    let results = results.lock().unwrap();
    let rows: Vec<[String; 5]> = chosen
        .iter()
        .zip(&tried)
        .map(|(attack, one)| {
            let (seen, peak) = results
                .get(attack.name)
                .cloned()
                .unwrap_or((AttackResult::new(0, one.outcome.table_cell()), "–".into()));
            [attack.name.into(), attack.endpoints.into(), seen.tries.to_string(), seen.what, peak]
        })
        .collect();
    report.text(format!(
        "{} attacks, each on a hub of its own; seed {seed}. After each: the hub is the same process, clients that \
         were connected before were served, newcomers are admitted at every endpoint, no file has changed except \
         accepted ones, and the hub's memory stayed below the bound ({BOUND} MB unless noted).",
        chosen.len()
    ));
    report.table(["attack", "endpoints", "tries", "result", "hub's peak MB"], &rows);
    for one in tried {
        if let TrialOutcome::Broken(why) = one.outcome {
            let all = if args.all { " --all" } else { "" };
            let again = format!("cargo xtask hostile --case '{}' --seed {seed}{all}", one.name);
            report.broken(format!("{}: {why}\nagain with `{again}`", one.name));
        }
    }
    report
}

fn trial(
    attack: &Attack,
    all: bool,
    seed: u64,
    results: &Arc<Mutex<BTreeMap<&'static str, (AttackResult, String)>>>,
) -> Trial {
    let Attack { name, config, bound, by_agents, run, .. } = *attack;
    let results = Arc::clone(results);
    let run = move || {
        let mut fixture = AttackFixture::new(config, all, seed);
        let seen = run(&mut fixture);
        if let Some(why) = seen.skipped {
            return Err(why);
        }
        let peak = fixture.memory.peak();
        let shown = format!("{peak} (before {})", fixture.memory.before);
        assert!(peak <= bound, "the hub took {shown} MB, more than {bound}");
        assert!(fixture.is_same_hub(), "the hub is another process now");
        fixture.assert_bystanders_served();
        fixture.assert_newcomers_admitted();
        fixture.assert_files_unchanged();
        if !by_agents {
            fixture.assert_nothing_was_done();
        }
        let shown = if bound == BOUND { shown } else { format!("{shown}, bound {bound}") };
        results.lock().unwrap().insert(name, (seen, shown));
        Ok(())
    };
    Trial { name: name.to_owned(), run: Box::new(run) }
}
