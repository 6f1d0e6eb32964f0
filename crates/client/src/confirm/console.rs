//! A terminal that asks in lines: the change as a unified diff, then yes, no, or no with a word why. Shows what
//! hides, and gives up at once when the question is answered elsewhere.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use linkspan_review::unified;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::terminal::{Answer, Terminal};
use super::{Cancelled, Question};
use crate::visible;

/// More of a diff than this is not read by anyone in a terminal.
const MOST_LINES: usize = 1000;
/// How a diff ends that is longer. A change whose own last line ends so is only asked about more strictly.
const CUT: &str = "more lines, which are not shown\n";
const UNSEEN: &str = "allow unseen";
const CONTEXT: usize = 3;
const LONGEST_ANSWER: usize = 4096;
/// Between two looks where the system cannot tell us.
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
    /// The terminal this process was started from, even where its input and output lead elsewhere.
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

impl Terminal for Console {
    fn ask(&self, question: &Question, cancelled: &Cancelled) -> Answer {
        // One question at a time; the next one may be answered elsewhere while it waits for its turn.
        let mut files = loop {
            match self.files.try_lock() {
                Ok(files) => break files,
                Err(TryLockError::Poisoned(files)) => break files.into_inner(),
                Err(TryLockError::WouldBlock) if cancelled.wait_timeout(LOOK) => return Answer::Cancelled,
                Err(TryLockError::WouldBlock) => {}
            }
        };
        let asked = files.ask(question, cancelled);
        asked.unwrap_or_else(|error| Answer::Unavailable { why: format!("the terminal fails: {error}") })
    }
}

impl Files {
    fn ask(&mut self, question: &Question, cancelled: &Cancelled) -> io::Result<Answer> {
        // What was typed before there was a question is no answer to it, nor is the line that it began. Where this
        // is no terminal, there is no such line.
        let _ = rustix::termios::tcflush(&self.input, rustix::termios::QueueSelector::IFlush);
        while self.is_ready(None, Some(Duration::ZERO))? == Ready::Input {
            if self.input.read(&mut [0; LONGEST_ANSWER])? == 0 {
                return Ok(ended());
            }
        }
        let shown = render(question);
        // Who allows what she has not seen has to say so.
        let is_cut = shown.ends_with(CUT);
        let prompt = match is_cut {
            true => format!("Allow? {UNSEEN:?}, [n]o, or n and a word why: "),
            false => "Allow? [y]es, [n]o, or n and a word why: ".to_owned(),
        };
        self.output.write_all(shown.as_bytes())?;
        loop {
            self.output.write_all(prompt.as_bytes())?;
            self.output.flush()?;
            let Some(line) = self.line(cancelled)? else {
                if !cancelled.is_cancelled() {
                    return Ok(ended());
                }
                self.output.write_all(b"\n(answered in the editor)\n")?;
                return Ok(Answer::Cancelled);
            };
            let answer = match parse(&line) {
                Some(Answer::Allow) if is_cut => None,
                None if is_cut && line.trim() == UNSEEN => Some(Answer::Allow),
                answer => answer,
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
    }

    /// `None`: cancelled, or at the end.
    fn line(&mut self, cancelled: &Cancelled) -> io::Result<Option<String>> {
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

    fn is_ready(&self, cancelled: Option<&Cancelled>, patience: Option<Duration>) -> io::Result<Ready> {
        let waits_for_all = cancelled.is_none_or(|cancelled| cancelled.as_fd().is_some());
        let wait = patience.or((!waits_for_all).then_some(LOOK));
        let wait = wait.map(|wait| Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        });
        loop {
            let mut files = vec![PollFd::new(&self.input, PollFlags::IN)];
            let ended = cancelled.and_then(Cancelled::as_fd);
            files.extend(ended.as_ref().map(|ended| PollFd::new(ended, PollFlags::IN)));
            match poll(&mut files, wait.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let mut ready = files.iter().map(|file| !file.revents().is_empty());
            let input = ready.next().unwrap_or(false);
            if ready.next().unwrap_or(false) || cancelled.is_some_and(Cancelled::is_cancelled) {
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

/// The end of the input is neither yes nor no.
fn ended() -> Answer {
    Answer::Unavailable { why: "the terminal was closed before an answer".to_owned() }
}

/// `None` for what is no answer.
fn parse(line: &str) -> Option<Answer> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let reason = Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty());
    match (word.to_lowercase().as_str(), reason) {
        ("y" | "yes", None) => Some(Answer::Allow),
        ("n" | "no", reason) => Some(Answer::Deny { reason }),
        _ => None,
    }
}

/// Everything a person has to see before the question.
fn render(question: &Question) -> String {
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
    // Where every line has it, a CR at each end would only hide what else is there.
    let all_crlf = [base, text].iter().all(|text| text.matches('\n').count() == text.matches("\r\n").count());
    let diff = if all_crlf && base.contains('\n') {
        let lf = |text: &str| text.replace("\r\n", "\n");
        unified(&lf(base), &lf(text), "now", "proposed", CONTEXT)
    } else {
        unified(base, text, "now", "proposed", CONTEXT)
    };
    // The labels say nothing that the line above does not.
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
