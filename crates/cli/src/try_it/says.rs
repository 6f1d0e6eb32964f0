//! What `linkspan try` tells as it goes: numbered steps for a newcomer, or one JSON document a line. On a terminal the
//! last line says who is waited for, and makes room for whatever comes next.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use linkspan_client::connection::Decided;
use linkspan_editor_api::{HistoryEntry, ReviewEnded, ReviewShow};
use serde_json::{Value, json};

use super::sample::Proposal;
use crate::output::{ADDED, DIM, HEAD, REMOVED, WARNING, accepted, change, count, decided, print, styled};
use crate::page::Link;
use crate::visible::{code, name};

const STEP: Style = AnsiColor::Cyan.on_default().bold();
const INDENT: &str = "   ";

pub(super) struct Says {
    json: bool,
    /// It matters what is done, and not whether anybody hears of it.
    auto: bool,
    /// Whether a line can be written over.
    live: bool,
    steps: u32,
    /// A line that the next one takes the place of.
    waiting: bool,
    /// What to type for another command of this program.
    program: String,
}

/// How one proposal ended, and what the agent made of it.
pub(super) struct Ended<'a> {
    pub(super) review: &'a str,
    pub(super) proposal: &'a Proposal,
    pub(super) decided: &'a Decided,
    /// What the journal says of it.
    pub(super) entry: Option<&'a HistoryEntry>,
    /// What the file holds now.
    pub(super) now: Option<&'a [u8]>,
}

impl Says {
    pub(super) fn new(json: bool, auto: bool) -> Says {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let live = !json && !dumb && io::stdout().is_terminal();
        // Somebody who tries Linkspan out may not have installed it.
        let program = std::env::args().next().unwrap_or_else(|| "linkspan".into());
        Says { json, auto, live, steps: 0, waiting: false, program: name(&program) }
    }

    pub(super) fn project(&mut self, folder: &str) -> io::Result<()> {
        self.tell(json!({ "event": "project", "folder": folder }), || {
            styled(HEAD, "Linkspan: an agent proposes, you decide, and only then a file changes.") + "\n\n"
        })?;
        let text = format!("{}\n", name(folder));
        self.step("A sample project", &[text])
    }

    pub(super) fn window(&mut self, window: &str, port: u16, lock: &str) -> io::Result<()> {
        let document = json!({ "event": "window", "window": window, "port": port, "lockFile": lock });
        self.tell(document, String::new)?;
        let lines = [
            format!("{} on 127.0.0.1:{port}\n", name(window)),
            format!("agents find it by {}\n", name(lock)),
        ];
        self.step("A window on it, in the place of an editor", &lines)
    }

    pub(super) fn context(&mut self, answers: &[(&'static str, String)]) -> io::Result<()> {
        let told: serde_json::Map<_, _> =
            answers.iter().map(|(what, answer)| ((*what).to_owned(), json!(answer))).collect();
        self.tell(json!({ "event": "context", "answers": told }), String::new)?;
        let lines = answers
            .iter()
            .map(|(what, answer)| format!("{}{}\n", styled(DIM, &format!("{what:<20}")), name(answer)));
        let lines: Vec<String> = lines.collect();
        self.step("The demo agent found it, in the way of Claude Code, and asked what is there", &lines)
    }

    pub(super) fn proposed(&mut self, all: &[(&Proposal, &ReviewShow)]) -> io::Result<()> {
        let mut lines = Vec::new();
        for (proposal, shown) in all {
            let added = shown.hunks.iter().map(|hunk| hunk.after_count).sum();
            let removed = shown.hunks.iter().map(|hunk| hunk.before_count).sum();
            let document = json!({
                "event": "proposed",
                "review": shown.review,
                "path": shown.path,
                "hunks": shown.hunks.len(),
                "added": added,
                "removed": removed,
                "newFile": shown.new_file,
            });
            self.tell(document, String::new)?;
            lines.push(format!(
                "{}  {:<12} {:<6} {}\n",
                styled(HEAD, &name(&shown.review)),
                proposal.name,
                change(added, removed),
                styled(DIM, proposal.about)
            ));
        }
        self.step("It proposes three changes, and waits", &lines)
    }

    pub(super) fn your_turn(&mut self, page: Result<&Link, &str>) -> io::Result<()> {
        let mut lines = Vec::new();
        match page {
            Ok(link) => {
                self.tell(link.event(), String::new)?;
                lines.extend(link.text().lines().map(|line| format!("{line}\n")));
            }
            Err(why) => {
                self.tell(json!({ "event": "noPage", "message": why }), String::new)?;
                lines.push(format!("There is no page to decide in: {}\n", name(why)));
            }
        }
        lines.push("\n".into());
        let command = |words: &str| styled(HEAD, &format!("{} {words}", self.program));
        lines.push(format!(
            "Or in another terminal: {} (another link: {})\n",
            command("review"),
            command("page")
        ));
        lines.push("Take what you like, edit it, leave a word. Ctrl-C ends it all and tidies up.\n".into());
        self.step("Your turn: look at them, and decide", &lines)?;
        self.blank()
    }

    pub(super) fn scripted(&mut self) -> io::Result<()> {
        let lines = ["Two hunks of three, no new file, and yes to the last.\n".to_owned()];
        self.step("Nobody is asked: a script decides, through the hub as any command would", &lines)?;
        self.blank()
    }

    /// Who is waited for.
    pub(super) fn waiting(&mut self, names: &[String]) -> io::Result<()> {
        if !self.live || names.is_empty() {
            return Ok(());
        }
        self.clear()?;
        let line = format!("{INDENT}… waiting for you: {}", names.join(", "));
        let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col);
        let line: String = line.chars().take(width(columns).saturating_sub(1)).collect();
        let mut out = anstream::stdout().lock();
        write!(out, "{}", styled(WARNING, &line))?;
        self.waiting = true;
        out.flush()
    }

    pub(super) fn ended(&mut self, ended: &Ended<'_>) -> io::Result<()> {
        let Ended { review, proposal, decided: answer, entry, now } = ended;
        let by = entry.and_then(|entry| entry.decided_by.as_deref());
        let reason = entry.and_then(|entry| match &entry.ended {
            ReviewEnded::Rejected { reason } => reason.as_deref(),
            _ => None,
        });
        let comments = entry.map(|entry| entry.comments.as_slice()).unwrap_or_default();
        let document = json!({
            "event": "decided",
            "review": review,
            "file": proposal.name,
            "accepted": answer.is_accepted(),
            "written": answer.written,
            "by": by,
            "reason": reason,
            "comments": comments,
            "bytes": now.map(<[u8]>::len),
        });
        let verdict = match entry.map(|entry| &entry.ended) {
            Some(ReviewEnded::Accepted { taken, .. }) => decided(accepted(*taken)),
            _ if answer.is_accepted() => "accepted",
            _ => "rejected",
        };
        let style = if answer.is_accepted() { ADDED } else { REMOVED };
        let place = by.map_or_else(String::new, |by| format!(", in {}", name(by)));
        let head = format!(
            "{}  {:<12} {}{place}",
            styled(HEAD, &name(review)),
            proposal.name,
            styled(style, verdict)
        );
        let mut lines = vec![head, told(ended)];
        if let Some(reason) = reason {
            lines.push(format!("Why: “{}”", name(reason)));
        }
        lines.extend(comments.iter().map(|said| format!("On line {}: “{}”", said.line, name(&said.text))));
        if reason.is_some() || !comments.is_empty() {
            lines.push("Your words are in the history; this protocol has no place for them.".into());
        }
        self.tell(document, || {
            let lines = lines.iter().enumerate().map(|(index, line)| match index {
                0 => format!("{INDENT}{line}\n"),
                _ => format!("{INDENT}    {}\n", styled(DIM, line)),
            });
            lines.collect()
        })
    }

    pub(super) fn notice(&mut self, message: &str) -> io::Result<()> {
        self.tell(json!({ "event": "notice", "message": message }), || {
            format!("{INDENT}{}\n", styled(WARNING, &name(message)))
        })
    }

    /// What became of the files.
    pub(super) fn changed(&mut self, diffs: &[String]) -> io::Result<()> {
        self.blank()?;
        let lines: Vec<String> =
            diffs.iter().flat_map(|diff| diff.lines().map(|line| format!("{}\n", painted(line)))).collect();
        if lines.is_empty() {
            return self.step("Nothing changed on disk", &[]);
        }
        self.step("What changed on disk, and nothing else", &lines)
    }

    /// `accepted` is a review that can be undone.
    pub(super) fn stay(&mut self, folder: &str, accepted: Option<&str>) -> io::Result<()> {
        self.blank()?;
        let command = |words: &str| styled(HEAD, &format!("{} {words}", self.program));
        let mut lines = vec![
            format!("The files are in {}\n", name(folder)),
            format!("What was decided: {}\n", command("history")),
        ];
        lines.extend(
            accepted
                .map(|review| format!("To take it back:  {}\n", command(&format!("undo {}", name(review))))),
        );
        self.step("Look around; press Enter to leave", &lines)
    }

    pub(super) fn done(&mut self, folder: &str, kept: bool, auto: bool) -> io::Result<()> {
        let document = json!({ "event": "done", "folder": folder, "kept": kept });
        let program = self.program.clone();
        self.tell(document, || {
            let mut text = String::from("\n");
            if auto {
                text += &format!("{INDENT}Every file holds exactly what was decided.\n");
            }
            text += &match kept {
                true => format!("{INDENT}The files stay in {}\n", name(folder)),
                false => format!("{INDENT}The sample project is gone again; --keep would have kept it.\n"),
            };
            text + &format!(
                "{INDENT}Next: run {} in a project of yours, and start your agent there.\n",
                styled(HEAD, &format!("{program} serve"))
            )
        })
    }

    pub(super) fn left(&mut self, closed: bool) -> io::Result<()> {
        self.tell(json!({ "event": "left", "closed": closed }), || match closed {
            true => format!("\n{INDENT}Nothing waits any more, and the window is closed.\n"),
            false => String::new(),
        })
    }

    /// What could not be made sure of at the end.
    pub(super) fn still_open(&mut self) -> io::Result<()> {
        self.notice(
            "the hub did not say in time that the window is closed: it closes it by itself after a while, and \
             `linkspan status` tells",
        )
    }

    fn step(&mut self, title: &str, lines: &[String]) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        self.clear()?;
        self.steps += 1;
        let mut text = format!("{}  {}\n", styled(STEP, &self.steps.to_string()), styled(HEAD, title));
        for line in lines {
            text += &format!("{INDENT}{line}");
        }
        self.heard(print(None, &text))
    }

    fn blank(&mut self) -> io::Result<()> {
        if self.json || self.waiting { Ok(()) } else { self.heard(writeln!(io::stdout())) }
    }

    fn tell(&mut self, document: Value, text: impl FnOnce() -> String) -> io::Result<()> {
        if self.json {
            return self.heard(print(Some(&document), ""));
        }
        self.clear()?;
        let mut out = anstream::stdout().lock();
        self.heard(write!(out, "{}", text()).and_then(|()| out.flush()))
    }

    /// Where nobody listens any more, a script goes on.
    fn heard(&self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if self.auto && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Makes room where a line says who is waited for.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.waiting) {
            // Not a colour, so it goes out also where colours do not.
            write!(io::stdout(), "\r\u{1b}[K")?;
        }
        Ok(())
    }
}

/// Some terminals do not know how wide they are.
fn width(columns: u16) -> usize {
    if columns == 0 { 80 } else { columns.into() }
}

/// What the agent was told, and what it did.
fn told(ended: &Ended<'_>) -> String {
    let Ended { proposal, decided, now, .. } = ended;
    if !decided.is_accepted() {
        return "It heard DIFF_REJECTED and wrote nothing.".into();
    }
    let bytes = count(now.map_or(0, |now| now.len() as u64), "byte");
    let endings = match (proposal.before.map(str::as_bytes), now) {
        (Some(before), Some(now)) if is_crlf(before) && is_crlf(now) => "; all lines still end in CR LF",
        _ => "",
    };
    format!("It heard FILE_SAVED and wrote {bytes}{endings}.")
}

fn is_crlf(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.split_inclusive(|byte| *byte == b'\n').all(|line| line.ends_with(b"\r\n"))
}

fn painted(line: &str) -> String {
    let style = match line.as_bytes() {
        [b'+', b'+', ..] | [b'-', b'-', ..] => HEAD,
        [b'+', ..] => ADDED,
        [b'-', ..] => REMOVED,
        [b'@', ..] => DIM,
        _ => Style::new(),
    };
    styled(style, &code(line.trim_end_matches('\r')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_does_not_know_its_width_is_as_wide_as_most() {
        assert_eq!((width(0), width(7)), (80, 7));
    }
}
