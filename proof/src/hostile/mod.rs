//! `cargo xtask hostile`: comes as everything that must not get in, and as every peer that means harm.
//!
//! Each attack has a hub of its own. It says itself what must be seen; that others are served, that the hub is the
//! same as before and how much memory it took is looked at here, after every one of them.

mod door;
mod expressions;
mod flooding;
mod forging;
mod frames;
mod memory;
mod messages;
mod origins;
mod pages;
mod paths;
mod racing;
mod reaching;
mod screens;
mod slowness;
mod stage;
mod timing;
mod tokens;
mod wire;
mod words;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use self::stage::Stage;
use crate::chance::fresh_seed;
use crate::report::Report;
use crate::trials::{NotTried, Trial, Verdict, try_all};

/// How many attacks go on at once: most of them wait most of the time.
const AT_ONCE: usize = 4;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this attack.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// Longer floods, races and waits.
    #[arg(long)]
    all: bool,
    /// Name the attacks and try none.
    #[arg(long)]
    list: bool,
    /// Where there is chance: the same again.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

struct Attack {
    name: &'static str,
    doors: &'static str,
    /// In `config.toml`.
    config: &'static str,
    /// What the hub may take at its peak, in MB.
    bound: u64,
    /// Beside others its clock would measure them.
    alone: bool,
    /// Whether agents that mean harm were let in and could propose; if not, nothing may have come into being.
    by_agents: bool,
    run: fn(&mut Stage) -> Seen,
}

/// What came of an attack.
#[derive(Debug, Clone)]
struct Seen {
    tries: usize,
    what: String,
    not_tried: Option<NotTried>,
}

impl Seen {
    fn new(tries: usize, what: impl Into<String>) -> Seen {
        Seen { tries, what: what.into(), not_tried: None }
    }

    /// This machine lacks what it needs.
    fn not_tried(why: impl Into<String>) -> Seen {
        Seen { tries: 0, what: String::new(), not_tried: Some(NotTried(why.into())) }
    }
}

/// The largest message is one MiB where a message's size is not the point, so that what is kept shows.
const SMALL: &str = "[limits]\nmessage_mib = 1\nfile_mib = 1\n";

/// For an editor that has much to say, on a machine that has much else to do.
const PATIENT: &str = "[limits]\ncall_seconds = 60\n";

/// A hub that does nothing takes some 25 MB in a build for tests.
const BOUND: u64 = 100;

const OF_STRANGERS: Attack =
    Attack { name: "", doors: "", config: "", bound: BOUND, alone: false, by_agents: false, run: nothing };

fn nothing(_: &mut Stage) -> Seen {
    Seen::new(0, "")
}

const OF_AGENTS: Attack = Attack { by_agents: true, ..OF_STRANGERS };

/// The longest first: the others fill the time beside them.
fn attacks() -> Vec<Attack> {
    [
        pages::attacks(),
        slowness::attacks(),
        racing::attacks(),
        reaching::attacks(),
        flooding::attacks(),
        timing::attacks(),
        tokens::attacks(),
        origins::attacks(),
        forging::attacks(),
        frames::attacks(),
        messages::attacks(),
        expressions::attacks(),
        paths::attacks(),
        screens::attacks(),
        words::attacks(),
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
        report.broken("no attack of that name; `cargo xtask hostile --list` names them");
        return report;
    }
    let results = Arc::<Mutex<BTreeMap<&'static str, (Seen, String)>>>::default();
    let (alone, together): (Vec<Attack>, Vec<Attack>) = chosen.into_iter().partition(|attack| attack.alone);
    let trials = |attacks: &[Attack]| -> Vec<Trial> {
        attacks.iter().map(|attack| trial(attack, args.all, seed, &results)).collect()
    };
    let mut tried = try_all(&trials(&alone), 1);
    tried.extend(try_all(&trials(&together), AT_ONCE));
    let chosen: Vec<Attack> = alone.into_iter().chain(together).collect();
    let results = results.lock().unwrap();
    let rows: Vec<[String; 5]> = chosen
        .iter()
        .zip(&tried)
        .map(|(attack, one)| {
            let (seen, peak) = results
                .get(attack.name)
                .cloned()
                .unwrap_or((Seen::new(0, one.verdict.in_a_table()), "–".into()));
            [attack.name.into(), attack.doors.into(), seen.tries.to_string(), seen.what, peak]
        })
        .collect();
    report.text(format!(
        "{} attacks, each on a hub of its own; seed {seed}. After each: the hub is the same process, those who were \
         connected before were served, newcomers are let in by every door, no file but those a person accepted has \
         changed, and the hub's memory stayed below the bound ({BOUND} MB where nothing else is said).",
        chosen.len()
    ));
    report.table(["attack", "doors", "tries", "seen", "hub's peak MB"], &rows);
    for one in tried {
        if let Verdict::Broken(why) = one.verdict {
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
    results: &Arc<Mutex<BTreeMap<&'static str, (Seen, String)>>>,
) -> Trial {
    let Attack { name, config, bound, by_agents, run, .. } = *attack;
    let results = Arc::clone(results);
    let run = move || {
        let mut stage = Stage::new(config, all, seed);
        let seen = run(&mut stage);
        if let Some(why) = seen.not_tried {
            return Err(why);
        }
        let peak = stage.memory.peak();
        let shown = format!("{peak} (before {})", stage.memory.before);
        assert!(peak <= bound, "the hub took {shown} MB, more than {bound}");
        assert!(stage.hub_is_the_same(), "the hub is another one now");
        stage.others_are_served();
        stage.newcomers_are_served();
        stage.files_are_as_they_were();
        if !by_agents {
            stage.nothing_was_done();
        }
        let shown = if bound == BOUND { shown } else { format!("{shown}, bound {bound}") };
        results.lock().unwrap().insert(name, (seen, shown));
        Ok(())
    };
    Trial { name: name.to_owned(), run: Box::new(run) }
}
