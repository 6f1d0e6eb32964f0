//! `linkspan hub`: starts and stops the hub, prints its log, and runs it (hidden).

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::thread;
use std::time::Duration;

use linkspan_client::{ConnectError, ControlError};
use linkspan_editor_api::HubStop;
use serde_json::json;

use crate::cli::context::{CliContext, greet};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, count};
use crate::visible;

const FOLLOW_PAUSE: Duration = Duration::from_millis(200);
/// At most this much of the end of a log is read.
const TAIL_BYTES: u64 = 1024 * 1024;

/// Start or stop the hub, or read its log.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Args {
    /// Start the hub if it is not running.
    Start,
    /// Stop the hub.
    ///
    /// Pending reviews are kept, and come back when it starts again.
    Stop {
        /// Stop even if reviews are pending.
        #[arg(long)]
        force: bool,
    },
    /// Print the end of the hub's log.
    Log {
        /// Print this many lines.
        #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 40)]
        lines: usize,
        /// Keep printing lines as they are added.
        #[arg(short, long)]
        follow: bool,
    },
    /// Run the hub in the foreground.
    #[command(hide = true)]
    Run,
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    match args {
        Args::Start => start(cli),
        Args::Stop { force } => stop(cli, *force),
        Args::Log { lines, follow } => log(cli, *lines, *follow, json),
        Args::Run => run_hub(cli),
    }
}

fn start(cli: &CliContext) -> Result<Report, Failure> {
    let started = Cell::new(false);
    let (_, hub) = greet(|| cli.connect_or(|| started.set(true)))?;
    let started = started.get();
    let verb = if started { "started" } else { "is running" };
    let text = format!("the hub {verb}: version {}, pid {}", visible::name(&hub.version), hub.pid);
    let document = json!({ "running": true, "started": started, "pid": hub.pid, "version": hub.version });
    Ok(Report::new(text, document))
}

/// Sends no hello: a hub with a different version must be stoppable too.
fn stop(cli: &CliContext, force: bool) -> Result<Report, Failure> {
    let mut connection = match cli.connect() {
        Err(ConnectError::NoHub { .. }) => {
            return Ok(Report::new("no hub is running", json!({ "stopped": false, "running": false })));
        }
        connection => connection?,
    };
    let result = match connection.request(&HubStop { force }) {
        // It is stopping already.
        Err(ControlError::Closed) => {
            let document = json!({ "stopped": false, "running": false });
            return Ok(Report::new("the hub was already stopping", document));
        }
        result => result?,
    };
    let pending = count(result.pending, "review");
    if !result.stopped {
        let reason = result.reason.unwrap_or_else(|| format!("{pending} pending"));
        let message = format!(
            "the hub was not stopped: {reason}; `linkspan hub stop --force` stops it, and nothing is lost"
        );
        let mut failure = Failure::new(Exit::Negative, message);
        failure.more.insert("stopped".into(), json!(false));
        failure.more.insert("pending".into(), json!(result.pending));
        return Err(failure);
    }
    if !connection.wait_closed() {
        return Err(Failure::new(Exit::NoHub, "the hub did not stop in time; see `linkspan hub log`"));
    }
    let text = format!("the hub has stopped; {pending} pending. Attached windows start it again");
    Ok(Report::new(text, json!({ "stopped": true, "pending": result.pending })))
}

fn log(cli: &CliContext, lines: usize, follow: bool, json: bool) -> Result<Report, Failure> {
    let path = cli.places.log();
    let failed = |error: io::Error| Failure::internal(format!("cannot read {}: {error}", path.display()));
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

/// The last lines, escaped for the terminal; the log is then positioned at its end.
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

/// Logs to standard error, which the starting process has redirected to the log.
fn run_hub(cli: &CliContext) -> Result<Report, Failure> {
    // Fails if the user runs this in a terminal; such a hub may end with the terminal.
    let _ = rustix::process::setsid();
    let level = std::env::var("LINKSPAN_LOG").ok().and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .with_writer(|| EscapedLog(io::stderr()))
        .with_ansi(false)
        .with_max_level(level.unwrap_or(tracing::level_filters::LevelFilter::INFO))
        .init();
    linkspan_hub::run(&cli.places).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(Report::default())
}

/// Escapes the log: names of agents and files in it must not control the terminal that shows it.
struct EscapedLog<W>(W);

impl<W: Write> Write for EscapedLog<W> {
    /// Called with one whole log line at a time.
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
    fn a_log_line_cannot_change_the_direction_of_the_text() {
        let mut log = Vec::new();
        EscapedLog(&mut log).write_all("agent \u{202e}evil\u{2066} é\tx\n".as_bytes()).unwrap();
        assert_eq!(String::from_utf8(log).unwrap(), "agent \\u{202e}evil\\u{2066} é\tx\n");
    }
}
