//! `cargo xtask faults`: kills, stops and cuts off every party at every step of a change's journey, and checks
//! whether the promises held. Every case can be run alone by its name.

mod case;
mod descriptors;
mod fixture;
mod journal;
mod journey;
mod machine;
mod recovery;

use std::collections::BTreeMap;

use linkspan_testkit::proposer::Dialect;

use crate::report::Report;
use crate::rng::fresh_seed;
use crate::trials::{Trial, TrialOutcome, TrialReport, run_all};
use case::{Case, Party};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The whole matrix instead of a sample
    #[arg(long, conflicts_with = "case")]
    all: bool,
    /// Only cases whose name contains this, such as `clio/change/unsaved/hub/kill/decided`
    #[arg(long)]
    case: Option<String>,
    /// Which sample; by default another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Print the names of the cases and run none
    #[arg(long)]
    list: bool,
    /// How many run at once
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
    trials.extend(machine::trials().into_iter().filter(named));
    if args.list {
        let names: Vec<String> = trials.iter().map(|trial| format!("- `{}`", trial.name)).collect();
        report.text(names.join("\n"));
        return report;
    }
    if trials.is_empty() {
        report.broken("no case has that name; `cargo xtask faults --all --list` names them");
    }
    let tried = run_all(&trials, args.at_once);
    let sample = if args.all || args.case.is_some() { String::new() } else { format!(", seed {seed}") };
    report.text(format!(
        "{} of {} cases of the matrix (dialect/kind/buffer/party/fault/step){sample}.",
        cases.len(),
        case::whole_matrix().len()
    ));
    count(&mut report, &cases, &tried);
    let rows = tried.iter().skip(cases.len()).map(|one| [one.name.clone(), one.outcome.table_cell()]);
    report.table(["fault of the machine", "promises"], &rows.collect::<Vec<_>>());
    excluded(&mut report);
    if let Some(slowest) = tried.iter().max_by_key(|one| one.took) {
        report.text(format!("The slowest, `{}`, took {:.1} s.", slowest.name, slowest.took.as_secs_f64()));
    }
    for one in tried {
        if let TrialOutcome::Broken(why) = one.outcome {
            report.broken(format!("`{0}`: {why}\nagain: `cargo xtask faults --case {0}`", one.name));
        }
    }
    report
}

fn trial(case: Case) -> Trial {
    let run = move || {
        journey::run_case(case);
        Ok(())
    };
    Trial { name: case.name(), run: Box::new(run) }
}

/// How many held, for each dialect and each party that a fault hit.
fn count(report: &mut Report, cases: &[Case], tried: &[TrialReport]) {
    let rows = Dialect::ALL.map(|dialect| {
        let cell = |party: Party| {
            let of_it = cases.iter().zip(tried);
            let of_it = of_it.filter(|(case, _)| (case.dialect, case.party) == (dialect, party));
            let (mut held, mut all) = (0, 0);
            for (_, one) in of_it {
                all += 1;
                held += usize::from(one.outcome == TrialOutcome::Held);
            }
            format!("{held} of {all}")
        };
        let [agent, hub, shim, editor] = [Party::Agent, Party::Hub, Party::Shim, Party::Editor].map(cell);
        [dialect.name().to_owned(), agent, hub, shim, editor]
    });
    report.table(["held", "agent", "hub", "shim", "editor"], &rows);
}

fn excluded(report: &mut Report) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in case::combinations().iter().filter_map(Case::exclusion) {
        *counts.entry(reason).or_default() += 1;
    }
    let rows: Vec<[String; 2]> =
        counts.into_iter().map(|(reason, count)| [count.to_string(), reason.to_owned()]).collect();
    report.table(["excluded", "because"], &rows);
}
