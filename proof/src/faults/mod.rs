//! `cargo xtask faults`: kills, stops and cuts off every party at every step of a change's journey, and looks whether
//! the promises held. Any case can be tried again alone by its name.

mod back;
mod case;
mod descriptors;
mod journal;
mod journey;
mod single;
mod stage;

use std::collections::BTreeMap;

use linkspan_testkit::proposer::Dialect;

use crate::chance::fresh_seed;
use crate::report::Report;
use crate::trials::{Trial, Tried, Verdict, try_all};
use case::{Case, Who};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The whole matrix instead of a sample
    #[arg(long, conflicts_with = "case")]
    all: bool,
    /// Only what has this in its name, such as `clio/change/unsaved/hub/kill/decided`
    #[arg(long)]
    case: Option<String>,
    /// Which sample; without it, another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Names the cases and tries none
    #[arg(long)]
    list: bool,
    /// How many at once
    #[arg(long, default_value_t = 6)]
    at_once: usize,
}

pub(crate) fn run(args: &Args) -> Report {
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let cases = match &args.case {
        Some(named) => {
            case::whole_matrix().into_iter().filter(|case| case.name().contains(named.as_str())).collect()
        }
        None if args.all => case::whole_matrix(),
        None => case::sample(seed),
    };
    let mut report = Report::default();
    let mut trials: Vec<Trial> = cases.iter().copied().map(trial).collect();
    let named = |trial: &Trial| args.case.as_ref().is_none_or(|named| trial.name.contains(named.as_str()));
    trials.extend(single::trials().into_iter().filter(named));
    if args.list {
        let names: Vec<String> = trials.iter().map(|trial| format!("- `{}`", trial.name)).collect();
        report.text(names.join("\n"));
        return report;
    }
    if trials.is_empty() {
        report.broken("no case has that name; `cargo xtask faults --all --list` names them");
    }
    let tried = try_all(&trials, args.at_once);
    let sample = if args.all || args.case.is_some() { String::new() } else { format!(", seed {seed}") };
    report.text(format!(
        "{} of {} cases of the matrix (dialect/kind/buffer/who/fault/step){sample}.",
        cases.len(),
        case::whole_matrix().len()
    ));
    count(&mut report, &cases, &tried);
    let rows = tried.iter().skip(cases.len()).map(|one| [one.name.clone(), one.verdict.in_a_table()]);
    report.table(["trouble with the machine", "promises"], &rows.collect::<Vec<_>>());
    left_out(&mut report);
    if let Some(slowest) = tried.iter().max_by_key(|one| one.took) {
        report.text(format!("The slowest, `{}`, took {:.1} s.", slowest.name, slowest.took.as_secs_f64()));
    }
    for one in tried {
        if let Verdict::Broken(why) = one.verdict {
            report.broken(format!("`{0}`: {why}\nagain: `cargo xtask faults --case {0}`", one.name));
        }
    }
    report
}

fn trial(case: Case) -> Trial {
    let run = move || {
        journey::travel(case);
        Ok(())
    };
    Trial { name: case.name(), run: Box::new(run) }
}

/// How many held, for each dialect and each party that a fault met.
fn count(report: &mut Report, cases: &[Case], tried: &[Tried]) {
    let rows = Dialect::ALL.map(|dialect| {
        let cell = |who: Who| {
            let of_it = cases.iter().zip(tried);
            let of_it = of_it.filter(|(case, _)| (case.dialect, case.who) == (dialect, who));
            let (mut held, mut all) = (0, 0);
            for (_, one) in of_it {
                all += 1;
                held += usize::from(one.verdict == Verdict::Held);
            }
            format!("{held} of {all}")
        };
        let [agent, hub, shim, editor] = [Who::Agent, Who::Hub, Who::Shim, Who::Editor].map(cell);
        [dialect.name().to_owned(), agent, hub, shim, editor]
    });
    report.table(["held", "agent", "hub", "shim", "editor"], &rows);
}

fn left_out(report: &mut Report) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in case::combinations().iter().filter_map(Case::left_out) {
        *counts.entry(reason).or_default() += 1;
    }
    let rows: Vec<[String; 2]> =
        counts.into_iter().map(|(reason, count)| [count.to_string(), reason.to_owned()]).collect();
    report.table(["left out", "because"], &rows);
}
