//! Asks in a terminal, line by line: shows the change as a unified diff, then reads yes, no, or no with a reason. Makes
//! hidden characters visible, and stops at once when the question is answered elsewhere.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use linkspan_review::unified;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::terminal::{TerminalAnswer, TerminalPrompt};
use super::{Cancellation, ConfirmQuestion};
use crate::connection::{AcceptedPart, Comment};
use crate::visible;

/// The most lines of a diff that are shown in a terminal.
const MOST_LINES: usize = 1000;
/// The end of a longer diff. A change whose own last line ends like this only needs the stricter answer.
const CUT: &str = "more lines, which are not shown\n";
const UNSEEN: &str = "allow unseen";
const CONTEXT: usize = 3;
const LONGEST_ANSWER: usize = 4096;
/// Interval of polling where the system cannot notify us.
const LOOK: Duration = Duration::from_millis(100);

/// The terminal of this process, or any two files that behave like one.
#[derive(Debug)]
pub struct Console {
    files: Mutex<Files>,
}

#[derive(Debug)]
struct Files {
    input: File,
    output: File,
}

impl Console {
    /// The terminal of this process, even if its input and output are redirected.
    pub fn open() -> io::Result<Console> {
        if let Ok(input) = File::open("/dev/tty") {
            let output = File::options().write(true).open("/dev/tty")?;
            return Ok(Console::over(input.into(), output.into()));
        }
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(io::Error::other("this process has no terminal"));
        }
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Console::over(input, io::stderr().as_fd().try_clone_to_owned()?))
    }

    /// Lines in, text out.
    pub fn over(input: OwnedFd, output: OwnedFd) -> Console {
        Console { files: Mutex::new(Files { input: input.into(), output: output.into() }) }
    }
}

impl TerminalPrompt for Console {
    fn ask(&self, question: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer {
        // One question at a time; the next one may be answered elsewhere while it is waiting.
        let mut files = loop {
            match self.files.try_lock() {
                Ok(files) => break files,
                Err(TryLockError::Poisoned(files)) => break files.into_inner(),
                Err(TryLockError::WouldBlock) if cancelled.wait_timeout(LOOK) => {
                    return TerminalAnswer::Cancelled;
                }
                Err(TryLockError::WouldBlock) => {}
            }
        };
        let asked = files.ask(question, cancelled);
        asked.unwrap_or_else(|error| TerminalAnswer::Unavailable {
            why: format!("the terminal failed: {error}"),
        })
    }
}

impl Files {
    fn ask(&mut self, question: &ConfirmQuestion, cancelled: &Cancellation) -> io::Result<TerminalAnswer> {
        // Input from before the question does not answer it, nor does the rest of that line. If this is not a terminal,
        // there is no such line.
        let _ = rustix::termios::tcflush(&self.input, rustix::termios::QueueSelector::IFlush);
        while self.is_ready(None, Some(Duration::ZERO))? == Ready::Input {
            if self.input.read(&mut [0; LONGEST_ANSWER])? == 0 {
                return Ok(ended());
            }
        }
        let shown = render(question);
        // Allowing a change that was not shown in full needs an explicit answer.
        let is_cut = shown.ends_with(CUT);
        let yes = if is_cut { format!("{UNSEEN:?}") } else { "[y]es".to_owned() };
        let lines = question.change.as_ref().map(|change| change.proposed.text().lines().count());
        let comment = if lines.is_some() { " [c] LINE COMMENT," } else { "" };
        let prompt = format!("Allow? {yes}, [n]o,{comment} or n and a reason: ");
        let mut comments = BTreeMap::new();
        self.output.write_all(shown.as_bytes())?;
        loop {
            self.output.write_all(prompt.as_bytes())?;
            self.output.flush()?;
            let Some(line) = self.line(cancelled)? else {
                if !cancelled.is_cancelled() {
                    return Ok(ended());
                }
                self.output.write_all(b"\n(answered in the editor)\n")?;
                return Ok(TerminalAnswer::Cancelled);
            };
            let answer = match parse(&line) {
                Some(TerminalAnswer::Allow) if is_cut => None,
                None if is_cut && line.trim() == UNSEEN => Some(TerminalAnswer::Allow),
                answer => answer,
            };
            if let Some(answer) = answer {
                return Ok(with_comments(answer, comments, question));
            }
            if let Some((number, text)) = lines.and_then(|lines| comment_in(&line, lines)) {
                let noted = match text.is_empty() {
                    true => format!("(no comment on line {number})\n"),
                    false => format!("(line {number}: {})\n", visible::name(&text)),
                };
                match text.is_empty() {
                    true => drop(comments.remove(&number)),
                    false => drop(comments.insert(number, text)),
                }
                self.output.write_all(noted.as_bytes())?;
            }
        }
    }

    /// `None`: cancelled, or at the end.
    fn line(&mut self, cancelled: &Cancellation) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            if cancelled.is_cancelled() || self.is_ready(Some(cancelled), None)? == Ready::Cancelled {
                return Ok(None);
            }
            let mut byte = [0];
            match self.input.read(&mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) if byte == *b"\n" => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
                Ok(_) if line.len() < LONGEST_ANSWER => line.extend(byte),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn is_ready(&self, cancelled: Option<&Cancellation>, patience: Option<Duration>) -> io::Result<Ready> {
        let waits_for_all = cancelled.is_none_or(|cancelled| cancelled.as_fd().is_some());
        let wait = patience.or((!waits_for_all).then_some(LOOK));
        let wait = wait.map(|wait| Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        });
        loop {
            let mut files = vec![PollFd::new(&self.input, PollFlags::IN)];
            let ended = cancelled.and_then(Cancellation::as_fd);
            files.extend(ended.as_ref().map(|ended| PollFd::new(ended, PollFlags::IN)));
            match poll(&mut files, wait.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let mut ready = files.iter().map(|file| !file.revents().is_empty());
            let input = ready.next().unwrap_or(false);
            if ready.next().unwrap_or(false) || cancelled.is_some_and(Cancellation::is_cancelled) {
                return Ok(Ready::Cancelled);
            }
            if input {
                return Ok(Ready::Input);
            }
            if patience.is_some() {
                return Ok(Ready::Nothing);
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Ready {
    Input,
    Cancelled,
    Nothing,
}

/// The end of the input is not an answer.
fn ended() -> TerminalAnswer {
    TerminalAnswer::Unavailable { why: "the terminal was closed before an answer".to_owned() }
}

/// `None` for an invalid answer.
fn parse(line: &str) -> Option<TerminalAnswer> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let reason = Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty());
    match (word.to_lowercase().as_str(), reason) {
        ("y" | "yes", None) => Some(TerminalAnswer::Allow),
        ("n" | "no", reason) => Some(TerminalAnswer::Deny { reason, comments: Vec::new() }),
        _ => None,
    }
}

/// The number of a line and a comment on it, which is removed if it is empty.
fn comment_in(line: &str, lines: usize) -> Option<(u32, String)> {
    let rest = line.trim().strip_prefix(['c', 'C'])?.strip_prefix(char::is_whitespace)?.trim_start();
    let (number, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let number = number.parse::<u32>().ok()?;
    let last = u32::try_from(lines).unwrap_or(u32::MAX).max(1);
    (1..=last).contains(&number).then(|| (number, text.trim().to_owned()))
}

fn with_comments(
    answer: TerminalAnswer,
    comments: BTreeMap<u32, String>,
    question: &ConfirmQuestion,
) -> TerminalAnswer {
    let comments: Vec<_> = comments.into_iter().map(|(line, text)| Comment { line, text }).collect();
    match (answer, &question.change) {
        (TerminalAnswer::Deny { reason, .. }, _) => TerminalAnswer::Deny { reason, comments },
        (TerminalAnswer::Allow, Some(change)) if !comments.is_empty() => TerminalAnswer::AllowText {
            text: change.proposed.text().to_owned(),
            taken: AcceptedPart::All,
            hunks: Vec::new(),
            comments,
        },
        (answer, _) => answer,
    }
}

/// Everything that the user has to see before the question.
fn render(question: &ConfirmQuestion) -> String {
    let mut out = String::from("\n");
    if let Some(note) = &question.note {
        let _ = writeln!(out, "{}", visible::name(note));
    }
    let tool = visible::name(&question.tool);
    let Some(change) = &question.change else {
        let _ = writeln!(out, "{tool}:");
        lines(&mut out, &question.details);
        return out;
    };
    let path = change.path.to_string_lossy();
    let base = change.proposed.base();
    let verb = if base.is_some() { "changes" } else { "creates" };
    let _ = writeln!(out, "{tool} {verb} {}", visible::name(&path));
    let (base, text) = (base.unwrap_or_default(), change.proposed.text());
    // If every line has one, a CR at each end would only hide the rest.
    let all_crlf = [base, text].iter().all(|text| text.matches('\n').count() == text.matches("\r\n").count());
    let diff = if all_crlf && base.contains('\n') {
        let lf = |text: &str| text.replace("\r\n", "\n");
        unified(&lf(base), &lf(text), "now", "proposed", CONTEXT)
    } else {
        unified(base, text, "now", "proposed", CONTEXT)
    };
    // The labels repeat the line above.
    lines(&mut out, diff.split_inclusive('\n').skip(2).collect::<String>().as_str());
    out
}

fn lines(out: &mut String, text: &str) {
    let count = text.lines().count();
    for line in text.split('\n').take(MOST_LINES.min(count)) {
        let _ = writeln!(out, "{}", visible::code(line));
    }
    if count > MOST_LINES {
        let _ = write!(out, "… and {} {CUT}", count - MOST_LINES);
    }
}

#[cfg(test)]
mod tests;
