//! `cargo xtask load`: many agents, windows, reviews and events at once, a large file, and the cost of one more of each;
//! or a soak test of an hour. Fails when a promise breaks under load, or when the cost of one more grows with their
//! number.

mod connection;
mod crowd;
mod growth;
mod ledger;
mod prober;
mod report;
mod rush;
mod soak;

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use growth::Thing;
use report::Report;

/// Raises the limits that the load exceeds: agents in one window, and messages per second. ppxai's fixed port is
/// disabled, because only one hub of a machine can have it.
const CONFIG: &str = "ppxai_port = 0\n[limits]\nmessages_per_second = 0\nconnections = 1200\n";

const USAGE: &str = "usage: cargo xtask load [--quick] [growth|rush]… | --soak [MINUTES] [--kill-hub]";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Full,
    Quick,
}

#[derive(Debug)]
struct Args {
    size: Size,
    growth: bool,
    rush: bool,
    soak: Option<Duration>,
    kill_hub: bool,
}

impl Args {
    fn read(args: &[String]) -> Result<Args> {
        let mut read = Args { size: Size::Full, growth: false, rush: false, soak: None, kill_hub: false };
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => read.size = Size::Quick,
                "growth" => read.growth = true,
                "rush" => read.rush = true,
                "--kill-hub" => read.kill_hub = true,
                "--soak" => {
                    let minutes = args.next_if(|next| !next.starts_with('-'));
                    let minutes: f64 = minutes.map_or(Ok(60.0), |minutes| minutes.parse()).context(USAGE)?;
                    read.soak = Some(Duration::try_from_secs_f64(minutes * 60.0).context(USAGE)?);
                }
                other => bail!("{USAGE}\nunknown argument `{other}`"),
            }
        }
        if !read.growth && !read.rush {
            (read.growth, read.rush) = (true, true);
        }
        Ok(read)
    }
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::read(args)?;
    let start = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report = Report::default();
    report.say(&format!("Configuration of the hub: `{}`.", CONFIG.trim().replace('\n', " ")));
    let ran = runtime.block_on(all(&args, &mut report));
    runtime.shutdown_background();
    // The measurements until then are still worth reading.
    if let Err(error) = ran {
        report.broken(format!("the run ended early: {error:#}"));
    }
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}\n{:.0} s in all", report.whole(), start.elapsed().as_secs_f64())?;
    if !report.is_good() {
        bail!("a promise broke under load");
    }
    Ok(())
}

async fn all(args: &Args, report: &mut Report) -> Result<()> {
    if let Some(how_long) = args.soak {
        return soak::measure(how_long, args.kill_hub, report).await;
    }
    if args.rush {
        rush::measure(args.size, report).await?;
    }
    if args.growth {
        for thing in Thing::ALL {
            growth::measure(thing, args.size, report).await?;
        }
    }
    Ok(())
}

pub(crate) fn progress(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// About 4 KB, different for each change and version; between versions one line differs.
fn text(change: u64, version: u32) -> String {
    let mut text = format!("change {change} version {version}\n");
    while text.len() < 4096 {
        text += "a line of a file that is being reviewed\n";
    }
    text
}
