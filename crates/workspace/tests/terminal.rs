//! Commands in a terminal of our own: real shells, real signals, no keyboard input.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use linkspan_workspace::terminal::{CommandReport, Output, Size, Terminal};
use linkspan_workspace::{Cancel, WorkspaceError};

const LONG: Duration = Duration::from_secs(30);

fn terminal() -> Terminal {
    Terminal::open("test", std::env::temp_dir(), BTreeMap::new(), Size::default())
}

fn run(command: &str) -> CommandReport {
    terminal().run(command, None, LONG, &Cancel::new()).unwrap()
}

/// Runs a command that prints a line and goes on, with a time limit that ends after the line. A shell may take longer to
/// start on a busy machine than a short limit allows: then it is tried with a longer one.
fn run_past_the_limit(command: &str, folder: Option<&Path>) -> (Terminal, CommandReport) {
    let mut limit = Duration::from_millis(300);
    loop {
        let terminal = terminal();
        let ran = terminal.run(command, folder, limit, &Cancel::new()).unwrap();
        if ran.output.ends_with('\n') || limit > LONG {
            return (terminal, ran);
        }
        limit *= 4;
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn a_command_has_its_output_and_exit_code() {
    let ran = run("echo hello; echo there >&2; exit 3");
    let expected =
        CommandReport { output: "hello\nthere\n".into(), exit_code: Some(3), ..CommandReport::default() };
    assert_eq!(ran, expected);
}

#[test]
fn it_is_a_terminal_of_the_requested_size() {
    assert_eq!(run("test -t 0 && test -t 1 && stty size && echo $TERM").output, "30 120\ndumb\n");
}

#[test]
fn variables_and_folder_are_the_requested_ones() {
    let folder = tempfile::tempdir().unwrap();
    let environment = BTreeMap::from([("COLOUR".to_owned(), "blue".to_owned())]);
    let terminal = Terminal::open("mine", "/", environment, Size::default());
    let ran = terminal.run("pwd -P; echo $COLOUR", Some(folder.path()), LONG, &Cancel::new()).unwrap();
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(ran.output, format!("{}\nblue\n", real.display()));
    assert_eq!(terminal.run("pwd", None, LONG, &Cancel::new()).unwrap().output, "/\n");
}

#[test]
fn the_end_of_long_output_is_kept() {
    let ran = run("seq 1 200000; echo last");
    assert!(ran.truncated && ran.exit_code == Some(0));
    assert!(ran.output.len() <= 256 * 1024 && ran.output.ends_with("199999\n200000\nlast\n"));
}

#[test]
fn invalid_utf_8_is_replaced() {
    assert_eq!(run(r"printf 'a\377b\n'").output, "a\u{fffd}b\n");
}

#[test]
fn colours_are_removed() {
    assert_eq!(run(r"printf '\033[31mred\033[0m \033]0;title\007done\n'").output, "red done\n");
}

#[test]
fn a_program_that_reads_gets_the_end_of_input() {
    let ran = run("printf 'name? '; read name || echo nobody; cat; echo done");
    assert_eq!((ran.output.as_str(), ran.exit_code), ("name? nobody\ndone\n", Some(0)));
}

#[test]
fn a_prompt_that_discards_typed_input_ends_too() {
    let python = "import termios, sys, time; time.sleep(0.3); termios.tcflush(0, termios.TCIFLUSH); \
                  print(repr(sys.stdin.readline()))";
    let ran =
        run(&format!("command -v python3 >/dev/null || {{ echo \"''\"; exit; }}; python3 -c '{python}'"));
    assert_eq!(ran.output, "''\n");
}

#[test]
fn a_signal_that_ended_it_is_named() {
    assert_eq!(run("kill -9 $$").signal, Some(9));
    assert_eq!(run("kill -15 $$").exit_code, None);
}

#[test]
fn after_the_time_limit_it_continues_and_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let go_on = folder.path().join("go-on");
    let command = "echo one; while ! test -e go-on; do sleep 0.02; done; echo two; exit 4";
    let (terminal, ran) = run_past_the_limit(command, Some(folder.path()));
    assert_eq!((ran.output.as_str(), ran.timed_out, ran.exit_code), ("one\n", true, None));
    assert!(terminal.output().running);
    let busy = terminal.run("echo three", None, LONG, &Cancel::new());
    assert!(matches!(busy, Err(WorkspaceError::Busy { .. })), "{busy:?}");
    std::fs::write(go_on, "").unwrap();
    until("the command ends", || !terminal.output().running);
    let output = terminal.output();
    assert_eq!((output.text.as_str(), output.exit_code), ("one\ntwo\n", Some(4)));
    terminal.run("echo three", None, LONG, &Cancel::new()).unwrap();
    assert_eq!(terminal.output().text, "one\ntwo\nthree\n");
}

#[test]
fn cancelling_ends_the_command_and_what_it_started() {
    let (terminal, cancel) = (terminal(), Cancel::new());
    let start = Instant::now();
    thread::scope(|scope| {
        let running = scope.spawn(|| terminal.run("sleep 300 & echo $!; sleep 300", None, LONG, &cancel));
        until("it has begun", || terminal.output().text.ends_with('\n'));
        cancel.cancel();
        assert!(matches!(running.join().unwrap(), Err(WorkspaceError::Cancelled)));
    });
    assert!(start.elapsed() < LONG);
    assert!(!terminal.output().running);
    let pid = terminal.output().text.trim().to_owned();
    until("the background process is gone", || !is_alive(&pid));
}

#[test]
fn a_command_cancelled_before_its_turn_never_starts() {
    let (folder, terminal, cancel) = (tempfile::tempdir().unwrap(), terminal(), Cancel::new());
    cancel.cancel();
    let ran = terminal.run("touch started; sleep 1", Some(folder.path()), LONG, &cancel);
    assert!(matches!(ran, Err(WorkspaceError::Cancelled)), "{ran:?}");
    assert_eq!(terminal.output(), Output::default());
    terminal.run("true", None, LONG, &Cancel::new()).unwrap();
    assert!(!folder.path().join("started").exists());
}

#[test]
fn a_dropped_terminal_kills_even_processes_that_ignore_signals() {
    let command = "trap '' HUP TERM; (trap '' HUP TERM; while :; do sleep 1; done) & echo $!; wait";
    let (terminal, ran) = run_past_the_limit(command, None);
    let pid = ran.output.trim().to_owned();
    assert!(ran.timed_out && is_alive(&pid), "{ran:?}");
    drop(terminal);
    until("it is killed", || !is_alive(&pid));
}

#[test]
fn a_missing_folder_is_named_in_the_error() {
    let gone = Path::new("/nowhere/at/all");
    let error = terminal().run("true", Some(gone), LONG, &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}
