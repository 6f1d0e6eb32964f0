//! `linkspan hub`: starting, stopping and reading the log of the hub, and being it.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::thread;
use std::time::Duration;

use linkspan_client::{ConnectError, ControlError};
use linkspan_editor_api::HubStop;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::{Report, count};
use crate::reach::{Reach, greet};
use crate::visible;

const FOLLOW_PAUSE: Duration = Duration::from_millis(200);
/// No more than this is read from the end of a log.
const TAIL_BYTES: u64 = 1024 * 1024;

/// Start, stop or look at the hub.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Args {
    /// Start the hub, if it is not running.
    Start,
    /// Stop the hub; what is pending comes back when it starts again.
    Stop {
        /// Stop even if reviews are pending.
        #[arg(long)]
        force: bool,
    },
    /// Print the end of the hub's log.
    Log {
        /// How many lines.
        #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 40)]
        lines: usize,
        /// Go on printing what is added.
        #[arg(short, long)]
        follow: bool,
    },
    /// Be the hub, in the foreground.
    #[command(hide = true)]
    Run,
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    match args {
        Args::Start => start(reach),
        Args::Stop { force } => stop(reach, *force),
        Args::Log { lines, follow } => log(reach, *lines, *follow, json),
        Args::Run => be_the_hub(reach),
    }
}

fn start(reach: &Reach) -> Result<Report, Failure> {
    let started = Cell::new(false);
    let (_, hub) = greet(|| reach.connect_or(|| started.set(true)))?;
    let started = started.get();
    let verb = if started { "started" } else { "is running" };
    let text = format!("the hub {verb}: version {}, pid {}", visible::name(&hub.version), hub.pid);
    let document = json!({ "running": true, "started": started, "pid": hub.pid, "version": hub.version });
    Ok(Report::new(text, document))
}

/// Says no hello: a hub of another version is the one that most needs stopping.
fn stop(reach: &Reach, force: bool) -> Result<Report, Failure> {
    let mut connection = match reach.connect() {
        Err(ConnectError::NoHub { .. }) => {
            return Ok(Report::new("no hub is running", json!({ "stopped": false, "running": false })));
        }
        connection => connection?,
    };
    let result = match connection.request(&HubStop { force }) {
        // Somebody else stopped it a moment ago.
        Err(ControlError::Closed) => {
            let document = json!({ "stopped": false, "running": false });
            return Ok(Report::new("the hub was stopping already", document));
        }
        result => result?,
    };
    let pending = count(result.pending, "review");
    if !result.stopped {
        let reason = result.reason.unwrap_or_else(|| format!("{pending} pending"));
        let message =
            format!("the hub goes on: {reason}; `linkspan hub stop --force` stops it, and nothing is lost");
        let mut failure = Failure::new(Exit::No, message);
        failure.more.insert("stopped".into(), json!(false));
        failure.more.insert("pending".into(), json!(result.pending));
        return Err(failure);
    }
    if !connection.wait_closed() {
        return Err(Failure::new(
            Exit::NoHub,
            "the hub said it stops but is still there: look at `linkspan hub log`",
        ));
    }
    let text =
        format!("the hub has stopped; {pending} pending. Attached windows start it again by themselves");
    Ok(Report::new(text, json!({ "stopped": true, "pending": result.pending })))
}

fn log(reach: &Reach, lines: usize, follow: bool, json: bool) -> Result<Report, Failure> {
    let path = reach.places.log();
    let failed = |error: io::Error| Failure::internal(format!("{} cannot be read: {error}", path.display()));
    let mut log = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = format!("there is no log yet at {}", path.display());
            return Ok(Report::new(text, json!({ "path": path, "lines": [] })));
        }
        log => BufReader::new(log.map_err(failed)?),
    };
    let tail = tail(&mut log, lines).map_err(failed)?;
    if !follow {
        return Ok(Report::new(tail.join("\n"), json!({ "path": path, "lines": tail })));
    }
    let printed = tail.iter().try_for_each(|line| print_line(line, json));
    let ended = printed.and_then(|()| follow_log(log, json));
    match ended {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(error)),
        _ => Ok(Report::default()),
    }
}

/// The last lines, safe to print; leaves the log at its end.
fn tail(log: &mut BufReader<File>, lines: usize) -> io::Result<Vec<String>> {
    let length = log.seek(SeekFrom::End(0))?;
    log.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut found = Vec::new();
    while let Some(line) = next_line(log)? {
        found.push(line);
    }
    Ok(found.split_off(found.len().saturating_sub(lines)))
}

fn next_line(log: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if log.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(visible::code(String::from_utf8_lossy(&line).trim_end_matches('\n'))))
}

fn follow_log(mut log: BufReader<File>, json: bool) -> io::Result<()> {
    loop {
        match next_line(&mut log)? {
            Some(line) => print_line(&line, json)?,
            None => thread::sleep(FOLLOW_PAUSE),
        }
    }
}

fn print_line(line: &str, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json { writeln!(out, "{}", json!({ "line": line })) } else { writeln!(out, "{line}") }
}

/// Logs to standard error, which whoever starts us has pointed to the log.
fn be_the_hub(reach: &Reach) -> Result<Report, Failure> {
    // Fails where a person runs this in a terminal, and that hub may end with the terminal.
    let _ = rustix::process::setsid();
    let level = std::env::var("LINKSPAN_LOG").ok().and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .with_writer(|| VisibleLog(io::stderr()))
        .with_ansi(false)
        .with_max_level(level.unwrap_or(tracing::level_filters::LevelFilter::INFO))
        .init();
    linkspan_hub::run(&reach.places).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(Report::default())
}

/// What agents and files are called stands in the log, and must not change what a terminal shows of it.
struct VisibleLog<W>(W);

impl<W: Write> Write for VisibleLog<W> {
    /// A whole line at a time, as it is logged.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(visible::text(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_a_log_is_its_last_lines() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\nthree\x1b[2J\n").unwrap();
        let mut log = BufReader::new(file);
        assert_eq!(tail(&mut log, 2).unwrap(), ["two", r"three\u{1b}[2J"]);
        assert_eq!(tail(&mut log, 9).unwrap().len(), 3);
        assert!(tail(&mut log, 0).unwrap().is_empty());
    }

    #[test]
    fn what_is_logged_can_not_turn_the_direction_of_the_text() {
        let mut log = Vec::new();
        VisibleLog(&mut log).write_all("agent \u{202e}evil\u{2066} é\tx\n".as_bytes()).unwrap();
        assert_eq!(String::from_utf8(log).unwrap(), "agent \\u{202e}evil\\u{2066} é\tx\n");
    }
}
