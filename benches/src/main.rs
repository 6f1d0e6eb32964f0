//! The benchmarks: the hub compared with the least that its work could cost (its floor), in one run on one machine.
//! Times mean little on a noisy machine, ratios do; so everything is measured in turns with its floor.

mod agent;
mod bench_hub;
mod browser;
mod chart;
mod chat_agent;
mod editor;
mod editors;
mod fake_model;
mod floor;
mod frame;
mod load;
mod measure;
mod peers;
mod process;
mod report;
mod role;
mod stats;
mod timed_call;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use measure::Effort;
use report::Row;

type Measure = fn(Effort) -> Result<Vec<Row>>;

const MEASURES: &[(&str, Measure)] = &[
    ("calls", measure::calls::measure),
    ("clients", measure::clients::measure),
    ("http", measure::http::measure),
    ("idle", measure::idle::measure),
    ("decision", measure::decision::measure),
    ("diff", measure::diff::measure),
    ("command", measure::command::measure),
    ("hook", measure::hook::measure),
    ("agent", measure::own_agent::measure),
    ("discover", measure::discover::measure),
    ("large", measure::large::measure),
    ("search", measure::search::measure),
    ("page", measure::page::measure),
    ("chat", measure::chat::measure),
    ("hosted", measure::hosted::measure),
];

const USAGE: &str = "usage: cargo xtask bench [--quick] [--json] [NAME…]\n       cargo xtask bench --peers | --editors [--quick] [--chart FILE]";

struct Args {
    effort: Effort,
    json: bool,
    /// Instead of measures.
    comparison: Option<Comparison>,
    chart: Option<PathBuf>,
    chosen: Vec<(&'static str, Measure)>,
}

/// A report of its own, in Markdown.
#[derive(Clone, Copy)]
enum Comparison {
    /// With other servers and programs.
    Peers,
    /// With another extension of VS Code.
    Editors,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((first, rest)) if first == "role" => role::run(rest),
        Some((first, rest)) if first == "load" => load::run(rest),
        _ => {
            let args = read(&args)?;
            match args.comparison {
                Some(with) => compare(&args, with),
                None => run(&args),
            }
        }
    }
}

fn read(args: &[String]) -> Result<Args> {
    let mut read = Args {
        effort: Effort { quick: false },
        json: false,
        comparison: None,
        chart: None,
        chosen: Vec::new(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => read.effort.quick = true,
            "--json" => read.json = true,
            "--peers" => read.comparison = Some(Comparison::Peers),
            "--editors" => read.comparison = Some(Comparison::Editors),
            "--chart" => read.chart = Some(args.next().context("--chart needs the path of a file")?.into()),
            name => match MEASURES.iter().find(|(known, _)| *known == name) {
                Some(measure) => read.chosen.push(*measure),
                None => {
                    let names: Vec<&str> = MEASURES.iter().map(|(name, _)| *name).collect();
                    bail!("{USAGE}\nthere is no benchmark `{name}`; there are {}", names.join(", "));
                }
            },
        }
    }
    if read.comparison.is_some() && (read.json || !read.chosen.is_empty()) {
        bail!("{USAGE}\n--peers and --editors are comparisons of their own, in Markdown");
    }
    if read.chart.is_some() && read.comparison.is_none() {
        bail!("{USAGE}\n--chart belongs to --peers or --editors");
    }
    if read.chosen.is_empty() {
        read.chosen = MEASURES.to_vec();
    }
    Ok(read)
}

fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let conditions = conditions(args.effort);
    let mut rows = Vec::new();
    for (name, measure) in &args.chosen {
        writeln!(std::io::stderr(), "measuring {name}")?;
        rows.extend(measure(args.effort).with_context(|| format!("the benchmark `{name}`"))?);
    }
    let mut output = std::io::stdout().lock();
    if args.json {
        return Ok(writeln!(output, "{:#}", report::document(&conditions, &rows))?);
    }
    for (name, value) in described(&conditions) {
        writeln!(output, "{name}: {value}")?;
    }
    writeln!(output, "\n{}", report::table(&rows))?;
    Ok(writeln!(output, "{:.0} s in all", start.elapsed().as_secs_f64())?)
}

fn compare(args: &Args, with: Comparison) -> Result<()> {
    let start = Instant::now();
    let conditions = conditions(args.effort);
    let progress = |what: &str| eprintln!("measuring {what}");
    let chart = args.chart.as_deref();
    let report = match with {
        Comparison::Peers => peers::run(args.effort, chart, &progress)?,
        Comparison::Editors => editors::run(args.effort, chart, &progress)?,
    };
    let mut output = std::io::stdout().lock();
    for (name, value) in described(&conditions) {
        writeln!(output, "- {name}: {value}")?;
    }
    Ok(writeln!(output, "- {:.0} s in all\n\n{report}", start.elapsed().as_secs_f64())?)
}

fn described(conditions: &Value) -> impl Iterator<Item = (&str, String)> {
    let fields = conditions.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| (name.as_str(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
}

fn conditions(effort: Effort) -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    json!({
        "machine": format!("{} cores, {}", process::count(), model.trim_matches([' ', '\t', ':'])),
        "kernel": read("/proc/sys/kernel/osrelease"),
        "load before": read("/proc/loadavg"),
        "hub config": bench_hub::CONFIG.replace('\n', " ").trim(),
        "run": effort.pick("full", "quick"),
    })
}
