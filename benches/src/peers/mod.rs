//! `--peers`: Linkspan compared with what others build the same from, in one run. The servers are measured here;
//! the rest is taken from the other measurements.

mod contender;
mod foreign;
pub(crate) mod rmcp_server;
mod servers;
mod streamable;
mod table;

pub(crate) use contender::small_call;
pub(crate) use foreign::{Foreign, node, python};
pub(crate) use streamable::Streamable;

use std::path::Path;

use anyhow::{Context, Result};

use crate::measure::{Effort, command, decision, diff, search};
use crate::{Measure, chart, report};

/// What is measured elsewhere too.
const ALSO: [(&str, Measure); 4] = [
    ("one-shot commands", command::measure),
    ("diff", diff::measure),
    ("search", search::measure),
    ("a durable decision", decision::measure),
];

/// The report, as Markdown. The chart is written on the way, if there is a place for it.
pub(crate) fn run(effort: Effort, picture: Option<&Path>, progress: &dyn Fn(&str)) -> Result<String> {
    let compared = servers::compare(effort, progress)?;
    let mut rows = table::against_targets(&compared);
    for (name, measure) in ALSO {
        progress(name);
        rows.extend(measure(effort).context(name)?);
    }
    if let Some(path) = picture {
        let drawn = chart::draw("Linkspan compared with other servers", &table::panels(&compared));
        std::fs::write(path, drawn).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let (servers, rows) = (table::servers(&compared), report::table(&rows));
    Ok(format!("{servers}\n{}\n{rows}", table::not_measured(&compared.missing)))
}
